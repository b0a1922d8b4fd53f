"""The shared part of the mixed-integer adapters: the quadratic problem, safe boxes, a start, and safe screening.

None of it counts as time of the solver.

    minimise  x'Hx/2 - c'x + constant,  H = A'A/n + ridge I,  at most k of x non-zero
"""

import numpy as np
from common import Unsupported, largest


class Quadratic:
    def __init__(self, request):
        request.only("quadratic")
        self.request = request
        self.columns = list(range(request.d))
        A, n = request.A, request.n
        self.G = A.T @ A / n
        self.c = A.T @ request.b / n
        self.constant = request.b @ request.b / (2 * n)
        self.ridge = request.ridge
        self.start, self.upper = heuristic(self, request.k)
        # Solvers have absolute tolerances, which mean the same for all of them if the problem is scaled to size one.
        self.scale = 1 / self.constant
        self.note = ""

    @property
    def size(self):
        return len(self.columns)

    @property
    def H(self):
        return self.G + self.ridge * np.eye(self.size)

    def boxes(self):
        """Returns bounds on |x_i| for all x no worse than the start, which are in an ellipsoid around the free minimum."""
        inverse = np.linalg.inv(self.H)
        centre = inverse @ self.c
        least = self.constant - self.c @ centre / 2
        room = max(self.upper - least, 0.0) * (1 + 1e-6) + 1e-15
        return np.abs(centre) + np.sqrt(2 * room * np.diag(inverse))

    def screen(self, most):
        """Screens if there are more than `most` features; fails if more than `most` remain."""
        self.reduce(most)
        if self.size > most:
            raise Unsupported(f"the licence takes {most} features, {self.size} are left after screening")

    def reduce(self, enough):
        """Removes features that no model better than the start can use, if there are more than `enough`."""
        if self.size <= enough:
            return
        k = self.request.k
        # Alternating minimisation of the perspective relaxation over x and z; any u gives a valid bound.
        z = np.full(self.size, k / self.size)
        for _ in range(100):
            x = np.linalg.solve(self.G + np.diag(self.ridge / np.maximum(z, 1e-12)), self.c)
            z = shares(np.abs(x), k)
        u = self.c - self.G @ x
        q = np.sort(u**2 / (2 * self.ridge))[::-1]
        bound = self.constant - x @ self.G @ x / 2 - q[:k].sum()
        # Rounding errors are far below this margin.
        out = bound + q[k - 1] - u**2 / (2 * self.ridge) > self.upper + 1e-9 * self.upper
        keep = [i for i in range(self.size) if not out[i]]
        if len(keep) < self.size:
            self.note = f"{self.size - len(keep)} of {self.size} features screened out first"
        self.columns = [self.columns[i] for i in keep]
        self.G = self.G[np.ix_(keep, keep)]
        self.c = self.c[keep]

    def start_values(self):
        """Returns the start on the remaining columns."""
        values = dict(zip(self.start, self.request.ridge_fit(self.start)[0], strict=True))
        return np.array([values.get(j, 0.0) for j in self.columns])

    def support(self, z):
        """Returns the support given by the binary variables of a solution."""
        places = largest(np.where(np.asarray(z) > 0.5, z, 0), self.request.k)
        return [self.columns[i] for i in places]


def shares(sizes, k):
    """Returns min(size/theta, 1) with the theta that makes their sum k."""
    if np.count_nonzero(sizes) <= k:
        return (sizes > 0).astype(float)
    low, high = 0.0, sizes.sum()
    for _ in range(200):
        theta = (low + high) / 2
        if np.minimum(sizes / theta, 1).sum() > k:
            low = theta
        else:
            high = theta
    return np.minimum(sizes / high, 1)


def heuristic(problem, k):
    """Returns a support that no swap of two features improves, found from a greedy one, and its P."""
    H, c = problem.H, problem.c

    def best_addition(support):
        """Returns P with the best feature added to a support, and that feature, by Schur complements."""
        inverse = np.linalg.inv(H[np.ix_(support, support)])
        rows = H[:, support] @ inverse
        slope = c - rows @ c[support]
        curvature = np.diag(H) - np.einsum("ij,ij->i", rows, H[:, support])
        gain = np.full(problem.size, -np.inf)
        others = np.setdiff1d(np.arange(problem.size), support)
        gain[others] = slope[others] ** 2 / curvature[others]
        j = int(np.argmax(gain))
        return problem.constant - (c[support] @ inverse @ c[support] + gain[j]) / 2, j

    support = []
    for _ in range(k):
        least, j = best_addition(support)
        support.append(j)
    better = True
    while better:
        better = False
        for i in list(support):
            rest = [j for j in support if j != i]
            found, j = best_addition(rest)
            if found < least * (1 - 1e-12):
                support, least, better = [*rest, j], found, True
    return sorted(support), least
