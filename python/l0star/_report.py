"""The page of a result: what it says beside the result itself."""

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
    """The rows that were fitted: what the model says of them (offset and all), and what is true."""

    scores: Vector
    y: Vector
    weights: Vector | None
    #: What is known of y where it holds times.
    times: Times | None = None


@dataclass(frozen=True)
class Origin:
    """Where a result comes from.

    ``arguments`` are those of the call that are not by default, ``features`` the columns that could be chosen, ``free``
    those that are in every model and that k does not count; ``settings`` are in the words of the command's model
    files, and so are ``parts``: what text, gaps and dates of a frame became.
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
    """Say what standard errors, and a fit without the ridge, are about."""
    if result.origin is None:
        return []
    return _core.effect_notes(json.dumps(_model(result, result.origin, ""), allow_nan=False))


def write(
    file: str | os.PathLike[str],
    result: Result,
    path: tuple[str, Sequence[Result]] | None = None,
    cv: tuple[Any, ...] | None = None,
) -> None:
    """Write the page of a result.

    ``path`` is the criterion by which it was chosen, and what it was chosen from; ``cv`` has the scores.
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
    """Give what the command's model file of a result holds."""
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
    """Give what a prediction needs to know of text, gaps and dates: of text, the columns that the model has."""
    parts = dict(origin.parts)
    levels = parts.get("indicators", [])
    used = {level["column"] for level in levels if level["name"] in set(result.features)}
    parts["indicators"] = [level for level in levels if level["column"] in used]
    return parts


def finite(value: float | None) -> float | None:
    """Give what JSON can say: it has no infinity."""
    return value if value is None or math.isfinite(value) else None
