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
        # One row a fold, one column a candidate, k running fastest.
        shape = (n_folds, len(ridges) * len(ks))
        self._scores: npt.NDArray[np.float64] = np.full(shape, np.nan)
        self._statuses: npt.NDArray[np.object_] = np.full(shape, None, dtype=object)
        self.n_searches = self._scores.size

    @property
    def n_scored(self) -> int:
        """How many searches have a score."""
        return int(np.count_nonzero(self._statuses))

    def _place(self, path: int, k: int) -> tuple[int, int]:
        """Give the place of a path, which is a ridge and a fold, the fold running fastest."""
        ridge, fold = divmod(path, self._n_folds)
        return fold, ridge * len(self.ks) + self.ks.index(k)

    def has(self, path: int, k: int) -> bool:
        """Say whether a search has a score."""
        return self._statuses[self._place(path, k)] is not None

    def set_status(self, path: int, k: int, status: str) -> None:
        """Enter what is known of the model of a search."""
        self._statuses[self._place(path, k)] = status

    def enter(self, path: int, k: int, score: float, status: str) -> None:
        """Enter the score of a search, and what is known of its model."""
        self._scores[self._place(path, k)] = score
        self.set_status(path, k, status)

    def results(self) -> dict[str, Any]:
        """Give it in the form of scikit-learn's ``cv_results_``."""
        params = [{"k": k, "ridge": ridge} for ridge in self.ridges for k in self.ks]
        return {
            "params": params,
            "param_k": np.array([point["k"] for point in params]),
            "param_ridge": np.array([point["ridge"] for point in params]),
            "mean_test_score": self._scores.mean(axis=0),
            "std_test_score": self._scores.std(axis=0),
            **{f"split{i}_test_score": row for i, row in enumerate(self._scores)},
            **{f"split{i}_status": row for i, row in enumerate(self._statuses)},
        }

    def choose(self, one_standard_error: bool) -> int:
        """Give the place of the choice among the sizes that are complete, and warn of what was cut off or not proved.

        Where larger sizes are missing, the choice stands only if a larger size is complete: else the score was still
        rising.
        """
        self._warn_of_unproved()
        n_complete = self._n_complete()
        missing = self.n_searches - self.n_scored
        if n_complete == 0:
            raise RuntimeError(self._cut_off(missing, "no size is complete, and nothing is chosen"))
        mean = self._scores.mean(axis=0)
        size = np.arange(mean.size) % len(self.ks)
        places = np.flatnonzero(size < n_complete)
        best = int(places[np.argmax(mean[places])])
        if one_standard_error:
            error = self._scores[:, best].std(ddof=1) / np.sqrt(self._n_folds)
            near = places[mean[places] >= mean[best] - error]
            # The smallest model that is not clearly worse than the best; of these the best ridge.
            best = int(min(near, key=lambda at: (size[at], -mean[at])))
        if missing:
            sizes = ", ".join(map(str, self.ks[:n_complete]))
            if size[best] == n_complete - 1 and n_complete < len(self.ks):
                reason = f"the score was still rising at the largest complete size of k={sizes}, and nothing is chosen"
                raise RuntimeError(self._cut_off(missing, reason))
            reason = f"the choice is among the complete sizes k={sizes} only"
            warn(self._cut_off(missing, reason, ""), ConvergenceWarning)
        return best

    def _n_complete(self) -> int:
        """Give how many of the smallest sizes have the scores of all folds and ridges."""
        there = (self._statuses != None).reshape(self._n_folds, len(self.ridges), len(self.ks))  # noqa: E711
        return int(np.cumprod(there.all(axis=(0, 1))).sum())

    def _cut_off(self, missing: int, reason: str, end: str = " The scores so far are in cv_results_.") -> str:
        return f"{missing} of {self.n_searches} searches were cut off: {reason}.{end}"

    def _warn_of_unproved(self) -> None:
        named = []
        count = 0
        for at, column in enumerate(self._statuses.T):
            folds = [fold for fold, status in enumerate(column) if status is not None and falls_short(status)]
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
