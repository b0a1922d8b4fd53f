"""The instances of the race: from `l0star generate`, from generators of peers, or from files. Standard library only."""

import os
import subprocess
from dataclasses import dataclass

from peers import HERE, NotThere, python_in

SEEDS = 5
# The relative error allowed to peers; our own searches stop at 1e-9.
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Family:
    name: str
    # The arguments of `l0star generate`, or of draw.py if `environment` names its virtual environment.
    generate: str
    k: int
    loss: str
    ridge: float
    environment: str | None = None
    # Whether the instances are random; real data are one instance, timed several times.
    drawn: bool = True
    # The relative error at which every solver may stop, ours included; None: 1e-6 for peers, 1e-9 for us.
    gap: float | None = None
    # Whether it is too large for a dense mixed-integer model, or for leaps and bounds.
    wide: bool = True
    # The memory limit of a solver.
    gigabytes: int = 8

    @property
    def tolerance(self):
        return TOLERANCE if self.gap is None else self.gap

    def is_wide(self):
        return self.wide


def huber(d):
    return Family(f"Huber d={d}", f"huber -d {d}", d // 10, "huber", 1e-3, wide=False)


def logistic(d):
    return Family(f"logistic d={d}", f"logistic -d {d}", d // 10, "logistic", 2e-4, wide=False)


def ar(n, p, rho, **more):
    # Our P has the mean of the squares, so this is a ridge weight of 0.1 on their sum.
    generate = f"ar -d {p} -k 10 -n {n} --rho {rho} --snr 5"
    return Family(f"AR n={n} p={p} rho={rho}", generate, 10, "quadratic", 0.1 / n, **more)


def constant(n, p, rho, **more):
    """l0bnb's own generator: constant correlation, coefficients of 1, SNR 10; its lambda_2 of 0.01 multiplies |x|^2."""
    generate = f"constant {n} {p} 10 {rho} 10"
    name = f"l0bnb n={n} p={p} rho={rho}"
    return Family(name, generate, 10, "quadratic", 0.02 / n, environment="l0bnb", **more)


def unit(kind, n, p, rho, k):
    """El0ps's experiments: columns of unit norm, signs as coefficients, SNR 10.

    They have a big M and no ridge. We need a ridge: its weight is a thousandth of the curvature of a column.
    """
    name = f"El0ps {kind} n={n} p={p}" + (f" rho={rho}" if kind == "correlated" else "")
    return Family(name, f"{kind} {n} {p} {k} {rho} 10", k, "quadratic", 1e-3 / n, environment="el0ps")


def real(data, loss, k, ridge):
    """Standardised gene expression data; the files are in `--data FOLDER`."""
    name = f"{data} {loss} k={k}"
    return Family(name, f"file {data}.npz {loss}", k, loss, ridge, environment="el0ps", drawn=False)


FAMILIES = [
    Family("Diabetes", "diabetes", 10, "quadratic", 1e-3, drawn=False, wide=False),
    Family("Boston", "boston", 10, "quadratic", 1e-3, drawn=False, wide=False),
    *(huber(d) for d in range(50, 301, 50)),
    *(logistic(d) for d in range(50, 101, 10)),
    *(ar(10000, 1000, rho) for rho in (0.1, 0.5, 0.9)),
    *(ar(2000, 1000, rho) for rho in (0.1, 0.5, 0.9)),
    ar(500, 500, 0.5),
    ar(1000, 1000, 0.5),
    # The example of OKRidge's documentation, which reports 27.1 s.
    ar(6000, 3000, 0.5),
    # Too hard for a complete proof, so with a gap of 0.1 %.
    ar(1000, 10000, 0.85, gap=1e-3),
    unit("dct", 500, 1000, 0, 5),
    unit("correlated", 150, 200, 0.9, 10),
    constant(1000, 10**4, 0),
    constant(1000, 10**4, 0.1),
    constant(1000, 10**5, 0),
    constant(1000, 10**6, 0, gigabytes=20),
    *(real(data, "quadratic", 3, 1e-2) for data in ("colon", "leukemia")),
    *(real(data, "logistic", 3, 1e-2) for data in ("colon", "leukemia")),
]

# Instances on which every adapter is checked; they are not part of the race.
SMALL = [
    Family("small quadratic", "ar -d 12 -k 3 -n 60 --rho 0.3 --snr 5", 3, "quadratic", 1e-3),
    Family("small Huber", "huber -d 12 -k 3 -n 60", 3, "huber", 1e-3),
    Family("small logistic", "logistic -d 12 -k 3 -n 120", 3, "logistic", 2e-4),
]


def missing(family, data):
    """Returns why a family cannot be raced here; None if it can. `data` is the folder of real data, or None."""
    if family.environment is not None:
        try:
            python_in(family.environment)
        except NotThere as reason:
            return str(reason)
    if family.generate.startswith("file "):
        name = family.generate.split()[1]
        if data is None or not os.path.exists(os.path.join(data, name)):
            return f"{name} is not there; say --data FOLDER"
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if memory < family.gigabytes << 30:
        return f"it needs {family.gigabytes} GB of memory"
    return None


def write(l0star, family, seed, path, data=None):
    """Writes the instance to a file."""
    words = family.generate.split()
    if family.environment is None:
        seeds = ["--seed", str(seed)] if family.drawn else []
        command = [l0star, "generate", *words, *seeds, "--out", path, "--quiet"]
    else:
        if words[0] == "file":
            words[1] = os.path.join(data, words[1])
        command = [str(python_in(family.environment)), str(HERE / "draw.py"), path, str(seed), *words]
    subprocess.run(command, check=True)
