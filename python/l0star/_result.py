"""Results: models and what is proved about them."""

from __future__ import annotations

import copy
import html
import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from l0star import _core, _plot
from l0star._docs import drawing
from l0star._prices import Prices
from l0star._report import Origin, Rows, model, notes, write

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_BAR = 30
#: Fields of the record that are also attributes of a result, with the same names.
_OWN = ("status", "objective", "lower_bound", "gap", "relative_gap", "k", "method")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Model:
    """A set of features with its best coefficients.

    Attributes
    ----------
    objective : float
        The smallest objective of any model with this set of features.
    huber_delta : float or None
        Residual at which Huber's loss becomes linear, as given or as estimated from the data; None for other losses.
    coef : ndarray of shape (n_features,), or (n_outputs, n_features) for several responses or classes
        Coefficients, zero outside the support.
    twins : dict
        Maps the name of a feature of the model to the names of its twins: columns that are the same up to units.
    intercept : float, or ndarray of shape (n_outputs,)
        The intercept; 0 without ``fit_intercept``.
    support : ndarray of int
        Indices of the features of the model, in column order: whole groups, and all included features. A coefficient
        may happen to be 0.
    names : list of str
        Names of all features.
    """

    objective: float
    coef: npt.NDArray[np.float64]
    intercept: Any
    support: npt.NDArray[np.int64]
    names: list[str]

    @property
    def features(self) -> list[str]:
        """Names of the features of the model, in column order."""
        return [self.names[j] for j in self.support]

    @property
    def coefficients(self) -> dict[str, Any]:
        """Maps each feature of the model to its coefficient, or to a list of them for several responses or classes."""
        return {self.names[j]: self.coef[..., j].tolist() for j in self.support}

    def __repr__(self) -> str:
        return f"Model(objective={self.objective:.6g}, features={self.features})"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Result(Model):
    """The best model found and what is proved about it.

    Attributes
    ----------
    status : str
        "optimal"; "gap_reached" (the gap is within the allowed error); "precision" (double precision cannot prove what
        was asked for); "time_limit", "node_limit", "memory_limit", "interrupted"; or "heuristic" (an inexact method
        finished; nothing is proved).
    objective : float
        Objective of the model.
    lower_bound : float or None
        Certified lower bound: no model with at most ``k`` features has an objective below it. None for an inexact
        method.
    relative_gap : float or None
        The gap divided by the objective, or by 1e-12 times that of the best model without features if that is larger.
    k : int
        The maximum number of features.
    loss, ridge, method
        The parameters of the call.
    huber_delta : float or None
        Residual at which Huber's loss becomes linear, as given or as estimated from the data; None for other losses.
    coef : ndarray of shape (n_features,), or (n_outputs, n_features) for several responses or classes
        Coefficients, zero outside the support.
    coef_per_sd : ndarray of the same shape
        Coefficients times the (weighted) standard deviations of their columns: the change of the prediction with one
        standard deviation. Bars and plots show these values, since they do not depend on the units of the columns.
    intercept : float, or ndarray of shape (n_outputs,)
        The intercept; 0 without ``fit_intercept``.
    responses : list of str
        Names of the responses if there are several; empty for one.
    support : ndarray of int
        Indices of the features of the model, in column order: those with a non-zero coefficient, whole groups, and all
        included features.
    names : list of str
        Names of all features.
    classes : ndarray or None
        The labels, for a loss on labels; of two labels the second one is the positive one.
    solutions : list of Model
        The best models, best first: this one, and others with ``top`` or ``within``.
    rest_bound : float or None
        With ``top`` or ``within``: a certified lower bound on the objective of every model that is not in
        ``solutions``; None if there is no other model.
    truncated : bool
        With ``within``: whether there are more such models than ``top`` allows.
    aic, bic, ebic : float or None
        Information criteria, the smaller the better: Akaike's, the Bayesian and the extended Bayesian. Huber's loss is
        treated as a likelihood; None for the squared hinge loss, which is not a likelihood.
    solver_calls, nodes, peak_open_nodes : int
        Relaxations and restricted problems solved; nodes examined; largest number of nodes open at any time.
    seconds : float
        Wall-clock time of the search.
    found_by : {"given", "greedy", "local-search", "search"}
        Origin of the model: given (by the caller, a smaller size of a path, or a checkpoint), or found by greedy steps
        and swaps, by the local search for models, or by the search itself.
    found_after : float
        Seconds from the start of the search until the model was found.
    trace : ndarray of shape (n_points, 4)
        Course of the search: seconds, objective, lower bound, nodes.
    fit_intercept : bool
        Whether there is an intercept.
    refit : bool
        Whether the coefficients are those of a second fit without the ridge. Objective and bound refer to the first.
    survival : dict or None
        For a Cox model: the baseline hazards, as in model files.
    priced : Prices or None
        See :meth:`prices`.
    warnings : list of str
        Warnings about the data.
    record : dict
        The fields of the command's ``--json``, for :meth:`to_dict`.
    origin : object or None
        Data and call that the result comes from, for :meth:`report`.
    rows : object or None
        The fitted rows, for :meth:`report`; copies and pickles of a result do not contain them.
    """

    coef_per_sd: npt.NDArray[np.float64]
    twins: dict[str, list[str]]
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
    found_by: str
    found_after: float
    trace: npt.NDArray[np.float64]
    fit_intercept: bool
    responses: list[str] = field(default_factory=list)
    refit: bool = False
    survival: dict[str, Any] | None = None
    priced: Prices | None = None
    warnings: list[str] = field(default_factory=list)
    record: dict[str, Any] = field(default_factory=dict)
    origin: Origin | None = None
    rows: Rows | None = None

    @property
    def outputs(self) -> list[str]:
        """The responses or classes that have a row of coefficients each; empty if there is only one."""
        if self.responses or self.classes is None or self.coef.ndim == 1:
            return self.responses
        return [str(label) for label in self.classes]

    def __getstate__(self) -> dict[str, Any]:
        # Copies and pickles do not contain the training data.
        return {**vars(self), "rows": None}

    @property
    def gap(self) -> float | None:
        """``objective - lower_bound``, None for an inexact method."""
        return None if self.lower_bound is None else max(self.objective - self.lower_bound, 0.0)

    @property
    def per_sd(self) -> dict[str, Any]:
        """Maps each feature of the model to the effect of one standard deviation of its column."""
        return {self.names[j]: self.coef_per_sd[..., j].tolist() for j in self.support}

    @property
    def metrics(self) -> dict[str, Any]:
        """How good the model is, as a dict from measures to numbers.

        ``metrics["training"]`` is about the fitted rows, and ``metrics["holdout"]`` about the held-out rows, if any.
        The measures are

        - ``r2``, ``rmse`` and ``mae`` for numbers;
        - ``auc``, ``accuracy`` and, with the logistic loss, ``log_loss`` and ``brier`` for labels;
        - the mean ``deviance``, ``rmse`` and ``mae`` for counts and amounts;
        - ``concordance`` and the partial ``deviance`` for times;
        - ``deviance_explained`` if the loss is a likelihood.

        Sample weights are taken into account. A measure that is not defined for the rows, such as the AUC of a single
        label, is absent.
        """
        return copy.deepcopy(self.record.get("metrics", {}))

    @property
    def headline(self) -> str:
        """One sentence that says what is proved."""
        assumed = self.assumption
        return _core.headline(
            self.status,
            self.k,
            self.objective,
            self.lower_bound,
            self.method,
            self.l0_penalty,
            None if assumed is None else (assumed["max_coefficient"], assumed["standardized"]),
            None if self.moments is None else (self.moments["rows"], self.moments["bound_lowered_by"]),
        )

    @property
    def moments(self) -> dict[str, Any] | None:
        """For a fit to :class:`Moments`: the number of ``rows``, and how much the bound was lowered for them."""
        return copy.deepcopy(self.record.get("moments"))

    @property
    def l0_penalty(self) -> float:
        """The price of a feature, which is part of the objective; 0 without a price."""
        return float(self.record.get("l0_penalty", 0.0))

    @property
    def objective_without_penalty(self) -> float:
        """The objective without the prices of the features."""
        return float(self.record.get("objective_without_penalty", self.objective))

    @property
    def assumption(self) -> dict[str, Any] | None:
        """The assumption under which the proof holds: the largest coefficient, and whether per standard deviation."""
        return self.record.get("assumption")

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of the command's ``--json``, as plain Python objects."""
        # Attributes that `dataclasses.replace` changed take precedence over the record.
        own = {name: getattr(self, name) for name in _OWN}
        fields: dict[str, Any] = {}
        for name, value in copy.deepcopy(self.record).items():
            if name == "method":
                fields |= {"found_by": self.found_by, "found_after": self.found_after}
            fields[name] = own.get(name, value)
        if self.classes is not None and self.coef.ndim == 1:
            positive = self.classes[1]
            fields["positive_label"] = positive.item() if isinstance(positive, np.generic) else positive
        return fields

    def report(self, file: str | os.PathLike[str]) -> None:
        """Write the result as one HTML page, the same as the command's ``--report``.

        The page shows what is proved, the coefficients, the course of the search, the best models, the prices, and how
        well the rows are fitted (except for a copy of the result from another process, which does not have the rows).
        The page is self-contained.

        Parameters
        ----------
        file : str or path
            Path of the file; an existing file is replaced.
        """
        write(file, self)

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the model to a file, which :func:`l0star.load` and the command read.

        Parameters
        ----------
        file : str or path
            Path of the file; an existing file is replaced.
        """
        _core.Model(model(self)).save(os.fspath(file))

    def export(self, to: str = "sql", *, table: str = "data", expression: bool = False) -> str:
        """Return the model as SQL or as Python code that computes the same numbers.

        Parameters
        ----------
        to : {"sql", "sqlite", "python"}, default="sql"
            Language of the code; "sql" is for PostgreSQL and DuckDB.
        table : str, default="data"
            Name of the table that the query reads.
        expression : bool, default=False
            Whether to return only the score, as an SQL expression.

        Returns
        -------
        str
            The code.
        """
        return _core.Model(model(self)).export(to, table=table, expression=expression)

    def to_pandas(self) -> pd.DataFrame:
        """Return the coefficients of the features of the model, in column order, with the intercept last.

        Returns
        -------
        pandas.DataFrame
            The columns ``coefficient`` and ``per_sd``, the effect of one standard deviation (none for the intercept);
            the index holds the names. For several responses or classes there is one column of coefficients for each.
        """
        import pandas as pd

        if self.outputs:
            table = self._by_response()
            index = pd.Index([name for name, _ in table], name="feature", dtype=object)
            return pd.DataFrame([values for _, values in table], index=index, columns=self.outputs, dtype=float)
        names, coefficients, effects = zip(*self._rows(), strict=True) if self._rows() else ((), (), ())
        index = pd.Index(names, name="feature", dtype=object)
        return pd.DataFrame({"coefficient": coefficients, "per_sd": effects}, index=index, dtype=float)

    @property
    def odds_ratios(self) -> dict[str, float]:
        """Maps a feature to the factor by which one unit multiplies the odds of the second label; logistic loss."""
        return dict(self.record.get("odds_ratios", {}))

    @property
    def rate_ratios(self) -> dict[str, float]:
        """Maps a feature to the factor by which one unit multiplies the response; Poisson and gamma losses only."""
        return dict(self.record.get("rate_ratios", {}))

    def summary(self) -> pd.DataFrame:
        """Return the coefficients with their inference, taking the chosen features as given.

        Standard errors and 95 % intervals are conditional on the chosen features. The features were chosen on the same
        rows, so the intervals are too narrow; :func:`l0star.stability` has intervals that include the choice. Without
        ``refit`` they refer to the coefficients with the ridge.

        Returns
        -------
        pandas.DataFrame
            One row per feature, the intercept last: ``coefficient``; ``per_sd``; ``odds_ratio`` for the logistic loss,
            ``rate_ratio`` for the Poisson and gamma losses; ``standard_error``, ``lower`` and ``upper``, where
            available; and, with ``prices=True``, ``cost_without``, the smallest increase of the objective without the
            feature. ``attrs["notes"]`` explains the numbers. For several responses or classes there is one row per
            feature and response or class, without ``per_sd`` and ratios.
        """
        if self.outputs:
            return self._summary_by_response()
        inference = self.record.get("inference") or {"coefficients": []}
        known = {own["feature"]: own for own in inference["coefficients"]}
        frame = self.to_pandas()
        names = [str(name) for name in frame.index]

        def column(values: dict[str, Any]) -> list[float]:
            return [np.nan if (value := values.get(name)) is None else float(value) for name in names]

        if self.odds_ratios:
            frame["odds_ratio"] = column(self.odds_ratios)
        if self.rate_ratios:
            frame["rate_ratio"] = column(self.rate_ratios)
        for title in ("standard_error", "lower", "upper"):
            frame[title] = column({name: own[title] for name, own in known.items()})
        if self.priced is not None:
            frame["cost_without"] = column({name: p.cost for p in self.priced if p.chosen for name in p.columns})
        frame.attrs["notes"] = notes(self)
        return frame

    def _summary_by_response(self) -> pd.DataFrame:
        import pandas as pd

        inference = self.record.get("inference") or {"coefficients": []}
        known = {(own["feature"], own.get("output")): own for own in inference["coefficients"]}
        table = self.to_pandas()
        keys = [(str(name), output) for name in table.index for output in self.outputs]
        what = "response" if self.classes is None else "class"
        index = pd.MultiIndex.from_tuples(keys, names=["feature", what])
        frame = pd.DataFrame({"coefficient": table.to_numpy().ravel()}, index=index)

        def column(values: list[float | None]) -> list[float]:
            return [np.nan if value is None else float(value) for value in values]

        for title in ("standard_error", "lower", "upper"):
            frame[title] = column([known.get(key, {}).get(title) for key in keys])
        if self.priced is not None:
            costs = {name: p.cost for p in self.priced if p.chosen for name in p.columns}
            frame["cost_without"] = column([costs.get(name) for name, _ in keys])
        frame.attrs["notes"] = notes(self)
        return frame

    def prices(self) -> Prices:
        """Return what every other decision about a feature would cost, for ``solve(…, prices=True)``.

        Returns
        -------
        Prices
            A list of :class:`Price` in column order: for each feature of the model the cost of leaving it out, for
            each other feature the cost of including it. Features of ``include`` and ``exclude`` have no price. The list
            is displayed as a table, and ``to_pandas()`` returns a frame.
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
        """Draw the features of the best models, one column per model; for ``top`` and ``within``. Needs matplotlib."""
        return _plot.plot_models(self.solutions, ax)

    @drawing
    def plot_gap(self, ax: Axes | None = None) -> Axes:
        """Draw the objective and the lower bound over time. Needs matplotlib."""
        return _plot.plot_gap(self, ax)

    def _by_response(self) -> list[tuple[str, list[float]]]:
        """Return name and coefficients of each feature for several responses or classes, the intercept last."""
        rows = [(self.names[j], self.coef[:, j].tolist()) for j in self.support]
        return [*rows, ("(intercept)", list(self.intercept))] if self.fit_intercept else rows

    def _rows(self) -> list[tuple[str, float, float | None]]:
        """Return name, coefficient, and effect of one standard deviation (none for the intercept)."""
        rows: list[tuple[str, float, float | None]] = [
            (self.names[j], float(self.coef[j]), float(self.coef_per_sd[j])) for j in self.support
        ]
        return [*rows, ("(intercept)", self.intercept, None)] if self.fit_intercept else rows

    def _bars(self) -> list[tuple[str, float, str, float]]:
        """Return name, coefficient, effect of one standard deviation as text, and its share of the largest effect."""
        largest = float(np.abs(self.coef_per_sd).max(initial=0.0)) or 1.0
        return [
            (name, value, "" if effect is None else f"{effect:.4g}", abs(effect or 0.0) / largest)
            for name, value, effect in self._rows()
        ]

    @property
    def _is_list(self) -> bool:
        return len(self.solutions) > 1 or self.rest_bound is not None

    def _facts(self) -> list[tuple[str, str]]:
        bound = "none" if self.lower_bound is None else f"{self.lower_bound:.10g}"
        gap = _core.gap(self.objective, self.lower_bound) or "none"
        others = "there is no other" if self.rest_bound is None else f"no other is below {self.rest_bound:.10g}"
        models = [("models", f"{len(self.solutions)} listed; {others}")] if self._is_list else []
        delta = [] if self.huber_delta is None else [("huber delta", f"{self.huber_delta:.6g}")]
        known = _core.measures(json.dumps(self.metrics)) if self.metrics else []
        measures = [(label, f"{line} ({rows})") for label, line, rows in known]
        twins = [("twins", f"{', '.join(others)} could stand for {name}") for name, others in self.twins.items()]
        return [
            ("objective", f"{self.objective:.10g}"),
            *(
                [("l0 penalty", f"{self.objective - self.objective_without_penalty:.6g} of it")]
                if self.l0_penalty
                else []
            ),
            ("lower bound", bound),
            ("gap", gap),
            *models,
            *delta,
            ("k", f"{self.k} ({_core.counted(len(self.names), 'column')})"),
            *measures,
            *twins,
        ]

    def _small_print(self) -> str:
        """Return a line about the course of the search."""
        return _core.small_print(self.nodes, self.peak_open_nodes, self.solver_calls, self.seconds, self.method)

    def __repr__(self) -> str:
        gap = "None" if self.gap is None else f"{self.gap:.3g}"
        return (
            f"Result(status={self.status!r}, objective={self.objective:.6g}, gap={gap}, k={self.k}, "
            f"features={self.features})"
        )

    def __str__(self) -> str:
        facts = "\n".join(f"  {name:<12}  {_core.printable(value)}" for name, value in self._facts())
        if self.outputs:
            return f"{self.headline}\n\n{facts}\n\n{self._table()}\n\n  {self._small_print()}"
        rows = [(_core.printable(name), value, effect, share) for name, value, effect, share in self._bars()]
        wide = max((_core.width(name) for name, *_ in rows), default=0)
        wide = max(wide, len("feature"))
        lines = [f"  {'feature':<{wide}}  {'coefficient':>12}  {'per SD':>10}"]
        for name, value, effect, share in rows:
            padded = name + " " * (wide - _core.width(name))
            lines.append(f"  {padded}  {value:>12.5g}  {effect:>10}  {'█' * round(_BAR * share)}".rstrip())
        table = "\n".join(lines)
        return f"{self.headline}\n\n{facts}\n\n{table}\n\n  {self._small_print()}"

    def _table(self) -> str:
        """Return the coefficients of several responses or classes as text, one column for each."""
        rows = [(_core.printable(name), values) for name, values in self._by_response()]
        wide = max([_core.width(name) for name, _ in rows] + [len("feature")])
        titles = [_core.printable(name) for name in self.outputs]
        widths = [max(_core.width(title), 12) for title in titles]
        pad = [" " * (width - _core.width(title)) + title for title, width in zip(titles, widths, strict=True)]
        lines = ["  ".join(["  " + "feature".ljust(wide), *pad])]
        for name, values in rows:
            cells = [f"{value:>{width}.5g}" for value, width in zip(values, widths, strict=True)]
            lines.append("  ".join(["  " + name + " " * (wide - _core.width(name)), *cells]))
        return "\n".join(lines)

    def _html_by_response(self, facts: str) -> str:
        """Return the HTML of several responses or classes for a notebook."""
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.outputs)
        body = "".join(
            f"<tr><th>{html.escape(name)}</th>{''.join(f'<td>{value:.5g}</td>' for value in values)}</tr>"
            for name, values in self._by_response()
        )
        return (
            f"<div><p><b>{html.escape(self.headline)}</b></p><table>{facts}</table>"
            f"<table><thead><tr><th>feature</th>{head}</tr></thead><tbody>{body}</tbody></table>"
            f"<p><small>{html.escape(self._small_print())}</small></p></div>"
        )

    def _repr_html_(self) -> str:
        facts = "".join(f"<tr><th>{name}</th><td>{html.escape(value)}</td></tr>" for name, value in self._facts())
        if self.outputs:
            return self._html_by_response(facts)
        rows = []
        for name, value, effect, share in self._bars():
            colour = _plot.PLUS if value >= 0 else _plot.MINUS
            bar = f'<div style="width:{100 * share:.1f}%;height:.8em;background:{colour}"></div>'
            rows.append(
                f'<tr><th style="overflow-wrap:anywhere">{html.escape(name)}</th><td>{value:.5g}</td><td>{effect}</td>'
                f'<td style="width:12em">{bar}</td></tr>'
            )
        return (
            f"<div><p><b>{html.escape(self.headline)}</b></p><table>{facts}</table>"
            f"<table><thead><tr><th>feature</th><th>coefficient</th><th>per SD</th><th></th></tr></thead>"
            f"<tbody>{''.join(rows)}</tbody></table><p><small>{html.escape(self._small_print())}</small></p></div>"
        )
