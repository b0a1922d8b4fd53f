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
        It is best from this price on …
    price_to : float
        … up to this one; infinite for the last.
    weight : float
        The sum of the factors of its features, their number without factors. At a price the objective is ``objective +
        price * weight``.
    objective : float
        Its objective without the price.
    status : str
        What is proved: ``"optimal"``, or the limit that ended a search at one of the two prices.
    coef : ndarray of shape (n_features,)
        Its coefficients.
    intercept : float
        Its intercept.
    support : ndarray of int
        The features that it uses, by index.
    features : list of str
        Their names.
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
        """Give the fields of the command's ``path --l0-penalty-path --json``, None for an infinite price."""
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
        From a price of 0 on.
    """

    def __init__(self, pieces: list[PenaltyPiece]) -> None:
        self.pieces = pieces

    @property
    def breakpoints(self) -> npt.NDArray[np.float64]:
        """The prices at which the best model changes."""
        return np.array([piece.price_to for piece in self.pieces[:-1]], dtype=np.float64)

    def at(self, price: float) -> PenaltyPiece:
        """Give the best model at a price; at a breakpoint the smaller of the two.

        Parameters
        ----------
        price : float
            What a feature costs, at least 0.

        Returns
        -------
        PenaltyPiece
            The piece that the price belongs to.
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
        """One row a model: prices, status, objective without the price, weight, and its features.

        Returns
        -------
        pandas.DataFrame
            In the order of rising prices.
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

    The objective at a price ``c`` is that of :func:`solve` with ``l0_penalty=c``. What is proved at two prices holds
    for all between them.

    Parameters
    ----------
    k : int or None, default=None
        At most this many features, whatever the price; without it all may be in at a price of 0.
    method : {"best-first", "exhaustive"}, default="best-first"
        How each price is solved.
    time_limit : float, default=None
        Seconds for the whole call.
    search_time_limit : float, default=None
        Seconds for each search, that at one price.
    node_limit : int, default=None
        Nodes of the search tree, for each search.
    memory_limit : int, default=None
        Bytes of open nodes, for each search.

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
