"""Reports and model files of results."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from l0star import _core

if TYPE_CHECKING:
    from l0star._result import Result
    from l0star._times import Times

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """The fitted rows: their scores, including the offset, and their true responses."""

    scores: Vector
    y: Vector
    weights: Vector | None
    #: Events, strata and entry times if y holds times.
    times: Times | None = None


@dataclass(frozen=True)
class Origin:
    """The data and the call that a result comes from.

    ``arguments`` are the arguments of the call that differ from their defaults. ``features`` are the columns that could
    be chosen, and ``free`` those that are in every model without counting towards k. ``settings`` and ``parts`` are
    fields of model files; ``parts`` describes how text, missing values and dates of a frame became features.
    """

    arguments: str
    target: str
    n_rows: int
    features: list[str]
    free: frozenset[str]
    settings: dict[str, Any]
    standardize: bool
    has_weights: bool
    has_offset: bool
    parts: dict[str, Any] = field(default_factory=dict)


def notes(result: Result) -> list[str]:
    """Return notes on the meaning of standard errors and of a refit without the ridge."""
    if result.origin is None:
        return []
    return _core.effect_notes(json.dumps(_model(result, result.origin, ""), allow_nan=False))


def write(
    file: str | os.PathLike[str],
    result: Result,
    path: tuple[str, Sequence[Result]] | None = None,
    cv: tuple[Any, ...] | None = None,
) -> None:
    """Write the HTML page of a result.

    ``path`` is the criterion that chose the result, and the path that it was chosen from; ``cv`` has the scores.
    """
    origin = result.origin
    if origin is None:
        raise ValueError("This result does not know where it comes from: only results of l0star have a page.")
    rows = result.rows
    chart, call = None, f"l0star.solve(X, y, k={result.k}{origin.arguments})"
    if path is not None:
        criterion, results = path
        call = f"l0star.sparse_path(X, y, k_max={results[-1].k}{origin.arguments})"
        points = [
            (one.k, one.status, one.objective, one.lower_bound, (one.aic, one.bic, one.ebic), one.features)
            for one in results
        ]
        chart = (criterion.upper(), result.k, points)
    times = None if rows is None else rows.times
    _core.report(
        os.fspath(file),
        model(result, call),
        rows=None if rows is None else (rows.scores, rows.y, rows.weights),
        followed=None if times is None else times.followed,
        strata=[] if times is None else times.names,
        trace=result.trace if path is None else None,
        path=chart,
        cv=cv,
    )


def model(result: Result, call: str | None = None) -> str:
    """Return the text of the command's model file for a result."""
    origin = result.origin
    if origin is None:
        raise ValueError("This result does not know where it comes from: only results of l0star have a model file.")
    call = call or f"l0star.solve(X, y, k={result.k}{origin.arguments})"
    return json.dumps(_model(result, origin, call), allow_nan=False)


def _model(result: Result, origin: Origin, call: str) -> dict[str, Any]:
    fields = result.to_dict()
    has_two = result.classes is not None and result.coef.ndim == 1
    labels = [str(label) for label in result.classes] if has_two and result.classes is not None else None
    fields["support"] = [name for name in result.features if name not in origin.free]
    if labels is not None:
        fields["positive_label"] = labels[1]
    return {
        "format": "l0star-model",
        "version": 1,
        "l0star": _core.VERSION,
        **fields,
        "target": origin.target,
        "labels": labels,
        "weights": "sample_weight" if origin.has_weights else None,
        "offset": "offset" if origin.has_offset and not result.outputs else None,
        "offsets": [f"offset_{name}" for name in result.outputs] if origin.has_offset else [],
        **({} if result.survival is None else {"survival": result.survival}),
        "fit_intercept": result.fit_intercept,
        "standardize": origin.standardize,
        **_parts(result, origin),
        "features": origin.features,
        "settings": origin.settings,
        "data": {
            "file": "X",
            "rows": origin.n_rows,
            "columns": len(origin.features),
            "rows_dropped": 0,
            "hash": "",
        },
        "command": [call],
    }


def _parts(result: Result, origin: Origin) -> dict[str, Any]:
    """Return the fields on text, missing values and dates for predictions, with only the text columns of the model."""
    parts = dict(origin.parts)
    levels = parts.get("indicators", [])
    used = {level["column"] for level in levels if level["name"] in set(result.features)}
    parts["indicators"] = [level for level in levels if level["column"] in used]
    return parts


def finite(value: float | None) -> float | None:
    """Replace infinity and NaN, which JSON cannot represent, by None."""
    return value if value is None or math.isfinite(value) else None
