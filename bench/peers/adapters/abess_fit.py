"""abess: splicing, inexact."""

import importlib.metadata

import common
import numpy as np
from abess.linear import LinearRegression, LogisticRegression


def solve(request):
    request.only("quadratic", "logistic")
    # abess uses sums over rows and its alpha as alpha |x|^2/2 with half the squares, alpha |x|^2 with logistic losses.
    alpha = request.n * request.ridge
    settings = dict(support_size=[request.k], fit_intercept=False, thread=1)
    if request.loss == "quadratic":
        model, b = LinearRegression(alpha=alpha, **settings), request.b
    else:
        model, b = LogisticRegression(alpha=alpha / 2, **settings), (request.b > 0).astype(float)
    A = np.ascontiguousarray(request.A)
    with common.Timer() as timer:
        model.fit(A, b, is_normal=False)
    x = np.asarray(model.coef_).ravel()
    quadratic = request.loss == "quadratic"
    support = common.largest(x, request.k)
    return {
        "status": "heuristic",
        "coefficients": common.refitted(request, support) if quadratic else common.chosen(x, request.k),
        "seconds": timer.seconds,
        "version": f"abess {importlib.metadata.version('abess')}",
    }


common.main(solve)
