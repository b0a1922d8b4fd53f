"""Checks without the engine how good models are on real data with more features than rows.

``python bench/wide.py L0STAR DATA...`` runs the command ``L0STAR`` on one thread for one second and for five (or for
``--seconds``, on a busy machine). The loss is quadratic. With ``--logistic SECONDS`` it is logistic, and the result is
compared with a search in numpy of this many seconds. DATA are NPZ files with ``X`` and ``y`` (``colon.npz``,
``leukemia.npz``). Each objective is recomputed from the coefficients in numpy. For k = 2 all pairs are tried.

The known best values come from long runs of other searches. Where none is known, a search in numpy runs for
``--quadratic SECONDS``. The bounds are those of the command.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Support = list[int]

#: The least known objective by (data, ridge, k).
BEST = {
    ("colon", 1e-3, 2): 0.165995736801,
    ("colon", 1e-3, 3): 0.132395395613,
    ("colon", 1e-3, 5): 0.0620458443523,
    ("colon", 1e-3, 8): 0.0302863354415,
    ("colon", 1e-2, 2): 0.169153371452,
    ("colon", 1e-2, 3): 0.135576614911,
    ("colon", 1e-2, 5): 0.0652774906347,
    ("colon", 1e-2, 8): 0.0346066900896,
    ("leukemia", 1e-3, 2): 0.0572492889435,
    ("leukemia", 1e-3, 3): 0.0288852786259,
    ("leukemia", 1e-3, 5): 0.00802121576376,
    ("leukemia", 1e-3, 8): 0.00162124474805,
    ("leukemia", 1e-2, 2): 0.0599789936723,
    ("leukemia", 1e-2, 3): 0.0315122863980,
    ("leukemia", 1e-2, 5): 0.0104513559116,
    ("leukemia", 1e-2, 8): 0.00401198420818,
}


def standardised(x: Array) -> tuple[Array, Array]:
    """Return the columns with mean 0 and deviation 1 (constant columns are 0), and the deviations."""
    centred = x - x.mean(axis=0)
    deviations = np.sqrt((centred**2).mean(axis=0))
    return centred / np.where(deviations > 0, deviations, 1.0), deviations


def run(program: str, data: Path, k: int, ridge: float, seconds: float, loss: str) -> dict[str, object]:
    """Run the command once."""
    words = [program, "fit", str(data), "--target", "y", "-k", str(k), "--ridge", str(ridge), "--loss", loss]
    words += ["--threads", "1", "--time-limit", f"{seconds}s", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if not done.stdout:
        sys.exit(done.stderr)
    return dict(json.loads(done.stdout))


def objective(x: Array, y: Array, found: dict[str, object], loss: str, ridge: float) -> float:
    """Compute the objective of a model that the command found, from its coefficients."""
    z = np.full(len(y), float(str(found["intercept"])))
    penalty = 0.0
    _, deviations = standardised(x)
    coefficients = found["coefficients"]
    assert isinstance(coefficients, dict)
    for name, value in coefficients.items():
        j = int(name[1:]) - FIRST_NAME
        z += value * x[:, j]
        penalty += (value * deviations[j]) ** 2
    losses = 0.5 * (z - y) ** 2 if loss == "quadratic" else np.logaddexp(0.0, -sign(y) * z)
    return float(losses.mean()) + 0.5 * ridge * penalty


def sign(y: Array) -> Array:
    """Return two labels as -1 and 1."""
    return np.where(y == y.max(), 1.0, -1.0)


#: Number in the name of the first column: columns of an unnamed array are called X1, X2, …
FIRST_NAME = 1


def best_pair(x: Array, y: Array, ridge: float) -> float:
    """Try all pairs and return the least objective."""
    z, _ = standardised(x)
    n, d = z.shape
    b = y - y.mean()
    c = z.T @ b / n
    h = (z**2).sum(axis=0) / n + ridge
    best = 0.0
    for first in range(0, d, 512):
        g = z[:, first : first + 512].T @ z / n
        ci, hi = c[first : first + 512, None], h[first : first + 512, None]
        rows = np.arange(len(ci))
        g[rows, first + rows] = 0.0
        gain = (ci**2 * h + c**2 * hi - 2 * ci * c * g) / (hi * h - g**2)
        gain[rows, first + rows] = 0.0
        best = max(best, float(gain.max()))
    return 0.5 * (float(b @ b) / n - best)


class Quadratic:
    """The quadratic loss on standardised columns with an intercept and a ridge."""

    def __init__(self, x: Array, y: Array, ridge: float) -> None:
        self.z, _ = standardised(x)
        self.b = y - y.mean()
        self.n = len(y)
        self.ridge = ridge

    def value(self, support: Support) -> float:
        """Compute the least objective of a support."""
        z = self.z[:, support]
        h = z.T @ z / self.n + self.ridge * np.eye(len(support))
        c = z.T @ self.b / self.n
        return 0.5 * float(self.b @ self.b / self.n - c @ np.linalg.solve(h, c))

    def gains(self, support: Support) -> Array:
        """Compute by how much each further feature would reduce the objective."""
        z, n = self.z, self.n
        s = z[:, support]
        h = s.T @ s / n + self.ridge * np.eye(len(support))
        cross = s.T @ z / n
        inverse = np.linalg.solve(h, np.column_stack([s.T @ self.b / n, cross]))
        u = z.T @ self.b / n - cross.T @ inverse[:, 0]
        room = (z**2).sum(axis=0) / n + self.ridge - (cross * inverse[:, 1:]).sum(axis=0)
        gains = 0.5 * u**2 / room
        gains[support] = -np.inf
        return gains

    def pursuit(self, k: int, random: np.random.Generator | None = None) -> Support:
        """Take greedy steps (random ones among the best twenty if asked), then the best swaps until none helps."""
        support: Support = []
        for _ in range(k):
            best = np.argsort(-self.gains(support))[:20]
            support.append(int(best[0] if random is None else random.choice(best)))
        at = self.value(support)
        while True:
            best = (at * (1 - 1e-10), support)
            for out in support:
                others = [j for j in support if j != out]
                gains = self.gains(others)
                j = int(np.argmax(gains))
                best = min(best, (self.value(others) - float(gains[j]), [*others, j]))
            if best[1] is support:
                return support
            at, support = best


def search_quadratic(x: Array, y: Array, k: int, ridge: float, seconds: float) -> float:
    """Search by randomised greedy starts and swaps, where no best value is known."""
    problem = Quadratic(x, y, ridge)
    random = np.random.default_rng(1)
    end = time.monotonic() + seconds
    best = problem.value(problem.pursuit(k))
    while time.monotonic() < end:
        best = min(best, problem.value(problem.pursuit(k, random)))
    return best


def fit_logistic(z: Array, y: Array, ridge: float) -> tuple[float, Array]:
    """Fit the given columns by Newton's method; the first one is the intercept."""
    n, k = z.shape
    penalty = np.full(k, ridge)
    penalty[0] = 0.0

    def value(x: Array) -> float:
        return float(np.logaddexp(0.0, -y * (z @ x)).mean() + 0.5 * (penalty * x * x).sum())

    x = np.zeros(k)
    at = value(x)
    for _ in range(60):
        p = 1.0 / (1.0 + np.exp(np.clip(y * (z @ x), -500, 500)))
        gradient = -z.T @ (y * p) / n + penalty * x
        hessian = (z.T * (p * (1 - p))) @ z / n + np.diag(penalty)
        step = np.linalg.lstsq(hessian, gradient, rcond=None)[0]
        size = 1.0
        while size > 1e-8 and value(x - size * step) > at - 1e-4 * size * float(gradient @ step):
            size /= 2
        x = x - size * step
        before, at = at, value(x)
        if before - at < 1e-14 * abs(before):
            break
    return at, x


def search_logistic(x: Array, y: Array, k: int, ridge: float, seconds: float, seed: int = 1) -> float:
    """Search by randomised starts and exchanges, refitting the most promising ones."""
    z, _ = standardised(x)
    y = sign(y)
    n = len(y)
    ones = np.ones((n, 1))
    random = np.random.default_rng(seed)
    end = time.monotonic() + seconds
    best = np.inf

    def fit(support: list[int]) -> tuple[float, Array]:
        return fit_logistic(np.hstack([ones, z[:, support]]), y, ridge)

    def promising(support: list[int], coefficients: Array, count: int) -> Array:
        margin = y * (coefficients[0] + z[:, support] @ coefficients[1:])
        p = 1.0 / (1.0 + np.exp(np.clip(margin, -500, 500)))
        pull = np.abs(z.T @ (y * p)) / n
        room = (z**2).T @ (p * (1 - p)) / n + ridge
        score = pull**2 / room
        score[support] = -1.0
        return np.argsort(-score)[:count]

    while time.monotonic() < end:
        support: list[int] = []
        at, coefficients = fit(support)
        while len(support) < k:
            support.append(int(random.choice(promising(support, coefficients, 20))))
            at, coefficients = fit(support)
        improved = True
        while improved and time.monotonic() < end:
            improved = False
            for out in random.permutation(support):
                others = [j for j in support if j != out]
                _, reduced = fit(others)
                tries = [(fit([*others, int(j)])[0], int(j)) for j in promising(others, reduced, 8)]
                least, j = min(tries)
                if least < at - 1e-10:
                    at, support, improved = least, [*others, j], True
                    break
        best = min(best, at)
    return float(best)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--logistic", type=float, metavar="SECONDS")
    parser.add_argument("--quadratic", type=float, metavar="SECONDS", default=30.0)
    parser.add_argument("-k", type=int, nargs="+", default=[2, 3, 5, 8])
    parser.add_argument("--ridge", type=float, nargs="+", default=[1e-3, 1e-2, 1e-1])
    parser.add_argument("--seconds", type=float, nargs=2, default=[1.0, 5.0], metavar=("SHORT", "LONG"))
    options = parser.parse_args()
    loss = "logistic" if options.logistic else "quadratic"
    short, long = (f"{seconds:g} s" for seconds in options.seconds)
    print(f"| data | ridge | k | after {short} | after {long} | to compare | {short} above it | {long} above it ", end="")
    print("| found after (s) | status | bound |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---|---:|")
    for data in options.data:
        arrays = np.load(data)
        x, y = arrays["X"].astype(float), arrays["y"].astype(float)
        for ridge in options.ridge:
            for k in options.k:
                runs = [run(options.program, data, k, ridge, seconds, loss) for seconds in options.seconds]
                values = [objective(x, y, found, loss, ridge) for found in runs]
                for value, found in zip(values, runs, strict=True):
                    if abs(value - float(str(found["objective"]))) > 1e-8 * value:
                        sys.exit(f"{data} {ridge} {k}: {found['objective']} was reported, it is {value}")
                if options.logistic:
                    other = search_logistic(x, y, k, ridge, options.logistic)
                elif k == 2:
                    other = best_pair(x, y, ridge)
                elif (data.stem, ridge, k) in BEST:
                    other = BEST[data.stem, ridge, k]
                else:
                    other = search_quadratic(x, y, k, ridge, options.quadratic)
                above = [f"{100 * (value / other - 1):.3f} %" for value in values]
                bound = float(str(runs[1]["lower_bound"]))
                print(
                    f"| {data.stem} | {ridge:g} | {k} | {values[0]:.12g} | {values[1]:.12g} | {other:.12g} "
                    f"| {above[0]} | {above[1]} | {float(str(runs[1]['found_after'])):.2f} "
                    f"| {runs[1]['status']} | {bound:.6g} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
