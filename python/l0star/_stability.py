"""Stability of the choice of features: the best models of resamples of the rows."""

from __future__ import annotations

import hashlib
import html
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from l0star import _core, _plot
from l0star._checkpoint import Checkpoints
from l0star._core import CLASS_LOSSES, LABEL_LOSSES
from l0star._docs import documented, drawing
from l0star._input import hold_out, read
from l0star._moments import refuse
from l0star._options import LOSSES, Options, check_count, check_word
from l0star._progress import Progress, Telling, bar
from l0star._report import write
from l0star._result import Result
from l0star._solve import Clock, Job, SolveInterrupted
from l0star._warnings import warn

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_BAR = 20


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """The best models of resamples of the rows, and their summary.

    Attributes
    ----------
    result : Result
        The best model of all rows.
    coefs : ndarray of shape (n_resamples, n_features), or (n_resamples, n_outputs, n_features)
        The coefficients of the best model of each finished resample, 0 outside its support; with several responses or
        classes one row for each of them.
    fields : dict
        The field ``stability`` of the command's ``--json``.
    """

    result: Result
    coefs: npt.NDArray[np.float64]
    fields: dict[str, Any]

    @property
    def status(self) -> str:
        """The status: "complete", or what ended the run early, "time_limit" or "interrupted"."""
        return str(self.fields["status"])

    @property
    def n_resamples(self) -> int:
        """The number of finished resamples."""
        return int(self.fields["resamples"])

    @property
    def n_proved(self) -> int:
        """The number of resamples whose model is proved to be the best."""
        return int(self.fields["proved"])

    @property
    def frequencies(self) -> dict[str, float]:
        """Maps each feature or group to the share of resamples that chose it, the most frequent first."""
        return {own["feature"]: own["frequency"] for own in self.fields["features"]}

    @property
    def intervals(self) -> dict[Any, tuple[float, float]]:
        """Maps each column to the middle 95 % of its coefficient over all resamples, 0 where it was not chosen.

        With several responses or classes the keys are pairs of a column and a response or class. These intervals
        include the choice of the features, unlike those of :meth:`Result.summary`.
        """
        return {_key_of(own): (own["lower"], own["upper"]) for own in self.fields["coefficients"]}

    @property
    def pairs(self) -> list[dict[str, Any]]:
        """Pairs of features that replace each other: with one in the model, the other is mostly out. Clearest first."""
        return list(self.fields["pairs"])

    @property
    def models(self) -> list[dict[str, Any]]:
        """The models that were best for some resample, the most frequent first, with their frequencies."""
        return list(self.fields["models"])

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per column (and response or class) that was ever chosen, the most frequent first.

        Returns
        -------
        pandas.DataFrame
            ``frequency``, ``median``, ``lower`` and ``upper`` of the coefficient (0 where it was not chosen), and
            ``chosen``: whether the best model of all rows has it.
        """
        import pandas as pd

        chosen = set(self.result.features)
        rows = [
            {
                "frequency": own["positive"] + own["negative"],
                "median": own["median"],
                "lower": own["lower"],
                "upper": own["upper"],
                "chosen": own["feature"] in chosen,
            }
            for own in self.fields["coefficients"]
        ]
        names = [_key_of(own) for own in self.fields["coefficients"]]
        columns = ["frequency", "median", "lower", "upper", "chosen"]
        index: Any
        if self.result.outputs and names:
            index = pd.MultiIndex.from_tuples(names, names=["feature", "output"])
        else:
            index = pd.Index(names, name="feature", dtype=object)
        return pd.DataFrame(rows, index=index, columns=columns)

    def report(self, file: str | os.PathLike[str]) -> None:
        """Write the model of all rows and its stability as one HTML page, as ``l0star stability --report`` does.

        Parameters
        ----------
        file : str or path
            Path of the file; an existing file is replaced.
        """
        write(file, replace(self.result, record={**self.result.record, "stability": self.fields}))

    @drawing
    def plot(self, ax: Axes | None = None, *, most: int = 30) -> Axes:
        """Draw how often each feature was chosen. Needs matplotlib."""
        return _plot.plot_frequencies(self.fields["features"], ax, most)

    def __repr__(self) -> str:
        return f"Stability({_core.stability_words(json.dumps(self.fields))[0]})"

    def __str__(self) -> str:
        headline, sentences = _core.stability_words(json.dumps(self.fields))
        shown = [(_core.printable(name), share) for name, share in self.frequencies.items()][:30]
        wide = max((_core.width(name) for name, _ in shown), default=0)
        lines = [
            f"  {name}{' ' * (wide - _core.width(name))}  {100 * share:5.1f} %  {'█' * round(_BAR * share)}".rstrip()
            for name, share in shown
        ]
        return "\n".join([headline, "", *lines, "", *sentences[:1]])

    def _repr_html_(self) -> str:
        headline, sentences = _core.stability_words(json.dumps(self.fields))
        rows = "".join(
            f"<tr><th>{html.escape(own['feature'])}</th><td>{100 * own['frequency']:.1f} %</td>"
            f'<td style="width:12em"><div style="width:{100 * own["frequency"]:.1f}%;height:.8em;'
            f'background:{_plot.PLUS if own["chosen"] else _plot.MINUS}"></div></td></tr>'
            for own in self.fields["features"][:30]
        )
        told = "".join(f"<p>{html.escape(text)}</p>" for text in sentences[:1])
        return f"<div><p><b>{html.escape(headline)}</b></p><table>{rows}</table>{told}</div>"


@documented
def stability(
    X: Any,
    y: Any,
    k: int,
    *,
    resamples: int = 500,
    resampling: str = "bootstrap",
    random_state: int = 1,
    loss: str = "quadratic",
    huber_delta: float | Literal["auto"] = "auto",
    ridge: float = 1e-3,
    gap: float = 0.0,
    relative_gap: float = 0.0,
    fit_intercept: bool = True,
    standardize: bool = True,
    method: str = "best-first",
    include: Any = None,
    include_free: Any = None,
    exclude: Any = None,
    groups: Any = None,
    bounds: Any = None,
    nonnegative: Any = False,
    ridge_factor: Any = None,
    requires: Any = None,
    sample_weight: Any = None,
    offset: Any = None,
    refit: bool = False,
    holdout: float | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: float = 60.0,
    resume: str | os.PathLike[str] | None = None,
    time_limit: float | None = None,
    search_time_limit: float | None = None,
    node_limit: int | None = None,
    memory_limit: int | None = None,
    n_jobs: int | None = None,
    callback: Callable[[Progress], object] | None = None,
    verbose: int = 0,
) -> Stability:
    """Find the best model of all rows and of every resample of the rows, each with a proof.

    Parameters
    ----------
    k : int
        Maximum number of features. A number larger than that of the features means all of them.
    resamples : int, default=500
        Number of resamples; a resumed run may have more than the first.
    resampling : {"bootstrap", "half"}, default="bootstrap"
        How to draw rows: as many as there are, with replacement, or half of them; stratified by label.
    checkpoint : str or path, default=None
        File for the finished resamples, so that another process can resume with the others.
    resume : str or path, default=None
        Checkpoint to resume from, of the same data and settings. Further checkpoints are written to it as well, unless
        ``checkpoint`` names another file.
    time_limit : float, default=None
        Seconds for the whole call; the result is about the resamples finished by then.
    n_jobs : int, default=None
        Number of resamples solved at the same time, counted as in joblib, each on one thread.
    callback : callable, default=None
        Called with a :class:`Progress` for every finished resample, of which only the time is meaningful; a true return
        value ends the call with the finished resamples.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    Stability
        How often each feature was chosen, pairs that replace each other, the best models, and intervals.

    Raises
    ------
    SolveInterrupted
        On Ctrl-C; its attribute ``result`` is the best model of all rows, and ``stability`` the finished resamples.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from l0star import stability
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> found = stability(X, y, k=3, resamples=50)
    >>> found.status, found.n_proved
    ('complete', 50)
    >>> list(found.frequencies)[:2]
    ['bmi', 's5']
    """
    options = Options.of(locals())
    options.check("stability", (*LOSSES, *CLASS_LOSSES))
    refuse(X, "stability")
    check_count("stability", "k", k)
    check_count("stability", "resamples", resamples, least=1)
    check_word("stability", "resampling", resampling, ("bootstrap", "half"))
    data = read(
        X,
        y,
        labels=loss in (*LABEL_LOSSES, *CLASS_LOSSES),
        several=loss == "quadratic",
        many=loss in CLASS_LOSSES,
        sample_weight=sample_weight,
        offset=offset,
    )
    data = hold_out(data, holdout, random_state)
    kept = Checkpoints(options)
    key = _key(data, options, k, resampling) if kept.save is not None or kept.resume is not None else ""
    clock = Clock(time_limit)
    # The checkpoint holds only the resamples, so the model of all rows is searched again.
    job = Job(data, replace(options, checkpoint=None, resume=None, callback=None, verbose=0))
    result = job.run(k, clock)
    with (
        kept.held(),
        Telling(callback, 0) as telling,
        bar(int(resamples), "resamples", disable=not verbose) as shown,
    ):
        listener = telling.listener

        def heard(*state: Any) -> object:
            if state[0] == "tick" and state[4] > shown.n:
                shown.update(state[4] - shown.n)
            return listener is not None and listener(*state)

        text, coefs, stopped_by = job.problem.stability(
            int(k),
            clock.settings(options),
            y=np.ascontiguousarray(data.y[:, 0]) if data.responses else data.y,
            has_labels=data.classes is not None,
            resamples=int(resamples),
            resampling=resampling,
            seed=int(random_state),
            start=[int(j) for j in result.support],
            key=key,
            callback=heard if verbose or listener is not None else None,
            save=kept.save,
            save_every=kept.every,
            resume=kept.resume,
        )
    if result.outputs:
        coefs = coefs.reshape(len(coefs), len(result.outputs), -1)
    found = Stability(result, coefs, json.loads(text))
    if isinstance(stopped_by, KeyboardInterrupt):
        stopped = SolveInterrupted([result])
        stopped.stability = found  # type: ignore[attr-defined]
        raise stopped from stopped_by
    if stopped_by is not None:
        raise stopped_by
    if found.status != "complete" or found.n_proved < found.n_resamples:
        warn(f"{_core.stability_words(text)[0]}.", ConvergenceWarning)
    return found


def _key_of(spread: dict[str, Any]) -> Any:
    """Return the key of a spread: a column, or a column with a response or class."""
    output = spread.get("output")
    return spread["feature"] if output is None else (spread["feature"], output)


def _key(data: Any, options: Options, k: int, resampling: str) -> str:
    """Return a key that identifies the resamples: a hash of the data, the problem and the way rows are drawn."""
    digest = hashlib.sha256()
    parts = [data.y, data.weights, data.offset]
    parts += [data.X.data, data.X.indices, data.X.indptr] if sp.issparse(data.X) else [data.X]
    for part in parts:
        digest.update(b"none" if part is None else np.ascontiguousarray(part).tobytes())
    asked = replace(options, time_limit=None, search_time_limit=None, node_limit=None, memory_limit=None, n_jobs=None)
    digest.update(repr((data.names, k, resampling, options.random_state, asked.arguments())).encode())
    return digest.hexdigest()
