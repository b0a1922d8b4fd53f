"""El0ps: any loss with a ridge and a price on every non-zero, at a price for which k of them are best."""

import importlib.metadata

import common
import numpy as np
from el0ps.compilation import CompilableClass
from el0ps.datafit import BaseDatafit, Leastsquares, Logistic
from el0ps.penalty import BigmL2norm, L2norm
from el0ps.solver import BnbSolver
from numba import float64


class Huber(CompilableClass, BaseDatafit):
    """The sum over rows of r^2/2 where |r| <= delta, else delta (|r| - delta/2)."""

    def __init__(self, y, delta):
        self.y = y
        self.delta = delta
        self.L = 1.0

    def __str__(self):
        return "Huber"

    def get_spec(self):
        return (("y", float64[::1]), ("delta", float64), ("L", float64))

    def params_to_dict(self):
        return dict(y=self.y, delta=self.delta)

    def value(self, w):
        r = np.abs(w - self.y)
        inner = np.minimum(r, self.delta)
        return np.sum(0.5 * inner**2 + self.delta * (r - inner))

    def conjugate(self, w):
        if np.max(np.abs(w)) > self.delta:
            return np.inf
        return 0.5 * np.dot(w, w) + np.dot(w, self.y)

    def gradient(self, w):
        return np.minimum(np.maximum(w - self.y, -self.delta), self.delta)

    def gradient_lipschitz_constant(self):
        return self.L


def solve(request):
    # El0ps minimises the sum of losses, beta |x|^2 and the price: n times our P.
    n, price = request.n, request.penalty()
    fit = {
        "quadratic": lambda b: Leastsquares(b),
        "huber": lambda b: Huber(b, request.delta),
        "logistic": lambda b: Logistic(b),
    }[request.loss]
    weight = n * request.ridge / 2
    penalty = BigmL2norm(request.raw["bound"], weight) if request.formulation == "bigm" else L2norm(weight)
    # El0ps solves nodes to 1e-4 by default. With bounds that are off by this much, or by 1e-7, it sometimes prunes the
    # best model. It then takes longer and ends at another one.
    nodes = 1e-4 * request.tolerance
    solver = BnbSolver(relative_gap=request.tolerance, time_limit=request.time_limit, relative_tol=nodes)
    rows = min(20, n)
    # The loops are compiled on first use, which is not part of the solving time.
    solver.solve(fit(request.b[:rows].copy()), penalty, np.asfortranarray(request.A[:rows, :3]), 0.1)
    with common.Timer() as timer:
        found = solver.solve(fit(request.b), penalty, request.A, n * price, x_init=request.start())
    status = found.status.value
    support = [int(j) for j in np.nonzero(found.x)[0]]
    return {
        "status": "optimal" if status == "optimal" else "time_limit" if "time" in status else "failed",
        "coefficients": {j: float(found.x[j]) for j in support},
        "nodes": int(found.iter_count),
        "seconds": timer.seconds,
        "version": f"El0ps {importlib.metadata.version('el0ps')}",
        "note": "" if status in ("optimal", "time_limit") else status,
    }


common.main(solve)
