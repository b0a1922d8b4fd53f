"""The best model at every price of a feature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from l0star import _core
from l0star._core import LABEL_LOSSES
from l0star._docs import documented
from l0star._frames import prepare
from l0star._input import read
from l0star._moments import refuse
from l0star._options import Options, check_count, check_real
from l0star._solve import Job, falls_short
from l0star._warnings import warn

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class PenaltyPiece:
    """The model that is best for prices in an interval.

    Attributes
    ----------
    price_from : float
        The lowest price at which the model is best.
    price_to : float
        The highest price at which the model is best; infinite for the last piece.
    weight : float
        The sum of the price factors of the model's features, or their number without factors. At a given price the
        objective is ``objective + price * weight``.
    objective : float
        The objective of the model without the price.
    status : str
        ``"optimal"`` if proved, or the limit that ended a search at one of the two prices.
    coef : ndarray of shape (n_features,)
        The coefficients.
    intercept : float
        The intercept.
    support : ndarray of int
        Indices of the features of the model.
    features : list of str
        Names of the features of the model.
    """

    price_from: float
    price_to: float
    weight: float
    objective: float
    status: str
    coef: npt.NDArray[np.float64]
    intercept: float
    support: npt.NDArray[np.int64]
    features: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of the command's ``path --l0-penalty-path --json``, with None for an infinite price."""
        return {
            "from": self.price_from,
            "to": None if np.isinf(self.price_to) else self.price_to,
            "status": self.status,
            "objective_without_penalty": self.objective,
            "weight": self.weight,
            "intercept": self.intercept,
            "support": self.features,
            "coefficients": {name: float(self.coef[j]) for name, j in zip(self.features, self.support, strict=True)},
        }


class PenaltyPath(Sequence[PenaltyPiece]):
    """The best model at every price of a feature: a sequence of :class:`PenaltyPiece`, in the order of rising prices.

    Attributes
    ----------
    pieces : list of PenaltyPiece
        The pieces, from a price of 0 on.
    """

    def __init__(self, pieces: list[PenaltyPiece]) -> None:
        self.pieces = pieces

    @property
    def breakpoints(self) -> npt.NDArray[np.float64]:
        """The prices at which the best model changes."""
        return np.array([piece.price_to for piece in self.pieces[:-1]], dtype=np.float64)

    def at(self, price: float) -> PenaltyPiece:
        """Return the best model at a price; at a breakpoint the smaller of the two.

        Parameters
        ----------
        price : float
            The price of a feature, at least 0.

        Returns
        -------
        PenaltyPiece
            The piece for this price.
        """
        check_real("PenaltyPath.at", "price", price, least=0.0, finite=False)
        return self.pieces[int(np.searchsorted(self.breakpoints, price, side="right"))]

    @overload
    def __getitem__(self, index: int) -> PenaltyPiece: ...
    @overload
    def __getitem__(self, index: slice) -> list[PenaltyPiece]: ...
    def __getitem__(self, index: int | slice) -> PenaltyPiece | list[PenaltyPiece]:
        return self.pieces[index]

    def __len__(self) -> int:
        return len(self.pieces)

    def __iter__(self) -> Iterator[PenaltyPiece]:
        return iter(self.pieces)

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per model: prices, status, objective without the price, weight, intercept and features.

        Returns
        -------
        pandas.DataFrame
            The models in the order of rising prices.
        """
        import pandas as pd

        facts = ("price_from", "price_to", "status", "objective", "weight", "intercept", "features")
        return pd.DataFrame([{name: getattr(piece, name) for name in facts} for piece in self])

    def __repr__(self) -> str:
        proved = sum(piece.status == "optimal" for piece in self)
        return f"PenaltyPath({_core.counted(len(self), 'model')}, {proved} of {len(self)} proved optimal)"


@documented
def penalty_path(
    X: Any,
    y: Any,
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
    include: Any = None,
    include_free: Any = None,
    exclude: Any = None,
    groups: Any = None,
    bounds: Any = None,
    nonnegative: Any = False,
    ridge_factor: Any = None,
    requires: Any = None,
    l0_factor: Any = None,
    impute: str | None = None,
    rare: int = 5,
    as_number: Any = None,
    as_text: Any = None,
    dates: str | None = None,
    date_order: str | None = None,
    sample_weight: Any = None,
    offset: Any = None,
    time_limit: float | None = None,
    search_time_limit: float | None = None,
    node_limit: int | None = None,
    memory_limit: int | None = None,
    n_jobs: int | None = None,
) -> PenaltyPath:
    """Find the best model at every price of a feature, and the exact prices at which it changes.

    The objective at a price ``c`` is that of :func:`solve` with ``l0_penalty=c``. A model that is proved best at two
    prices is best at all prices between them.

    Parameters
    ----------
    k : int or None, default=None
        Maximum number of features at any price; None sets no limit.
    method : {"best-first", "exhaustive"}, default="best-first"
        How each price is solved.
    time_limit : float, default=None
        Seconds for the whole call.
    search_time_limit : float, default=None
        Seconds for each search, at one price.
    node_limit : int, default=None
        Maximum number of nodes of the search tree, for each search.
    memory_limit : int, default=None
        Maximum number of bytes held by open nodes, for each search.

    Returns
    -------
    PenaltyPath
        A sequence of :class:`PenaltyPiece`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from l0star import penalty_path
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> path = penalty_path(X, y, k=3)
    >>> [piece.features for piece in path]
    [['bmi', 'bp', 's5'], ['bmi', 's5'], ['bmi'], []]
    >>> len(path.breakpoints)
    3
    """
    options = Options.of(locals())
    options.check("penalty_path")
    refuse(X, "penalty_path")
    prepared = prepare(X, options)
    data = read(X, y, labels=loss in LABEL_LOSSES, sample_weight=sample_weight, offset=offset, prepared=prepared)
    if k is not None:
        check_count("penalty_path", "k", k)
    job = Job(data, options)
    pieces = [_piece(data.names, piece) for piece in job.penalty_path(k)]
    short = [piece for piece in pieces if falls_short(piece.status)]
    if short:
        models = _core.counted(len(pieces), "model")
        warn(
            f"The proof is not complete for {len(short)} of {models}; {_core.advice(short[0].status)}.",
            ConvergenceWarning,
        )
    return PenaltyPath(pieces)


def _piece(names: list[str], piece: tuple[float, float, float, float, str, _core.Solution]) -> PenaltyPiece:
    price_from, price_to, weight, objective, status, solution = piece
    return PenaltyPiece(
        price_from=price_from,
        price_to=price_to,
        weight=weight,
        objective=objective,
        status=status,
        coef=solution.coefficients,
        intercept=solution.intercept,
        support=solution.support,
        features=[names[j] for j in solution.support],
    )
