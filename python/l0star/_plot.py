"""Pictures, with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from l0star import _core

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from l0star._path import SparsePath
    from l0star._result import Model, Price, Result


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("Plots need matplotlib: pip install 'l0star[plot]'.") from error
    return plt.subplots()[1]


def plot_gap(result: Result, ax: Axes | None) -> Axes:
    """Objective and lower bound over time."""
    ax = _axes(ax)
    seconds, objective, bound, _ = result.trace.T
    ax.step(seconds, objective, where="post", label="objective")
    if np.isfinite(bound).any():
        ax.step(seconds, bound, where="post", label="lower bound")
        ax.fill_between(seconds, bound, objective, step="post", alpha=0.15)
    ax.set(xlabel="seconds", ylabel="objective", title=result.headline)
    ax.legend()
    return ax


def plot_path(path: SparsePath, ax: Axes | None) -> Axes:
    """Coefficients over k."""
    ax = _axes(ax)
    coefs = path.coefs
    for j in path._used():
        ax.plot(path.ks, coefs[j], marker="o", markersize=3, label=path[0].names[j])
    ax.axhline(0.0, color="black", linewidth=0.5)
    ax.set(xlabel="k", ylabel="coefficient")
    ax.set_xticks(path.ks)
    if path._used():
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def plot_models(models: Sequence[Model], ax: Axes | None) -> Axes:
    """Features by models; the colour is the coefficient as a share of the feature's largest one."""
    ax = _axes(ax)
    names = models[0].names
    counts = np.zeros(len(names), dtype=int)
    for model in models:
        counts[model.support] += 1
    # What most models have on top.
    used = sorted(np.flatnonzero(counts), key=lambda j: (-counts[j], j))
    shares = np.full((len(used), len(models)), np.nan)
    for row, j in enumerate(used):
        values = np.array([model.coef[j] if j in model.support else np.nan for model in models])
        shares[row] = values / (np.nanmax(np.abs(values)) or 1.0)
    ax.imshow(shares, cmap="RdBu", vmin=-1.5, vmax=1.5, aspect="auto", interpolation="nearest")
    ax.set_yticks(range(len(used)), [names[j] for j in used])
    step = -(-len(models) // 10)
    best = max(models[0].objective, 1e-300)
    ticks = range(0, len(models), step)
    ax.set_xticks(ticks, [f"{at + 1}\n+{_core.percent(models[at].objective / best - 1)} %" for at in ticks])
    ax.set(xlabel="model, and how much its objective is above the best", title="blue: positive, red: negative")
    return ax


def plot_prices(prices: Sequence[Price], ax: Axes | None, most: int) -> Axes:
    """Bars of costs, dearest first, with their certified bounds."""
    ax = _axes(ax)
    finite = [price for price in prices if np.isfinite(price.cost)]
    chosen = sorted((price for price in finite if price.chosen), key=lambda price: -price.cost)
    others = sorted((price for price in finite if not price.chosen), key=lambda price: price.cost)
    start = 0
    for label, part in (("without it", chosen[:most]), ("with it", others[: max(most - len(chosen), 0)])):
        if not part:
            continue
        rows = np.arange(start, start + len(part))
        start += len(part)
        costs = np.array([price.cost for price in part])
        bounds = np.array([price.cost_bounds for price in part]).T
        errors = np.abs(bounds - costs)
        ax.barh(rows, costs, xerr=errors, label=label)
    ax.set_yticks(range(start), [price.feature for price in [*chosen[:most], *others][:start]])
    ax.invert_yaxis()
    ax.set(xlabel="rise of the objective")
    if start:
        ax.legend()
    return ax
