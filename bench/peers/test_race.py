"""Tests of the race and its page with made-up solvers: `pytest bench/peers`."""

import json
import pathlib
import sys
import tempfile
from unittest import mock

import instances
import page
import peers
import prices
import pytest
import race
import stability
import statements

MADE = {
    "l0star": "l0star 1.2.3",
    "machine": "a machine, 2 cores, Linux",
    "python": "3.10.1",
    "date": "2001-02-03",
    "time_limit": 60,
    "repeats": 5,
    "tolerance": 1e-6,
}


def row(family, run, peer, seconds, status="optimal", **more):
    empty = dict.fromkeys(race.KEYS)
    return {"family": family, "run": run, "peer": peer, **empty, "seconds": seconds, "status": status, **more}


def runs_of(rows):
    return lambda family, peer: [r for r in rows if (r["family"], r["peer"]) == (family, peer)]


def statement(family):
    return next(s for s in statements.STATEMENTS if s.family == family)


class TestPage:
    rows = (
        [row("Boston", run, "l0star", seconds) for run, seconds in enumerate((3.0, 1.0, 2.0), 1)]
        + [row("Boston", run, "gurobi-bigm", 120.0) for run in (1, 2, 3)]
        + [row("Boston", 1, "scip-bigm", 60.2, "time_limit")]
        + [row("Boston", 1, "gurobi-perspective", None, "unsupported", note="the licence takes 66 features")]
        + [row("Boston", 1, "abess", 0.5, "heuristic", error=0.02)]
    )

    def test_the_same_results_make_the_same_page_on_any_day(self):
        found = {"made": MADE, "results": self.rows}
        again = json.loads(json.dumps(found))
        with mock.patch("race.datetime") as clock:
            clock.date.today.side_effect = AssertionError("a page has the date of its results")
            assert page.page(found) == page.page(again)
        for part in ("2001-02-03", "a machine, 2 cores", "l0star 1.2.3", "Python 3.10.1"):
            assert part in page.page(found)

    def test_cells_say_what_is_wrong(self):
        text = page.page({"made": MADE, "results": self.rows})
        for line in (
            "| l0star | 2 s |",
            "| gurobi-bigm | 120 s (×60) |",
            "| gurobi-perspective | licence |",
            "| scip-bigm | > 60 s |",
            "| okridge | not run |",
            "| abess* | 0.5 s (×0.25), error 2 % |",
            "- Boston: abess (inexact) is faster, 0.5 s against 2 s.",
        ):
            assert line in text.splitlines()


class TestVerdicts:
    def test_the_fastest_peer_decides(self):
        rows = [row("Boston", 1, "l0star", 1.0), row("Boston", 1, "gurobi-bigm", 80.0)]
        assert statements.verdict(statement("Boston"), runs_of(rows))[1] == "yes"
        rows.append(row("Boston", 1, "gurobi-cuts", 49.0))
        found, holds = statements.verdict(statement("Boston"), runs_of(rows))
        assert holds == "**no**"
        assert "49 times as fast as gurobi-cuts" in found

    def test_nobody_wins_where_nobody_ends(self):
        family = "AR n=500 p=500 rho=0.5"
        rows = [row(family, 1, name, 60.0, "time_limit") for name in ("l0star", "okridge", "el0ps")]
        found, holds = statements.verdict(statement(family), runs_of(rows))
        assert holds == "neither ends"
        assert "neither does l0star" in found
        rows[0] = row(family, 1, "l0star", 2.0)
        assert statements.verdict(statement(family), runs_of(rows))[1] == "yes"
        rows[0] = row(family, 1, "l0star", 60.0, "time_limit")
        rows[1] = row(family, 1, "okridge", 50.0)
        assert statements.verdict(statement(family), runs_of(rows))[1] == "**no**"

    def test_who_is_told_a_bound_races_against_us_with_the_same(self):
        family = "AR n=500 p=500 rho=0.5"
        told = next(s for s in statements.STATEMENTS if s.family == family and s.entry == "l0star-m")
        rows = [row(family, 1, "l0star", 9.0), row(family, 1, "l0star-m", 1.0), row(family, 1, "l0bnb", 3.0)]
        found, holds = statements.verdict(told, runs_of(rows))
        assert (holds, "3 times as fast as l0bnb" in found) == ("yes", True)
        text = page.page({"made": MADE, "results": rows})
        for line in ("| l0star-m (M) | 1 s (×0.11) |", "| l0bnb† (M) | 3 s (×0.33) |"):
            assert line in text.splitlines()
        assert "- AR n=500 p=500 rho=0.5: l0bnb (M) is faster, 3 s against 9 s." in text.splitlines()


class TestSchedule:
    names = ("l0star", "paper", "gurobi-bigm", "scip-bigm", "okridge", "el0ps")

    def test_what_statements_rest_on_comes_first(self):
        order = list(race.plan(instances.FAMILIES, self.names, 2))
        place = {(family.name, run, name): i for i, (family, run, group) in enumerate(order) for name in group}
        assert len(place) == 2 * len(self.names) * len(instances.FAMILIES)
        last = max(at for (family, _, name), at in place.items() if statements.needed(family, name))
        own = ("l0star", "l0star-m", "l0star-m-price")
        needed = {cell for cell in place if cell[2] in own or statements.needed(cell[0], cell[2])}
        rest = min(at for cell, at in place.items() if cell not in needed)
        assert last < rest

    def test_a_race_goes_on_where_it_was(self):
        family = instances.FAMILIES[0]
        asked = []

        class Told:
            def __init__(self, *_):
                self.request = {}

            def solve(self, name="l0star"):
                return {"status": "optimal", "seconds": 1.0, "checked": 1.0, "coefficients": {0: 1.0}}

            def ask(self, _team, peer, _folder, _best):
                asked.append(peer.name)
                status = "time_limit" if peer.name == "scip-bigm" else "optimal"
                return {"status": status, "seconds": 2.0}

        names = ("l0star", "gurobi-bigm", "scip-bigm")
        with tempfile.TemporaryDirectory() as folder, mock.patch("race.Instance", Told):
            path = pathlib.Path(folder) / "peers.json"

            def run(budget, **other):
                results = race.Results(path, {**MADE, "repeats": 3, **other}, False)
                return race.run("l0star", None, [family], names, results, budget)

            assert not run(-1)
            assert asked == []
            assert run(60)
            # A solver that finishes runs three times, one that is cut off runs once.
            assert sorted(asked) == ["gurobi-bigm"] * 3 + ["scip-bigm"]
            whole = path.read_text(encoding="utf-8")
            assert run(60)
            assert len(asked) == 4
            assert path.read_text(encoding="utf-8") == whole
            with pytest.raises(SystemExit, match="time_limit was 60 and is 7"):
                run(60, time_limit=7)


def best_size(values, price):
    return min(values, key=lambda size: values[size] + price * size)


class TestPrices:
    def test_a_price_makes_its_size_best(self):
        values = {0: 10.0, 1: 6.0, 2: 5.0, 3: 4.8}
        found = prices.interval(values, 2)
        assert found[0] == 2
        assert len(prices.SHARES) >= 5
        for share in prices.SHARES:
            assert best_size(values, prices.at(found, share)) == 2

    def test_where_no_price_does_the_next_smaller_size_is_taken(self):
        # The step from 1 to 2 gains less than the step from 2 to 3, so no price makes 2 best.
        values = {0: 10.0, 1: 6.0, 2: 5.5, 3: 4.0}
        found = prices.interval(values, 2)
        assert found[0] == 1
        for share in prices.SHARES:
            assert best_size(values, prices.at(found, share)) == 1

    def test_the_fastest_price_counts(self):
        limits = []

        def ask(price, time_limit):
            limits.append(time_limit)
            seconds = 1 + abs(price - 3.0)
            cut = seconds > time_limit
            return {
                "status": "time_limit" if cut else "optimal",
                "seconds": min(seconds, time_limit),
                "coefficients": {0: 1.0, 1: 2.0},
            }

        answer = prices.fastest(ask, (2, 1.0, 6.0), 60)
        assert (answer["status"], answer["seconds"], answer["share"]) == ("optimal", 1.0, 0.4)
        # A run is cut off at the time of the fastest one so far.
        assert limits == sorted(limits, reverse=True)
        assert limits[0] == 60
        assert [tried["share"] for tried in answer["tried"]] == list(prices.SHARES)

    def test_a_price_that_gives_another_size_does_not_count(self):
        def ask(price, _limit):
            size = 2 if price > 5 else 3
            return {"status": "optimal", "seconds": price, "coefficients": dict.fromkeys(range(size), 1.0)}

        answer = prices.fastest(ask, (2, 1.0, 6.0), 60)
        assert len(answer["coefficients"]) == 2
        assert answer["share"] == 0.95

    def test_whoever_is_cut_off_everywhere_is_cut_off(self):
        answer = prices.fastest(lambda *_: {"status": "time_limit", "seconds": 60.0}, (2, 1.0, 6.0), 60)
        assert answer["status"] == "time_limit"
        assert len(answer["tried"]) == len(prices.SHARES)
        failed = prices.fastest(lambda *_: {"status": "failed", "note": "why"}, (2, 1.0, 6.0), 60)
        assert (failed["note"], len(failed["tried"])) == ("why", 1)


class TestInstances:
    def test_what_cannot_be_made_is_left_out_with_a_reason(self, tmp_path, monkeypatch):
        monkeypatch.setattr(peers, "ENVIRONMENTS", tmp_path)
        told = next(family for family in instances.FAMILIES if family.environment == "l0bnb")
        assert "setup l0bnb" in instances.missing(told, None)
        monkeypatch.setattr(instances, "python_in", lambda _: sys.executable)
        assert instances.missing(told, None) is None
        data = next(family for family in instances.FAMILIES if family.name.startswith("colon"))
        assert "--data" in instances.missing(data, None)
        (tmp_path / "colon.npz").touch()
        assert instances.missing(data, tmp_path) is None

    def test_names_are_different(self):
        names = [family.name for family in instances.FAMILIES]
        assert len(set(names)) == len(names)
        grouped = [name for _, starts in page.GROUPS for name in names if name.startswith(starts)]
        assert sorted(grouped) == sorted(names)


class TestOwnEntries:
    def test_the_bound_that_peers_are_told_is_ours_too(self, monkeypatch, tmp_path):
        asked = []
        monkeypatch.setattr(race.instances, "write", lambda *_: None)
        monkeypatch.setattr(race.ours, "fit", lambda *_, **how: asked.append(how) or {"status": "optimal"})
        instance = race.Instance("l0star", instances.FAMILIES[0], 1, tmp_path, 60)
        best = {"start": {"3": -2.0, "5": 1.0}}
        race.tell(None, instances.FAMILIES[0], 1, instance, best, False)
        assert instance.request["bound"] == 3.0
        assert instance.request["start"] == {3: -2.0, 5: 1.0}
        for name in ("l0star", "l0star-m", "paper"):
            instance.solve(name)
        assert [how["bound"] for how in asked] == [None, 3.0, None]
        assert [how["method"] for how in asked] == ["best-first", "best-first", "paper"]

    def test_the_prices_that_peers_are_told_are_ours_too(self, monkeypatch, tmp_path):
        asked = []
        answer = {"status": "optimal", "seconds": 1.0, "objective": 2.0}
        monkeypatch.setattr(race.instances, "write", lambda *_: None)
        monkeypatch.setattr(race.ours, "fit", lambda *_, **how: asked.append(how) or dict(answer))
        instance = race.Instance("l0star", instances.FAMILIES[0], 1, tmp_path, 60)
        instance.request.update(bound=3.0, interval=(10, 1.0, 2.0))
        instance.solve("l0star-m-price")
        assert [how["price"] for how in asked] == [1 + share for share in prices.SHARES]
        assert {how["bound"] for how in asked} == {3.0}
        instance.request["interval"] = None
        assert instance.solve("l0star-m-price")["status"] == "unsupported"


class TestStability:
    def test_resamples_stand_beside_one_fit_of_each(self):
        many = {"seconds": 2.0, "resamples": 500, "proved": 499}
        best = {"seconds": 0.01, "status": "optimal"}
        single = [
            (peers.BY_NAME["abess"], {"seconds": 0.008, "status": "heuristic", "error": 0.02}),
            (peers.BY_NAME["okridge"], {"seconds": 60.0, "status": "time_limit"}),
            (peers.BY_NAME["leaps"], {"status": "failed", "note": "exit code 1"}),
        ]
        text = stability.table(instances.FAMILIES[0], best, many, single)
        assert text.splitlines()[2:] == [
            "| l0star, 500 resamples | 2 s, 499 of 500 proved | 500 |",
            "| l0star, one fit | 0.01 s | 2.5 |",
            "| abess*, one fit | 0.008 s, error 2 % | 2 |",
            "| okridge, one fit | > 60 s | 15000 |",
            "| leaps, one fit | failed | – |",
        ]


class TestWorkers:
    """Adapters of a few lines, in place of peers."""

    peer = peers.Peer("told", "told.py", None)

    def answers(self, tmp_path, monkeypatch, script, count):
        (tmp_path / "adapters").mkdir()
        (tmp_path / "adapters" / "told.py").write_text(script, encoding="utf-8")
        monkeypatch.setattr(peers, "HERE", tmp_path)
        monkeypatch.setattr(peers, "python_of", lambda _: sys.executable)
        with peers.Team() as team:
            return [team.ask(self.peer, {"time_limit": 0}, tmp_path) for _ in range(count)]

    def test_a_worker_is_asked_again(self, tmp_path, monkeypatch):
        script = "import sys\nfor i, _ in enumerate(sys.stdin):\n    print('{\"nodes\": %d}' % i, flush=True)"
        found = self.answers(tmp_path, monkeypatch, script, 3)
        assert [answer["nodes"] for answer in found] == [0, 1, 2]

    def test_a_crash_is_an_answer_and_the_next_request_has_a_new_worker(self, tmp_path, monkeypatch):
        script = "import sys\nsys.stdin.readline()\nsys.exit('no more memory')"
        for answer in self.answers(tmp_path, monkeypatch, script, 2):
            assert answer["status"] == "failed"
            assert answer["note"] == "exit code 1: no more memory"

    def test_who_says_nothing_is_ended(self, tmp_path, monkeypatch):
        monkeypatch.setattr(peers, "START", 0)
        monkeypatch.setattr(peers, "GRACE", 0)
        (answer,) = self.answers(tmp_path, monkeypatch, "import sys\nsys.stdin.read()", 1)
        assert answer["status"] == "time_limit"
        assert answer["note"] == "killed, no model"
