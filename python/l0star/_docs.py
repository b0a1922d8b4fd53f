"""The parameters that entry points share, described once."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import TypeVar

Thing = TypeVar("Thing")

_SHARED = """
X : array, frame, table or sparse matrix of shape (n_samples, n_features)
    NumPy, pandas, polars, Arrow or SciPy; names of columns are kept. Numbers are copied once, whatever their order
    in memory; a sparse matrix stays sparse.
y : array of shape (n_samples,)
    Numbers; for ``loss="logistic"`` and ``"squared-hinge"`` labels of any type, two different ones; for ``"poisson"``
    counts (0 or more, whole or not), for ``"gamma"`` numbers greater than 0; for ``"cox"`` times, or a structured
    array with events and times.
k : int or None, default=5
    At most this many features. More than there are means all of them, and so does None, which needs an ``l0_penalty``.
loss : {"quadratic", "huber", "logistic", "poisson", "gamma", "squared-hinge"}, default="quadratic"
    The loss of a row: ``r**2 / 2`` for the residual ``r``; the same up to ``huber_delta`` and linear beyond;
    ``log(1 + exp(-m))`` for the margin ``m``; half the deviance for counts or positive amounts whose logarithm of the
    mean is ``z``, ``exp(z) - y * z + y * log(y) - y`` and ``y * exp(-z) + z - log(y) - 1``; ``max(0, 1 - m)**2 / 2``.
huber_delta : float or "auto", default="auto"
    Where Huber's loss becomes linear, in units of ``y``. "auto" is 1.345 times a robust scale (MAD) of the residuals of
    a first robust fit; results say which number that was.
ridge : float, default=1e-3
    Weight of the ridge, greater than 0.
gap : float, default=0.0
    Absolute error allowed in the objective. 0 means exact up to floating point.
relative_gap : float, default=0.0
    The same as a share of the objective, less than 1; the larger of the two counts.
fit_intercept : bool, default=True
    Whether to fit an intercept; it is neither penalised nor counted in ``k``.
standardize : bool, default=True
    Whether the ridge acts on columns divided by their (weighted) standard deviations, so that units do not matter.
    Coefficients and their bounds are always those of the data as given; the objective is that of the scaled problem.
method : str, default="best-first"
    Exact: "best-first", "paper", "exhaustive". Inexact, without a bound: "omp", "iht", "htp", "diht".
relaxation : {"pdal", "sga"}, default="pdal"
    How ``method="paper"`` bounds a node.
include : str, int or list of these, default=None
    Features that are in every model, by name or index; they are counted in ``k``. A column stands for its group.
include_free : str, int or list of these, default=None
    Features that are in every model, with their ridge, and that ``k`` does not count.
exclude : str, int or list of these, default=None
    Features that are in no model.
groups : list of lists, or one label for each column, default=None
    Groups of columns (by name or index) that are in or out as a whole and count as one feature; columns in no group
    are features of their own. Or an array of labels: columns of one label are a group, those of None or NaN in none.
bounds : dict, default=None
    Name or index → ``(lower, upper)``, between which the coefficient has to be; ``lower <= 0 <= upper``, None for no
    bound.
nonnegative : bool, str, int or list of these, default=False
    True for all columns, or those whose coefficients must not be below 0.
ridge_factor : dict, default=None
    Name or index → a factor greater than 0 by which the ridge of that column is multiplied.
requires : dict, default=None
    Name or index → the features, one or a list, without which that one cannot be in a model, such as the factors of an
    interaction. They are counted in ``k``; what an included feature requires is included too.
l0_penalty : float, default=0.0
    The price of a feature: it is added to the objective for every feature of the model, once for a group. With a price
    ``k=None`` sets no limit. What is included pays too, what is included for free does not.
l0_factor : dict, default=None
    Name or index → a factor of at least 0 by which the price of that feature is multiplied, for features that cost more
    or less to measure.
assume_max_coefficient : float, default=None
    Assume that no coefficient is larger in absolute value, per standard deviation of its column with ``standardize``,
    else per unit. Hard proofs become far easier, but hold only under this assumption; results say so.
impute : {"mean"}, default=None
    Fills in missing values: numbers with the mean of their column, text with a category of its own, ``(missing)``.
rare : int, default=5
    Categories that fewer rows have are merged into one, ``(other)``.
as_number : str or list of str, default=None
    Columns of a frame to read as numbers: currency signs, percent signs and separators of thousands are removed, and
    any other text counts as missing.
as_text : str or list of str, default=None
    Columns of a frame to treat as categories, even if they hold numbers or dates.
dates : {"days", "drop"}, default=None
    What to do with columns of dates: days since 1970-01-01, or leave them out.
date_order : {"dmy", "mdy"}, default=None
    Whether dates such as 1/2/2024 begin with the day or the month, where the column does not show it.
sample_weight : array of shape (n_samples,), default=None
    Weights of the rows, zero or more; a weight of 2 is the same as a row given twice.
offset : array of shape (n_samples,), or (n_samples, n_outputs) for several responses or classes, default=None
    A number added to the prediction of each row; with the logistic and multinomial losses to its scores.
event : array of bool of shape (n_samples,), default=None
    For ``loss="cox"``: whether the time of a row is that of an event; otherwise it is censored.
ties : {"efron", "breslow"}, default="efron"
    For ``loss="cox"``: how events at the same time are counted.
strata : array of shape (n_samples,), default=None
    For ``loss="cox"``: rows are compared only with rows of the same value.
entry : array of shape (n_samples,), default=None
    For ``loss="cox"``: the time from which on a row is observed (left truncation).
top : int, default=None
    How many models are wanted, the best ones in order. A model is a set of at most ``k`` features.
within : float, default=None
    All models up to ``1 + within`` times the best objective are wanted, at most ``top`` of them (1000 by default).
prices : bool, default=False
    Whether to find out what every other decision about a feature would cost, see :meth:`Result.prices`. Each is
    exact, and they share what one search knows.
refit : bool, default=False
    Whether to fit the chosen features once more without the ridge. Coefficients are those then; objective, bound and
    proof stay about the choice, which is made with the ridge.
holdout : float, default=None
    Share of the rows (of each label) from which nothing is learnt; ``metrics`` says how good the model is on them.
random_state : int, default=1
    Seed of everything that is drawn, such as held-out rows: the same one gives the same result.
checkpoint : str or path, default=None
    A file for the state of the search, so that another process can go on with it: written while the search runs, and
    at its end, whatever ends it.
checkpoint_every : float, default=60.0
    Seconds between two checkpoints; 0 writes one at every opportunity.
resume : str or path, default=None
    A checkpoint of the same data and settings to go on from; further ones go there too, if ``checkpoint`` names no
    other file. Limits are those of this run.
time_limit : float, default=None
    Seconds for the whole call: the search, and then all prices. A limit that ends the search gives a
    ConvergenceWarning and the best model so far; so does the limit of double precision.
search_time_limit : float, default=None
    Seconds for each search: that of the model, and that of each price.
node_limit : int, default=None
    Nodes of the search tree, for each search.
memory_limit : int, default=None
    Bytes of open nodes, for each search.
n_jobs : int, default=None
    Threads of the search, as joblib counts them: None means 1, -1 all; at most four per core are started. With one it
    is repeatable bit for bit.
client : dask.distributed.Client, executor of concurrent.futures, or the like, default=None
    Whose workers explore the search tree: anything with a method ``submit``; see :func:`on`. Easy searches end before
    there is anything to share. The result is certified as one of this process is.
callback : callable, default=None
    Called with a :class:`Progress` for every better model and every rise of the bound, and every 50 ms at least; a
    true answer stops the search.
verbose : int, default=0
    1 shows a progress bar while the search runs, 2 leaves it there.
"""

#: Where they mean something else for cross-validation, and what it has besides.
_CHOOSING = """
ks : int or list of int, default=None
    The sizes to try; a number means 0, 1, … up to it, and None means 10. With several ``l0_penalties`` a number only
    limits the size, and None does not.
ridges : float or list of float, default=1e-3
    The weights of the ridge to try.
l0_penalties : float or list of float, default=None
    The prices of a feature to try; None means ``l0_penalty``.
one_standard_error : bool, default=True
    Whether to take the smallest ``k``, or the largest price, whose mean score is within one standard error of the best;
    else the best.
rule : {"best", "one-se", "proof"}, default=None
    How the choice is made; None is "one-se" or "best", by ``one_standard_error``. "proof" takes the largest ridge, then
    the smallest ``k``, then the largest price, whose mean score is within 1 % of the best: it is provable far more
    often.
n_jobs : int, default=None
    Searches at the same time, as joblib counts them, each on one thread; and the threads of the last fit.
event : array of bool of shape (n_samples,), default=None
    For ``loss="cox"``: whether the time of a row is that of an event; otherwise it is censored.
ties : {"efron", "breslow"}, default="efron"
    For ``loss="cox"``: how events at the same time are counted.
strata : array of shape (n_samples,), default=None
    For ``loss="cox"``: rows are compared only with rows of the same value.
entry : array of shape (n_samples,), default=None
    For ``loss="cox"``: the time from which on a row is observed (left truncation).
top : int, default=None
    How many models are wanted of the last fit, the best ones in order.
within : float, default=None
    All models up to ``1 + within`` times the best objective are wanted of the last fit.
prices : bool, default=False
    Whether to find out what every other decision about a feature would cost in the last fit.
checkpoint : str or path, default=None
    A file for the state of the last fit, so that its search can be gone on with.
resume : str or path, default=None
    A checkpoint of the last fit, of the same data and the same choice, to go on from.
time_limit : float, default=None
    Seconds for the whole fit; the last fit has as much of it as one fold. Searches that it cuts off have no score, and
    ``k`` is chosen among the sizes that are complete, with a ConvergenceWarning. Where that would be the largest of
    them, so that the score was still rising, or none is complete, ``fit`` raises a RuntimeError; ``cv_results_`` has
    the scores so far.
search_time_limit : float, default=None
    Seconds for each search, of one size on one fold. A search that is stopped is scored with the best model it has
    found, and a ConvergenceWarning names it.
node_limit : int, default=None
    Nodes of the search tree, for each search.
memory_limit : int, default=None
    Bytes of open nodes, for each search.
verbose : int, default=0
    1 shows a progress bar over all searches: folds times sizes times ridges times prices.
"""

_SHARED_ATTRIBUTES = """
support_ : ndarray of int
    Indices of the features of the model, in column order; ``get_support()`` gives a mask.
objective_ : float
    Of the model.
lower_bound_ : float or None
    Certified: no model with at most ``k`` features is below it. None for an inexact method.
gap_ : float or None
    ``objective_ - lower_bound_``.
status_ : str
    "optimal", "gap_reached", "precision", "time_limit", "node_limit", "memory_limit", "interrupted" or "heuristic".
solutions_ : list of Model
    The best models, best first: one, or with ``top`` or ``within`` more.
n_nodes_ : int
    Nodes looked at.
n_solver_calls_ : int
    Relaxations and restricted problems solved.
prices_ : list of Price or None
    What every other decision about a feature would cost, with ``prices=True``.
metrics_ : dict
    How good the model is, see :attr:`Result.metrics`.
result_ : Result
    All of this, to look at and to draw.
n_features_in_ : int
    Features seen during fit.
feature_names_in_ : ndarray of str
    Their names, where X has names.
"""

_CHOSEN_ATTRIBUTES = """
k_ : int
    The size chosen.
ridge_ : float
    The ridge chosen.
l0_penalty_ : float
    The price of a feature chosen.
cv_results_ : dict
    As in :class:`sklearn.model_selection.GridSearchCV`: ``params``, ``mean_test_score``, …; ``split0_status`` and so on
    say how each search ended, ``split0_hopeless`` whether it was stopped without a prospect of ending, and
    ``mean_n_features`` how many features the models have. After Ctrl-C it has the scores so far, NaN and None for those
    that are missing.
best_index_ : int
    Where the choice is in ``cv_results_``.
best_score_ : float
    Its mean score.
"""

#: Of the methods that draw.
_DRAWING = """
ax : matplotlib.axes.Axes, default=None
    Where to draw; a new figure if None.
most : int, default=30
    At most so many features: those of the model, and the cheapest of the others.
"""

_HEADING = re.compile(r"\n\n(?=\w[\w ]*\n-{3,}\n)")


def _entries(text: str) -> dict[str, str]:
    """Name → its entry, with the lines that belong to it."""
    parts = re.split(r"\n(?=\S)", text.strip("\n"))
    return {part.split(" : ")[0]: part.rstrip() for part in parts if part}


def documented(thing: Thing) -> Thing:
    """Complete the docstring of a function or an estimator.

    Parameters that it does not describe itself are described here, all in the order of the signature; what the
    attributes of estimators have in common follows their own.
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
    """Complete the docstring of a method that draws: what it takes, and the axes that it gives back."""
    if method.__doc__ is not None:
        known = _entries(_DRAWING)
        names = [name for name in inspect.signature(method).parameters if name != "self"]  # type: ignore[arg-type]
        entries = "\n".join(known[name] for name in names)
        text = inspect.cleandoc(method.__doc__)
        method.__doc__ = f"{text}\n\nParameters\n----------\n{entries}\n\nReturns\n-------\nmatplotlib.axes.Axes"
    return method


def _complete(text: str, section: str, entries: Callable[[dict[str, str]], list[str]]) -> str:
    """Replace what stands in one section."""
    head = f"{section}\n{'-' * len(section)}\n"
    before, rest = text.split(head, 1)
    own, *after = _HEADING.split(rest, maxsplit=1)
    return "\n\n".join([before + head + "\n".join(entries(_entries(own))), *after])
