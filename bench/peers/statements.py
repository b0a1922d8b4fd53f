"""The statements that the race tests, and whether they hold. Standard library only."""

import statistics
from dataclasses import dataclass

import instances
from peers import PEERS

# The statuses of a run that was completed.
SOLVED = ("optimal", "gap_reached", "heuristic")

MIP = tuple(peer.name for peer in PEERS if peer.name.startswith(("gurobi", "cplex")))
HONEST = ("okridge", "el0ps")
TOLD = ("l0bnb", "el0ps-m")


@dataclass(frozen=True)
class Statement:
    """One of our entries is at least `times` as fast as the fastest of `peers` that solves the family."""

    family: str
    says: str
    peers: tuple[str, ...]
    times: float
    # Our entry that has the same information as these peers.
    entry: str = "l0star"


def of_quadratic(family):
    """Compares us with peers that have no more information, and with peers given a bound M that we are given too."""
    yield Statement(family.name, "OKRidge and El0ps", HONEST, 1)
    for entry in ("l0star-m", "l0star-m-price"):
        yield Statement(family.name, "l0bnb and El0ps with M", TOLD, 1, entry)


def of_other(family):
    yield Statement(family.name, "El0ps", ("el0ps",), 1)
    for entry in ("l0star-m", "l0star-m-price"):
        yield Statement(family.name, "El0ps with M", ("el0ps-m",), 1, entry)


STATEMENTS = [
    Statement("Diabetes", "every formulation of Gurobi and CPLEX", MIP, 50),
    Statement("Boston", "every formulation of Gurobi and CPLEX", MIP, 50),
    Statement("Huber d=300", "El0ps", ("el0ps",), 10),
    Statement("logistic d=100", "El0ps", ("el0ps",), 5),
    *(
        statement
        for family in instances.FAMILIES
        if family.is_wide()
        for statement in (of_quadratic(family) if family.loss == "quadratic" else of_other(family))
    ),
]


def needed(family, peer):
    """Whether a statement depends on the peer for this family."""
    return any(family == statement.family and peer in statement.peers for statement in STATEMENTS)


def median(runs):
    """Returns the median seconds of the solved runs; None if there are none."""
    solved = [r["seconds"] for r in runs if r["status"] in SOLVED]
    return statistics.median(solved) if solved else None


def verdict(statement, runs):
    """Returns the result in words, and yes, no or why neither; `runs(family, peer)` returns results."""
    entry = statement.entry
    own = median(runs(statement.family, entry))
    theirs = {name: median(runs(statement.family, name)) for name in statement.peers}
    solved = {name: seconds for name, seconds in theirs.items() if seconds is not None}
    missing = [name for name in statement.peers if not runs(statement.family, name)]
    missed = f"; {', '.join(missing)} not run" if missing else ""
    if len(missing) == len(statement.peers) or not runs(statement.family, entry):
        return "not run", "not run"
    if not solved and own is None:
        return f"none of them solves it in this time, and neither does {entry}{missed}", "neither ends"
    if not solved:
        tried = [row for name in statement.peers for row in runs(statement.family, name)]
        cut = min((row["seconds"] for row in tried if row["status"] == "time_limit"), default=0)
        found = f"{entry} takes {own:.3g} s; none of them solves it" + (f" in {cut:.3g} s" if cut else "") + missed
        return found, "yes" if cut >= statement.times * own else "nobody else solves it"
    fastest = min(solved, key=solved.get)
    if own is None:
        return f"{entry} is cut off; {fastest} takes {solved[fastest]:.3g} s{missed}", "**no**"
    ratio = solved[fastest] / own
    found = f"{times(ratio)} times as fast as {fastest} ({own:.3g} s against {solved[fastest]:.3g} s){missed}"
    return found, "yes" if ratio >= statement.times else "**no**"


def times(ratio):
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.2g}"
