"""The bindings: arrays in, numbers out. The package on top of them is what users see."""

from collections.abc import Callable, Sequence
from typing import final

import numpy as np
import numpy.typing as npt

__all__ = ["LABEL_LOSSES", "METHODS", "REAL_LOSSES", "RELAXATIONS", "VERSION", "Problem", "Solution", "Stop"]

VERSION: str
REAL_LOSSES: tuple[str, ...]
LABEL_LOSSES: tuple[str, ...]
METHODS: tuple[str, ...]
RELAXATIONS: tuple[str, ...]

@final
class Stop:
    """Stops every solve that it was given to."""

    def __new__(cls) -> Stop: ...
    def set(self) -> None: ...

@final
class Solution:
    """The best model found, what is proved of it, and how the search went."""

    @property
    def status(self) -> str: ...
    @property
    def objective(self) -> float: ...
    @property
    def lower_bound(self) -> float | None: ...
    @property
    def support(self) -> npt.NDArray[np.int64]: ...
    @property
    def coefficients(self) -> npt.NDArray[np.float64]: ...
    @property
    def intercept(self) -> float: ...
    @property
    def solver_calls(self) -> int: ...
    @property
    def nodes(self) -> int: ...
    @property
    def peak_open_nodes(self) -> int: ...
    @property
    def seconds(self) -> float: ...
    @property
    def trace(self) -> npt.NDArray[np.float64]: ...

@final
class Problem:
    """Checked data, to be solved for any k."""

    def __new__(
        cls,
        X: npt.NDArray[np.float64]
        | npt.NDArray[np.float32]
        | tuple[tuple[int, int], npt.NDArray[np.uint64], npt.NDArray[np.uint32], npt.NDArray[np.float64]],
        y: npt.NDArray[np.float64],
        *,
        names: Sequence[str],
        loss: str,
        huber_delta: float,
        ridge: float,
        fit_intercept: bool,
        include: Sequence[int],
        exclude: Sequence[int],
        weights: npt.NDArray[np.float64] | None = None,
        offset: npt.NDArray[np.float64] | None = None,
        scale: npt.NDArray[np.float64] | None = None,
    ) -> Problem: ...
    def solve(
        self,
        k: int,
        *,
        method: str,
        relaxation: str,
        gap: float,
        relative_gap: float,
        threads: int,
        time_limit: float | None = None,
        node_limit: int | None = None,
        memory_limit: int | None = None,
        stop: Stop | None = None,
        callback: Callable[[str, float, float | None, float | None, int, int, list[int] | None], object] | None = None,
    ) -> tuple[Solution, BaseException | None]: ...
