"""Data of all supported types, and error messages for bad data."""

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import sklearn

from l0star import SparseRegressor, solve, sparse_path

NAMES = ["a", "b", "c", "d", "e"]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(60, 5)) * 8)
    return X, X @ [3.0, 0.0, -2.0, 0.0, 0.5] + rng.normal(size=60)


LAYOUTS = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "every second row and column": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "unaligned": lambda X: np.frombuffer(b"\0" + X.tobytes(), dtype=np.uint8)[1:].view(X.dtype).reshape(X.shape),
    "big endian": lambda X: X.astype(">f8"),
    "read only": lambda X: np.frombuffer(X.tobytes()).reshape(X.shape),
    "single precision": lambda X: X.astype(np.float32),
    "half precision": lambda X: X.astype(np.float16),
    "integers": lambda X: X.astype(np.int8),
    "lists": lambda X: X.tolist(),
    "memory view": lambda X: memoryview(np.ascontiguousarray(X)),
    "csr": sp.csr_array,
    "csc": sp.csc_matrix,
    "coo": sp.coo_array,
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_model(data, layout):
    X, y = data
    expected = solve(X, y, 2)
    found = solve(LAYOUTS[layout](X), y, 2)
    np.testing.assert_allclose(found.objective, expected.objective, rtol=1e-12)
    np.testing.assert_allclose(found.coef, expected.coef, rtol=1e-9)
    assert found.features == ["x0", "x2"]


FRAMES = {
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "pandas, mixed types": lambda X: pd.DataFrame(X, columns=NAMES).astype({"a": "int64", "b": "float32"}),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "Arrow": lambda X: pa.table(dict(zip(NAMES, X.T, strict=True))),
}


@pytest.mark.parametrize("frame", FRAMES)
def test_names_of_frames_are_kept(data, frame):
    X, y = data
    table = FRAMES[frame](X)
    assert solve(table, y, 2).coefficients == pytest.approx(
        dict(zip(["a", "c"], solve(X, y, 2).coef[[0, 2]], strict=True))
    )
    assert solve(table, y, 2, exclude="c").features == ["a", "e"]
    model = SparseRegressor(k=2, exclude=["a"]).fit(table, y)
    assert model.result_.features == ["c", "e"]
    # scikit-learn 1.7, the last version for Python 3.10, does not recognise the names of polars 2.
    if frame != "polars" or not sklearn.__version__.startswith("1.7"):
        assert list(model.feature_names_in_) == NAMES
        assert list(model.get_feature_names_out()) == ["c", "e"]
    np.testing.assert_allclose(model.predict(table), X @ model.coef_ + model.intercept_)


@pytest.mark.parametrize("make", [pd.Series, pl.Series, pa.array, list])
def test_targets_and_weights_of_every_kind(data, make):
    X, y = data
    weights = np.arange(60.0)
    expected = solve(X, y, 2, sample_weight=weights, offset=y / 2)
    found = solve(X, make(y), 2, sample_weight=make(weights), offset=make(y / 2))
    assert found.objective == expected.objective


def test_dense_data_are_not_copied_on_the_python_side():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20_000, 40))
    y = X[:, 3] + rng.normal(size=20_000)
    model = SparseRegressor(k=1, method="omp").fit(X[:10], y[:10])
    for order in "CF":
        X = np.array(X, order=order)
        tracemalloc.start()
        model.fit(X, y)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < X.nbytes / 4


def test_sparse_matrices_stay_sparse():
    rng = np.random.default_rng(0)
    rows, columns = 100_000, 20_000
    X = sp.random_array((rows, columns), density=1e-5, rng=rng, format="csr")
    # As a dense array X would take 16 GB.
    y = X @ np.r_[np.zeros(columns - 2), 5.0, -5.0]
    assert list(solve(X, y, 2, method="omp", ridge=1e-9).support) == [columns - 2, columns - 1]


def test_a_sparse_matrix_of_the_user_is_not_changed(data):
    X, y = data
    # Rows are out of order, and one entry is split into two.
    parts = sp.csc_array((np.r_[1.0, 2.0, 3.0], np.r_[5, 1, 1], np.r_[0, 3, 3, 3, 3, 3]), shape=X.shape)
    before = parts.indices.copy()
    solve(parts, y, 2)
    np.testing.assert_array_equal(parts.indices, before)


def test_include_counts_in_k(data):
    X, y = data
    result = solve(X, y, 2, include=[1])
    assert list(result.support) == [0, 1]
    path = sparse_path(X, y, k_max=3, include=["x1", 3])
    assert [result.features for result in path] == [["x1", "x3"], ["x0", "x1", "x3"]]


def test_groups_by_lists_or_by_labels(data):
    X, y = data
    table = pd.DataFrame(X, columns=NAMES)
    expected = solve(X, y, 1, groups=[[0, 2], [1, 3]])
    assert list(expected.support) == [0, 2]
    for groups in (
        [["a", "c"], ["d", "b"]],
        [("a", 2), np.array([1, 3])],
        ["one", "two", "one", "two", "three"],
        np.array([5, 6, 5, 6, 7]),
        [1.0, 2.0, 1.0, 2.0, np.nan],
        [1, 2, 1, 2, None],
        pd.Series(["u", "v", "u", "v", None]),
    ):
        found = solve(table, y, 1, groups=groups)
        assert found.features == ["a", "c"]
        assert found.objective == expected.objective
    assert len(sparse_path(X, y, groups=[[0, 2], [1, 3]])) == 4
    assert [r.k for r in sparse_path(X, y, groups=[[0, 2], [1, 3]], include=[0, 2])] == [1, 2, 3]


def test_bounds_by_name_or_index(data):
    X, y = data
    table = pd.DataFrame(X, columns=NAMES)
    assert solve(table, y, 2, bounds={"a": (0, 2.5), 2: (-1, None)}).coefficients == pytest.approx({"a": 2.5, "c": -1})
    for nonnegative in (True, ["c"], "c", [2]):
        assert solve(table, y, 2, nonnegative=nonnegative).features == ["a", "e"]
    assert solve(table, y, 2, nonnegative=False).features == ["a", "c"]
    assert solve(table, y, 2, ridge_factor={"c": 1e6}).features == ["a", "e"]


def test_free_features_are_in_the_model_and_not_in_k(data):
    X, y = data
    result = solve(X, y, 1, include_free=["x1"])
    assert list(result.support) == [0, 1]
    assert [list(model.support) for model in solve(X, y, 1, include_free=1, top=2).solutions] == [[0, 1], [1, 2]]
    assert [len(result.support) for result in sparse_path(X, y, include_free=1)] == [1, 2, 3, 4, 5]


def test_features_that_require_others(data):
    X, y = data
    table = pd.DataFrame(X, columns=NAMES)
    assert solve(table, y, 1, requires={"a": "b"}).features == ["c"]
    assert solve(table, y, 2, requires={"a": ["b"], "c": ["d"]}).features == ["a", "b"]
    # Features required by an included one are included; features that require an excluded one are excluded.
    path = sparse_path(table, y, include="c", requires={"c": "d", "d": ["e"]})
    assert path[0].features == ["c", "d", "e"]
    assert path.ks.tolist() == [3, 4, 5]
    path = sparse_path(table, y, exclude="b", requires={"a": "b", "d": "a"})
    assert path.ks.tolist() == [0, 1, 2]
    assert path[-1].features == ["c", "e"]


BAD_INPUT = {
    "nan": (lambda X, y: solve(np.where(X > 0, np.nan, X), y, 2), "Input X contains NaN"),
    "infinite target": (lambda X, y: solve(X, np.append(y[1:], np.inf), 2), "Input y contains"),
    "rows": (lambda X, y: solve(X, y[:-1], 2), "inconsistent numbers of samples"),
    "one dimension": (lambda X, y: solve(y, y, 2), "Expected 2D array"),
    "text": (lambda X, y: solve(X.astype(str).astype(object) + "a", y, 2), "could not convert string"),
    "weights": (lambda X, y: solve(X, y, 2, sample_weight=-y), r"sample_weight\[\d+\] is -"),
    "short weights": (lambda X, y: solve(X, y, 2, sample_weight=y[:3]), "has 3 entries, but X has 60 rows"),
    "no name": (lambda X, y: solve(pd.DataFrame(X, columns=NAMES), y, 2, exclude="aa"), "Did you mean 'a'"),
    "no index": (lambda X, y: solve(X, y, 2, include=[7]), "no feature 7; X has 5 features"),
    "both": (lambda X, y: solve(X, y, 2, include=[1], exclude=[1]), "both excluded and always in"),
    "include above k": (lambda X, y: solve(X, y, 1, include=[1, 2]), "2 features are included, more than k = 1"),
    "label nan": (lambda X, y: solve(X, np.where(y > 0, 1.0, np.nan), 2, loss="logistic"), "Input y contains NaN"),
    "two of a name": (
        lambda X, y: solve(pd.DataFrame(X, columns=list("abbcd")), y, 2, exclude="b"),
        "there are 2 features 'b'; use their indices|'b' 2 times",
    ),
    "labels of groups": (lambda X, y: solve(X, y, 2, groups=[0, 0, 1]), "groups has 3 labels, but X has 5 features"),
    "name in a group": (lambda X, y: solve(X, y, 2, groups=[["x0", "x7"]]), "groups: there is no feature 'x7'"),
    "two groups": (lambda X, y: solve(X, y, 2, groups=[[0, 1], [1, 2]]), "groups must be disjoint"),
    "free in a group": (lambda X, y: solve(X, y, 2, groups=[[0, 1]], include_free=0), "always in by itself"),
    "bounds without zero": (lambda X, y: solve(X, y, 2, bounds={"x1": (1, 2)}), "'x1' has the bounds 1 to 2"),
    "bounds that are nan": (lambda X, y: solve(X, y, 2, bounds={1: (np.nan, 2)}), "'x1' has the bounds NaN to 2"),
    "one bound": (lambda X, y: solve(X, y, 2, bounds={"x1": 3.0}), r"bounds\['x1'\] must be a pair"),
    "text as bound": (lambda X, y: solve(X, y, 2, bounds={0: (0, "1")}), r"bounds\[0\] must be a number. Got '1'"),
    "bounds twice": (lambda X, y: solve(X, y, 2, bounds={0: (0, 1), "x0": (0, 2)}), "the same feature twice"),
    "circle": (lambda X, y: solve(X, y, 2, requires={0: 1, 1: [0]}), "requirements must not form a circle"),
    "ridge factor": (lambda X, y: solve(X, y, 2, ridge_factor={0: 0.0}), "ridge factor of a column = 0"),
    "method with bounds": (
        lambda X, y: solve(X, y, 2, nonnegative=True, method="omp"),
        "method 'omp' cannot solve problems with bounds",
    ),
    "top": (lambda X, y: solve(X, y, 2, top=0), r"'top' parameter of solve must be an int in the range \[1"),
    "within": (lambda X, y: solve(X, y, 2, within=-0.1), "'within' parameter of solve must be a float"),
    "list with a gap": (lambda X, y: solve(X, y, 2, top=2, gap=0.1), "exact and takes no gap"),
    "list of another method": (lambda X, y: solve(X, y, 2, top=2, method="paper"), "best-first or exhaustive"),
    "prices of a heuristic": (lambda X, y: solve(X, y, 2, prices=True, method="omp"), "prices need an exact method"),
    "no prices": (lambda X, y: solve(X, y, 2).prices(), "solve with prices=True"),
    "k": (lambda X, y: solve(X, y, -1), "'k' parameter of solve must be an int in the range"),
    "k as float": (lambda X, y: solve(X, y, 2.0), "'k' parameter of solve must be an int"),
    "ridge": (lambda X, y: solve(X, y, 2, ridge=0.0), r"'ridge' parameter of solve must be a float in the range \(0.0"),
    "gap": (lambda X, y: solve(X, y, 2, gap=-1), r"'gap' parameter of solve must be a float in the range \[0.0"),
    "relative gap": (lambda X, y: solve(X, y, 2, relative_gap=1.0), "relative_gap = 1 is out of range"),
    "loss": (lambda X, y: solve(X, y, 2, loss="l1"), "'loss' parameter of solve must be a str among {'quadratic'"),
    "loss of a regressor": (
        lambda X, y: SparseRegressor(loss="logistic").fit(X, y),
        "of SparseRegressor must be a str",
    ),
    "relaxation": (lambda X, y: solve(X, y, 2, relaxation="sga"), "belongs to method='paper'"),
    "threads": (lambda X, y: solve(X, y, 2, n_jobs=0), "'n_jobs' parameter of solve must be an int other than 0"),
    "limit": (lambda X, y: solve(X, y, 2, time_limit="30s"), "'time_limit' parameter of solve must be a float"),
    "classes": (lambda X, y: solve(X, np.arange(60) % 3, 2, loss="logistic"), "Only binary classification"),
    "one class": (lambda X, y: solve(X, np.ones(60, int), 2, loss="logistic"), "at least 2 classes"),
    "one class by weight": (
        lambda X, y: solve(X, y > 0, 2, loss="logistic", sample_weight=(y > 0).astype(float)),
        "Only one class has a sample weight above zero",
    ),
    "texts": (
        lambda X, y: solve(X, np.where(y > 0, "malignant", "benign"), 2),
        "y has two labels, 'benign' and 'malignant', where numbers are needed: use loss=\"logistic\"",
    ),
    "texts for a regressor": (
        lambda X, y: SparseRegressor(k=2).fit(X, pd.Series(np.where(y > 0, "malignant", "benign"))),
        "'benign' and 'malignant', where numbers are needed: use SparseClassifier",
    ),
    "three texts": (lambda X, y: solve(X, np.array(["a", "b", "c"])[np.arange(60) % 3], 2), "could not convert string"),
    "supports": (lambda X, y: solve(np.ones((9, 99)), y[:9], 9, method="exhaustive"), "supports are too many"),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_refused_with_a_reason(data, case):
    call, reason = BAD_INPUT[case]
    with pytest.raises(ValueError, match=reason):
        call(*data)


def test_constraints_have_the_right_type(data):
    for wrong in ({"groups": "ab"}, {"groups": 3}, {"bounds": [(0, 1)]}, {"ridge_factor": 2.0}, {"requires": [(0, 1)]}):
        with pytest.raises(TypeError, match="takes a"):
            solve(*data, 2, **wrong)


def test_features_are_names_or_indices(data):
    for wrong in (1.5, True, [None]):
        with pytest.raises(TypeError, match="names or indices"):
            solve(*data, 2, include=wrong)
