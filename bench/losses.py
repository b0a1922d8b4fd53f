"""Compares time, proof and objective with abess, which proves nothing, on counts, amounts, survival times and classes.

``python bench/losses.py`` needs the Python package, scikit-learn and abess (``bench/peers/requirements/inexact.txt``). The real
survival data come with lifelines, and are skipped if it is not installed. Columns are standardised here, so that both
solve the same problem. Every support of abess is refitted with the same ridge.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass
class Instance:
    """A problem and its name."""

    name: str
    loss: str
    x: Array
    y: Any
    k: int
    ridge: float = 1e-3
    extra: dict[str, Any] = field(default_factory=dict)

    def solve(self, columns: Array, k: int, limit: float) -> Any:
        """Run l0star on some of the columns."""
        import l0star

        return l0star.solve(
            columns, self.y, k=k, loss=self.loss, ridge=self.ridge, standardize=False, time_limit=limit, **self.extra
        )


def rows(n: int, d: int, rho: float, random: np.random.Generator) -> Array:
    """Draw rows of an AR(1) process."""
    x = np.empty((n, d))
    x[:, 0] = random.standard_normal(n)
    for j in range(1, d):
        x[:, j] = rho * x[:, j - 1] + np.sqrt(1 - rho**2) * random.standard_normal(n)
    return standard(x)


def standard(x: Array) -> Array:
    """Centre the columns and scale them to variance 1; constant ones are dropped."""
    x = x[:, x.std(axis=0) > 0]
    return np.asfortranarray((x - x.mean(axis=0)) / x.std(axis=0))


def drawn(loss: str, n: int, d: int, k: int, seed: int) -> Instance:
    """Draw an instance with k planted features of equal size."""
    random = np.random.default_rng(seed)
    x = rows(n, d, 0.5, random)
    z = x[:, random.choice(d, k, replace=False)] @ random.choice([-0.4, 0.4], k)
    name = f"{loss} n={n} d={d} k={k}, seed {seed}"
    if loss == "poisson":
        return Instance(name, loss, x, random.poisson(np.exp(z)).astype(float), k)
    if loss == "gamma":
        return Instance(name, loss, x, random.gamma(2.0, np.exp(z) / 2.0), k)
    times, censored = random.exponential(np.exp(-z)), random.exponential(2.0, n)
    return Instance(name, loss, x, np.minimum(times, censored), k, extra={"event": times <= censored})


def real(k: int) -> Iterator[Instance]:
    """Yield the lung cancer data of the North Central Cancer Treatment Group, with squares and pairwise products."""
    try:
        from lifelines.datasets import load_lung
    except ImportError:
        return
    frame = load_lung().drop(columns="inst").dropna()
    y, event = frame.pop("time").to_numpy(float), frame.pop("status").to_numpy() == 1
    x = standard(frame.to_numpy(float))
    pairs = combinations_with_replacement(range(x.shape[1]), 2)
    x = standard(np.column_stack([x, *(x[:, i] * x[:, j] for i, j in pairs)]))
    # The square of a column with two values is constant, and a product with it may be a copy.
    _, first = np.unique(np.round(x, 9), axis=1, return_index=True)
    x = x[:, np.sort(first)]
    name = f"cox lung, interactions, n={x.shape[0]} d={x.shape[1]} k={k}"
    yield Instance(name, "cox", x, y, k, extra={"event": event})


def classes() -> Iterator[Instance]:
    """Yield data with several classes: three kinds of wine, and ten digits."""
    from sklearn.datasets import load_digits, load_wine

    for name, load, ks in (("wine", load_wine, (3, 5)), ("digits", load_digits, (3,))):
        data = load()
        x = standard(data.data)
        for k in ks:
            title = f"multinomial {name} n={x.shape[0]} d={x.shape[1]} k={k}"
            yield Instance(title, "multinomial", x, data.target.astype(float), k)


def abess(instance: Instance) -> list[int]:
    """Run abess with the same ridge."""
    from abess import linear

    kinds: dict[str, Callable[..., Any]] = {
        "poisson": linear.PoissonRegression,
        "gamma": linear.GammaRegression,
        "cox": linear.CoxPHSurvivalAnalysis,
        "multinomial": linear.MultinomialRegression,
    }
    model = kinds[instance.loss](support_size=[instance.k], alpha=len(instance.x) * instance.ridge, thread=1)
    y = np.column_stack([instance.y, instance.extra["event"]]) if instance.loss == "cox" else instance.y
    model.fit(np.ascontiguousarray(instance.x), y, is_normal=False)
    coefficients = np.reshape(model.coef_, (instance.x.shape[1], -1))
    return [int(j) for j in np.flatnonzero(coefficients.any(axis=1))]


def instances() -> Iterator[Instance]:
    """Yield all instances."""
    for seed in (1, 2, 3):
        yield drawn("poisson", 1000, 100, 10, seed)
    yield drawn("poisson", 1000, 300, 10, 1)
    yield drawn("gamma", 1000, 100, 10, 1)
    for seed in (1, 2, 3):
        yield drawn("cox", 500, 50, 5, seed)
    yield drawn("cox", 500, 100, 5, 1)
    yield drawn("cox", 1000, 200, 8, 1)
    for k in (3, 5, 8):
        yield from real(k)
    yield from classes()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="time limit of l0star")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| instance | l0star | s | nodes | gap | abess s | objective of abess above ours |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for instance in instances():
        begin = time.perf_counter()
        ours = instance.solve(instance.x, instance.k, options.seconds)
        seconds = time.perf_counter() - begin
        try:
            begin = time.perf_counter()
            support = abess(instance)
            theirs = time.perf_counter() - begin
            fitted = instance.solve(instance.x[:, support], len(support), options.seconds)
            above = f"{100 * (fitted.objective / ours.objective - 1):.4f} %"
            told = f"{theirs:.2f}"
        except ImportError:
            told, above = "not installed", ""
        gap = "" if ours.status == "optimal" else f"{100 * ours.relative_gap:.2f} %"
        print(
            f"| {instance.name} | {ours.status} | {seconds:.2f} | {ours.nodes} | {gap} | {told} | {above} |", flush=True
        )


if __name__ == "__main__":
    main()
