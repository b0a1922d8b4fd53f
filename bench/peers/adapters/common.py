"""The shared part of all adapters: requests and answers, independent of any solver.

A request is a JSON file:
  matrix       an NPY file, n rows, d features and the response as the last column, in Fortran order
  loss         quadratic, huber or logistic;  huber_delta  the residual where Huber turns linear
  ridge, k     P(x) = mean loss + ridge/2 |x|^2, at most k non-zeros, no intercept
  gap          the absolute error allowed;  tolerance  the relative error that counts as none
  time_limit   in seconds
  penalty      for penalised solvers: a price of a non-zero at which k of them are best, or the next smaller number
               that has such a price
  bound        a bound on the coefficients, for solvers that need a big M
  start        a good model (index -> number), for solvers that accept one
  formulation  for mixed-integer solvers: bigm, sos1 or perspective

An adapter reads the paths of requests from standard input, one per line, and answers each before it reads the next.

An answer is one line of JSON: status (optimal, gap_reached, time_limit, heuristic, unsupported, failed), coefficients
(index -> number), seconds of the solver alone, and, if known, lower_bound, nodes, version, note.
"""

import json
import os
import sys
import time
import traceback

# One thread in every linear algebra library; this must be set before NumPy is imported.
for name in ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB_MAXIMUM"):
    os.environ[f"{name}_NUM_THREADS"] = "1"
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import numpy as np


class Unsupported(Exception):
    """A problem that the peer cannot solve."""


class Request:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.raw = json.load(file)
        table = np.load(self.raw["matrix"])
        self.A = np.asfortranarray(table[:, :-1])
        self.b = np.ascontiguousarray(table[:, -1])
        self.n, self.d = self.A.shape
        self.loss = self.raw["loss"]
        self.delta = self.raw.get("huber_delta") or 1.0
        self.ridge = self.raw["ridge"]
        self.k = self.raw["k"]
        self.gap = self.raw.get("gap") or 0.0
        self.tolerance = self.raw.get("tolerance") or 1e-9
        self.time_limit = self.raw["time_limit"]
        self.formulation = self.raw.get("formulation")

    def only(self, *losses):
        if self.loss not in losses:
            raise Unsupported(f"no {self.loss} loss")

    def penalty(self):
        """Returns the price of a non-zero, in units of P."""
        if self.raw.get("penalty") is None:
            raise Unsupported("no penalty is known at which k non-zeros, or fewer, are best")
        return self.raw["penalty"]

    def start(self):
        """Returns a good model as a vector; None if there is none."""
        if not self.raw.get("start"):
            return None
        x = np.zeros(self.d)
        for j, value in self.raw["start"].items():
            x[int(j)] = value
        return x

    def ridge_fit(self, support):
        """Returns the least-squares coefficients with the ridge on a support, and their P(x)."""
        support = list(support)
        A = self.A[:, support]
        gram = A.T @ A / self.n + self.ridge * np.eye(len(support))
        x = np.linalg.solve(gram, A.T @ self.b / self.n)
        rest = self.b - A @ x
        return x, rest @ rest / (2 * self.n) + self.ridge / 2 * (x @ x)


def refitted(request, support):
    """Returns the best coefficients of a support, by index, for a quadratic problem."""
    x, _ = request.ridge_fit(support)
    return {int(j): float(value) for j, value in zip(support, x, strict=True)}


def largest(x, k):
    """Returns the indices of the k largest entries, without zeros."""
    order = np.argsort(-np.abs(x))[:k]
    return sorted(int(j) for j in order if x[j] != 0)


def chosen(x, k):
    return {j: float(x[j]) for j in largest(x, k)}


class Timer:
    def __enter__(self):
        self.start = time.perf_counter()
        return self

    def __exit__(self, *_):
        self.seconds = time.perf_counter() - self.start


def main(solve):
    """Answers every request with a line from `solve(request) -> dict`; standard input has one path per line.

    The output of solvers goes to standard error. The adapter keeps running, so that it compiles its code only once.
    """
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        out.write(json.dumps(answer(solve, line.strip())) + "\n")
        out.flush()
    # Some solvers leave threads that never end.
    os._exit(0)


def answer(solve, path):
    """Returns the answer to a request; any failure of the peer is an answer too."""
    try:
        return solve(Request(path))
    except Unsupported as reason:
        return {"status": "unsupported", "note": str(reason)}
    except MemoryError:
        return {"status": "failed", "note": "out of memory"}
    except Exception as reason:
        traceback.print_exc()
        return {"status": "failed", "note": f"{type(reason).__name__}: {reason}"}
