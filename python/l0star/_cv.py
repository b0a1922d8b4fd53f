"""How many features? Cross-validation over k, and over the ridge."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv

from l0star import _core
from l0star._checkpoint import Checkpoints
from l0star._constraints import Constraints
from l0star._docs import documented
from l0star._estimators import SparseClassifier, SparseRegressor, _SparseModel
from l0star._input import Data
from l0star._options import Options, check_count, check_real, thread_count
from l0star._progress import Progress, bar
from l0star._solve import Job

Chooser = TypeVar("Chooser", bound="_CrossValidated")


class _CrossValidated(_SparseModel):
    """Chooses k and the ridge, then fits on all rows."""

    ks: Any
    ridges: Any
    cv: Any
    scoring: Any
    one_standard_error: bool
    n_jobs: int | None
    verbose: int

    @documented
    def fit(self: Chooser, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Chooser:
        """Choose k and the ridge, then fit on all rows.

        Parameters
        ----------
        y : array of shape (n_samples,)
            The target: numbers, or for a classifier labels of any type, two different ones.
        sample_weight : array of shape (n_samples,), default=None
            Weights of the rows, in fits and in scores.
        offset : array of shape (n_samples,), default=None
            A number added to the prediction of each row during the fits (not in the scores).

        Returns
        -------
        SparseRegressorCV or SparseClassifierCV
            Itself.
        """
        name = type(self).__name__
        # One bar for all fits, none for each.
        options = self._options(ridge=1.0, verbose=0)
        # The last fit is the one that has a checkpoint: files that cannot be used are refused before the first.
        Checkpoints(options)
        data = self._read(X, y, sample_weight, offset)
        ks = self._sizes(Constraints.read(options, data.names))
        ridges = np.atleast_1d(self.ridges).tolist()
        for ridge in ridges:
            check_real(name, "ridges", ridge, above=0.0)
        # Scores compare labels as the user wrote them.
        y = data.y if data.classes is None else data.classes[(data.y > 0).astype(int)]
        folds = list(check_cv(self.cv, y, classifier=is_classifier(self)).split(data.X, y))
        if len(folds) < 2:
            raise ValueError(f"{name} needs at least 2 folds; cv gives {len(folds)}.")

        scores = self._scores(data, y, ks, ridges, folds)
        # (ridge, fold, k) → one row a fold, one column a candidate, k running fastest.
        self._keep_scores(scores.transpose(1, 0, 2).reshape(len(folds), -1), ks, ridges)
        chosen = self.cv_results_["params"][self.best_index_]
        self.k_, self.ridge_ = chosen["k"], chosen["ridge"]
        self._solve(Job(data, self._options(ridge=self.ridge_, verbose=0)), self.k_)
        return self

    def _sizes(self, asked: Constraints) -> list[int]:
        name, included = type(self).__name__, asked.n_included
        if isinstance(self.ks, Integral):
            check_count(name, "ks", self.ks)
            sizes = list(range(included, min(int(self.ks), asked.n_features) + 1))
            if not sizes:
                raise ValueError(
                    f"{_core.counted(included, 'feature')} {'is' if included == 1 else 'are'} included, more than "
                    f"ks={self.ks} allows."
                )
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
        ks: list[int],
        ridges: list[float],
        folds: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]],
    ) -> npt.NDArray[np.float64]:
        """Score every (ridge, fold, k); a task is a whole path."""
        scorer = check_scoring(self, scoring=self.scoring)
        # The engine releases the GIL: threads share the data. Each search gets one, so that n_jobs is the load.
        parallel = Parallel(n_jobs=thread_count(self.n_jobs), prefer="threads", return_as="generator")
        stop = _core.Stop()
        # Lists, prices and checkpoints are for the last fit.
        one = {"verbose": 0, "n_jobs": None, "top": None, "within": None, "prices": False}
        one |= {"checkpoint": None, "resume": None}
        tasks = (
            delayed(_score_fold)(self, scorer, data, y, self._options(ridge=ridge, **one), ks, train, test, stop)
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
    for result in Job(part, options).path(ks, stop):
        fitted._adopt(result)
        scores.append(float(scorer(fitted, X[test], y[test], **extra)))
    return scores


def _rows(values: npt.NDArray[np.float64] | None, rows: npt.NDArray[Any]) -> npt.NDArray[np.float64] | None:
    return None if values is None else values[rows]


@documented
class SparseRegressorCV(_CrossValidated, SparseRegressor):
    """:class:`SparseRegressor` with ``k`` (and the ridge) chosen by cross-validation.

    Parameters
    ----------
    cv : int, splitter or iterable, default=None
        The folds, as everywhere in scikit-learn: None means five.
    scoring : str or callable, default=None
        What a fold is scored by; by default the coefficient of determination.
    loss : {"quadratic", "huber"}, default="quadratic"
        As for :class:`SparseRegressor`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients of the fit on all rows.
    intercept_ : float
        0 when it is off.

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
        huber_delta: float | Literal["auto"] = "auto",
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
        top: int | None = None,
        within: float | None = None,
        prices: bool = False,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: float = 60.0,
        resume: str | os.PathLike[str] | None = None,
        time_limit: float | None = None,
        node_limit: int | None = None,
        memory_limit: int | None = None,
        callback: Callable[[Progress], object] | None = None,
        verbose: int = 0,
    ) -> None:
        self._keep(locals())


@documented
class SparseClassifierCV(_CrossValidated, SparseClassifier):
    """:class:`SparseClassifier` with ``k`` (and the ridge) chosen by cross-validation.

    Parameters
    ----------
    cv : int, splitter or iterable, default=None
        The folds, as everywhere in scikit-learn: None means five, stratified.
    scoring : str or callable, default=None
        What a fold is scored by; by default the accuracy. "neg_log_loss" tells more.
    loss : {"logistic", "squared-hinge"}, default="logistic"
        As for :class:`SparseClassifier`.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, in order.
    coef_ : ndarray of shape (1, n_features)
        Coefficients of the fit on all rows.
    intercept_ : ndarray of shape (1,)
        0 when it is off.

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
        top: int | None = None,
        within: float | None = None,
        prices: bool = False,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: float = 60.0,
        resume: str | os.PathLike[str] | None = None,
        time_limit: float | None = None,
        node_limit: int | None = None,
        memory_limit: int | None = None,
        callback: Callable[[Progress], object] | None = None,
        verbose: int = 0,
    ) -> None:
        self._keep(locals())
