"""scikit-learn's conventions."""

import inspect
import pickle
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_breast_cancer, load_diabetes, make_classification
from sklearn.linear_model import LinearRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from l0star import (
    SparseClassifier,
    SparseClassifierCV,
    SparseCox,
    SparseCoxCV,
    SparseRegressor,
    SparseRegressorCV,
    solve,
    sparse_path,
)

CHECKED = [
    SparseRegressor(),
    SparseRegressor(loss="huber", standardize=True),
    SparseClassifier(),
    SparseClassifier(loss="squared-hinge"),
    SparseRegressorCV(ks=3, cv=3),
    # There are three classes, and twice as many columns as rows: proofs take long with a smaller ridge.
    SparseClassifierCV(ks=3, cv=3, ridges=0.1),
]


# No check is skipped or expected to fail.
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(CHECKED)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True, as_frame=True)


def test_tags():
    assert is_regressor(SparseRegressor())
    assert is_classifier(SparseClassifierCV())
    assert get_tags(SparseClassifier()).classifier_tags.multi_class
    assert get_tags(SparseClassifierCV()).classifier_tags.multi_class
    assert not get_tags(SparseClassifierCV(loss="squared-hinge")).classifier_tags.multi_class
    assert get_tags(SparseRegressor()).input_tags.sparse
    assert get_tags(SparseRegressor()).transformer_tags is not None


def test_fitted_attributes(diabetes):
    model = SparseRegressor(k=4).fit(*diabetes)
    assert model.status_ == "optimal"
    assert model.coef_.shape == (10,)
    assert list(model.support_) == list(np.flatnonzero(model.coef_)) == list(model.get_support(indices=True))
    assert model.gap_ == model.objective_ - model.lower_bound_
    assert model.n_nodes_ >= 0
    assert model.n_solver_calls_ > 0
    assert model.n_features_in_ == 10


def test_selects_features_in_a_pipeline(diabetes):
    X, y = diabetes
    pipeline = make_pipeline(
        StandardScaler(), PolynomialFeatures(2, include_bias=False), SparseRegressor(k=3), LinearRegression()
    )
    pipeline.set_output(transform="pandas").fit(X, y)
    assert list(pipeline[:-1].transform(X).columns) == ["bmi", "bp", "s5"]
    assert pipeline[-1].n_features_in_ == 3
    assert list(pipeline[:-1].get_feature_names_out()) == ["bmi", "bp", "s5"]


def test_grid_search_over_k(diabetes):
    search = GridSearchCV(SparseRegressor(), {"k": [1, 3], "ridge": [1e-3, 10.0]}, n_jobs=2).fit(*diabetes)
    assert search.best_params_ == {"k": 3, "ridge": 1e-3}


def test_clone_keeps_parameters_and_nothing_else(diabetes):
    model = SparseRegressor(k=2, exclude=["bmi"]).fit(*diabetes)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "coef_")


def test_constraints_and_lists(diabetes):
    X, y = diabetes
    constraints = {
        "groups": [["s1", "s2", "s3", "s4"]],
        "bounds": {"bmi": (0, 300)},
        "nonnegative": ["s5"],
        "ridge_factor": {"bp": 2.0},
        "include_free": "sex",
        "top": 3,
    }
    model = clone(SparseRegressor(k=3, **constraints)).fit(X, y)
    result = solve(X, y, 3, **constraints)
    np.testing.assert_array_equal(model.coef_, result.coef)
    assert model.coef_[2] == 300
    assert [found.features for found in model.solutions_] == [found.features for found in result.solutions]
    assert len(model.solutions_) == 3
    chosen = SparseRegressorCV(ks=4, **constraints).fit(X, y)
    assert chosen.coef_[2] <= 300
    assert len(chosen.solutions_) == 3
    assert len(SparseRegressor(k=2).fit(X, y).solutions_) == 1
    # Six columns are separate features, one of them free; the other four are one feature.
    assert SparseRegressorCV(ks=99, **constraints).fit(X, y).cv_results_["param_k"].tolist() == list(range(7))


def test_estimators_know_prices(diabetes):
    expected = solve(*diabetes, 3, prices=True).prices()
    for model in (SparseRegressor(k=3, prices=True), SparseRegressorCV(ks=[3], cv=2, prices=True)):
        assert clone(model).fit(*diabetes).prices_ == expected
    assert SparseRegressor(k=3).fit(*diabetes).prices_ is None
    with pytest.raises(ValueError, match="prices need an exact method"):
        SparseRegressor(k=3, prices=True, method="omp").fit(*diabetes)


def test_classifiers_know_constraints(cancer):
    X, y = cancer
    model = SparseClassifier(k=2, standardize=True, nonnegative=True, within=0.1).fit(X, y)
    assert (model.coef_ >= 0).all()
    best = model.solutions_[0].objective
    assert all(found.objective <= 1.1 * best * (1 + 1e-9) for found in model.solutions_)


def test_every_parameter_is_described():
    estimators = (
        *(SparseRegressor, SparseClassifier, SparseCox),
        *(SparseRegressorCV, SparseClassifierCV, SparseCoxCV),
    )
    for thing in (*estimators, solve, sparse_path):
        section = inspect.getdoc(thing).split("Parameters\n----------\n")[1].split("\n\n")[0]
        assert re.findall(r"^(\w+) : ", section, flags=re.MULTILINE) == list(inspect.signature(thing).parameters)


@pytest.mark.parametrize("labels", [("no", "yes"), (False, True), (0, 1), (-1, 1), (3.0, 7.0), ("b", "a")])
def test_labels_of_any_type(cancer, labels):
    X, y = cancer
    truth = np.where(y == 1, labels[1], labels[0])
    model = SparseClassifier(k=2, standardize=True).fit(X, truth)
    assert list(model.classes_) == sorted(labels)
    assert model.predict(X).dtype == truth.dtype
    assert model.score(X, truth) > 0.9
    assert model.coef_.shape == (1, 30)
    assert model.intercept_.shape == (1,)
    probability = model.predict_proba(X)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.log(probability), model.predict_log_proba(X), atol=1e-9)
    second = model.classes_[1]
    np.testing.assert_array_equal(model.predict(X) == second, probability[:, 1] > 0.5)
    np.testing.assert_array_equal(model.predict(X) == second, model.decision_function(X) > 0)


def test_labels_of_a_data_frame_column(cancer):
    X, y = cancer
    species = pd.Series(np.where(y == 1, "benign", "malignant"), dtype="category")
    assert list(SparseClassifier(k=1).fit(X, species).classes_) == ["benign", "malignant"]


def test_only_the_logistic_loss_has_probabilities(cancer):
    hinge = SparseClassifier(k=2, loss="squared-hinge").fit(*cancer)
    assert not hasattr(hinge, "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba"):
        hinge.predict_proba(cancer[0])
    assert hasattr(SparseClassifier(), "predict_proba")


def test_sample_weight_is_routed(diabetes):
    X, y = diabetes
    weights = np.where(np.arange(len(y)) < 50, 1.0, 0.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = SparseRegressor(k=2).set_fit_request(sample_weight=True, offset=True)
        pipeline = make_pipeline(StandardScaler(with_std=False).set_fit_request(sample_weight=False), model)
        pipeline.fit(X, y, sample_weight=weights, offset=weights)
        scorer = get_scorer("neg_mean_squared_error").set_score_request(sample_weight=True)
        scores = cross_val_score(model, X, y, params={"sample_weight": 1.0 + weights}, scoring=scorer, cv=3)
        chosen = SparseRegressorCV(ks=2).fit(X, y, sample_weight=1.0 + weights)
    alone = SparseRegressor(k=2).fit(X[:50], y[:50] - 1.0)
    assert list(pipeline[-1].support_) == list(alone.support_)
    np.testing.assert_allclose(pipeline[-1].coef_, alone.coef_)
    assert np.isfinite(scores).all()
    assert chosen.k_ == 2


def test_models_survive_pickling_across_processes(diabetes, tmp_path):
    X, y = diabetes
    for model in (SparseRegressor(k=3), SparseRegressorCV(ks=3)):
        model.fit(X, y)
        (tmp_path / "model.pickle").write_bytes(pickle.dumps(model))
        program = "import pickle, sys; m = pickle.load(open(sys.argv[1], 'rb')); print(m.result_.to_dict())"
        command = [sys.executable, "-c", program, str(tmp_path / "model.pickle")]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert printed.strip() == str(model.result_.to_dict())


def test_fits_are_deterministic():
    X, y = make_classification(80, 25, n_informative=4, random_state=0)
    first, second = (SparseClassifier(k=4).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(first.coef_, second.coef_)
    assert first.n_nodes_ == second.n_nodes_
