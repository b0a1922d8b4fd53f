"""Paths: the best models of many sizes at once."""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

from l0star import _plot
from l0star._constraints import rules_of
from l0star._core import CLASS_LOSSES, TIME_LOSSES
from l0star._docs import documented, drawing
from l0star._options import LOSSES, Options, check_count, check_word
from l0star._progress import Progress, bar
from l0star._report import write
from l0star._result import Result
from l0star._solve import Job, data_for

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class SparsePath(Sequence[Result]):
    """The best model of every size, as a sequence of :class:`Result`.

    Attributes
    ----------
    results : list of Result
        The results in the order of k.
    """

    def __init__(self, results: list[Result]) -> None:
        self.results = results

    @property
    def ks(self) -> npt.NDArray[np.int64]:
        """The sizes."""
        return np.array([result.k for result in self], dtype=np.int64)

    @property
    def coefs(self) -> npt.NDArray[np.float64]:
        """Coefficients, one column per size: shape (n_features, n_sizes).

        With several responses or classes the shape is (n_outputs, n_features, n_sizes).
        """
        return np.stack([result.coef for result in self], axis=-1)

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
        """Return one row per size: status, objective, bound, gap, information criteria, and the non-zero coefficients.

        Returns
        -------
        pandas.DataFrame
            The index holds k.
        """
        import pandas as pd

        facts = ("status", "objective", "lower_bound", "gap", "aic", "bic", "ebic", "nodes", "seconds", "intercept")
        rows = [{name: getattr(result, name) for name in facts} for result in self]
        frame = pd.DataFrame(rows, index=pd.Index(self.ks, name="k"))
        coefs, used = self.coefs, self._used()
        names: Any = [self.results[0].names[j] for j in used]
        responses = self.results[0].outputs if len(self) else []
        if responses:
            names = pd.MultiIndex.from_product([responses, names], names=["response", "feature"])
            found = pd.DataFrame(coefs[:, used].reshape(len(names), -1).T, index=frame.index, columns=names)
        else:
            found = pd.DataFrame(coefs[used].T, index=frame.index, columns=names)
        return pd.concat([frame, found], axis=1)

    @drawing
    def plot_path(self, ax: Axes | None = None) -> Axes:
        """Draw the coefficients over k. Needs matplotlib."""
        return _plot.plot_path(self, ax)

    def report(self, file: str | os.PathLike[str], criterion: str = "ebic") -> None:
        """Write the path as one HTML page, the same as the command's ``path --report``.

        Parameters
        ----------
        file : str or path
            Path of the file; an existing file is replaced.
        criterion : {"ebic", "bic", "aic"}, default="ebic"
            Criterion that chooses the size of the model shown on the page.
        """
        write(file, self.best(criterion), (criterion, self.results))

    def best(self, criterion: str = "ebic") -> Result:
        """Return the model of the size that a criterion chooses.

        Parameters
        ----------
        criterion : {"ebic", "bic", "aic"}, default="ebic"
            The extended Bayesian, the Bayesian, or Akaike's information criterion.

        Returns
        -------
        Result
            The result of this size; of the smallest one in a tie.
        """
        check_word("SparsePath", "criterion", criterion, ("ebic", "bic", "aic"))
        values = [getattr(result, criterion) for result in self]
        if not values or None in values:
            raise ValueError(
                f"No criterion can choose among {self!r}: the path is empty, or its loss is no likelihood."
            )
        return self.results[int(np.argmin(values))]

    def _used(self) -> list[int]:
        return sorted({int(j) for result in self for j in result.support})

    def __repr__(self) -> str:
        sizes = f"k={self.ks[0]}…{self.ks[-1]}" if len(self) else "empty"
        return (
            f"SparsePath({sizes}, {sum(result.status == 'optimal' for result in self)} of {len(self)} proved optimal"
            f"{' under an assumption' if any(result.assumption for result in self) else ''})"
        )

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{result.k}</td><td>{result.objective:.6g}</td><td>{html.escape(result.status)}</td>"
            f'<td style="text-align:left">{html.escape(", ".join(result.features))}</td></tr>'
            for result in self
        )
        head = "<tr><th>k</th><th>objective</th><th>status</th><th>features</th></tr>"
        return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"


@documented
def sparse_path(
    X: Any,
    y: Any = None,
    *,
    k_max: int | None = None,
    loss: str = "quadratic",
    huber_delta: float | Literal["auto"] = "auto",
    ridge: float = 1e-3,
    gap: float = 0.0,
    relative_gap: float = 0.0,
    fit_intercept: bool = True,
    standardize: bool = True,
    method: str = "best-first",
    relaxation: str = "pdal",
    include: Any = None,
    include_free: Any = None,
    exclude: Any = None,
    groups: Any = None,
    bounds: Any = None,
    nonnegative: Any = False,
    ridge_factor: Any = None,
    requires: Any = None,
    l0_penalty: float = 0.0,
    l0_factor: Any = None,
    assume_max_coefficient: float | None = None,
    impute: str | None = None,
    rare: int = 5,
    as_number: Any = None,
    as_text: Any = None,
    dates: str | None = None,
    date_order: str | None = None,
    sample_weight: Any = None,
    offset: Any = None,
    event: Any = None,
    ties: str = "efron",
    strata: Any = None,
    entry: Any = None,
    top: int | None = None,
    within: float | None = None,
    prices: bool = False,
    refit: bool = False,
    holdout: float | None = None,
    random_state: int = 1,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: float = 60.0,
    resume: str | os.PathLike[str] | None = None,
    time_limit: float | None = None,
    search_time_limit: float | None = None,
    node_limit: int | None = None,
    memory_limit: int | None = None,
    n_jobs: int | None = None,
    client: Any = None,
    callback: Callable[[Progress], object] | None = None,
    verbose: int = 0,
) -> SparsePath:
    """Find the best model of every size up to ``k_max``.

    All sizes are solved in one run, and share its work.

    Parameters
    ----------
    k_max : int, default=None
        The largest size; by default 10, or the number of features if that is smaller. With ``include`` the path begins
        at the number of included features.
    time_limit : float, default=None
        Seconds for the whole call: every size gets an equal share of the time left, and then the prices of every size
        do. If a limit ends a search, its result is the best model so far, with a ConvergenceWarning.
    search_time_limit : float, default=None
        Seconds for each search: that for a size, and that for each price.
    top : int, default=None
        Number of best models of each size to list, in order.
    within : float, default=None
        List all models of each size up to ``1 + within`` times its best objective.
    prices : bool, default=False
        Whether to compute for each size what every other decision about a feature would cost.
    checkpoint : str or path, default=None
        File for the state of the path (finished sizes and current searches), so that another process can resume it. It
        is written while the path runs and when it ends, for whatever reason. It does not contain prices.
    resume : str or path, default=None
        Checkpoint to resume from, of the same data, settings and sizes. Further checkpoints are written to it as well,
        unless ``checkpoint`` names another file. Finished sizes are not searched again, and sizes that a limit stopped
        are resumed. The limits are those of this run.
    node_limit : int, default=None
        Maximum number of nodes of the search tree, for each size.
    memory_limit : int, default=None
        Maximum number of bytes held by open nodes, for each size.
    n_jobs : int, default=None
        Number of threads, counted as in joblib: None means 1, -1 means all cores. With several threads, sizes are
        solved in parallel, unless there is a callback or a progress bar.
    callback : callable, default=None
        Called with a :class:`Progress`, as for :func:`solve`; a true return value stops the path.
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
    options = Options.of(locals())
    options.check("sparse_path", (*LOSSES, *TIME_LOSSES, *CLASS_LOSSES))
    data = data_for(X, y, options, sample_weight, offset, event, strata, entry)
    asked = rules_of(options, data)
    if k_max is None:
        k_max = max(min(10, asked.n_features), asked.n_included)
    check_count("sparse_path", "k_max", k_max)
    ks = range(min(asked.n_included, k_max), k_max + 1)
    job = Job(data, options)
    job.look(k_max)
    if not verbose:
        return SparsePath(job.path(ks))
    with bar(len(ks), "path") as shown:

        def follow(progress: Progress) -> object:
            shown.update(progress.k - ks.start - shown.n)
            return callback is not None and callback(progress)

        path = SparsePath(job.followed_by(follow).path(ks))
        shown.update(len(ks) - shown.n)
        return path
