"""Warnings about data for which a fit should not be trusted: the command's messages, in Python's terms."""

import warnings

import numpy as np
import pytest

from l0star import L0starWarning, SparseRegressor, SparseRegressorCV, solve, sparse_path


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 4))
    return X, X @ [1.0, -2.0, 0.0, 0.5] + 0.1 * rng.normal(size=40)


def told(work):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = work()
    assert all(one.category is L0starWarning and one.filename == __file__ for one in caught)
    return result, [str(one.message) for one in caught]


def test_good_data_need_no_warning(data):
    result, found = told(lambda: solve(*data, 2))
    assert found == result.warnings == []


def test_scales_far_apart(data):
    X, y = data[0] * [1.0, 1.0, 1e5, 1.0], data[1]
    result, found = told(lambda: solve(X, y, 2, standardize=False))
    assert len(found) == 1
    assert "the scales of the features differ by a factor of" in found[0]
    assert "with standardize=False the ridge holds back" in found[0]
    assert result.warnings == result.to_dict()["warnings"] == found
    assert told(lambda: solve(X, y, 2))[1] == []


def test_copies_and_constants(data):
    X, y = data
    twice = np.column_stack([X, -3.0 * X[:, 1] + 1.0, np.full(40, 7.0)])
    for fit in (lambda: solve(twice, y, 2), lambda: SparseRegressor(k=2).fit(twice, y), lambda: sparse_path(twice, y)):
        _, found = told(fit)
        assert len(found) == 2
        assert (
            "column 'x5' is constant: beside the intercept a constant says nothing; leave it out with exclude" in found
        )
        assert "'x1' and 'x4'" in found[1]
        assert "the result names the alternatives" in found[1]


def test_rows_without_weight_do_not_count(data):
    X, y = data
    X = np.column_stack([X, X[:, 1]])
    X[0, 4] = 99.0
    weights = np.ones(40)
    weights[0] = 0.0
    assert told(lambda: solve(X, y, 2))[1] == []
    assert "'x1' and 'x4'" in told(lambda: solve(X, y, 2, sample_weight=weights))[1][0]


def test_more_features_than_there_are_or_than_rows_can_tell_apart(data):
    X, y = data
    _, found = told(lambda: solve(X, y, 5))
    assert found == ["k is 5, more than the number of features (4): all of them may be in the model"]
    _, found = told(lambda: solve(X, y, 3, groups=[[0, 1, 2]]))
    assert "the number of features (2)" in found[0]
    _, found = told(lambda: SparseRegressor(k=3).fit(X[:3], y[:3]))
    assert "3 rows cannot tell so many coefficients apart" in found[0]


def test_cross_validation_warns_once(data):
    X, y = data[0] * [1.0, 1.0, 1e5, 1.0], data[1]
    _, found = told(lambda: SparseRegressorCV(ks=2, cv=4, standardize=False).fit(X, y))
    assert len(found) == 1


def test_warnings_can_be_errors(data):
    with warnings.catch_warnings():
        warnings.simplefilter("error", L0starWarning)
        with pytest.raises(L0starWarning, match="k is 9"):
            solve(*data, 9)
