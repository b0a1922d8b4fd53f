"""Cross-validation over k and the ridge."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss, make_scorer, r2_score
from sklearn.model_selection import KFold

from l0star import SparseClassifierCV, SparseRegressor, SparseRegressorCV
from l0star._tally import Tally


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
        {"k": 2, "ridge": 1e-3, "l0_penalty": 0.0},
        {"k": 5, "ridge": 1e-3, "l0_penalty": 0.0},
        {"k": 2, "ridge": 1.0, "l0_penalty": 0.0},
        {"k": 5, "ridge": 1.0, "l0_penalty": 0.0},
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


def test_an_interrupt_leaves_the_scores_that_are_complete(data):
    def callback(progress):
        if progress.k == 3:
            raise KeyboardInterrupt

    model = SparseRegressorCV(ks=5, callback=callback)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*data)
    whole = SparseRegressorCV(ks=5).fit(*data).cv_results_
    found = model.cv_results_
    # One size is searched on all folds before the next.
    assert np.isfinite(found["mean_test_score"]).tolist() == [True] * 3 + [False] * 3
    for i in range(5):
        np.testing.assert_array_equal(found[f"split{i}_test_score"][:3], whole[f"split{i}_test_score"][:3])
        assert np.isnan(found[f"split{i}_test_score"][3:]).all()
        assert found[f"split{i}_status"].tolist() == ["optimal"] * 3 + [None] * 3
    assert not hasattr(model, "best_index_")


def test_a_time_limit_is_for_the_whole_fit(data):
    model = SparseRegressorCV(ks=3, time_limit=0.0)
    with pytest.raises(RuntimeError, match=r"20 of 20 searches were cut off: no size is complete"):
        model.fit(*data)
    assert np.isnan(model.cv_results_["mean_test_score"]).all()
    assert SparseRegressorCV(ks=3, time_limit=np.inf).fit(*data).k_ == 3


@pytest.mark.parametrize("limit", [{"search_time_limit": 0.0}, {"node_limit": 0, "method": "paper"}])
def test_searches_that_a_limit_of_their_own_stops_are_scored_and_named(data, limit):
    model = SparseRegressorCV(ks=[0, 2], cv=3, **limit)
    with pytest.warns(ConvergenceWarning) as told:
        model.fit(*data)
    # The final fit has its own warning.
    said = str(told[0].message)
    assert "searches ended without a proof" in said
    assert "k=2 in split 0, 1, 2" in said
    assert np.isfinite(model.cv_results_["mean_test_score"]).all()
    assert model.cv_results_["split1_status"][1].endswith("_limit")


def test_what_the_scorer_and_the_data_refuse_comes_through(data):
    X, y = data

    def scorer(model, X, y):
        raise ArithmeticError("no score")

    with pytest.raises(ArithmeticError, match="no score"):
        SparseRegressorCV(ks=2, scoring=scorer, n_jobs=2).fit(X, y)
    folds = [(np.arange(10), np.arange(10, 120)), (np.arange(10, 120), np.arange(10))]
    with pytest.raises(ValueError, match=r"class|label"):
        SparseClassifierCV(ks=2, cv=folds).fit(X, np.arange(120) < 60)


def tally(*means):
    """Return a tally of two folds per size with a standard error of 0.1; None is for a missing size."""
    scores = Tally(list(range(len(means))), [1.0], 2)
    for k, mean in enumerate(means):
        if mean is not None:
            scores.scores.enter(0, k, 0, mean - 0.1, "optimal", 1, None)
            scores.scores.enter(0, k, 1, mean + 0.1, "optimal", 1, None)
    return scores


def test_of_what_is_there_only_what_has_stopped_rising_is_chosen():
    assert tally(0.2, 0.75, 0.85, 0.9, 0.89).choose("one-se") == 2
    assert tally(0.2, 0.75, 0.85, 0.9, 0.89).choose("best") == 3
    assert tally(0.2, 0.9).choose("one-se") == 1
    for rising in (tally(0.1, 0.5, 0.9, None), tally(0.1, None, 0.9)):
        with pytest.raises(RuntimeError, match="still rising"):
            rising.choose("one-se")
    with pytest.raises(RuntimeError, match="no size is complete"):
        tally(None, 0.9).choose("one-se")
    with pytest.warns(ConvergenceWarning, match="among the complete sizes k=0, 1, 2 only"):
        assert tally(0.1, 0.85, 0.9, None).choose("one-se") == 1
    with pytest.raises(RuntimeError, match="still rising"):
        tally(0.1, 0.85, 0.9, None).choose("best")


def test_prices_of_a_feature_are_candidates(data):
    X, y = data
    prices = [0.05, 0.5, 5.0]
    model = SparseRegressorCV(l0_penalties=prices, cv=3).fit(X, y)
    found = model.cv_results_
    assert found["param_l0_penalty"].tolist() == [5.0, 0.5, 0.05]
    assert found["param_k"].tolist() == [X.shape[1]] * 3
    assert found["mean_n_features"][0] == 0
    for at, price in enumerate(found["param_l0_penalty"]):
        single = SparseRegressorCV(ks=[X.shape[1]], l0_penalty=price, cv=3).fit(X, y)
        for i in range(3):
            assert found[f"split{i}_test_score"][at] == pytest.approx(single.cv_results_[f"split{i}_test_score"][0])
    chosen = found["params"][model.best_index_]
    assert (model.l0_penalty_, model.k_) == (chosen["l0_penalty"], X.shape[1])
    assert model.result_.l0_penalty == model.l0_penalty_
    fit = SparseRegressor(k=None, l0_penalty=model.l0_penalty_).fit(X, y)
    assert fit.objective_ == pytest.approx(model.objective_)
    # A number in ks only limits the size, and a list of sizes is tried at every price.
    assert SparseRegressorCV(1, l0_penalties=prices).fit(X, y).cv_results_["param_k"].tolist() == [1] * 3
    both = SparseRegressorCV([1, 2], l0_penalties=prices, ridges=[1e-3, 0.1]).fit(X, y)
    assert len(both.cv_results_["params"]) == 12
    # A single price applies to all sizes, like l0_penalty.
    one = SparseRegressorCV(3, l0_penalties=0.05).fit(X, y)
    assert one.cv_results_["param_k"].tolist() == [0, 1, 2, 3]
    assert one.l0_penalty_ == 0.05


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"l0_penalties": [1.0, -1.0]}, "'l0_penalties' parameter of SparseRegressorCV must be a float"),
        ({"l0_penalties": []}, "must not be empty"),
        ({"l0_penalties": [1.0], "l0_penalty": 1.0}, "got both"),
    ],
)
def test_what_is_no_list_of_prices_is_refused(data, parameters, reason):
    with pytest.raises(ValueError, match=reason):
        SparseRegressorCV(**parameters).fit(*data)


def test_of_prices_that_are_cut_off_the_highest_are_complete(data):
    with pytest.raises(RuntimeError, match="no price is complete"):
        SparseRegressorCV(l0_penalties=[0.1, 1.0], time_limit=0.0).fit(*data)
    scores = Tally([9], [1.0], 2, [1.0, 2.0, 4.0])
    for at, mean in enumerate((0.9, 0.85)):
        for fold in range(2):
            scores.scores.enter(at, 0, fold, mean - 0.1 + 0.2 * fold, "optimal", 1, None)
    with pytest.warns(ConvergenceWarning, match="among the complete prices l0_penalty=4, 2 only"):
        assert scores.choose("best") == 0


def test_searches_without_a_prospect_are_named_with_what_would_help():
    scores = Tally([1, 2], [0.01], 2)
    for k in range(2):
        scores.scores.enter(0, k, 0, 0.5, "optimal", 1, None)
        scores.scores.enter(0, k, 1, 0.6, "time_limit" if k else "optimal", 1, (1e9, 0.2) if k else None)
    with pytest.warns(ConvergenceWarning) as told:
        scores.choose("best")
    assert len(told) == 2
    said = str(told[1].message)
    assert "1 search had no prospect of ending (k = 2 in fold 2)" in said
    assert "ridges=0.2" in said
    found = scores.results()
    assert found["split1_hopeless"].tolist() == [False, True]
    assert found["split0_hopeless"].tolist() == [False, False]
