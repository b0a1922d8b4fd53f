"""The engine against brute force in NumPy."""

import numpy as np
import pytest
import scipy.sparse as sp
from brute_force import Instance
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from l0star import solve

LABELS = ("logistic", "squared-hinge")
EXACT = ("best-first", "paper", "exhaustive")


@st.composite
def instances(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    loss = draw(st.sampled_from(["quadratic", "huber", *LABELS]))
    rows, columns = draw(st.integers(3, 14)), draw(st.integers(1, 6))
    X = rng.normal(size=(rows, columns)) * 10.0 ** draw(st.integers(-1, 1))
    if draw(st.booleans()):
        X = np.round(X)  # ties, constant columns, columns of zeros
    y = X @ rng.normal(size=columns) + rng.normal(size=rows) * draw(st.sampled_from([0.1, 3.0]))
    if loss in LABELS:
        y = np.where(y > np.median(y), 1.0, -1.0)
        y[:2] = [-1.0, 1.0]
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


def solve_instance(instance, make=np.asarray, **options):
    return solve(
        make(instance.X),
        instance.y,
        instance.k,
        loss=instance.loss,
        huber_delta=instance.delta,
        ridge=instance.ridge,
        fit_intercept=instance.intercept,
        sample_weight=instance.weights,
        offset=instance.offset,
        include=instance.include,
        exclude=instance.exclude,
        **options,
    )


@settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(instances(), st.sampled_from(EXACT), st.sampled_from([np.asarray, sp.csr_array]))
def test_exact_methods_find_the_optimum_and_bound_it(instance, method, make):
    result = solve_instance(instance, make, method=method)
    best = instance.best()
    assert result.status == "optimal"
    assert result.objective == pytest.approx(best, rel=1e-8, abs=1e-12)
    assert result.lower_bound <= best + 1e-9 * max(best, 1e-12)
    assert result.objective == pytest.approx(instance.objective(result.coef, result.intercept), rel=1e-9, abs=1e-12)
    assert len(result.support) <= instance.k
    assert set(np.flatnonzero(result.coef)) == set(result.support)
    assert not set(result.support) & set(instance.exclude)


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
    mean = p @ instance.X
    scale = np.sqrt(p @ (instance.X - mean) ** 2)
    scale[scale < 1e-12] = 1.0
    instance.X = instance.X / scale
    best = instance.best()
    assert result.objective == pytest.approx(best, rel=1e-7, abs=1e-12)
    found = instance.objective(result.coef * scale, result.intercept)
    assert result.objective == pytest.approx(found, rel=1e-7, abs=1e-12)


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
        result = solve(data[:, :-1], np.sign(y) if loss in LABELS else y, k, loss=loss)
    except ValueError:
        return
    assert result.status in ("optimal", "gap_reached")
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
