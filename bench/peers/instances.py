"""The instances of the race, made by `l0star generate`. Standard library only."""

import subprocess
from dataclasses import dataclass

SEEDS = 5


@dataclass(frozen=True)
class Family:
    name: str
    generate: str
    k: int
    loss: str
    ridge: float
    # Real data are one instance, timed so many times.
    drawn: bool = True

    def is_wide(self):
        """Too large for a dense mixed-integer model, or for leaps and bounds."""
        return self.name.startswith("AR")


def huber(d):
    return Family(f"Huber d={d}", f"huber -d {d}", d // 10, "huber", 1e-3)


def logistic(d):
    return Family(f"logistic d={d}", f"logistic -d {d}", d // 10, "logistic", 2e-4)


def ar(n, p, rho):
    # Our P has the mean of the squares: a ridge weight of 0.1 on their sum.
    generate = f"ar -d {p} -k 10 -n {n} --rho {rho} --snr 5"
    return Family(f"AR n={n} p={p} rho={rho}", generate, 10, "quadratic", 0.1 / n)


FAMILIES = [
    Family("Diabetes", "diabetes", 10, "quadratic", 1e-3, drawn=False),
    Family("Boston", "boston", 10, "quadratic", 1e-3, drawn=False),
    *(huber(d) for d in range(50, 301, 50)),
    *(logistic(d) for d in range(50, 101, 10)),
    *(ar(10000, 1000, rho) for rho in (0.1, 0.5, 0.9)),
    *(ar(2000, 1000, rho) for rho in (0.1, 0.5, 0.9)),
    ar(500, 500, 0.5),
    ar(1000, 1000, 0.5),
]

# Every adapter is tried on these; not part of the race.
SMALL = [
    Family("small quadratic", "ar -d 12 -k 3 -n 60 --rho 0.3 --snr 5", 3, "quadratic", 1e-3),
    Family("small Huber", "huber -d 12 -k 3 -n 60", 3, "huber", 1e-3),
    Family("small logistic", "logistic -d 12 -k 3 -n 120", 3, "logistic", 2e-4),
]


def write(l0star, family, seed, path):
    """The instance as a file."""
    seeds = ["--seed", str(seed)] if family.drawn else []
    subprocess.run([l0star, "generate", *family.generate.split(), *seeds, "--out", path, "--quiet"], check=True)
