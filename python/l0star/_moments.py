"""Moments: the sums over rows that the quadratic loss needs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array, check_consistent_length

from l0star import _core
from l0star._input import FLOATS, SPARSE_FORMATS, Data, feature_names, matrix, row_vector, target_name, unnamed
from l0star._options import Options

#: Options that need the rows, and their defaults: a fit of moments rejects them.
OF_ROWS = {
    "impute": None,
    "as_number": None,
    "as_text": None,
    "dates": None,
    "holdout": None,
}


class Moments:
    """The sums over rows that the quadratic loss needs: weights, means, and products of all pairs of columns.

    Rows are added in batches of any size, on any number of machines, and moments can be added in any order. Means far
    from zero cost no precision. Fits of moments prove what fits of the rows would prove: the bound is lowered by the
    largest effect that rounding can have had on the sums.

    Parameters
    ----------
    feature_names : list of str, default=None
        The names of the features; by default those of the first batch, or x0, x1, … if it has none.
    target : str, default=None
        The name of the target; by default that of the first batch, or y.

    See Also
    --------
    solve, sparse_path, SparseRegressor : All accept moments in place of ``X`` (and no ``y``).

    Examples
    --------
    >>> import numpy as np
    >>> from l0star import Moments, solve
    >>> rng = np.random.default_rng(0)
    >>> moments = Moments()
    >>> for _ in range(10):
    ...     X = rng.normal(size=(1000, 20))
    ...     moments.partial_fit(X, X[:, 3] - X[:, 7] + rng.normal(size=1000))
    Moments(1000 rows, 20 features)
    ...
    Moments(10000 rows, 20 features)
    >>> solve(moments, k=2).features
    ['x3', 'x7']
    """

    def __init__(self, feature_names: Iterable[str] | None = None, target: str | None = None) -> None:
        self._names = None if feature_names is None else [str(name) for name in feature_names]
        self._target = target
        self._sums: _core.Moments | None = None

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Moments:
        """Add rows.

        Parameters
        ----------
        X : array, sparse matrix, data frame or Arrow table of shape (n_samples, n_features)
            Numbers, with the same columns in every batch.
        y : array of shape (n_samples,)
            The target.
        sample_weight : array of shape (n_samples,), default=None
            Weights of the rows, zero or more.

        Returns
        -------
        Moments
            The moments, with the rows added.
        """
        names, target = feature_names(X), target_name(y)
        X = check_array(_numbers(X), accept_sparse=SPARSE_FORMATS, dtype=FLOATS, input_name="X", estimator="Moments")
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", estimator="Moments")
        y = np.ravel(np.require(y, np.float64, "A"))
        check_consistent_length(X, y)
        weights = row_vector(sample_weight, X.shape[0], "sample_weight")
        own = self._names
        if own is None:
            own = names if names is not None else unnamed(X.shape[1])
        elif names is not None and names != own:
            raise ValueError(_different(own, names))
        elif X.shape[1] != len(own):
            raise ValueError(f"X has {X.shape[1]} features, but these are moments of {len(own)}.")
        target = self._target if self._target is not None else target
        sums = _core.Moments(own, target, matrix(X), y, weights)
        self._take(sums)
        return self

    def merge(self, *others: Moments) -> Moments:
        """Add the rows of other moments of the same columns.

        Parameters
        ----------
        *others : Moments
            Moments to add; they are not changed.

        Returns
        -------
        Moments
            The moments, with the rows added.
        """
        for other in others:
            if not isinstance(other, Moments):
                raise TypeError(f"merge takes Moments; got {type(other).__name__}.")
            if other._sums is not None:
                self._take(other._sums)
        return self

    def __add__(self, other: object) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        return self.copy().merge(other)

    def __radd__(self, other: object) -> Moments:
        # sum() starts from 0.
        return self.copy() if other == 0 else NotImplemented

    def copy(self) -> Moments:
        """Return a copy, to which other rows can be added.

        Returns
        -------
        Moments
            The copy.
        """
        copied = Moments(self._names, self._target)
        copied._sums = self._sums
        return copied

    def _take(self, sums: _core.Moments) -> None:
        if self._names is not None and sums.names != self._names:
            raise ValueError(_different(self._names, sums.names))
        self._sums = sums if self._sums is None else self._sums.plus(sums)
        self._names, self._target = self._sums.names, self._sums.target

    def __getstate__(self) -> dict[str, Any]:
        sums = None if self._sums is None else self._sums.encode()
        return {"names": self._names, "target": self._target, "sums": sums}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._names, self._target = state["names"], state["target"]
        self._sums = None if state["sums"] is None else _core.Moments.decode(state["sums"])

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the moments to a file, which :meth:`load` and the command ``l0star fit`` read.

        Parameters
        ----------
        file : str or path
            Path of the file, usually ``….l0m``; an existing file is replaced.
        """
        self._filled().save(os.fspath(file))

    @classmethod
    def load(cls, file: str | os.PathLike[str]) -> Moments:
        """Read moments that :meth:`save` or the command ``l0star moments`` wrote.

        Parameters
        ----------
        file : str or path
            The file; a damaged file is rejected.

        Returns
        -------
        Moments
            The moments.
        """
        loaded = cls()
        loaded._take(_core.Moments.load(os.fspath(file)))
        return loaded

    @classmethod
    def from_batches(cls, batches: Any, target: str | None = None, *, sample_weight: str | None = None) -> Moments:
        """Add up all rows of a source that provides them in batches.

        Parameters
        ----------
        batches : iterable or source of Arrow batches
            Pairs ``(X, y)`` or triples ``(X, y, sample_weight)``; or tables (pandas, polars, Arrow) that hold the
            target; or a source of such tables: ``pyarrow.dataset``, ``pyarrow.RecordBatchReader``, a DuckDB relation,
            or any other stream of Arrow batches.
        target : str, default=None
            The column to predict, if batches are tables.
        sample_weight : str, default=None
            The column of weights, if batches are tables.

        Returns
        -------
        Moments
            The moments of all rows.
        """
        moments = cls(target=target)
        for batch in _batches(batches):
            moments.partial_fit(*_parts(batch, target, sample_weight))
        return moments

    @classmethod
    def from_dask(cls, data: Any, target: Any, *, sample_weight: Any = None) -> Moments:
        """Add up the rows of a Dask collection: each partition in place, then the sums pairwise, as a tree.

        Parameters
        ----------
        data : dask.dataframe.DataFrame or dask.array.Array
            The features; a frame also holds the target.
        target : str or dask.array.Array
            The column of the frame to predict, or for an array the target itself.
        sample_weight : str or dask.array.Array, default=None
            Weights, given in the same way as the target.

        Returns
        -------
        Moments
            The moments of all rows.
        """
        import dask

        if hasattr(data, "to_delayed") and hasattr(data, "columns"):
            parts = [(part, target, sample_weight) for part in data.to_delayed()]
            make = dask.delayed(_of_table)
        elif hasattr(data, "rechunk"):
            data = data.rechunk({1: -1})
            rows = data.chunks[0]
            vectors = [target if values is None else values for values in (target, sample_weight)]
            blocks = [data.to_delayed().ravel(), *(values.rechunk((rows,)).to_delayed().ravel() for values in vectors)]
            has_weights = sample_weight is not None
            parts = [(X, y, w if has_weights else None) for X, y, w in zip(*blocks, strict=True)]
            make = dask.delayed(_of_arrays)
        else:
            raise TypeError(f"from_dask takes a Dask data frame or array; got {type(data).__name__}.")
        level = [make(*part) for part in parts]
        plus = dask.delayed(_plus)
        while len(level) > 1:
            level = [plus(*level[at : at + 2]) for at in range(0, len(level), 2)]
        (sums,) = dask.compute(level[0])
        if not isinstance(sums, cls):
            raise TypeError("The cluster gave back something else than moments.")
        return sums

    @property
    def n_rows(self) -> int:
        """The number of rows with positive weight."""
        return 0 if self._sums is None else self._sums.rows

    @property
    def weight(self) -> float:
        """The sum of the weights of the rows."""
        return 0.0 if self._sums is None else self._sums.weight

    @property
    def n_features(self) -> int:
        """The number of features; 0 before the first batch."""
        return len(self.feature_names)

    @property
    def feature_names(self) -> list[str]:
        """The names of the features."""
        return list(self._names or [])

    @property
    def target(self) -> str:
        """The name of the target."""
        return self._target or "y"

    @property
    def has_parts(self) -> bool:
        """Whether any features are made of text columns, are products, or have missing values filled in."""
        return any(json.loads(self._filled().parts).values())

    @property
    def means(self) -> npt.NDArray[np.float64]:
        """The means of the features, followed by that of the target."""
        return self._filled().means

    @property
    def deviations(self) -> npt.NDArray[np.float64]:
        """The standard deviations of the features, followed by that of the target."""
        return self._filled().deviations

    @property
    def error(self) -> float:
        """Upper bound on the error of the products, relative to the norms of their columns."""
        return self._filled().error

    def _filled(self) -> _core.Moments:
        if self._sums is None or self._sums.rows == 0:
            raise ValueError("These are moments of no rows: add some with partial_fit.")
        return self._sums

    def __repr__(self) -> str:
        rows, features = _core.counted(self.n_rows, "row"), _core.counted(self.n_features, "feature")
        return f"Moments({rows}, {features})"


def data_of(moments: Moments, y: Any, options: Options, sample_weight: Any = None, offset: Any = None) -> Data:
    """Return moments as the data of a fit; raise an error for options that need the rows."""
    if y is not None:
        raise TypeError("Moments hold the target too: leave y out, and give k by its name.")
    given = {"sample_weight": sample_weight, "offset": offset}
    asked = [name for name, value in given.items() if value is not None]
    asked += [name for name, default in OF_ROWS.items() if getattr(options, name) != default]
    if options.loss != "quadratic":
        raise ValueError(f"loss={options.loss!r} needs the rows: moments hold what the quadratic loss needs.")
    if asked:
        raise ValueError(f"{asked[0]} needs the rows, and these are their moments: apply it before they are summed.")
    sums = moments._filled()
    return Data(None, np.empty(0), sums.names, target=sums.target, moments=sums)


def refuse(X: Any, what: str) -> None:
    """Reject moments, and columns in a file, where the rows are needed in memory."""
    if isinstance(X, Moments):
        raise TypeError(f"{what} needs the rows, and these are their moments.")
    if hasattr(X, "in_place"):
        raise TypeError(f"{what} needs the rows in memory, and these are in a file; the command has it for files.")


def _different(own: Sequence[str], other: Sequence[str]) -> str:
    for one, two in zip(own, other, strict=False):
        if one != two:
            return f"These are moments of other columns: {one!r} here, {two!r} there."
    return f"These are moments of other columns: {len(own)} features here, {len(other)} there."


def _numbers(X: Any) -> Any:
    """Convert an Arrow table to an array; scikit-learn converts everything else."""
    columns = getattr(X, "column_names", None) or getattr(getattr(X, "schema", None), "names", None)
    if columns is None or not hasattr(X, "num_rows"):
        return X
    return np.column_stack([_vector(X, j) for j in range(len(columns))])


def _batches(source: Any) -> Iterator[Any]:
    """Yield the batches of a source."""
    # Arrow data sets, scanners, tables and batch readers; DuckDB relations; anything else with an Arrow stream.
    for name in ("to_batches", "to_arrow_reader", "fetch_record_batch"):
        if hasattr(source, name):
            yield from getattr(source, name)()
            return
    if hasattr(source, "__arrow_c_stream__") and not hasattr(source, "__next__"):
        import pyarrow as pa

        yield from pa.RecordBatchReader.from_stream(source)
        return
    yield from source


def _parts(batch: Any, target: str | None, sample_weight: str | None) -> tuple[Any, Any, Any]:
    """Split a batch into features, target and weights."""
    if isinstance(batch, tuple):
        if len(batch) not in (2, 3):
            raise ValueError(f"A batch is (X, y) or (X, y, sample_weight); got {len(batch)} parts.")
        return batch[0], batch[1], batch[2] if len(batch) == 3 else None
    if target is None:
        raise ValueError("target is missing: name the column of the tables to predict.")
    names = getattr(getattr(batch, "schema", None), "names", None)
    if hasattr(batch, "num_rows") and names is not None:
        place = {name: at for at, name in enumerate(names)}
        for name in filter(None, (target, sample_weight)):
            if name not in place:
                raise ValueError(f"There is no column {name!r} in a batch; it has {', '.join(names)}.")
        features = [name for name in names if name not in (target, sample_weight)]
        y = _vector(batch, place[target])
        weights = None if sample_weight is None else _vector(batch, place[sample_weight])
        return batch.select(features), y, weights
    own = feature_names(batch)
    if own is None:
        raise TypeError(f"A batch is a pair (X, y) or a table with names; got {type(batch).__name__}.")
    for name in filter(None, (target, sample_weight)):
        if name not in own:
            raise ValueError(f"There is no column {name!r} in a batch; it has {', '.join(own)}.")
    features = [name for name in own if name not in (target, sample_weight)]
    return batch[features], batch[target], None if sample_weight is None else batch[sample_weight]


def _vector(batch: Any, place: int) -> npt.NDArray[np.float64]:
    """Return a column of an Arrow table or batch, with NaN for missing values."""
    column = batch.column(place)
    # A chunked array always converts by copying; a plain one has to be allowed to.
    values = column.to_numpy() if hasattr(column, "chunks") else column.to_numpy(zero_copy_only=False)
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        name = batch.schema.names[place]
        raise ValueError(
            f"Column {name!r} does not hold numbers: encode it, or leave it out, before it is summed."
        ) from None


def _of_table(table: Any, target: str, sample_weight: str | None) -> Moments:
    """Return the moments of a partition; empty moments if it has no rows."""
    if len(table) == 0:
        return Moments()
    return Moments(target=target).partial_fit(*_parts(table, target, sample_weight))


def _of_arrays(X: Any, y: Any, sample_weight: Any) -> Moments:
    """Return the moments of a chunk."""
    return Moments().partial_fit(X, y, sample_weight)


def _plus(*moments: Moments) -> Moments:
    """Add moments."""
    return reduce(lambda one, other: one + other, moments)
