"""skscope: splicing for any differentiable loss, inexact."""

import importlib.metadata

import common
import jax
import jax.numpy as jnp
from skscope import ScopeSolver

jax.config.update("jax_enable_x64", True)


def solve(request):
    A, b = jnp.asarray(request.A), jnp.asarray(request.b)
    delta = request.delta

    def objective(x):
        z = A @ x
        if request.loss == "logistic":
            loss = jnp.mean(jnp.logaddexp(0.0, -b * z))
        elif request.loss == "huber":
            r = jnp.abs(z - b)
            inner = jnp.minimum(r, delta)
            loss = jnp.mean(0.5 * inner**2 + delta * (r - inner))
        else:
            loss = jnp.mean((z - b) ** 2) / 2
        return loss + request.ridge / 2 * jnp.sum(x**2)

    solver = ScopeSolver(request.d, request.k)
    # The objective is compiled on first use; that is not its time to solve.
    solver.solve(objective, jit=True)
    with common.Timer() as timer:
        x = solver.solve(objective, jit=True)
    return {
        "status": "heuristic",
        "coefficients": common.chosen(x, request.k),
        "seconds": timer.seconds,
        "version": f"skscope {importlib.metadata.version('skscope')}",
    }


common.main(solve)
