"""Plots with matplotlib.

Colours have the same meaning as in the report. A figure created here is as large as its labels need. Axes passed by
the caller keep their size, and the labels become smaller instead.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from l0star import _core

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

    from l0star._path import SparsePath
    from l0star._prices import Prices
    from l0star._result import Model, Result

#: PLUS is for positive effects, the best model and chosen features; MINUS for negative effects, bounds and the rest.
PLUS, MINUS = "#1f6fb2", "#c05a1c"

#: Maximum display width of a feature name, unless shortened names would be identical.
_LONGEST = 48
#: Relative difference below which numbers are drawn as one: a thousand times what a proof allows.
_FINEST = 1e-6
#: Height of a line of text and width of a letter, in inches.
_LINE, _LETTER = 0.21, 0.085


def _axes(ax: Axes | None, names: Sequence[str] = (), *, columns: int = 0) -> Axes:
    """Return the given axes, or create a figure with room for row names and for columns."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("Plots need matplotlib: pip install 'l0star[plot]'.") from error
    longest = max((_core.width(name) for name in names), default=0)
    width = max(6.4, 4.2 + _LETTER * longest, 1.2 + 0.16 * columns + _LETTER * longest)
    height = max(4.8, 1.3 + _LINE * len(names))
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def _inches(ax: Axes) -> tuple[float, float]:
    """Return width and height of the axes in inches, before labels take up space."""
    box = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
    return box.width, box.height


def _name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Label the rows of a chart, in a font small enough that labels do not overlap."""
    size = min(10.0, 72 * 0.8 * _inches(ax)[1] / max(len(names), 1))
    ax.set_yticks(range(len(names)), names, fontsize=max(size, 3.0))


def _shown(names: Sequence[str]) -> list[str]:
    """Shorten names for a chart."""
    short = [_core.cut(name, _LONGEST) for name in names]
    return [name if short.count(cut) > 1 else cut for name, cut in zip(names, short, strict=True)]


def _sizes(coef: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return coefficients for a plot; with several responses or classes, the norm of each feature's coefficients."""
    return np.linalg.norm(coef, axis=0) if coef.ndim > 1 else coef


def plot_gap(result: Result, ax: Axes | None) -> Axes:
    """Plot objective and lower bound over time."""
    ax = _axes(ax)
    seconds, objective, bound, _ = result.trace.T
    ax.step(seconds, objective, where="post", label="objective", color=PLUS)
    known = np.isfinite(bound)
    if known.any():
        ax.step(seconds, bound, where="post", label="lower bound", color=MINUS, linestyle="--", marker=".")
        ax.fill_between(seconds, bound, objective, step="post", alpha=0.15, color=PLUS)
    values = np.concatenate([objective, bound[known]])
    last = float(objective[-1])
    if np.ptp(values) <= _FINEST * abs(last):
        # A scale that separates the values would show a gap where there is none.
        ax.set_ylim(last - 0.1 * (abs(last) or 1.0), last + 0.1 * (abs(last) or 1.0))
    ax.set(xlabel="seconds", ylabel="objective")
    ax.set_title(textwrap.fill(result.headline, 60), fontsize="medium")
    ax.legend()
    return ax


def plot_path(path: SparsePath, ax: Axes | None) -> Axes:
    """Plot the effect of one standard deviation of each column over k."""
    used = path._used()
    names = _shown([path[0].names[j] for j in used])
    ax = _axes(ax, names)
    # Imported only now, since the call above reports a missing matplotlib with advice.
    from matplotlib.ticker import MaxNLocator

    effects = np.column_stack([_sizes(result.coef_per_sd) for result in path])
    styles = ("-", "--", "-.", ":")
    for at, (j, name) in enumerate(zip(used, names, strict=True)):
        # The default cycle has ten colours.
        style = styles[at // 10 % len(styles)]
        ax.plot(path.ks, effects[j], marker="o", markersize=3, color=f"C{at % 10}", linestyle=style, label=name)
    ax.axhline(0.0, color="black", linewidth=0.5)
    ax.set(xlabel="k", ylabel="effect of one standard deviation")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if used:
        size = min(10.0, 72 * 0.7 * _inches(ax)[1] / len(used))
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=max(size, 3.0))
    return ax


def plot_frequencies(features: Sequence[dict[str, Any]], ax: Axes | None, most: int) -> Axes:
    """Plot how often features were chosen; those of the model of all rows have its colour."""
    features = features[:most]
    names = _shown([own["feature"] for own in features])
    ax = _axes(ax, names)
    colours = [PLUS if own["chosen"] else MINUS for own in features]
    ax.barh(range(len(names)), [100 * own["frequency"] for own in features], color=colours)
    _name_rows(ax, names)
    ax.invert_yaxis()
    ax.set(xlabel="% of resamples that chose it", xlim=(0, 100))
    return ax


def plot_models(models: Sequence[Model], ax: Axes | None) -> Axes:
    """Plot features by models; the colour is the coefficient relative to the feature's largest one."""
    names = models[0].names
    counts = np.zeros(len(names), dtype=int)
    for model in models:
        counts[model.support] += 1
    # Features that most models have are on top.
    used = sorted(np.flatnonzero(counts), key=lambda j: (-counts[j], j))
    shares = np.full((len(used), len(models)), np.nan)
    for row, j in enumerate(used):
        values = np.array([_sizes(model.coef)[j] if j in model.support else np.nan for model in models])
        shares[row] = values / (np.nanmax(np.abs(values)) or 1.0)
    shown = _shown([names[j] for j in used])
    ax = _axes(ax, shown, columns=len(models))
    ax.imshow(shares, cmap=_signs(), vmin=-1, vmax=1, aspect="auto", interpolation="nearest")
    _name_rows(ax, shown)
    best = max(models[0].objective, 1e-300)
    # As many tick labels as fit next to each other.
    most = max(2, min(8, int((_inches(ax)[0] - _LETTER * max(map(_core.width, shown), default=0)) / 0.8)))
    ticks = range(0, len(models), -(-len(models) // most))
    ax.set_xticks(ticks, [f"{at + 1}\n+{_core.percent(models[at].objective / best - 1)} %" for at in ticks], fontsize=9)
    # White lines between the cells, thinner for small cells.
    width, height = _inches(ax)
    thickness = min(1.0, 9 * width / len(models), 9 * height / max(len(used), 1))
    ax.set_xticks(np.arange(0.5, len(models) - 1), minor=True)
    ax.set_yticks(np.arange(0.5, len(used) - 1), minor=True)
    ax.grid(which="minor", color="white", linewidth=thickness)
    ax.tick_params(which="minor", length=0)
    ax.set_xlabel("model, and how much its objective is above the best")
    ax.set_title("blue raises the prediction, orange lowers it", fontsize="medium")
    return ax


def _signs() -> Colormap:
    """Return the colour map from -1 to 1, in which the two signs differ even near 0."""
    from matplotlib.colors import LinearSegmentedColormap

    parts = [(0.0, MINUS), (0.5, "#efcdb8"), (0.5, "#bdd6ea"), (1.0, PLUS)]
    return LinearSegmentedColormap.from_list("l0star", parts).with_extremes(bad="#f2f3f5")


def plot_prices(prices: Prices, ax: Axes | None, most: int) -> Axes:
    """Plot costs as bars with their certified bounds, in the order of the table."""
    ordered = [price for price in prices.ordered() if np.isfinite(price.cost)][:most]
    names = _shown([price.feature for price in ordered])
    ax = _axes(ax, names)
    for chosen, label, colour in ((True, "without it", PLUS), (False, "with it", MINUS)):
        rows = [row for row, price in enumerate(ordered) if price.chosen == chosen]
        if not rows:
            continue
        costs = np.array([ordered[row].cost for row in rows])
        bounds = np.array([ordered[row].cost_bounds for row in rows]).T
        ax.barh(rows, costs, xerr=np.abs(bounds - costs), label=label, color=colour)
    _name_rows(ax, names)
    ax.invert_yaxis()
    ax.set(xlabel="rise of the objective")
    if ordered:
        ax.legend()
    return ax
