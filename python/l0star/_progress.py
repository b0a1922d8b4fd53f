"""Progress of a search: callbacks, the log, the progress bar."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from l0star._core import Solution

if TYPE_CHECKING:
    from tqdm import tqdm

logger = logging.getLogger("l0star")
logger.addHandler(logging.NullHandler())

#: Callback of the bindings: kind, seconds, objective, lower bound, nodes, open nodes, support, k.
Listener = Callable[[str, float, "float | None", "float | None", int, int, "list[int] | None", int], object]


class Progress(NamedTuple):
    """The state of a search that is passed to a callback.

    Attributes
    ----------
    kind : {"incumbent", "bound", "tick"}
        A better model was found, the lower bound rose, or neither happened for a while.
    seconds : float
        Seconds since the start.
    objective : float or None
        Objective of the best model so far.
    lower_bound : float or None
        Certified lower bound on the objective of any model.
    nodes, open_nodes : int
        Nodes examined and nodes still open.
    support : list of int or None
        The features of the best model so far, groups by their first columns (without those of ``include``).
    k : int
        The current size, on a path.
    """

    kind: str
    seconds: float
    objective: float | None
    lower_bound: float | None
    nodes: int
    open_nodes: int
    support: list[int] | None
    k: int

    @property
    def gap(self) -> float | None:
        """``objective - lower_bound``, None while one of them is unknown."""
        if self.objective is None or self.lower_bound is None:
            return None
        return max(self.objective - self.lower_bound, 0.0)


def cancellation() -> Callable[[], bool] | None:
    """Return a function that tells whether the current Dask task was cancelled; None outside Dask tasks."""
    module = sys.modules.get("distributed.worker")
    state = getattr(module, "thread_state", None)
    key = getattr(state, "key", None)
    if module is None or key is None:
        return None
    worker = module.get_worker()

    def is_cancelled() -> bool:
        task = worker.state.tasks.get(key)
        return task is None or task.state == "cancelled"

    return is_cancelled


def bar(total: float, description: str, **options: Any) -> tqdm[Any]:
    """Make a progress bar, as a widget in notebooks."""
    if options.get("disable"):
        from tqdm import tqdm
    else:
        # In a notebook without widgets this import warns, so it is done only for a visible bar.
        from tqdm.auto import tqdm

    return tqdm(total=total, desc=description, **options)


class Telling:
    """Context manager that reports the events of one search to the callback, the log and the progress bar."""

    def __init__(self, callback: Callable[[Progress], object] | None, verbose: int) -> None:
        self._callback = callback
        self._is_cancelled = cancellation()
        self._first_gap: float | None = None
        self._drawn = 0.0
        self._bar: tqdm[Any] | None = None
        if verbose:
            shape = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}{postfix}"
            self._bar = bar(1.0, "gap closed", bar_format=shape, leave=verbose > 1)

    def __enter__(self) -> Telling:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    @property
    def listener(self) -> Listener | None:
        """The callback for the bindings; None if there is nothing to report to."""
        if self._is_cancelled is not None:
            return self._tell
        if self._callback is None and self._bar is None and not logger.isEnabledFor(logging.DEBUG):
            return None
        return self._tell

    def finish(self, found: Solution) -> None:
        """Show the final state, which may be newer than the last event."""
        if self._bar is not None:
            facts = (found.seconds, found.objective, found.lower_bound, found.nodes)
            self._draw(self._bar, Progress("tick", *facts, open_nodes=0, support=None, k=found.k), last=True)
            self._bar.refresh()

    def _tell(self, *state: Any) -> bool:
        progress = Progress(*state)
        if progress.kind != "tick":
            logger.debug(
                "%s after %.3f s: objective %s, lower bound %s, %d nodes, %d open",
                progress.kind,
                progress.seconds,
                progress.objective,
                progress.lower_bound,
                progress.nodes,
                progress.open_nodes,
            )
        if self._bar is not None:
            self._draw(self._bar, progress)
        if self._is_cancelled is not None and self._is_cancelled():
            return True
        return bool(self._callback(progress)) if self._callback is not None else False

    def _draw(self, bar: tqdm[Any], progress: Progress, *, last: bool = False) -> None:
        # Bounds may rise thousands of times per second.
        if not last and progress.seconds < self._drawn + 0.05:
            return
        self._drawn = progress.seconds
        gap = progress.gap
        if gap is not None:
            if self._first_gap is None:
                self._first_gap = gap
            # The remaining gap of an optimal result is rounding error.
            is_closed = gap <= 1e-9 * abs(progress.objective or 0.0)
            bar.n = 1.0 if is_closed else 1.0 - gap / self._first_gap
        numbers = {"objective": progress.objective, "bound": progress.lower_bound}
        shown = {name: f"{value:.6g}" for name, value in numbers.items() if value is not None}
        bar.set_postfix({**shown, "nodes": progress.nodes, "open": progress.open_nodes}, refresh=False)
        bar.update(0)
