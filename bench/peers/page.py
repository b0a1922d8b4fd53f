"""The page of the race. It depends on the results alone. Standard library only."""

import instances
from ours import ENTRIES
from peers import BY_NAME, PEERS
from prices import SHARES
from statements import SOLVED, STATEMENTS, median, times, verdict

GROUPS = (
    ("Real data", ("Diabetes", "Boston")),
    ("Huber", ("Huber",)),
    ("Logistic", ("logistic",)),
    ("AR", ("AR",)),
    ("The generators of peers", ("El0ps", "l0bnb")),
    ("Gene expression", ("colon quadratic", "leukemia quadratic")),
    ("Gene expression, logistic", ("colon logistic", "leukemia logistic")),
)


def page(found):
    """Returns the page in Markdown, given the contents of peers.json."""
    made, results = found["made"], found["results"]

    def runs(family, name):
        return [row for row in results if (row["family"], row["peer"]) == (family, name)]

    raced = {row["family"] for row in results}
    families = [family for family in instances.FAMILIES if family.name in raced]
    versions = sorted({row["version"] for row in results if row["version"]})
    lines = [
        "# Peers",
        "",
        f"Made by `python3 bench/peers/run.py race`, begun on {made['date']}, {made['machine']}; {made['l0star']}; "
        + ", ".join(versions)
        + f"; Python {made['python']}.",
        "",
        f"One thread on one core. Medians of {made['repeats']}: instances of a random family, runs on real data. A run "
        f"is cut off after {made['time_limit']:g} s (`>`), and who was cut off once, or failed, is not tried again on "
        "that family; where l0star does not end on the first instance there is no other. In brackets: how many times "
        "as long as l0star. Times are those of the solvers, without reading data, compiling and building models. Peers "
        f"may stop at a relative error of {made['tolerance']:g}; l0star proves 1e-9. Every objective is recomputed by "
        "one formula, and supports are fitted again before they are compared: an error is one of the support."
        + of_single_runs(families, runs),
        "",
        "`paper` is our own implementation of the paper's search. `l0bnb` and `el0ps` (†) solve an easier problem: a "
        f"price on every non-zero. {of_prices(results)} Where no price is known that makes k non-zeros best they solve the "
        "next smaller size that has one, which is said. `abess` and `skscope` (*) prove nothing.",
        "",
        "What is marked (M) is told that no coefficient exceeds M, 1.5 times the largest one of the best model. Nobody knows "
        "that before the problem is solved, and a result holds only if it is true. `l0star-m` is l0star with the same M "
        "(`--assume-max-coefficient`), `l0star-m-price` with the price of its choice as well; `l0star` proves what it needs.",
        "",
        "## What the race is to show",
        "",
        "| | which entry, and than whom | asked for | came out | holds |",
        "|---|---|---|---|---|",
    ]
    for statement in STATEMENTS:
        if not runs(statement.family, statement.entry):
            continue
        came, holds = verdict(statement, runs)
        asked = f"{statement.times:g} times" if statement.times > 1 else "any"
        lines.append(
            f"| {statement.family} | {statement.entry}, faster than {statement.says} | {asked} | {came} | {holds} |"
        )
    lines += [
        "",
        "A statement holds if the median of the fastest of these peers that solve the family is at least so many times "
        "that of our entry; where none of them solves it, if all were cut off after that time.",
        "",
    ]
    for title, starts in GROUPS:
        columns = [family for family in families if family.name.startswith(starts)]
        if columns:
            lines += [f"## {title}", "", *table(columns, runs), ""]
    lines += ["## Where a peer is faster, or l0star does not finish", "", *losses(families, runs), ""]
    notes = sorted({f"- {row['peer']}, {row['family']}: {row['note']}" for row in results if row["note"]})
    return "\n".join([*lines, "## Notes", "", *(notes or ["None."])]) + "\n"


def of_single_runs(families, runs):
    """Names the families on which l0star ends and has run once so far."""
    once = [
        family.name for family in families if [row["status"] in SOLVED for row in runs(family.name, "l0star")] == [True]
    ]
    return f" A single run so far: {', '.join(once)}." if once else ""


def of_prices(results):
    """Describes the prices given to penalised peers; results without `tried` are of a single price."""
    rows = [row for row in results if row["peer"] in BY_NAME and BY_NAME[row["peer"]].penalised]
    single = (
        "they were told one price, in the middle of those at which k non-zeros are best, and no start (at other prices they "
        "can be faster by far)"
    )
    if not any(row.get("tried") for row in rows):
        return f"Here {single}."
    words = (
        f"The prices at which k non-zeros are best are found for them beforehand; each of them is run at {len(SHARES)} of "
        "these, and its fastest time counts. They start from the best model, as mixed-integer solvers do (OKRidge takes "
        "no start)."
    )
    early = dict.fromkeys(row["family"] for row in rows if not row.get("tried"))
    return f"{words} Only in these families {single}: {', '.join(early)}." if early else words


def table(families, runs):
    """Returns a table with one row per solver and one column per family."""
    loss = families[0].loss
    names = [*ENTRIES, *(peer.name for peer in PEERS if loss in peer.losses)]
    lines = ["| | " + " | ".join(family.name for family in families) + " |", "|---|" + "---|" * len(families)]
    for name in names:
        cells = (cell(runs(family.name, name), own_median(family, runs, name)) for family in families)
        lines.append(f"| {name}{mark(name)} | " + " | ".join(cells) + " |")
    return lines


def mark(name):
    entry = ENTRIES.get(name) or BY_NAME[name]
    signs = "†" if entry.penalised else "*" if name in BY_NAME and not entry.exact else ""
    return signs + (" (M)" if entry.assumes else "")


def own_median(family, runs, name):
    return None if name == "l0star" else median(runs(family.name, "l0star"))


def cell(runs, own):
    """Returns a cell: median seconds, the ratio to l0star, and what is wrong with the results."""
    if not runs:
        return "not run"
    solved = [row for row in runs if row["status"] in SOLVED]
    if not solved:
        return unsolved(runs[0])
    seconds = median(solved)
    text = f"{seconds:.3g} s"
    if own:
        text += f" (×{times(seconds / own)})"
    if len(solved) < len(runs):
        text += f", {len(solved)} of {len(runs)}"
    other = sum("non-zeros" in (row["note"] or "") for row in solved)
    if other:
        text += f", {other} with other than k"
    worst = max(row["error"] or 0.0 for row in solved)
    # Ten times the error that peers are allowed.
    if worst > 1e-5:
        text += f", error {100 * worst:.2g} %"
    return text


def unsolved(row):
    note = row["note"] or ""
    if row["status"] == "time_limit":
        return f"> {row['seconds']:.0f} s"
    if row["status"] == "unsupported":
        return "licence" if "licence" in note else "no price" if "penalty" in note else "–"
    return "out of memory" if "memory" in note.lower() else "failed"


def losses(families, runs):
    lines = []
    for family in families:
        own = runs(family.name, "l0star")
        cut = [row for row in own if row["status"] not in SOLVED]
        if cut:
            lines.append(f"- {family.name}: l0star was cut off on {len(cut)} of {len(own)}.")
        seconds = median(own)
        if seconds is None:
            continue
        for name in ["paper", *BY_NAME]:
            theirs = median(runs(family.name, name))
            kind = (
                ""
                if name not in BY_NAME
                else " (M)"
                if BY_NAME[name].assumes
                else ""
                if BY_NAME[name].exact
                else " (inexact)"
            )
            if theirs is not None and theirs < seconds:
                lines.append(f"- {family.name}: {name}{kind} is faster, {theirs:.3g} s against {seconds:.3g} s.")
    return lines or ["None."]
