"""Summaries: without the ridge, coefficients, standard errors and intervals agree with statsmodels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.typing import NDArray

from l0star import L0starWarning, SparseRegressor, solve

RNG = np.random.default_rng(8)
X = RNG.normal(size=(120, 5)) * [1, 100, 0.01, 1, 1] + [0, 1e4, 3, 0, -2]
Y = X @ [1.0, 0.02, 80, 0, 0] + RNG.normal(size=120)
LABELS = np.where(Y - np.median(Y) + 2 * RNG.normal(size=120) > 0, "yes", "no")
WEIGHTS = RNG.uniform(0.2, 3, size=120)


def _compare(summary: Any, fit: Any) -> None:
    """Compare a summary with statsmodels: the command has the intercept last, statsmodels the constant first."""
    order = [*range(1, len(fit.params)), 0]
    interval = np.asarray(fit.conf_int())[order]
    np.testing.assert_allclose(summary["coefficient"], np.asarray(fit.params)[order], rtol=1e-6)
    np.testing.assert_allclose(summary["standard_error"], np.asarray(fit.bse)[order], rtol=1e-6)
    np.testing.assert_allclose(summary["lower"], interval[:, 0], rtol=1e-6)
    np.testing.assert_allclose(summary["upper"], interval[:, 1], rtol=1e-6)


@pytest.mark.parametrize("weights", [None, WEIGHTS, 1000 * WEIGHTS])
@pytest.mark.parametrize("standardize", [True, False])
def test_least_squares(weights: NDArray[Any] | None, standardize: bool) -> None:
    # A large ridge, so that the fit without it differs.
    ridge = 0.5 if standardize else 1e-4
    result = solve(X, Y, k=3, refit=True, sample_weight=weights, ridge=ridge, standardize=standardize)
    assert result.refit
    A = sm.add_constant(X[:, result.support])
    fit = sm.OLS(Y, A).fit() if weights is None else sm.WLS(Y, A, weights=weights).fit()
    _compare(result.summary(), fit)
    assert result.metrics["training"]["r2"] == pytest.approx(fit.rsquared)
    assert any("without the ridge" in note for note in result.summary().attrs["notes"])


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_logistic_regression_and_its_odds(weights: NDArray[Any] | None) -> None:
    result = solve(X, LABELS, k=2, loss="logistic", refit=True, sample_weight=weights, ridge=0.05)
    A = sm.add_constant(X[:, result.support])
    # Only the ratios of weights matter.
    relative = None if weights is None else weights / weights.mean()
    fit = sm.GLM((LABELS == "yes").astype(float), A, family=sm.families.Binomial(), var_weights=relative).fit(tol=1e-12)
    summary = result.summary()
    _compare(summary, fit)
    ratios = summary["odds_ratio"].iloc[:-1]
    np.testing.assert_allclose(ratios, np.exp(np.asarray(fit.params)[1:]), rtol=1e-6)


def test_groups_offsets_and_free_features() -> None:
    offset = RNG.normal(size=120)
    result = solve(X, Y, k=1, groups=[[0, 1]], include_free=[2], offset=offset, refit=True)
    assert list(result.support) == [0, 1, 2]
    fit = sm.OLS(Y - offset, sm.add_constant(X[:, [0, 1, 2]])).fit()
    _compare(result.summary(), fit)


def test_huber_has_a_sandwich() -> None:
    result = solve(X, Y, k=2, loss="huber", huber_delta=0.7, refit=True)
    A = np.column_stack([X[:, result.support], np.ones(120)])
    r = A @ np.append(result.coef[result.support], result.intercept) - Y
    psi = np.clip(r, -0.7, 0.7)
    np.testing.assert_allclose((A / np.abs(A).max(axis=0)).T @ psi, 0, atol=1e-6)
    bread = np.linalg.inv(A.T @ (A * (np.abs(r) <= 0.7)[:, None]))
    meat = A.T @ (A * (psi**2)[:, None]) * 120 / (120 - 3)
    errors = np.sqrt(np.diag(bread @ meat @ bread))
    np.testing.assert_allclose(result.summary()["standard_error"], errors, rtol=1e-5)


def test_with_the_ridge_errors_are_those_of_ridge_regression() -> None:
    result = solve(X, Y, k=3, ridge=0.3)
    assert not result.refit
    chosen = X[:, result.support]
    scales, n = chosen.std(axis=0), 120
    A = np.column_stack([(chosen - chosen.mean(axis=0)) / scales, np.ones(n)])
    G = A.T @ A / n
    inverse = np.linalg.inv(G + np.diag([0.3, 0.3, 0.3, 0.0]))
    r = Y - chosen @ result.coef[result.support] - result.intercept
    covariance = r @ r / (n - 4) / n * inverse @ G @ inverse
    errors = np.sqrt(np.diag(covariance))[:3] / scales
    np.testing.assert_allclose(result.summary()["standard_error"].iloc[:3], errors, rtol=1e-8)


def test_prices_are_the_costs_of_removing() -> None:
    result = solve(X, Y, k=3, prices=True)
    costs = result.summary()["cost_without"]
    for price in result.prices():
        if price.chosen:
            assert costs[price.feature] == pytest.approx(price.cost)
    assert np.isnan(costs["(intercept)"])


def test_what_cannot_be_refitted_keeps_its_ridge_and_says_so() -> None:
    x = np.arange(40.0)
    labels = np.where(x > 19.5, 1, 0)
    with pytest.warns(L0starWarning, match="not fitted again without the ridge"):
        result = solve(x[:, None], labels, k=1, loss="logistic", refit=True)
    assert not result.refit
    assert any("without the ridge" in text for text in result.warnings)
    assert np.isfinite(result.coef).all()


def test_bounds_hold_without_the_ridge_too() -> None:
    model = SparseRegressor(k=2, include=[1], nonnegative=[1], refit=True).fit(X, -Y)
    assert model.coef_[1] == 0
    summary = model.result_.summary()
    assert np.isnan(summary.loc["x1", "standard_error"])
    other = [j for j in model.support_ if j != 1]
    fit = sm.OLS(-Y, sm.add_constant(X[:, other])).fit()
    np.testing.assert_allclose(model.coef_[other], fit.params[1:], rtol=1e-6)
