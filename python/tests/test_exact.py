"""The engine against brute force in NumPy."""

import warnings
from dataclasses import replace
from math import comb

import numpy as np
import pytest
import scipy.sparse as sp
from brute_force import Instance
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from l0star import solve, sparse_path

LABELS = ("logistic", "squared-hinge")
LOG_LINK = ("poisson", "gamma")
EXACT = ("best-first", "paper", "exhaustive")


@st.composite
def instances(draw, fewest=1, most=6):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    loss = draw(st.sampled_from(["quadratic", "huber", *LABELS, *LOG_LINK]))
    rows, columns = draw(st.integers(3, 14)), draw(st.integers(fewest, most))
    X = rng.normal(size=(rows, columns)) * 10.0 ** draw(st.integers(-1, 1))
    if draw(st.booleans()):
        X = np.round(X)  # ties, constant columns, columns of zeros
    y = X @ rng.normal(size=columns) + rng.normal(size=rows) * draw(st.sampled_from([0.1, 3.0]))
    if loss in LABELS:
        y = np.where(y > np.median(y), 1.0, -1.0)
        y[:2] = [-1.0, 1.0]
    if loss in LOG_LINK:
        X /= max(np.abs(X).max(), 1.0)
        y = np.exp(np.clip(y, -2.0, 3.0))
        y = np.round(y) if loss == "poisson" else y
        y[0] = 1.0
    forced = draw(st.lists(st.integers(0, columns - 1), max_size=2, unique=True))
    cut = draw(st.integers(0, len(forced)))
    include, exclude = forced[:cut], forced[cut:]
    weights = rng.integers(0, 4, size=rows).astype(float) if draw(st.booleans()) else None
    if weights is not None:
        weights[:2] = 1.0
    return Instance(
        X,
        y,
        k=draw(st.integers(len(include), columns + 1)),
        loss=loss,
        delta=draw(st.sampled_from([0.3, 1.0])),
        ridge=10.0 ** draw(st.integers(-3, 0)),
        intercept=draw(st.booleans()),
        weights=weights,
        offset=rng.normal(size=rows) if draw(st.booleans()) else None,
        include=sorted(include),
        exclude=sorted(exclude),
    )


@st.composite
def constrained(draw):
    """Draw instances with groups, bounds, free columns, ridge factors and heredity, and with a small k."""
    instance = draw(instances(fewest=3, most=7))
    # Drawn from a seed, since hypothesis mostly draws the smallest possible values.
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns = np.arange(instance.X.shape[1])
    labels = rng.choice([0, 0, 1, 2], size=len(columns))
    instance.groups = [group for group in (columns[labels == i].tolist() for i in (1, 2)) if group]
    loose = [j for j in columns[labels == 0].tolist() if j not in (*instance.include, *instance.exclude)]
    instance.free = rng.permutation(loose)[: rng.integers(2)].tolist()
    for j in rng.permutation(columns)[: rng.integers(4)].tolist():
        instance.bounds[j] = (-rng.choice([0.0, 0.02, 0.3, np.inf]), rng.choice([0.0, 0.02, 0.3, np.inf]))
    for j in rng.permutation(columns)[: rng.integers(3)].tolist():
        instance.factors[j] = rng.choice([0.1, 5.0])
    there = [j for j in rng.permutation(columns).tolist() if j not in instance.exclude]
    if rng.integers(2) and len(there) > 1:
        instance.requires = {there[0]: there[1 : 2 + rng.integers(2)]}
    others = len(instance.features()) - len(instance.included())
    instance.k = len(instance.included()) + int(rng.integers(max(others, 1)))
    return instance


def call_with(instance, function, make=np.asarray, **options):
    return function(
        make(instance.X),
        instance.y,
        loss=instance.loss,
        huber_delta=instance.delta,
        ridge=instance.ridge,
        fit_intercept=instance.intercept,
        sample_weight=instance.weights,
        offset=instance.offset,
        include=instance.include,
        exclude=instance.exclude,
        include_free=instance.free,
        groups=instance.groups,
        bounds=instance.bounds,
        ridge_factor=instance.factors,
        requires=instance.requires,
        **{"standardize": False, **options},
    )


def deviations(X, p):
    """Return the divisors of the columns; a constant column is divided by its absolute value."""
    mean = p @ X
    scale = np.sqrt(p @ (X - mean) ** 2)
    constant = scale < 1e-12
    scale[constant] = np.where(mean == 0.0, 1.0, np.abs(mean))[constant]
    return scale


def solve_instance(instance, make=np.asarray, **options):
    return call_with(instance, solve, make, k=instance.k, **options)


few = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


@settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(instances(), st.sampled_from(EXACT), st.sampled_from([np.asarray, sp.csr_array]))
def test_exact_methods_find_the_optimum_and_bound_it(instance, method, make):
    if instance.loss in LOG_LINK and method == "paper":
        method = "best-first"  # the method "paper" needs losses of bounded curvature
    result = solve_instance(instance, make, method=method)
    best = instance.best()
    assert result.status == "optimal"
    assert result.objective == pytest.approx(best, rel=1e-8, abs=1e-12)
    assert result.lower_bound <= best + 1e-9 * max(best, 1e-12)
    assert result.objective == pytest.approx(instance.objective(result.coef, result.intercept), rel=1e-9, abs=1e-12)
    assert len(result.support) <= instance.k
    # Included features are in the model, even with a coefficient of 0.
    assert set(np.flatnonzero(result.coef)) | set(instance.include) == set(result.support)
    assert not set(result.support) & set(instance.exclude)


@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(constrained(), st.sampled_from(["best-first", "exhaustive"]), st.sampled_from([np.asarray, sp.csr_array]))
def test_constraints_hold_and_the_model_is_the_best_that_meets_them(instance, method, make):
    result = solve_instance(instance, make, method=method)
    best = instance.best()
    assert result.status == "optimal"
    assert result.objective == pytest.approx(best, rel=1e-8, abs=1e-12)
    assert result.lower_bound <= best + 1e-9 * max(best, 1e-12)
    assert result.objective == pytest.approx(instance.objective(result.coef, result.intercept), rel=1e-9, abs=1e-12)
    support = set(result.support)
    counted = [part for part in instance.features() if support & set(part)]
    assert support == set(instance.free).union(*counted)
    assert len(counted) <= instance.k
    assert set(np.flatnonzero(result.coef)) <= support
    assert instance.is_allowed(result.support.tolist())
    for j, (low, high) in instance.bounds.items():
        assert low <= result.coef[j] <= high


@few
@given(constrained())
def test_bounds_are_those_of_the_data_when_columns_are_scaled(instance):
    result = solve_instance(instance, standardize=True)
    for j, (low, high) in instance.bounds.items():
        assert low <= result.coef[j] <= high
    p = instance.shares()
    scale = deviations(instance.X, p)
    instance.X = instance.X / scale
    instance.bounds = {j: (low * scale[j], high * scale[j]) for j, (low, high) in instance.bounds.items()}
    assert result.objective == pytest.approx(instance.best(), rel=1e-7, abs=1e-12)


@few
@given(constrained(), st.integers(2, 8))
def test_top_lists_the_best_models_in_order(instance, top):
    result = solve_instance(instance, top=top)
    models = instance.models()
    found = [model.objective for model in result.solutions]
    assert found == pytest.approx(models[:top], rel=1e-7, abs=1e-11)
    assert len({tuple(model.support) for model in result.solutions}) == len(found)
    for model in result.solutions:
        assert model.objective == pytest.approx(instance.objective(model.coef, model.intercept), rel=1e-9, abs=1e-12)
    if len(models) > top:
        assert result.rest_bound <= models[top] + 1e-9 * max(models[top], 1e-12)
    else:
        assert result.rest_bound is None


def test_within_lists_all_models_near_the_best():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(40, 7))
    instance = Instance(X, X[:, 0] + rng.normal(size=40), k=3)
    models = instance.models()
    result = solve_instance(instance, within=0.2)
    near = [objective for objective in models if objective <= 1.2 * models[0]]
    assert 1 < len(near) < len(models)
    assert [model.objective for model in result.solutions] == pytest.approx(near)
    assert not result.truncated
    assert solve_instance(instance, within=0.2, top=2).truncated


@few
@given(constrained(), st.sampled_from([1, 2]))
def test_a_path_has_the_best_model_of_every_size(instance, n_jobs):
    path = call_with(instance, sparse_path, k_max=instance.k, n_jobs=n_jobs)
    assert path.ks.tolist() == list(range(len(instance.included()), instance.k + 1))
    for result in path:
        instance.k = result.k
        assert result.status == "optimal"
        assert result.objective == pytest.approx(instance.best(), rel=1e-8, abs=1e-12)
        assert result.trace[-1, 1:].tolist() == [result.objective, result.lower_bound, result.nodes]


@few
@given(constrained())
def test_prices_are_what_the_other_decision_costs(instance):
    result = solve_instance(instance, prices=True)
    best = instance.best()
    always = instance.included()
    names = [[f"x{j}" for j in part] for part in instance.features() if part not in always]
    assert [price.columns for price in result.prices()] == names
    for price in result.prices():
        part = [result.names.index(name) for name in price.columns]
        assert price.chosen == (part[0] in result.support)
        if price.chosen:
            other = replace(instance, exclude=[*instance.exclude, *part])
        else:
            other = replace(instance, include=[*instance.include, *part])
        if len(other.included()) > instance.k:
            assert price.cost == np.inf
            continue
        cost = other.best() - best
        slack = 1e-7 * max(best, 1e-5)
        assert price.cost == pytest.approx(max(cost, 0.0), abs=slack)
        assert price.cost_bounds[0] - slack <= cost <= price.cost_bounds[1] + slack


@pytest.mark.parametrize("loss", ["quadratic", "huber", "logistic"])
def test_information_criteria(loss):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 6))
    y = X[:, 0] + rng.normal(size=50)
    instance = Instance(X, np.sign(y) if loss == "logistic" else y, k=3, loss=loss)
    for result in call_with(instance, sparse_path, k_max=3):
        mean = instance.mean_loss(result.coef, result.intercept)
        deviance = 100 * mean if loss == "logistic" else 50 * np.log(2 * mean)
        assert result.aic == pytest.approx(deviance + 2 * (result.k + 1))
        assert result.bic == pytest.approx(deviance + np.log(50) * (result.k + 1))
        assert result.ebic == pytest.approx(result.bic + 2 * np.log(comb(6, result.k)))
    assert solve(X, y > 0, 1, loss="squared-hinge").aic is None


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(instances(), st.sampled_from(["omp", "iht", "htp", "diht"]))
def test_inexact_methods_find_a_model_and_claim_nothing(instance, method):
    result = solve_instance(instance, method=method)
    assert result.status == "heuristic"
    assert result.lower_bound is None
    assert result.gap is None
    assert len(result.support) <= instance.k
    best = instance.best()
    assert result.objective >= best - 1e-9 * max(best, 1e-12)
    assert result.objective == pytest.approx(instance.objective(result.coef, result.intercept), rel=1e-9, abs=1e-12)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(instances(), st.sampled_from([np.asarray, sp.csr_array]))
def test_standardize_is_the_problem_with_scaled_columns(instance, make):
    result = solve_instance(instance, make, standardize=True)
    p = instance.shares()
    scale = deviations(instance.X, p)
    instance.X = instance.X / scale
    best = instance.best()
    assert result.objective == pytest.approx(best, rel=1e-7, abs=1e-12)
    found = instance.objective(result.coef * scale, result.intercept)
    assert result.objective == pytest.approx(found, rel=1e-7, abs=1e-12)


@few
@given(instances(), st.lists(st.integers(-40, 40), min_size=6, max_size=6), st.integers(-40, 40))
def test_units_change_nothing(instance, columns, response):
    """Scale by powers of two, which are exact; the response of a loss on labels has no unit."""
    options = {"method": "best-first", "standardize": True, "n_jobs": 1}
    plain = solve_instance(instance, **options)
    factors = 2.0 ** np.array(columns[: instance.X.shape[1]])
    unit = 1.0 if instance.loss in (*LABELS, *LOG_LINK) else 2.0**response
    offset = None if instance.offset is None else instance.offset * unit
    scaled = replace(instance, X=instance.X * factors, y=instance.y * unit, delta=instance.delta * unit, offset=offset)
    found = solve_instance(scaled, **options)
    assert found.support.tolist() == plain.support.tolist()
    assert found.status == plain.status
    assert found.nodes == plain.nodes
    assert found.objective == plain.objective * unit**2
    assert found.coef.tolist() == (plain.coef / factors * unit).tolist()


numbers = st.floats(allow_nan=True, allow_infinity=True) | st.sampled_from([0.0, 1.0, 1e-300, 1e154, -1e300])


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.integers(1, 4).flatmap(lambda d: st.lists(st.lists(numbers, min_size=d + 1, max_size=d + 1), max_size=5)),
    st.integers(0, 3),
    st.sampled_from(["quadratic", "huber", *LABELS]),
)
def test_whatever_the_numbers_there_is_a_model_or_a_value_error(rows, k, loss):
    data = np.array(rows, dtype=float) if rows else np.empty((0, 3))
    y = data[:, -1]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            result = solve(data[:, :-1], np.sign(y) if loss in LABELS else y, k, loss=loss)
    except ValueError:
        return
    assert result.status in ("optimal", "gap_reached", "precision")
    assert result.lower_bound <= result.objective


def test_a_gap_may_be_left_open():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(30, 20))
    y = rng.normal(size=30)
    result = solve(X, y, 6, gap=0.2)
    exact = solve(X, y, 6)
    assert result.status == "gap_reached"
    assert 0 < result.gap <= 0.2
    assert result.lower_bound <= exact.objective <= result.objective
    share = solve(X, y, 6, relative_gap=0.3)
    assert share.status == "gap_reached"
    assert 0 < share.relative_gap <= 0.3
