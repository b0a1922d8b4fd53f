"""Cross-validation on Dask through joblib: same scores, data sent once, and cancellation that reaches the workers."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import warnings

import cloudpickle
import joblib
import numpy as np
import pytest
from clients import Leaving
from distributed import Client, Event, LocalCluster
from sklearn.model_selection import GridSearchCV

from l0star import (
    ClusterError,
    SparseClassifier,
    SparseClassifierCV,
    SparseRegressor,
    SparseRegressorCV,
    _core,
    _cv,
    _cv_cluster,
)
from l0star._options import thread_count

# Workers cannot import the tests, so functions of this module are pickled by value.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


def data(rows: int = 300, columns: int = 20) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(rows, columns))
    return X, X[:, 2] - X[:, 5] + rng.normal(size=rows)


def same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    assert one.keys() == other.keys()
    for name, values in one.items():
        assert list(values) == list(other[name]), name


def on_dask(client: Client) -> contextlib.AbstractContextManager[object]:
    return joblib.parallel_config(backend="dask", client=client)


def test_scores_are_those_of_this_process(client) -> None:
    X, y = data()
    weights = np.random.default_rng(1).integers(1, 4, len(y))
    for model, target in (
        (SparseRegressorCV(ks=4, ridges=[1e-3, 0.1], loss="huber"), y),
        (SparseClassifierCV(ks=[1, 2], cv=3, scoring="neg_log_loss"), np.where(y > 0, "yes", "no")),
    ):
        here = model.fit(X, target, sample_weight=weights)
        expected, k, supports = here.cv_results_, here.k_, dict(here._supports)
        with on_dask(client):
            there = model.fit(X, target, sample_weight=weights)
        same(there.cv_results_, expected)
        assert (there.k_, there._supports) == (k, supports)
        assert there.status_ == "optimal"


def test_data_travel_once(client, monkeypatch) -> None:
    X, y = data()
    submit, sizes = client.submit, []

    def counted(fn, *args, **kwargs):
        sizes.append(sum(len(arg.recipe) for arg in args if getattr(arg, "recipe", None) is not None))
        return submit(fn, *args, **kwargs)

    monkeypatch.setattr(client, "submit", counted)
    with on_dask(client):
        SparseRegressorCV(ks=2, cv=4).fit(X, y)
    # One task for the data, then one task per fold without the data.
    assert len(sizes) == 5
    assert sizes[0] > X.nbytes
    assert sizes[1:] == [0] * 4


def test_grid_search_over_estimators(client) -> None:
    X, y = data()
    for search, target in (
        (GridSearchCV(SparseRegressor(loss="huber"), {"k": [1, 2, 3]}, cv=3), y),
        (GridSearchCV(SparseClassifier(), {"k": [1, 2], "ridge": [1e-3, 0.1]}, cv=3), y > 0),
        (GridSearchCV(SparseRegressorCV(ks=2, cv=2), {"standardize": [True, False]}, cv=2), y),
    ):
        expected = search.fit(X, target).cv_results_["mean_test_score"].tolist()
        with on_dask(client):
            assert search.fit(X, target).cv_results_["mean_test_score"].tolist() == expected


def test_threads_are_those_of_this_machine(client) -> None:
    with on_dask(client):
        assert joblib.effective_n_jobs(None) == 2
        assert thread_count(None) == 1
        assert thread_count(3) == 3


def test_a_worker_that_dies_costs_its_task_alone(client, monkeypatch) -> None:
    X, y = data()
    expected = SparseRegressorCV(ks=2, cv=4).fit(X, y).cv_results_
    submit, submitted = client.submit, []

    def deadly(fn, *args, **kwargs):
        future = submit(fn, *args, **kwargs)
        submitted.append(future)
        if len(submitted) == 5:
            os.kill(next(iter(client.run(os.getpid, on_error="ignore").values())), signal.SIGKILL)
        return future

    monkeypatch.setattr(client, "submit", deadly)
    with on_dask(client):
        found = SparseRegressorCV(ks=2, cv=4).fit(X, y).cv_results_
    same(found, expected)


ALONE = "The client has no workers now. Cross-validation continues in this process until there are some."


def test_without_workers_it_continues_by_itself(monkeypatch) -> None:
    X, y = data()
    here = SparseRegressorCV(ks=2, cv=4).fit(X, y)
    # There are no workers, they leave with unfinished tasks, or they leave after the last task.
    for last in (0, 1, 3, 6):
        client = Leaving(_cv_cluster.score_path, last)
        monkeypatch.setattr(_cv, "active_client", lambda client=client: client)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            found = SparseRegressorCV(ks=2, cv=4).fit(X, y)
        same(found.cv_results_, here.cv_results_)
        assert found._supports == here._supports
        assert [str(one.message) for one in warned] == [ALONE] * (last < 6), last
        # One task per fold, whether it was answered or not.
        assert client.tasks == 4


class Elsewhere:
    """A scorer that distinguishes processes; in the calling process it starts a worker before it answers."""

    def __init__(self, client: Client | None) -> None:
        self.client = client

    def __getstate__(self) -> dict[str, None]:
        return {"client": None}

    def __call__(self, model: object, X: np.ndarray, y: np.ndarray) -> float:
        if self.client is None:
            return 1.0
        self.client.cluster.scale(1)
        self.client.wait_for_workers(1)
        return 0.0


def test_a_cluster_that_starts_late_does_the_rest() -> None:
    X, y = data()
    with (
        LocalCluster(n_workers=0, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
        on_dask(client),
        pytest.warns(RuntimeWarning, match=ALONE) as warned,
    ):
        found = SparseRegressorCV(ks=[1], cv=4, scoring=Elsewhere(client)).fit(X, y).cv_results_
    assert sorted(found[f"split{fold}_test_score"].item() for fold in range(4)) == [0.0, 1.0, 1.0, 1.0]
    assert len(warned) == 1


def test_a_time_limit_holds_without_workers(monkeypatch) -> None:
    X, y = data()
    monkeypatch.setattr(_cv, "active_client", lambda: Leaving(_cv_cluster.score_path, 0))
    with pytest.raises(RuntimeError, match="searches were cut off"):
        SparseRegressorCV(ks=2, time_limit=0).fit(X, y)


def test_what_cannot_go_on_is_said(client, monkeypatch) -> None:
    X, y = data()
    with on_dask(client), pytest.raises(RuntimeError, match="searches were cut off"):
        SparseRegressorCV(ks=2, time_limit=0).fit(X, y)
    with on_dask(client), pytest.raises(ClusterError, match="unheard-of"):
        SparseRegressorCV(ks=2, scoring=refusing).fit(X, y)
    monkeypatch.setattr(_core, "VERSION", "0.0.1")
    with on_dask(client), pytest.raises(ClusterError, match=r"this process has 0\.0\.1\. Install the same version"):
        SparseRegressorCV(ks=2).fit(X, y)


def refusing(model: object, X: np.ndarray, y: np.ndarray) -> float:
    raise ValueError("unheard-of")


def telling(model: object, X: np.ndarray, y: np.ndarray) -> float:
    """Signal that the first size has a score; the next one takes longer than any test waits."""
    Event("l0star-scored").set()
    return 0.0


def hard() -> tuple[np.ndarray, np.ndarray]:
    """Return many similar columns and few rows, which are hard with a very small ridge."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(80, 1)) + rng.normal(size=(80, 200))
    return X, X[:, :15].sum(axis=1) + 9 * rng.normal(size=80)


def test_ctrl_c_stops_the_searches_of_workers(client) -> None:
    X, y = hard()
    scored = Event("l0star-scored", client=client)

    def interrupt() -> None:
        scored.wait()
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with on_dask(client), pytest.raises(KeyboardInterrupt):
        SparseRegressorCV(ks=[0, 15], ridges=1e-6, cv=2, scoring=telling).fit(X, y)
    thread.join()
    # Each worker has one thread, so it accepts another task only after its search has ended.
    for worker in client.nthreads():
        assert client.submit(abs, -1, workers=[worker], pure=False).result() == 1


def test_a_client_that_closes_ends_it(cluster, monkeypatch) -> None:
    X, y = data()
    with Client(cluster, set_as_default=False) as client:
        submit, submitted = client.submit, []

        def closing(fn, *args, **kwargs):
            submitted.append(submit(fn, *args, **kwargs))
            if len(submitted) == 5:
                client.close()
            return submitted[-1]

        monkeypatch.setattr(client, "submit", closing)
        with on_dask(client), pytest.raises(ClusterError, match="during cross-validation"):
            SparseRegressorCV(ks=2, cv=4).fit(X, y)
