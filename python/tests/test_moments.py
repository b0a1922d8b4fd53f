"""Fits of moments agree with fits of their rows."""

import copy
import itertools
import pickle

import dask.array as da
import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from l0star import (
    Moments,
    SparseClassifier,
    SparseRegressor,
    SparseRegressorCV,
    solve,
    sparse_path,
    stability,
)

NAMES = [f"f{j}" for j in range(8)]


@pytest.fixture
def rows():
    """Return features far from zero, a target and weights."""
    rng = np.random.default_rng(3)
    X = 1e6 + rng.normal(size=(3000, 8)) + 0.5 * rng.normal(size=(3000, 1))
    y = (X[:, 1] - 1e6) - 2 * (X[:, 4] - 1e6) + 0.5 * rng.normal(size=3000)
    return X, y, rng.integers(0, 4, size=3000).astype(float)


def same(one, other):
    assert one.status == other.status == "optimal"
    assert one.features == other.features
    assert one.objective == pytest.approx(other.objective, rel=1e-9)
    assert one.coef == pytest.approx(other.coef, rel=1e-6, abs=1e-9)
    assert one.intercept == pytest.approx(other.intercept, rel=1e-6)
    assert one.lower_bound <= other.objective
    assert one.bic == pytest.approx(other.bic, rel=1e-9)
    for name in ("r2", "rmse", "rows"):
        assert one.metrics["training"][name] == pytest.approx(other.metrics["training"][name], rel=1e-8)


def test_batches_add_up_to_the_rows(rows):
    X, y, w = rows
    whole = solve(X, y, k=2, sample_weight=w)
    cuts = [0, 1, 700, 701, 2500, 3000]
    parts = [Moments().partial_fit(X[a:b], y[a:b], w[a:b]) for a, b in itertools.pairwise(cuts)]
    one_by_one = Moments()
    for a, b in itertools.pairwise(cuts):
        assert one_by_one.partial_fit(X[a:b], y[a:b], sample_weight=w[a:b]) is one_by_one
    for moments in (one_by_one, sum(parts), sum(reversed(parts)), Moments().merge(*parts), Moments() + sum(parts)):
        assert moments.n_rows == np.count_nonzero(w)
        assert moments.weight == w.sum()
        same(solve(moments, k=2), whole)
    assert parts[2].n_rows == np.count_nonzero(w[700:701]), "merging leaves the others as they are"


def test_a_result_says_what_it_is_about(rows, tmp_path):
    X, y, _ = rows
    moments = Moments(NAMES, target="price").partial_fit(X, y)
    result = solve(moments, k=2, prices=True, top=2)
    assert result.headline.startswith("proved optimal for these moments: ")
    assert result.moments["rows"] == 3000
    assert 0 < result.moments["bound_lowered_by"] < 1e-9
    assert "for these moments" in str(result)
    assert solve(X, y, k=2).moments is None
    result.report(tmp_path / "page.html")
    assert "for these moments" in (tmp_path / "page.html").read_text()
    path = sparse_path(moments, k_max=3)
    plain = sparse_path(pd.DataFrame(X, columns=NAMES), y, k_max=3)
    assert [one.features for one in path] == [one.features for one in plain]


def test_constraints_go_by_name(rows):
    X, y, _ = rows
    frame = pd.DataFrame(X, columns=NAMES)
    asked = {"k": 3, "include": "f0", "exclude": ["f7"], "groups": [["f4", "f5"]], "nonnegative": ["f1"], "refit": True}
    same(solve(Moments().partial_fit(frame, y), **asked), solve(frame, y, **asked))


def test_the_estimator_takes_moments(rows, tmp_path):
    X, y, _ = rows
    frame = pd.DataFrame(X, columns=NAMES)
    model = SparseRegressor(k=2).fit(Moments().partial_fit(frame, pd.Series(y, name="price")))
    plain = SparseRegressor(k=2).fit(frame, y)
    assert list(model.feature_names_in_) == NAMES
    assert model.predict(frame) == pytest.approx(plain.predict(frame), abs=1e-6)
    assert model.transform(frame).shape == (3000, 2)
    model.save(tmp_path / "model.json")
    unnamed = SparseRegressor(k=2).fit(Moments().partial_fit(X, y))
    assert unnamed.predict(X) == pytest.approx(plain.predict(frame), abs=1e-6)


def test_copies_pickles_and_files(rows, tmp_path):
    X, y, _ = rows
    moments = Moments(NAMES).partial_fit(X, y)
    moments.save(tmp_path / "m.l0m")
    again = [
        pickle.loads(pickle.dumps(moments)),
        copy.deepcopy(moments),
        moments.copy(),
        Moments.load(tmp_path / "m.l0m"),
    ]
    for other in again:
        assert solve(other, k=2).objective == solve(moments, k=2).objective
        assert other.feature_names == NAMES
    assert pickle.loads(pickle.dumps(Moments())).n_rows == 0
    whole = (tmp_path / "m.l0m").read_bytes()
    for length in range(len(whole)):
        (tmp_path / "m.l0m").write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"m\.l0m' holds moments that cannot be read: it is cut off"):
            Moments.load(tmp_path / "m.l0m")


def test_sources_of_batches(rows):
    X, y, w = rows
    frame = pd.DataFrame(X, columns=NAMES).assign(y=y, w=w)
    arrow = pa.Table.from_pandas(frame)
    whole = solve(frame[NAMES], y, k=2, sample_weight=w)
    named = {"target": "y", "sample_weight": "w"}
    sources = [
        arrow,
        arrow.to_batches(max_chunksize=512),
        pa.RecordBatchReader.from_batches(arrow.schema, arrow.to_batches(max_chunksize=100)),
        pl.from_pandas(frame),
        duckdb.sql("SELECT * FROM arrow"),
        (frame.iloc[at : at + 1000] for at in range(0, 3000, 1000)),
        (pl.from_pandas(frame.iloc[at : at + 1000]) for at in range(0, 3000, 1000)),
    ]
    for source in sources:
        moments = Moments.from_batches(source, **named)
        assert moments.target == "y"
        same(solve(moments, k=2), whole)
    pairs = Moments.from_batches((X[at : at + 500], y[at : at + 500], w[at : at + 500]) for at in range(0, 3000, 500))
    assert solve(pairs, k=2).objective == pytest.approx(whole.objective, rel=1e-9)
    with pytest.raises(ValueError, match="no column 'z'"):
        Moments.from_batches(arrow, target="z")
    with pytest.raises(ValueError, match="Column 'f0' does not hold numbers"):
        Moments.from_batches(pa.table({"f0": ["a", "b"], "y": [1.0, 2.0]}), target="y")


def test_dask_frames_and_arrays(rows):
    X, y, w = rows
    frame = pd.DataFrame(X, columns=NAMES).assign(y=y, w=w)
    whole = solve(frame[NAMES], y, k=2, sample_weight=w)
    for parts in (1, 5):
        ddf = dd.from_pandas(frame, npartitions=parts)
        same(solve(Moments.from_dask(ddf, target="y", sample_weight="w"), k=2), whole)
    arrays = [da.from_array(values, chunks=(700,) * values.ndim) for values in (X, y, w)]
    moments = Moments.from_dask(arrays[0], target=arrays[1], sample_weight=arrays[2])
    assert solve(moments, k=2).objective == pytest.approx(whole.objective, rel=1e-9)


def test_sparse_batches(rows):
    X, y, _ = rows
    X = np.where(np.abs(X - 1e6) > 1, X - 1e6, 0.0)
    same(solve(Moments().partial_fit(sp.csr_matrix(X), y), k=2), solve(X, y, k=2))


def test_what_needs_rows_is_refused(rows):
    X, y, w = rows
    moments = Moments().partial_fit(X, y)
    with pytest.raises(TypeError, match="leave y out"):
        solve(moments, 3)
    with pytest.raises(ValueError, match="huber"):
        solve(moments, k=3, loss="huber")
    with pytest.raises(ValueError, match="holdout needs the rows"):
        solve(moments, k=3, holdout=0.2)
    with pytest.raises(ValueError, match="sample_weight needs the rows"):
        solve(moments, k=3, sample_weight=w)
    with pytest.raises(TypeError, match="classifier"):
        SparseClassifier(k=2).fit(moments)
    with pytest.raises(TypeError, match="SparseRegressorCV needs the rows"):
        SparseRegressorCV().fit(moments)
    with pytest.raises(TypeError, match="stability needs the rows"):
        stability(moments, None, k=2)
    with pytest.raises(ValueError, match="no rows"):
        solve(Moments(), k=2)
    with pytest.raises(ValueError, match="7 features, but these are moments of 8"):
        moments.partial_fit(X[:, :7], y)
    with pytest.raises(ValueError, match="'f1' here, 'g' there"):
        Moments(["f0", "f1"]).merge(Moments(["f0", "g"]).partial_fit(X[:, :2], y))
    with pytest.raises(TypeError, match="merge takes Moments"):
        moments.merge(X)
    with pytest.raises(ValueError, match="NaN"):
        moments.partial_fit(np.full((2, 8), np.nan), [1.0, 2.0])
    assert moments.n_rows == 3000
