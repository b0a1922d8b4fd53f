"""Prices: what every other decision about a feature would cost."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from l0star import _core
from l0star._report import finite

if TYPE_CHECKING:
    import pandas as pd

#: Number of features outside the model that a table shows.
_MOST_OTHERS = 10


@dataclass(frozen=True, kw_only=True)
class Price:
    """The cost of the other decision about one feature.

    Attributes
    ----------
    feature : str
        Name of the feature; for a group, of its first column.
    columns : list of str
        Columns of the feature: several for a group.
    chosen : bool
        Whether the model has the feature. If so, the price is that of leaving it out, else that of including it
        (counted in k).
    cost : float
        Increase of the objective.
    cost_bounds : tuple of float
        Certified lower and upper bounds of that increase.
    objective : float
        The smallest objective with the other decision; infinite if no model can have the feature.
    lower_bound : float
        A certified lower bound of that objective.
    status : str
        Status of the search for this price, as for :class:`Result`.
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
        """Convert a price of the engine, with names in place of column indices."""
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

    @property
    def decision(self) -> str:
        """The other decision: ``without x`` for a feature of the model, ``with x`` for another one."""
        return f"{'without' if self.chosen else 'with'} {self.feature}"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of the command's ``--json``, with None for infinite numbers."""
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

    def _told(self) -> tuple[str, str]:
        """Return the cost as text, and as a share of the objective."""
        if not np.isfinite(self.cost):
            return "impossible", ""
        note = _core.cost_note(self.status, self.cost_bounds, self.objective)
        if note is not None:
            lower, upper = self.cost_bounds
            return f"{lower:.6g} to {upper:.6g}", note
        return f"{self.cost:.6g}", f"{_core.percent(self.cost / max(self.objective - self.cost, 1e-12))} %"


class Prices(list[Price]):
    """A list of :class:`Price`, in column order, that is displayed as a table.

    The table has the features of the model first, in descending order of cost, then the others, in ascending order.
    """

    def ordered(self) -> list[Price]:
        """Return the prices in the order of the table."""
        chosen = sorted((price for price in self if price.chosen), key=lambda price: -price.cost)
        return chosen + sorted((price for price in self if not price.chosen), key=lambda price: price.cost)

    def to_pandas(self) -> pd.DataFrame:
        """Return all prices, in the order of the table.

        Returns
        -------
        pandas.DataFrame
            One row per price, with the fields of :class:`Price`; the index holds the features.
        """
        import pandas as pd

        fields = ("chosen", "cost", "objective", "lower_bound", "status", "features")
        ordered = self.ordered()
        rows = [{name: getattr(price, name) for name in fields} for price in ordered]
        frame = pd.DataFrame(rows, columns=list(fields))
        for at, name in enumerate(("cost_lower", "cost_upper")):
            frame.insert(2 + at, name, [price.cost_bounds[at] for price in ordered])
        frame.index = pd.Index([price.feature for price in ordered], name="feature", dtype=object)
        return frame

    def _shown(self) -> tuple[list[Price], str]:
        """Return the prices that a table shows, and a note about the others."""
        ordered = self.ordered()
        most = sum(price.chosen for price in ordered) + _MOST_OTHERS
        more = len(ordered) - most
        return ordered[:most], f"and {more} more, which cost no less (to_pandas() has all)" if more > 0 else ""

    def __repr__(self) -> str:
        shown, more = self._shown()
        if not shown:
            return "Prices([])"
        wide = max(_core.width(price.decision) for price in shown)
        lines = ["what each choice costs: how much the objective rises"]
        for price in shown:
            cost, share = price._told()
            name = price.decision + " " * (wide - _core.width(price.decision))
            lines.append(f"  {name}  {cost:>11}  {share:>8}".rstrip())
        return "\n".join([*lines, f"  {more}"] if more else lines)

    def _repr_html_(self) -> str:
        shown, more = self._shown()
        rows = []
        for price in shown:
            cost, share = price._told()
            cells = "".join(f"<td>{html.escape(cell)}</td>" for cell in (cost, share))
            then = html.escape(", ".join(price.features)) if np.isfinite(price.cost) else ""
            rows.append(
                f"<tr><th>{html.escape(price.decision)}</th>{cells}"
                f'<td style="text-align:left;overflow-wrap:anywhere">{then}</td></tr>'
            )
        head = "<tr><th></th><th>cost</th><th>of the objective</th><th>then the best features</th></tr>"
        rest = f"<p>{html.escape(more)}</p>" if more else ""
        return (
            "<div><p>What each choice costs: how much the objective rises.</p>"
            f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>{rest}</div>"
        )
