"""Several responses: fits are those of NumPy, and every face of the estimator has a column for each."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import r2_score

import l0star
from l0star import SparseRegressor, SparseRegressorCV, solve, sparse_path


def draw(rows=50, columns=6, responses=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    coef = np.zeros((responses, columns))
    coef[:, [1, 4]] = rng.normal(size=(responses, 2))
    units = 10.0 ** rng.integers(-3, 4, size=responses)
    return X, units * (X @ coef.T + 0.3 * rng.normal(size=(rows, responses)) + 5.0)


def least(X, Y, support, ridge, weights):
    """Give the least objective of a support, by its definition: standardised columns and responses, free intercepts."""
    share = weights / weights.sum()
    X, Y = X - share @ X, Y - share @ Y
    Y = Y / np.sqrt(share @ Y**2)
    A = X[:, support] / np.sqrt(share @ X[:, support] ** 2)
    root = np.sqrt(share)[:, np.newaxis]
    gram = (root * A).T @ (root * A) + ridge * np.eye(len(support))
    B = np.linalg.solve(gram, (root * A).T @ (root * Y))
    return 0.5 * float((share @ (Y - A @ B) ** 2).sum() + ridge * (B**2).sum())


@pytest.mark.parametrize("seed", range(3))
def test_the_best_of_all_supports_by_numpy(seed):
    X, Y = draw(rows=30, seed=seed)
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, size=30)
    result = solve(X, Y, k=2, ridge=0.05, sample_weight=weights)
    best = min((least(X, Y, list(s), 0.05, weights), s) for s in combinations(range(6), 2))
    assert result.status == "optimal"
    assert tuple(result.support) == best[1]
    assert result.objective == pytest.approx(best[0], rel=1e-9)


def test_shapes_and_predictions():
    X, Y = draw()
    model = SparseRegressor(k=2).fit(X, Y)
    assert model.coef_.shape == (3, 6)
    assert model.intercept_.shape == (3,)
    assert list(model.support_) == [1, 4]
    predicted = model.predict(X)
    np.testing.assert_allclose(predicted, X @ model.coef_.T + model.intercept_, rtol=1e-12)
    assert model.score(X, Y) == pytest.approx(r2_score(Y, predicted))
    each = model.metrics_["training"]["responses"]
    np.testing.assert_allclose([own["r2"] for own in each], r2_score(Y, predicted, multioutput="raw_values"))
    assert clone(model).fit(X, Y).objective_ == model.objective_


def test_one_column_of_y_has_the_model_of_its_own_fit():
    X, Y = draw()
    together = solve(X, Y, k=6)
    for r in range(3):
        alone = solve(X, Y[:, r], k=6)
        np.testing.assert_allclose(together.coef[r], alone.coef, rtol=1e-8, atol=1e-10 * np.abs(alone.coef).max())
        assert together.intercept[r] == pytest.approx(alone.intercept)


def test_files_reports_and_words(tmp_path):
    X, Y = draw()
    X, Y = pd.DataFrame(X, columns=list("abcdef")), pd.DataFrame(Y, columns=["one", "two", "three"])
    model = SparseRegressor(k=2, prices=True, top=2).fit(X, Y)
    result = model.result_
    assert result.responses == ["one", "two", "three"]
    assert list(result.to_pandas().columns) == result.responses
    assert result.coefficients["b"] == pytest.approx(model.coef_[:, 1].tolist())
    assert result.solutions[1].coef.shape == (3, 6)
    for text in (str(result), result._repr_html_()):
        assert "two" in text
    assert "'two'" in str(result)
    model.save(tmp_path / "model.json")
    loaded = l0star.load(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict(X[list("be")]), model.predict(X))
    assert loaded.coef_.shape == (3, 6)
    model.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert all(f">{name}<" in page for name in ("one", "two", "three", "b", "e"))


def test_a_path_has_coefficients_of_every_response():
    X, Y = draw()
    path = sparse_path(X, Y, k_max=3)
    assert path.coefs.shape == (3, 6, 4)
    assert path.best().k == 2
    assert ("y1", "x4") in path.to_pandas().columns


def test_what_is_for_one_response_is_refused():
    X, Y = draw()
    with pytest.raises(ValueError, match="holdout"):
        solve(X, Y, k=2, holdout=0.2)
    with pytest.raises(ValueError, match="offset"):
        solve(X, Y, k=2, offset=1.0)
    for refused in (SparseRegressor(k=2, loss="huber"), SparseRegressorCV()):
        with pytest.raises(ValueError, match="1d array"):
            refused.fit(X, Y)
    with pytest.raises(ValueError, match="several responses"):
        solve(X, Y, k=2).export()
