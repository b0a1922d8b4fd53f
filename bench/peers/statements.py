"""What the race is to show, statement by statement, and whether it does. Standard library only."""

import statistics
from dataclasses import dataclass

import instances
from peers import PEERS

# The statuses of a run that did what it can.
SOLVED = ("optimal", "gap_reached", "heuristic")

MIP = tuple(peer.name for peer in PEERS if peer.name.startswith(("gurobi", "cplex")))
WEAK = (
    "with no more rows than features the Gram matrix is singular: nothing can be lifted into the ridge, and the bound "
    "of the relaxation stays far below the optimum, for everybody"
)


@dataclass(frozen=True)
class Statement:
    """l0star is at least `times` as fast as the fastest of `peers` that solves the family."""

    family: str
    says: str
    peers: tuple[str, ...]
    times: float
    # Said where it does not hold, and where nobody solves the family.
    why: str = ""


def of_ar(family):
    rows, columns = (int(word[2:]) for word in family.name.split()[1:3])
    return Statement(family.name, "OKRidge and l0bnb", ("okridge", "l0bnb"), 1, WEAK if rows <= columns else "")


STATEMENTS = [
    Statement("Diabetes", "every formulation of Gurobi and CPLEX", MIP, 50),
    Statement("Boston", "every formulation of Gurobi and CPLEX", MIP, 50),
    Statement("Huber d=300", "El0ps", ("el0ps",), 10),
    Statement("logistic d=100", "El0ps", ("el0ps",), 5),
    *(of_ar(family) for family in instances.FAMILIES if family.name.startswith("AR")),
]


def needed(family, peer):
    """Whether a statement rests on it."""
    return any(family == statement.family and peer in statement.peers for statement in STATEMENTS)


def median(runs):
    """Of the seconds of what was solved; None where nothing was."""
    solved = [r["seconds"] for r in runs if r["status"] in SOLVED]
    return statistics.median(solved) if solved else None


def verdict(statement, runs):
    """What came out, and yes, no or why neither; `runs(family, peer)` gives results."""
    own = median(runs(statement.family, "l0star"))
    theirs = {name: median(runs(statement.family, name)) for name in statement.peers}
    solved = {name: seconds for name, seconds in theirs.items() if seconds is not None}
    missing = [name for name in statement.peers if not runs(statement.family, name)]
    missed = f"; {', '.join(missing)} not run" if missing else ""
    if len(missing) == len(statement.peers) or not runs(statement.family, "l0star"):
        return "not run", "not run"
    if not solved and own is None:
        why = f": {statement.why}" if statement.why else ""
        return f"none of them solves it, and neither does l0star{missed}{why}", "nobody solves it"
    if not solved:
        tried = [row for name in statement.peers for row in runs(statement.family, name)]
        cut = min((row["seconds"] for row in tried if row["status"] == "time_limit"), default=0)
        found = f"l0star takes {own:.3g} s; none of them solves it" + (f" in {cut:.3g} s" if cut else "") + missed
        return found, "yes" if cut >= statement.times * own else "nobody else solves it"
    fastest = min(solved, key=solved.get)
    if own is None:
        return f"l0star is cut off; {fastest} takes {solved[fastest]:.3g} s{missed}", "**no**"
    ratio = solved[fastest] / own
    found = f"{times(ratio)} times as fast as {fastest} ({own:.3g} s against {solved[fastest]:.3g} s){missed}"
    holds = ratio >= statement.times
    return found + ("" if holds or not statement.why else f": {statement.why}"), "yes" if holds else "**no**"


def times(ratio):
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.2g}"
