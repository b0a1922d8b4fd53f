"""The scores of cross-validation so far, and what can be chosen of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from l0star import _core
from l0star._solve import falls_short
from l0star._warnings import warn


class Tally:
    """What came of every search: a size on the rows outside a fold, with one ridge.

    Attributes
    ----------
    ks : list of int
        The sizes, ascending.
    ridges : list of float
        The ridges.
    n_searches, n_scored : int
        How many searches there are, and how many have a score.
    """

    def __init__(self, ks: list[int], ridges: list[float], n_folds: int) -> None:
        self.ks, self.ridges, self._n_folds = ks, ridges, n_folds
        #: Where the searches enter their scores.
        self.scores = _core.Tally(ks, ridges, n_folds)
        self.n_searches = n_folds * len(ridges) * len(ks)

    @property
    def n_scored(self) -> int:
        """How many searches have a score."""
        return self.n_searches - self.scores.n_missing

    def results(self) -> dict[str, Any]:
        """Give it in the form of scikit-learn's ``cv_results_``."""
        params = [{"k": k, "ridge": ridge} for ridge in self.ridges for k in self.ks]
        # One row a fold, one column a candidate, k running fastest.
        scores: npt.NDArray[np.float64] = np.full((self._n_folds, len(params)), np.nan)
        statuses: npt.NDArray[np.object_] = np.full(scores.shape, None, dtype=object)
        for at, candidate in enumerate(self.scores.candidates()):
            for fold, cell in enumerate(candidate):
                if cell is not None:
                    scores[fold, at], statuses[fold, at] = cell
        return {
            "params": params,
            "param_k": np.array([point["k"] for point in params]),
            "param_ridge": np.array([point["ridge"] for point in params]),
            "mean_test_score": scores.mean(axis=0),
            "std_test_score": scores.std(axis=0),
            **{f"split{i}_test_score": row for i, row in enumerate(scores)},
            **{f"split{i}_status": row for i, row in enumerate(statuses)},
        }

    def choose(self, rule: str) -> int:
        """Give the place of the choice among the sizes that are complete, and warn of what was cut off or not proved.

        Where larger sizes are missing, the choice stands only if a larger size is complete: else the score was still
        rising.
        """
        self._warn_of_unproved()
        complete, missing = self.scores.complete, self.scores.n_missing
        chosen, was_rising = self.scores.choose(rule)
        sizes = ", ".join(map(str, complete))
        if chosen is None:
            reason = (
                f"the score was still rising at the largest complete size of k={sizes}, and nothing is chosen"
                if was_rising
                else "no size is complete, and nothing is chosen"
            )
            raise RuntimeError(self._cut_off(missing, reason))
        if missing:
            reason = f"the choice is among the complete sizes k={sizes} only"
            warn(self._cut_off(missing, reason, ""), ConvergenceWarning)
        return chosen

    def _cut_off(self, missing: int, reason: str, end: str = " The scores so far are in cv_results_.") -> str:
        return f"{missing} of {self.n_searches} searches were cut off: {reason}.{end}"

    def _warn_of_unproved(self) -> None:
        named = []
        count = 0
        for at, candidate in enumerate(self.scores.candidates()):
            folds = [fold for fold, cell in enumerate(candidate) if cell is not None and falls_short(cell[1])]
            if folds:
                count += len(folds)
                ridge, size = divmod(at, len(self.ks))
                ridge_said = f", ridge={self.ridges[ridge]:g}" if len(self.ridges) > 1 else ""
                named.append(f"k={self.ks[size]}{ridge_said} in split {', '.join(map(str, folds))}")
        if count:
            warn(
                f"{_core.counted(count, 'search')} ended without a proof, so the models that were scored may not be "
                f"the best of their size: {'; '.join(named)}.",
                ConvergenceWarning,
            )
