"""Searches in a live interpreter: signals, callbacks, threads, memory, logs."""

import logging
import os
import signal
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from l0star import SolveInterrupted, SparseRegressor, SparseRegressorCV, solve, sparse_path
from l0star._input import read
from l0star._options import Options
from l0star._solve import Job

linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
posix = pytest.mark.skipif(sys.platform == "win32", reason="sends signals")


def hard(seed=0):
    """Return an instance that takes far longer than any test."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(120, 300)), rng.normal(size=120)


class Finger:
    """Presses Ctrl-C once, from a separate thread, after it has been told that a search is running."""

    def __init__(self):
        self._told = threading.Event()
        threading.Thread(target=self._press, daemon=True).start()

    def _press(self):
        self._told.wait()
        os.kill(os.getpid(), signal.SIGINT)

    def tell(self, *_):
        """Tell the finger that a search is running; usable as a callback."""
        self._told.set()


# The first callback shows that the search is running.
CHILD = """
import signal, sys
sys.path.insert(0, {tests!r})
from test_interpreter import Finger, hard
import l0star
X, y = hard()
finger = Finger()
{body}
"""


def run_child(body):
    program = CHILD.format(tests=str(Path(__file__).parent), body=textwrap.dedent(body))
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)


@posix
def test_ctrl_c_ends_solve_with_the_best_model():
    child = run_child(
        """
        try:
            l0star.solve(X, y, 20, callback=finger.tell)
        except KeyboardInterrupt as stopped:
            result = stopped.result
            assert result.status == "interrupted"
            assert result.lower_bound <= result.objective
            print("caught")
        """
    )
    assert (child.stdout, child.stderr, child.returncode) == ("caught\n", "", 0)


@posix
def test_ctrl_c_leaves_a_fitted_model():
    child = run_child(
        """
        model = l0star.SparseRegressor(k=20, callback=finger.tell)
        try:
            model.fit(X, y)
        except KeyboardInterrupt:
            assert model.status_ == "interrupted"
            assert model.predict(X).shape == y.shape
            print("caught")
        """
    )
    assert (child.stdout, child.stderr, child.returncode) == ("caught\n", "", 0)


@posix
@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_leaves_a_checkpoint_of_a_path(jobs, tmp_path):
    child = run_child(
        f"""
        import warnings
        from l0star._checkpoint import CheckpointFile

        class Told(CheckpointFile):
            # A path that calls back solves one size after the other: the first checkpoint says that it runs.
            def write(self, data):
                super().write(data)
                finger.tell()

        l0star._checkpoint.CheckpointFile = Told
        file = {str(tmp_path / "path")!r}
        try:
            l0star.sparse_path(X, y, k_max=20, n_jobs={jobs}, checkpoint=file, checkpoint_every=0.0)
        except KeyboardInterrupt as stopped:
            warnings.simplefilter("ignore")
            path = l0star.sparse_path(X, y, k_max=20, node_limit=0, resume=file)
            for result, resumed in zip(stopped.results, path):
                assert resumed.nodes == result.nodes
                assert resumed.objective <= result.objective * (1 + 1e-12)
            print("caught")
        """
    )
    assert (child.stdout, child.stderr, child.returncode) == ("caught\n", "", 0)


@posix
@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_ends_cross_validation_and_leaves_its_scores(jobs):
    child = run_child(
        f"""
        def callback(progress):
            if progress.k == 20:
                finger.tell()

        model = l0star.SparseRegressorCV(ks=[0, 20], n_jobs={jobs}, callback=callback)
        try:
            model.fit(X, y)
        except KeyboardInterrupt:
            scores = [model.cv_results_[f"split{{i}}_test_score"] for i in range(5)]
            # The first of them had come to the larger size.
            assert scores[0][0] == scores[0][0]
            assert all(score[1] != score[1] for score in scores)
            print("caught")
        """
    )
    assert (child.stdout, child.returncode) == ("caught\n", 0)


def test_an_interrupted_path_keeps_what_is_finished():
    def callback(progress):
        if progress.nodes > 10:
            raise KeyboardInterrupt

    with pytest.raises(SolveInterrupted) as stopped:
        sparse_path(*hard(), k_max=20, callback=callback)
    results = stopped.value.results
    assert [result.k for result in results] == list(range(len(results)))
    assert stopped.value.result.status == "interrupted"
    assert results[0].status == "optimal"


def test_a_callback_follows_a_path_and_stops_it():
    seen = []

    def callback(progress):
        seen.append(progress.k)
        return progress.nodes > 10

    path = sparse_path(*hard(), k_max=20, callback=callback)
    assert seen == sorted(seen)
    assert path.ks.tolist() == list(range(21))
    assert path[0].status == "optimal"
    assert {result.status for result in path[seen[-1] :]} == {"interrupted"}
    assert all(result.lower_bound <= result.objective for result in path)


@posix
def test_ctrl_c_ends_prices_with_what_is_known():
    job = Job(read(*hard(), labels=False), Options())
    solution, _ = job._problem.solve(20, Options(node_limit=1).settings())
    prices, stopped_by = job._problem.prices(solution, Options().settings(), save=Finger().tell, save_every=0.0)
    assert isinstance(stopped_by, KeyboardInterrupt)
    assert {price.status for price in prices} == {"interrupted"}
    assert all(price.cost_bounds[0] <= price.cost <= price.cost_bounds[1] for price in prices)


@posix
def test_ctrl_c_ends_a_search_that_calls_nobody():
    """The finger is told before the search begins, but can only run after the search has released the GIL."""
    job = Job(read(*hard(), labels=False), Options())
    settings = Options().settings()
    before = sys.getswitchinterval()
    # No thread is forced to release the GIL.
    sys.setswitchinterval(1e6)
    try:
        finger = Finger()
        finger.tell()
        solution, stopped_by = job._problem.solve(20, settings)
    finally:
        sys.setswitchinterval(before)
    assert isinstance(stopped_by, KeyboardInterrupt)
    assert solution.status == "interrupted"


@posix
def test_uncaught_ctrl_c_ends_the_program_as_usual():
    child = run_child("l0star.solve(X, y, 20, callback=finger.tell)")
    assert "SolveInterrupted" in child.stderr
    assert child.returncode in (-signal.SIGINT, 130, 1)


@posix
def test_handlers_of_other_signals_run():
    child = run_child(
        """
        def handle(number, frame):
            raise TimeoutError("from the handler")

        signal.signal(signal.SIGINT, handle)
        try:
            l0star.solve(X, y, 20, callback=finger.tell)
        except TimeoutError as error:
            print(error)
        """
    )
    assert (child.stdout, child.returncode) == ("from the handler\n", 0)


def test_a_callback_stops_the_search():
    seen = []

    def callback(progress):
        seen.append(progress)
        return progress.lower_bound is not None

    result = solve(*hard(), 20, callback=callback)
    assert result.status == "interrupted"
    assert result.objective == seen[-1].objective
    assert {progress.kind for progress in seen} >= {"incumbent", "bound"}
    assert seen[-1].gap == seen[-1].objective - seen[-1].lower_bound
    assert seen[0].gap is None


def test_a_callback_is_called_when_nothing_happens():
    def callback(progress):
        return progress.kind == "tick"

    assert solve(*hard(), 20, callback=callback).status == "interrupted"


def test_what_a_callback_raises_comes_out():
    def callback(progress):
        raise LookupError("from the callback")

    with pytest.raises(LookupError, match="from the callback"):
        solve(*hard(), 20, callback=callback)


def test_a_callback_may_solve():
    inner = []

    def callback(progress):
        inner.append(solve(np.eye(3), np.arange(3.0), 1))
        return True

    solve(*hard(), 20, callback=callback)
    assert inner[0].status == "optimal"


def test_eight_threads_fit_at_once():
    def fit(seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 25))
        model = SparseRegressor(k=5).fit(X, X[:, 0] + rng.normal(size=60))
        return model.objective_, model.coef_.tolist(), model.n_nodes_

    expected = [fit(seed) for seed in range(64)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(fit, range(64))) == expected


def test_threads_may_share_the_data():
    X, y = np.random.default_rng(0).normal(size=(60, 20)), np.arange(60.0)
    with ThreadPoolExecutor(8) as pool:
        objectives = set(pool.map(lambda _: solve(X, y, 3).objective, range(32)))
    assert len(objectives) == 1


def test_n_jobs_is_the_number_of_searches():
    threads = set()

    def callback(progress):
        threads.add(threading.get_ident())

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 30)), rng.normal(size=60)
    SparseRegressorCV(ks=4, n_jobs=3, callback=callback).fit(X, y)
    # The final fit, on all rows, runs on the calling thread.
    assert threading.get_ident() in threads
    assert len(threads) <= 1 + 3


def test_threads_find_the_same_optimum():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 40)), rng.normal(size=60)
    one, many = (solve(X, y, 6, n_jobs=n_jobs) for n_jobs in (None, 4))
    assert one.status == many.status == "optimal"
    assert many.objective == pytest.approx(one.objective, rel=1e-9)


@linux
def test_memory_does_not_grow_over_a_thousand_fits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 50))
    y = X[:, 0] + rng.normal(size=400)

    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def fits(count):
        for _ in range(count):
            SparseRegressor(k=1).fit(X, y)

    fits(50)
    before = resident()
    fits(1000)
    # If every fit kept a copy of the data, that would be 160 MB.
    assert resident() - before < 16e6


def test_logs_through_logging(caplog):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 20)), rng.normal(size=40)
    with caplog.at_level(logging.INFO, logger="l0star"):
        solve(X, y, 3)
    assert [record.message for record in caplog.records] == [
        "proved optimal: no model with at most 3 features is better"
    ]
    with caplog.at_level(logging.DEBUG, logger="l0star"):
        solve(X, y, 3)
    assert any(record.message.startswith("incumbent after") for record in caplog.records)


def test_silent_unless_asked(capfd):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 20)), rng.normal(size=40)
    SparseRegressorCV(ks=2, n_jobs=2).fit(X, y)
    assert capfd.readouterr() == ("", "")
    solve(X, y, 3, verbose=2)
    assert "gap closed: 100%" in capfd.readouterr().err
    sparse_path(X, y, k_max=3, verbose=1)
    assert "path: 100%" in capfd.readouterr().err
    SparseRegressorCV(ks=2, verbose=1).fit(X, y)
    shown = capfd.readouterr().err
    # The bar covers three sizes on five folds.
    assert "searches: 100%" in shown
    assert "15/15" in shown
