"""Writes NPY files for the race from generators of peers or from real data. NumPy only; runs in a peer's environment.

draw.py OUT SEED constant N P K RHO SNR     l0bnb's own gen_synthetic
draw.py OUT SEED correlated N P K RHO SNR   unit columns, correlation RHO^|i-j|, signs as coefficients
draw.py OUT SEED dct N P K RHO SNR          as above with the first rows of a cosine transform (RHO is not used)
draw.py OUT SEED file DATA LOSS             X and y of an NPZ file, standardised
"""

import sys

import numpy as np


def constant(seed, n, p, k, rho, snr):
    from l0bnb import gen_synthetic

    x, y, _ = gen_synthetic(n=n, p=p, supp_size=k, rho=rho, snr=snr, seed=seed)
    return x, y


def correlated(seed, n, p, k, rho, snr):
    random = np.random.default_rng(seed)
    # An autoregressive process along the columns has the correlation rho^|i-j|.
    x = random.standard_normal((n, p))
    for j in range(1, p):
        x[:, j] = rho * x[:, j - 1] + np.sqrt(1 - rho**2) * x[:, j]
    return respond(random, x, k, snr)


def dct(seed, n, p, k, _rho, snr):
    rows, columns = np.arange(n)[:, None], np.arange(p)[None, :]
    x = np.cos(np.pi * (2 * rows + 1) * columns / (2 * max(n, p)))
    return respond(np.random.default_rng(seed), x, k, snr)


def respond(random, x, k, snr):
    """Scales columns to unit norm; the response depends on k of them, spread evenly."""
    x = x / np.linalg.norm(x, axis=0)
    p = x.shape[1]
    chosen = np.floor(np.linspace(0, p - 1, num=k)).astype(int)
    signal = x[:, chosen] @ np.sign(random.standard_normal(k))
    noise = random.standard_normal(x.shape[0])
    noise *= np.sqrt(signal @ signal / (snr * (noise @ noise)))
    return x, signal + noise


def file(path, loss):
    with np.load(path) as data:
        x, y = np.asarray(data["X"], dtype=float), np.asarray(data["y"], dtype=float).ravel()
    spread = x.std(axis=0)
    x = (x[:, spread > 0] - x[:, spread > 0].mean(axis=0)) / spread[spread > 0]
    if loss == "logistic":
        return x, np.where(y == y.max(), 1.0, -1.0)
    return x, y - y.mean()


def main(out, seed, kind, *words):
    if kind == "file":
        x, y = file(*words)
    else:
        draw = {"constant": constant, "correlated": correlated, "dct": dct}[kind]
        n, p, k, rho, snr = words
        x, y = draw(int(seed), int(n), int(p), int(k), float(rho), float(snr))
    table = np.empty((x.shape[0], x.shape[1] + 1), order="F")
    table[:, :-1], table[:, -1] = x, y
    np.save(out, table)


if __name__ == "__main__":
    main(*sys.argv[1:])
