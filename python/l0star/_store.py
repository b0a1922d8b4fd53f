"""Column stores, for data larger than memory."""

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
    """The columns of a file ``.l0d``, mapped into memory: a fit reads them in place without copying.

    The command ``l0star convert data.parquet data.l0d`` writes such a file. Opening a file reads it once, to verify its
    checksums. The file must not be changed in place while it is in use: if another process truncates it, this process
    is killed. Replacing the file, as ``l0star convert`` does, is safe.

    Parameters
    ----------
    file : str or path
        The file; a damaged file is rejected.
    target : str, default=None
        The column to predict; by default the target named when the file was written, if any.
    drop : str or list of str, default=None
        Columns that are not features, such as weights.

    See Also
    --------
    solve, sparse_path, SparseRegressor, SparseClassifier : All accept a store in place of ``X``
        (and no ``y``).

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

        Rows are read in pieces, so that a memory-mapped array (``numpy.load(…, mmap_mode="r")``, ``numpy.memmap``) may
        be larger than memory. The command ``l0star convert`` converts files with text, dates and
        missing values.

        Parameters
        ----------
        file : str or path
            Path of the file, usually ``….l0d``; an existing file is replaced.
        X : array or data frame of shape (n_rows, n_columns)
            Numbers, including the target.
        names : list of str, default=None
            The names of the columns; by default those of the frame, or x0, x1, … if it has none.
        dtype : {float64, float32}, default=float64
            Type in which numbers are stored.

        Returns
        -------
        ColumnStore
            The opened file.
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
        """The number of rows and the number of features."""
        return self._columns.rows, len(self._places)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type in which numbers are stored: float64 or float32."""
        return np.dtype(np.float32 if self._columns.precision == "f32" else np.float64)

    @property
    def has_parts(self) -> bool:
        """Whether any features are made of text columns, are products, or have missing values filled in."""
        return any(json.loads(self._columns.parts(self.feature_names)).values())

    def in_place(self) -> tuple[_core.Columns, Sequence[int]]:
        """Return the input of the bindings.

        Returns
        -------
        tuple
            The columns of the file, and the indices of the features among them.
        """
        return self._columns, self._places

    def check(self) -> None:
        """Raise an error if the file was changed since it was opened."""
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
    """Split a matrix into blocks of rows that fit into memory."""
    most = max(1, (1 << 20) // max(shape[1], 1))
    rows = getattr(X, "iloc", X)
    for start in range(0, shape[0], most):
        yield np.ascontiguousarray(rows[start : start + most], dtype=np.float64)


def data_of(
    store: ColumnStore, y: Any, options: Options, labels: bool, sample_weight: Any = None, offset: Any = None
) -> Data:
    """Return a store as the data of a fit; raise an error for options that need the rows in memory."""
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
