"""Bindings to the engine: arrays in, numbers out; users call the package on top of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, final

import numpy as np
import numpy.typing as npt

__all__ = [
    "CLASS_LOSSES",
    "LABEL_LOSSES",
    "LOG_LINK_LOSSES",
    "METHODS",
    "REAL_LOSSES",
    "RELAXATIONS",
    "STATUSES",
    "TIME_LOSSES",
    "VERSION",
    "CheckpointError",
    "Columns",
    "Explorer",
    "Frame",
    "Lock",
    "Model",
    "Moments",
    "Prepared",
    "Price",
    "Problem",
    "Rules",
    "Solution",
    "Tally",
    "advice",
    "concordance",
    "cost_note",
    "counted",
    "cross_validate",
    "cut",
    "effect_notes",
    "expectations",
    "gap",
    "headline",
    "hold_out",
    "measures",
    "percent",
    "printable",
    "report",
    "small_print",
    "stability_words",
    "width",
    "write_columns",
]

VERSION: str
REAL_LOSSES: tuple[str, ...]
LABEL_LOSSES: tuple[str, ...]
LOG_LINK_LOSSES: tuple[str, ...]
CLASS_LOSSES: tuple[str, ...]
TIME_LOSSES: tuple[str, ...]
METHODS: tuple[str, ...]
RELAXATIONS: tuple[str, ...]
STATUSES: tuple[str, ...]

class CheckpointError(ValueError):
    """Raised for bytes that are not a checkpoint of this search; the caller adds the name of the file."""

@final
class Frame:
    """Columns of numbers and of text, as the command reads them from a file."""

    def __new__(
        cls,
        names: Sequence[str],
        columns: Sequence[npt.NDArray[np.float64] | tuple[Sequence[str], npt.NDArray[np.uint32]]],
    ) -> Frame: ...
    def prepare(
        self,
        *,
        exclude: Sequence[str],
        rare: int,
        impute: bool,
        as_number: Sequence[str],
        as_text: Sequence[str],
        dates: str | None,
        date_order: str | None,
    ) -> Prepared: ...

@final
class Prepared:
    """Features made of the columns of a frame."""

    @property
    def names(self) -> list[str]: ...
    @property
    def matrix(self) -> npt.NDArray[np.float64]: ...
    @property
    def texts(self) -> list[tuple[str, list[int]]]: ...
    @property
    def sources(self) -> list[int]: ...
    @property
    def parts(self) -> str: ...
    @property
    def notes(self) -> list[str]: ...

@final
class Model:
    """A fitted model as the command reads and writes it."""

    def __new__(cls, json: str) -> Model: ...
    @staticmethod
    def load(file: str | PathLike[str]) -> Model: ...
    def save(self, file: str | PathLike[str]) -> None: ...
    @property
    def json(self) -> str: ...
    @property
    def columns(self) -> list[str]: ...
    def predict(self, frame: Frame) -> tuple[npt.NDArray[np.float64], list[tuple[str, int]]]: ...
    def predict_each(self, frame: Frame) -> tuple[list[npt.NDArray[np.float64]], list[tuple[str, int]]]: ...
    def export(self, to: str, *, table: str, expression: bool) -> str: ...

@final
class Lock:
    """An exclusive lock on a file, until it is released."""

    def __new__(cls, path: str | PathLike[str]) -> Lock: ...
    def release(self) -> None: ...

@final
class Solution:
    """The best model found, what is proved about it, and how the search went."""

    @property
    def k(self) -> int: ...
    @property
    def status(self) -> str: ...
    @property
    def objective(self) -> float: ...
    @property
    def lower_bound(self) -> float | None: ...
    @property
    def relative_gap(self) -> float | None: ...
    @property
    def support(self) -> npt.NDArray[np.int64]: ...
    @property
    def refit(self) -> bool: ...
    @property
    def kept_ridge(self) -> str | None: ...
    @property
    def coefficients(self) -> npt.NDArray[np.float64]: ...
    @property
    def per_sd(self) -> npt.NDArray[np.float64]: ...
    @property
    def twins(self) -> list[tuple[int, list[int]]]: ...
    @property
    def intercept(self) -> float: ...
    @property
    def intercepts(self) -> list[float]: ...
    @property
    def solutions(self) -> list[tuple[float, npt.NDArray[np.float64], list[float], npt.NDArray[np.int64]]]: ...
    @property
    def rest_bound(self) -> float | None: ...
    @property
    def truncated(self) -> bool: ...
    @property
    def criteria(self) -> tuple[float, float, float] | None: ...
    @property
    def solver_calls(self) -> int: ...
    @property
    def nodes(self) -> int: ...
    @property
    def peak_open_nodes(self) -> int: ...
    @property
    def seconds(self) -> float: ...
    @property
    def found_by(self) -> str: ...
    @property
    def found_after(self) -> float: ...
    @property
    def trace(self) -> npt.NDArray[np.float64]: ...

@final
class Price:
    """The cost of the other decision about one feature."""

    @property
    def columns(self) -> list[int]: ...
    @property
    def chosen(self) -> bool: ...
    @property
    def cost(self) -> float: ...
    @property
    def cost_bounds(self) -> tuple[float, float]: ...
    @property
    def objective(self) -> float: ...
    @property
    def lower_bound(self) -> float: ...
    @property
    def status(self) -> str: ...
    @property
    def support(self) -> list[int]: ...

_Callback = Callable[[str, float, float | None, float | None, int, int, list[int] | None, int], object]

@final
class Rules:
    """Constraints on the features of one data set; the engine checks that they are consistent."""

    def __new__(
        cls,
        names: Sequence[str],
        *,
        texts: Sequence[tuple[str, Sequence[int]]],
        include: Sequence[int],
        include_free: Sequence[int],
        exclude: Sequence[int],
        all_nonnegative: bool,
        nonnegative: Sequence[int],
        bounds: Sequence[tuple[int, float, float]],
        groups: Sequence[Sequence[int]],
        ridge_factors: Sequence[tuple[int, float]],
        requires: Sequence[tuple[int, Sequence[int]]],
        l0_penalty: float,
        l0_factors: Sequence[tuple[int, float]],
        assume_max_coefficient: float | None,
    ) -> Rules: ...
    @property
    def excluded(self) -> list[int]: ...
    @property
    def free(self) -> list[int]: ...
    @property
    def n_included(self) -> int: ...
    @property
    def n_features(self) -> int: ...

@final
class Moments:
    """Immutable moments of some rows."""

    def __new__(
        cls,
        names: list[str],
        target: str,
        X: npt.NDArray[np.float64]
        | npt.NDArray[np.float32]
        | tuple[tuple[int, int], npt.NDArray[np.uint64], npt.NDArray[np.uint32], npt.NDArray[np.float64]],
        y: npt.NDArray[np.float64],
        weights: npt.NDArray[np.float64] | None = None,
    ) -> Moments: ...
    def plus(self, other: Moments) -> Moments: ...
    def encode(self) -> bytes: ...
    @staticmethod
    def decode(bytes: bytes) -> Moments: ...
    def save(self, file: str) -> None: ...
    @staticmethod
    def load(file: str) -> Moments: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def target(self) -> str: ...
    @property
    def rows(self) -> int: ...
    @property
    def weight(self) -> float: ...
    @property
    def error(self) -> float: ...
    @property
    def means(self) -> npt.NDArray[np.float64]: ...
    @property
    def deviations(self) -> npt.NDArray[np.float64]: ...
    @property
    def texts(self) -> list[tuple[str, list[int]]]: ...
    @property
    def parts(self) -> str: ...

@final
class Columns:
    """The columns of a file, mapped into memory."""

    def __new__(cls, file: str) -> Columns: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def rows(self) -> int: ...
    @property
    def target(self) -> str: ...
    @property
    def labels(self) -> list[str] | None: ...
    @property
    def precision(self) -> str: ...
    def numbers(self, place: int) -> npt.NDArray[np.float64]: ...
    def parts(self, names: list[str]) -> str: ...
    def texts(self, names: list[str]) -> list[tuple[str, list[int]]]: ...
    def check(self) -> None: ...

def write_columns(
    file: str, names: list[str], rows: int, single: bool, pieces: Iterator[npt.NDArray[np.float64]]
) -> None: ...

@final
class Problem:
    """Checked data, which can be solved for any k."""

    def __new__(
        cls,
        X: npt.NDArray[np.float64]
        | npt.NDArray[np.float32]
        | tuple[tuple[int, int], npt.NDArray[np.uint64], npt.NDArray[np.uint32], npt.NDArray[np.float64]]
        | tuple[Columns, Sequence[int]],
        y: npt.NDArray[np.float64],
        *,
        rules: Rules,
        loss: str,
        huber_delta: float | None,
        ridge: float,
        fit_intercept: bool,
        standardize: bool,
        weights: npt.NDArray[np.float64] | None = None,
        offset: npt.NDArray[np.float64] | None = None,
        followed: Mapping[str, object] | None = None,
        others: npt.NDArray[np.float64] | None = None,
        responses: Sequence[str] = ...,
        classes: Sequence[str] = ...,
    ) -> Problem: ...
    def survival(self, fields: str, solution: Solution, strata: Sequence[str]) -> str: ...
    @staticmethod
    def of_moments(
        moments: Moments, *, rules: Rules, ridge: float, fit_intercept: bool, standardize: bool
    ) -> Problem: ...
    def solve(
        self,
        k: int,
        settings: Mapping[str, object],
        *,
        refit: bool = False,
        callback: _Callback | None = None,
        save: Callable[[bytes], object] | None = None,
        save_every: float = 60.0,
        resume: bytes | None = None,
        cluster: object | None = None,
    ) -> tuple[Solution, BaseException | None]: ...
    @property
    def huber_delta(self) -> float | None: ...
    def record(
        self,
        solution: Solution,
        *,
        lists: bool,
        positive_label: str | None = None,
        warnings: Sequence[str],
        prices: Sequence[Price] | None = None,
        holdout: tuple[object, ...] | None = None,
    ) -> str: ...
    def outlook(self, solution: Solution) -> str | None: ...
    def scores(self, solution: Solution) -> npt.NDArray[np.float64]: ...
    def warnings(self, k: int) -> list[str]: ...
    def path(
        self,
        sizes: Sequence[int],
        settings: Mapping[str, object],
        *,
        refit: bool = False,
        callback: _Callback | None = None,
        save: Callable[[bytes], object] | None = None,
        save_every: float = 60.0,
        resume: bytes | None = None,
        cluster: object | None = None,
    ) -> tuple[list[Solution], BaseException | None]: ...
    def penalty_path(
        self, k: int, settings: Mapping[str, object]
    ) -> tuple[list[tuple[float, float, float, float, str, Solution]], BaseException | None]: ...
    def stability(
        self,
        k: int,
        settings: Mapping[str, object],
        *,
        y: npt.NDArray[np.float64],
        has_labels: bool,
        resamples: int,
        resampling: str,
        seed: int,
        start: Sequence[int],
        key: str,
        callback: _Callback | None = None,
        save: Callable[[bytes], object] | None = None,
        save_every: float = 60.0,
        resume: bytes | None = None,
    ) -> tuple[str, npt.NDArray[np.float64], BaseException | None]: ...
    def prices(
        self,
        solution: Solution,
        settings: Mapping[str, object],
        *,
        save: Callable[[bytes], object] | None = None,
        save_every: float = 60.0,
        resume: bytes | None = None,
    ) -> tuple[list[Price], BaseException | None]: ...

@final
class Explorer:
    """Explorer of subtrees of searches of one problem."""

    def __new__(cls, problem: Problem, *, threads: int, memory_limit: int | None = None) -> Explorer: ...
    def explore(self, task: bytes) -> bytes: ...

@final
class Tally:
    """Outcomes of all searches so far: one size on the rows outside a fold, with one ridge and one price."""

    def __new__(
        cls, sizes: Sequence[int], ridges: Sequence[float], l0_penalties: Sequence[float], folds: int
    ) -> Tally: ...
    @property
    def penalties(self) -> list[tuple[float, float]]: ...
    def enter(
        self,
        penalty: int,
        size: int,
        fold: int,
        score: float,
        status: str,
        features: int,
        hopeless: tuple[float, float] | None,
    ) -> None: ...
    def candidates(self) -> list[list[tuple[float, str, int, tuple[float, float] | None] | None]]: ...
    @property
    def is_along_prices(self) -> bool: ...
    def hopeless(self) -> str | None: ...
    @property
    def n_missing(self) -> int: ...
    @property
    def complete(self) -> list[int]: ...
    def choose(self, rule: str) -> tuple[int | None, bool]: ...

def hold_out(
    y: npt.NDArray[np.float64],
    weights: npt.NDArray[np.float64] | None,
    has_labels: bool,
    share: float,
    seed: int,
) -> list[bool]: ...
def cross_validate(
    tally: Tally,
    settings: Mapping[str, object],
    *,
    entries: int,
    columns: int,
    begin: Callable[[int], Problem],
    score: Callable[[int, Solution], float],
    callback: _Callback | None = None,
) -> None: ...
def report(
    file: str,
    model: str,
    *,
    rows: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64] | None] | None = None,
    followed: dict[str, Any] | None = None,
    strata: Sequence[str] = ...,
    trace: npt.NDArray[np.float64] | None = None,
    path: tuple[str, int, Sequence[tuple[object, ...]]] | None = None,
    cv: tuple[object, ...] | None = None,
) -> None: ...
def headline(
    status: str,
    k: int,
    objective: float,
    lower_bound: float | None,
    method: str,
    l0_penalty: float = 0.0,
    assumption: tuple[float, bool] | None = None,
    moments: tuple[int, float] | None = None,
) -> str: ...
def advice(status: str) -> str | None: ...
def cost_note(status: str, bounds: tuple[float, float], objective: float) -> str | None: ...
def gap(objective: float, lower_bound: float | None) -> str | None: ...
def measures(metrics: str) -> list[tuple[str, str, str]]: ...
def concordance(
    scores: npt.NDArray[np.float64],
    times: npt.NDArray[np.float64],
    weights: npt.NDArray[np.float64] | None,
    followed: Mapping[str, object],
) -> float: ...
def expectations(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]: ...
def small_print(nodes: int, peak: int, calls: int, seconds: float, method: str) -> str: ...
def effect_notes(model: str) -> list[str]: ...
def stability_words(summary: str) -> tuple[str, list[str]]: ...
def percent(share: float) -> str: ...
def counted(count: int, noun: str) -> str: ...
def width(text: str) -> int: ...
def cut(text: str, columns: int) -> str: ...
def printable(text: str) -> str: ...
