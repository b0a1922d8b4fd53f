"""OKRidge: least squares with a ridge under a cardinality constraint, by branch and bound."""

import importlib.metadata

import common
from okridge.tree import BNBTree


def solve(request):
    request.only("quadratic")
    # OKRidge minimises |b - Ax|^2 + lambda |x|^2: 2n times our P.
    with common.Timer() as timer:
        tree = BNBTree(X=request.A, y=request.b, lambda2=request.n * request.ridge, max_memory_GB=8)
        constant = float(request.b @ request.b)
        _, x, gap, lower, _ = tree.solve(
            k=request.k, gap_tol=request.tolerance, time_limit=request.time_limit, verbose=False
        )
    support = common.largest(x, request.k)
    # OKRidge also ends, without a message, when its memory is full.
    ended = gap <= request.tolerance
    cut = timer.seconds >= request.time_limit
    return {
        "status": "optimal" if ended else "time_limit" if cut else "failed",
        "coefficients": common.refitted(request, support),
        # The objective of OKRidge omits the constant |b|^2.
        "lower_bound": (float(lower) + constant) / (2 * request.n),
        "nodes": int(tree.number_of_nodes),
        "seconds": timer.seconds,
        "version": f"OKRidge {importlib.metadata.version('okridge')}",
        "note": "" if ended else "" if cut else "out of memory",
    }


common.main(solve)
