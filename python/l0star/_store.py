"""Column stores: data larger than memory, for every loss."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from l0star import _core
from l0star._frames import Prepared
from l0star._input import (
    Data,
    Words,
    column,
    complete,
    feature_names,
    refuse_labels,
    signs,
    target_name,
    unnamed,
)
from l0star._moments import OF_ROWS
from l0star._options import Options


class ColumnStore:
    """The columns of a file ``.l0d``, mapped into memory: a fit reads them in place, and never copies them.

    The command ``l0star convert data.parquet data.l0d`` writes such a file. Opening it reads it once, to compare its
    checksums. The file must not be changed while it is used; one that another process cuts short in place ends this
    process. A file that is replaced, as ``l0star convert`` does it, is safe.

    Parameters
    ----------
    file : str or path
        The file; a damaged one is refused.
    target : str, default=None
        The column to predict. By default the one that was named when the file was written, if any.
    drop : str or list of str, default=None
        Columns that are no features, such as weights.

    See Also
    --------
    solve, sparse_path, SparseRegressor, SparseClassifier : All take a store in the place of ``X`` (and no ``y``).

    Examples
    --------
    >>> import tempfile
    >>> from l0star import ColumnStore, solve
    >>> from sklearn.datasets import load_diabetes
    >>> frame = load_diabetes(as_frame=True).frame
    >>> folder = tempfile.TemporaryDirectory()
    >>> _ = ColumnStore.write(f"{folder.name}/diabetes.l0d", frame)
    >>> store = ColumnStore(f"{folder.name}/diabetes.l0d", target="target", drop="sex")
    >>> store.shape
    (442, 9)
    >>> solve(store, k=3, loss="huber").features
    ['bmi', 'bp', 's5']
    >>> folder.cleanup()
    """

    def __init__(
        self, file: str | os.PathLike[str], target: str | None = None, drop: str | Iterable[str] | None = None
    ) -> None:
        self._columns = _core.Columns(os.fspath(file))
        self._file = os.path.abspath(os.fspath(file))
        names = self._columns.names
        self._target = target or self._columns.target or None
        dropped = [drop] if isinstance(drop, str) else list(drop or [])
        for name in (*dropped, *filter(None, [self._target])):
            column(name, Words(names, {}), "target" if name == self._target else "drop")
        left = {*dropped, self._target}
        self._places = [at for at, name in enumerate(names) if name not in left]
        if not self._places:
            raise ValueError("drop leaves no features.")

    @classmethod
    def write(
        cls,
        file: str | os.PathLike[str],
        X: Any,
        *,
        names: Iterable[str] | None = None,
        dtype: npt.DTypeLike = np.float64,
    ) -> ColumnStore:
        """Write the columns of an array or a frame of numbers to a file, and open it.

        Rows are read in pieces, so that an array that is itself mapped (``numpy.load(…, mmap_mode="r")``,
        ``numpy.memmap``) may be larger than memory. The command ``l0star convert`` reads files, with text, dates and
        missing values.

        Parameters
        ----------
        file : str or path
            Where to write it, usually ``….l0d``; what is there is replaced.
        X : array or data frame of shape (n_rows, n_columns)
            Numbers, the target among them.
        names : list of str, default=None
            The names of the columns; those of the frame, or x0, x1, … without any.
        dtype : {float64, float32}, default=float64
            What numbers are stored as.

        Returns
        -------
        ColumnStore
            The file, open.
        """
        shape = np.shape(X)
        if len(shape) != 2:
            raise ValueError(f"X must have rows and columns; got an array of shape {shape}.")
        kind = np.dtype(dtype)
        if kind not in (np.dtype(np.float64), np.dtype(np.float32)):
            raise ValueError(f"dtype must be float64 or float32; got {kind}.")
        own = list(names) if names is not None else feature_names(X) or unnamed(shape[1])
        if len(own) != shape[1]:
            raise ValueError(f"names has {_core.counted(len(own), 'entry')}, but X has {shape[1]} columns.")
        _core.write_columns(os.fspath(file), own, shape[0], kind == np.float32, _pieces(X, shape))
        return cls(file)

    def __getitem__(self, name: str) -> npt.NDArray[np.float64]:
        (at,) = column(name, Words(self._columns.names, {}), "ColumnStore")
        return self._columns.numbers(at)

    @property
    def columns(self) -> list[str]:
        """The names of all columns of the file."""
        return self._columns.names

    @property
    def feature_names(self) -> list[str]:
        """The names of the features."""
        names = self._columns.names
        return [names[at] for at in self._places]

    @property
    def target(self) -> str | None:
        """The column to predict."""
        return self._target

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self._columns.rows, len(self._places)

    @property
    def dtype(self) -> np.dtype[Any]:
        """What numbers are stored as: float64 or float32."""
        return np.dtype(np.float32 if self._columns.precision == "f32" else np.float64)

    @property
    def has_parts(self) -> bool:
        """Whether features are made of columns of text, of products or with values filled in."""
        return any(json.loads(self._columns.parts(self.feature_names)).values())

    def in_place(self) -> tuple[_core.Columns, Sequence[int]]:
        """Give what the bindings take.

        Returns
        -------
        tuple
            The file, and the places of the features in it.
        """
        return self._columns, self._places

    def check(self) -> None:
        """Refuse a file that was changed since it was opened."""
        self._columns.check()

    def _response(self, labels: bool) -> npt.NDArray[Any]:
        if self._target is None:
            raise ValueError("The target is missing: ColumnStore(file, target=…) names it, or give y.")
        values: npt.NDArray[Any] = self[self._target]
        known = self._columns.labels
        if labels and known is not None and self._target == self._columns.target:
            return np.asarray(known)[values.astype(np.intp)]
        return values

    def _prepared(self) -> Prepared:
        names = self.feature_names
        return Prepared(
            X=self,
            names=names,
            texts=self._columns.texts(names),
            sources=list(range(len(names))),
            parts=json.loads(self._columns.parts(names)),
            excluded=frozenset(),
        )

    def __repr__(self) -> str:
        rows, features = (_core.counted(n, word) for n, word in zip(self.shape, ("row", "feature"), strict=True))
        return f"ColumnStore({self._file!r}, {rows}, {features})"


def _pieces(X: Any, shape: tuple[int, ...]) -> Iterator[npt.NDArray[np.float64]]:
    """Cut a matrix into rows that fit into memory."""
    most = max(1, (1 << 20) // max(shape[1], 1))
    rows = getattr(X, "iloc", X)
    for start in range(0, shape[0], most):
        yield np.ascontiguousarray(rows[start : start + most], dtype=np.float64)


def data_of(
    store: ColumnStore, y: Any, options: Options, labels: bool, sample_weight: Any = None, offset: Any = None
) -> Data:
    """Give a store as the data of a fit, or refuse what would need its rows in memory."""
    asked = [name for name, default in OF_ROWS.items() if getattr(options, name) != default]
    if asked:
        raise ValueError(
            f"{asked[0]} needs the rows in memory, and these are in a file: apply it before they are stored."
        )
    target = store.target or "y" if y is None else target_name(y)
    y = store._response(labels) if y is None else y
    classes = None
    if labels:
        classes, y = signs(column_or_1d(y))
    else:
        refuse_labels(y, 'use loss="logistic"')
        y = column_or_1d(check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", estimator="l0star"))
    if len(y) != store.shape[0]:
        check_consistent_length(np.empty((store.shape[0], 0)), y)
    prepared = store._prepared()
    return complete(store, y, store.feature_names, sample_weight, offset, classes, target, prepared)
