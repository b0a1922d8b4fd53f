"""skscope: splicing for any differentiable loss, inexact."""

import functools
import importlib.metadata

import common
import jax
import jax.numpy as jnp
from skscope import ScopeSolver

jax.config.update("jax_enable_x64", True)


def objective(x, A, b, ridge, delta, loss):
    z = A @ x
    if loss == "logistic":
        mean = jnp.mean(jnp.logaddexp(0.0, -b * z))
    elif loss == "huber":
        r = jnp.abs(z - b)
        inner = jnp.minimum(r, delta)
        mean = jnp.mean(0.5 * inner**2 + delta * (r - inner))
    else:
        mean = jnp.mean((z - b) ** 2) / 2
    return mean + ridge / 2 * jnp.sum(x**2)


# The switch of skscope for this compiles again in every call.
value_of = functools.partial(jax.jit, static_argnums=5)(objective)
slope_of = functools.partial(jax.jit, static_argnums=5)(jax.grad(objective))


def solve(request):
    given = (jnp.asarray(request.A), jnp.asarray(request.b), request.ridge, request.delta, request.loss)

    def value(x):
        return value_of(x, *given)

    def slope(x):
        return slope_of(x, *given)

    # The functions are compiled on first use, which is not part of the solving time.
    start = jnp.zeros(request.d)
    value(start).block_until_ready()
    slope(start).block_until_ready()
    solver = ScopeSolver(request.d, request.k)
    with common.Timer() as timer:
        x = solver.solve(value, gradient=slope)
    return {
        "status": "heuristic",
        "coefficients": common.chosen(x, request.k),
        "seconds": timer.seconds,
        "version": f"skscope {importlib.metadata.version('skscope')}",
    }


common.main(solve)
