"""Many k at once."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from l0star import _core
from l0star._core import LABEL_LOSSES
from l0star._input import read
from l0star._options import Options, check_count
from l0star._progress import Progress, bar
from l0star._result import Result
from l0star._solve import Job, SolveInterrupted

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class SparsePath(Sequence[Result]):
    """The best model of every size, as a sequence of :class:`Result`.

    Attributes
    ----------
    results : list of Result
        In the order of k.
    """

    def __init__(self, results: list[Result]) -> None:
        self.results = results

    @property
    def ks(self) -> npt.NDArray[np.int64]:
        """The sizes."""
        return np.array([result.k for result in self], dtype=np.int64)

    @property
    def coefs(self) -> npt.NDArray[np.float64]:
        """Coefficients, one column a size: shape (n_features, n_sizes)."""
        return np.column_stack([result.coef for result in self])

    @property
    def objectives(self) -> npt.NDArray[np.float64]:
        """The objective of each model."""
        return np.array([result.objective for result in self])

    @overload
    def __getitem__(self, index: int) -> Result: ...
    @overload
    def __getitem__(self, index: slice) -> SparsePath: ...
    def __getitem__(self, index: int | slice) -> Result | SparsePath:
        return SparsePath(self.results[index]) if isinstance(index, slice) else self.results[index]

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    def to_pandas(self) -> pd.DataFrame:
        """One row a size: status, objective, bound, gap, and the coefficient of every feature that occurs.

        Returns
        -------
        pandas.DataFrame
            The index holds k.
        """
        import pandas as pd

        facts = ("status", "objective", "lower_bound", "gap", "nodes", "seconds", "intercept")
        rows = [{name: getattr(result, name) for name in facts} for result in self]
        frame = pd.DataFrame(rows, index=pd.Index(self.ks, name="k"))
        coefs, used = self.coefs, self._used()
        names = [self.results[0].names[j] for j in used]
        return pd.concat([frame, pd.DataFrame(coefs[used].T, index=frame.index, columns=names)], axis=1)

    def plot_path(self, ax: Axes | None = None) -> Axes:
        """Draw the coefficients over k. Needs matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from l0star._plot import plot_path

        return plot_path(self, ax)

    def _used(self) -> list[int]:
        return sorted({int(j) for result in self for j in result.support})

    def __repr__(self) -> str:
        sizes = f"k={self.ks[0]}…{self.ks[-1]}" if len(self) else "empty"
        return (
            f"SparsePath({sizes}, {sum(result.status == 'optimal' for result in self)} of {len(self)} proved optimal)"
        )

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{result.k}</td><td>{result.objective:.6g}</td><td>{html.escape(result.status)}</td>"
            f'<td style="text-align:left">{html.escape(", ".join(result.features))}</td></tr>'
            for result in self
        )
        head = "<tr><th>k</th><th>objective</th><th>status</th><th>features</th></tr>"
        return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"


def sparse_path(
    X: Any,
    y: Any,
    *,
    k_max: int | None = None,
    loss: str = "quadratic",
    huber_delta: float = 1.0,
    ridge: float = 1e-3,
    gap: float = 0.0,
    relative_gap: float = 0.0,
    fit_intercept: bool = True,
    standardize: bool = False,
    method: str = "best-first",
    relaxation: str = "pdal",
    include: Any = None,
    exclude: Any = None,
    sample_weight: Any = None,
    offset: Any = None,
    time_limit: float | None = None,
    node_limit: int | None = None,
    memory_limit: int | None = None,
    n_jobs: int | None = None,
    callback: Callable[[Progress], object] | None = None,
    verbose: int = 0,
) -> SparsePath:
    """Find the best model of every size up to ``k_max``.

    Parameters
    ----------
    X, y
        As for :func:`solve`.
    k_max : int, default=None
        The largest size; by default 10, or the number of features where that is less.
    loss, huber_delta, ridge, gap, relative_gap, fit_intercept, standardize, method, relaxation
        As for :func:`solve`.
    include, exclude, sample_weight, offset
        As for :func:`solve`; with ``include`` the path begins at the number of these features.
    time_limit, node_limit, memory_limit, n_jobs, callback
        As for :func:`solve`, for each size.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    SparsePath
        A sequence of :class:`Result`, for k = 0, 1, …, ``k_max``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from l0star import sparse_path
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> path = sparse_path(X, y, k_max=3)
    >>> [result.features for result in path]
    [[], ['bmi'], ['bmi', 's5'], ['bmi', 'bp', 's5']]
    """
    options = Options(
        loss=loss,
        huber_delta=huber_delta,
        ridge=ridge,
        gap=gap,
        relative_gap=relative_gap,
        fit_intercept=fit_intercept,
        standardize=standardize,
        method=method,
        relaxation=relaxation,
        include=include,
        exclude=exclude,
        time_limit=time_limit,
        node_limit=node_limit,
        memory_limit=memory_limit,
        n_jobs=n_jobs,
        callback=callback,
    )
    options.check("sparse_path")
    data = read(X, y, labels=loss in LABEL_LOSSES, sample_weight=sample_weight, offset=offset)
    if k_max is None:
        k_max = min(10, data.X.shape[1])
    check_count("sparse_path", "k_max", k_max)
    job = Job(data, options)
    ks: Iterable[int] = range(min(job.included, k_max), k_max + 1)
    if not verbose:
        return SparsePath(solve_each(job, ks))
    with bar(k_max + 1 - job.included, "path") as shown:
        return SparsePath(solve_each(job, ks, done=shown.update))


def solve_each(
    job: Job, ks: Iterable[int], stop: _core.Stop | None = None, done: Callable[[], object] | None = None
) -> list[Result]:
    """Solve one problem for several k: all paths, of the function and of cross-validation, go through here."""
    results: list[Result] = []
    try:
        for k in ks:
            results.append(job.run(k, stop))
            if done is not None:
                done()
    except KeyboardInterrupt as stopped:
        begun = stopped.results if isinstance(stopped, SolveInterrupted) else []
        if results or begun:
            raise SolveInterrupted([*results, *begun]) from stopped
        raise
    return results
