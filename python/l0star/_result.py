"""What comes back: a model and what is proved of it."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_BAR = 30


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The best model found and what is proved of it.

    Attributes
    ----------
    status : str
        "optimal", "gap_reached", "time_limit", "node_limit", "memory_limit", "interrupted", or "heuristic" (an inexact
        method finished; nothing is proved).
    objective : float
        Of the model.
    lower_bound : float or None
        Certified: no model with at most ``k`` features is below it. None for an inexact method.
    k : int
        The features that were allowed.
    loss, ridge, method
        As asked for.
    coef : ndarray of shape (n_features,)
        Coefficients, zero outside the support.
    intercept : float
        0 when it is off.
    support : ndarray of int
        Indices of the features of the model, in column order.
    names : list of str
        Names of all features.
    classes : ndarray or None
        The two labels, for a loss on labels; the second one counts as positive.
    solver_calls, nodes, peak_open_nodes : int
        Relaxations and restricted problems solved; nodes looked at; most nodes open at any time.
    seconds : float
        Wall-clock time of the search.
    trace : ndarray of shape (n_points, 3)
        How the search went: seconds, objective, lower bound.
    fit_intercept : bool
        Whether there is an intercept.
    """

    status: str
    objective: float
    lower_bound: float | None
    k: int
    loss: str
    ridge: float
    method: str
    coef: npt.NDArray[np.float64]
    intercept: float
    support: npt.NDArray[np.int64]
    names: list[str]
    classes: npt.NDArray[Any] | None
    solver_calls: int
    nodes: int
    peak_open_nodes: int
    seconds: float
    trace: npt.NDArray[np.float64] = field(compare=False)
    fit_intercept: bool

    @property
    def gap(self) -> float | None:
        """``objective - lower_bound``, None for an inexact method."""
        return None if self.lower_bound is None else max(self.objective - self.lower_bound, 0.0)

    @property
    def relative_gap(self) -> float | None:
        """The gap divided by the objective."""
        return None if self.gap is None else self.gap / max(self.objective, 1e-12)

    @property
    def features(self) -> list[str]:
        """Names of the features of the model, in column order."""
        return [self.names[j] for j in self.support]

    @property
    def coefficients(self) -> dict[str, float]:
        """Name → coefficient, for the features of the model."""
        return {self.names[j]: float(self.coef[j]) for j in self.support}

    @property
    def headline(self) -> str:
        """What is proved, in one sentence."""
        models = f"no model with at most {self.k} features"
        reason = self.status.replace("_", " ")
        if self.status == "heuristic":
            return f"found by {self.method}; nothing is proved"
        if self.gap is None:
            return f"stopped ({reason}); nothing is proved"
        if self.status == "optimal":
            return f"proved optimal: {models} is better"
        if self.status == "gap_reached":
            return f"gap reached: {models} is better by more than {self.gap:.3g}"
        return f"stopped ({reason}): {models} is better by more than {self.gap:.3g}"

    def to_dict(self) -> dict[str, Any]:
        """Give the fields of the command's ``--json``, as plain Python objects."""
        fields: dict[str, Any] = {
            "status": self.status,
            "objective": self.objective,
            "lower_bound": self.lower_bound,
            "gap": self.gap,
            "relative_gap": self.relative_gap,
            "k": self.k,
            "loss": self.loss,
            "ridge": self.ridge,
            "intercept": self.intercept,
            "support": self.features,
            "coefficients": self.coefficients,
            "solver_calls": self.solver_calls,
            "nodes": self.nodes,
            "peak_open_nodes": self.peak_open_nodes,
            "seconds": self.seconds,
            "method": self.method,
        }
        if self.classes is not None:
            positive = self.classes[1]
            fields["positive_label"] = positive.item() if isinstance(positive, np.generic) else positive
        return fields

    def to_pandas(self) -> pd.DataFrame:
        """Coefficients of the features of the model, in column order, the intercept last.

        Returns
        -------
        pandas.DataFrame
            One column, ``coefficient``; the index holds the names.
        """
        import pandas as pd

        rows = self._rows()
        index = pd.Index([name for name, _, _ in rows], name="feature", dtype=object)
        return pd.DataFrame({"coefficient": [value for _, value, _ in rows]}, index=index, dtype=float)

    def plot_gap(self, ax: Axes | None = None) -> Axes:
        """Draw how objective and lower bound met. Needs matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from l0star._plot import plot_gap

        return plot_gap(self, ax)

    def _rows(self) -> list[tuple[str, float, float]]:
        """Name, coefficient, and the share of the largest one (none for the intercept)."""
        largest = float(np.abs(self.coef).max(initial=0.0)) or 1.0
        rows = [(self.names[j], float(self.coef[j]), float(abs(self.coef[j])) / largest) for j in self.support]
        return [*rows, ("(intercept)", self.intercept, 0.0)] if self.fit_intercept else rows

    def _facts(self) -> list[tuple[str, str]]:
        bound = "none" if self.lower_bound is None else f"{self.lower_bound:.10g}"
        gap = "none" if self.gap is None else f"{self.gap:.3g} ({100 * (self.relative_gap or 0.0):.2g} %)"
        return [
            ("objective", f"{self.objective:.10g}"),
            ("lower bound", bound),
            ("gap", gap),
            ("k", f"{self.k} of {len(self.names)} features"),
            ("nodes", f"{self.nodes} ({self.peak_open_nodes} open at most)"),
            ("seconds", f"{self.seconds:.3g}"),
            ("method", self.method),
        ]

    def __repr__(self) -> str:
        gap = "None" if self.gap is None else f"{self.gap:.3g}"
        return (
            f"Result(status={self.status!r}, objective={self.objective:.6g}, gap={gap}, k={self.k}, "
            f"features={self.features})"
        )

    def __str__(self) -> str:
        facts = "\n".join(f"  {name:<12}  {value}" for name, value in self._facts())
        rows = self._rows()
        width = max((len(name) for name, _, _ in rows), default=0)
        lines = [
            f"  {name:<{width}}  {value:>12.5g}  {'█' * round(_BAR * share)}".rstrip() for name, value, share in rows
        ]
        return f"{self.headline}\n\n{facts}\n\n" + "\n".join(lines)

    def _repr_html_(self) -> str:
        facts = "".join(f"<tr><th>{name}</th><td>{html.escape(value)}</td></tr>" for name, value in self._facts())
        rows = []
        for name, value, share in self._rows():
            colour = "#1f77b4" if value >= 0 else "#d62728"
            bar = f'<div style="width:{100 * share:.1f}%;height:.8em;background:{colour}"></div>'
            rows.append(f'<tr><th>{html.escape(name)}</th><td>{value:.5g}</td><td style="width:12em">{bar}</td></tr>')
        return (
            f"<div><p><b>{html.escape(self.headline)}</b></p><table>{facts}</table>"
            f"<table><thead><tr><th>feature</th><th>coefficient</th><th></th></tr></thead>"
            f"<tbody>{''.join(rows)}</tbody></table></div>"
        )
