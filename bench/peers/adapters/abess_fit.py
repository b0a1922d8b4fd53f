"""abess: splicing, inexact."""

import importlib.metadata

import common
import numpy as np
from abess.linear import LinearRegression, LogisticRegression


def solve(request):
    request.only("quadratic", "logistic")
    # Its ridge is alpha |x|^2 beside the mean of the squares, and beside the mean of the logistic losses.
    settings = dict(support_size=[request.k], fit_intercept=False, thread=1)
    if request.loss == "quadratic":
        model, b = LinearRegression(alpha=request.ridge, **settings), request.b
    else:
        model, b = LogisticRegression(alpha=request.ridge / 2, **settings), (request.b > 0).astype(float)
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
