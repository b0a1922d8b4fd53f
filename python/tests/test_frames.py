"""Frames with text, missing values and dates: features as the command makes them, model files, exports."""

import datetime
import json
import pickle
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

import l0star
from l0star import SparseClassifier, SparseRegressor, SparseRegressorCV, solve, sparse_path


def table(rows=60):
    rng = np.random.default_rng(3)
    age = rng.integers(20, 70, rows)
    clinic = np.array(["north", "south", "west", 'it\'s "x"'], dtype=object)[rng.integers(0, 4, rows)]
    clinic[:2] = "island"
    salt = rng.normal(size=rows).round(3)
    salt[[4, 9]] = np.nan
    smoker = rng.integers(0, 2, rows).astype(bool)
    effect = pd.Series(clinic).map({"north": 1.0, "south": 3.0, "west": -4.0}).fillna(0.5).to_numpy()
    y = 0.5 * age + effect + np.nan_to_num(salt) + 2 * smoker + rng.normal(scale=0.1, size=rows)
    X = pd.DataFrame({"age": age, "clinic": clinic, "salt": salt, "smoker": smoker})
    return X, pd.Series(y, name="pressure")


def test_text_is_a_group_of_indicators():
    X, y = table()
    result = solve(X, y, 2, impute="mean")
    assert "clinic=(other)" in result.names
    assert result.record["constraints"]["groups"][0]["name"] == "clinic"
    by_hand = X.drop(columns=["clinic", "salt"]).astype(float)
    by_hand["salt"] = X.salt.fillna(X.salt.mean())
    for level in ['it\'s "x"', "north", "south", "west"]:
        by_hand[level] = (X.clinic == level).astype(float)
    by_hand["other"] = (X.clinic == "island").astype(float)
    levels = list(by_hand.columns[3:])
    hand = solve(by_hand, y, 2, groups=[levels])
    assert result.objective == pytest.approx(hand.objective, rel=1e-9)
    assert sparse_path(X, y, k_max=2, impute="mean")[2].objective == pytest.approx(hand.objective, rel=1e-9)


def test_every_kind_of_frame_gives_the_same():
    X, y = table()
    expected = SparseRegressor(3, impute="mean").fit(X, y)
    kinds = {
        "category": X.assign(clinic=X.clinic.astype("category")),
        "string": X.assign(clinic=X.clinic.astype("string"), salt=X.salt.astype("Float64")),
        "polars": pl.from_pandas(X.assign(clinic=X.clinic.astype(str))),
        "polars categories": pl.from_pandas(X.assign(clinic=X.clinic.astype(str))).with_columns(
            pl.col("clinic").cast(pl.Categorical)
        ),
        "arrow": pl.from_pandas(X.assign(clinic=X.clinic.astype(str))).to_arrow(),
    }
    for kind, frame in kinds.items():
        model = SparseRegressor(3, impute="mean").fit(frame, y)
        assert model.result_.coefficients == expected.result_.coefficients, kind
        np.testing.assert_array_equal(model.predict(frame), expected.predict(X), err_msg=kind)


def test_estimators_name_and_select_the_columns_of_the_frame():
    X, y = table()
    model = SparseRegressor(2, impute="mean", include="clinic").fit(X, y)
    assert model.n_features_in_ == 4
    assert "clinic" in model.get_feature_names_out()
    again = pickle.loads(pickle.dumps(clone(model).fit(X, y)))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    chosen = SparseRegressorCV(3, impute="mean").fit(X, y)
    assert chosen.predict(X).shape == (60,)


def test_all_problem_columns_are_named_at_once():
    X, y = table()
    X["id"] = [f"P{i}" for i in range(60)]
    X["visit"] = pd.date_range("2024-01-01", periods=60)
    X["price"] = [f"${i},200" for i in range(60)]
    with pytest.raises(ValueError, match="4 columns need a decision") as refused:
        solve(X, y, 2)
    text = str(refused.value)
    assert text.endswith('add: exclude=["id"], as_number=["price"], dates="days", impute="mean"')
    result = solve(X, y, 2, exclude=["id"], as_number=["price"], dates="days", impute="mean")
    assert {"visit", "price"} <= set(result.names)
    assert "id" not in result.names


def test_dates_are_days():
    days = pd.date_range("2024-01-01", periods=30, freq="7h")
    X = pd.DataFrame({"when": days, "x": np.arange(30) % 7})
    y = np.arange(30.0)
    model = SparseRegressor(2, dates="days").fit(X, y)
    plain = X.assign(when=(days - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1))
    np.testing.assert_allclose(model.coef_, SparseRegressor(2).fit(plain, y).coef_, rtol=1e-9)
    assert SparseRegressor(1, dates="drop").fit(X, y).result_.features == ["x"]


def test_a_model_file_is_a_fitted_estimator(tmp_path):
    X, y = table()
    model = SparseRegressor(3, impute="mean").fit(X, y)
    model.save(tmp_path / "m.json")
    loaded = l0star.load(tmp_path / "m.json")
    assert isinstance(loaded, SparseRegressor)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.status_ == "optimal"
    assert loaded.result_.coefficients == model.result_.coefficients
    loaded.save(tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text()) == json.loads((tmp_path / "m.json").read_text())
    with pytest.raises(ValueError, match="lacks"):
        loaded.predict(X.drop(columns="age"))
    labels = np.where(y > y.median(), "ill", "well")
    classifier = SparseClassifier(2, impute="mean").fit(X, labels)
    classifier.save(tmp_path / "c.json")
    again = l0star.load(tmp_path / "c.json")
    np.testing.assert_array_equal(again.predict(X), classifier.predict(X))
    np.testing.assert_array_equal(again.predict_proba(X), classifier.predict_proba(X))
    with pytest.raises(OSError, match="cannot read"):
        l0star.load(tmp_path / "none.json")


def test_arrays_predict_in_the_order_of_the_command(tmp_path):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 6)), rng.normal(size=200)
    model = SparseRegressor(4).fit(X, y)
    model.save(tmp_path / "m.json")
    loaded = l0star.load(tmp_path / "m.json")
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(6)])
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(X))


def exported(labels):
    X, y = table()
    X["seen"] = [datetime.date(2024, 1, 1) + datetime.timedelta(days=5 * (i % 30)) for i in range(60)]
    options = {"impute": "mean", "dates": "days"}
    y = y + 0.02 * np.arange(60) % 30
    if labels:
        return X, SparseClassifier(4, **options).fit(X, np.where(y > y.median(), "it's", "well"))
    return X, SparseRegressor(4, **options).fit(X, y)


def with_gaps(X):
    """Add rows with missing numbers and with missing and unknown texts, for predictions."""
    extra = X.head(4).copy()
    extra["clinic"] = ["never seen", "north", "south", " west "]
    extra.loc[extra.index[1], "salt"] = np.nan
    return pd.concat([X, extra], ignore_index=True)


@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.filterwarnings("ignore::l0star.L0starWarning")
def test_databases_give_the_same_numbers(labels):
    X, model = exported(labels)
    X = with_gaps(X)
    scores = model.decision_function(X) if labels else model.predict(X)
    name = "score" if labels else "prediction"

    connection = duckdb.connect()
    connection.register("data", pl.from_pandas(X.assign(clinic=X.clinic.astype(str))).to_arrow())
    found = connection.sql(model.export("sql").rstrip().rstrip(";")).df()
    np.testing.assert_array_equal(found[name].to_numpy(), scores)

    lite = sqlite3.connect(":memory:")
    plain = X.assign(seen=X.seen.map(str), smoker=X.smoker.astype(int))
    plain.to_sql("data", lite, index=False)
    rows = pd.read_sql(model.export("sqlite"), lite)
    np.testing.assert_allclose(rows[name].to_numpy(), scores, rtol=1e-13)
    if labels:
        for frame in (found, rows):
            assert list(frame["prediction"]) == list(model.predict(X))
            np.testing.assert_allclose(frame["probability"], model.predict_proba(X)[:, 1], rtol=1e-12)


@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.filterwarnings("ignore::l0star.L0starWarning")
def test_python_code_gives_the_same_numbers(labels):
    X, model = exported(labels)
    X = with_gaps(X)
    scores = model.decision_function(X) if labels else model.predict(X)
    code = {}
    exec(model.export("python"), code)
    rows = X.to_dict("records")
    assert [code["score"](row) for row in rows] == list(scores)
    if labels:
        found = [code["predict"](row) for row in rows]
        assert [one["prediction"] for one in found] == list(model.predict(X))
        shares = [one["probability"] for one in found]
        np.testing.assert_allclose(shares, model.predict_proba(X)[:, 1], rtol=1e-14)
    with pytest.raises(ValueError, match="'age' is missing"):
        code["predict"]({**rows[0], "age": None})
