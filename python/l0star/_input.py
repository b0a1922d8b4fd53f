"""Conversion of the users' data (arrays, frames, tables, sparse matrices) to the engine's input."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import assert_all_finite, check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from l0star import _core
from l0star._times import Times

Vector = npt.NDArray[np.float64]

#: Types that are kept as they are; all others become float64.
FLOATS = (np.float64, np.float32)
SPARSE_FORMATS = ("csr", "csc")


@dataclass(frozen=True)
class Data:
    """Checked data, X dense or sparse; ``y`` holds -1 and 1 where ``classes`` is given.

    With several responses, named in ``responses``, ``y`` has one column per response. With ``many`` classes, ``y``
    holds the index of the class of each row. In both cases ``offset`` has one column per response or class.
    """

    X: Any
    y: Vector
    names: list[str]
    weights: Vector | None = None
    offset: Vector | None = None
    classes: npt.NDArray[Any] | None = None
    target: str = "y"
    #: How a frame became X, if it held more than numbers.
    prepared: Any = None
    held_out: Data | None = None
    #: Moments in place of X and y, which are then None and empty.
    moments: _core.Moments | None = None
    #: Events, strata and entry times for the times in y, for a Cox model.
    times: Times | None = None
    responses: list[str] = field(default_factory=list)
    #: Whether y holds indices into ``classes``, each of which has its own coefficients.
    many: bool = False

    def part(self, rows: npt.NDArray[Any]) -> Data:
        """Select rows, by index or by mask."""
        # Rows can be selected efficiently only in CSR format.
        X = self.X.tocsr() if sp.issparse(self.X) else self.X
        weights, offset = (None if values is None else values[rows] for values in (self.weights, self.offset))
        times = None if self.times is None else self.times.part(rows)
        return replace(self, X=X[rows], y=self.y[rows], weights=weights, offset=offset, times=times, held_out=None)


def hold_out(data: Data, share: float | None, seed: int) -> Data:
    """Split off the held-out rows; the result holds the training rows and refers to the others."""
    if share is None:
        return data
    # The split is stratified: by label, by class, or by event and censored time.
    marks = None if data.times is None else data.times.marks
    y, has_kinds = (data.y, data.classes is not None) if marks is None else (marks, True)
    if data.responses:
        y = np.ascontiguousarray(y[:, 0])
    held = np.asarray(_core.hold_out(y, data.weights, has_kinds, float(share), int(seed)))
    return replace(data.part(~held), held_out=data.part(held))


def read(
    X: Any,
    y: Any,
    *,
    labels: bool,
    several: bool = False,
    many: bool = False,
    sample_weight: Any = None,
    offset: Any = None,
    prepared: Any = None,
) -> Data:
    """Check the data that a user passes to a function.

    ``prepared`` are the features of a frame with text or missing values. With ``several``, y may have one column per
    response. With ``many``, the labels may be of any number of classes.
    """
    names, target, responses = feature_names(X), target_name(y), response_names(y) if several else []
    if prepared is not None:
        X, names = prepared.X, prepared.names
    X = check_array(X, accept_sparse=SPARSE_FORMATS, dtype=FLOATS, input_name="X", estimator="l0star")
    check_consistent_length(X, y)
    classes = None
    if labels:
        y = column_or_1d(y)
        assert_all_finite(y, input_name="y")
        classes, y = numbers(y) if many else signs(y)
    else:
        refuse_labels(y, 'use loss="logistic"')
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", estimator="l0star")
        y = y if responses else column_or_1d(y)
    names = names if names is not None else unnamed(X.shape[1])
    return complete(X, y, names, sample_weight, offset, classes, target, prepared, responses, many=many)


def complete(
    X: Any,
    y: Any,
    names: list[str],
    sample_weight: Any,
    offset: Any,
    classes: npt.NDArray[Any] | None,
    target: str,
    prepared: Any = None,
    responses: Sequence[str] = (),
    many: bool = False,
) -> Data:
    """Check the weights and the offset of the rows, and put all data together."""
    y = np.require(y, np.float64, "A")
    weights = sample_weights(sample_weight, X.shape[0])
    if many and weights is not None and classes is not None:
        for number, label in enumerate(classes):
            if not (y[weights > 0] == number).any():
                raise ValueError(f"No sample of the class {label!r} has a weight above zero: leave its samples out.")
    if classes is not None and weights is not None and len(set(y[weights > 0])) < 2:
        raise ValueError(
            "Only one class has a sample weight above zero: a classifier needs samples of at least 2 classes."
        )
    outputs = list(responses)
    if many and classes is not None:
        outputs = [str(label) for label in classes]
    own = row_offsets(offset, X.shape[0], outputs) if outputs else row_vector(offset, X.shape[0], "offset")
    target = ", ".join(responses) if responses else target
    return Data(X, y, names, weights, own, classes, target, prepared, responses=list(responses), many=many)


def feature_names(X: Any) -> list[str] | None:
    """Return the column names of a frame or table; None if it has none (or not only strings)."""
    # pandas and polars have names in `columns`, Arrow in `column_names` (its `columns` are the data).
    named = getattr(X, "column_names", None)
    named = named if named is not None else getattr(X, "columns", None)
    if named is None or callable(named):
        return None
    names = list(named)
    return names if names and all(isinstance(name, str) for name in names) else None


def target_name(y: Any) -> str:
    """Return the name of a series; "y" if it has none."""
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else "y"


def response_names(y: Any) -> list[str]:
    """Return the names of the columns of y if there are several; an empty list otherwise."""
    shape = np.asarray(y).shape
    if len(shape) != 2 or shape[1] < 2:
        return []
    return feature_names(y) or [f"y{r}" for r in range(shape[1])]


def unnamed(columns: int) -> list[str]:
    """Name columns as scikit-learn does: x0, x1, …."""
    return [f"x{j}" for j in range(columns)]


def signs(y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Vector]:
    """Convert two labels of any type to (the labels in order, -1 and 1)."""
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) > 2:
        kind = type_of_target(y, input_name="y")
        raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
    if len(classes) < 2:
        raise ValueError(f"y has one class only, {classes[0]!r}: a classifier needs samples of at least 2 classes.")
    return classes, np.where(codes == 1, 1.0, -1.0)


#: Maximum number of classes: a target with more labels is a number or an identifier.
MOST_CLASSES = 100


def numbers(y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Vector]:
    """Convert labels of any type to (the labels in order, their indices from 0)."""
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y has one class only, {classes[0]!r}: a classifier needs samples of at least 2 classes.")
    if len(classes) > MOST_CLASSES:
        raise ValueError(f"y has {len(classes)} different labels; a classifier takes at most {MOST_CLASSES}.")
    return classes, np.ravel(codes).astype(np.float64)


def refuse_labels(y: Any, advice: str) -> None:
    """Reject a target of two text labels where numbers are needed, with advice on what to use."""
    labels = np.asarray(y)
    if labels.dtype.kind not in "OUST" or not all(isinstance(label, str) for label in labels.flat):
        return
    distinct = sorted({str(label) for label in labels.flat})
    if len(distinct) == 2 and not any(map(_is_number, distinct)):
        raise ValueError(f"y has two labels, {distinct[0]!r} and {distinct[1]!r}, where numbers are needed: {advice}.")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def sample_weights(values: Any, rows: int) -> Vector | None:
    """Check the weights of the rows, at least one of which must be above zero."""
    weights = row_vector(values, rows, "sample_weight")
    if weights is not None and (weights < 0).any():
        row = int(np.argmax(weights < 0))
        raise ValueError(f"sample_weight[{row}] is {weights[row]}: weights must be zero or more.")
    if weights is not None and not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return weights


def row_vector(values: Any, rows: int, name: str) -> Vector | None:
    """Check a vector of one number per row; a single number stands for all rows."""
    if values is None:
        return None
    if isinstance(values, Real):
        values = np.full(rows, values, dtype=np.float64)
    vector = check_array(values, ensure_2d=False, dtype=np.float64, input_name=name, estimator="l0star")
    if vector.ndim != 1:
        raise ValueError(f"{name} must be a 1D array or a scalar; got an array of shape {vector.shape}.")
    if len(vector) != rows:
        entries, count = _core.counted(len(vector), "entry"), _core.counted(rows, "row")
        raise ValueError(f"{name} has {entries}, but X has {count}.")
    return np.require(vector, np.float64, "A")


def row_offsets(values: Any, rows: int, outputs: Sequence[str]) -> Vector | None:
    """Check offsets with one column per response or class."""
    if values is None:
        return None
    shape = (rows, len(outputs))
    if np.shape(values) != shape:
        names = ", ".join(repr(_core.printable(name)) for name in outputs)
        raise ValueError(
            f"offset must have the shape {shape}, a column for each of {names} in this order; got {np.shape(values)}."
        )
    return np.require(check_array(values, dtype=np.float64, input_name="offset", estimator="l0star"), np.float64, "A")


class Words(list[str]):
    """Names of features, and the text columns of which some of them are categories."""

    def __init__(self, names: Iterable[str], texts: dict[str, list[int]]) -> None:
        super().__init__(names)
        self.texts = texts


def columns(which: Any, names: Words, parameter: str) -> list[int]:
    """Resolve columns given by name or index (or a single one) to distinct indices in column order."""
    if which is None:
        return []
    if isinstance(which, (str, Integral)) or not isinstance(which, Iterable):
        which = [which]
    return sorted({j for item in which for j in column(item, names, parameter)})


def column(item: Any, names: Words, parameter: str) -> list[int]:
    """Find one column, by name or by index; a text column stands for all of its categories."""
    if isinstance(item, str):
        if names.count(item) > 1:
            raise ValueError(f"{parameter}: there are {names.count(item)} features {item!r}; use their indices.")
        if item in names:
            return [names.index(item)]
        if item in names.texts:
            return names.texts[item]
        close = difflib.get_close_matches(item, names, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"{parameter}: there is no feature {item!r}.{hint}")
    if isinstance(item, Integral) and not isinstance(item, bool):
        if 0 <= int(item) < len(names):
            return [int(item)]
        raise ValueError(f"{parameter}: there is no feature {item}; X has {len(names)} features, counted from 0.")
    raise TypeError(f"{parameter} takes names or indices of features; got {item!r}.")


def matrix(X: Any) -> Any:
    """Convert X for the bindings: an aligned array in any order, arrays of a sparse matrix, or columns in a file."""
    if hasattr(X, "in_place"):
        return X.in_place()
    if not sp.issparse(X):
        return np.require(X, requirements="A")
    columns = X.tocsc()
    if not columns.has_canonical_format:
        # Sum duplicates in a copy, since this may be the user's own matrix.
        columns = columns.copy()
        columns.sum_duplicates()
    return (
        tuple(int(size) for size in columns.shape),
        columns.indptr.astype(np.uint64),
        columns.indices.astype(np.uint32, copy=False),
        columns.data.astype(np.float64, copy=False),
    )
