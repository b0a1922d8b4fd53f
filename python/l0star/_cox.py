"""The estimator of Cox models."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import validate_data

from l0star import _core
from l0star._core import TIME_LOSSES
from l0star._docs import documented
from l0star._estimators import _SparseModel
from l0star._input import FLOATS, SPARSE_FORMATS, Data, row_vector, sample_weights
from l0star._options import Options, check_k
from l0star._progress import Progress
from l0star._result import Result
from l0star._solve import Job, read_times
from l0star._times import followed

Vector = npt.NDArray[np.float64]


@documented
class SparseCox(_SparseModel):
    """The provably best Cox model with at most ``k`` features.

    Minimises the negative log partial likelihood, divided by the number of rows, plus ``ridge / 2 * sum(coef**2)`` over
    all ``coef`` with at most ``k`` non-zero entries. A row with the score ``X @ coef`` has the hazard
    ``exp(score)`` times a baseline. The estimator is also a feature selector: ``transform`` keeps the features of the
    model.

    Parameters
    ----------
    ties : {"efron", "breslow"}, default="efron"
        How events at the same time are counted.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients, the logarithms of hazard ratios; zero outside the support.
    intercept_ : float
        Always 0, since a constant does not change the partial likelihood.
    baseline_ : dict
        Maps a stratum (None if there is only one) to the times of its events, and to the cumulative hazard from each of
        these times on, for a row with the score ``mean_score_``.
    mean_score_ : float
        The weighted mean score of the fitted rows.

    See Also
    --------
    solve : The plain function, with ``loss="cox"``.

    Examples
    --------
    >>> import numpy as np
    >>> from l0star import SparseCox
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 6))
    >>> time = rng.exponential(np.exp(-X[:, 1] + 0.7 * X[:, 4]))
    >>> event = rng.random(200) < 0.7
    >>> model = SparseCox(k=2).fit(X, (time, event))
    >>> model.status_
    'optimal'
    >>> model.get_support(indices=True)
    array([1, 4])
    >>> bool(model.score(X, (time, event)) > 0.7)
    True
    >>> model.predict_survival_function(X[:2], times=[0.0, 1.0]).shape
    (2, 2)
    """

    _losses = TIME_LOSSES
    loss = "cox"

    def __init__(
        self,
        k: int | None = 5,
        *,
        ties: str = "efron",
        ridge: float = 1e-3,
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
        n_jobs: int | None = None,
        callback: Callable[[Progress], object] | None = None,
        verbose: int = 0,
    ) -> None:
        self._keep(locals())

    def _options(self, **changes: Any) -> Options:
        return super()._options(loss=self.loss, fit_intercept=False, **changes)

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        offset: Any = None,
        *,
        strata: Any = None,
        entry: Any = None,
    ) -> SparseCox:
        """Find the best model.

        Parameters
        ----------
        X : array, frame, table or sparse matrix of shape (n_samples, n_features)
            The data.
        y : structured array of shape (n_samples,), or a pair of arrays
            Events and times: as in scikit-survival, a field of bool and one of numbers; or ``(time, event)``.
        sample_weight : array of shape (n_samples,), default=None
            Weights of the rows, zero or more.
        offset : array of shape (n_samples,), default=None
            A number added to the score of each row.
        strata : array of shape (n_samples,), default=None
            Rows are compared only with rows of the same value.
        entry : array of shape (n_samples,), default=None
            The time from which a row is observed (left truncation).

        Returns
        -------
        SparseCox
            The fitted estimator.
        """
        options = self._options()
        check_k(type(self).__name__, self.k, options)
        self._solve(Job(self._read_times(X, y, sample_weight, offset, strata, entry), options), self.k)
        return self

    def _read_times(self, X: Any, y: Any, sample_weight: Any, offset: Any, strata: Any, entry: Any) -> Data:
        data = read_times(X, y, self._options(), sample_weight, offset, None, strata, entry)
        self._prepared, self._loaded = data.prepared, None
        self._know(X, data.prepared is not None)
        return data

    def _know(self, X: Any, is_frame: bool) -> None:
        """Record the names and the number of the columns, as scikit-learn does."""
        if is_frame:
            validate_data(self, X, skip_check_array=True)
        else:
            validate_data(self, X, accept_sparse=SPARSE_FORMATS, dtype=FLOATS)

    def _adopt(self, result: Result) -> None:
        super()._adopt(result)
        survival = result.survival or {"centre": 0.0, "baseline": []}
        self.mean_score_ = float(survival["centre"])
        self.baseline_ = {
            one.get("stratum"): (np.array(one["times"]), np.array(one["hazard"])) for one in survival["baseline"]
        }

    def predict(self, X: Any, offset: Any = None) -> Vector:
        """Predict scores: the larger the score, the earlier an event is expected.

        Parameters
        ----------
        X : array, frame, table or sparse matrix of shape (n_samples, n_features)
            The data.
        offset : array of shape (n_samples,), default=None
            A number added to the score of each row.

        Returns
        -------
        ndarray of shape (n_samples,)
            ``X @ coef_ + offset``, the logarithm of the hazard up to a constant.
        """
        scores = self._linear(X)
        added = row_vector(offset, len(scores), "offset")
        return scores if added is None else scores + added

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        offset: Any = None,
        *,
        strata: Any = None,
        entry: Any = None,
    ) -> float:
        """Return the concordance: the share of comparable pairs in the order of their scores, ties counted half.

        Parameters
        ----------
        X : array, frame, table or sparse matrix of shape (n_samples, n_features)
            The data.
        y : structured array of shape (n_samples,), or a pair of arrays
            Events and times, as for :meth:`fit`.
        sample_weight : array of shape (n_samples,), default=None
            Weights of the rows.
        offset : array of shape (n_samples,), default=None
            A number added to the score of each row.
        strata : array of shape (n_samples,), default=None
            Rows are compared only with rows of the same value.
        entry : array of shape (n_samples,), default=None
            The time from which a row is observed.

        Returns
        -------
        float
            At most 1; 0.5 is as good as chance. NaN if no two rows can be compared.
        """
        scores = self.predict(X, offset)
        times, rest = followed(y, None, ties=self.ties, strata=strata, entry=entry)
        if len(times) != len(scores):
            raise ValueError(f"y has {len(times)} entries, and X has {len(scores)} rows.")
        weights = sample_weights(sample_weight, len(scores))
        return _core.concordance(scores, times, weights, rest.followed)

    def predict_cumulative_hazard_function(
        self, X: Any, times: Any = None, *, offset: Any = None, strata: Any = None
    ) -> Vector:
        """Predict cumulative hazards.

        Parameters
        ----------
        X : array, frame, table or sparse matrix of shape (n_samples, n_features)
            The data.
        times : array of shape (n_times,), default=None
            Where to evaluate them; by default at the times of the events. Required with ``strata``.
        offset : array of shape (n_samples,), default=None
            A number added to the score of each row.
        strata : array of shape (n_samples,), default=None
            The strata of the rows, for a model that was fitted with strata.

        Returns
        -------
        ndarray of shape (n_samples, n_times)
            The cumulative hazard of each row up to each time.
        """
        scores = self.predict(X, offset)
        if (strata is None) != (None in self.baseline_):
            what = "was fitted with strata: give those of the rows" if strata is None else "knows of no strata"
            raise ValueError(f"This model {what}.")
        if times is None:
            if strata is not None:
                raise ValueError("Strata have event times of their own: give times.")
            times = self.baseline_[None][0]
        at = np.asarray(times, dtype=np.float64)
        keys = [None] * len(scores) if strata is None else [str(value) for value in np.asarray(strata)]
        if len(keys) != len(scores):
            raise ValueError(f"strata has {len(keys)} entries, and X has {len(scores)} rows.")
        unknown = sorted({str(key) for key in keys if key not in self.baseline_})
        if unknown:
            raise ValueError(f"The model has no baseline for the stratum {unknown[0]!r}.")
        found = np.empty((len(scores), len(at)))
        for key in set(keys):
            moments, hazard = self.baseline_[key]
            steps = np.concatenate([[0.0], hazard])[np.searchsorted(moments, at, side="right")]
            rows = np.array([own == key for own in keys])
            found[rows] = np.exp(scores[rows] - self.mean_score_)[:, np.newaxis] * steps
        return found

    def predict_survival_function(self, X: Any, times: Any = None, *, offset: Any = None, strata: Any = None) -> Vector:
        """Predict the probability that no event occurs up to given times.

        Parameters
        ----------
        X : array, frame, table or sparse matrix of shape (n_samples, n_features)
            The data.
        times : array of shape (n_times,), default=None
            Where to evaluate it; by default at the times of the events. Required with ``strata``.
        offset : array of shape (n_samples,), default=None
            A number added to the score of each row.
        strata : array of shape (n_samples,), default=None
            The strata of the rows, for a model that was fitted with strata.

        Returns
        -------
        ndarray of shape (n_samples, n_times)
            The probability for each row and time.
        """
        return np.exp(-self.predict_cumulative_hazard_function(X, times, offset=offset, strata=strata))
