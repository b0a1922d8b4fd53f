"""Model files as fitted estimators."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
import numpy.typing as npt

from l0star import _core
from l0star._cox import SparseCox
from l0star._estimators import SparseClassifier, SparseRegressor
from l0star._result import Model, Result


def load(file: str | os.PathLike[str]) -> SparseRegressor | SparseClassifier | SparseCox:
    """Read a model file of the command, or of ``save``, as a fitted estimator.

    The predictions of the estimator are those of ``l0star predict``, bit for bit. ``predict`` takes a frame with the
    columns that the model needs, or an array with these columns in the order of ``feature_names_in_``.

    Parameters
    ----------
    file : str or path
        The file that ``l0star fit --out`` or :meth:`SparseRegressor.save` wrote.

    Returns
    -------
    SparseRegressor, SparseClassifier or SparseCox
        A classifier for a model of labels, a Cox estimator for a model of hazards, a regressor otherwise.
    """
    model = _core.Model.load(os.fspath(file))
    fields = json.loads(model.json)
    shared = {name: fields[name] for name in ("k", "loss", "ridge", "fit_intercept", "standardize")}
    estimator: SparseRegressor | SparseClassifier | SparseCox
    survival = fields.get("survival")
    if survival is not None:
        own = {name: fields[name] for name in ("k", "ridge", "standardize")}
        estimator = SparseCox(**own, ties=survival["ties"])
    elif fields["labels"] is not None or fields.get("classes"):
        estimator = SparseClassifier(**shared)
    else:
        delta = fields.get("huber_delta")
        estimator = SparseRegressor(**shared, huber_delta="auto" if delta is None else delta)
    estimator._adopt(_result(fields))
    estimator._loaded = model.json
    columns = model.columns
    estimator.feature_names_in_ = np.array(columns, dtype=object)
    estimator.n_features_in_ = len(columns)
    return estimator


def export(file: str | os.PathLike[str], to: str = "sql", *, table: str = "data", expression: bool = False) -> str:
    """Return a model file as SQL or as Python code that computes the same numbers.

    Parameters
    ----------
    file : str or path
        The file that ``l0star fit --out`` or :meth:`SparseRegressor.save` wrote.
    to : {"sql", "sqlite", "python"}, default="sql"
        Language of the code; "sql" is for PostgreSQL and DuckDB.
    table : str, default="data"
        Name of the table that the query reads.
    expression : bool, default=False
        Whether to return only the score, as an SQL expression.

    Returns
    -------
    str
        The code.
    """
    return _core.Model.load(os.fspath(file)).export(to, table=table, expression=expression)


def _classes(labels: list[str] | None) -> npt.NDArray[Any] | None:
    """Convert labels to numbers if all of them are numbers."""
    if labels is None:
        return None
    for kind in (int, float):
        try:
            return np.array([kind(label) for label in labels])
        except ValueError:
            continue
    return np.array(labels)


def _result(fields: dict[str, Any]) -> Result:
    coefficients, names = fields["coefficients"], list(fields["features"])
    names += [name for name in coefficients if name not in names]
    place = {name: j for j, name in enumerate(names)}

    responses = fields.get("responses", [])
    outputs = responses or fields.get("classes", [])

    def vector(by_name: dict[str, Any]) -> npt.NDArray[np.float64]:
        values = np.zeros((len(outputs), len(names)) if outputs else len(names))
        for name, value in by_name.items():
            values[..., place[name]] = value
        return values

    def intercept(of: dict[str, Any]) -> Any:
        return np.array(of["intercept"]) if outputs else of["intercept"]

    def support(by_name: dict[str, Any]) -> npt.NDArray[np.int64]:
        return np.array([place[name] for name in by_name], dtype=np.int64)

    listed = [
        Model(
            objective=one["objective"],
            coef=vector(one["coefficients"]),
            intercept=intercept(one),
            support=support(one["coefficients"]),
            names=names,
        )
        for one in fields.get("solutions") or [fields]
    ]
    own = ("status", "objective", "lower_bound", "relative_gap", "k", "loss", "ridge", "method")
    counts = ("solver_calls", "nodes", "peak_open_nodes", "seconds", "fit_intercept")
    return Result(
        **{name: fields[name] for name in (*own, *counts)},
        huber_delta=fields.get("huber_delta"),
        intercept=intercept(fields),
        responses=responses,
        coef=vector(coefficients),
        coef_per_sd=vector(fields.get("per_sd", {})),
        support=support(coefficients),
        names=names,
        twins=fields.get("twins", {}),
        classes=_classes(fields["labels"] or fields.get("classes") or None),
        solutions=listed,
        rest_bound=fields.get("rest_bound"),
        truncated=fields.get("truncated", False),
        aic=None,
        bic=None,
        ebic=None,
        found_by=fields.get("found_by", "given"),
        found_after=fields.get("found_after", 0.0),
        trace=np.zeros((0, 4)),
        survival=fields.get("survival"),
        warnings=fields.get("warnings", []),
        record={name: fields[name] for name in fields if name not in ("format", "version", "l0star")},
    )
