"""Mock Dask clients that lose their workers on demand."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any


class Answered(Future):
    """A future with the interface of Dask's futures."""

    status = "finished"

    def release(self) -> None:
        pass


class Leaving:
    """A client whose workers leave for good after some tasks; their current tasks are never answered."""

    def __init__(self, task: Callable[..., Any], last: int) -> None:
        self.task, self.last = task, last
        self.tasks = 0

    def nthreads(self) -> dict[str, int]:
        return {"one": 1, "other": 1} if self.tasks < self.last else {}

    def submit(self, fn, /, *args, **_):
        future = Answered()
        self.tasks += fn is self.task
        if fn is not self.task or self.tasks < self.last - 1:
            future.set_result(fn(*(own.result() if isinstance(own, Future) else own for own in args)))
        return future

    def cancel(self, futures) -> None:
        for future in futures:
            future.cancel()
