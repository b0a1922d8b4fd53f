"""Cross-validation over k and the ridge."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.metrics import log_loss, make_scorer, r2_score
from sklearn.model_selection import KFold

from l0star import SparseClassifierCV, SparseRegressor, SparseRegressorCV


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 12))
    return X, X[:, [1, 4, 7]] @ [2.0, -1.5, 1.0] + rng.normal(size=120)


def test_finds_the_true_size(data):
    model = SparseRegressorCV(ks=8).fit(*data)
    assert model.k_ == 3
    assert list(model.support_) == [1, 4, 7]
    assert model.status_ == "optimal"
    assert model.best_score_ == model.cv_results_["mean_test_score"][model.best_index_]


def test_scores_are_those_of_fits_on_the_folds(data):
    X, y = data
    model = SparseRegressorCV(ks=[2, 5], ridges=[1e-3, 1.0], cv=KFold(3)).fit(X, y)
    results = model.cv_results_
    assert results["params"] == [
        {"k": 2, "ridge": 1e-3},
        {"k": 5, "ridge": 1e-3},
        {"k": 2, "ridge": 1.0},
        {"k": 5, "ridge": 1.0},
    ]
    for fold, (train, test) in enumerate(KFold(3).split(X)):
        for at, params in enumerate(results["params"]):
            expected = SparseRegressor(**params).fit(X[train], y[train]).score(X[test], y[test])
            assert results[f"split{fold}_test_score"][at] == pytest.approx(expected)
    assert model.ridge_ == 1e-3


def test_one_standard_error_prefers_the_smaller_model(data):
    best = SparseRegressorCV(ks=8, one_standard_error=False).fit(*data)
    assert best.best_index_ == np.argmax(best.cv_results_["mean_test_score"])
    near = SparseRegressorCV(ks=8).fit(*data)
    assert near.k_ <= best.k_
    scores = np.array([best.cv_results_[f"split{i}_test_score"][best.best_index_] for i in range(5)])
    error = scores.std(ddof=1) / np.sqrt(5)
    mean = best.cv_results_["mean_test_score"]
    assert mean[near.best_index_] >= mean.max() - error
    assert (mean[: near.best_index_] < mean.max() - error).all()


def test_noise_needs_no_feature():
    rng = np.random.default_rng(0)
    assert SparseRegressorCV(ks=3).fit(rng.normal(size=(100, 5)), rng.normal(size=100)).k_ == 0


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_parallel_folds_give_the_same(data, backend):
    expected = SparseRegressorCV(ks=3).fit(*data).cv_results_["mean_test_score"]
    with parallel_config(backend):
        found = SparseRegressorCV(ks=3, n_jobs=2).fit(*data).cv_results_["mean_test_score"]
    np.testing.assert_array_equal(found, expected)


def test_classifiers_and_scorers(data):
    X, y = data
    labels = np.where(y > 0, "up", "down")
    scorer = make_scorer(log_loss, greater_is_better=False, response_method="predict_proba", labels=["down", "up"])
    model = SparseClassifierCV(ks=5, scoring=scorer).fit(X, labels)
    assert list(model.classes_) == ["down", "up"]
    assert model.k_ == 3
    assert model.cv_results_["mean_test_score"][0] == pytest.approx(-np.log(2), abs=0.05)


def test_weights_count_in_scores(data):
    X, y = data
    weights = np.where(np.arange(120) < 40, 0.0, 1.0)
    folds = [(np.arange(60, 120), np.arange(60)), (np.arange(60), np.arange(60, 120))]
    model = SparseRegressorCV(ks=[3], cv=folds).fit(X, y, sample_weight=weights)
    fit = SparseRegressor(k=3).fit(X[60:], y[60:])
    assert model.cv_results_["split0_test_score"][0] == pytest.approx(r2_score(y[40:60], fit.predict(X[40:60])))


def test_include_is_in_every_size(data):
    model = SparseRegressorCV(ks=4, include=[0]).fit(*data)
    assert model.cv_results_["param_k"].tolist() == [1, 2, 3, 4]
    assert 0 in model.support_


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"ks": -1}, "'ks' parameter of SparseRegressorCV must be an int"),
        ({"ks": 1, "include": [0, 1]}, "2 features are included, more than ks=1 allows"),
        ({"ks": []}, "must not be empty"),
        ({"ks": "all"}, "must be an int or a list of ints"),
        ({"ridges": [0.0]}, "'ridges' parameter of SparseRegressorCV must be a float"),
        ({"cv": [(np.arange(9), np.arange(9, 20))]}, "at least 2 folds"),
    ],
)
def test_bad_parameters_are_refused(data, parameters, reason):
    with pytest.raises(ValueError, match=reason):
        SparseRegressorCV(**parameters).fit(*data)
