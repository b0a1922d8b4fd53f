"""Overhead of `fit` over the engine; called by `cargo xtask bench python` with a file and the size of the model.

The last column of the file is the target. Each output line has a name, and the median and the minimum time in
milliseconds.
"""

import sys
import time
from collections.abc import Callable, Sequence
from statistics import median

import numpy as np

from l0star import SparseRegressor
from l0star._input import read
from l0star._options import Options
from l0star._solve import Job

RUNS = 100


def tell(name: str, seconds: Sequence[float]) -> None:
    """Print a line of output."""
    print(name, 1000.0 * median(seconds), 1000.0 * min(seconds))


def timed(work: Callable[[], object]) -> list[float]:
    """Time many calls."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return times


table = np.load(sys.argv[1])
# The layout of most arrays, which is also the more expensive one.
X, y, k = np.ascontiguousarray(table[:, :-1]), table[:, -1].copy(), int(sys.argv[2])
model = SparseRegressor(k=k)
searches = [model.fit(X, y).result_.seconds for _ in range(RUNS)]
data, options = read(X, y, labels=False), Options()
job = Job(data, options)
tell("fit", timed(lambda: model.fit(X, y)))
tell("of which: search", searches)
tell("of which: checks of the input", timed(lambda: model._read(X, y, None, None)))
tell("of which: copy and problem", timed(lambda: Job(data, options)))
tell("of which: warnings", timed(lambda: job._problem.warnings(k)))
