"""The function ``solve``, and the code that it shares with the estimators."""

from __future__ import annotations

import copy
import json
import os
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from l0star import _core
from l0star._checkpoint import Checkpoints
from l0star._cluster import ClusterError, Recipe, Workers, place_of, workers
from l0star._constraints import arguments_of
from l0star._core import CLASS_LOSSES, LABEL_LOSSES, TIME_LOSSES
from l0star._docs import documented
from l0star._frames import prepare
from l0star._input import Data, hold_out, matrix, read
from l0star._moments import Moments, data_of, refuse
from l0star._options import LOSSES, Options, check_k
from l0star._prices import Price, Prices
from l0star._progress import Progress, Telling, logger
from l0star._report import Origin, Rows, finite
from l0star._result import Model, Result
from l0star._store import ColumnStore
from l0star._store import data_of as data_of_store
from l0star._times import followed
from l0star._warnings import L0starWarning, warn


class SolveInterrupted(KeyboardInterrupt):
    """Raised on Ctrl-C during a search.

    Attributes
    ----------
    result : Result
        The best model so far, with its certified gap.
    results : list of Result
        For a path: the results of the finished sizes, and ``result``.
    """

    def __init__(self, results: list[Result]) -> None:
        super().__init__("interrupted; the best model so far is in the attribute `result`")
        self.results = results

    @property
    def result(self) -> Result:
        """The last of ``results``."""
        return self.results[-1]


@documented
def solve(
    X: Any,
    y: Any = None,
    k: int | None = None,
    *,
    loss: str = "quadratic",
    huber_delta: float | Literal["auto"] = "auto",
    ridge: float = 1e-3,
    gap: float = 0.0,
    relative_gap: float = 0.0,
    fit_intercept: bool = True,
    standardize: bool = True,
    method: str = "best-first",
    relaxation: str = "pdal",
    include: Any = None,
    include_free: Any = None,
    exclude: Any = None,
    groups: Any = None,
    bounds: Any = None,
    nonnegative: Any = False,
    ridge_factor: Any = None,
    requires: Any = None,
    l0_penalty: float = 0.0,
    l0_factor: Any = None,
    assume_max_coefficient: float | None = None,
    impute: str | None = None,
    rare: int = 5,
    as_number: Any = None,
    as_text: Any = None,
    dates: str | None = None,
    date_order: str | None = None,
    sample_weight: Any = None,
    offset: Any = None,
    event: Any = None,
    ties: str = "efron",
    strata: Any = None,
    entry: Any = None,
    top: int | None = None,
    within: float | None = None,
    prices: bool = False,
    refit: bool = False,
    holdout: float | None = None,
    random_state: int = 1,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: float = 60.0,
    resume: str | os.PathLike[str] | None = None,
    time_limit: float | None = None,
    search_time_limit: float | None = None,
    node_limit: int | None = None,
    memory_limit: int | None = None,
    n_jobs: int | None = None,
    client: Any = None,
    callback: Callable[[Progress], object] | None = None,
    verbose: int = 0,
) -> Result:
    """Find the best model with at most ``k`` features, and prove that it is the best.

    Minimises ``mean(loss(X @ x + intercept + offset, y)) + ridge / 2 * sum(x**2)`` over all ``x`` with at most ``k``
    non-zero entries, plus ``l0_penalty`` for each of these. The intercept is neither penalised nor counted in ``k``.

    Parameters
    ----------
    k : int or None, default=None
        Maximum number of features. A number larger than that of the features means all of them. Optional with an
        ``l0_penalty``.
    loss : str, default="quadratic"
        "quadratic", "huber", "logistic", "poisson", "gamma", "squared-hinge", "cox" or "multinomial".
        The loss of a row: ``r**2 / 2`` for the residual ``r``; the same up to ``huber_delta`` and linear beyond;
        ``log(1 + exp(-m))`` for the margin ``m``; half the deviance for counts or positive amounts whose logarithm of
        the mean is ``z``, ``exp(z) - y * z + y * log(y) - y`` and ``y * exp(-z) + z - log(y) - 1``;
        ``max(0, 1 - m)**2 / 2``. "cox" is a loss of all rows together, the negative log partial likelihood divided by
        the number of rows; it has no intercept. "multinomial" is ``-log(p)`` for the probability ``p`` of the row's
        class: every class has its own coefficients.

    Returns
    -------
    Result
        The model and what is proved about it.

    Raises
    ------
    SolveInterrupted
        On Ctrl-C; a KeyboardInterrupt that carries the best model so far.
    ClusterError
        If the workers of ``client`` are no longer usable; the error carries the best model so far.

    Warns
    -----
    L0starWarning
        If the model should not be trusted without a second look at the data.
    ConvergenceWarning
        If the search proved less than was asked for, because of a limit or of double precision. The result is valid,
        and its gap is certified.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from l0star import solve
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> result = solve(X, y, k=3)
    >>> result.status
    'optimal'
    >>> result.features
    ['bmi', 'bp', 's5']
    """
    options = Options.of(locals())
    options.check("solve", (*LOSSES, *TIME_LOSSES, *CLASS_LOSSES))
    data = data_for(X, y, options, sample_weight, offset, event, strata, entry)
    check_k("solve", k, options)
    return Job(data, options).run(k)


def data_for(
    X: Any, y: Any, options: Options, sample_weight: Any, offset: Any, event: Any, strata: Any, entry: Any
) -> Data:
    """Check the data of a function, for any loss."""
    if options.loss in TIME_LOSSES:
        return read_times(X, y, options, sample_weight, offset, event, strata, entry)
    for name, value in (("event", event), ("strata", strata), ("entry", entry)):
        if value is not None:
            raise ValueError(
                f"{name} is about times until an event, and loss={options.loss!r} knows of none: use loss='cox'."
            )
    in_place = data_in_place(X, y, options, sample_weight, offset)
    if in_place is not None:
        return in_place
    prepared = prepare(X, options)
    data = read(
        X,
        y,
        labels=options.loss in (*LABEL_LOSSES, *CLASS_LOSSES),
        several=options.loss == "quadratic",
        many=options.loss in CLASS_LOSSES,
        sample_weight=sample_weight,
        offset=offset,
        prepared=prepared,
    )
    return hold_out(data, options.holdout, options.random_state)


def data_in_place(X: Any, y: Any, options: Options, sample_weight: Any, offset: Any) -> Data | None:
    """Return moments or columns in a file as data; None for everything else."""
    if isinstance(X, Moments):
        return data_of(X, y, options, sample_weight, offset)
    if isinstance(X, ColumnStore):
        return data_of_store(X, y, options, options.loss in LABEL_LOSSES, sample_weight, offset)
    return None


def read_times(
    X: Any, y: Any, options: Options, sample_weight: Any, offset: Any, event: Any, strata: Any, entry: Any
) -> Data:
    """Check the data of a Cox model."""
    refuse(X, "A Cox model")
    times, rest = followed(y, event, ties=options.ties, strata=strata, entry=entry)
    prepared = prepare(X, options)
    data = read(X, times, labels=False, sample_weight=sample_weight, offset=offset, prepared=prepared)
    return hold_out(replace(data, times=rest), options.holdout, options.random_state)


class Clock:
    """Clock of a time limit."""

    def __init__(self, limit: float | None) -> None:
        self._end = None if limit is None else time.monotonic() + float(limit)

    def left(self) -> float | None:
        """Return the remaining seconds; None without a limit."""
        return None if self._end is None else max(self._end - time.monotonic(), 0.0)

    def settings(self, options: Options, share: float = 1.0) -> dict[str, Any]:
        """Return the settings of a search that gets this share of the remaining time."""
        left = self.left()
        return replace(options, time_limit=None if left is None else left * share).settings()


class Job:
    """Checked data in the engine, ready to be solved for any k."""

    def __init__(self, data: Data, options: Options) -> None:
        self._options = options
        self._y, self._weights = data.y, data.weights
        self._store = data.X if isinstance(data.X, ColumnStore) else None
        self._names, self._classes = data.names, data.classes
        self._held_out = data.held_out
        self._times = data.times
        self._responses = data.responses
        self._many = data.many
        self._loss = CLASS_LOSSES[0] if data.many else options.loss
        self._outputs = len(data.responses)
        if data.many and data.classes is not None:
            self._outputs = len(data.classes)
        self._fit_intercept = bool(options.fit_intercept) and data.times is None
        self._warnings: list[str] = []
        prepared = data.prepared
        rules = arguments_of(options, data)
        asked = _core.Rules(**rules)
        self._most = asked.n_features
        self._has_rows = data.moments is None
        self._place = place_of(options.client) if options.method == "best-first" else None
        arguments: dict[str, Any] = {
            "ridge": float(options.ridge),
            "fit_intercept": self._fit_intercept,
            "standardize": bool(options.standardize),
        }
        if data.moments is not None:
            recipe = Recipe(rules, arguments, moments=None if self._place is None else data.moments.encode())
            self._problem = _core.Problem.of_moments(data.moments, rules=asked, **arguments)
            counted = data.moments.rows
        else:
            X = matrix(data.X)
            arguments |= {
                "loss": self._loss,
                "huber_delta": None if options.huber_delta == "auto" else float(options.huber_delta),
                "weights": data.weights,
                # One column per response or class.
                "offset": None if data.offset is None else data.offset.reshape(len(data.offset), -1),
                "followed": None if data.times is None else data.times.followed,
            }
            y = data.y
            if data.responses:
                arguments |= {"others": np.ascontiguousarray(y[:, 1:]), "responses": data.responses}
                y = np.ascontiguousarray(y[:, 0])
            if data.many and data.classes is not None:
                arguments |= {"classes": [str(label) for label in data.classes]}
            self._problem = _core.Problem(X, y, rules=asked, **arguments)
            # Workers need not estimate δ again.
            known = {**arguments, "huber_delta": self._problem.huber_delta or arguments["huber_delta"]}
            recipe = Recipe(rules, known, rows=(X, y))
            counted = data.X.shape[0] if data.weights is None else int(np.count_nonzero(data.weights))
        # Workers build the problem from the recipe; without workers only the engine keeps the data.
        self._recipe = None if self._place is None else recipe
        parts = json.loads(data.moments.parts) if data.moments is not None else {}
        settings = {name: value for name, value in options.settings().items() if name not in ("method", "relaxation")}
        excluded = set(asked.excluded)
        given: dict[str, Any] = {"sample_weight": data.weights, "offset": data.offset, "event": data.times}
        if data.times is not None:
            given |= {"strata": data.times.strata, "entry": data.times.entry}
        self._origin = Origin(
            arguments=options.arguments()
            + "".join(f", {name}={name}" for name, value in given.items() if value is not None),
            target=data.target,
            n_rows=counted,
            features=[name for j, name in enumerate(data.names) if j not in excluded],
            free=frozenset(data.names[j] for j in asked.free),
            settings={
                **settings,
                "time_limit": finite(settings["time_limit"]),
                "search_time_limit": finite(settings["search_time_limit"]),
            },
            standardize=bool(options.standardize),
            has_weights=data.weights is not None,
            has_offset=data.offset is not None,
            parts=parts if prepared is None else prepared.parts,
        )

    @property
    def problem(self) -> _core.Problem:
        """The problem in the engine."""
        return self._problem

    def _workers(self) -> AbstractContextManager[Workers | None]:
        """Return the submitter of the tasks of a search."""
        return workers(self._place, self._recipe, self._options.memory_limit)

    def run(self, k: int | None, clock: Clock | None = None) -> Result:
        """Solve the problem and report progress, within the remaining time of a clock or within the time limit.

        Without k the number of features is not limited.
        """
        options = self._options
        k = self._most if k is None else int(k)
        clock = clock or Clock(options.time_limit)
        kept = Checkpoints(options)
        self.look(k)
        with kept.held(), Telling(options.callback, options.verbose) as telling, self._workers() as cluster:
            solution, stopped_by = self._problem.solve(
                int(k),
                clock.settings(options),
                refit=bool(options.refit),
                callback=telling.listener,
                save=kept.save,
                save_every=kept.every,
                resume=kept.resume,
                cluster=cluster,
            )
            telling.finish(solution)
        priced = None
        if options.prices and solution.status != "interrupted":
            with kept.held():
                priced, stopped_by = self._problem.prices(
                    solution,
                    clock.settings(options),
                    save=kept.save,
                    save_every=kept.every,
                    resume=kept.last,
                )
        outlook = self._problem.outlook(solution)
        if outlook is not None:
            self._warnings = [*self._warnings, outlook]
        result = self.result(solution, priced)
        _raise(stopped_by, [result])
        if falls_short(result.status):
            hopeless = "" if outlook is None else f" {outlook[0].upper()}{outlook[1:]}."
            warn(f"{result.headline}; {_core.advice(result.status)}.{hopeless}", ConvergenceWarning)
        _warn_of_prices([result])
        return result

    def followed_by(self, callback: Callable[[Progress], object]) -> Job:
        """Return a copy of the job with another callback."""
        other = copy.copy(self)
        other._options = replace(self._options, callback=callback)
        return other

    def look(self, k: int) -> None:
        """Warn about data for which a model with k features should not be trusted."""
        self._warnings = self._problem.warnings(int(k))
        for text in self._warnings:
            warn(text, L0starWarning)

    def path(self, ks: Sequence[int]) -> list[Result]:
        """Solve the problem for several sizes k, which share their work.

        A time limit covers all sizes and their prices, and a true return value of the callback stops the whole path.
        Checkpoints are those of the path, without its prices.
        """
        options, clock = self._options, Clock(self._options.time_limit)
        kept = Checkpoints(options)
        with kept.held(), Telling(options.callback, 0) as telling, self._workers() as cluster:
            solutions, stopped_by = self._problem.path(
                [int(k) for k in ks],
                clock.settings(options),
                refit=bool(options.refit),
                callback=telling.listener,
                save=kept.save,
                save_every=kept.every,
                resume=kept.resume,
                cluster=cluster,
            )
        results: list[Result] = []
        for at, solution in enumerate(solutions):
            priced = None
            if options.prices and stopped_by is None and solution.status != "interrupted":
                share = 1 / (len(solutions) - at)
                priced, stopped_by = self._problem.prices(solution, clock.settings(options, share))
            results.append(self.result(solution, priced))
        _raise(stopped_by, results)
        short = [result for result in results if falls_short(result.status)]
        if short:
            one, sizes = short[0], _core.counted(len(results), "size")
            warn(
                f"The proof is not complete for {len(short)} of {sizes}, the first k={one.k}: {one.headline}; "
                f"{_core.advice(one.status)}.",
                ConvergenceWarning,
            )
        _warn_of_prices(results)
        return results

    def penalty_path(self, k: int | None) -> list[tuple[float, float, float, float, str, _core.Solution]]:
        """Solve the problem at every price of a feature; without k the number of features is not limited."""
        options = self._options
        k = self._most if k is None else int(k)
        self.look(k)
        pieces, stopped_by = self._problem.penalty_path(k, Clock(options.time_limit).settings(options))
        if stopped_by is not None:
            raise stopped_by
        return pieces

    def result(self, solution: _core.Solution, priced: list[_core.Price] | None = None) -> Result:
        """Convert a solution of the engine to a result."""
        options, names = self._options, self._names
        if self._store is not None:
            self._store.check()
        warnings = list(self._warnings)
        if solution.kept_ridge is not None:
            warnings.append(solution.kept_ridge)
            warn(solution.kept_ridge, L0starWarning)
        aic, bic, ebic = solution.criteria or (None, None, None)
        record = self._problem.record(
            solution,
            lists=len(solution.solutions) > 1 or solution.rest_bound is not None,
            positive_label=None if self._classes is None or self._many else str(self._classes[1]),
            warnings=warnings,
            prices=priced,
            holdout=self._held(solution),
        )
        result = Result(
            record=json.loads(record),
            status=solution.status,
            objective=solution.objective,
            lower_bound=solution.lower_bound,
            relative_gap=solution.relative_gap,
            k=solution.k,
            loss=self._loss,
            huber_delta=self._problem.huber_delta,
            ridge=float(options.ridge),
            method=options.method,
            coef=self._each(solution.coefficients),
            coef_per_sd=self._each(solution.per_sd),
            twins={names[j]: [names[i] for i in others] for j, others in solution.twins},
            intercept=self._one(solution.intercepts),
            support=solution.support,
            names=names,
            responses=self._responses,
            classes=self._classes,
            solutions=[
                Model(
                    objective=objective,
                    coef=self._each(coef),
                    intercept=self._one(intercepts),
                    support=support,
                    names=names,
                )
                for objective, coef, intercepts, support in solution.solutions
            ],
            rest_bound=solution.rest_bound,
            truncated=solution.truncated,
            aic=aic,
            bic=bic,
            ebic=ebic,
            solver_calls=solution.solver_calls,
            nodes=solution.nodes,
            peak_open_nodes=solution.peak_open_nodes,
            seconds=solution.seconds,
            found_by=solution.found_by,
            found_after=solution.found_after,
            trace=solution.trace,
            fit_intercept=self._fit_intercept,
            survival=self._survival(solution),
            priced=None if priced is None else Prices(Price.of(price, names) for price in priced),
            refit=solution.refit,
            warnings=warnings,
            origin=self._origin,
            rows=self._rows(solution),
        )
        logger.info("%s", result.headline)
        return result

    def _each(self, coefficients: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Reshape coefficients to one row per response or class, if there are several."""
        return coefficients.reshape(self._outputs, -1) if self._outputs else coefficients

    def _one(self, intercepts: list[float]) -> Any:
        """Return one intercept, or an array of them for several responses or classes."""
        return np.array(intercepts) if self._outputs else intercepts[0]

    def _rows(self, solution: _core.Solution) -> Rows | None:
        """Return the rows for the charts of a report, which exist only for a single response."""
        if not self._has_rows or self._outputs:
            return None
        return Rows(self._problem.scores(solution), self._y, self._weights, self._times)

    def _survival(self, solution: _core.Solution) -> dict[str, Any] | None:
        """Return the baseline hazards of a solution, for a Cox model."""
        if self._times is None:
            return None
        fields = self._problem.survival(json.dumps(self._times.fields), solution, self._times.names)
        found: dict[str, Any] = json.loads(fields)
        return found

    def _held(self, solution: _core.Solution) -> tuple[Any, ...] | None:
        """Return the held-out rows with their scores."""
        held, options = self._held_out, self._options
        if held is None:
            return None
        coefficients = np.atleast_2d(self._each(solution.coefficients))
        # One row per response or class.
        scores = np.asarray(held.X @ coefficients.T + solution.intercepts, dtype=np.float64).T
        if held.offset is not None:
            scores = scores + held.offset.T
        scores, y = np.ascontiguousarray(scores), np.ascontiguousarray(np.atleast_2d(held.y.T))
        offset = None if held.offset is None else np.ascontiguousarray(np.atleast_2d(held.offset.T))
        rows = (scores, y, held.weights, offset, None if held.times is None else held.times.followed)
        return float(options.holdout or 0.0), int(options.random_state), *rows


def _warn_of_prices(results: Sequence[Result]) -> None:
    short = sum(falls_short(price.status) for result in results for price in result.priced or [])
    if short:
        prices = _core.counted(short, "price")
        warn(f"The proof is not complete for {prices}; the bounds of the cost are valid.", ConvergenceWarning)


def falls_short(status: str) -> bool:
    """Return whether a search proved less than was asked for; an interruption raises an exception instead."""
    return status == "precision" or status.endswith("_limit")


def _raise(stopped_by: BaseException | None, results: list[Result]) -> None:
    """Raise the exception that stopped a search; Ctrl-C carries the results up to the interrupted one."""
    if isinstance(stopped_by, KeyboardInterrupt):
        ends = [at for at, result in enumerate(results) if result.status == "interrupted"]
        raise SolveInterrupted(results[: ends[0] + 1] if ends else results) from stopped_by
    if isinstance(stopped_by, ClusterError):
        stopped_by.results = results
    if stopped_by is not None:
        raise stopped_by
