"""Best subsets by brute force in NumPy: written from the formulas alone, slow and independent of the engine."""

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np


@dataclass
class Instance:
    """``mean(loss) + ridge / 2 * |x|²`` over at most k features, all of ``include`` among them, none of ``exclude``."""

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

    def shares(self) -> np.ndarray:
        weights = np.ones(len(self.y)) if self.weights is None else self.weights
        return weights / weights.sum()

    def objective(self, coef: np.ndarray, intercept: float) -> float:
        z = self.X @ coef + intercept + (0.0 if self.offset is None else self.offset)
        value, _, _ = losses(self.loss, z, self.y, self.delta)
        return float(self.shares() @ value + self.ridge / 2 * coef @ coef)

    def best(self) -> float:
        """The smallest objective."""
        others = [j for j in range(self.X.shape[1]) if j not in self.include and j not in self.exclude]
        size = min(self.k - len(self.include), len(others))
        supports = combinations(others, size)
        return min(self.restricted([*self.include, *support]) for support in supports)

    def restricted(self, support: list[int]) -> float:
        """Newton's method with a line search over the coefficients of one support and the intercept."""
        columns = [self.X[:, support]] + ([np.ones((len(self.y), 1))] if self.intercept else [])
        A = np.hstack(columns)
        penalty = np.r_[np.full(len(support), self.ridge), np.zeros(int(self.intercept))]
        offset = 0.0 if self.offset is None else self.offset
        p = self.shares()

        def value(x: np.ndarray) -> float:
            return float(p @ losses(self.loss, A @ x + offset, self.y, self.delta)[0] + penalty @ x**2 / 2)

        x = np.zeros(A.shape[1])
        if not len(x):
            return value(x)
        for _ in range(500):
            _, slope, curvature = losses(self.loss, A @ x + offset, self.y, self.delta)
            gradient = A.T @ (p * slope) + penalty * x
            hessian = (A.T * (p * curvature)) @ A + np.diag(penalty)
            # Where Huber's loss is linear the Hessian says nothing about the intercept.
            step = -np.linalg.solve(hessian + 1e-9 * np.eye(len(x)), gradient)
            length, here = 1.0, value(x)
            if -gradient @ step < 1e-14 * max(here, 1e-3):
                return here
            while value(x + length * step) > here + 1e-4 * length * (gradient @ step) and length > 1e-12:
                length /= 2
            x = x + length * step
        raise AssertionError("the brute force did not converge")


def losses(loss: str, z: np.ndarray, y: np.ndarray, delta: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Value, first and second derivative in z, row by row."""
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
    lack = np.maximum(0, 1 - m)
    return lack**2 / 2, -y * lack, (lack > 0).astype(float)
