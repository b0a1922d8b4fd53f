"""Descriptions of the parameters that the entry points share."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import TypeVar

Thing = TypeVar("Thing")

_SHARED = """
X : array, frame, table or sparse matrix of shape (n_samples, n_features)
    Data from NumPy, pandas, polars, Arrow or SciPy; column names are kept. Numbers are copied once, whatever their
    order in memory; a sparse matrix stays sparse.
y : array of shape (n_samples,)
    Numbers; for ``loss="logistic"`` and ``"squared-hinge"`` labels of any type, two different ones; for ``"poisson"``
    counts (0 or more, whole or not), for ``"gamma"`` numbers greater than 0; for ``"cox"`` times, or a structured
    array with events and times.
k : int or None, default=5
    Maximum number of features. A number larger than that of the features means all of them, and so does None, which
    requires an ``l0_penalty``.
loss : {"quadratic", "huber", "logistic", "poisson", "gamma", "squared-hinge"}, default="quadratic"
    The loss of a row: ``r**2 / 2`` for the residual ``r``; the same up to ``huber_delta`` and linear beyond;
    ``log(1 + exp(-m))`` for the margin ``m``; half the deviance for counts or positive amounts whose logarithm of the
    mean is ``z``, ``exp(z) - y * z + y * log(y) - y`` and ``y * exp(-z) + z - log(y) - 1``; ``max(0, 1 - m)**2 / 2``.
huber_delta : float or "auto", default="auto"
    Residual at which Huber's loss becomes linear, in units of ``y``. "auto" is 1.345 times a robust scale (MAD) of the
    residuals of a first robust fit; the result reports the value used.
ridge : float, default=1e-3
    Weight of the ridge penalty, greater than 0.
gap : float, default=0.0
    Absolute error allowed in the objective. 0 means exact up to floating-point rounding.
relative_gap : float, default=0.0
    Error allowed as a share of the objective, less than 1; the larger of the two tolerances applies.
fit_intercept : bool, default=True
    Whether to fit an intercept; it is neither penalised nor counted in ``k``.
standardize : bool, default=True
    Whether the ridge acts on columns divided by their (weighted) standard deviations, so that units do not matter.
    Coefficients and their bounds always refer to the data as given; the objective is that of the scaled problem.
method : str, default="best-first"
    Exact: "best-first", "paper", "exhaustive". Inexact, without a bound: "omp", "iht", "htp", "diht".
relaxation : {"pdal", "sga"}, default="pdal"
    How ``method="paper"`` bounds a node.
include : str, int or list of these, default=None
    Features that are in every model, by name or index; they are counted in ``k``. A column stands for its group.
include_free : str, int or list of these, default=None
    Features that are in every model, with their ridge, and are not counted in ``k``.
exclude : str, int or list of these, default=None
    Features that are in no model.
groups : list of lists, or one label for each column, default=None
    Groups of columns (by name or index) that enter or leave a model as a whole and count as one feature; a column in
    no group is a feature by itself. Alternatively an array of labels: columns with the same label form a group, and
    columns labelled None or NaN are in no group.
bounds : dict, default=None
    Maps a name or index to ``(lower, upper)``, the interval for the coefficient; ``lower <= 0 <= upper``, None for no
    bound.
nonnegative : bool, str, int or list of these, default=False
    Columns whose coefficients must not be below 0; True for all columns.
ridge_factor : dict, default=None
    Maps a name or index to a factor greater than 0 by which the ridge of that column is multiplied.
requires : dict, default=None
    Maps a name or index to the feature, or list of features, that it requires, such as the factors of an interaction:
    it can only be in a model together with them. Required features are counted in ``k``; those that an included
    feature requires are included too.
l0_penalty : float, default=0.0
    Price of a feature, added to the objective for every feature of the model, once per group. With a price, ``k=None``
    sets no limit. Features of ``include`` are charged, those of ``include_free`` are not.
l0_factor : dict, default=None
    Maps a name or index to a factor of at least 0 by which the price of that feature is multiplied, for features that
    cost more or less to measure.
assume_max_coefficient : float, default=None
    Assume that no coefficient is larger than this in absolute value, per standard deviation of its column with
    ``standardize``, else per unit. Hard proofs become far easier, but hold only under this assumption; results say so.
impute : {"mean"}, default=None
    How to fill in missing values: "mean" replaces a missing number by the mean of its column, and missing text by a
    separate category, ``(missing)``.
rare : int, default=5
    Categories with fewer rows than this are merged into one, ``(other)``.
as_number : str or list of str, default=None
    Columns of a frame to read as numbers: currency signs, percent signs and thousands separators are removed, and
    any other text counts as missing.
as_text : str or list of str, default=None
    Columns of a frame to treat as categories, even if they hold numbers or dates.
dates : {"days", "drop"}, default=None
    How to treat columns of dates: convert them to days since 1970-01-01, or leave them out.
date_order : {"dmy", "mdy"}, default=None
    Whether dates such as 1/2/2024 begin with the day or the month, for columns whose values leave it open.
sample_weight : array of shape (n_samples,), default=None
    Weights of the rows, zero or more; a weight of 2 is the same as a row given twice.
offset : array of shape (n_samples,), or (n_samples, n_outputs) for several responses or classes, default=None
    A number added to the linear predictor of each row.
event : array of bool of shape (n_samples,), default=None
    For ``loss="cox"``: whether the time of a row is that of an event; otherwise the row is censored.
ties : {"efron", "breslow"}, default="efron"
    For ``loss="cox"``: how events at the same time are counted.
strata : array of shape (n_samples,), default=None
    For ``loss="cox"``: rows are compared only with rows of the same value.
entry : array of shape (n_samples,), default=None
    For ``loss="cox"``: the time from which a row is observed (left truncation).
top : int, default=None
    Number of best models to list, in order. A model is a set of at most ``k`` features.
within : float, default=None
    List all models up to ``1 + within`` times the best objective, but at most ``top`` of them (1000 by default).
prices : bool, default=False
    Whether to compute what every other decision about a feature would cost, see :meth:`Result.prices`. Each price is
    exact, and the computations share what one search knows.
refit : bool, default=False
    Whether to refit the chosen features without the ridge. The coefficients are then those of the refit; the objective,
    the bound and the proof still refer to the selection, which is made with the ridge.
holdout : float, default=None
    Share of the rows (of each label) to hold out of the fit; ``metrics`` reports how good the model is on them.
random_state : int, default=1
    Seed for everything random, such as the choice of held-out rows: the same seed gives the same result.
checkpoint : str or path, default=None
    File for the state of the search, so that another process can resume it. It is written while the search runs and
    when it ends, for whatever reason.
checkpoint_every : float, default=60.0
    Seconds between two checkpoints; 0 writes one at every opportunity.
resume : str or path, default=None
    Checkpoint to resume from, of the same data and settings. Further checkpoints are written to it as well, unless
    ``checkpoint`` names another file. The limits are those of this run.
time_limit : float, default=None
    Seconds for the whole call: the search, and then all prices. If a limit or double precision ends the search, the
    result is the best model so far, with a ConvergenceWarning.
search_time_limit : float, default=None
    Seconds for each search: that for the model, and that for each price.
node_limit : int, default=None
    Maximum number of nodes of the search tree, for each search.
memory_limit : int, default=None
    Maximum number of bytes held by open nodes, for each search.
n_jobs : int, default=None
    Number of threads of the search, counted as in joblib: None means 1, -1 means all cores; at most four per core are
    started. With one thread the search is reproducible bit for bit.
client : dask.distributed.Client, executor of concurrent.futures, or the like, default=None
    Client whose workers explore the search tree: any object with a method ``submit``; see :func:`on`. Easy searches
    end before there is any work to share. The result is certified like that of a local search.
callback : callable, default=None
    Called with a :class:`Progress` for every better model and every rise of the bound, and at least every 50 ms; a
    true return value stops the search.
verbose : int, default=0
    1 shows a progress bar while the search runs, 2 keeps it on the screen afterwards.
"""

#: Parameters of cross-validation: those with another meaning there, and additional ones.
_CHOOSING = """
ks : int or list of int, default=None
    The sizes to try; a number means 0, 1, … up to it, and None means 10. With several ``l0_penalties`` a number only
    limits the size, and None sets no limit.
ridges : float or list of float, default=1e-3
    The weights of the ridge to try.
l0_penalties : float or list of float, default=None
    The prices of a feature to try; None means ``l0_penalty``.
one_standard_error : bool, default=True
    Whether to take the smallest ``k``, or the largest price, whose mean score is within one standard error of the best;
    else the best.
rule : {"best", "one-se", "proof"}, default=None
    How the choice is made; None is "one-se" or "best", by ``one_standard_error``. "proof" takes the largest ridge, then
    the smallest ``k``, then the largest price, whose mean score is within 1 % of the best: such a model can be proved
    optimal far more often.
n_jobs : int, default=None
    Number of searches at the same time, counted as in joblib, each on one thread; also the threads of the final fit.
event : array of bool of shape (n_samples,), default=None
    For ``loss="cox"``: whether the time of a row is that of an event; otherwise the row is censored.
ties : {"efron", "breslow"}, default="efron"
    For ``loss="cox"``: how events at the same time are counted.
strata : array of shape (n_samples,), default=None
    For ``loss="cox"``: rows are compared only with rows of the same value.
entry : array of shape (n_samples,), default=None
    For ``loss="cox"``: the time from which a row is observed (left truncation).
top : int, default=None
    Number of best models of the final fit to list, in order.
within : float, default=None
    List all models of the final fit up to ``1 + within`` times the best objective.
prices : bool, default=False
    Whether to compute what every other decision about a feature would cost in the final fit.
checkpoint : str or path, default=None
    File for the state of the final fit, so that its search can be resumed.
resume : str or path, default=None
    Checkpoint of the final fit to resume from, of the same data and the same choice.
time_limit : float, default=None
    Seconds for the whole fit; the final fit gets the share of one fold. Searches that are cut off have no score, and
    ``k`` is chosen among the complete sizes, with a ConvergenceWarning. If the choice would be the largest complete
    size, so that the score was still rising, or if no size is complete, ``fit`` raises a RuntimeError;
    ``cv_results_`` has the scores so far.
search_time_limit : float, default=None
    Seconds for each search, of one size on one fold. A search that is stopped is scored with the best model it has
    found, and a ConvergenceWarning names it.
node_limit : int, default=None
    Maximum number of nodes of the search tree, for each search.
memory_limit : int, default=None
    Maximum number of bytes held by open nodes, for each search.
verbose : int, default=0
    1 shows a progress bar over all searches: folds times sizes times ridges times prices.
"""

_SHARED_ATTRIBUTES = """
support_ : ndarray of int
    Indices of the features of the model, in column order; ``get_support()`` gives a mask.
objective_ : float
    Objective of the model.
lower_bound_ : float or None
    Certified lower bound: no model with at most ``k`` features has an objective below it. None for an inexact method.
gap_ : float or None
    ``objective_ - lower_bound_``.
status_ : str
    "optimal", "gap_reached", "precision", "time_limit", "node_limit", "memory_limit", "interrupted" or "heuristic".
solutions_ : list of Model
    The best models, best first: one, or several with ``top`` or ``within``.
n_nodes_ : int
    Number of nodes examined.
n_solver_calls_ : int
    Number of relaxations and restricted problems solved.
prices_ : list of Price or None
    What every other decision about a feature would cost, with ``prices=True``.
metrics_ : dict
    How good the model is, see :attr:`Result.metrics`.
result_ : Result
    The full result, which can be displayed and plotted.
n_features_in_ : int
    Number of features seen during fit.
feature_names_in_ : ndarray of str
    Names of these features, if X has names.
"""

_CHOSEN_ATTRIBUTES = """
k_ : int
    The size chosen.
ridge_ : float
    The ridge chosen.
l0_penalty_ : float
    The price of a feature chosen.
cv_results_ : dict
    Scores, as in :class:`sklearn.model_selection.GridSearchCV`: ``params``, ``mean_test_score``, …;
    ``split0_status`` and so on say how each search ended, ``split0_hopeless`` whether it was stopped because it had no
    prospect of ending, and ``mean_n_features`` the mean number of features of the models. After Ctrl-C it holds the
    scores so far, with NaN and None for missing ones.
best_index_ : int
    Index of the choice in ``cv_results_``.
best_score_ : float
    Mean score of the choice.
"""

#: Parameters of the methods that draw.
_DRAWING = """
ax : matplotlib.axes.Axes, default=None
    Where to draw; a new figure if None.
most : int, default=30
    Maximum number of features shown.
"""

_HEADING = re.compile(r"\n\n(?=\w[\w ]*\n-{3,}\n)")


def _entries(text: str) -> dict[str, str]:
    """Map each name to its entry, with all lines of that entry."""
    parts = re.split(r"\n(?=\S)", text.strip("\n"))
    return {part.split(" : ")[0]: part.rstrip() for part in parts if part}


def documented(thing: Thing) -> Thing:
    """Complete the docstring of a function or an estimator.

    Parameters that its docstring does not describe are described here, all in the order of the signature. For an
    estimator, the attributes that all estimators share follow its own.
    """
    if thing.__doc__ is None:  # python -OO
        return thing
    text = inspect.cleandoc(thing.__doc__)
    names = [name for name in inspect.signature(thing).parameters if name != "self"]  # type: ignore[arg-type]
    chooses = "ks" in names
    known = {**_entries(_SHARED), **_entries(_CHOOSING if chooses else "")}
    text = _complete(text, "Parameters", lambda own: [{**known, **own}[name] for name in names])
    if isinstance(thing, type):
        more = (_CHOSEN_ATTRIBUTES if chooses else "") + _SHARED_ATTRIBUTES
        text = _complete(text, "Attributes", lambda own: list({**own, **_entries(more)}.values()))
    thing.__doc__ = text
    return thing


def drawing(method: Thing) -> Thing:
    """Complete the docstring of a method that draws, with its parameters and the axes that it returns."""
    if method.__doc__ is not None:
        known = _entries(_DRAWING)
        names = [name for name in inspect.signature(method).parameters if name != "self"]  # type: ignore[arg-type]
        entries = "\n".join(known[name] for name in names)
        text = inspect.cleandoc(method.__doc__)
        method.__doc__ = f"{text}\n\nParameters\n----------\n{entries}\n\nReturns\n-------\nmatplotlib.axes.Axes"
    return method


def _complete(text: str, section: str, entries: Callable[[dict[str, str]], list[str]]) -> str:
    """Replace the entries of one section."""
    head = f"{section}\n{'-' * len(section)}\n"
    before, rest = text.split(head, 1)
    own, *after = _HEADING.split(rest, maxsplit=1)
    return "\n\n".join([before + head + "\n".join(entries(_entries(own))), *after])
