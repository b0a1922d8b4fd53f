"""Who runs on what, in which order, and what is there already. Standard library only."""

import contextlib
import datetime
import itertools
import json
import os
import platform
import sys
import tempfile
import time

import formula
import instances
import ours
import prices
from instances import TOLERANCE
from peers import BY_NAME
from statements import SOLVED, needed

# Our own entries: the default search, the same with the bound of the coefficients that some peers are told, and the
# paper's method.
OWN = ("l0star", "l0star-m", "paper")
# The bound of the coefficients is this many times the largest coefficient of the best model.
GUESS = 1.5
# Prices are made from the objectives of so many smaller and larger sizes, with so many seconds for each: what is best
# is found long before it is proved.
SMALLER, LARGER = 3, 2
PRICE_SECONDS = 2
# What decides whether results belong together.
SAME = ("l0star", "machine", "time_limit", "tolerance")
KEYS = (
    "status",
    "seconds",
    "nodes",
    "checked",
    "refitted",
    "error",
    "lower_bound",
    "version",
    "note",
    "share",
    "tried",
)


class Results:
    """Everything that was measured, in a file that is whole at any time."""

    def __init__(self, path, made, restart):
        self.path = path
        self.made = made
        self.rows = []
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not restart:
            found = json.loads(path.read_text(encoding="utf-8"))
            for key in SAME:
                if found["made"][key] != made[key]:
                    raise SystemExit(
                        f"{path}: {key} was {found['made'][key]} and is {made[key]}; "
                        "choose another folder with --out, or start anew with --restart"
                    )
            self.rows = found["results"]
            self.made = {**found["made"], "repeats": max(found["made"]["repeats"], made["repeats"])}

    def of(self, family, peer):
        return [row for row in self.rows if (row["family"], row["peer"]) == (family, peer)]

    def find(self, family, run, peer):
        return next((row for row in self.of(family, peer) if row["run"] == run), None)

    def add(self, family, run, peer, answer):
        row = {"family": family.name, "run": run, "peer": peer, **{key: answer.get(key) for key in KEYS}}
        self.rows.append(row)
        self.save()
        return row

    def save(self):
        if self.path is None:
            return
        rows = ",\n".join(json.dumps(row) for row in self.rows)
        text = f'{{"made": {json.dumps(self.made)},\n"results": [\n{rows}\n]}}'
        whole = self.path.with_suffix(".new")
        whole.write_text(text + "\n", encoding="utf-8")
        os.replace(whole, self.path)


def made(l0star, time_limit, repeats):
    """When, where, with what."""
    return {
        "l0star": ours.version(l0star),
        "machine": machine(),
        "python": platform.python_version(),
        "date": str(datetime.date.today()),
        "time_limit": time_limit,
        "repeats": repeats,
        "tolerance": TOLERANCE,
    }


def machine():
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            model = next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{model}, {os.cpu_count()} cores, {platform.system()}"


class Instance:
    """One file, our own answer to it, and what penalised peers need to be told."""

    def __init__(self, l0star, family, seed, folder, time_limit, data=None):
        path = os.path.join(folder, "instance.npy")
        instances.write(l0star, family, seed, path, data)
        self.l0star = l0star
        self.request = {
            "matrix": path,
            "loss": family.loss,
            "ridge": family.ridge,
            "k": family.k,
            "gap": 0,
            "relative_gap": family.gap or 0,
            "tolerance": family.tolerance,
            "time_limit": time_limit,
            "memory": family.gigabytes << 30,
        }

    def solve(self, name="l0star"):
        """Our own answer, by the name of one of our entries."""
        method = "paper" if name == "paper" else "best-first"
        bound = self.request["bound"] if name == "l0star-m" else None
        return self.check(ours.fit(self.l0star, self.request, method=method, bound=bound))

    def interval(self, best):
        """The prices at which k non-zeros are best; where there are none, at which the most below k are."""
        k, request = self.request["k"], {**self.request, "time_limit": PRICE_SECONDS}
        values = {k: best["checked"]}
        for size in [*range(max(k - SMALLER, 1), k), *range(k + 1, k + LARGER + 1)]:
            values[size] = ours.fit(self.l0star, request, k=size)["objective"]
        return prices.interval(values, k)

    def check(self, answer):
        """Its objective by our formula."""
        coefficients = answer.get("coefficients")
        if coefficients:
            answer["checked"] = formula.objective(self.request, coefficients)
            answer["largest"] = max(abs(x) for x in coefficients.values())
            said = answer.get("objective")
            if said is not None and abs(said - answer["checked"]) > 1e-9 * abs(said):
                raise SystemExit(f"the objective {said} does not check: {answer['checked']}")
        return answer

    def ask(self, team, peer, folder, best):
        """A peer's answer, and how far above `best`, our own, its support is when it is fitted again."""
        if self.request["loss"] not in peer.losses:
            return {"status": "unsupported", "note": f"no {self.request['loss']} loss"}
        if not peer.penalised:
            answer = team.ask(peer, self.request, folder)
        elif self.request.get("interval") is None:
            answer = {"status": "unsupported", "note": "no price is known at which k non-zeros, or fewer, are best"}
        else:

            def ask(price, time_limit):
                request = {**self.request, "penalty": price, "time_limit": time_limit}
                return team.ask(peer, request, folder)

            answer = prices.fastest(ask, self.request["interval"], self.request["time_limit"])
        answer = self.check(answer)
        support = sorted(answer.get("coefficients") or {})
        if peer.penalised and answer["status"] == "optimal" and len(support) != self.request["k"]:
            # An error against the best model with k features means nothing then.
            answer["note"] = f"{len(support)} non-zeros: no price is known that gives {self.request['k']}"
            return answer
        if support and len(support) <= self.request["k"]:
            fitted = ours.fit(self.l0star, self.request, k=len(support), features=support)["objective"]
            answer["refitted"] = fitted
            answer["error"] = max(fitted / best["checked"] - 1, 0.0)
            if fitted < best["checked"] * (1 - 1e-9) and best["status"] == "optimal":
                answer["note"] = f"BEATS A PROVED OPTIMUM: {fitted!r} < {best['checked']!r}"
        return answer


def stage(family, peer):
    """What statements rest on comes first, what can hardly end in time last."""
    if peer in ("l0star", "l0star-m") or needed(family.name, peer):
        return 0
    if not family.is_wide() or peer in ("abess", "skscope"):
        return 1
    return 3 if peer.startswith(("scip", "leaps", "el0ps", "paper")) else 2


def plan(families, names, repeats):
    """Groups of cells on the same instance, in the order in which they are run: (family, run, names). In a stage the
    first instance of everything comes before the second of anything.
    """
    order = {family.name: place for place, family in enumerate(families)}
    cells = [
        (stage(family, name), run > 1, order[family.name], run, names.index(name))
        for family in families
        for run in range(1, repeats + 1)
        for name in names
    ]
    for (_, _, place, run), group in itertools.groupby(sorted(cells), key=lambda cell: cell[:4]):
        yield families[place], run, [names[cell[-1]] for cell in group]


def is_idle(results, family, run, name):
    """Whether there is nothing to be done: it is there, or was tried in vain on an earlier instance; and where l0star
    does not end on the first instance there is no other.
    """
    if results.find(family.name, run, name):
        return True
    if name in BY_NAME and family.loss not in BY_NAME[name].losses:
        return True
    earlier = results.of(family.name, name) + (results.of(family.name, "l0star") if run > 1 else [])
    return any(row["status"] not in SOLVED for row in earlier)


def run(l0star, team, families, names, results, budget, data=None):
    """Runs what is missing until it is all there or the budget, in seconds, is used up; whether it is all there."""
    started = time.monotonic()
    time_limit = results.made["time_limit"]
    for family, number, group in plan(families, names, results.made["repeats"]):
        todo = [name for name in group if not is_idle(results, family, number, name)]
        if not todo:
            continue
        with tempfile.TemporaryDirectory() as folder:
            instance = None
            for name in todo:
                spent = time.monotonic() - started
                if spent > budget:
                    return False
                instance = instance or Instance(l0star, family, number, folder, time_limit, data)
                best = own(results, family, number, instance)
                if is_idle(results, family, number, name):
                    continue
                tell(results, family, number, instance, best, BY_NAME.get(name))
                if name in OWN:
                    answer = instance.solve(name)
                else:
                    answer = instance.ask(team, BY_NAME[name], folder, best)
                row = results.add(family, number, name, answer)
                said = " ".join(str(row[key]) for key in ("status", "seconds", "error", "note") if row[key] is not None)
                print(f"{spent:6.0f} s  {family.name}, {number}: {name} {said}", file=sys.stderr)
    return True


def own(results, family, number, instance):
    """Our own result, run if it is not there."""
    row = results.find(family.name, number, "l0star")
    if row is None:
        answer = instance.solve()
        row = results.add(family, number, "l0star", answer)
        row["start"] = answer["coefficients"]
        results.save()
    return row


def tell(results, family, number, instance, best, peer):
    """What is known once our own search has ended: a start, a bound of the coefficients, and for penalised peers the prices,
    which are made once an instance.
    """
    start = {int(j): x for j, x in best["start"].items()}
    instance.request["start"] = start
    instance.request["bound"] = GUESS * max((abs(x) for x in start.values()), default=1.0)
    if peer is None or not peer.penalised:
        return
    if "interval" not in best:
        first = results.find(family.name, 1, "l0star")
        known = None if family.drawn else first.get("interval")
        best["interval"] = known or instance.interval(best)
        results.save()
    instance.request["interval"] = best["interval"]


def one_core():
    """This process and all that it starts on one core: whoever asks for more threads has no use of them."""
    with contextlib.suppress(AttributeError, OSError):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
