"""Options of the solver: the parameters that every entry point shares, checked in one place."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any, Literal

from joblib import cpu_count, effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend

from l0star._core import LABEL_LOSSES, METHODS, REAL_LOSSES, RELAXATIONS
from l0star._progress import Progress
from l0star._warnings import warn

LOSSES = (*REAL_LOSSES, *LABEL_LOSSES)

#: The exact methods, which prove what they find.
EXACT = ("best-first", "paper", "exhaustive")

#: Options that do not change what is solved: where it runs, who is informed, and the files of one run.
_ASIDE = ("client", "callback", "verbose", "checkpoint", "checkpoint_every", "resume")

#: The largest count that the engine can hold.
_MOST = 2**63 - 1


@dataclass(frozen=True)
class Options:
    """The parameters of :func:`l0star.solve` that are not data; see there."""

    loss: str = "quadratic"
    huber_delta: float | Literal["auto"] = "auto"
    ridge: float = 1e-3
    gap: float = 0.0
    relative_gap: float = 0.0
    fit_intercept: bool = True
    standardize: bool = True
    ties: str = "efron"
    method: str = "best-first"
    relaxation: str = "pdal"
    include: Any = None
    include_free: Any = None
    exclude: Any = None
    groups: Any = None
    bounds: Any = None
    nonnegative: Any = False
    ridge_factor: Any = None
    requires: Any = None
    l0_penalty: float = 0.0
    l0_factor: Any = None
    assume_max_coefficient: float | None = None
    impute: str | None = None
    rare: int = 5
    as_number: Any = None
    as_text: Any = None
    dates: str | None = None
    date_order: str | None = None
    top: int | None = None
    within: float | None = None
    prices: bool = False
    refit: bool = False
    holdout: float | None = None
    random_state: int = 1
    checkpoint: str | os.PathLike[str] | None = None
    checkpoint_every: float = 60.0
    resume: str | os.PathLike[str] | None = None
    time_limit: float | None = None
    search_time_limit: float | None = None
    node_limit: int | None = None
    memory_limit: int | None = None
    n_jobs: int | None = None
    client: Any = None
    callback: Callable[[Progress], object] | None = None
    verbose: int = 0

    @classmethod
    def of(cls, given: Mapping[str, Any], **changes: Any) -> Options:
        """Collect the options among the parameters of a function (``locals()``) or an estimator (``vars(self)``)."""
        names = {field.name for field in fields(cls)}
        return cls(**{**{name: value for name, value in given.items() if name in names}, **changes})

    def settings(self) -> dict[str, Any]:
        """Return the settings of a search for the bindings."""
        limit, search_limit = self.time_limit, self.search_time_limit
        return {
            "method": self.method,
            "relaxation": self.relaxation,
            "gap": float(self.gap),
            "relative_gap": float(self.relative_gap),
            "threads": thread_count(self.n_jobs),
            "top": self.top,
            "within": self.within,
            "time_limit": None if limit is None else float(limit),
            "search_time_limit": None if search_limit is None else float(search_limit),
            "node_limit": self.node_limit,
            "memory_limit": self.memory_limit,
        }

    def arguments(self) -> str:
        """Return the arguments of a call that affect what is solved and differ from their defaults, as text."""
        told = []
        for field in fields(self):
            value = getattr(self, field.name)
            is_default = value is field.default or (isinstance(value, (Real, str)) and value == field.default)
            if not is_default and field.name not in _ASIDE:
                text = repr(value)
                told.append(f", {field.name}={text if len(text) <= 80 else '…'}")
        return "".join(told)

    def check(self, owner: str, losses: tuple[str, ...] = LOSSES) -> None:
        """Reject values that are out of range, with scikit-learn's wording."""
        check_word(owner, "loss", self.loss, losses)
        check_word(owner, "ties", self.ties, ("efron", "breslow"))
        check_word(owner, "method", self.method, METHODS)
        check_word(owner, "relaxation", self.relaxation, RELAXATIONS)
        if self.relaxation != "pdal" and self.method != "paper":
            raise ValueError(f"relaxation={self.relaxation!r} belongs to method='paper'; got method={self.method!r}.")
        if self.huber_delta != "auto":
            check_real(owner, "huber_delta", self.huber_delta, above=0.0, words=("auto",))
        check_real(owner, "ridge", self.ridge, above=0.0)
        check_real(owner, "l0_penalty", self.l0_penalty, least=0.0)
        if self.assume_max_coefficient is not None:
            check_real(owner, "assume_max_coefficient", self.assume_max_coefficient, above=0.0)
        check_count(owner, "rare", self.rare)
        words = {"impute": ("mean",), "dates": ("days", "drop"), "date_order": ("dmy", "mdy")}
        for name, allowed in words.items():
            if getattr(self, name) is not None:
                check_word(owner, name, getattr(self, name), allowed)
        check_real(owner, "gap", self.gap, least=0.0)
        check_real(owner, "relative_gap", self.relative_gap, least=0.0)
        for name in ("time_limit", "search_time_limit"):
            if getattr(self, name) is not None:
                check_real(owner, name, getattr(self, name), least=0.0, finite=False)
        if self.within is not None:
            check_real(owner, "within", self.within, least=0.0)
        if self.holdout is not None:
            check_real(owner, "holdout", self.holdout, above=0.0)
            if not self.holdout < 1:
                _refuse(owner, "holdout", self.holdout, "a float in the range (0, 1) or None")
        check_count(owner, "random_state", self.random_state)
        if self.top is not None:
            check_count(owner, "top", self.top, least=1)
        check_real(owner, "checkpoint_every", self.checkpoint_every, least=0.0)
        if self.prices and self.method not in EXACT:
            raise ValueError(f"prices need an exact method: {', '.join(EXACT)}; got method={self.method!r}.")
        if self.method != "best-first" and (self.checkpoint is not None or self.resume is not None):
            raise ValueError(f"checkpoints belong to method='best-first'; got method={self.method!r}.")
        if self.client is not None and self.method != "best-first":
            raise ValueError(f"a client belongs to method='best-first'; got method={self.method!r}.")
        for name in ("node_limit", "memory_limit"):
            if getattr(self, name) is not None:
                check_count(owner, name, getattr(self, name))
        if self.n_jobs is not None and (not isinstance(self.n_jobs, Integral) or self.n_jobs == 0):
            _refuse(owner, "n_jobs", self.n_jobs, "an int other than 0 or None")
        if self.callback is not None and not callable(self.callback):
            _refuse(owner, "callback", self.callback, "a callable or None")


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads for ``n_jobs``: at most four per core, with a warning if more are requested."""
    backend, _ = get_active_backend()
    # Threads run on this machine, even if a joblib backend has other machines.
    with parallel_config(backend="loky") if hasattr(backend, "client") else nullcontext():
        asked, most = effective_n_jobs(n_jobs), 4 * cpu_count()
    if asked > most:
        warn(f"n_jobs={n_jobs} is more than four per core; {most} threads are started.", UserWarning)
    return int(min(asked, most))


def check_k(owner: str, k: object, options: Options) -> None:
    """Reject a ``k`` that is not a size; None is one if features have prices."""
    if k is None and options.l0_penalty == 0:
        raise ValueError(f"{owner} needs k, the most features of a model, or an l0_penalty greater than 0.")
    if k is not None:
        check_count(owner, "k", k)


def check_count(owner: str, name: str, value: object, *, least: int = 0) -> None:
    """Reject a value that is not a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= int(value) <= _MOST:
        _refuse(owner, name, value, f"an int in the range [{least}, inf)")


def check_real(
    owner: str,
    name: str,
    value: object,
    *,
    above: float | None = None,
    least: float | None = None,
    finite: bool = True,
    words: tuple[str, ...] = (),
) -> None:
    """Reject a value that is not a number in the range; the caller has already accepted any of the ``words``."""
    low = f"({above}" if above is not None else f"[{least}"
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    number = float(value) if is_number and isinstance(value, Real) else math.nan
    in_range = number > above if above is not None else least is not None and number >= least
    if not in_range or (finite and math.isinf(number)):
        also = "".join(f" or {word!r}" for word in words)
        _refuse(owner, name, value, f"a float in the range {low}, inf){also}")


def check_word(owner: str, name: str, value: object, words: tuple[str, ...]) -> None:
    """Reject a value that is not one of the words."""
    if not isinstance(value, str) or value not in words:
        _refuse(owner, name, value, f"a str among {{{', '.join(map(repr, words))}}}")


def _refuse(owner: str, name: str, value: object, allowed: str) -> None:
    raise ValueError(f"The {name!r} parameter of {owner} must be {allowed}. Got {value!r} instead.")
