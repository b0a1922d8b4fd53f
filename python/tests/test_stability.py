"""The best models of resamples, compared with brute force, and their summary, compared with NumPy."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from l0star import Stability, solve, stability

RNG = np.random.default_rng(2)
BASE = RNG.normal(size=(60, 2))
# The third column is nearly equal to the first one, so each can replace the other.
X = np.column_stack([BASE[:, 0], BASE[:, 1], BASE[:, 0] + 0.05 * RNG.normal(size=60), RNG.normal(size=(60, 2))])
Y = X @ [1.0, -0.7, 0, 0, 0] + RNG.normal(size=60)
LABELS = np.where(Y > 0, "b", "a")
WEIGHTS = RNG.integers(1, 4, size=60).astype(float)


def _best(weights: NDArray[Any], k: int, ridge: float) -> tuple[tuple[int, ...], NDArray[Any]]:
    """Return the best model by enumeration, from the normal equations on standardised columns."""
    p = weights / weights.sum()
    mean = p @ X
    scale = np.sqrt(p @ (X - mean) ** 2)
    A, b = (X - mean) / scale, Y - p @ Y
    best: tuple[float, tuple[int, ...], NDArray[Any]] = (np.inf, (), np.zeros(5))
    for support in itertools.combinations(range(5), k):
        part = A[:, support]
        x = np.linalg.solve(part.T @ (part * p[:, None]) + ridge * np.eye(k), part.T @ (p * b))
        r = b - part @ x
        value = 0.5 * p @ r**2 + 0.5 * ridge * x @ x
        if value < best[0]:
            coef = np.zeros(5)
            coef[list(support)] = x / scale[list(support)]
            best = (value, support, coef)
    return best[1], best[2]


def _weights(own: NDArray[Any] | None, count: int, **options: Any) -> list[NDArray[Any]]:
    """Recover the weights of each resample: the coefficient of a row's indicator shows how often it was drawn."""
    rows = np.eye(60)
    target = np.arange(60.0)
    found = []
    for row in range(60):
        # With no intercept and one column, coef = w_r y_r / (w_r + ridge * sum w): it grows with the row's weight.
        result = stability(
            rows[:, [row]],
            target + 1,
            k=1,
            resamples=count,
            ridge=1.0,
            fit_intercept=False,
            standardize=False,
            sample_weight=own,
            **options,
        )
        found.append(result.coefs[:, 0] / (row + 1))
    share = np.array(found)
    # share = p / (p + 1), where p is the row's share of all weights.
    return list((share / (1 - share)).T)


@pytest.mark.filterwarnings("ignore::l0star.L0starWarning")
@pytest.mark.parametrize("own", [None, WEIGHTS])
@pytest.mark.parametrize("resampling", ["bootstrap", "half"])
def test_every_resample_has_the_best_model_of_enumeration(own: NDArray[Any] | None, resampling: str) -> None:
    count = 6
    found = stability(X, Y, k=2, resamples=count, resampling=resampling, ridge=0.01, sample_weight=own, random_state=7)
    drawn = _weights(own, count, resampling=resampling, random_state=7)
    for at in range(count):
        support, coef = _best(drawn[at], 2, 0.01)
        assert tuple(np.flatnonzero(found.coefs[at])) == support
        np.testing.assert_allclose(found.coefs[at], coef, rtol=1e-6, atol=1e-9)
        if resampling == "half":
            assert np.count_nonzero(drawn[at]) == 30


def test_frequencies_intervals_models_and_pairs_are_those_of_the_coefficients() -> None:
    found = stability(X, Y, k=2, resamples=120)
    assert isinstance(found, Stability)
    assert (found.status, found.n_resamples, found.n_proved) == ("complete", 120, 120)
    chosen = found.coefs != 0
    shares = chosen.mean(axis=0)
    assert found.frequencies == pytest.approx({f"x{j}": shares[j] for j in range(5) if shares[j]})
    assert list(found.frequencies.values()) == sorted(found.frequencies.values(), reverse=True)
    for name, (lower, upper) in found.intervals.items():
        expected = np.quantile(found.coefs[:, int(name[1:])], [0.025, 0.975])
        np.testing.assert_allclose([lower, upper], expected, atol=1e-12)
    supports = [tuple(np.flatnonzero(row)) for row in chosen]
    counts = {support: supports.count(support) for support in set(supports)}
    top = found.models[0]
    assert top["count"] == max(counts.values())
    assert sum(model["count"] for model in found.models) == 120
    assert found.fields["distinct"] == len(counts)
    pair = found.pairs[0]
    assert set(pair["features"]) == {"x0", "x2"}
    assert pair["one"] == pytest.approx((chosen[:, 0] != chosen[:, 2]).mean())
    assert pair["correlation"] == pytest.approx(np.corrcoef(chosen[:, 0], chosen[:, 2])[0, 1])
    np.testing.assert_array_equal(found.result.coef, solve(X, Y, k=2).coef)
    assert list(found.to_pandas().index) == list(found.intervals)


def test_labels_and_groups() -> None:
    found = stability(X, LABELS, k=1, loss="logistic", groups=[[0, 1], [3, 4]], resamples=20, n_jobs=2)
    assert found.n_proved == 20
    both = (found.coefs[:, [0, 1]] != 0).all(axis=1)
    assert max(found.frequencies.values()) == pytest.approx(max(both.mean(), 1 - both.mean()))
    again = stability(X, LABELS, k=1, loss="logistic", groups=[[0, 1], [3, 4]], resamples=20)
    np.testing.assert_allclose(found.coefs, again.coefs, rtol=1e-9)


def test_a_run_that_is_stopped_goes_on_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "resamples"
    with pytest.warns(ConvergenceWarning, match="of 30"):
        part = stability(X, Y, k=2, resamples=30, checkpoint=file, checkpoint_every=0, callback=lambda _: True)
    assert part.status == "interrupted"
    assert part.n_resamples < 30
    whole = stability(X, Y, k=2, resamples=30, resume=file)
    straight = stability(X, Y, k=2, resamples=30)
    assert whole.status == "complete"
    np.testing.assert_array_equal(whole.coefs[: part.n_resamples], part.coefs)
    np.testing.assert_allclose(whole.coefs, straight.coefs, rtol=1e-9)
    # A run with more resamples keeps the earlier ones and adds others.
    more = stability(X, Y, k=2, resamples=40, resume=file)
    np.testing.assert_array_equal(more.coefs[:30], whole.coefs)
    with pytest.raises(ValueError, match="other data, options or resamples"):
        stability(X, Y, k=3, resamples=30, resume=file)


def test_a_time_limit_leaves_what_is_complete() -> None:
    with pytest.warns(ConvergenceWarning):
        found = stability(X, Y, k=2, resamples=10, time_limit=0)
    assert found.status == "time_limit"
    assert found.n_resamples == 0
    assert "0 bootstrap resamples of 10" in str(found)


def test_it_has_a_page_and_a_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    found = stability(X, Y, k=2, resamples=15)
    found.report(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert "15 bootstrap resamples" in text
    assert found.plot().get_xlabel()
    assert "%" in str(found)
    assert "<table>" in found._repr_html_()
