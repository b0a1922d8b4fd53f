#!/usr/bin/env python3
"""Runs the peers on our instances. Standard library only.

run.py setup [PEER ...]         virtual environments, from PyPI
run.py check [--peer P ...]     every adapter on small instances, against our own optimum
run.py race --out FOLDER        the table: peers.json as it runs, peers.md at the end; resumes where it was interrupted
run.py page --out FOLDER        peers.md again, from peers.json
run.py stability                the best models of 500 resamples of Diabetes compared with one fit of each peer
run.py solve PEER REQUEST       one request (see adapters/common.py), one answer on standard output
"""

import argparse
import json
import math
import pathlib
import sys
import tempfile

import formula
import instances
import ours
import race
import stability
from page import page
from peers import BY_NAME, PEERS, NotThere, Team, python_of, set_up


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    setup = commands.add_parser("setup")
    setup.add_argument("peer", nargs="*", choices=[[], *BY_NAME])
    check = commands.add_parser("check")
    racing = commands.add_parser("race")
    many = commands.add_parser("stability")
    for command in (check, racing, many):
        command.add_argument("--peer", action="append", choices=list(BY_NAME), help="only these")
        command.add_argument("--l0star", help="the command, if it is built already")
    racing.add_argument("--family", action="append", help="only families whose name contains this")
    racing.add_argument("--data", type=pathlib.Path, metavar="FOLDER", help="where colon.npz and leukemia.npz are")
    racing.add_argument("--time-limit", type=float, default=60, help="seconds a run (60)")
    racing.add_argument("--repeats", type=int, default=instances.SEEDS, help="instances or runs a family (5)")
    racing.add_argument("--budget", type=float, default=math.inf, metavar="MINUTES", help="begin no run after so long")
    racing.add_argument("--out", type=pathlib.Path, help="folder for peers.json and peers.md")
    racing.add_argument("--restart", action="store_true", help="throw away results that are there")
    many.add_argument("-k", type=int, default=10, help="size of the models (10)")
    many.add_argument("--resamples", type=int, default=500, help="how many resamples (500)")
    many.add_argument("--time-limit", type=float, default=60, help="seconds a single fit (60)")
    again = commands.add_parser("page")
    again.add_argument("--out", type=pathlib.Path, required=True, help="folder of peers.json")
    solve = commands.add_parser("solve")
    solve.add_argument("peer", choices=list(BY_NAME))
    solve.add_argument("request")
    args = parser.parse_args()
    does = {
        "setup": do_setup,
        "check": do_check,
        "race": do_race,
        "page": do_page,
        "stability": do_stability,
        "solve": do_solve,
    }
    return does[args.command](args)


def do_setup(args):
    for peer in [BY_NAME[name] for name in args.peer] or PEERS:
        set_up(peer)


def do_solve(args):
    request = json.loads(pathlib.Path(args.request).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder, Team() as team:
        try:
            answer = team.ask(BY_NAME[args.peer], request, folder)
        except NotThere as reason:
            print(reason, file=sys.stderr)
            return 3
    if answer["status"] in ("failed", "unsupported"):
        print(answer.get("note"), file=sys.stderr)
        return 1
    answer["objective"] = formula.objective(request, answer["coefficients"])
    print(json.dumps(answer))


def chosen_peers(args):
    """Returns the peers that are set up, and reports the others."""
    found = []
    for peer in [BY_NAME[name] for name in args.peer or []] or PEERS:
        try:
            python_of(peer)
            found.append(peer)
        except NotThere as reason:
            print(f"skipped: {reason}", file=sys.stderr)
    return found


def chosen_families(args):
    """Returns the families that can be made here, and reports the others."""
    found = []
    for family in instances.FAMILIES:
        if not any(word in family.name for word in args.family or [""]):
            continue
        reason = instances.missing(family, args.data)
        if reason is None:
            found.append(family)
        else:
            print(f"skipped: {family.name}: {reason}", file=sys.stderr)
    return found


def do_check(args):
    l0star = args.l0star or ours.build()
    peers = chosen_peers(args)
    bad = 0
    with Team() as team:
        for family in instances.SMALL:
            with tempfile.TemporaryDirectory() as folder:
                instance = race.Instance(l0star, family, 1, folder, 20)
                best = instance.solve()
                instance.request.update(
                    interval=instance.interval(best),
                    start=best["coefficients"],
                    bound=race.GUESS * max(abs(x) for x in best["coefficients"].values()),
                )
                for peer in peers:
                    answer = instance.ask(team, peer, folder, best)
                    right = answer["status"] in ("unsupported", "heuristic") or is_right(answer, best)
                    bad += not right
                    print(
                        f"{family.name:16} {peer.name:20} {answer['status']:12} "
                        f"error {answer.get('error', math.nan):.1e}  {answer.get('seconds', math.nan):.4f} s  "
                        f"{answer.get('version', '')}  {answer.get('note') or ''}{'' if right else '  WRONG'}"
                    )
    return min(bad, 1)


def is_right(answer, best):
    """Whether an answer has the best support and no lower bound above its objective."""
    bound = answer.get("lower_bound")
    low = bound is None or bound <= best["checked"] * (1 + 10 * race.TOLERANCE)
    return low and answer.get("error", 1) <= 10 * race.TOLERANCE


def do_race(args):
    l0star = args.l0star or ours.build()
    names = [*ours.ENTRIES, *(peer.name for peer in chosen_peers(args))]
    families = chosen_families(args)
    made = race.made(l0star, args.time_limit, args.repeats)
    results = race.Results(args.out and args.out / "peers.json", made, args.restart)
    race.one_core()
    with Team() as team:
        whole = race.run(l0star, team, families, names, results, 60 * args.budget, args.data)
    if not whole:
        print("the budget is used up; the same command goes on from here", file=sys.stderr)
    text = page({"made": results.made, "results": results.rows})
    print(text)
    if args.out:
        (args.out / "peers.md").write_text(text, encoding="utf-8")
    return int(any("BEATS" in (row["note"] or "") for row in results.rows))


def do_stability(args):
    l0star = args.l0star or ours.build()
    peers = chosen_peers(args)
    race.one_core()
    with Team() as team:
        print(stability.run(l0star, team, peers, args.k, args.resamples, args.time_limit))


def do_page(args):
    found = json.loads((args.out / "peers.json").read_text(encoding="utf-8"))
    (args.out / "peers.md").write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
