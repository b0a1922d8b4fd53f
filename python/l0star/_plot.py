"""Pictures, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from l0star._path import SparsePath
    from l0star._result import Result


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
    seconds, objective, bound = result.trace.T
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
