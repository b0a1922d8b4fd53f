"""Several responses: fits agree with NumPy, and all results of the estimator have one column per response."""

import contextlib
import sqlite3
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, cross_val_score

import l0star
from l0star import SparseRegressor, SparseRegressorCV, _core, solve, sparse_path


def draw(rows=50, columns=6, responses=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    coef = np.zeros((responses, columns))
    coef[:, [1, 4]] = rng.normal(size=(responses, 2))
    units = 10.0 ** rng.integers(-3, 4, size=responses)
    return X, units * (X @ coef.T + 0.3 * rng.normal(size=(rows, responses)) + 5.0)


def least(X, Y, support, ridge, weights):
    """Return the smallest objective of a support, with standardised columns and responses and free intercepts."""
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
    with pytest.raises(
        ValueError, match=r"offset must have the shape \(50, 3\), a column for each of 'y0', 'y1', 'y2'"
    ):
        solve(X, Y, k=2, offset=np.ones(50))
    for refused in (SparseRegressor(k=2, loss="huber"), SparseRegressorCV(loss="huber")):
        with pytest.raises(ValueError, match="1d array"):
            refused.fit(X, Y)
    with pytest.raises(ValueError, match="a score for each response"):
        solve(X, Y, k=2).export(expression=True)


@pytest.mark.parametrize("scoring", [None, "neg_mean_squared_error"])
def test_cross_validation_scores_as_scikit_learn_does(scoring):
    X, Y = draw()
    folds = KFold(4, shuffle=True, random_state=0)
    chosen = SparseRegressorCV(ks=[1, 2, 3], cv=folds, scoring=scoring).fit(X, Y)
    assert chosen.k_ == 2
    assert list(chosen.support_) == [1, 4]
    assert chosen.coef_.shape == (3, 6)
    for at, k in enumerate([1, 2, 3]):
        own = cross_val_score(SparseRegressor(k=k), X, Y, cv=folds, scoring=scoring)
        found = [chosen.cv_results_[f"split{fold}_test_score"][at] for fold in range(4)]
        np.testing.assert_allclose(found, own, rtol=1e-9)


def test_rows_that_are_held_out_are_measured():
    X, Y = draw()
    weights = np.random.default_rng(1).uniform(0.5, 2.0, size=50)
    result = solve(X, Y, k=2, holdout=0.3, sample_weight=weights)
    held = np.asarray(_core.hold_out(np.ascontiguousarray(Y[:, 0]), weights, False, 0.3, 1))
    assert held.sum() == 15
    alone = solve(X[~held], Y[~held], k=2, sample_weight=weights[~held])
    np.testing.assert_array_equal(result.coef, alone.coef)
    predicted = X[held] @ result.coef.T + result.intercept
    expected = r2_score(Y[held], predicted, sample_weight=weights[held], multioutput="raw_values")
    found = result.metrics["holdout"]
    np.testing.assert_allclose([own["r2"] for own in found["responses"]], expected)
    assert found["r2"] == pytest.approx(expected.mean())


def test_stability_has_the_coefficients_of_every_response(tmp_path):
    X, Y = draw()
    found = l0star.stability(X, Y, k=2, resamples=20)
    assert found.coefs.shape == (20, 3, 6)
    assert found.frequencies["x1"] == (found.coefs[:, 0, 1] != 0).mean()
    low, high = found.intervals["x1", "y2"]
    np.testing.assert_allclose([low, high], np.quantile(found.coefs[:, 2, 1], [0.025, 0.975]), rtol=1e-12)
    assert found.to_pandas().loc[("x4", "y0"), "median"] == pytest.approx(np.median(found.coefs[:, 0, 4]))
    found.report(tmp_path / "page.html")


def test_queries_and_modules_predict_the_same():
    X, Y = draw()
    X = pd.DataFrame(X, columns=["a", "b x", 'c"', "d", "e", "f"])
    model = SparseRegressor(k=2).fit(X, Y)
    predicted = model.predict(X)
    space = {}
    exec(model.export("python"), space)
    rows = X.to_dict("records")
    found = [list(space["predict"](row).values()) for row in rows]
    np.testing.assert_array_equal(found, predicted)
    assert list(space["predict"](rows[0])) == ["y0", "y1", "y2"]
    with contextlib.closing(sqlite3.connect(":memory:")) as base:
        X.to_sql("data", base, index=False)
        queried = pd.read_sql(model.export("sqlite"), base)
    np.testing.assert_array_equal(queried[["y0_prediction", "y1_prediction", "y2_prediction"]], predicted)


def test_offsets_are_taken_off_the_responses():
    X, Y = draw()
    offset = np.random.default_rng(5).normal(size=Y.shape) * Y.std(axis=0)
    plain = solve(X, Y, k=2)
    model = SparseRegressor(k=2, holdout=None).fit(X, Y + offset, offset=offset)
    np.testing.assert_allclose(model.coef_, plain.coef, rtol=1e-8)
    np.testing.assert_allclose(model.intercept_, plain.intercept, rtol=1e-8)
    assert model.objective_ == pytest.approx(plain.objective, rel=1e-9)
    predicted = model.predict(X, offset)
    np.testing.assert_allclose(predicted, X @ plain.coef.T + plain.intercept + offset, rtol=1e-8)
    assert model.score(X, Y + offset, offset=offset) == pytest.approx(r2_score(Y + offset, predicted))
    each = model.metrics_["training"]["responses"]
    np.testing.assert_allclose([own["r2"] for own in each], r2_score(Y + offset, predicted, multioutput="raw_values"))
    held = SparseRegressor(k=2, holdout=0.3).fit(X, Y + offset, offset=offset)
    assert all(own["r2"] > 0.5 for own in held.metrics_["holdout"]["responses"])
    chosen = SparseRegressorCV(ks=[1, 2, 3], cv=4).fit(X, Y + offset, offset=offset)
    assert list(chosen.support_) == [1, 4]


def test_models_with_offsets_are_exported():
    X, Y = draw()
    offset = np.random.default_rng(5).normal(size=Y.shape)
    result = solve(X, Y, k=2, offset=offset)
    names = [f"offset_y{r}" for r in range(3)]
    query = result.export()
    assert all(f'CAST("{name}" AS' in query for name in names)
    row = dict(zip([f"x{j}" for j in range(6)], X[0], strict=True)) | dict(zip(names, offset[0], strict=True))
    space = {}
    exec(result.export("python"), space)
    expected = X[0] @ result.coef.T + result.intercept + offset[0]
    np.testing.assert_allclose(list(space["predict"](row).values()), expected, rtol=1e-12)


@pytest.mark.parametrize("refit", [False, True])
def test_standard_errors_are_those_of_each_response_alone(refit):
    X, Y = draw()
    weights = np.random.default_rng(2).uniform(0.5, 2, size=50)
    result = solve(X, Y, k=2, refit=refit, sample_weight=weights)
    assert result.refit is refit
    summary = result.summary()
    assert summary.index.names == ["feature", "response"]
    for r in range(3):
        own = summary.xs(f"y{r}", level="response")
        if refit:
            fit = sm.WLS(Y[:, r], sm.add_constant(X[:, result.support]), weights=weights).fit()
            coefficients, errors, ends = fit.params[[1, 2, 0]], fit.bse[[1, 2, 0]], fit.conf_int()[[1, 2, 0]]
        else:
            alone = solve(X[:, result.support], Y[:, r], k=2, sample_weight=weights).summary()
            coefficients, errors, ends = alone["coefficient"], alone["standard_error"], alone[["lower", "upper"]].values
        np.testing.assert_allclose(own["coefficient"], coefficients, rtol=1e-7)
        np.testing.assert_allclose(own["standard_error"], errors, rtol=1e-7)
        np.testing.assert_allclose(own[["lower", "upper"]], ends, rtol=1e-6)
    assert any("Student" in note for note in summary.attrs["notes"])
