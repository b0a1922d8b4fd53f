"""Best subsets by brute force in NumPy: written from the formulas, slow, and independent of the engine."""

from dataclasses import dataclass, field
from itertools import chain, combinations, product

import numpy as np


@dataclass
class Instance:
    """``mean(loss) + ridge / 2 * sum(factor * x**2)`` over at most k features; a group of columns is one feature.

    The features of ``include`` are in every model, those of ``exclude`` in none. The ``free`` columns are in every
    model and are not counted in k. A column in ``requires`` is in a model only with the columns that it requires.
    """

    X: np.ndarray
    y: np.ndarray
    k: int
    loss: str = "quadratic"
    delta: float = 1.0
    ridge: float = 1e-2
    intercept: bool = True
    weights: np.ndarray | None = None
    offset: np.ndarray | None = None
    include: list[int] = field(default_factory=list)
    exclude: list[int] = field(default_factory=list)
    free: list[int] = field(default_factory=list)
    groups: list[list[int]] = field(default_factory=list)
    bounds: dict[int, tuple[float, float]] = field(default_factory=dict)
    factors: dict[int, float] = field(default_factory=dict)
    requires: dict[int, list[int]] = field(default_factory=dict)

    def shares(self) -> np.ndarray:
        weights = np.ones(len(self.y)) if self.weights is None else self.weights
        return weights / weights.sum()

    def penalties(self) -> np.ndarray:
        return self.ridge * np.array([self.factors.get(j, 1.0) for j in range(self.X.shape[1])])

    def predict(self, coef: np.ndarray, intercept: float) -> np.ndarray:
        return self.X @ coef + intercept + (0.0 if self.offset is None else self.offset)

    def mean_loss(self, coef: np.ndarray, intercept: float) -> float:
        return float(self.shares() @ losses(self.loss, self.predict(coef, intercept), self.y, self.delta)[0])

    def objective(self, coef: np.ndarray, intercept: float) -> float:
        return self.mean_loss(coef, intercept) + float(self.penalties() @ coef**2 / 2)

    def features(self) -> list[list[int]]:
        """Return the columns of each feature that is counted in k."""
        grouped = {j for group in self.groups for j in group}
        parts = [*self.groups, *([j] for j in range(self.X.shape[1]) if j not in grouped | set(self.free))]
        parts = [[j for j in part if j not in self.exclude] for part in parts]
        return sorted(sorted(part) for part in parts if part)

    def included(self) -> list[list[int]]:
        """Return the features of ``include``, and those that they and the free columns require."""
        parts = self.features()
        wanted = set(self.include)
        for _ in self.requires:
            inside = {j for part in parts if set(part) & wanted for j in part} | set(self.free)
            wanted |= {parent for child in inside for parent in self.requires.get(child, [])}
        return [part for part in parts if set(part) & wanted]

    def is_allowed(self, support: list[int]) -> bool:
        return all(set(self.requires.get(j, [])) <= set(support) for j in support)

    def models(self, sizes: range | None = None) -> list[float]:
        """Return the objectives of all models, or of those of some sizes, best first."""
        always = self.included()
        others = [part for part in self.features() if part not in always]
        room = min(self.k - len(always), len(others))
        chosen = (chosen for size in sizes or range(room + 1) for chosen in combinations(others, size))
        supports = ([*self.free, *chain(*always, *parts)] for parts in chosen)
        return sorted(self.restricted(support) for support in supports if self.is_allowed(support))

    def best(self) -> float:
        """Return the smallest objective."""
        room = min(self.k - len(self.included()), len(self.features()) - len(self.included()))
        # A larger set is never worse, but with requirements there may be no set of the largest size.
        return self.models(None if self.requires else range(room, room + 1))[0]

    def restricted(self, support: list[int]) -> float:
        """Return the smallest objective of one support, where each coefficient is free or at one of its bounds."""
        choices = [[None, *(x for x in self.bounds.get(j, ()) if np.isfinite(x))] for j in support]
        values = []
        for choice in product(*choices):
            fixed = {j: x for j, x in zip(support, choice, strict=True) if x is not None}
            loose = [j for j in support if j not in fixed]
            value, found = self.minimum(loose, fixed)
            limits = [self.bounds.get(j, (-np.inf, np.inf)) for j in loose]
            if all(low <= x <= high for x, (low, high) in zip(found, limits, strict=True)):
                values.append(value)
        return min(values)

    def minimum(self, support: list[int], fixed: dict[int, float]) -> tuple[float, np.ndarray]:
        """Minimise by Newton's method with a line search over some coefficients and the intercept; others are fixed."""
        columns = [self.X[:, support]] + ([np.ones((len(self.y), 1))] if self.intercept else [])
        A = np.hstack(columns)
        penalty = np.r_[self.penalties()[support], np.zeros(int(self.intercept))]
        rest = np.zeros(self.X.shape[1])
        rest[list(fixed)] = list(fixed.values())
        offset, paid = self.predict(rest, 0.0), float(self.penalties() @ rest**2 / 2)
        p = self.shares()

        def value(x: np.ndarray) -> float:
            return float(p @ losses(self.loss, A @ x + offset, self.y, self.delta)[0] + penalty @ x**2 / 2) + paid

        x = np.zeros(A.shape[1])
        if not len(x):
            return value(x), x
        for _ in range(500):
            _, slope, curvature = losses(self.loss, A @ x + offset, self.y, self.delta)
            gradient = A.T @ (p * slope) + penalty * x
            hessian = (A.T * (p * curvature)) @ A + np.diag(penalty)
            # Where Huber's loss is linear, the Hessian is zero in the direction of the intercept.
            step = -np.linalg.solve(hessian + 1e-9 * np.eye(len(x)), gradient)
            length, here = 1.0, value(x)
            if -gradient @ step < 1e-14 * max(here, 1e-3):
                return here, x[: len(support)]
            while value(x + length * step) > here + 1e-4 * length * (gradient @ step) and length > 1e-12:
                length /= 2
            x = x + length * step
        raise AssertionError("the brute force did not converge")


def losses(loss: str, z: np.ndarray, y: np.ndarray, delta: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the loss and its first and second derivatives in z, row by row."""
    r = z - y
    m = z * y
    if loss == "quadratic":
        return r**2 / 2, r, np.ones_like(r)
    if loss == "huber":
        near = np.abs(r) <= delta
        return (
            np.where(near, r**2 / 2, delta * (np.abs(r) - delta / 2)),
            np.clip(r, -delta, delta),
            near.astype(float),
        )
    if loss == "logistic":
        wrong = np.exp(-np.logaddexp(0, m))
        return np.logaddexp(0, -m), -y * wrong, wrong * (1 - wrong)
    if loss == "poisson":
        return np.exp(z) - m + np.where(y > 0, y * np.log(np.maximum(y, 1e-300)), 0.0) - y, np.exp(z) - y, np.exp(z)
    if loss == "gamma":
        share = y * np.exp(-z)
        return share + z - np.log(y) - 1, 1 - share, share
    lack = np.maximum(0, 1 - m)
    return lack**2 / 2, -y * lack, (lack > 0).astype(float)
