"""Several classes: fits agree with SciPy, and the estimator behaves like scikit-learn's."""

import contextlib
import sqlite3
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_score

import l0star
from l0star import SparseClassifier, SparseClassifierCV, _core, solve, sparse_path


def draw(rows=40, columns=5, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    coef = np.zeros((classes, columns))
    coef[:, [0, 3]] = 2 * rng.normal(size=(classes, 2))
    scores = X @ coef.T + rng.gumbel(size=(rows, classes))
    y = np.argmax(scores, axis=1)
    y[:classes] = range(classes)
    return X, y


def least(X, y, support, ridge, weights):
    """Return the smallest objective of a support, by its definition."""
    share, classes = weights / weights.sum(), y.max() + 1
    A = X[:, support]

    def objective(x):
        W = x.reshape(classes, -1)
        z = A @ W[:, 1:].T + W[:, 0]
        pi = np.exp(z - logsumexp(z, axis=1, keepdims=True))
        value = share @ (logsumexp(z, axis=1) - z[np.arange(len(y)), y]) + 0.5 * ridge * (W[:, 1:] ** 2).sum()
        slope = share[:, np.newaxis] * (pi - np.eye(classes)[y])
        gradient = np.column_stack([slope.sum(axis=0), slope.T @ A + ridge * W[:, 1:]])
        return value, gradient.ravel()

    start = np.zeros(classes * (1 + len(support)))
    return minimize(objective, start, jac=True, method="BFGS", options={"gtol": 1e-10}).fun


@pytest.mark.parametrize("seed", range(3))
def test_the_best_of_all_supports_by_scipy(seed):
    X, y = draw(rows=30, seed=seed)
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, size=30)
    result = solve(X, y, k=2, loss="multinomial", ridge=0.05, standardize=False, sample_weight=weights)
    best = min((least(X, y, list(s), 0.05, weights), s) for s in combinations(range(5), 2))
    assert result.status == "optimal"
    assert tuple(result.support) == best[1]
    assert result.objective == pytest.approx(best[0], rel=1e-7)
    assert result.lower_bound <= best[0] + 1e-9


def test_the_classifier_takes_any_number_of_labels(tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    model = SparseClassifier(k=2, ridge=0.01).fit(X, labels)
    assert model.status_ == "optimal"
    assert model.coef_.shape == (3, 4)
    assert model.intercept_.sum() == pytest.approx(0.0, abs=1e-9)
    assert model.decision_function(X).shape == (150, 3)
    chances = model.predict_proba(X)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.log(chances), model.predict_log_proba(X), atol=1e-12)
    training = model.metrics_["training"]
    assert training["accuracy"] == pytest.approx(model.score(X, labels))
    assert training["log_loss"] == pytest.approx(log_loss(labels, chances))
    assert model.result_.loss == "multinomial"
    assert "virginica" in str(model.result_)
    assert clone(model).fit(X, labels).objective_ == model.objective_
    model.save(tmp_path / "model.json")
    loaded = l0star.load(tmp_path / "model.json")
    assert list(loaded.predict(X[list(loaded.feature_names_in_)])) == list(model.predict(X))
    model.report(tmp_path / "page.html")
    assert ">versicolor<" in (tmp_path / "page.html").read_text()


def test_two_labels_have_half_the_coefficients_of_the_logistic_loss():
    X, y = draw(classes=2)
    both = solve(X, y, k=2, loss="multinomial", ridge=0.02)
    one = solve(X, y, k=2, loss="logistic", ridge=0.01)
    # Coefficients (c, -c) with the ridge on both correspond to 2c with half the ridge.
    np.testing.assert_allclose(both.coef[1] - both.coef[0], one.coef, atol=1e-6)
    assert both.objective == pytest.approx(one.objective)


def test_a_class_with_one_row_and_a_path():
    X, y = draw()
    y[y == 2] = 1
    y[0] = 2
    path = sparse_path(X, y, k_max=2, loss="multinomial", ridge=0.01)
    assert [result.status for result in path] == ["optimal"] * 3
    assert path.coefs.shape == (3, 5, 3)
    assert path[2].aic is not None
    assert path[2].objective <= path[1].objective


def test_what_is_not_there_is_refused():
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match="Only binary classification"):
        SparseClassifier(k=1, loss="squared-hinge").fit(X, y)
    with pytest.raises(ValueError, match="weight above zero"):
        SparseClassifier(k=1).fit(X, y, sample_weight=(y > 0).astype(float))
    with pytest.raises(ValueError, match="bounds on coefficients of classes"):
        SparseClassifier(k=1, nonnegative=True).fit(X, y)


@pytest.mark.parametrize("scoring", [None, "neg_log_loss"])
def test_cross_validation_scores_as_scikit_learn_does(scoring):
    X, y = load_wine(return_X_y=True)
    y = np.array(["c", "a", "b"])[y]
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    chosen = SparseClassifierCV(ks=[1, 2], ridges=0.05, cv=folds, scoring=scoring).fit(X, y)
    assert chosen.k_ == 2
    assert list(chosen.classes_) == ["a", "b", "c"]
    assert chosen.coef_.shape == (3, 13)
    assert chosen.predict_proba(X).shape == (178, 3)
    for at, k in enumerate([1, 2]):
        own = cross_val_score(SparseClassifier(k=k, ridge=0.05), X, y, cv=folds, scoring=scoring)
        found = [chosen.cv_results_[f"split{fold}_test_score"][at] for fold in range(3)]
        np.testing.assert_allclose(found, own, rtol=1e-6)


def test_each_class_is_held_out_and_measured():
    X, y = load_wine(return_X_y=True)
    model = SparseClassifier(k=2, ridge=0.05, holdout=0.3).fit(X, y)
    held = np.asarray(_core.hold_out(y.astype(float), None, True, 0.3, 1))
    assert [int(held[y == c].sum()) for c in range(3)] == [18, 21, 14]
    found = model.metrics_["holdout"]
    assert found["accuracy"] == pytest.approx((model.predict(X[held]) == y[held]).mean())
    assert found["log_loss"] == pytest.approx(log_loss(y[held], model.predict_proba(X[held])))


def test_stability_draws_from_each_class():
    X, y = draw()
    y[y == 2] = 1
    y[:2] = 2
    found = l0star.stability(X, y, k=1, loss="multinomial", ridge=0.05, resamples=10)
    assert found.coefs.shape == (10, 3, 5)
    assert found.status == "complete"
    assert set(found.to_pandas().index.get_level_values("output")) == {"0", "1", "2"}


def test_queries_and_modules_predict_the_same():
    X, y = load_wine(return_X_y=True, as_frame=True)
    y = y.map({0: "it's", 1: "b", 2: 'c"'})
    model = SparseClassifier(k=2, ridge=0.05).fit(X, y)
    labels, chances = model.predict(X), model.predict_proba(X)
    space = {}
    exec(model.export("python"), space)
    rows = [space["predict"](row) for row in X.to_dict("records")]
    assert [row["prediction"] for row in rows] == labels.tolist()
    columns = [f"probability_{label}" for label in model.classes_]
    np.testing.assert_allclose([[row[name] for name in columns] for row in rows], chances, rtol=1e-12)
    with contextlib.closing(sqlite3.connect(":memory:")) as base:
        X.to_sql("data", base, index=False)
        queried = pd.read_sql(model.export("sqlite"), base)
    assert queried["prediction"].tolist() == labels.tolist()
    np.testing.assert_allclose(queried[columns], chances, rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_offsets_are_those_of_scipy(seed):
    X, y = draw(seed=seed)
    offset = np.random.default_rng(seed).normal(size=(40, 3)) * [1.0, 3.0, 0.0]
    ridge = 0.05
    result = solve(X, y, k=2, loss="multinomial", ridge=ridge, standardize=False, offset=offset)

    def objective(x, support):
        W = x.reshape(3, -1)
        z = X[:, support] @ W[:, 1:].T + W[:, 0] + offset
        loss = (logsumexp(z, axis=1) - z[np.arange(40), y]).mean()
        return loss + ridge / 2 * (W[:, 1:] ** 2).sum()

    def fit(support):
        return minimize(objective, np.zeros(9), args=(list(support),), method="BFGS", options={"gtol": 1e-9}).fun

    best = min((fit(support), support) for support in combinations(range(5), 2))
    assert result.status == "optimal"
    assert result.objective == pytest.approx(best[0], rel=1e-7)
    assert result.lower_bound <= best[0] * (1 + 1e-9)
    z = X @ result.coef.T + result.intercept + offset
    expected = (logsumexp(z, axis=1) - z[np.arange(40), y]).mean()
    assert result.metrics["training"]["log_loss"] == pytest.approx(expected)
    # A number added to all classes of a row changes nothing.
    moved = solve(X, y, k=2, loss="multinomial", ridge=ridge, standardize=False, offset=offset + X[:, [2]])
    assert moved.objective == pytest.approx(result.objective, rel=1e-9)
    with pytest.raises(ValueError, match=r"offset must have the shape \(40, 3\), a column for each of '0', '1', '2'"):
        solve(X, y, k=2, loss="multinomial", offset=np.ones(40))


@pytest.mark.parametrize("standardize", [True, False])
def test_standard_errors_without_the_ridge_are_those_of_statsmodels(standardize):
    X, y = draw(rows=300)
    # The column is far from 0, so the intercepts become large.
    X[:, 0] += 1000.0
    result = solve(X, y, k=2, loss="multinomial", refit=True, ridge=0.01, standardize=standardize)
    assert result.refit
    A = sm.add_constant(X[:, result.support] - X[:, result.support].mean(axis=0))
    fit = sm.MNLogit(y, A).fit(disp=False, method="newton", tol=1e-12)
    # statsmodels has coefficients relative to class 0, class by class; C maps them to those that sum to 0.
    centred = np.vstack([np.zeros(2), np.eye(2)]) - 1 / 3
    C = np.kron(centred, np.eye(3))
    params = C @ np.asarray(fit.params).T.ravel()
    cov = C @ np.asarray(fit.cov_params()) @ C.T
    # J maps the coefficients of centred columns to those of the data.
    J = np.kron(np.eye(3), np.array([[1, *-X[:, result.support].mean(axis=0)], [0, 1, 0], [0, 0, 1]]))
    params, errors = (J @ params).reshape(3, 3), np.sqrt(np.diag(J @ cov @ J.T)).reshape(3, 3)
    summary = result.summary()
    assert summary.index.names == ["feature", "class"]
    for label in range(3):
        own = summary.xs(str(label), level="class")
        np.testing.assert_allclose(own["coefficient"], params[label, [1, 2, 0]], rtol=1e-5)
        np.testing.assert_allclose(own["standard_error"], errors[label, [1, 2, 0]], rtol=1e-5)
        half = 1.959963984540054 * own["standard_error"]
        np.testing.assert_allclose(own["upper"] - own["coefficient"], half, rtol=1e-9)


def test_classes_that_are_told_apart_keep_their_ridge():
    x = np.arange(30.0)
    with pytest.warns(l0star.L0starWarning, match="tell the labels apart"):
        result = solve(x[:, np.newaxis], (x // 10).astype(int), k=1, loss="multinomial", refit=True, ridge=0.01)
    assert not result.refit
    assert len(result.summary()) == 6
