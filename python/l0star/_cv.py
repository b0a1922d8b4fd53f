"""Cross-validation over k, the ridge and the price of a feature."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from l0star import _core
from l0star._checkpoint import Checkpoints
from l0star._constraints import rules_of
from l0star._cox import SparseCox
from l0star._cv_cluster import active_client, score_on
from l0star._docs import documented
from l0star._estimators import SparseClassifier, SparseRegressor, _SparseModel
from l0star._input import Data, hold_out
from l0star._moments import refuse
from l0star._options import check_count, check_real, check_word
from l0star._progress import Progress, Telling, bar
from l0star._report import finite, write
from l0star._scoring import Scoring
from l0star._solve import Clock, Job
from l0star._tally import Tally

#: Rules of the choice.
RULES = ("best", "one-se", "proof")

#: Largest size tried by default, without ``ks`` and without several prices.
_MOST = 10

Chooser = TypeVar("Chooser", bound="_CrossValidated")


class _CrossValidated(_SparseModel):
    """Estimator that chooses k, the ridge and the price of a feature, then fits on all rows."""

    ks: Any
    ridges: Any
    l0_penalties: Any
    l0_penalty: float
    cv: Any
    scoring: Any
    one_standard_error: bool
    rule: str | None
    n_jobs: int | None
    verbose: int
    time_limit: float | None
    callback: Callable[[Progress], object] | None

    @documented
    def fit(self: Chooser, X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None) -> Chooser:
        """Choose k, the ridge and the price of a feature, then fit on all rows.

        Parameters
        ----------
        y : array of shape (n_samples,), or (n_samples, n_responses)
            The target: numbers, or several responses that share their features (quadratic loss); for a classifier
            labels of any type.
        sample_weight : array of shape (n_samples,), default=None
            Weights of the rows, in fits and in scores.
        offset : array of shape (n_samples,), default=None
            A number added to the linear predictor of each row during the fits, and in the scores unless ``scoring`` is
            given.

        Returns
        -------
        SparseRegressorCV or SparseClassifierCV
            The fitted estimator.
        """
        refuse(X, type(self).__name__)
        return self._choose(lambda: self._read(X, y, sample_weight, offset))

    def _choose(self: Chooser, read: Callable[[], Data]) -> Chooser:
        """Check the parameters and the data, choose by cross-validation, and fit on all rows."""
        name = type(self).__name__
        rule = self.rule if self.rule is not None else "one-se" if self.one_standard_error else "best"
        check_word(name, "rule", rule, RULES)
        # One progress bar for all fits, none for a single fit.
        options = self._options(ridge=1.0, verbose=0)
        # Only the final fit has a checkpoint, but unusable files are refused before the first fold.
        Checkpoints(options)
        data = read()
        if data.held_out is None:
            data = hold_out(data, options.holdout, options.random_state)
        prices = self._prices()
        ks = self._sizes(rules_of(options, data), len(set(prices)) > 1)
        ridges = np.atleast_1d(self.ridges).tolist()
        for ridge in ridges:
            check_real(name, "ridges", ridge, above=0.0)
        y, kinds = _told(data)
        dealt_by = y if kinds is None else kinds
        folds = list(check_cv(self.cv, dealt_by, classifier=kinds is not None).split(data.X, dealt_by))
        if len(folds) < 2:
            raise ValueError(f"{name} needs at least 2 folds; cv gives {len(folds)}.")

        self._supports: dict[tuple[int, int, int], list[str]] = {}
        clock = Clock(self.time_limit)
        tally = Tally(ks, ridges, len(folds), prices)
        try:
            self._score(Scoring(self, data, y, ks, tally.penalties, folds), tally, clock)
        finally:
            self.cv_results_ = tally.results()
        self.best_index_ = tally.choose(rule)
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        chosen = self.cv_results_["params"][self.best_index_]
        self.k_, self.ridge_, self.l0_penalty_ = chosen["k"], chosen["ridge"], chosen["l0_penalty"]
        options = self._options(ridge=self.ridge_, l0_penalty=self.l0_penalty_, verbose=0)
        self._solve(Job(data, options), self.k_, clock)
        return self

    def report(self, file: str | os.PathLike[str]) -> None:
        """Write the scores and the chosen model as one HTML page, as the command's ``cv --report`` does.

        Parameters
        ----------
        file : str or path
            Path of the file; an existing file is replaced.
        """
        check_is_fitted(self)
        found = self.cv_results_
        n_folds = sum(name.endswith("_test_score") and name.startswith("split") for name in found)
        means, errors = found["mean_test_score"], found["std_test_score"] / np.sqrt(n_folds - 1)
        best = int(np.nanargmax(means))
        points = [
            (*chosen.values(), finite(features), finite(mean), finite(error), at == self.best_index_, at == best)
            for at, (chosen, features, mean, error) in enumerate(
                zip(found["params"], found["mean_n_features"], means, errors, strict=True)
            )
        ]
        penalty = self.best_index_ // len(set(found["param_k"].tolist()))
        folds = [
            (
                finite(float(found[f"split{fold}_test_score"][self.best_index_])),
                self._supports.get((penalty, self.k_, fold), []),
            )
            for fold in range(n_folds)
        ]
        name = self.scoring if isinstance(self.scoring, str) else "score"
        write(file, self.result_, cv=(name, points, folds))

    def _prices(self) -> list[float]:
        """Return the prices of a feature to try."""
        if self.l0_penalties is None:
            return [float(self.l0_penalty)]
        name = type(self).__name__
        if self.l0_penalty != 0:
            raise ValueError(f"{name} takes l0_penalty, one price, or l0_penalties, those to try; got both.")
        prices: list[Any] = np.atleast_1d(self.l0_penalties).tolist()
        if not prices:
            raise ValueError(f"The 'l0_penalties' parameter of {name} must not be empty.")
        for price in prices:
            check_real(name, "l0_penalties", price, least=0.0)
        return [float(price) for price in prices]

    def _sizes(self, asked: _core.Rules, has_prices: bool) -> list[int]:
        """Return the sizes to try; with several prices a number in ``ks`` is only a limit."""
        name, included = type(self).__name__, asked.n_included
        if self.ks is None or isinstance(self.ks, Integral):
            if self.ks is not None:
                check_count(name, "ks", self.ks)
                largest = min(int(self.ks), asked.n_features)
            else:
                largest = asked.n_features if has_prices else min(_MOST, asked.n_features)
            sizes = list(range(included, largest + 1))
            if has_prices:
                sizes = sizes[-1:]
            if not sizes:
                raise ValueError(
                    f"{_core.counted(included, 'feature')} {'is' if included == 1 else 'are'} included, more than "
                    f"ks={largest} allows."
                )
            return sizes
        if isinstance(self.ks, str) or not isinstance(self.ks, Iterable):
            raise ValueError(
                f"The 'ks' parameter of {name} must be an int or a list of ints, or None. Got {self.ks!r} instead."
            )
        sizes = list(self.ks)
        for size in sizes:
            check_count(name, "ks", size)
        if not sizes:
            raise ValueError(f"The 'ks' parameter of {name} must not be empty.")
        return sorted({int(size) for size in sizes})

    def _score(self, scoring: Scoring, tally: Tally, clock: Clock) -> None:
        """Score every (penalty, fold, k); a search that is cut off has no score."""
        left, n_folds = clock.left(), len(scoring.folds)
        # The final fit gets the share of one fold.
        limit = None if left is None else left * n_folds / (n_folds + 1)
        client = active_client()
        with bar(tally.n_searches, "searches", disable=not self.verbose) as shown:

            def heard(path: int, k: int, features: list[str]) -> None:
                self._supports[path // n_folds, k, path % n_folds] = features
                shown.update()

            if client is not None:
                score_on(client, scoring, tally.scores, time_limit=limit, heard=heard)
                return
            with Telling(self.callback, 0) as telling:
                paths, listener = range(scoring.n_paths), telling.listener
                scoring.run(tally.scores, paths, time_limit=limit, heard=heard, listener=listener, n_jobs=self.n_jobs)


def _told(data: Data) -> tuple[npt.NDArray[Any], npt.NDArray[Any] | None]:
    """Return y as scorers compare it, and the kinds to stratify the folds by, if any."""
    if data.times is not None:
        return data.times.structured(data.y), data.times.marks
    if data.classes is None:
        return data.y, None
    # Labels as the user wrote them.
    labels = data.classes[data.y.astype(int) if data.many else (data.y > 0).astype(int)]
    return labels, labels


@documented
class SparseRegressorCV(_CrossValidated, SparseRegressor):
    """:class:`SparseRegressor` with ``k``, the ridge or the price of a feature chosen by cross-validation.

    Parameters
    ----------
    cv : int, splitter or iterable, default=None
        The folds, as in scikit-learn: None means five.
    scoring : str or callable, default=None
        Score of a fold; by default the coefficient of determination, or with the Poisson and gamma losses the share of
        the deviance explained. For several responses it is the mean over the responses.
    loss : {"quadratic", "huber", "poisson", "gamma"}, default="quadratic"
        The loss, as for :class:`SparseRegressor`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,), or (n_responses, n_features) for several responses
        Coefficients of the fit on all rows.
    intercept_ : float, or ndarray of shape (n_responses,)
        Intercept of the fit on all rows; 0 without ``fit_intercept``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from l0star import SparseRegressorCV
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = SparseRegressorCV(ks=6).fit(X, y)
    >>> model.k_
    5
    >>> model.get_feature_names_out()
    array(['sex', 'bmi', 'bp', 's3', 's5'], dtype=object)
    """

    def __init__(
        self,
        ks: Any = None,
        *,
        ridges: Any = 1e-3,
        l0_penalties: Any = None,
        cv: Any = None,
        scoring: Any = None,
        one_standard_error: bool = True,
        rule: str | None = None,
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
        l0_penalty: float = 0.0,
        l0_factor: Any = None,
        assume_max_coefficient: float | None = None,
        impute: str | None = None,
        rare: int = 5,
        as_number: Any = None,
        as_text: Any = None,
        dates: str | None = None,
        date_order: str | None = None,
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
        callback: Callable[[Progress], object] | None = None,
        verbose: int = 0,
    ) -> None:
        self._keep(locals())


@documented
class SparseClassifierCV(_CrossValidated, SparseClassifier):
    """:class:`SparseClassifier` with ``k``, the ridge or the price of a feature chosen by cross-validation.

    Parameters
    ----------
    cv : int, splitter or iterable, default=None
        The folds, as in scikit-learn: None means five, stratified.
    scoring : str or callable, default=None
        Score of a fold; by default the accuracy. "neg_log_loss" is more informative.
    loss : {"logistic", "squared-hinge", "multinomial"}, default="logistic"
        The loss, as for :class:`SparseClassifier`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in order.
    coef_ : ndarray of shape (1, n_features), or (n_classes, n_features) with the multinomial loss
        Coefficients of the fit on all rows.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercept of the fit on all rows; 0 without ``fit_intercept``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from l0star import SparseClassifierCV
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = SparseClassifierCV(ks=[1, 2, 3, 4], scoring="neg_log_loss").fit(X, y)
    >>> model.k_
    3
    """

    def __init__(
        self,
        ks: Any = None,
        *,
        ridges: Any = 1e-3,
        l0_penalties: Any = None,
        cv: Any = None,
        scoring: Any = None,
        one_standard_error: bool = True,
        rule: str | None = None,
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
        l0_penalty: float = 0.0,
        l0_factor: Any = None,
        assume_max_coefficient: float | None = None,
        impute: str | None = None,
        rare: int = 5,
        as_number: Any = None,
        as_text: Any = None,
        dates: str | None = None,
        date_order: str | None = None,
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
        callback: Callable[[Progress], object] | None = None,
        verbose: int = 0,
    ) -> None:
        self._keep(locals())


@documented
class SparseCoxCV(_CrossValidated, SparseCox):
    """:class:`SparseCox` with ``k``, the ridge or the price of a feature chosen by cross-validation.

    Parameters
    ----------
    cv : int, splitter or iterable, default=None
        The folds, as in scikit-learn: None means five. They are stratified by event.
    scoring : callable, default=None
        Score of a fold, called with a structured ``y`` as in scikit-survival; by default the concordance.
    ties : {"efron", "breslow"}, default="efron"
        How events at the same time are counted.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients of the fit on all rows.
    intercept_ : float
        Always 0: Cox models have no intercept.

    Examples
    --------
    >>> import numpy as np
    >>> from l0star import SparseCoxCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 6))
    >>> time = rng.exponential(np.exp(-X[:, 1] + 0.7 * X[:, 4]))
    >>> event = rng.random(200) < 0.7
    >>> model = SparseCoxCV(ks=[1, 2, 3]).fit(X, (time, event))
    >>> model.k_
    2
    """

    def __init__(
        self,
        ks: Any = None,
        *,
        ridges: Any = 1e-3,
        l0_penalties: Any = None,
        cv: Any = None,
        scoring: Any = None,
        one_standard_error: bool = True,
        rule: str | None = None,
        n_jobs: int | None = None,
        ties: str = "efron",
        gap: float = 0.0,
        relative_gap: float = 0.0,
        standardize: bool = True,
        method: str = "best-first",
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
        callback: Callable[[Progress], object] | None = None,
        verbose: int = 0,
    ) -> None:
        self._keep(locals())

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        offset: Any = None,
        *,
        strata: Any = None,
        entry: Any = None,
    ) -> SparseCoxCV:
        """Choose k, the ridge and the price of a feature, then fit on all rows.

        Parameters
        ----------
        X : array, frame, table or sparse matrix of shape (n_samples, n_features)
            The data.
        y : structured array of shape (n_samples,), or a pair of arrays
            Events and times, as for :class:`SparseCox`.
        sample_weight : array of shape (n_samples,), default=None
            Weights of the rows, in fits and in scores.
        offset : array of shape (n_samples,), default=None
            A number added to the score of each row.
        strata : array of shape (n_samples,), default=None
            Rows are compared only with rows of the same value.
        entry : array of shape (n_samples,), default=None
            The time from which a row is observed (left truncation).

        Returns
        -------
        SparseCoxCV
            The fitted estimator.
        """
        return self._choose(lambda: self._read_times(X, y, sample_weight, offset, strata, entry))
