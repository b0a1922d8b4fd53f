"""A price per feature and an assumed bound, against brute force in NumPy."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from l0star import SparseRegressor, SparseRegressorCV, penalty_path, solve, sparse_path


def instance(seed, n=40, d=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, -1] = X[:, 0]  # a copy
    y = X[:, 0] - 0.5 * X[:, 1] + 0.3 * rng.normal(size=n)
    return X, y


def least(X, y, columns, ridge):
    """Return the smallest objective of a set of columns, without an intercept."""
    A, n = X[:, list(columns)], len(y)
    x = np.linalg.solve(A.T @ A / n + ridge * np.eye(A.shape[1]), A.T @ y / n)
    r = y - A @ x
    return r @ r / (2 * n) + ridge / 2 * x @ x


def brute_force(X, y, prices, ridge=1e-3, k=None):
    d = X.shape[1]
    sizes = range((d if k is None else k) + 1)
    sets = (set_ for size in sizes for set_ in combinations(range(d), size))
    return min(least(X, y, set_, ridge) + sum(prices[j] for j in set_) for set_ in sets)


PLAIN = {"fit_intercept": False, "standardize": False}


@pytest.mark.parametrize("penalty", [1e-6, 0.003, 0.02, 0.2, 100.0])
@pytest.mark.parametrize("k", [None, 2])
def test_the_penalised_optimum_is_that_of_brute_force(penalty, k):
    for seed in range(3):
        X, y = instance(seed)
        factor = {0: 2.0, 3: 0.0}
        prices = penalty * np.array([factor.get(j, 1.0) for j in range(X.shape[1])])
        result = solve(X, y, k, l0_penalty=penalty, l0_factor=factor, **PLAIN)
        assert result.status == "optimal"
        assert result.objective == pytest.approx(brute_force(X, y, prices, k=k), rel=1e-9)
        cost = prices[result.support].sum()
        assert result.objective_without_penalty == pytest.approx(result.objective - cost, rel=1e-9)
        assert result.objective_without_penalty == pytest.approx(least(X, y, result.support, 1e-3), rel=1e-9)
        assert "penalised objective" in result.headline


def test_without_a_price_k_is_needed():
    X, y = instance(0)
    with pytest.raises(ValueError, match="needs k"):
        solve(X, y)
    with pytest.raises(ValueError, match="needs k"):
        SparseRegressor(k=None).fit(X, y)
    with pytest.raises(ValueError, match="l0_penalty"):
        solve(X, y, 2, l0_penalty=-1)
    with pytest.raises(ValueError, match="l0 penalty"):
        solve(X, y, 2, l0_penalty=0.1, method="omp")


def test_estimators_paths_and_cross_validation_take_a_price():
    X, y = instance(1)
    model = SparseRegressor(k=None, l0_penalty=0.02).fit(X, y)
    assert model.result_.l0_penalty == 0.02
    assert model.result_.to_dict()["l0_penalty"] == 0.02
    assert 1 <= len(model.support_) <= 3
    path = sparse_path(X, y, k_max=3, l0_penalty=0.02, **PLAIN)
    for result in path:
        prices = np.full(X.shape[1], 0.02)
        assert result.objective == pytest.approx(brute_force(X, y, prices, k=result.k), rel=1e-9)
    chosen = SparseRegressorCV(ks=3, l0_penalty=0.02).fit(X, y)
    assert chosen.result_.l0_penalty == 0.02


@pytest.mark.parametrize("k", [None, 2])
def test_the_path_over_prices_is_the_least_of_all_lines(k):
    X, y = instance(3)
    factor = {0: 2.0, 3: 0.5}
    weights = np.array([factor.get(j, 1.0) for j in range(X.shape[1])])
    path = penalty_path(X, y, k, l0_factor=factor, **PLAIN)
    assert path[0].price_from == 0
    assert path[-1].price_to == np.inf
    assert list(path.breakpoints) == [piece.price_from for piece in path[1:]]
    assert list(path.breakpoints) == sorted(path.breakpoints)
    for piece in path:
        assert piece.status == "optimal"
        assert piece.weight == pytest.approx(weights[piece.support].sum())
        assert piece.objective == pytest.approx(least(X, y, piece.support, 1e-3), rel=1e-9)
        last = piece.price_to if np.isfinite(piece.price_to) else 2 * piece.price_from + 1
        for price in (piece.price_from, (piece.price_from + last) / 2, last):
            value = piece.objective + price * piece.weight
            assert value == pytest.approx(brute_force(X, y, price * weights, k=k), rel=1e-8)
        middle = (piece.price_from + last) / 2
        assert path.at(middle) is piece
    assert path.at(np.inf).features == []
    row = path[0].to_dict()
    assert row["from"] == 0
    assert set(row["coefficients"]) == set(path[0].features)
    assert len(path.to_pandas()) == len(path)
    assert f"{len(path)} of {len(path)} proved" in repr(path)


def test_a_path_over_prices_says_what_is_not_proved_and_refuses_what_it_cannot_do():
    X, y = instance(4, n=60, d=25)
    with pytest.warns(ConvergenceWarning, match="not complete"):
        path = penalty_path(X, y, 6, ridge=1e-6, node_limit=0)
    assert any(piece.status == "node_limit" for piece in path)
    with pytest.raises(ValueError, match="best-first or exhaustive"):
        penalty_path(X, y, 3, method="omp")
    with pytest.raises(ValueError, match="price"):
        path.at(-1)


def test_an_assumption_is_kept_and_said():
    X, y = instance(2)
    X[:, 0] *= 100.0
    result = solve(X, y, 2, assume_max_coefficient=0.4)
    assert result.status == "optimal"
    assert result.assumption == {"max_coefficient": 0.4, "standardized": True}
    assert np.abs(result.coef_per_sd).max() <= 0.4 * (1 + 1e-12)
    assert "proved optimal under the assumption |coefficient|" in result.headline
    assert any("assumed limit" in text for text in result.to_dict()["warnings"])
    plain = solve(X, y, 2)
    assert plain.assumption is None
    assert "assumption" not in plain.headline
    wide = solve(X, y, 2, assume_max_coefficient=100.0)
    assert wide.objective == pytest.approx(plain.objective, rel=1e-9)


def test_the_rule_of_cross_validation():
    X, y = instance(3)
    ridges = [1e-4, 1e-3, 1e-2, 1.0]
    for rule in ("best", "one-se", "proof"):
        model = SparseRegressorCV(ks=4, ridges=ridges, rule=rule).fit(X, y)
        scores = model.cv_results_["mean_test_score"]
        best = scores.max()
        if rule == "best":
            assert model.best_score_ == best
        if rule == "proof":
            as_good = scores >= best - 0.01 * abs(best)
            assert model.ridge_ == max(model.cv_results_["param_ridge"][as_good])
            assert model.best_score_ >= best - 0.01 * abs(best)
    same = SparseRegressorCV(ks=4, ridges=ridges, one_standard_error=False).fit(X, y)
    assert same.best_score_ == same.cv_results_["mean_test_score"].max()
    with pytest.raises(ValueError, match="rule"):
        SparseRegressorCV(rule="1se").fit(X, y)
