"""The scores of cross-validation so far, and the choice among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from l0star import _core
from l0star._solve import falls_short
from l0star._warnings import warn


class Tally:
    """The outcome of every search: one size on the rows outside a fold, with one ridge and one price of a feature.

    Attributes
    ----------
    ks : list of int
        The sizes, ascending.
    penalties : list of (float, float)
        Every ridge with every price, the highest price first.
    n_searches, n_scored : int
        Number of searches, and number of searches with a score.
    """

    def __init__(
        self, ks: list[int], ridges: list[float], n_folds: int, l0_penalties: Sequence[float] = (0.0,)
    ) -> None:
        self.ks, self._n_folds = ks, n_folds
        #: Where the searches enter their scores.
        self.scores = _core.Tally(ks, ridges, l0_penalties, n_folds)
        self.penalties = self.scores.penalties
        self.n_searches = n_folds * len(self.penalties) * len(ks)
        self._params = [
            {"k": k, "ridge": ridge, "l0_penalty": l0_penalty} for ridge, l0_penalty in self.penalties for k in ks
        ]

    @property
    def n_scored(self) -> int:
        """The number of searches with a score."""
        return self.n_searches - self.scores.n_missing

    def results(self) -> dict[str, Any]:
        """Return the scores in the form of scikit-learn's ``cv_results_``."""
        # One row per fold, one column per candidate; k varies fastest.
        shape = (self._n_folds, len(self._params))
        scores: npt.NDArray[np.float64] = np.full(shape, np.nan)
        features: npt.NDArray[np.float64] = np.full(shape, np.nan)
        statuses: npt.NDArray[np.object_] = np.full(shape, None, dtype=object)
        is_hopeless: npt.NDArray[np.bool_] = np.full(shape, False)
        for at, candidate in enumerate(self.scores.candidates()):
            for fold, cell in enumerate(candidate):
                if cell is not None:
                    scores[fold, at], statuses[fold, at], features[fold, at], hopeless = cell
                    is_hopeless[fold, at] = hopeless is not None
        return {
            "params": [dict(point) for point in self._params],
            **{f"param_{name}": np.array([point[name] for point in self._params]) for name in self._params[0]},
            "mean_test_score": scores.mean(axis=0),
            "std_test_score": scores.std(axis=0),
            "mean_n_features": features.mean(axis=0),
            **{f"split{i}_test_score": row for i, row in enumerate(scores)},
            **{f"split{i}_status": row for i, row in enumerate(statuses)},
            **{f"split{i}_hopeless": row for i, row in enumerate(is_hopeless)},
        }

    def choose(self, rule: str) -> int:
        """Return the index of the choice among the complete sizes (or prices), and warn if it is not certain.

        If larger sizes (lower prices) are missing, the choice is valid only if a larger size is complete: otherwise the
        score was still rising.
        """
        self._warn_of_unproved()
        missing = self.scores.n_missing
        chosen, was_rising = self.scores.choose(rule)
        name, one, last = ("l0_penalty", "price", "lowest") if self.scores.is_along_prices else ("k", "size", "largest")
        complete = dict.fromkeys(self._params[at][name] for at in self.scores.complete)
        values = f"{name}={', '.join(f'{value:g}' for value in complete)}"
        if chosen is None:
            reason = (
                f"the score was still rising at the {last} complete {one} of {values}, and nothing is chosen"
                if was_rising
                else f"no {one} is complete, and nothing is chosen"
            )
            raise RuntimeError(self._cut_off(missing, reason))
        if missing:
            reason = f"the choice is among the complete {one}s {values} only"
            warn(self._cut_off(missing, reason, ""), ConvergenceWarning)
        return chosen

    def _cut_off(self, missing: int, reason: str, end: str = " The scores so far are in cv_results_.") -> str:
        return f"{missing} of {self.n_searches} searches were cut off: {reason}.{end}"

    def _warn_of_unproved(self) -> None:
        named = []
        count = 0
        # The parameters that distinguish candidates.
        several = [name for name in ("l0_penalty", "ridge") if len({point[name] for point in self._params}) > 1]
        told = several if self.scores.is_along_prices else ["k", *several]
        for point, candidate in zip(self._params, self.scores.candidates(), strict=True):
            folds = [fold for fold, cell in enumerate(candidate) if cell is not None and falls_short(cell[1])]
            if folds:
                count += len(folds)
                name = ", ".join(f"{name}={point[name]:g}" for name in told)
                named.append(f"{name} in split {', '.join(map(str, folds))}")
        if count:
            of_what = "at their price" if self.scores.is_along_prices else "of their size"
            warn(
                f"{_core.counted(count, 'search')} ended without a proof, so the models that were scored may not be "
                f"the best {of_what}: {'; '.join(named)}.",
                ConvergenceWarning,
            )
        hopeless = self.scores.hopeless()
        if hopeless is not None:
            warn(f"{hopeless[0].upper()}{hopeless[1:]}.", ConvergenceWarning)
