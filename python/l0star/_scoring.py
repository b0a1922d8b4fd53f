"""The searches of cross-validation: one path per penalty and fold, in this process or on a cluster."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy.typing as npt
import scipy.sparse as sp
from sklearn.metrics import check_scoring

from l0star import _core
from l0star._input import Data
from l0star._progress import Listener
from l0star._solve import Job

#: Options of the fits on folds: lists, prices and checkpoints are only for the final fit.
_ONE = {"verbose": 0, "top": None, "within": None, "prices": False, "checkpoint": None, "resume": None}

#: Called with the path and the size of every scored search, and with the features of its model.
Heard = Callable[[int, int, list[str]], object]


@dataclass
class Scoring:
    """The searches to score: every penalty on the rows outside every fold, for every size."""

    model: Any
    data: Data
    #: The target in the form that the scorer compares.
    y: npt.NDArray[Any]
    ks: list[int]
    #: Pairs of a ridge and a price of a feature.
    penalties: list[tuple[float, float]]
    folds: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]]

    def __post_init__(self) -> None:
        # The callback works only in the calling process, so it is not sent to workers.
        self.model = copy.copy(self.model)
        self.model.callback = None

    @property
    def n_paths(self) -> int:
        """The number of paths: the folds of the first penalty, then those of the next."""
        return len(self.penalties) * len(self.folds)

    def run(
        self,
        scores: _core.Tally,
        paths: Sequence[int],
        *,
        time_limit: float | None,
        heard: Heard,
        listener: Listener | None,
        n_jobs: int | None,
    ) -> None:
        """Search some paths in turns, one size on all before the next, and enter the scores of finished searches."""
        data, model = self.data, self.model
        scorer = check_scoring(model, scoring=model.scoring)
        X = data.X.tocsr() if sp.issparse(data.X) else data.X
        rows = replace(data, X=X)
        jobs: dict[int, Job] = {}
        # Names were checked already. Without them, scikit-learn does not warn about predictions on plain arrays.
        fitted = copy.copy(model)
        fitted.__dict__.pop("feature_names_in_", None)
        # Text and missing values were converted to features already.
        fitted._prepared = None
        fitted.n_features_in_ = data.X.shape[1]

        def begin(at: int) -> _core.Problem:
            penalty, fold = divmod(paths[at], len(self.folds))
            ridge, l0_penalty = self.penalties[penalty]
            train = self.folds[fold][0]
            jobs[at] = Job(rows.part(train), model._options(ridge=ridge, l0_penalty=l0_penalty, **_ONE))
            return jobs[at].problem

        def score(at: int, solution: _core.Solution) -> float:
            test = self.folds[paths[at] % len(self.folds)][1]
            result = jobs[at].result(solution)
            fitted._adopt(result)
            extra = {} if data.weights is None else {"sample_weight": data.weights[test]}
            if model.scoring is None and data.offset is not None and data.classes is None:
                extra["offset"] = data.offset[test]
            if model.scoring is None and data.times is not None:
                times = data.times.part(test)
                extra |= {"strata": times.labels, "entry": times.entry}
            found = float(scorer(fitted, X[test], self.y[test], **extra))
            heard(paths[at], solution.k, result.features)
            if solution.k == self.ks[-1]:
                # The data of this fold are no longer needed.
                del jobs[at]
            return found

        options = model._options(ridge=1.0, **_ONE)
        settings = replace(options, time_limit=time_limit, n_jobs=n_jobs).settings()
        entries = X.nnz if sp.issparse(X) else X.size
        size = {"entries": int(entries), "columns": X.shape[1]}
        _core.cross_validate(scores, settings, begin=begin, score=score, callback=listener, **size)
