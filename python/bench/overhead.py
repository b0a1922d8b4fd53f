"""What `fit` costs beside the engine: called by `cargo xtask bench python` with a file and the size of the model.

The last column of the file is the target. Prints a name and the milliseconds of a median run, a line each.
"""

import sys
import time
from collections.abc import Callable
from statistics import median

import numpy as np

from l0star import SparseRegressor
from l0star._input import read
from l0star._options import Options
from l0star._solve import Job

RUNS = 50


def milliseconds(work: Callable[[], object]) -> float:
    """Time one call, as the median of many."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return 1000.0 * median(times)


table = np.load(sys.argv[1])
# The layout that most arrays have, and the one that costs more.
X, y, k = np.ascontiguousarray(table[:, :-1]), table[:, -1].copy(), int(sys.argv[2])
model = SparseRegressor(k=k)
searches = [model.fit(X, y).result_.seconds for _ in range(RUNS)]
data, options = read(X, y, labels=False), Options()
job = Job(data, options)
print("fit", milliseconds(lambda: model.fit(X, y)))
print("of which: search", 1000.0 * median(searches))
print("of which: checks of the input", milliseconds(lambda: model._read(X, y, None, None)))
print("of which: copy and problem", milliseconds(lambda: Job(data, options)))
print("of which: warnings", milliseconds(lambda: job._problem.warnings(k)))
