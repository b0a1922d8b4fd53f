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
from peers import BY_NAME
from statements import SOLVED, needed

# Peers may be so far from the optimum, relatively; our own searches stop at 1e-9.
TOLERANCE = 1e-6
# Prices are made from the objectives of so many smaller and larger sizes, with so many seconds for each: what is best
# is found long before it is proved.
SMALLER, LARGER = 3, 2
PRICE_SECONDS = 2
# What decides whether results belong together.
SAME = ("l0star", "machine", "time_limit", "tolerance")
KEYS = ("status", "seconds", "nodes", "checked", "refitted", "error", "lower_bound", "version", "note")


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

    def solve(self, method="best-first"):
        """Our own answer."""
        return self.check(ours.fit(self.l0star, self.request, method=method))

    def prices(self, best):
        """What penalised peers are told: a price at which k non-zeros are best; where there is none, at which the most
        below k are.
        """
        k, request = self.request["k"], {**self.request, "time_limit": PRICE_SECONDS}
        values = {k: best["checked"]}
        for size in [*range(max(k - SMALLER, 1), k), *range(k + 1, k + LARGER + 1)]:
            values[size] = ours.fit(self.l0star, request, k=size)["objective"]
        return price(values, k)

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
        answer = self.check(team.ask(peer, self.request, folder))
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


def price(values, k):
    """The middle of the prices that make k best among all sizes, or the largest size below it that has such prices."""
    for size in range(k, min(values), -1):
        low = max((values[size] - values[more]) / (more - size) for more in values if more > size)
        high = min((values[less] - values[size]) / (size - less) for less in values if less < size)
        if max(low, 0) < high:
            return (max(low, high / 100) * high) ** 0.5
    return None


def stage(family, peer):
    """What statements rest on comes first, what can hardly end in time last."""
    if peer == "l0star" or needed(family.name, peer):
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


def run(l0star, team, families, names, results, budget):
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
                instance = instance or Instance(l0star, family, number, folder, time_limit)
                best = own(results, family, number, instance)
                if is_idle(results, family, number, name):
                    continue
                if name == "paper":
                    answer = instance.solve("paper")
                else:
                    tell(results, family, number, instance, best, BY_NAME[name])
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
        row["largest"] = answer["largest"]
        results.save()
    return row


def tell(results, family, number, instance, best, peer):
    """Prices are made once an instance."""
    if not peer.penalised:
        return
    if "penalty" not in best:
        first = results.find(family.name, 1, "l0star")
        known = None if family.drawn else first.get("penalty")
        best["penalty"] = known or instance.prices(best)
        results.save()
    instance.request["penalty"] = best["penalty"]
    instance.request["largest"] = best["largest"]


def one_core():
    """This process and all that it starts on one core: whoever asks for more threads has no use of them."""
    with contextlib.suppress(AttributeError, OSError):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
