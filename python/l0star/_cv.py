"""How many features? Cross-validation over k, and over the ridge."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv

from l0star import _core
from l0star._estimators import SparseClassifier, SparseRegressor, _SparseModel
from l0star._input import Data, columns
from l0star._options import Options, check_count, check_real
from l0star._path import solve_each
from l0star._progress import Progress, bar
from l0star._solve import Job


class _CrossValidated(_SparseModel):
    """Chooses k and the ridge, then fits on all rows."""

    ks: Any
    ridges: Any
    cv: Any
    scoring: Any
    one_standard_error: bool
    n_jobs: int | None
    verbose: int

    def _fit_cv(self, X: Any, y: Any, sample_weight: Any, offset: Any) -> None:
        name = type(self).__name__
        # One bar for all fits, none for each.
        options = self._options(ridge=1.0, verbose=0)
        data = self._read(X, y, sample_weight, offset)
        ks = self._sizes(data, len(columns(options.include, data.names, "include")))
        ridges = np.atleast_1d(self.ridges).tolist()
        for ridge in ridges:
            check_real(name, "ridges", ridge, above=0.0)
        # Scores compare labels as the user wrote them.
        y = data.y if data.classes is None else data.classes[(data.y > 0).astype(int)]
        folds = list(check_cv(self.cv, y, classifier=is_classifier(self)).split(data.X, y))
        if len(folds) < 2:
            raise ValueError(f"{name} needs at least 2 folds; cv gives {len(folds)}.")

        scores = self._scores(data, y, options, ks, ridges, folds)
        # (ridge, fold, k) → one row a fold, one column a candidate, k running fastest.
        self._keep_scores(scores.transpose(1, 0, 2).reshape(len(folds), -1), ks, ridges)
        chosen = self.cv_results_["params"][self.best_index_]
        self.k_, self.ridge_ = chosen["k"], chosen["ridge"]
        self._solve(Job(data, self._options(ridge=self.ridge_, verbose=0)), self.k_)

    def _sizes(self, data: Data, included: int) -> list[int]:
        name, columns = type(self).__name__, data.X.shape[1]
        if isinstance(self.ks, Integral):
            check_count(name, "ks", self.ks)
            sizes = list(range(included, min(int(self.ks), columns) + 1))
            if not sizes:
                raise ValueError(f"{included} features are included, more than ks={self.ks} allows.")
            return sizes
        if isinstance(self.ks, str) or not isinstance(self.ks, Iterable):
            raise ValueError(f"The 'ks' parameter of {name} must be an int or a list of ints. Got {self.ks!r} instead.")
        sizes = list(self.ks)
        for size in sizes:
            check_count(name, "ks", size)
        if not sizes:
            raise ValueError(f"The 'ks' parameter of {name} must not be empty.")
        return sorted({int(size) for size in sizes})

    def _scores(
        self,
        data: Data,
        y: npt.NDArray[Any],
        options: Options,
        ks: list[int],
        ridges: list[float],
        folds: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]],
    ) -> npt.NDArray[np.float64]:
        """Score every (ridge, fold, k); a task is a whole path."""
        scorer = check_scoring(self, scoring=self.scoring)
        # The engine releases the GIL: threads share the data. Each search gets one, so that n_jobs is the load.
        parallel = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")
        stop = _core.Stop()
        tasks = (
            delayed(_score_fold)(
                self, scorer, data, y, self._options(ridge=ridge, verbose=0, n_jobs=None), ks, train, test, stop
            )
            for ridge in ridges
            for train, test in folds
        )
        count = len(ridges) * len(folds)
        try:
            with bar(count, "folds", disable=not self.verbose) as shown:
                scores = []
                for fold_scores in parallel(tasks):
                    scores.append(fold_scores)
                    shown.update()
        except BaseException:
            # Searches of other threads do not see a Ctrl-C: without this they would run on.
            stop.set()
            raise
        return np.array(scores).reshape(len(ridges), len(folds), len(ks))

    def _keep_scores(self, scores: npt.NDArray[np.float64], ks: list[int], ridges: list[float]) -> None:
        params = [{"k": k, "ridge": ridge} for ridge in ridges for k in ks]
        mean = scores.mean(axis=0)
        self.cv_results_: dict[str, Any] = {
            "params": params,
            "param_k": np.array([point["k"] for point in params]),
            "param_ridge": np.array([point["ridge"] for point in params]),
            "mean_test_score": mean,
            "std_test_score": scores.std(axis=0),
            **{f"split{i}_test_score": row for i, row in enumerate(scores)},
        }
        best = int(np.argmax(mean))
        if self.one_standard_error:
            error = scores[:, best].std(ddof=1) / np.sqrt(len(scores))
            near = np.flatnonzero(mean >= mean[best] - error)
            # The smallest model that is not clearly worse than the best; of these the best ridge.
            best = int(min(near, key=lambda i: (params[i]["k"], -mean[i])))
        self.best_index_ = best
        self.best_score_ = float(mean[best])


def _score_fold(
    model: _SparseModel,
    scorer: Any,
    data: Data,
    y: npt.NDArray[Any],
    options: Options,
    ks: list[int],
    train: npt.NDArray[Any],
    test: npt.NDArray[Any],
    stop: _core.Stop,
) -> list[float]:
    X = data.X.tocsr() if sp.issparse(data.X) else data.X
    part = Data(
        X[train], data.y[train], data.names, _rows(data.weights, train), _rows(data.offset, train), data.classes
    )
    extra = {} if data.weights is None else {"sample_weight": data.weights[test]}
    # Names were checked already; without them predictions on plain arrays are not warned about.
    fitted = copy.copy(model)
    fitted.__dict__.pop("feature_names_in_", None)
    scores = []
    for result in solve_each(Job(part, options), ks, stop):
        fitted._adopt(result)
        scores.append(float(scorer(fitted, X[test], y[test], **extra)))
    return scores


def _rows(values: npt.NDArray[np.float64] | None, rows: npt.NDArray[Any]) -> npt.NDArray[np.float64] | None:
    return None if values is None else values[rows]


class SparseRegressorCV(_CrossValidated, SparseRegressor):
    """:class:`SparseRegressor` with ``k`` (and the ridge) chosen by cross-validation.

    Parameters
    ----------
    ks : int or list of int, default=10
        The sizes to try; a number means 0, 1, … up to it.
    ridges : float or list of float, default=1e-3
        The weights of the ridge to try.
    cv : int, splitter or iterable, default=None
        The folds, as everywhere in scikit-learn: None means five.
    scoring : str or callable, default=None
        What a fold is scored by; by default the coefficient of determination.
    one_standard_error : bool, default=True
        Whether to take the smallest ``k`` whose mean score is within one standard error of the best; else the best.
    n_jobs : int, default=None
        Searches at the same time, through joblib, each on one thread; and the threads of the last fit.
    loss : {"quadratic", "huber"}, default="quadratic"
        As for :class:`SparseRegressor`, like all that follow; limits and callbacks are for each search.
    huber_delta : float, default=1.0
        Where Huber's loss becomes linear.
    gap : float, default=0.0
        Absolute error allowed in the objective.
    relative_gap : float, default=0.0
        The same as a share of the objective.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    standardize : bool, default=False
        Whether to divide every column by its standard deviation first.
    method : str, default="best-first"
        How to search.
    relaxation : {"pdal", "sga"}, default="pdal"
        How ``method="paper"`` bounds a node.
    include : str, int or list of these, default=None
        Features that are in every model, counted in ``k``.
    exclude : str, int or list of these, default=None
        Features that are in no model.
    time_limit : float, default=None
        Seconds.
    node_limit : int, default=None
        Nodes of the search tree.
    memory_limit : int, default=None
        Bytes of open nodes.
    callback : callable, default=None
        Called with a :class:`Progress`; a true answer stops the search.
    verbose : int, default=0
        1 shows a progress bar over the folds.

    Attributes
    ----------
    k_ : int
        The size chosen.
    ridge_ : float
        The ridge chosen.
    cv_results_ : dict
        As in :class:`sklearn.model_selection.GridSearchCV`: ``params``, ``mean_test_score``, ….
    best_index_ : int
        Where the choice is in ``cv_results_``.
    best_score_ : float
        Its mean score.
    coef_, intercept_, support_, objective_, lower_bound_, gap_, status_, n_nodes_, n_solver_calls_, result_
        Those of :class:`SparseRegressor`, for the fit on all rows.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from l0star import SparseRegressorCV
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = SparseRegressorCV(ks=6).fit(X, y)
    >>> model.k_
    3
    >>> model.get_feature_names_out()
    array(['bmi', 'bp', 's5'], dtype=object)
    """

    def __init__(
        self,
        ks: Any = 10,
        *,
        ridges: Any = 1e-3,
        cv: Any = None,
        scoring: Any = None,
        one_standard_error: bool = True,
        n_jobs: int | None = None,
        loss: str = "quadratic",
        huber_delta: float = 1.0,
        gap: float = 0.0,
        relative_gap: float = 0.0,
        fit_intercept: bool = True,
        standardize: bool = False,
        method: str = "best-first",
        relaxation: str = "pdal",
        include: Any = None,
        exclude: Any = None,
        time_limit: float | None = None,
        node_limit: int | None = None,
        memory_limit: int | None = None,
        callback: Callable[[Progress], object] | None = None,
        verbose: int = 0,
    ) -> None:
        self.ks = ks
        self.ridges = ridges
        self.cv = cv
        self.scoring = scoring
        self.one_standard_error = one_standard_error
        self.n_jobs = n_jobs
        self.loss = loss
        self.huber_delta = huber_delta
        self.gap = gap
        self.relative_gap = relative_gap
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.method = method
        self.relaxation = relaxation
        self.include = include
        self.exclude = exclude
        self.time_limit = time_limit
        self.node_limit = node_limit
        self.memory_limit = memory_limit
        self.callback = callback
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> SparseRegressorCV:
        """Choose k and the ridge, then fit on all rows.

        Parameters
        ----------
        X : array, frame, table or sparse matrix of shape (n_samples, n_features)
            The data; a sparse matrix stays sparse.
        y : array of shape (n_samples,)
            The target.
        sample_weight : array of shape (n_samples,), default=None
            Weights of the rows, in fits and in scores.
        offset : array of shape (n_samples,), default=None
            A number added to the prediction of each row during the fits (not in the scores).

        Returns
        -------
        SparseRegressorCV
            Itself.
        """
        self._fit_cv(X, y, sample_weight, offset)
        return self


class SparseClassifierCV(_CrossValidated, SparseClassifier):
    """:class:`SparseClassifier` with ``k`` (and the ridge) chosen by cross-validation.

    Parameters
    ----------
    ks : int or list of int, default=10
        The sizes to try; a number means 0, 1, … up to it.
    ridges : float or list of float, default=1e-3
        The weights of the ridge to try.
    cv : int, splitter or iterable, default=None
        The folds, as everywhere in scikit-learn: None means five, stratified.
    scoring : str or callable, default=None
        What a fold is scored by; by default the accuracy. "neg_log_loss" tells more.
    one_standard_error : bool, default=True
        Whether to take the smallest ``k`` whose mean score is within one standard error of the best; else the best.
    n_jobs : int, default=None
        Searches at the same time, through joblib, each on one thread; and the threads of the last fit.
    loss : {"logistic", "squared-hinge"}, default="logistic"
        As for :class:`SparseClassifier`, like all that follow; limits and callbacks are for each search.
    gap : float, default=0.0
        Absolute error allowed in the objective.
    relative_gap : float, default=0.0
        The same as a share of the objective.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    standardize : bool, default=False
        Whether to divide every column by its standard deviation first.
    method : str, default="best-first"
        How to search.
    relaxation : {"pdal", "sga"}, default="pdal"
        How ``method="paper"`` bounds a node.
    include : str, int or list of these, default=None
        Features that are in every model, counted in ``k``.
    exclude : str, int or list of these, default=None
        Features that are in no model.
    time_limit : float, default=None
        Seconds.
    node_limit : int, default=None
        Nodes of the search tree.
    memory_limit : int, default=None
        Bytes of open nodes.
    callback : callable, default=None
        Called with a :class:`Progress`; a true answer stops the search.
    verbose : int, default=0
        1 shows a progress bar over the folds.

    Attributes
    ----------
    k_ : int
        The size chosen.
    ridge_ : float
        The ridge chosen.
    cv_results_ : dict
        As in :class:`sklearn.model_selection.GridSearchCV`: ``params``, ``mean_test_score``, ….
    best_index_ : int
        Where the choice is in ``cv_results_``.
    best_score_ : float
        Its mean score.
    classes_, coef_, intercept_, support_, objective_, lower_bound_, gap_, status_, n_nodes_, n_solver_calls_, result_
        Those of :class:`SparseClassifier`, for the fit on all rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from l0star import SparseClassifierCV
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = SparseClassifierCV(ks=[1, 2, 3, 4], standardize=True, scoring="neg_log_loss").fit(X, y)
    >>> model.k_
    3
    """

    def __init__(
        self,
        ks: Any = 10,
        *,
        ridges: Any = 1e-3,
        cv: Any = None,
        scoring: Any = None,
        one_standard_error: bool = True,
        n_jobs: int | None = None,
        loss: str = "logistic",
        gap: float = 0.0,
        relative_gap: float = 0.0,
        fit_intercept: bool = True,
        standardize: bool = False,
        method: str = "best-first",
        relaxation: str = "pdal",
        include: Any = None,
        exclude: Any = None,
        time_limit: float | None = None,
        node_limit: int | None = None,
        memory_limit: int | None = None,
        callback: Callable[[Progress], object] | None = None,
        verbose: int = 0,
    ) -> None:
        self.ks = ks
        self.ridges = ridges
        self.cv = cv
        self.scoring = scoring
        self.one_standard_error = one_standard_error
        self.n_jobs = n_jobs
        self.loss = loss
        self.gap = gap
        self.relative_gap = relative_gap
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.method = method
        self.relaxation = relaxation
        self.include = include
        self.exclude = exclude
        self.time_limit = time_limit
        self.node_limit = node_limit
        self.memory_limit = memory_limit
        self.callback = callback
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> SparseClassifierCV:
        """Choose k and the ridge, then fit on all rows.

        Parameters
        ----------
        X : array, frame, table or sparse matrix of shape (n_samples, n_features)
            The data; a sparse matrix stays sparse.
        y : array of shape (n_samples,)
            Labels of any type, two different ones.
        sample_weight : array of shape (n_samples,), default=None
            Weights of the rows, in fits and in scores.
        offset : array of shape (n_samples,), default=None
            A number added to the prediction of each row during the fits (not in the scores).

        Returns
        -------
        SparseClassifierCV
            Itself.
        """
        self._fit_cv(X, y, sample_weight, offset)
        return self
