"""What comes back: a model and what is proved of it."""

from __future__ import annotations

import html
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from l0star import _plot
from l0star._docs import drawing
from l0star._report import Origin, Rows, finite, write

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from l0star import _core

_BAR = 30


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Model:
    """A set of features with its best coefficients.

    Attributes
    ----------
    objective : float
        The least value that the set of features allows.
    huber_delta : float or None
        Where Huber's loss becomes linear, as given or as the data have it; None for other losses.
    coef : ndarray of shape (n_features,)
        Coefficients, zero outside the support.
    intercept : float
        0 when it is off.
    support : ndarray of int
        Indices of the features of the model, in column order: whole groups, and all that is included; a coefficient
        may happen to be 0.
    names : list of str
        Names of all features.
    """

    objective: float
    coef: npt.NDArray[np.float64]
    intercept: float
    support: npt.NDArray[np.int64]
    names: list[str]

    @property
    def features(self) -> list[str]:
        """Names of the features of the model, in column order."""
        return [self.names[j] for j in self.support]

    @property
    def coefficients(self) -> dict[str, float]:
        """Name → coefficient, for the features of the model."""
        return {self.names[j]: float(self.coef[j]) for j in self.support}

    def __repr__(self) -> str:
        return f"Model(objective={self.objective:.6g}, features={self.features})"


@dataclass(frozen=True, kw_only=True)
class Price:
    """What it costs to decide otherwise about one feature.

    Attributes
    ----------
    feature : str
        The feature; a group by its first column.
    columns : list of str
        Its columns: more than one for a group.
    chosen : bool
        Whether the model has it: then the price is that of doing without it, else that of having it (counted in k).
    cost : float
        How much the objective rises.
    cost_bounds : tuple of float
        A certified lower and a certified upper bound of that rise.
    objective : float
        The least objective with the other decision; infinite when no model can have the feature.
    lower_bound : float
        A certified lower bound of that objective.
    status : str
        What is known of it.
    features : list of str
        The features of the best model with the other decision.
    """

    feature: str
    columns: list[str]
    chosen: bool
    cost: float
    cost_bounds: tuple[float, float]
    objective: float
    lower_bound: float
    status: str
    features: list[str]

    @classmethod
    def of(cls, price: _core.Price, names: list[str]) -> Price:
        """Name what the engine numbers."""
        columns = [names[j] for j in price.columns]
        return cls(
            feature=columns[0],
            columns=columns,
            chosen=price.chosen,
            cost=price.cost,
            cost_bounds=price.cost_bounds,
            objective=price.objective,
            lower_bound=price.lower_bound,
            status=price.status,
            features=[names[j] for j in price.support],
        )

    def to_dict(self) -> dict[str, Any]:
        """Give the fields of the command's ``--json``, None for what is infinite."""
        lower, upper = self.cost_bounds
        return {
            "feature": self.feature,
            "chosen": self.chosen,
            "cost": finite(self.cost),
            "cost_lower": finite(lower),
            "cost_upper": finite(upper),
            "objective": finite(self.objective),
            "lower_bound": finite(self.lower_bound),
            "status": self.status,
            "support": self.features,
        }


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Result(Model):
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
    relative_gap : float or None
        The gap divided by the objective, or by 1e-12 of that of the best model without features where that is larger.
    k : int
        The features that were allowed.
    loss, ridge, method
        As asked for.
    coef : ndarray of shape (n_features,)
        Coefficients, zero outside the support.
    intercept : float
        0 when it is off.
    support : ndarray of int
        Indices of the features of the model, in column order: those with a non-zero coefficient, whole groups, and all
        that is included.
    names : list of str
        Names of all features.
    classes : ndarray or None
        The two labels, for a loss on labels; the second one counts as positive.
    solutions : list of Model
        The best models, best first: this one, and with ``top`` or ``within`` others.
    rest_bound : float or None
        With ``top`` or ``within``: a certified lower bound of every model that is not in ``solutions``; None when there
        is no other.
    truncated : bool
        With ``within``: there are more such models than ``top`` has room for.
    aic, bic, ebic : float or None
        Information criteria, the smaller the better: Akaike's, the Bayesian and the extended Bayesian. Huber's loss
        stands in for a likelihood; None for the squared hinge loss, which is none.
    solver_calls, nodes, peak_open_nodes : int
        Relaxations and restricted problems solved; nodes looked at; most nodes open at any time.
    seconds : float
        Wall-clock time of the search.
    trace : ndarray of shape (n_points, 4)
        How the search went: seconds, objective, lower bound, nodes.
    fit_intercept : bool
        Whether there is an intercept.
    priced : list of Price or None
        See :meth:`prices`.
    warnings : list of str
        What was warned of in the data.
    origin : object or None
        Where the result comes from, for :meth:`report`.
    rows : object or None
        The rows that were fitted, for :meth:`report`; copies and pickles of a result go without them.
    """

    status: str
    lower_bound: float | None
    relative_gap: float | None
    k: int
    loss: str
    huber_delta: float | None
    ridge: float
    method: str
    classes: npt.NDArray[Any] | None
    solutions: list[Model]
    rest_bound: float | None
    truncated: bool
    aic: float | None
    bic: float | None
    ebic: float | None
    solver_calls: int
    nodes: int
    peak_open_nodes: int
    seconds: float
    trace: npt.NDArray[np.float64]
    fit_intercept: bool
    priced: list[Price] | None = None
    warnings: list[str] = field(default_factory=list)
    origin: Origin | None = None
    rows: Rows | None = None

    def __getstate__(self) -> dict[str, Any]:
        # A model that is sent somewhere does not take the training data along.
        return {**vars(self), "rows": None}

    @property
    def gap(self) -> float | None:
        """``objective - lower_bound``, None for an inexact method."""
        return None if self.lower_bound is None else max(self.objective - self.lower_bound, 0.0)

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
            "huber_delta": self.huber_delta,
            "ridge": self.ridge,
            "intercept": self.intercept,
            "support": self.features,
            "coefficients": self.coefficients,
            "solver_calls": self.solver_calls,
            "nodes": self.nodes,
            "peak_open_nodes": self.peak_open_nodes,
            "seconds": self.seconds,
            "method": self.method,
            "warnings": list(self.warnings),
        }
        if self.origin is not None and self.origin.constraints:
            fields["constraints"] = self.origin.constraints
        if self.priced is not None:
            fields["prices"] = [price.to_dict() for price in self.priced]
        if self._is_list:
            fields["solutions"] = [
                {
                    "objective": model.objective,
                    "intercept": model.intercept,
                    "support": model.features,
                    "coefficients": model.coefficients,
                }
                for model in self.solutions
            ]
            fields["rest_bound"], fields["truncated"] = self.rest_bound, self.truncated
        if self.classes is not None:
            positive = self.classes[1]
            fields["positive_label"] = positive.item() if isinstance(positive, np.generic) else positive
        return fields

    def report(self, file: str | os.PathLike[str]) -> None:
        """Write the result as one HTML page, the same as that of the command's ``--report``.

        It shows what is proved, the coefficients, how the search went, the best models, the prices, and how well the
        rows are fitted (not in a copy of the result from another process, which does not have them). It needs nothing
        from elsewhere, so that it can be sent to anyone.

        Parameters
        ----------
        file : str or path
            Where to write it; what is there is replaced.
        """
        write(file, self)

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

    def prices(self) -> list[Price]:
        """Say what every other decision about a feature would cost, for ``solve(…, prices=True)``.

        Returns
        -------
        list of Price
            In column order: for each feature of the model the cost of doing without it, for each other one the cost of
            having it. Included and excluded features have none.
        """
        if self.priced is None:
            raise ValueError("There are no prices, which take searches of their own: solve with prices=True.")
        return self.priced

    @drawing
    def plot_prices(self, ax: Axes | None = None, *, most: int = 30) -> Axes:
        """Draw what every other decision would cost. Needs matplotlib and ``solve(…, prices=True)``."""
        return _plot.plot_prices(self.prices(), ax, most)

    @drawing
    def plot_models(self, ax: Axes | None = None) -> Axes:
        """Draw which features the best models have, a column a model. Needs matplotlib; for ``top`` and ``within``."""
        return _plot.plot_models(self.solutions, ax)

    @drawing
    def plot_gap(self, ax: Axes | None = None) -> Axes:
        """Draw how objective and lower bound met. Needs matplotlib."""
        return _plot.plot_gap(self, ax)

    def _rows(self) -> list[tuple[str, float, float]]:
        """Name, coefficient, and the share of the largest one (none for the intercept)."""
        largest = float(np.abs(self.coef).max(initial=0.0)) or 1.0
        rows = [(self.names[j], float(self.coef[j]), float(abs(self.coef[j])) / largest) for j in self.support]
        return [*rows, ("(intercept)", self.intercept, 0.0)] if self.fit_intercept else rows

    @property
    def _is_list(self) -> bool:
        return len(self.solutions) > 1 or self.rest_bound is not None

    def _facts(self) -> list[tuple[str, str]]:
        bound = "none" if self.lower_bound is None else f"{self.lower_bound:.10g}"
        gap = "none" if self.gap is None else f"{self.gap:.3g} ({100 * (self.relative_gap or 0.0):.2g} %)"
        others = "there is no other" if self.rest_bound is None else f"no other is below {self.rest_bound:.10g}"
        models = [("models", f"{len(self.solutions)} listed; {others}")] if self._is_list else []
        return [
            ("objective", f"{self.objective:.10g}"),
            ("lower bound", bound),
            ("gap", gap),
            *models,
            ("k", f"{self.k} ({len(self.names)} columns)"),
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
