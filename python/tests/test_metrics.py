"""Metrics: they agree with scikit-learn, and held-out rows do not affect the model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn import metrics

from l0star import SparseClassifier, SparseClassifierCV, SparseRegressor, SparseRegressorCV, solve, sparse_path

RNG = np.random.default_rng(5)
X = RNG.normal(size=(90, 6)) * [1, 5, 0.1, 1, 1, 20]
Y = X @ [2, 0, 30, -1, 0, 0] + RNG.normal(size=90) + 7
LABELS = np.where(Y + RNG.normal(size=90) * 2 > 7, "yes", "no")
WEIGHTS = RNG.integers(0, 4, size=90).astype(float)
OFFSET = RNG.normal(size=90)


def _numbers(y: NDArray[Any], scores: NDArray[Any], weights: NDArray[Any] | None) -> dict[str, float]:
    return {
        "rows": len(y) if weights is None else int(np.count_nonzero(weights)),
        "r2": metrics.r2_score(y, scores, sample_weight=weights),
        "rmse": metrics.root_mean_squared_error(y, scores, sample_weight=weights),
        "mae": metrics.mean_absolute_error(y, scores, sample_weight=weights),
    }


def _labels(y: NDArray[Any], scores: NDArray[Any], weights: NDArray[Any] | None) -> dict[str, float]:
    is_positive, probability = y == "yes", 1 / (1 + np.exp(-scores))
    return {
        "rows": len(y) if weights is None else int(np.count_nonzero(weights)),
        "auc": metrics.roc_auc_score(is_positive, scores, sample_weight=weights),
        "accuracy": metrics.accuracy_score(is_positive, scores > 0, sample_weight=weights),
        "log_loss": metrics.log_loss(is_positive, probability, sample_weight=weights),
        "brier": metrics.brier_score_loss(is_positive, probability, sample_weight=weights),
        "deviance_explained": metrics.d2_log_loss_score(
            is_positive, np.column_stack([1 - probability, probability]), sample_weight=weights
        ),
    }


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_measures_of_numbers_are_those_of_scikit_learn(weights: NDArray[Any] | None) -> None:
    result = solve(X, Y, k=2, sample_weight=weights)
    found = result.metrics["training"]
    expected = _numbers(Y, X @ result.coef + result.intercept, weights)
    assert found.pop("deviance_explained") == pytest.approx(expected["r2"])
    assert found == pytest.approx(expected)
    assert "holdout" not in result.metrics


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_measures_of_labels_are_those_of_scikit_learn(weights: NDArray[Any] | None) -> None:
    result = solve(X, LABELS, k=2, loss="logistic", sample_weight=weights, ridge=0.05)
    scores = X @ result.coef + result.intercept
    assert result.metrics["training"] == pytest.approx(_labels(LABELS, scores, weights))


def test_groups_and_offsets_are_in_the_predictions() -> None:
    result = solve(X, Y, k=1, groups=[[0, 2]], offset=OFFSET)
    scores = X @ result.coef + result.intercept + OFFSET
    found = result.metrics["training"]
    assert found["rmse"] == pytest.approx(metrics.root_mean_squared_error(Y, scores))
    # The offset is not credited to the features: the model without features has it, too.
    residual = Y - OFFSET
    assert found["deviance_explained"] == pytest.approx(1 - np.mean((Y - scores) ** 2) / np.var(residual))


def test_huber_explains_its_own_loss() -> None:
    result = solve(X, Y, k=2, loss="huber", huber_delta=0.5)

    def huber(r: NDArray[Any]) -> float:
        size = np.abs(r)
        return float(np.mean(np.where(size <= 0.5, r**2 / 2, 0.5 * (size - 0.25))))

    null = min(huber(Y - c) for c in np.linspace(Y.min(), Y.max(), 20001))
    own = huber(Y - X @ result.coef - result.intercept)
    assert result.metrics["training"]["deviance_explained"] == pytest.approx(1 - own / null, abs=1e-6)


def _held(share: float, seed: int, labels: bool, weights: NDArray[Any] | None) -> NDArray[np.bool_]:
    """Return the mask of the held-out rows."""
    from l0star import _core

    y = np.where(LABELS == "yes", 1.0, -1.0) if labels else Y
    return np.asarray(_core.hold_out(y, weights, labels, share, seed))


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_held_out_rows_teach_nothing_and_are_measured(kind: Any, weights: NDArray[Any] | None) -> None:
    held = _held(0.3, 4, False, weights)
    result = solve(kind(X), Y, k=2, holdout=0.3, random_state=4, sample_weight=weights, offset=OFFSET)
    rest = None if weights is None else weights[~held]
    alone = solve(kind(X[~held]), Y[~held], k=2, sample_weight=rest, offset=OFFSET[~held])
    np.testing.assert_array_equal(result.coef, alone.coef)
    assert result.metrics["training"] == alone.metrics["training"]
    scores = X @ result.coef + result.intercept + OFFSET
    found = result.metrics["holdout"]
    expected = _numbers(Y[held], scores[held], None if weights is None else weights[held])
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert (found["share"], found["seed"]) == (0.3, 4)


def test_labels_are_on_both_sides_in_their_shares() -> None:
    held = _held(0.2, 1, True, None)
    for label in ("yes", "no"):
        of_label = label == LABELS
        assert held[of_label].sum() == round(0.2 * of_label.sum())
    model = SparseClassifier(k=2, holdout=0.2).fit(X, LABELS)
    scores = model.decision_function(X)
    found = model.metrics_["holdout"]
    expected = _labels(LABELS[held], scores[held], None)
    assert {name: found[name] for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize("chooser", [SparseRegressorCV(ks=3), SparseClassifierCV(ks=3)])
def test_cross_validation_does_not_see_held_out_rows(chooser: Any) -> None:
    labels = isinstance(chooser, SparseClassifierCV)
    y = LABELS if labels else Y
    held = _held(0.25, 9, labels, None)
    chosen = chooser.set_params(holdout=0.25, random_state=9).fit(X, y)
    scores = chosen.cv_results_["mean_test_score"]
    alone = chooser.set_params(holdout=None).fit(X[~held], y[~held])
    np.testing.assert_array_equal(scores, alone.cv_results_["mean_test_score"])
    assert chosen.metrics_["training"]["rows"] == (~held).sum()


def test_every_size_of_a_path_is_measured() -> None:
    path = sparse_path(X, Y, k_max=3, holdout=0.2)
    for result in path:
        assert result.metrics["holdout"]["rows"] == 18
    assert path[0].metrics["training"]["r2"] == pytest.approx(0.0)


def test_what_is_shown_says_which_rows() -> None:
    text = str(solve(X, Y, k=2, holdout=0.2))
    assert "72 rows, which were fitted" in text
    assert "18 rows, which were not" in text
    assert text.splitlines()[-1].strip().endswith(" seconds")


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, "much"])
def test_shares_that_leave_nothing_are_refused(share: object) -> None:
    with pytest.raises(ValueError, match="holdout"):
        SparseRegressor(k=1, holdout=share).fit(X, Y)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least 2 rows of each label"):
        solve(X[:4], ["a", "b", "b", "b"], k=1, loss="logistic", holdout=0.5)
