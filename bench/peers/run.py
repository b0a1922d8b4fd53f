#!/usr/bin/env python3
"""The peers on our instances, in one command. Standard library only.

run.py setup [PEER ...]         virtual environments, from PyPI
run.py check [--peer P ...]     every adapter on small instances, against our own optimum
run.py race [--family TEXT ...] the table; --out FOLDER writes peers.md and peers.json
run.py solve PEER REQUEST       one request (see adapters/common.py), one answer on standard output
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import statistics
import sys
import tempfile

import formula
import instances
import ours
from peers import BY_NAME, PEERS, NotThere, ask, python_of, set_up

# Peers may be so far from the optimum, relatively; our own searches stop at 1e-9.
TOLERANCE = 1e-6
# The statuses of a run that did what it can.
SOLVED = ("optimal", "gap_reached", "heuristic")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    setup = commands.add_parser("setup")
    setup.add_argument("peer", nargs="*", choices=[[], *BY_NAME])
    check = commands.add_parser("check")
    race = commands.add_parser("race")
    for command in (check, race):
        command.add_argument("--peer", action="append", choices=list(BY_NAME), help="only these")
        command.add_argument("--l0star", help="the command, if it is built already")
    race.add_argument("--family", action="append", help="only families whose name contains this")
    race.add_argument("--time-limit", type=float, default=60, help="seconds a run (60)")
    race.add_argument("--repeats", type=int, default=instances.SEEDS, help="instances or runs a family (5)")
    race.add_argument("--out", type=pathlib.Path, help="folder for peers.md and peers.json")
    solve = commands.add_parser("solve")
    solve.add_argument("peer", choices=list(BY_NAME))
    solve.add_argument("request")
    args = parser.parse_args()
    return {"setup": do_setup, "check": do_check, "race": do_race, "solve": do_solve}[args.command](args)


def do_setup(args):
    for peer in [BY_NAME[name] for name in args.peer] or PEERS:
        set_up(peer)


def do_solve(args):
    request = json.loads(pathlib.Path(args.request).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        try:
            answer = ask(BY_NAME[args.peer], request, folder)
        except NotThere as reason:
            print(reason, file=sys.stderr)
            return 3
    if answer["status"] in ("failed", "unsupported"):
        print(answer.get("note"), file=sys.stderr)
        return 1
    answer["objective"] = formula.objective(request, answer["coefficients"])
    print(json.dumps(answer))


def chosen_peers(args):
    """Those that are set up; a word about the others."""
    found = []
    for peer in [BY_NAME[name] for name in args.peer or []] or PEERS:
        try:
            python_of(peer)
            found.append(peer)
        except NotThere as reason:
            print(f"skipped: {reason}", file=sys.stderr)
    return found


class Instance:
    """One file, our own answer to it, and what penalised peers need to be told."""

    def __init__(self, l0star, family, seed, folder, time_limit):
        path = os.path.join(folder, "instance.npy")
        instances.write(l0star, family, seed, path)
        self.l0star = l0star
        self.request = {
            "matrix": path,
            "loss": family.loss,
            "ridge": family.ridge,
            "k": family.k,
            "gap": 0,
            "tolerance": TOLERANCE,
            "time_limit": time_limit,
        }
        self.best = ours.fit(l0star, self.request)
        self.check(self.best)

    def tell_penalty(self):
        """A price at which k non-zeros are best; where there is none, at which the most below k are."""
        k = self.request["k"]
        # The neighbours of k alone where every search is long: the peer's answer shows whether others matter.
        sizes = range(1, k + 2) if self.best["status"] == "optimal" else (k - 1, k, k + 1)
        values = {0: ours.null_value(self.request)} if 1 in sizes else {}
        for size in sizes:
            fitted = self.best if size == k else ours.fit(self.l0star, self.request, k=size)
            values[size] = fitted["objective"]
        self.request["penalty"] = price(values, k)
        self.request["largest"] = max(abs(x) for x in self.best["coefficients"].values())

    def check(self, answer):
        """Its objective by our formula, and that of its support with our coefficients."""
        coefficients = answer.get("coefficients") or {}
        if not coefficients:
            return answer
        answer["checked"] = formula.objective(self.request, coefficients)
        said = answer.get("objective")
        if said is not None and abs(said - answer["checked"]) > 1e-9 * abs(said):
            raise SystemExit(f"the objective {said} does not check: {answer['checked']}")
        return answer

    def ask(self, peer, folder):
        answer = self.check(ask(peer, self.request, folder))
        support = sorted(answer.get("coefficients") or {})
        if peer.penalised and answer["status"] == "optimal" and len(support) != self.request["k"]:
            # An error against the best model with k features means nothing then.
            answer["note"] = f"{len(support)} non-zeros: no penalty gives {self.request['k']}"
            return answer
        if support and len(support) <= self.request["k"]:
            fitted = ours.fit(self.l0star, self.request, k=len(support), features=support)
            answer["refitted"] = fitted["objective"]
            best = self.best["objective"]
            answer["error"] = max(fitted["objective"] / best - 1, 0.0)
            if fitted["objective"] < best * (1 - 1e-9) and self.best["status"] == "optimal":
                raise SystemExit(f"{peer.name} beats a proved optimum: {fitted['objective']} < {best}")
        return answer


def price(values, k):
    """The middle of the prices that make k best among all sizes, or the largest size below it that has such prices."""
    for size in range(k, 0, -1):
        if size == min(values):
            break
        low = max((values[size] - values[more]) / (more - size) for more in values if more > size)
        high = min((values[less] - values[size]) / (size - less) for less in values if less < size)
        if 0 < low < high:
            return (low * high) ** 0.5
    return None


def do_check(args):
    l0star = args.l0star or ours.build()
    peers = chosen_peers(args)
    bad = 0
    for family in instances.SMALL:
        with tempfile.TemporaryDirectory() as folder:
            instance = Instance(l0star, family, 1, folder, 20)
            instance.tell_penalty()
            for peer in peers:
                answer = instance.ask(peer, folder)
                right = answer["status"] in ("unsupported", "heuristic") or answer.get("error", 1) <= 10 * TOLERANCE
                bad += not right
                print(
                    f"{family.name:16} {peer.name:20} {answer['status']:12} "
                    f"error {answer.get('error', float('nan')):.1e}  {answer.get('seconds', float('nan')):.4f} s  "
                    f"{answer.get('version', '')}  {answer.get('note') or ''}{'' if right else '  WRONG'}"
                )
    return min(bad, 1)


def do_race(args):
    l0star = args.l0star or ours.build()
    peers = chosen_peers(args)
    words = args.family or [""]
    families = [family for family in instances.FAMILIES if any(word in family.name for word in words)]
    results = []
    for family in families:
        for run in range(1, args.repeats + 1):
            with tempfile.TemporaryDirectory() as folder:
                instance = Instance(l0star, family, run, folder, args.time_limit)
                if any(peer.penalised for peer in peers):
                    instance.tell_penalty()
                paper = ours.fit(l0star, instance.request, method="paper")
                results.append(row(family, run, "l0star", instance.best))
                results.append(row(family, run, "paper", instance.check(paper)))
                for peer in peers:
                    earlier = [r for r in results if (r["family"], r["peer"]) == (family.name, peer.name)]
                    # What is cut off once, or cannot be done, is not tried again: hours would go into nothing.
                    if any(r["status"] in ("time_limit", "failed", "unsupported") for r in earlier):
                        continue
                    results.append(row(family, run, peer.name, instance.ask(peer, folder)))
                    print(f"{family.name}, {run}: {results[-1]}", file=sys.stderr)
    text = page(families, ["l0star", "paper", *(peer.name for peer in peers)], results, args, l0star)
    print(text)
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "peers.md").write_text(text, encoding="utf-8")
        (args.out / "peers.json").write_text(json.dumps(results, indent=1), encoding="utf-8")


def row(family, run, peer, answer):
    keys = ("status", "seconds", "nodes", "checked", "refitted", "error", "lower_bound", "version", "note")
    return {"family": family.name, "run": run, "peer": peer, **{key: answer.get(key) for key in keys}}


def cell(runs, own):
    """Median seconds, how many times as long as l0star, and what is wrong with it."""
    if not runs:
        return ""
    solved = [r for r in runs if r["status"] in SOLVED]
    if not solved:
        worst, note = runs[0], runs[0]["note"] or ""
        if worst["status"] == "time_limit":
            return f"> {worst['seconds']:.0f} s"
        if worst["status"] == "unsupported":
            return "licence" if "licence" in note else "no penalty" if "penalty" in note else "–"
        return "failed"
    seconds = statistics.median(r["seconds"] for r in solved)
    text = f"{seconds:.3g} s"
    if own:
        ratio = seconds / own
        text += f" (×{ratio:.0f})" if ratio >= 10 else f" (×{ratio:.2g})"
    if len(solved) < len(runs):
        text += f", {len(solved)} of {len(runs)}"
    other = sum("non-zeros" in (r["note"] or "") for r in solved)
    if other:
        text += f", {other} with fewer than k"
    worst = max(r["error"] or 0.0 for r in solved)
    if worst > 10 * TOLERANCE:
        text += f", error {100 * worst:.2g} %"
    return text


def page(families, names, results, args, l0star):
    def runs(family, name):
        return [r for r in results if r["family"] == family.name and r["peer"] == name]

    versions = sorted({r["version"] for r in results if r["version"]})
    lines = [
        "# Peers",
        "",
        f"Made by `python3 bench/peers/run.py race` on {datetime.date.today()}, {machine()}; {ours.version(l0star)}; "
        + ", ".join(versions)
        + ".",
        "",
        f"One thread. Medians of {args.repeats}: instances of a random family, runs on real data. A run is cut off "
        f"after {args.time_limit:g} s, and a peer that was cut off once is not tried again on that family. In "
        "brackets: how many times as long as l0star. Times are those of the solvers, without reading data and "
        f"compiling. Peers may stop at a relative error of {TOLERANCE:g}; l0star proves 1e-9. Every objective is "
        "recomputed by one formula, and supports are fitted again before they are compared: an error is one of the "
        "support.",
        "",
        "`paper` is our own implementation of the paper's search. `l0bnb` and `el0ps` (†) solve an easier problem: a "
        "price on every non-zero, found for them beforehand. Where no price makes k non-zeros best they solve the "
        "next smaller size that has one, which is said. `abess` and `skscope` (*) prove nothing.",
        "",
    ]
    marks = {peer.name: "†" if peer.penalised else "" if peer.exact else "*" for peer in PEERS}
    lines.append("| | " + " | ".join(name + marks.get(name, "") for name in names) + " |")
    lines.append("|---|" + "---|" * len(names))
    for family in families:
        own = [r for r in runs(family, "l0star") if r["status"] == "optimal"]
        seconds = statistics.median(r["seconds"] for r in own) if own else None
        cells = [cell(runs(family, name), None if name == "l0star" else seconds) for name in names]
        lines.append(f"| {family.name} | " + " | ".join(cells) + " |")
    lines += ["", "## Where a peer is faster, or l0star does not finish", "", *losses(families, names, runs), ""]
    lines += ["## Notes", ""]
    notes = sorted(
        {f"- {r['peer']}, {r['family']}: {r['note']}" for r in results if r["note"] and not r["note"].endswith("loss")}
    )
    return "\n".join(lines + notes) + "\n"


def losses(families, names, runs):
    lines = []
    for family in families:
        own = runs(family, "l0star")
        cut = [r for r in own if r["status"] != "optimal"]
        if cut:
            lines.append(f"- {family.name}: l0star was cut off on {len(cut)} of {len(own)}.")
        if len(cut) == len(own):
            continue
        seconds = statistics.median(r["seconds"] for r in own if r["status"] == "optimal")
        for name in names[1:]:
            solved = [r for r in runs(family, name) if r["status"] in SOLVED]
            if not solved:
                continue
            theirs = statistics.median(r["seconds"] for r in solved)
            kind = "" if name not in BY_NAME or BY_NAME[name].exact else " (inexact)"
            if theirs < seconds:
                lines.append(f"- {family.name}: {name}{kind} is faster, {theirs:.3g} s against {seconds:.3g} s.")
    return lines or ["None."]


def machine():
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            model = next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{model}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


if __name__ == "__main__":
    sys.exit(main())
