"""Poisson and gamma regression: fits agree with SciPy and statsmodels, estimators behave like scikit-learn's."""

from itertools import combinations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize
from scipy.special import xlogy
from sklearn.base import clone
from sklearn.linear_model import GammaRegressor, PoissonRegressor
from sklearn.metrics import d2_tweedie_score, mean_tweedie_deviance

import l0star
from l0star import SparseRegressor, SparseRegressorCV, solve, sparse_path, stability

BOTH = ("poisson", "gamma")
POWER = {"poisson": 1, "gamma": 2}


def draw(loss, rows=60, columns=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    mean = np.exp(0.5 + 0.7 * X[:, 0] - 0.5 * X[:, 2])
    y = rng.poisson(mean).astype(float) if loss == "poisson" else rng.gamma(2.0, mean / 2.0)
    return X, y


def mean_loss(loss, z, y, weights):
    values = np.exp(z) - y * z + xlogy(y, y) - y if loss == "poisson" else y * np.exp(-z) + z - np.log(y) - 1.0
    return float(np.average(values, weights=weights))


def scipy_minimum(loss, X, y, ridge, weights, offset):
    def objective(x):
        return mean_loss(loss, X @ x[:-1] + x[-1] + offset, y, weights) + ridge / 2 * float(x[:-1] @ x[:-1])

    start = np.r_[np.zeros(X.shape[1]), np.log(np.mean(y))]
    return minimize(objective, start, method="BFGS", options={"gtol": 1e-9}).fun


@pytest.mark.parametrize("loss", BOTH)
@pytest.mark.parametrize("seed", range(4))
def test_the_best_of_all_supports_by_scipy(loss, seed):
    X, y = draw(loss, rows=25, columns=5, seed=seed)
    rng = np.random.default_rng(seed)
    weights, offset = rng.uniform(0.2, 2.0, size=25), rng.normal(size=25)
    result = solve(X, y, k=2, loss=loss, ridge=0.02, standardize=False, sample_weight=weights, offset=offset)
    found = {
        support: scipy_minimum(loss, X[:, support], y, 0.02, weights, offset) for support in combinations(range(5), 2)
    }
    best = min(found.values())
    assert result.status == "optimal"
    assert result.objective == pytest.approx(best, rel=1e-7)
    assert result.lower_bound <= best * (1 + 1e-9)


@pytest.mark.parametrize("loss", BOTH)
def test_without_the_ridge_coefficients_and_errors_are_those_of_statsmodels(loss):
    X, y = draw(loss, rows=200)
    exposure = np.random.default_rng(5).uniform(0.5, 2.0, size=200)
    result = solve(X, y, k=2, loss=loss, refit=True, offset=np.log(exposure))
    family = sm.families.Poisson() if loss == "poisson" else sm.families.Gamma(sm.families.links.Log())
    chosen = sm.add_constant(X[:, result.support])
    fit = sm.GLM(y, chosen, family=family, offset=np.log(exposure)).fit(tol=1e-12)
    summary = result.summary()
    assert [result.intercept, *result.coef[result.support]] == pytest.approx(list(fit.params), rel=1e-6)
    errors = list(summary["standard_error"])
    assert [errors[-1], *errors[:-1]] == pytest.approx(list(fit.bse), rel=1e-5)
    assert summary["rate_ratio"].iloc[0] == pytest.approx(np.exp(result.coef[result.support[0]]))
    training = result.metrics["training"]
    assert training["deviance"] == pytest.approx(fit.deviance / 200, rel=1e-8)
    assert training["deviance_explained"] == pytest.approx(1 - fit.deviance / fit.null_deviance, rel=1e-6)


@pytest.mark.parametrize("loss", BOTH)
def test_with_all_features_it_is_scikit_learns_regressor(loss):
    X, y = draw(loss, rows=120)
    theirs = (PoissonRegressor if loss == "poisson" else GammaRegressor)(alpha=0.1, tol=1e-9, max_iter=1000).fit(X, y)
    ours = SparseRegressor(k=6, loss=loss, ridge=0.1, standardize=False).fit(X, y)
    assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-5)
    assert ours.predict(X) == pytest.approx(theirs.predict(X), rel=1e-4)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), rel=1e-6)


def test_differences_of_aic_are_those_of_statsmodels():
    X, y = draw("poisson", rows=150)
    path = sparse_path(X, y, k_max=4, loss="poisson", ridge=1e-9)
    fits = [sm.GLM(y, sm.add_constant(X[:, r.support]), family=sm.families.Poisson()).fit() for r in path]
    for k in range(1, 5):
        assert path[k].aic - path[0].aic == pytest.approx(fits[k].aic - fits[0].aic, abs=1e-5)


@pytest.mark.parametrize("loss", BOTH)
def test_predictions_are_means_with_an_exposure_if_there_is_one(loss, tmp_path):
    X, y = draw(loss)
    exposure = np.random.default_rng(1).uniform(0.5, 4.0, size=len(y))
    model = SparseRegressor(k=2, loss=loss).fit(X, y * exposure, offset=np.log(exposure))
    linear = X @ model.coef_ + model.intercept_
    assert model.predict(X) == pytest.approx(np.exp(linear))
    assert model.predict(X, offset=np.log(exposure)) == pytest.approx(exposure * np.exp(linear))
    predicted = model.predict(X, offset=np.log(exposure))
    deviance = d2_tweedie_score(y * exposure, predicted, power=POWER[loss])
    assert model.score(X, y * exposure, offset=np.log(exposure)) == pytest.approx(deviance)
    with pytest.raises(ValueError, match="offset has 3 entries"):
        model.predict(X, offset=np.zeros(3))
    plain = SparseRegressor(k=2, loss=loss).fit(X, y)
    plain.save(tmp_path / "model.json")
    loaded = l0star.load(tmp_path / "model.json")
    assert loaded.predict(X[:, plain.support_]).tolist() == plain.predict(X).tolist()
    assert clone(plain).get_params()["loss"] == loss
    assert "math.exp(score(row))" in plain.export("python")


@pytest.mark.parametrize("loss", BOTH)
def test_cross_validation_scores_the_deviance(loss):
    X, y = draw(loss, rows=120)
    model = SparseRegressorCV(ks=3, loss=loss, cv=4).fit(X, y)
    assert model.k_ == 2
    assert 0.0 < model.best_score_ < 1.0
    name = {"poisson": "neg_mean_poisson_deviance", "gamma": "neg_mean_gamma_deviance"}[loss]
    other = SparseRegressorCV(ks=3, loss=loss, cv=4, scoring=name).fit(X, y)
    assert other.best_score_ < 0.0
    # Scores take the exposure into account.
    exposure = np.random.default_rng(2).uniform(0.1, 10.0, size=len(y))
    exposed = SparseRegressorCV(ks=3, loss=loss, cv=4).fit(X, y * exposure, offset=np.log(exposure))
    assert exposed.best_score_ > 0.0


def test_resamples_and_lists():
    X, y = draw("poisson", rows=100)
    assert stability(X, y, k=2, loss="poisson", resamples=5) is not None
    listed = solve(X, y, k=2, loss="poisson", top=3)
    assert len(listed.solutions) == 3
    assert listed.rate_ratios
    means = np.exp(X @ listed.coef + listed.intercept)
    assert listed.metrics["training"]["deviance"] == pytest.approx(mean_tweedie_deviance(y, means, power=1))


def test_responses_that_cannot_be_are_refused():
    X, y = draw("poisson")
    for loss, value in (("poisson", -1.0), ("gamma", 0.0)):
        bad = y + 1.0
        bad[4] = value
        with pytest.raises(ValueError, match=r"row 5.*" + loss):
            SparseRegressor(k=1, loss=loss).fit(X, bad)
    with pytest.raises(ValueError, match="every response"):
        SparseRegressor(k=1, loss="poisson").fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="best-first"):
        SparseRegressor(k=1, loss="poisson", method="paper").fit(X, y)
