"""Pictures, with matplotlib.

Colours mean what they mean in the report. A figure that is made here is as large as its labels need; axes that are
given keep their size, and the labels become smaller instead.
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

#: What raises the prediction, the best model, a chosen feature; and what lowers it, the lower bound, another feature.
PLUS, MINUS = "#1f6fb2", "#c05a1c"

#: Names of features take at most this many columns, unless they would look alike.
_LONGEST = 48
#: Numbers that agree to this share are drawn as one: it is a thousand times what a proof allows them to differ by.
_FINEST = 1e-6
#: Inches of a line of text, and of a letter.
_LINE, _LETTER = 0.21, 0.085


def _axes(ax: Axes | None, names: Sequence[str] = (), *, columns: int = 0) -> Axes:
    """Give axes, or make a figure with room for names in lines and for columns beside them."""
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
    """Width and height of the axes, before labels take their part."""
    box = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
    return box.width, box.height


def _name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Name the rows of a chart, in letters that do not touch."""
    size = min(10.0, 72 * 0.8 * _inches(ax)[1] / max(len(names), 1))
    ax.set_yticks(range(len(names)), names, fontsize=max(size, 3.0))


def _shown(names: Sequence[str]) -> list[str]:
    """Names as they stand in a chart."""
    short = [_core.cut(name, _LONGEST) for name in names]
    return [name if short.count(cut) > 1 else cut for name, cut in zip(names, short, strict=True)]


def _sizes(coef: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Coefficients as they are drawn: of several responses or classes the length of those of a feature."""
    return np.linalg.norm(coef, axis=0) if coef.ndim > 1 else coef


def plot_gap(result: Result, ax: Axes | None) -> Axes:
    """Objective and lower bound over time."""
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
        # A scale that tells them apart would show a gap where there is none.
        ax.set_ylim(last - 0.1 * (abs(last) or 1.0), last + 0.1 * (abs(last) or 1.0))
    ax.set(xlabel="seconds", ylabel="objective")
    ax.set_title(textwrap.fill(result.headline, 60), fontsize="medium")
    ax.legend()
    return ax


def plot_path(path: SparsePath, ax: Axes | None) -> Axes:
    """Effects of one standard deviation of each column, over k."""
    used = path._used()
    names = _shown([path[0].names[j] for j in used])
    ax = _axes(ax, names)
    # Only now: the line above says what to do where matplotlib is missing.
    from matplotlib.ticker import MaxNLocator

    effects = np.column_stack([_sizes(result.coef_per_sd) for result in path])
    styles = ("-", "--", "-.", ":")
    for at, (j, name) in enumerate(zip(used, names, strict=True)):
        # There are ten colours.
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
    """Draw how often features were chosen, those of the model of all rows in its colour."""
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
    """Features by models; the colour is the coefficient as a share of the feature's largest one."""
    names = models[0].names
    counts = np.zeros(len(names), dtype=int)
    for model in models:
        counts[model.support] += 1
    # What most models have on top.
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
    # As many as have room beside each other.
    most = max(2, min(8, int((_inches(ax)[0] - _LETTER * max(map(_core.width, shown), default=0)) / 0.8)))
    ticks = range(0, len(models), -(-len(models) // most))
    ax.set_xticks(ticks, [f"{at + 1}\n+{_core.percent(models[at].objective / best - 1)} %" for at in ticks], fontsize=9)
    # White lines between the cells, thin where these are small.
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
    """Give the colours from -1 to 1: each sign has its own, also near 0."""
    from matplotlib.colors import LinearSegmentedColormap

    parts = [(0.0, MINUS), (0.5, "#efcdb8"), (0.5, "#bdd6ea"), (1.0, PLUS)]
    return LinearSegmentedColormap.from_list("l0star", parts).with_extremes(bad="#f2f3f5")


def plot_prices(prices: Prices, ax: Axes | None, most: int) -> Axes:
    """Bars of costs, dearest first, with their certified bounds."""
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
