"""Times until an event: conversion of the users' ``y`` to the engine's input."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Times:
    """The data of rows other than their times: events, strata and entry times."""

    event: npt.NDArray[np.bool_]
    ties: str = "efron"
    #: The index of the stratum of each row; ``names`` has the names of the strata.
    strata: npt.NDArray[np.uint32] | None = None
    names: list[str] = field(default_factory=list)
    entry: Vector | None = None

    def part(self, rows: npt.NDArray[Any]) -> Times:
        """Select rows, by index or by mask."""
        strata, entry = (None if values is None else values[rows] for values in (self.strata, self.entry))
        return replace(self, event=self.event[rows], strata=strata, entry=entry)

    @property
    def marks(self) -> Vector | None:
        """1 for events and -1 for other times, to stratify splits by; None if there are not two of each."""
        events = int(self.event.sum())
        return np.where(self.event, 1.0, -1.0) if 2 <= events <= len(self.event) - 2 else None

    def structured(self, times: Vector) -> npt.NDArray[Any]:
        """Return events and times as a structured array, as in scikit-survival."""
        y = np.empty(len(times), dtype=[("event", bool), ("time", np.float64)])
        y["event"], y["time"] = self.event, times
        return y

    @property
    def labels(self) -> npt.NDArray[Any] | None:
        """The name of the stratum of each row."""
        return None if self.strata is None else np.asarray(self.names)[self.strata]

    @property
    def followed(self) -> dict[str, Any]:
        """The fields for the bindings."""
        return {
            "event": self.event.tolist(),
            "ties": self.ties,
            "strata": None if self.strata is None else self.strata.tolist(),
            "entry": None if self.entry is None else self.entry.tolist(),
        }

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of a model file, without a baseline."""
        return {
            "event": "event",
            "ties": self.ties,
            "strata": None if self.strata is None else "strata",
            "entry": None if self.entry is None else "entry",
            "events": int(self.event.sum()),
            "centre": 0.0,
            "baseline": [],
        }


def parse(y: Any, event: Any = None) -> tuple[Vector, npt.NDArray[np.bool_]]:
    """Return times and events, from a structured array as in scikit-survival, a pair, or times and ``event``."""
    if event is not None:
        return _vector(y, "y"), _events(event)
    if isinstance(y, tuple) and len(y) == 2:
        return _vector(y[0], "the times of y"), _events(y[1])
    array = np.asarray(y)
    if array.dtype.names is not None:
        kinds = {name: array.dtype[name].kind for name in array.dtype.names}
        events = [name for name, kind in kinds.items() if kind == "b"]
        times = [name for name, kind in kinds.items() if kind in "fiu"]
        if len(events) != 1 or len(times) != 1:
            raise ValueError(
                "A structured y has one field of bool, the events, and one of numbers, the times; "
                f"this one has {', '.join(array.dtype.names)}."
            )
        return _vector(array[times[0]], "the times of y"), _events(array[events[0]])
    raise ValueError(
        "Cox models need to know which times are those of events: give y as a structured array with events and times "
        "(as scikit-survival does), as a pair (time, event), or give event=."
    )


def followed(y: Any, event: Any, *, ties: str, strata: Any, entry: Any) -> tuple[Vector, Times]:
    """Check times, events, strata and entry times; return the times and the rest."""
    times, marks = parse(y, event)
    _same("event", len(marks), len(times))
    numbers, names = None, []
    if strata is not None:
        values = np.asarray(strata)
        _same("strata", len(values), len(times))
        found, codes = np.unique(values.astype(str), return_inverse=True)
        numbers, names = codes.astype(np.uint32).ravel(), [str(name) for name in found]
    begun = None
    if entry is not None:
        begun = _vector(entry, "entry")
        _same("entry", len(begun), len(times))
    return times, Times(marks, ties, numbers, names, begun)


def _vector(values: Any, name: str) -> Vector:
    # A field of a structured array need not be aligned.
    array = np.require(values, np.float64, "A")
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension; it has {array.ndim}.")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} contains NaN or infinity.")
    return array


def _events(values: Any) -> npt.NDArray[np.bool_]:
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"event must have one dimension; it has {array.ndim}.")
    if array.dtype.kind != "b" and not np.isin(array, (0, 1)).all():
        raise ValueError("event must hold True and False, or 1 and 0: compare it with the value that marks an event.")
    return array.astype(bool)


def _same(name: str, found: int, expected: int) -> None:
    if found != expected:
        raise ValueError(f"{name} has {found} entries, and there are {expected} times.")
