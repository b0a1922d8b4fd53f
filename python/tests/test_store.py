"""Column stores: the same models and proofs as from arrays in memory, and detection of damage."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from l0star import (
    ColumnStore,
    SparseClassifier,
    SparseClassifierCV,
    SparseRegressor,
    penalty_path,
    solve,
    sparse_path,
    stability,
)

NAMES = [*(f"x{j}" for j in range(8)), "w", "y", "label"]


def table(rows=1500):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(rows, 8)) + np.arange(8)
    y = X[:, 2] - 0.5 * X[:, 6] + rng.normal(size=rows)
    label = (y > np.median(y)).astype(float)
    return np.column_stack([X, rng.integers(0, 3, rows), y, label])


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "data.l0d"
    ColumnStore.write(file, table(), names=NAMES)
    return file


def test_what_is_written_is_read(tmp_path):
    values = table()
    for dtype in (np.float64, np.float32):
        store = ColumnStore.write(tmp_path / "a.l0d", values, dtype=dtype)
        assert store.dtype == dtype
        assert store.shape == values.shape
        assert store.target is None
        assert_array_equal(store["x4"], values[:, 4].astype(dtype))
    np.save(tmp_path / "a.npy", values)
    mapped = ColumnStore.write(tmp_path / "b.l0d", np.load(tmp_path / "a.npy", mmap_mode="r"), names=NAMES)
    assert_array_equal(mapped["label"], values[:, 10])
    assert repr(mapped).endswith("b.l0d', 1500 rows, 11 features)")


@pytest.mark.parametrize("loss", ["quadratic", "huber", "logistic"])
def test_fits_are_those_of_the_array(file, loss):
    values = table()
    target = "label" if loss == "logistic" else "y"
    store = ColumnStore(file, target=target, drop=set(NAMES[8:]) - {target})
    y = values[:, NAMES.index(target)]
    for weights in (None, values[:, 8]):
        expected = solve(values[:, :8], y, k=2, loss=loss, sample_weight=weights)
        found = solve(store, k=2, loss=loss, sample_weight=None if weights is None else store["w"])
        assert found.status == "optimal"
        assert found.features == expected.features
        assert_allclose(found.objective, expected.objective, rtol=1e-9)
        assert found.lower_bound <= expected.objective
        assert_allclose(found.coef, expected.coef, rtol=1e-6, atol=1e-9)
    again = solve(ColumnStore(file, drop=NAMES[8:]), y, k=2, loss=loss)
    assert_allclose(again.objective, solve(store, k=2, loss=loss).objective, rtol=1e-12)


def test_estimators_and_paths(file):
    values = table()
    store = ColumnStore(file, target="y", drop=["w", "label"])
    model = SparseRegressor(k=2, loss="huber").fit(store)
    assert list(model.get_feature_names_out()) == ["x2", "x6"]
    assert_allclose(model.predict(values[:3, :8]), values[:3, [2, 6]] @ model.coef_[[2, 6]] + model.intercept_)
    classifier = SparseClassifier(k=2).fit(ColumnStore(file, target="label", drop=["w", "y"]))
    assert classifier.score(values[:, :8], values[:, 10]) > 0.7
    path = sparse_path(store, k_max=2)
    assert [result.features for result in path] == [[], ["x2"], ["x2", "x6"]]


def test_a_store_travels_by_its_name(file):
    store = pickle.loads(pickle.dumps(ColumnStore(file, target="y", drop=["w", "label"])))
    with ThreadPoolExecutor(2) as executor:
        assert solve(store, k=2, client=executor).features == ["x2", "x6"]
    assert len(pickle.dumps(store)) < 2000


def test_what_needs_rows_in_memory_is_refused(file):
    store = ColumnStore(file, target="y")
    with pytest.raises(ValueError, match="holdout needs the rows in memory"):
        solve(store, k=2, holdout=0.2)
    for attempt in (
        lambda: penalty_path(store, None),
        lambda: stability(store, None, k=2),
        lambda: SparseClassifierCV().fit(store, store["label"]),
        lambda: solve(store, store["y"], k=1, loss="cox", event=store["label"]),
    ):
        with pytest.raises(TypeError, match="needs the rows in memory"):
            attempt()
    with pytest.raises(ValueError, match="The target is missing"):
        solve(ColumnStore(file), k=2)
    with pytest.raises(ValueError, match="no feature 'yy'"):
        ColumnStore(file, target="yy")
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        solve(store, np.zeros(3), k=2)


def test_damage_is_refused(file, tmp_path):
    whole = file.read_bytes()
    for damaged, words in (
        (whole[:-100], "cut short"),
        (whole[:5000], "cut short"),
        (whole[:-6000] + bytes([whole[-6000] ^ 1]) + whole[-5999:], "'label' is damaged"),
        (whole[:8] + b"\7" + whole[9:], "version 7"),
    ):
        bad = Path(tmp_path / "bad.l0d")
        bad.write_bytes(damaged)
        with pytest.raises(ValueError, match=words):
            ColumnStore(bad)
    with pytest.raises(ValueError, match="cannot read"):
        ColumnStore(tmp_path / "none.l0d")
    with pytest.raises(ValueError, match="row 2"):
        ColumnStore.write(tmp_path / "nan.l0d", [[1.0], [np.nan]])
    assert not (tmp_path / "nan.l0d").exists()


def test_a_file_that_changed_is_refused(file):
    store = ColumnStore(file, target="y")
    with file.open("ab") as longer:
        longer.write(b"more")
    with pytest.raises(ValueError, match="was changed while it was used"):
        solve(store, k=2)
