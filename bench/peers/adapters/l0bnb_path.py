"""l0bnb: least squares with a ridge and a price on every non-zero, at a price for which k of them are best."""

import importlib.metadata

import common
import numpy as np
from l0bnb import BNBTree


def solve(request):
    request.only("quadratic")
    # l0bnb minimises |b - Ax|^2/2 + l0 |x|_0 + l2 |x|^2: n times our P and the price.
    n, price = request.n, request.penalty()
    M, start = request.raw["bound"], request.start()
    warm_up(request)
    with common.Timer() as timer:
        tree = BNBTree(request.A, request.b)
        found = tree.solve(
            n * price,
            n * request.ridge / 2,
            M,
            gap_tol=request.tolerance,
            warm_start=start,
            time_limit=request.time_limit,
        )
    support = [int(j) for j in np.nonzero(found.beta)[0]]
    ended = timer.seconds < request.time_limit
    return {
        "status": "optimal" if ended else "time_limit",
        "coefficients": common.refitted(request, support),
        "nodes": int(tree.number_of_nodes),
        "seconds": timer.seconds,
        "version": f"l0bnb {importlib.metadata.version('l0bnb')}",
    }


def warm_up(request):
    """Compiles the loops of l0bnb, which happens on first use and is not part of its solving time."""
    rows = min(50, request.n)
    # l0bnb starts from a fifth of the columns, and fails if that is none.
    columns = min(20, request.d)
    BNBTree(np.asfortranarray(request.A[:rows, :columns]), request.b[:rows]).solve(1.0, 1.0, 10.0)


common.main(solve)
