"""Results: fields, text, tables and plots."""

import json
import pickle
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning

from l0star import SparseClassifier, _core, solve, sparse_path


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def result(diabetes):
    return solve(*diabetes, 5)


def test_fields_are_those_of_the_command():
    table = pd.read_csv(Path(__file__).parents[2] / "data" / "diabetes.csv")
    fields = json.loads(json.dumps(solve(table.drop(columns="target"), table["target"], 5).to_dict()))
    assert list(fields) == [
        "status",
        "objective",
        "lower_bound",
        "gap",
        "relative_gap",
        "k",
        "loss",
        "huber_delta",
        "ridge",
        "l0_penalty",
        "intercept",
        "support",
        "coefficients",
        "per_sd",
        "inference",
        "metrics",
        "solver_calls",
        "nodes",
        "peak_open_nodes",
        "seconds",
        "found_by",
        "found_after",
        "method",
        "warnings",
    ]
    # The output of `l0star fit data/diabetes.csv --target target -k 5`.
    assert fields["support"] == ["sex", "bmi", "bp", "s3", "s5"]
    assert fields["objective"] == pytest.approx(1457.718228, abs=1e-5)
    assert fields["relative_gap"] <= 1e-9
    assert fields["found_by"] in {"greedy", "local-search", "search"}
    assert 0 <= fields["found_after"] <= fields["seconds"]


def test_labels_are_named(diabetes):
    X, y = diabetes
    fields = solve(X, np.where(y > 150, "high", "low"), 1, loss="logistic").to_dict()
    assert fields["positive_label"] == "low"
    assert json.dumps(fields)


def test_repr_and_str_say_what_is_proved(result):
    assert repr(result).startswith("Result(status='optimal', objective=1457.72, gap=")
    assert "features=['sex', 'bmi', 'bp', 's3', 's5']" in repr(result)
    text = str(result)
    assert text.startswith("proved optimal: no model with at most 5 features is better")
    assert "(intercept)" in text


#: Headlines for the objective 1 with the bound 0.98.
HEADLINES = {
    "optimal": "proved optimal: no model with at most 1 feature is better",
    "gap_reached": "within the allowed gap: at most 2.1 % above the optimum",
    "precision": "stopped at the limit of double precision: at most 2.1 % above the optimum",
    "time_limit": "stopped at the time limit: at most 2.1 % above the optimum",
    "node_limit": "stopped at the node limit: at most 2.1 % above the optimum",
    "memory_limit": "stopped at the memory limit: at most 2.1 % above the optimum",
    "interrupted": "interrupted: at most 2.1 % above the optimum",
    "heuristic": "found by omp: nothing is proved",
}


@pytest.mark.parametrize("status", _core.STATUSES)
def test_every_status_claims_what_it_has_proved(diabetes, status, tmp_path):
    inexact = status == "heuristic"
    result = replace(
        solve(*diabetes, 1),
        status=status,
        objective=1.0,
        lower_bound=None if inexact else 0.98,
        method="omp" if inexact else "best-first",
    )
    result.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert repr(result).startswith(f"Result(status='{status}', objective=1, gap=")
    for text in (str(result), result._repr_html_(), page):
        assert HEADLINES[status] in text
        assert ("is better" in text.replace("is better by more", "")) == (status == "optimal")
        assert "1 features" not in text
    assert ("0.0200 (2.1 % of the objective)" in str(result)) == (not inexact)


def test_a_small_bound_is_told_as_a_share_of_the_objective(diabetes):
    result = replace(solve(*diabetes, 1), status="time_limit", objective=0.343, lower_bound=0.0119)
    assert result.headline == "stopped at the time limit: the lower bound has reached 3.4 % of the objective"
    assert "0.331 (97 % of the objective)" in str(result)
    assert "e+" not in str(replace(result, lower_bound=0.0))


def test_html_is_escaped(diabetes):
    X, y = diabetes
    page = solve(X.rename(columns={"bmi": "<b>bmi</b>"}), y, 1)._repr_html_()
    assert "&lt;b&gt;bmi&lt;/b&gt;" in page
    assert "<b>bmi" not in page


def test_to_pandas(result):
    frame = result.to_pandas()
    assert list(frame.index) == ["sex", "bmi", "bp", "s3", "s5", "(intercept)"]
    assert frame.loc["bmi", "coefficient"] == result.coefficients["bmi"]


def test_the_effect_of_a_standard_deviation(diabetes):
    X, y = diabetes
    weights = np.where(np.arange(len(y)) < 300, 2.0, 1.0)
    weights[:50] = 0.0
    result = solve(X * [1, 1, 1e-3, 1, 1, 1, 1, 1, 1e3, 1], y, 3, sample_weight=weights)
    for name, coefficient in result.coefficients.items():
        scale = {"bmi": 1e-3, "s5": 1e3}.get(name, 1.0)
        column = X[name] * scale
        sd = np.sqrt(np.average((column - np.average(column, weights=weights)) ** 2, weights=weights))
        assert result.per_sd[name] == pytest.approx(coefficient * sd, rel=1e-9)
    assert result.to_dict()["per_sd"] == result.per_sd
    assert (result.coef_per_sd != 0).sum() == 3
    frame = result.to_pandas()
    assert frame["per_sd"].to_dict() == pytest.approx({**result.per_sd, "(intercept)": np.nan}, nan_ok=True)


def test_bars_are_effects_and_not_coefficients(diabetes):
    X, y = diabetes
    result = solve(X.assign(bmi=1000 * X["bmi"]), y, 2)
    assert result.features == ["bmi", "s5"]
    assert result.coefficients["bmi"] < 0.01 * result.coefficients["s5"]
    bars = {line.split()[0]: line.count("█") for line in str(result).splitlines() if "█" in line}
    assert bars["bmi"] > 20
    assert bars["s5"] > 20
    assert "per SD" in str(result)
    assert "<th>per SD</th>" in result._repr_html_()
    assert "width:100.0%" in result._repr_html_()


def test_wide_characters_align(diabetes):
    X, y = diabetes
    text = str(solve(X.rename(columns={"bmi": "体格指数", "s5": "血清"}), y, 3))
    lines = [line for line in text.splitlines() if "█" in line]
    wide = [sum(2 if ord(c) > 0x2E80 else 1 for c in line.split("█")[0]) for line in lines]
    assert len(set(wide)) == 1


def test_path(diabetes):
    path = sparse_path(*diabetes, k_max=4)
    assert path.ks.tolist() == [0, 1, 2, 3, 4]
    assert (np.diff(path.objectives) < 0).all()
    assert path.coefs.shape == (10, 5)
    assert [len(result.support) for result in path[1:3]] == [1, 2]
    assert repr(path) == "SparsePath(k=0…4, 5 of 5 proved optimal)"
    assert path._repr_html_().count("<tr>") == 6
    frame = path.to_pandas()
    assert frame.loc[2, "s5"] == path[2].coefficients["s5"]
    assert isinstance(frame, pd.DataFrame)


def test_path_has_information_criteria(diabetes):
    frame = sparse_path(*diabetes, k_max=6).to_pandas()
    assert frame["bic"].idxmin() == 5
    assert (frame["aic"] < frame["bic"]).all()
    assert (frame["bic"] <= frame["ebic"]).all()


def test_a_time_limit_is_for_the_whole_path():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 300)), rng.normal(size=120)
    with pytest.warns(
        ConvergenceWarning, match=r"not complete for \d+ of 13 sizes, the first k=\d+: stopped at"
    ) as said:
        path = sparse_path(X, y, k_max=12, time_limit=0.0)
    assert len(said) == 1
    assert path.ks.tolist() == list(range(13))
    assert (np.diff(path.objectives) <= 0).all()
    assert all(result.lower_bound <= result.objective for result in path)
    # A bound that is proved for one size holds for every smaller size.
    assert (np.diff([result.lower_bound for result in path]) <= 0).all()


def test_a_list_of_models(diabetes):
    result = solve(*diabetes, 3, top=4)
    assert result.solutions[0].features == result.features == ["bmi", "bp", "s5"]
    assert repr(result.solutions[1]).startswith("Model(objective=")
    fields = json.loads(json.dumps(result.to_dict()))
    assert [set(model) for model in fields["solutions"]] == [{"objective", "intercept", "support", "coefficients"}] * 4
    assert fields["solutions"][0]["coefficients"] == result.coefficients
    assert fields["rest_bound"] >= fields["solutions"][-1]["objective"] * (1 - 1e-9)
    assert "4 listed; no other is below" in str(result)
    assert [model.features for model in solve(*diabetes, 0, top=4).solutions] == [[]]


def test_prices(diabetes):
    result = solve(*diabetes, 3, prices=True)
    prices = {price.feature: price for price in result.prices()}
    assert list(prices) == list(diabetes[0].columns)
    assert {name for name, price in prices.items() if price.chosen} == set(result.features)
    without = solve(*diabetes, 3, exclude="bmi")
    assert prices["bmi"].cost == pytest.approx(without.objective - result.objective)
    assert prices["bmi"].features == without.features


def test_prices_show_themselves_as_a_table(diabetes):
    X, y = diabetes
    prices = solve(X.rename(columns={"bmi": "<b>bmi</b>"}), y, 3, prices=True).prices()
    assert isinstance(prices, list)
    lines = repr(prices).splitlines()
    assert lines[0] == "what each choice costs: how much the objective rises"
    assert lines[1].split()[:2] == ["without", "<b>bmi</b>"]
    assert sum(line.startswith("  without ") for line in lines) == 3
    assert sum(line.startswith("  with ") for line in lines) == 7
    page = prices._repr_html_()
    assert page.count("<tr>") == 11
    assert "without &lt;b&gt;bmi" in page
    assert "<b>bmi" not in page
    frame = prices.to_pandas()
    assert frame.index[0] == "<b>bmi</b>"
    assert frame["chosen"].tolist() == [True] * 3 + [False] * 7
    assert frame["cost"][:3].is_monotonic_decreasing
    assert frame["cost"][3:].is_monotonic_increasing
    assert (frame["cost_lower"] <= frame["cost"]).all()
    assert (frame["cost"] <= frame["cost_upper"]).all()
    assert pickle.loads(pickle.dumps(prices)) == prices
    assert repr(type(prices)()) == "Prices([])"


def test_a_price_that_is_not_proved_is_a_range(diabetes):
    prices = solve(*diabetes, 3, prices=True).prices()
    exact = prices[0]
    assert f"{exact.cost:.6g}" in repr(prices)
    bounds = (0.0, 2 * exact.cost)
    for status, words in {
        "optimal": "the model itself is not proved optimal",
        "precision": "stopped at the limit of double precision",
        "node_limit": "stopped at the node limit",
    }.items():
        open_price = replace(exact, status=status, cost_bounds=bounds)
        line = next(line for line in repr(type(prices)([open_price])).splitlines() if exact.feature in line)
        assert line.endswith(f"0 to {2 * exact.cost:.6g}  {words}")


def test_a_table_of_many_prices_ends(diabetes):
    rng = np.random.default_rng(0)
    prices = solve(rng.normal(size=(60, 30)), rng.normal(size=60), 2, prices=True).prices()
    assert len(prices) == 30
    assert repr(prices).endswith("and 18 more, which cost no less (to_pandas() has all)")
    assert prices._repr_html_().count("<tr>") == 13
    assert len(prices.to_pandas()) == 30


def test_a_path_has_the_lists_and_prices_of_every_size(diabetes):
    for result in sparse_path(*diabetes, k_max=3, top=3, prices=True):
        alone = solve(*diabetes, result.k, top=3, prices=True)
        assert [model.features for model in result.solutions] == [model.features for model in alone.solutions]
        assert [price.cost for price in result.prices()] == pytest.approx([price.cost for price in alone.prices()])
    near = sparse_path(*diabetes, k_max=2, within=0.1)
    assert [len(result.solutions) for result in near] == [
        len(solve(*diabetes, k, within=0.1).solutions) for k in range(3)
    ]


def test_path_defaults_to_ten_sizes_at_most(diabetes):
    X, y = diabetes
    assert len(sparse_path(X, y)) == 11
    assert len(sparse_path(X[["bmi", "bp"]], y)) == 3


def test_trace_is_monotone_and_ends_with_the_result():
    rng = np.random.default_rng(2)
    result = solve(rng.normal(size=(40, 30)), rng.normal(size=40), 6)
    seconds, objective, bound, nodes = result.trace.T
    assert (np.diff(nodes) >= 0).all()
    assert nodes[-1] == result.nodes
    assert (np.diff(seconds) >= 0).all()
    assert (np.diff(objective) <= 0).all()
    assert (np.diff(bound[np.isfinite(bound)]) >= 0).all()
    assert objective[-1] == result.objective
    assert bound[-1] == result.lower_bound
    assert len(seconds) > 2


def test_plots(diabetes, result):
    import matplotlib.pyplot as plt

    ax = result.plot_gap()
    assert [line.get_label() for line in ax.get_lines()] == ["objective", "lower bound"]
    assert result.plot_gap(ax) is ax
    ax = sparse_path(*diabetes, k_max=3).plot_path()
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"bmi", "bp", "s5"}
    assert len(solve(*diabetes, 2, method="omp").plot_gap().get_lines()) == 1
    ax = solve(*diabetes, 3, top=5).plot_models()
    features = [text.get_text() for text in ax.get_yticklabels()]
    assert features[:2] == ["bmi", "s5"]
    assert ax.images[0].get_array().shape == (len(features), 5)
    assert ax.images[0].get_array()[features.index("s5")].count() == 5
    ax = solve(*diabetes, 3, prices=True).plot_prices(most=5)
    assert [text.get_text() for text in ax.get_yticklabels()][:3] == ["bmi", "s5", "bp"]
    assert sum(len(bars) for bars in ax.containers if hasattr(bars, "patches")) == 5
    assert solve(*diabetes, 0, prices=True).plot_prices() is not None
    plt.close("all")


def _boxes(ax):
    """Return the box of the figure, and those of the labels of both axes."""
    ax.figure.canvas.draw()
    found = []
    for axis in (ax.xaxis, ax.yaxis):
        low, high = sorted(axis.get_view_interval())
        labels = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
        found.append([text.get_window_extent() for at, text in labels if low <= at <= high])
    return ax.figure.bbox, found


@pytest.mark.parametrize("count", [3, 10, 40])
def test_labels_of_plots_are_whole_and_apart(count):
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(count)
    names = [f"a rather long name of a question, as surveys have them, number {j}" for j in range(count)]
    X = pd.DataFrame(rng.normal(size=(80, count)), columns=names)
    result = solve(X, X @ rng.normal(size=count) + rng.normal(size=80), 2, top=60, prices=True)
    for ax in (result.plot_models(), result.plot_prices()):
        figure, (across, down) = _boxes(ax)
        assert len(down) == len({text.get_text() for text in ax.get_yticklabels()})
        for box in (*across, *down):
            assert figure.x0 <= box.x0
            assert box.x1 <= figure.x1
        for first, second in [*pairwise(across), *pairwise(down)]:
            assert not first.overlaps(second)
    plt.close("all")


def test_a_proved_search_is_drawn_as_one(diabetes):
    import matplotlib.pyplot as plt

    result = solve(*diabetes, 10)
    low, high = result.plot_gap().get_ylim()
    assert high - low > 0.01 * result.objective
    plt.close("all")


def test_a_limit_warns_and_keeps_a_valid_bound():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(50, 40)), rng.normal(size=50)
    with pytest.warns(ConvergenceWarning, match=r"stopped at the node limit: .* % .*; raise the limit"):
        stopped = solve(X, y, 8, node_limit=3)
    assert stopped.status == "node_limit"
    assert stopped.nodes == 3
    assert stopped.lower_bound <= solve(X, y, 8).objective <= stopped.objective
    with pytest.warns(ConvergenceWarning) as said:
        priced = solve(X, y, 8, node_limit=3, prices=True)
    assert ["prices; the bounds of the cost" in str(warning.message) for warning in said] == [False, True]
    price = next(price for price in priced.prices() if price.status == "node_limit")
    assert price.cost_bounds[0] <= price.cost <= price.cost_bounds[1]
    with pytest.warns(ConvergenceWarning, match="time limit"):
        model = SparseClassifier(k=8, time_limit=0.0).fit(X, y > 0)
    assert model.status_ == "time_limit"


def test_the_limit_of_double_precision_warns():
    # Without an intercept, the residuals are below the rounding error of the bounds.
    shifts = [[1, 3, 2, 4], [5, -2, 7, 1], [-3, 4, -4, 0], [2, 1, 9, -4], [-6, 6, 1, 5], [8, -5, -2, 3]]
    data = 1e9 + np.array(shifts, dtype=float)
    with pytest.warns(ConvergenceWarning, match="limit of double precision: .*; rescale the columns"):
        result = solve(data[:, :3], data[:, 3], 2, fit_intercept=False, standardize=False)
    assert result.status == "precision"
    assert result.gap > 1e-9 * result.objective


def test_names_cannot_write_to_the_terminal():
    rng = np.random.default_rng(1)
    names = ["a\x1b[31m", "b\u202e", "c\nd"]
    X = pd.DataFrame(rng.normal(size=(20, 3)), columns=names)
    result = solve(X, X.sum(axis=1), 3)
    assert result.features == names
    for shown in (r"a\u{1b}[31m", r"b\u{202e}", r"c\nd"):
        assert shown in str(result)
    with pytest.raises(ValueError, match=r"column 'b\\u\{202e\}' has the bounds"):
        solve(X, X["c\nd"], 1, bounds={"b\u202e": (1, 2)})
