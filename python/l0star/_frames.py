"""Frames with text, missing values or dates, as columns from which the engine makes features."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from l0star import _core
from l0star._input import feature_names, unnamed
from l0star._options import Options
from l0star._warnings import L0starWarning, warn

#: A column: numbers, with NaN for missing ones, or the distinct texts and the index of the text of each row.
Column = Any


@dataclass(frozen=True)
class Prepared:
    """Features made of the columns of a frame.

    ``texts`` are the columns of text with the indices of their features, and ``sources`` is the index of the column of
    the frame that each feature is made of. ``parts`` are the fields of a model file that describe how the features are
    made, and ``excluded`` are the columns that were left out.
    """

    X: Any
    names: list[str]
    texts: list[tuple[str, list[int]]]
    sources: list[int]
    parts: dict[str, Any]
    excluded: frozenset[str]

    def left(self, exclude: Any) -> Any:
        """Return the items of ``exclude`` that are still to be looked up among the features."""
        if exclude is None or isinstance(exclude, str):
            return None if exclude is None or exclude in self.excluded else exclude
        items = list(exclude) if isinstance(exclude, Iterable) else [exclude]
        return [item for item in items if item not in self.excluded]


def prepare(X: Any, options: Options) -> Prepared | None:
    """Make features of a frame; None if it holds only numbers and no option asks for a conversion."""
    asked = [options.impute, options.as_number, options.as_text, options.dates]
    names = feature_names(X)
    if all(one is None for one in asked) and (names is None or _is_plain(X)):
        return None
    if names is None and not isinstance(X, np.ndarray):
        return None
    names = names or unnamed(np.shape(X)[1])
    excluded = [name for name in _listed(options.exclude) if name in names]
    prepared = frame(X, names).prepare(
        exclude=excluded,
        rare=int(options.rare),
        impute=options.impute is not None,
        as_number=_listed(options.as_number),
        as_text=_listed(options.as_text),
        dates=options.dates,
        date_order=options.date_order,
    )
    for note in prepared.notes:
        warn(note, L0starWarning)
    return Prepared(
        X=prepared.matrix,
        names=prepared.names,
        texts=prepared.texts,
        sources=prepared.sources,
        parts=json.loads(prepared.parts),
        excluded=frozenset(excluded),
    )


def frame(X: Any, names: list[str]) -> _core.Frame:
    """Convert a frame, table or array to columns of the engine."""
    return _core.Frame(names, [_column(values) for values in _columns(X, names)])


def _listed(names: Any) -> list[str]:
    if names is None:
        return []
    return [names] if isinstance(names, str) else [name for name in names if isinstance(name, str)]


def _columns(X: Any, names: list[str]) -> Iterable[Any]:
    if isinstance(X, np.ndarray):
        return (X[:, j] for j in range(X.shape[1]))
    if hasattr(X, "column_names"):
        return (X.column(j) for j in range(len(names)))
    if hasattr(X, "iloc"):
        return (X.iloc[:, j] for j in range(len(names)))
    return (X[name] for name in names)


def _is_plain(X: Any) -> bool:
    """Return whether all columns have numeric types."""
    return all(_numbers(values) is not None for values in _columns(X, feature_names(X) or []))


def _numbers(values: Any) -> npt.NDArray[np.float64] | None:
    """Return a numeric or boolean column as floats, with NaN for missing values; None for any other column."""
    kind = getattr(getattr(values, "dtype", None), "kind", None)
    if kind is not None and kind in "biuf" and hasattr(values, "to_numpy"):
        # pandas: its extension types have a kind, too, and their own missing values.
        return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan), dtype=np.float64)
    if kind is not None:
        return np.asarray(values, dtype=np.float64) if kind in "biuf" else None
    arrow = getattr(values, "type", None)
    if arrow is not None:
        import pyarrow.types as types

        if types.is_boolean(arrow):
            return np.array([np.nan if one is None else float(one) for one in values.to_pylist()])
        if types.is_floating(arrow) or types.is_integer(arrow) or types.is_decimal(arrow) or types.is_null(arrow):
            return np.asarray(values.cast("float64").to_numpy(), dtype=np.float64)
        return None
    dtype = getattr(values, "dtype", None)
    if dtype is not None and hasattr(dtype, "is_numeric") and (dtype.is_numeric() or str(dtype) in ("Boolean", "Null")):
        return np.array([np.nan if one is None else float(one) for one in values.to_list()], dtype=np.float64)
    return None


def _column(values: Any) -> Column:
    numbers = _numbers(values)
    if numbers is not None:
        return np.ascontiguousarray(numbers)
    cells = values.to_pylist() if hasattr(values, "to_pylist") else list(values)
    texts = [_text(cell) for cell in cells]
    if all(
        isinstance(cell, (bool, int, float, np.number)) or text == "" for cell, text in zip(cells, texts, strict=True)
    ):
        # Numbers stored as objects.
        return np.array([np.nan if text == "" else float(cell) for cell, text in zip(cells, texts, strict=True)])
    codes: dict[str, int] = {}
    which = np.array([codes.setdefault(text, len(codes)) for text in texts], dtype=np.uint32)
    return list(codes), which


def _text(cell: Any) -> str:
    """Return a cell as the command reads it: missing is empty, dates are ISO, whole numbers have no decimals."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell.strip()
    if isinstance(cell, (bool, np.bool_)):
        return "true" if cell else "false"
    try:
        if cell != cell:
            return ""
    except (TypeError, ValueError):
        # pandas.NA has no truth value.
        return ""
    if isinstance(cell, datetime.date):
        return cell.isoformat()
    if isinstance(cell, (float, np.floating)) and float(cell).is_integer():
        return str(int(cell))
    return str(cell).strip()
