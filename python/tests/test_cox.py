"""Cox models: fits agree with NumPy and statsmodels, the estimator behaves like those of scikit-survival."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.model_selection import KFold
from statsmodels.duration.hazard_regression import PHReg

import l0star
from l0star import SparseCox, SparseCoxCV, SparseRegressor, solve, sparse_path


def draw(rows=60, columns=6, seed=0, tied=True):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    time = rng.exponential(np.exp(-0.8 * X[:, 0] + 0.6 * X[:, 2]))
    return X, np.ceil(4 * time) if tied else time, rng.random(rows) < 0.7


def partial(z, time, event, ties, strata, entry):
    """Return the negative log partial likelihood by its definition."""
    total = 0.0
    for stratum in np.unique(strata):
        inside = strata == stratum
        for moment in np.unique(time[inside & event]):
            at_risk = inside & (time >= moment) & (entry < moment)
            tied = at_risk & event & (time == moment)
            count = tied.sum()
            whole, own = np.exp(z[at_risk]).sum(), np.exp(z[tied]).sum()
            shares = np.arange(count) / count if ties == "efron" else np.zeros(count)
            total += np.log(whole - shares * own).sum() - z[tied].sum()
    return total


@pytest.mark.parametrize("ties", ["efron", "breslow"])
@pytest.mark.parametrize("seed", range(3))
def test_the_best_of_all_supports_by_scipy(ties, seed):
    X, time, event = draw(rows=25, columns=5, seed=seed)
    rng = np.random.default_rng(seed)
    offset, strata, entry = rng.normal(size=25), rng.integers(2, size=25), time - rng.uniform(0.5, 4.0, size=25)
    result = solve(
        X,
        time,
        k=2,
        loss="cox",
        event=event,
        ties=ties,
        strata=strata,
        entry=entry,
        offset=offset,
        ridge=0.02,
        standardize=False,
    )

    def least(support):
        def objective(x):
            value = partial(X[:, support] @ x + offset, time, event, ties, strata, entry)
            return value / 25 + 0.01 * float(x @ x)

        return minimize(objective, np.zeros(2), method="BFGS", options={"gtol": 1e-9}).fun

    best = min(least(support) for support in combinations(range(5), 2))
    assert result.status == "optimal"
    assert result.objective == pytest.approx(best, rel=1e-7)
    assert result.lower_bound <= best * (1 + 1e-9)
    assert result.intercept == 0.0
    assert not result.fit_intercept


@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_without_the_ridge_coefficients_and_errors_are_those_of_statsmodels(ties):
    X, time, event = draw(rows=150)
    result = solve(X, time, k=2, loss="cox", event=event, ties=ties, refit=True)
    truth = PHReg(time, X[:, result.support], status=event.astype(int), ties=ties).fit()
    assert result.coef[result.support] == pytest.approx(truth.params, rel=1e-5)
    errors = [entry["standard_error"] for entry in result.to_dict()["inference"]["coefficients"]]
    assert errors == pytest.approx(list(truth.bse), rel=1e-4)


def structured(time, event):
    y = np.empty(len(time), dtype=[("status", bool), ("days", float)])
    y["status"], y["days"] = event, time
    return y


def test_the_estimator_takes_the_y_of_scikit_survival():
    X, time, event = draw(rows=120)
    model = SparseCox(k=2).fit(X, structured(time, event))
    assert model.status_ == "optimal"
    assert model.support_.tolist() == [0, 2]
    pair = SparseCox(k=2).fit(X, (time, event))
    assert np.array_equal(pair.coef_, model.coef_)
    assert model.predict(X) == pytest.approx(X @ model.coef_)
    assert model.transform(X).shape == (120, 2)
    assert clone(model).get_params()["ties"] == "efron"
    assert model.metrics_["training"]["concordance"] == pytest.approx(model.score(X, (time, event)))
    assert model.result_.to_dict()["hazard_ratios"]["x0"] == pytest.approx(np.exp(model.coef_[0]))
    with pytest.raises(ValueError, match="event"):
        model.fit(X, time)


def test_the_score_is_the_share_of_pairs_in_order():
    X, time, event = draw(rows=40)
    model = SparseCox(k=2).fit(X, (time, event))
    scores = model.predict(X)
    right = pairs = 0.0
    for i in np.flatnonzero(event):
        later = (time > time[i]) | ((time == time[i]) & ~event)
        pairs += later.sum()
        right += (scores[i] > scores[later]).sum() + 0.5 * (scores[i] == scores[later]).sum()
    assert model.score(X, (time, event)) == pytest.approx(right / pairs)


def test_survival_functions_are_those_of_the_baseline():
    X, time, event = draw(rows=80, tied=False)
    model = SparseCox(k=2, ties="breslow").fit(X, (time, event))
    scores = model.predict(X)
    times, hazard = model.baseline_[None]
    assert np.array_equal(times, np.sort(time[event]))
    expected = np.cumsum([1 / np.exp(scores[time >= moment] - scores.mean()).sum() for moment in times])
    assert hazard == pytest.approx(expected)
    assert model.mean_score_ == pytest.approx(scores.mean())
    curves = model.predict_survival_function(X)
    assert curves.shape == (80, len(times))
    assert curves == pytest.approx(np.exp(-np.outer(np.exp(scores - scores.mean()), expected)))
    at = model.predict_survival_function(X[:3], times=[0.0, times[0], 1e9])
    assert np.array_equal(at[:, 0], np.ones(3))
    assert at[:, 2] == pytest.approx(curves[:3, -1])
    strata = np.where(X[:, 1] > 0, "a", "b")
    stratified = SparseCox(k=1).fit(X, (time, event), strata=strata)
    assert set(stratified.baseline_) == {"a", "b"}
    assert stratified.predict_survival_function(X, times=[0.5], strata=strata).shape == (80, 1)
    with pytest.raises(ValueError, match="strata"):
        stratified.predict_survival_function(X, times=[0.5])
    with pytest.raises(ValueError, match="'c'"):
        stratified.predict_survival_function(X[:1], times=[0.5], strata=["c"])
    with pytest.raises(ValueError, match="no strata"):
        model.predict_survival_function(X, times=[0.5], strata=strata)


def test_a_model_file_keeps_the_baseline(tmp_path):
    X, time, event = draw(rows=80)
    model = SparseCox(k=2).fit(X, (time, event))
    model.save(tmp_path / "cox.json")
    loaded = l0star.load(tmp_path / "cox.json")
    assert isinstance(loaded, SparseCox)
    own = X[:, [0, 2]]
    assert np.array_equal(loaded.predict(own), model.predict(X))
    assert loaded.predict_survival_function(own, times=[1.0]) == pytest.approx(
        model.predict_survival_function(X, times=[1.0])
    )
    model.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "highest third" in page
    assert '"calibration":{"horizon":' in page


def test_a_path_is_the_fits_of_its_sizes():
    X, time, event = draw(rows=60)
    strata = np.arange(60) % 2
    options = {"loss": "cox", "strata": strata, "ties": "breslow"}
    path = sparse_path(X, time, k_max=3, event=event, **options)
    for result in path:
        assert result.objective == pytest.approx(solve(X, time, k=result.k, event=event, **options).objective)
    assert path.best().k >= 1
    with pytest.raises(ValueError, match="loss='cox'"):
        sparse_path(X, time, strata=strata)


def test_rows_held_out_are_measured_by_their_own_risk_sets():
    X, time, event = draw(rows=90, tied=False)
    strata, entry = np.arange(90) % 2, time / 2
    result = solve(X, time, k=2, loss="cox", event=event, strata=strata, entry=entry, holdout=0.3)
    held = result.metrics["holdout"]
    assert held["rows"] == 27
    rows = np.asarray(l0star._core.hold_out(np.where(event, 1.0, -1.0), None, True, 0.3, 1))
    model = SparseCox(k=2).fit(X[~rows], (time[~rows], event[~rows]), strata=strata[~rows], entry=entry[~rows])
    assert model.objective_ == result.objective
    expected = model.score(X[rows], (time[rows], event[rows]), strata=strata[rows], entry=entry[rows])
    assert held["concordance"] == pytest.approx(expected)
    # The split is stratified by event.
    assert abs(event[rows].mean() - event.mean()) < 0.05


@pytest.mark.parametrize("details", [False, True])
def test_cross_validation_scores_the_concordance_of_each_fold(details):
    X, time, event = draw(rows=100, tied=False)
    extra = {"strata": np.arange(100) % 2, "entry": time / 3} if details else {}
    weights = np.where(np.arange(100) % 7 == 0, 2.0, 1.0) if details else None
    chooser = SparseCoxCV(ks=[1, 2, 3], cv=KFold(4)).fit(X, (time, event), sample_weight=weights, **extra)

    def part(values, rows):
        return None if values is None else values[rows]

    for fold, (train, test) in enumerate(KFold(4).split(X)):
        for at, k in enumerate([1, 2, 3]):
            model = SparseCox(k=k).fit(
                X[train],
                (time[train], event[train]),
                sample_weight=part(weights, train),
                **{name: values[train] for name, values in extra.items()},
            )
            score = model.score(
                X[test],
                (time[test], event[test]),
                sample_weight=part(weights, test),
                **{name: values[test] for name, values in extra.items()},
            )
            assert chooser.cv_results_[f"split{fold}_test_score"][at] == pytest.approx(score)
    assert chooser.k_ in (1, 2, 3)
    assert chooser.status_ == "optimal"
    curves = chooser.predict_survival_function(X[:2], times=[1.0], strata=extra["strata"][:2] if details else None)
    assert curves.shape == (2, 1)


def test_folds_have_their_share_of_the_events():
    X, time, _ = draw(rows=60, tied=False)
    event = np.arange(60) < 10

    found = []

    def score(model, X, y, sample_weight=None):
        found.append(int(y["event"].sum()))
        return float(len(y["time"]))

    SparseCoxCV(ks=[1], scoring=score).fit(X, (time, event))
    assert found == [2] * 5


def test_constraints_lists_and_prices_go_with_times():
    X, time, event = draw(rows=60)
    result = solve(X, time, k=2, loss="cox", event=event, top=3, prices=True, nonnegative=True, groups=[[0, 1]])
    assert result.status == "optimal"
    assert len(result.solutions) == 3
    assert (result.coef >= 0).all()


def test_what_cannot_be_is_refused():
    X, time, event = draw(rows=30)
    with pytest.raises(ValueError, match="no row"):
        solve(X, time, k=1, loss="cox", event=np.zeros(30, dtype=bool))
    with pytest.raises(ValueError, match="not 0 or more"):
        solve(X, time - time.max() - 1, k=1, loss="cox", event=event)
    with pytest.raises(ValueError, match="row 1"):
        solve(X, time, k=1, loss="cox", event=event, entry=time)
    with pytest.raises(ValueError, match="True and False"):
        solve(X, time, k=1, loss="cox", event=event + 1)
    with pytest.raises(ValueError, match="event has 29"):
        solve(X, time, k=1, loss="cox", event=event[1:])
    with pytest.raises(ValueError, match="loss='cox'"):
        solve(X, time, k=1, event=event)
    with pytest.raises(ValueError, match="couples"):
        solve(X, time, k=1, loss="cox", event=event, method="paper")
    with pytest.raises(ValueError, match="ties"):
        solve(X, time, k=1, loss="cox", event=event, ties="exact")
    with pytest.raises(ValueError, match="loss"):
        SparseRegressor(loss="cox").fit(X, time)
    with pytest.raises(ValueError, match="which times"):
        sparse_path(X, time, k_max=2, loss="cox")


def test_fields_of_a_packed_structured_array_are_taken():
    X, time, event = draw(rows=60)
    packed = np.empty(60, dtype=[("event", bool), ("time", np.float64), ("weight", np.float64)])
    packed["event"], packed["time"], packed["weight"] = event, time, 1.0
    assert not packed["time"].flags.aligned
    model = SparseCox(k=2).fit(X, packed[["event", "time"]], sample_weight=packed["weight"], offset=packed["weight"])
    assert model.score(X, packed[["event", "time"]], sample_weight=packed["weight"]) > 0.5
    assert solve(X, packed["time"], k=1, sample_weight=packed["weight"], offset=packed["weight"]).status == "optimal"
    moments = l0star.Moments().partial_fit(X, packed["time"], sample_weight=packed["weight"])
    assert solve(moments, k=1).status == "optimal"
