"""One search on several processes: the result is the same, whatever happens to the workers."""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import signal
import tempfile
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from clients import Leaving
from distributed import Client

import l0star
from l0star import ClusterError, Moments, SolveInterrupted, SparseRegressor, _cluster, solve, sparse_path
from l0star._cluster import Budgets, Place

#: Short tasks as soon as there is work to share, limited by nodes: tasks do not depend on the clock.
SHORT = Budgets(full=3600.0, hungry=3600.0, nodes=3, ramp=1)


def data(seed: int = 11, rows: int = 30, columns: int = 25) -> tuple[np.ndarray, np.ndarray]:
    """Return similar columns and a noisy response, which take a few hundred nodes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 1)) + rng.normal(size=(rows, columns))
    return X, X[:, :5].sum(axis=1) + 3 * rng.normal(size=rows)


OPTIONS = {"ridge": 0.01, "standardize": False}


class Here(Executor):
    """Executor that runs tasks immediately in this process, loses some, and fails after a given number of tasks."""

    def __init__(self, *, lost: float = 0.0, last: int | None = None, error: BaseException | None = None) -> None:
        self.rng = np.random.default_rng(1)
        self.lost, self.last, self.error = lost, last, error
        self.tasks: list[bytes] = []
        self.cancelled = 0

    def submit(self, fn, /, *args, **kwargs):
        if self.last is not None and len(self.tasks) >= self.last:
            raise self.error or RuntimeError("cannot schedule new futures after shutdown")
        self.tasks.append(args[2])
        future = Future()
        if self.rng.random() < self.lost:
            future.cancel()
            self.cancelled += 1
            return future
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def check(found: l0star.Result, truth: l0star.Result) -> None:
    assert found.status == truth.status == "optimal"
    assert found.support.tolist() == truth.support.tolist()
    assert found.objective == pytest.approx(truth.objective, rel=1e-12)
    assert found.lower_bound <= truth.objective * (1 + 1e-12)


def test_tasks_that_are_lost_are_submitted_again() -> None:
    X, y = data()
    truth = solve(X, y, 5, **OPTIONS)
    for lost in (0.0, 0.3):
        here = Here(lost=lost)
        found = solve(X, y, 5, **OPTIONS, client=Place(here, 3, SHORT))
        check(found, truth)
        assert len(set(here.tasks)) > 5
        assert len(here.tasks) == len(set(here.tasks)) + here.cancelled
        assert (here.cancelled > 0) == (lost > 0)


@pytest.mark.parametrize(
    "options",
    [
        {"loss": "huber"},
        {"loss": "quadratic", "top": 4},
        {"groups": [[0, 1], [4, 5, 6]], "nonnegative": [2], "bounds": {3: (-1.0, 1.0)}},
        {"include": [7], "exclude": [8], "ridge_factor": {1: 2.0}, "requires": {2: 3}},
        {"l0_penalty": 0.01, "l0_factor": {1: 2.0}},
        {"sample_weight": np.linspace(0.0, 2.0, 30), "offset": np.linspace(-1, 1, 30)},
        {"fit_intercept": False, "standardize": True},
    ],
    ids=lambda options: next(iter(options)),
)
def test_workers_have_the_same_problem(options: dict[str, object]) -> None:
    X, y = data()
    options = {**OPTIONS, **options}
    truth = solve(X, y, 4, **options)
    for matrix in (X, X.astype(np.float32).astype(float), sp.csc_matrix(X)):
        here = Here()
        found = solve(matrix, y, 4, **options, client=Place(here, 1, Budgets(nodes=1, ramp=1)))
        assert here.tasks
        assert found.status == "optimal"
        assert found.support.tolist() == truth.support.tolist()


def test_labels_and_moments_and_paths_and_estimators() -> None:
    X, y = data(rows=60)
    labels = np.where(y > 0, "yes", "no")
    place = Place(Here(), 2, SHORT)
    check(
        solve(X, labels, 5, loss="logistic", ridge=0.02, client=place),
        solve(X, labels, 5, loss="logistic", ridge=0.02),
    )
    moments = Moments().partial_fit(X, y)
    check(solve(moments, k=5, ridge=1e-4, client=place), solve(moments, k=5, ridge=1e-4))
    ours, theirs = sparse_path(X, y, k_max=6, client=place), sparse_path(X, y, k_max=6)
    for found, truth in zip(ours, theirs, strict=True):
        check(found, truth)
    sent = Here()
    X, y = data()
    with l0star.on(sent, workers=1):
        model = SparseRegressor(k=5, **OPTIONS).fit(X, y)
    assert sent.tasks
    check(model.result_, solve(X, y, 5, **OPTIONS))
    count = len(sent.tasks)
    SparseRegressor(k=5, **OPTIONS).fit(X, y)
    assert len(sent.tasks) == count


def test_a_pool_that_ends_in_mid_search_costs_nothing(tmp_path) -> None:
    X, y = data()
    truth = solve(X, y, 5, **OPTIONS)
    for last in (0, 4, 9):
        file = tmp_path / f"{last}.ckpt"
        with pytest.raises(ClusterError, match="after shutdown") as stopped:
            solve(X, y, 5, **OPTIONS, checkpoint=file, client=Place(Here(last=last), 3, SHORT))
        result = stopped.value.result
        assert result.status == "interrupted"
        assert result.lower_bound <= truth.objective <= result.objective
        check(solve(X, y, 5, **OPTIONS, resume=file), truth)
    model = SparseRegressor(k=5, **OPTIONS)
    with pytest.raises(ClusterError), l0star.on(Here(last=0), workers=1):
        model.fit(X, y)
    assert model.status_ == "interrupted"
    assert model.predict(X).shape == y.shape
    with pytest.raises(ClusterError) as stopped:
        sparse_path(X, y, k_max=5, **OPTIONS, client=Place(Here(last=3), 3, SHORT))
    assert stopped.value.results[0].status == "optimal"


def test_ctrl_c_keeps_the_best_model() -> None:
    X, y = data()
    here = Here(last=3, error=KeyboardInterrupt())
    with pytest.raises(SolveInterrupted) as stopped:
        solve(X, y, 5, **OPTIONS, client=Place(here, 2, SHORT))
    assert stopped.value.result.status == "interrupted"


def test_a_worker_with_another_version_is_named() -> None:
    class Old(Here):
        def submit(self, fn, /, version, *args):
            return super().submit(fn, "0.0.1", *args)

    X, y = data()
    with pytest.raises(ClusterError, match=r"this process has 0\.0\.1\. Install the same version"):
        solve(X, y, 5, **OPTIONS, client=Place(Old(), 2, SHORT))


def test_a_worker_without_l0star_is_told_what_it_needs() -> None:
    class Without(Here):
        def submit(self, fn, /, *args):
            future = Future()
            future.set_exception(ModuleNotFoundError("No module named 'l0star'"))
            return future

    X, y = data()
    with pytest.raises(ClusterError, match="Every worker needs l0star") as stopped:
        solve(X, y, 5, **OPTIONS, client=Place(Without(), 2, SHORT))
    assert stopped.value.result.status == "interrupted"


def test_answers_that_are_none_end_the_search() -> None:
    class Wrong(Here):
        def submit(self, fn, /, *args):
            future = super().submit(fn, *args)
            wrong = Future()
            wrong.set_result(future.result()[:-1])
            return wrong

    class Lost(Here):
        def submit(self, fn, /, *args):
            future = Future()
            future.cancel()
            return future

    X, y = data()
    for kind, words in ((Wrong, "cut off"), (Lost, "died 11 times")):
        with pytest.raises(ClusterError, match=words):
            solve(X, y, 5, **OPTIONS, client=Place(kind(), 2, SHORT))


def test_what_is_no_client_is_refused() -> None:
    X, y = data()
    with pytest.raises(TypeError, match="a method submit"):
        solve(X, y, 5, client=3)
    with pytest.raises(ValueError, match="method='best-first'"):
        solve(X, y, 5, method="omp", client=Here())
    with pytest.raises(ValueError, match="workers must be at least 1"), l0star.on(Here(), workers=0):
        pass
    # Other methods in the block run as usual.
    with l0star.on(Here(last=0)):
        assert solve(X, y, 5, method="omp").status == "heuristic"


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        yield executor


def test_threads_and_processes(processes, tmp_path, monkeypatch) -> None:
    # Keep the files of other runs out of the test.
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    X, y = data()
    truth = solve(X, y, 5, **OPTIONS)
    with ThreadPoolExecutor(3) as threads:
        for executor in (threads, processes):
            check(solve(X, y, 5, **OPTIONS, client=Place(executor, None, SHORT)), truth)
            # With the default budgets, which are by time.
            check(solve(X, y, 5, **OPTIONS, client=executor), truth)
    assert list(tmp_path.iterdir()) == []


def die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_dies_ends_its_pool_and_nothing_else(tmp_path) -> None:
    class Deadly(Here):
        def __init__(self, executor: Executor) -> None:
            super().__init__()
            self.executor = executor

        def submit(self, fn, /, *args):
            self.tasks.append(args[2])
            return self.executor.submit(die if len(self.tasks) == 3 else fn, *args)

    X, y = data()
    file = tmp_path / "search.ckpt"
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        place = Place(Deadly(executor), 1, SHORT)
        with pytest.raises(ClusterError, match="A worker process died") as stopped:
            solve(X, y, 5, **OPTIONS, checkpoint=file, client=place)
    assert stopped.value.result.status == "interrupted"
    check(solve(X, y, 5, **OPTIONS, resume=file), solve(X, y, 5, **OPTIONS))


def test_dask(client) -> None:
    X, y = data()
    truth = solve(X, y, 5, **OPTIONS)
    check(solve(X, y, 5, **OPTIONS, client=Place(client, None, SHORT)), truth)
    check(solve(X, y, 5, **OPTIONS, client=client), truth)
    with l0star.on(client):
        check(SparseRegressor(k=5, **OPTIONS).fit(X, y).result_, truth)


@pytest.mark.filterwarnings("ignore:The client has no workers now")
def test_a_worker_of_dask_that_is_killed_costs_its_tasks_alone(client) -> None:
    X, y = data()
    truth = solve(X, y, 5, **OPTIONS)
    killed: list[int] = []

    def kill(progress: l0star.Progress) -> None:
        # Kill each worker once, in the middle of the search.
        if progress.nodes > 10 * (len(killed) + 1) and len(killed) < 2:
            pids = client.run(os.getpid, on_error="ignore")
            alive = [pid for pid in pids.values() if pid not in killed]
            os.kill(alive[0], signal.SIGKILL)
            killed.append(alive[0])

    check(solve(X, y, 5, **OPTIONS, client=Place(client, None, SHORT), callback=kill), truth)
    assert killed


@pytest.mark.filterwarnings("ignore:The client has no workers now")
def test_workers_of_dask_that_die_again_and_again(client, tmp_path, monkeypatch) -> None:
    folder = str(tmp_path)

    def explore(*arguments: object) -> bytes:
        from l0star import _cluster as own

        calls = itertools.count(1)
        for call in calls:
            with contextlib.suppress(FileExistsError):
                os.close(os.open(os.path.join(folder, str(call)), os.O_CREAT | os.O_EXCL))
                break
        # Four consecutive kills are more than Dask tolerates for a task.
        if 2 <= call <= 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return own.explore(*arguments)

    X, y = data()
    truth = solve(X, y, 5, **OPTIONS)
    monkeypatch.setattr(_cluster, "explore", explore)
    check(solve(X, y, 5, **OPTIONS, client=Place(client, None, SHORT)), truth)
    assert (tmp_path / "2").exists()


@pytest.mark.filterwarnings("ignore:stopped at the node limit")
def test_a_search_whose_workers_have_left_continues_by_itself(tmp_path) -> None:
    X, y = data()
    truth = solve(X, y, 5, **OPTIONS)
    for last in (0, 1, 2, 7):
        client = Leaving(_cluster.explore, last)
        file = tmp_path / f"{last}.ckpt"
        with pytest.warns(RuntimeWarning, match="continues in this process, on one thread") as warned:
            found = solve(X, y, 5, **OPTIONS, client=Place(client, None, SHORT), checkpoint=file)
        check(found, truth)
        assert len(warned) == 1
        assert last <= client.tasks <= last + 1
    # Limits apply as usual, and submitted nodes count as open.
    with pytest.warns(RuntimeWarning, match="The client has no workers now"):
        found = solve(X, y, 5, **OPTIONS, client=Place(Leaving(_cluster.explore, 5), None, SHORT), node_limit=20)
    assert found.status == "node_limit"
    assert found.lower_bound <= truth.objective <= found.objective


def test_a_client_of_dask_that_closes_in_mid_search(cluster, tmp_path) -> None:
    X, y = data()
    file = tmp_path / "search.ckpt"
    with Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(2)

        def close(progress: l0star.Progress) -> None:
            if progress.nodes > 10 and client.status == "running":
                client.close()

        with pytest.raises(ClusterError) as stopped:
            solve(X, y, 5, **OPTIONS, checkpoint=file, client=Place(client, None, SHORT), callback=close)
    assert stopped.value.result.status == "interrupted"
    check(solve(X, y, 5, **OPTIONS, resume=file), solve(X, y, 5, **OPTIONS))


def test_a_process_keeps_the_last_problems() -> None:
    explorers = _cluster._Explorers()
    rows = data()
    made = []
    for ridge in (0.1, 0.2, 0.3, 0.3):
        recipe = _cluster.Recipe(
            {**_cluster_rules(25)},
            {"loss": "quadratic", "huber_delta": None, "ridge": ridge, "fit_intercept": True, "standardize": True},
            rows=rows,
        )
        own = _cluster.Data(str(ridge), recipe=_cluster.pickle.dumps(recipe))
        with explorers.lend(own, 1, None) as explorer:
            made.append(explorer)
    assert made[2] is made[3]
    assert list(explorers._problems) == ["0.2", "0.3"]


def _cluster_rules(columns: int) -> dict[str, object]:
    from l0star._constraints import arguments
    from l0star._options import Options

    return arguments(Options(), [f"x{j}" for j in range(columns)])
