"""Which solvers run on which instances, in which order, and which results exist. Standard library only."""

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

# The bound on the coefficients is this many times the largest coefficient of the best model.
GUESS = 1.5
# Prices are computed from the objectives of this many smaller and larger sizes, with this many seconds for each: the
# best model is found long before it is proved.
SMALLER, LARGER = 3, 2
PRICE_SECONDS = 2
# The fields that must be equal for results to belong together.
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
    """All measurements, in a file that is complete at any time."""

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
    """Returns when, where and with what the results were made."""
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
    """An instance in a file, our own answer, and the information that penalised peers need."""

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
        entry = ours.ENTRIES[name]
        bound = self.request["bound"] if entry.assumes else None
        if not entry.penalised:
            return self.check(ours.fit(self.l0star, self.request, method=entry.method, bound=bound))

        def ask(price, time_limit):
            request = {**self.request, "time_limit": time_limit}
            return ours.fit(self.l0star, request, method=entry.method, bound=bound, price=price)

        return self.check(self.at_the_best_price(ask))

    def interval(self, best):
        """Returns the prices at which k non-zeros are best, or, if there are none, the largest possible number below k."""
        k, request = self.request["k"], {**self.request, "time_limit": PRICE_SECONDS}
        values = {k: best["checked"]}
        for size in [*range(max(k - SMALLER, 1), k), *range(k + 1, k + LARGER + 1)]:
            values[size] = ours.fit(self.l0star, request, k=size)["objective"]
        return prices.interval(values, k)

    def check(self, answer):
        """Adds to an answer its objective by our formula."""
        coefficients = answer.get("coefficients")
        if coefficients:
            answer["checked"] = formula.objective(self.request, coefficients)
            answer["largest"] = max(abs(x) for x in coefficients.values())
            said = answer.get("objective")
            if said is not None and abs(said - answer["checked"]) > 1e-9 * abs(said):
                raise SystemExit(f"the objective {said} does not check: {answer['checked']}")
        return answer

    def ask(self, team, peer, folder, best):
        """Returns a peer's answer, and how far its refitted support is above `best`, which is our own."""
        if self.request["loss"] not in peer.losses:
            return {"status": "unsupported", "note": f"no {self.request['loss']} loss"}
        if not peer.penalised:
            answer = team.ask(peer, self.request, folder)
        else:

            def ask(price, time_limit):
                request = {**self.request, "penalty": price, "time_limit": time_limit}
                return team.ask(peer, request, folder)

            answer = self.at_the_best_price(ask)
        return self.compare(self.check(answer), best, peer.penalised)

    def at_the_best_price(self, ask):
        """The answer of a penalised solver at the price that suits it best; `ask(price, time_limit)` is one run."""
        if self.request.get("interval") is None:
            return {"status": "unsupported", "note": "no price is known at which k non-zeros, or fewer, are best"}
        return prices.fastest(ask, self.request["interval"], self.request["time_limit"])

    def compare(self, answer, best, penalised):
        """Adds to an answer how far above `best` its support is when it is fitted again."""
        support = sorted(answer.get("coefficients") or {})
        if penalised and answer["status"] == "optimal" and len(support) != self.request["k"]:
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
    """Ranks a cell: runs that statements depend on come first, and runs that will hardly finish come last."""
    if peer in ours.ENTRIES and peer != "paper" or needed(family.name, peer):
        return 0
    if not family.is_wide() or peer in ("abess", "skscope"):
        return 1
    return 3 if peer.startswith(("scip", "leaps", "el0ps", "paper")) else 2


def plan(families, names, repeats):
    """Yields groups of cells on the same instance, (family, run, names), in the order in which they run.

    Within a stage, all first instances come before any second one.
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
    """Whether there is nothing to run: the result exists, or the solver failed on an earlier instance.

    If l0star does not finish the first instance, the others are not run.
    """
    if results.find(family.name, run, name):
        return True
    if name in BY_NAME and family.loss not in BY_NAME[name].losses:
        return True
    earlier = results.of(family.name, name) + (results.of(family.name, "l0star") if run > 1 else [])
    return any(row["status"] not in SOLVED for row in earlier)


def run(l0star, team, families, names, results, budget, data=None):
    """Runs what is missing until the budget, in seconds, is used up; returns whether all results exist."""
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
                entry = ours.ENTRIES.get(name)
                tell(results, family, number, instance, best, (entry or BY_NAME[name]).penalised)
                if entry:
                    answer = instance.solve(name)
                    if entry.penalised:
                        answer = instance.compare(answer, best, True)
                else:
                    answer = instance.ask(team, BY_NAME[name], folder, best)
                row = results.add(family, number, name, answer)
                said = " ".join(str(row[key]) for key in ("status", "seconds", "error", "note") if row[key] is not None)
                print(f"{spent:6.0f} s  {family.name}, {number}: {name} {said}", file=sys.stderr)
    return True


def own(results, family, number, instance):
    """Returns our own result, which is computed if it is missing."""
    row = results.find(family.name, number, "l0star")
    if row is None:
        answer = instance.solve()
        row = results.add(family, number, "l0star", answer)
        row["start"] = answer["coefficients"]
        results.save()
    return row


def tell(results, family, number, instance, best, penalised):
    """Adds to the request what is known after our own search: a start and a bound on the coefficients.

    Penalised solvers also need prices, which are computed once per instance.
    """
    start = {int(j): x for j, x in best["start"].items()}
    instance.request["start"] = start
    instance.request["bound"] = GUESS * max((abs(x) for x in start.values()), default=1.0)
    if not penalised:
        return
    if "interval" not in best:
        first = results.find(family.name, 1, "l0star")
        known = None if family.drawn else first.get("interval")
        best["interval"] = known or instance.interval(best)
        results.save()
    instance.request["interval"] = best["interval"]


def one_core():
    """Restricts this process and its children to one core, so that solvers gain nothing from further threads."""
    with contextlib.suppress(AttributeError, OSError):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
