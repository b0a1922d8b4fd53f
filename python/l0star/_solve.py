"""One problem solved: the plain function, and what the estimators share with it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from l0star import _core
from l0star._core import LABEL_LOSSES
from l0star._input import Data, columns, matrix, read
from l0star._options import Options, check_count
from l0star._progress import Progress, Telling, logger
from l0star._result import Result


class SolveInterrupted(KeyboardInterrupt):
    """Ctrl-C during a search.

    Attributes
    ----------
    result : Result
        The best model so far, with its certified gap.
    results : list of Result
        Of a path: those that are finished, and ``result``.
    """

    def __init__(self, results: list[Result]) -> None:
        super().__init__("interrupted; the best model so far is in the attribute `result`")
        self.results = results

    @property
    def result(self) -> Result:
        """The last of ``results``."""
        return self.results[-1]


def solve(
    X: Any,
    y: Any,
    k: int,
    *,
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
) -> Result:
    """Find the best model with at most ``k`` features, and prove it.

    Minimizes ``mean(loss(X @ x + intercept + offset, y)) + ridge / 2 * sum(x**2)`` over all ``x`` with at most ``k``
    non-zero entries. The intercept is neither penalised nor counted in ``k``.

    Parameters
    ----------
    X : array, frame, table or sparse matrix of shape (n_samples, n_features)
        NumPy, pandas, polars, Arrow or SciPy; names of columns are kept. Numbers are copied once, whatever their order
        in memory; a sparse matrix stays sparse.
    y : array of shape (n_samples,)
        Numbers; for ``loss="logistic"`` and ``"squared-hinge"`` labels of any type, two different ones.
    k : int
        At most this many features. More than there are means all of them.
    loss : {"quadratic", "huber", "logistic", "squared-hinge"}, default="quadratic"
        The loss of a row: ``r**2 / 2`` for the residual ``r``; the same up to ``huber_delta`` and linear beyond;
        ``log(1 + exp(-m))`` for the margin ``m``; ``max(0, 1 - m)**2 / 2``.
    huber_delta : float, default=1.0
        Where Huber's loss becomes linear.
    ridge : float, default=1e-3
        Weight of the ridge, greater than 0.
    gap : float, default=0.0
        Absolute error allowed in the objective. 0 means exact up to floating point.
    relative_gap : float, default=0.0
        The same as a share of the objective, less than 1; the larger of the two counts.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    standardize : bool, default=False
        Whether to divide every column by its (weighted) standard deviation first, so that the ridge treats all alike.
        Coefficients are those of the data as given; the objective is that of the scaled problem.
    method : str, default="best-first"
        Exact: "best-first", "paper", "exhaustive". Inexact, without a bound: "omp", "iht", "htp", "diht".
    relaxation : {"pdal", "sga"}, default="pdal"
        How ``method="paper"`` bounds a node.
    include : str, int or list of these, default=None
        Features that are in every model, by name or index; they are counted in ``k``.
    exclude : str, int or list of these, default=None
        Features that are in no model.
    sample_weight : array of shape (n_samples,), default=None
        Weights of the rows, zero or more; a weight of 2 is the same as a row given twice.
    offset : array of shape (n_samples,), default=None
        A number added to the prediction of each row.
    time_limit : float, default=None
        Seconds.
    node_limit : int, default=None
        Nodes of the search tree.
    memory_limit : int, default=None
        Bytes of open nodes.
    n_jobs : int, default=None
        Threads of the search, as joblib counts them: None means 1, -1 all. With one it is repeatable bit for bit.
    callback : callable, default=None
        Called with a :class:`Progress` for every better model and every rise of the bound, and every 50 ms at least; a
        true answer stops the search.
    verbose : int, default=0
        1 shows a progress bar while the search runs, 2 leaves it there.

    Returns
    -------
    Result
        The model and what is proved of it.

    Raises
    ------
    SolveInterrupted
        On Ctrl-C; a KeyboardInterrupt that carries the best model so far.

    Warns
    -----
    ConvergenceWarning
        When a limit ended the search; the result is valid, and its gap says how good it is at least.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from l0star import solve
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> result = solve(X, y, k=3)
    >>> result.status
    'optimal'
    >>> result.features
    ['bmi', 'bp', 's5']
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
        verbose=verbose,
    )
    options.check("solve")
    check_count("solve", "k", k)
    data = read(X, y, labels=loss in LABEL_LOSSES, sample_weight=sample_weight, offset=offset)
    return Job(data, options).run(k)


class Job:
    """Checked data in the engine, ready to be solved for any k."""

    def __init__(self, data: Data, options: Options) -> None:
        self._options = options
        self._names = data.names
        self._classes = data.classes
        include = columns(options.include, data.names, "include")
        #: How many features are in every model.
        self.included = len(include)
        scale = None
        if options.standardize:
            # Without centring: the intercept does that, and a sparse matrix stays sparse.
            scale = StandardScaler(with_mean=False).fit(data.X, sample_weight=data.weights).scale_
            scale = np.asarray(scale, dtype=np.float64)
        self._problem = _core.Problem(
            matrix(data.X),
            data.y,
            names=data.names,
            loss=options.loss,
            huber_delta=float(options.huber_delta),
            ridge=float(options.ridge),
            fit_intercept=bool(options.fit_intercept),
            include=include,
            exclude=columns(options.exclude, data.names, "exclude"),
            weights=data.weights,
            offset=data.offset,
            scale=scale,
        )

    def run(self, k: int, stop: _core.Stop | None = None) -> Result:
        """Solve it, and tell whoever listens."""
        options = self._options
        with Telling(options.callback, options.verbose) as telling:
            solution, stopped_by = self._problem.solve(
                int(k),
                method=options.method,
                relaxation=options.relaxation,
                gap=float(options.gap),
                relative_gap=float(options.relative_gap),
                threads=effective_n_jobs(options.n_jobs),
                time_limit=None if options.time_limit is None else float(options.time_limit),
                node_limit=None if options.node_limit is None else int(options.node_limit),
                memory_limit=None if options.memory_limit is None else int(options.memory_limit),
                stop=stop,
                callback=telling.listener,
            )
            telling.finish(solution.objective, solution.lower_bound, solution.nodes, solution.seconds)
        result = Result(
            status=solution.status,
            objective=solution.objective,
            lower_bound=solution.lower_bound,
            k=int(k),
            loss=options.loss,
            ridge=float(options.ridge),
            method=options.method,
            coef=solution.coefficients,
            intercept=solution.intercept,
            support=solution.support,
            names=self._names,
            classes=self._classes,
            solver_calls=solution.solver_calls,
            nodes=solution.nodes,
            peak_open_nodes=solution.peak_open_nodes,
            seconds=solution.seconds,
            trace=solution.trace,
            fit_intercept=bool(options.fit_intercept),
        )
        logger.info("%s", result.headline)
        if isinstance(stopped_by, KeyboardInterrupt):
            raise SolveInterrupted([result]) from stopped_by
        if stopped_by is not None:
            raise stopped_by
        if result.status.endswith("_limit"):
            warnings.warn(f"{result.headline}; raise the limit or the gap.", ConvergenceWarning, stacklevel=3)
        return result
