"""Compares models on synthetic data with more features than rows with inexact methods and the planted support.

``python bench/planted.py L0STAR`` draws rows of an autoregressive process (ρ = 0.5 and 0.9) with a planted support and
noise (SNR 1 and 5). It runs the command ``L0STAR`` for a second on one thread. The objective is compared with those of
abess and skscope (``bench/peers/requirements/inexact.txt``; methods that are not installed are skipped), of orthogonal
matching pursuit followed by swaps, and of the planted support. Every support is refitted here, so that all objectives
belong to the same problem. The exit code is 1 if any other model is better.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
from wide import Array, Quadratic, Support, objective, run


def draw(n: int, p: int, k: int, rho: float, snr: float, seed: int) -> tuple[Array, Array, Support]:
    """Draw rows of an AR(1) process, a response, and its true support."""
    random = np.random.default_rng(seed)
    x = np.empty((n, p))
    x[:, 0] = random.standard_normal(n)
    for j in range(1, p):
        x[:, j] = rho * x[:, j - 1] + np.sqrt(1 - rho**2) * random.standard_normal(n)
    support = sorted(int(j) for j in random.choice(p, k, replace=False))
    signal = x[:, support] @ random.choice([-1.0, 1.0], k)
    noise = np.sqrt(signal.var() / snr) * random.standard_normal(n)
    return x, signal + noise, support


def abess(problem: Quadratic, k: int) -> Support:
    """Run abess."""
    from abess.linear import LinearRegression

    model = LinearRegression(support_size=[k], alpha=problem.n * problem.ridge, fit_intercept=False, thread=1)
    model.fit(np.ascontiguousarray(problem.z), problem.b, is_normal=False)
    return [int(j) for j in np.argsort(-np.abs(np.ravel(model.coef_)))[:k]]


def skscope(problem: Quadratic, k: int) -> Support:
    """Run skscope."""
    import jax
    import jax.numpy as jnp
    from skscope import ScopeSolver

    jax.config.update("jax_enable_x64", True)
    z, b = jnp.asarray(problem.z), jnp.asarray(problem.b)

    def loss(x: jax.Array) -> jax.Array:
        return jnp.mean((z @ x - b) ** 2) / 2 + problem.ridge / 2 * jnp.sum(x**2)

    solver = ScopeSolver(problem.z.shape[1], k)
    solver.solve(loss, jit=True)
    return [int(j) for j in solver.get_support()]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--ridge", type=float, default=1e-3)
    options = parser.parse_args()
    print("| n | p | k | ρ | SNR | seed | l0star | planted | OMP and swaps | abess | skscope | best |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|")
    beaten = 0
    with tempfile.TemporaryDirectory() as folder:
        for n, p, k in [(100, 1000, 5), (200, 2000, 10)]:
            for rho in (0.5, 0.9):
                for snr in (1.0, 5.0):
                    for seed in range(options.seeds):
                        beaten += compare(options, Path(folder) / "planted.npz", (n, p, k), rho, snr, seed)
    if beaten:
        sys.exit(f"{beaten} times another model was better")


def compare(
    options: argparse.Namespace, file: Path, size: tuple[int, int, int], rho: float, snr: float, seed: int
) -> bool:
    """Print a row and return whether another model is better."""
    n, p, k = size
    x, y, planted = draw(n, p, k, rho, snr, seed)
    np.savez(file, X=x, y=y)
    found = run(options.program, file, k, options.ridge, options.seconds, "quadratic")
    ours = objective(x, y, found, "quadratic", options.ridge)
    problem = Quadratic(x, y, options.ridge)
    values: list[float | None] = [problem.value(planted), problem.value(problem.pursuit(k))]
    for method in (abess, skscope):
        try:
            values.append(problem.value(method(problem, k)))
        except ImportError:
            values.append(None)
    best = min(value for value in values if value is not None)
    is_beaten = ours > best * (1 + 1e-9)
    cells = " | ".join("-" if value is None else f"{value:.9g}" for value in values)
    word = "another" if is_beaten else "l0star" if ours < best * (1 - 1e-9) else "several"
    print(f"| {n} | {p} | {k} | {rho} | {snr:g} | {seed} | {ours:.9g} | {cells} | {word} |", flush=True)
    return is_beaten


if __name__ == "__main__":
    main()
