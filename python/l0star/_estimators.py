"""Estimators with scikit-learn's interface."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.metrics import d2_tweedie_score, r2_score
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from l0star import _core
from l0star._cluster import ClusterError
from l0star._core import CLASS_LOSSES, LABEL_LOSSES, LOG_LINK_LOSSES, REAL_LOSSES
from l0star._docs import documented
from l0star._frames import Prepared, frame, prepare
from l0star._input import (
    FLOATS,
    SPARSE_FORMATS,
    Data,
    complete,
    feature_names,
    hold_out,
    numbers,
    read,
    refuse_labels,
    response_names,
    row_offsets,
    row_vector,
    signs,
    target_name,
    unnamed,
)
from l0star._moments import Moments
from l0star._options import LOSSES, Options, check_k
from l0star._progress import Progress
from l0star._report import model
from l0star._result import Result
from l0star._solve import Clock, Job, SolveInterrupted, data_in_place
from l0star._store import ColumnStore
from l0star._warnings import L0starWarning, warn

Fitted = TypeVar("Fitted", bound="_SparseModel")


class _SparseModel(SelectorMixin, BaseEstimator):
    """Base class of the estimators."""

    #: The losses that the estimator accepts.
    _losses: tuple[str, ...] = LOSSES

    k: int | None
    loss: str
    #: Whether the estimator predicts labels.
    _of_labels = False
    #: Whether y may have a column for each of several responses.
    _several = False
    #: The features made of a frame with text, missing values or dates.
    _prepared: Prepared | None = None
    #: The text of the model file that the estimator was loaded from.
    _loaded: str | None = None

    def _keep(self, parameters: dict[str, Any]) -> None:
        """Store the parameters of ``__init__`` (its ``locals()``) unchanged, as scikit-learn requires."""
        for name in self._get_param_names():
            setattr(self, name, parameters[name])

    @documented
    def fit(self: Fitted, X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None) -> Fitted:
        """Find the best model.

        Parameters
        ----------
        y : array of shape (n_samples,), or (n_samples, n_responses)
            The target: numbers, or several responses that share their features (quadratic loss); for a classifier
            labels of any type.
        offset : array of shape (n_samples,), default=None
            A number added to the linear predictor of each row during the fit: with the Poisson loss usually the
            logarithm of the exposure. Pass the offset of new rows to ``predict``, or add it to the values of
            ``decision_function``.

        Returns
        -------
        SparseRegressor or SparseClassifier
            The fitted estimator.
        """
        options = self._options()
        check_k(type(self).__name__, self.k, options)
        if isinstance(X, (Moments, ColumnStore)):
            return self._fit_in_place(X, y, sample_weight, offset)
        data = hold_out(self._read(X, y, sample_weight, offset), options.holdout, options.random_state)
        self._solve(Job(data, options), self.k)
        return self

    def _fit_in_place(self: Fitted, X: Moments | ColumnStore, y: Any, sample_weight: Any, offset: Any) -> Fitted:
        """Fit moments, or columns in a file; predictions are made from rows as usual."""
        options = self._options()
        if self._of_labels and isinstance(X, Moments):
            raise TypeError("A classifier needs the rows, and these are their moments.")
        data = data_in_place(X, y, options, sample_weight, offset)
        if data is None:
            raise TypeError(f"{type(X).__name__} cannot be fitted.")
        self._prepared = self._loaded = None
        self.n_features_in_ = len(data.names)
        self.feature_names_in_ = np.asarray(data.names, dtype=object)
        if data.names == unnamed(len(data.names)):
            del self.feature_names_in_
        self._solve(Job(data, options), self.k)
        if X.has_parts:
            # Features made of text, products or missing values: the engine reads the columns of a table as before.
            self._loaded = model(self.result_)
        return self

    def _options(self, **changes: Any) -> Options:
        options = Options.of(vars(self), **changes)
        options.check(type(self).__name__, self._losses)
        return options

    def _read(self, X: Any, y: Any, sample_weight: Any, offset: Any) -> Data:
        labels = self._of_labels
        self._prepared = prepare(X, self._options())
        self._loaded = None
        if self._prepared is not None:
            # Records the names and the number of the frame's own columns.
            validate_data(self, X, skip_check_array=True)
            return read(
                X,
                y,
                labels=labels,
                several=self._takes_several,
                many=labels and self._has_many(y),
                sample_weight=sample_weight,
                offset=offset,
                prepared=self._prepared,
            )
        # Read before scikit-learn converts X to an array: not every version knows the names of every kind of frame.
        names, target = feature_names(X), target_name(y)
        responses = response_names(y) if self._takes_several else []
        if not labels:
            refuse_labels(y, "use SparseClassifier")
        X, y = validate_data(
            self, X, y, accept_sparse=SPARSE_FORMATS, dtype=FLOATS, y_numeric=not labels, multi_output=bool(responses)
        )
        classes, many = None, labels and self._has_many(y)
        if labels:
            classes, y = numbers(y) if many else signs(y)
        names = names or unnamed(X.shape[1])
        return complete(X, y, names, sample_weight, offset, classes, target, responses=responses, many=many)

    def _has_many(self, y: Any) -> bool:
        """Return whether every class has its own coefficients."""
        return False

    @property
    def _takes_several(self) -> bool:
        return self._several and self.loss == "quadratic"

    def _solve(self, job: Job, k: int | None, clock: Clock | None = None) -> None:
        """Solve and store the result; after Ctrl-C or the loss of all workers, store the best model so far."""
        try:
            self._adopt(job.run(k, clock))
        except (SolveInterrupted, ClusterError) as stopped:
            self._adopt(stopped.result)
            raise

    def _adopt(self, result: Result) -> None:
        self.result_ = result
        self.coef_ = result.coef
        self.intercept_: Any = result.intercept
        self.support_ = result.support
        self.objective_ = result.objective
        self.lower_bound_ = result.lower_bound
        self.gap_ = result.gap
        self.status_ = result.status
        self.solutions_ = result.solutions
        self.prices_ = result.priced
        self.metrics_ = result.metrics
        self.huber_delta_ = result.huber_delta
        self.n_nodes_ = result.nodes
        self.n_solver_calls_ = result.solver_calls

    def _model(self) -> _core.Model:
        """Return the model file of the fitted model."""
        check_is_fitted(self)
        return _core.Model(self._loaded if self._loaded is not None else model(self.result_))

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file, which :func:`l0star.load` and the command ``l0star predict`` read.

        Parameters
        ----------
        file : str or path
            Path of the file; an existing file is replaced.
        """
        self._model().save(os.fspath(file))

    def export(self, to: str = "sql", *, table: str = "data", expression: bool = False) -> str:
        """Return the fitted model as SQL or as Python code, as :meth:`Result.export` does.

        Parameters
        ----------
        to : {"sql", "sqlite", "python"}, default="sql"
            Language of the code; "sql" is for PostgreSQL and DuckDB.
        table : str, default="data"
            Name of the table that the query reads.
        expression : bool, default=False
            Whether to return only the score, as an SQL expression.

        Returns
        -------
        str
            The code.
        """
        return self._model().export(to, table=table, expression=expression)

    def report(self, file: str | os.PathLike[str]) -> None:
        """Write the fitted model as one HTML page, as :meth:`Result.report` does.

        Parameters
        ----------
        file : str or path
            Path of the file; an existing file is replaced.
        """
        check_is_fitted(self)
        if self._loaded is not None:
            _core.report(os.fspath(file), self._loaded)
        else:
            self.result_.report(file)

    def _linear(self, X: Any) -> npt.NDArray[np.float64]:
        check_is_fitted(self)
        if self._loaded is not None or self._prepared is not None:
            return self._from_frame(X)
        X = validate_data(self, X, reset=False, accept_sparse=SPARSE_FORMATS, dtype=FLOATS)
        coef = np.atleast_2d(self.coef_)
        values = np.tile(np.ravel(self.intercept_).astype(np.float64), (X.shape[0], 1))
        columns = X.tocsc() if sp.issparse(X) else X
        # One rounded product and one rounded addition per feature, from left to right, as the command computes it.
        for j in self.support_:
            column = columns[:, [j]].toarray().ravel() if sp.issparse(X) else columns[:, j]
            values += column.astype(np.float64)[:, np.newaxis] * coef[:, j]
        return values if self.result_.outputs else values[:, 0]

    def _from_frame(self, X: Any) -> npt.NDArray[np.float64]:
        """Predict from columns by name; the engine reads them as it did for the fit."""
        known = getattr(self, "feature_names_in_", None)
        names = feature_names(X)
        if names is None:
            X = np.asarray(X)
            names = unnamed(X.shape[1]) if known is None else [str(name) for name in known]
            if X.ndim != 2 or X.shape[1] != len(names):
                raise ValueError(
                    f"X has {X.shape[-1]} features, but this model needs {len(names)}: {', '.join(names)}."
                )
        elif self._loaded is None:
            validate_data(self, X, reset=False, skip_check_array=True)
        if self.result_.outputs:
            each, unseen = self._model().predict_each(frame(X, names))
            scores = np.column_stack(each)
        else:
            scores, unseen = self._model().predict(frame(X, names))
        for column, rows in unseen:
            have = "row has" if rows == 1 else "rows have"
            warn(
                f"{rows} {have} a text in {column!r} that the model has never seen: counted as none of its levels.",
                L0starWarning,
            )
        return scores

    def _get_support_mask(self) -> npt.NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        if self._loaded is not None:
            mask[:] = True
        elif self._prepared is not None:
            mask[[self._prepared.sources[j] for j in self.support_]] = True
        else:
            mask[self.support_] = True
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = self._takes_several
        return tags


@documented
class SparseRegressor(RegressorMixin, _SparseModel):
    """The provably best linear regression with at most ``k`` features.

    Minimises ``mean(loss(X @ coef + intercept, y)) + ridge / 2 * sum(coef**2)`` over all ``coef`` with at most ``k``
    non-zero entries. The estimator is also a feature selector: ``transform`` keeps the features of the model.

    Parameters
    ----------
    loss : {"quadratic", "huber", "poisson", "gamma"}, default="quadratic"
        Half the squared residual; half the squared residual up to ``huber_delta`` and linear beyond; half the Poisson
        deviance of counts, or half the gamma deviance of positive amounts, with a log link: the linear predictor is the
        logarithm of the mean.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,), or (n_responses, n_features) for several responses
        Coefficients, zero outside the support.
    intercept_ : float, or ndarray of shape (n_responses,)
        The intercept; 0 without ``fit_intercept``.

    See Also
    --------
    SparseRegressorCV : Chooses ``k`` by cross-validation.
    SparseClassifier : The estimator for labels.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from l0star import SparseRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = SparseRegressor(k=3).fit(X, y)
    >>> model.status_
    'optimal'
    >>> model.get_feature_names_out()
    array(['bmi', 'bp', 's5'], dtype=object)
    >>> round(model.score(X, y), 3)
    0.48
    """

    _losses = REAL_LOSSES
    _several = True

    def __init__(
        self,
        k: int | None = 5,
        *,
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

    def predict(self, X: Any, offset: Any = None) -> npt.NDArray[np.float64]:
        """Predict the responses.

        Parameters
        ----------
        X : array, frame, table or sparse matrix of shape (n_samples, n_features)
            The data.
        offset : array of shape (n_samples,), or (n_samples, n_responses) for several responses, default=None
            A number added to the linear predictor of each row.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_responses) for several responses
            ``X @ coef_.T + intercept_ + offset``; with the Poisson and gamma losses its exponential, the expected
            response.
        """
        linear = self._linear(X)
        if linear.ndim > 1:
            added = row_offsets(offset, len(linear), self.result_.responses)
        else:
            added = row_vector(offset, len(linear), "offset")
        if added is not None:
            linear = linear + added
        return _core.expectations(linear) if self.loss in LOG_LINK_LOSSES else linear

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """Return R², or the share of the deviance explained with the Poisson and gamma losses.

        Parameters
        ----------
        X : array, frame, table or sparse matrix of shape (n_samples, n_features)
            The data.
        y : array of shape (n_samples,)
            The true responses.
        sample_weight : array of shape (n_samples,), default=None
            Weights of the rows.
        offset : array of shape (n_samples,), default=None
            A number added to the linear predictor of each row.

        Returns
        -------
        float
            At most 1; 0 is as good as the mean of ``y``.
        """
        predicted = self.predict(X, offset)
        if self.loss in LOG_LINK_LOSSES:
            power = 1 if self.loss == "poisson" else 2
            return float(d2_tweedie_score(y, predicted, sample_weight=sample_weight, power=power))
        return float(r2_score(y, predicted, sample_weight=sample_weight))


def _has_probabilities(estimator: Any) -> bool:
    if estimator.loss not in ("logistic", *CLASS_LOSSES):
        raise AttributeError(f"probabilities need loss='logistic'; the loss is {estimator.loss!r}")
    return True


@documented
class SparseClassifier(ClassifierMixin, _SparseModel):
    """The provably best linear classifier with at most ``k`` features.

    Minimises ``mean(loss(s * (X @ coef + intercept))) + ridge / 2 * sum(coef**2)``, ``s`` being 1 for the second class
    and -1 for the first, over all ``coef`` with at most ``k`` non-zero entries. With more than two classes the logistic
    loss is the multinomial one: every class has its own coefficients, and a feature is in the model for all classes or
    for none. The estimator is also a feature selector: ``transform`` keeps the features of the model.

    Parameters
    ----------
    loss : {"logistic", "squared-hinge", "multinomial"}, default="logistic"
        ``log(1 + exp(-m))`` or ``max(0, 1 - m)**2 / 2`` of the margin ``m``; or ``-log(p)`` for the probability ``p``
        of the row's class, among any number of classes. With more than two classes, "logistic" means "multinomial".

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in order.
    coef_ : ndarray of shape (1, n_features), or (n_classes, n_features) with the multinomial loss
        Coefficients, zero outside the support.
    intercept_ : ndarray of shape (1,), or (n_classes,)
        The intercept; 0 without ``fit_intercept``.

    See Also
    --------
    SparseClassifierCV : Chooses ``k`` by cross-validation.
    SparseRegressor : The estimator for numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from l0star import SparseClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = SparseClassifier(k=2).fit(X, y)
    >>> model.status_
    'optimal'
    >>> model.get_feature_names_out()
    array(['worst area', 'worst concave points'], dtype=object)
    """

    _losses = (*LABEL_LOSSES, *CLASS_LOSSES)
    _of_labels = True

    def __init__(
        self,
        k: int | None = 5,
        *,
        loss: str = "logistic",
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

    def _adopt(self, result: Result) -> None:
        super()._adopt(result)
        self.classes_ = result.classes
        self.coef_ = np.atleast_2d(result.coef)
        self.intercept_ = np.atleast_1d(result.intercept)

    def _has_many(self, y: Any) -> bool:
        if self.loss in CLASS_LOSSES:
            return True
        return self.loss == "logistic" and type_of_target(y, input_name="y") == "multiclass"

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Compute the score of the second class, or of each class with the multinomial loss.

        Parameters
        ----------
        X : array, frame, table or sparse matrix of shape (n_samples, n_features)
            The data.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) with the multinomial loss
            ``X @ coef_[0] + intercept_[0]``; for the logistic loss, the log odds. With the multinomial loss
            ``X @ coef_.T + intercept_``; the probabilities are proportional to its exponentials.
        """
        return self._linear(X)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict labels.

        Parameters
        ----------
        X : array, frame, table or sparse matrix of shape (n_samples, n_features)
            The data.

        Returns
        -------
        ndarray of shape (n_samples,)
            The label with the highest score.
        """
        scores = self.decision_function(X)
        best = np.argmax(scores, axis=1) if scores.ndim > 1 else (scores > 0).astype(np.intp)
        labels: npt.NDArray[Any] = np.asarray(self.classes_)[best]
        return labels

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Predict the probabilities of the classes; for the logistic and multinomial losses only.

        Parameters
        ----------
        X : array, frame, table or sparse matrix of shape (n_samples, n_features)
            The data.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.
        """
        margin = self.decision_function(X)
        if margin.ndim > 1:
            return np.asarray(softmax(margin, axis=1))
        return np.column_stack([expit(-margin), expit(margin)])

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Predict the logarithms of the probabilities; for the logistic and multinomial losses only.

        Parameters
        ----------
        X : array, frame, table or sparse matrix of shape (n_samples, n_features)
            The data.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.
        """
        margin = self.decision_function(X)
        if margin.ndim > 1:
            return np.asarray(log_softmax(margin, axis=1))
        return np.column_stack([log_expit(-margin), log_expit(margin)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.loss != "squared-hinge"
        return tags
