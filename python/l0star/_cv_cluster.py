"""Cross-validation on the workers of a Dask cluster: a task for every penalty and fold."""

from __future__ import annotations

import contextlib
import hashlib
import threading
import uuid
import warnings
from collections import OrderedDict
from concurrent.futures import CancelledError
from typing import Any

from joblib.parallel import get_active_backend

from l0star import _core
from l0star._cluster import ClusterError, Data, check_version, describe, hold
from l0star._progress import cancellation
from l0star._scoring import Heard, Scoring

#: Sets of data that a process keeps for its next task.
_KEPT = 2

#: What came of the search of every size, None where there is nothing; and the features of the models.
Answer = tuple[list[tuple[float, str, int, tuple[float, float] | None] | None], list[tuple[int, list[str]]]]


def active_client() -> Any:
    """Give the client of joblib's Dask backend, where that is the active one; None elsewhere, and on a worker."""
    backend, _ = get_active_backend()
    client = getattr(backend, "client", None)
    is_cluster = client is not None and hasattr(client, "nthreads")
    return client if is_cluster and cancellation() is None else None


class _Scorings:
    """What a process keeps from task to task."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Scoring] = OrderedDict()

    def of(self, data: Data) -> Scoring:
        """Unpack the data once, however many tasks need them."""
        with self._lock:
            found = self._known.get(data.fingerprint)
            scoring: Scoring = data.load() if found is None else found
            self._known[data.fingerprint] = scoring
            self._known.move_to_end(data.fingerprint)
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
            return scoring


_scorings = _Scorings()


def score_path(version: str, data: Data, path: int, time_limit: float | None, n_jobs: int | None) -> Answer:
    """Score the models of all sizes on one fold, with one penalty; run by workers."""
    check_version(version)
    scoring = _scorings.of(data)
    ridge, l0_penalty = scoring.penalties[path // len(scoring.folds)]
    scores = _core.Tally(scoring.ks, [ridge], [l0_penalty], 1)
    features: list[tuple[int, list[str]]] = []
    is_cancelled = cancellation()

    def listener(*_: Any) -> bool:
        return is_cancelled is not None and is_cancelled()

    scoring.run(
        scores,
        [path],
        time_limit=time_limit,
        heard=lambda _, k, names: features.append((k, names)),
        listener=listener,
        n_jobs=n_jobs or 1,
    )
    return [cells[0] for cells in scores.candidates()], features


def score_on(client: Any, scoring: Scoring, scores: _core.Tally, *, time_limit: float | None, heard: Heard) -> None:
    """Enter the scores of all paths, each searched by a worker.

    The data are a task that any worker can do again, and reach each worker once. Whatever ends this, the tasks are
    cancelled, and their searches stop.
    """
    from cloudpickle import dumps
    from distributed import as_completed

    packed = dumps(scoring)
    name = f"l0star-cv-{uuid.uuid4().hex[:12]}"
    data = Data(hashlib.blake2b(packed, digest_size=16).hexdigest(), recipe=packed)
    with warnings.catch_warnings():
        # The data are large, and sent once.
        warnings.filterwarnings("ignore", message="Sending large graph")
        held = client.submit(hold, data, key=f"{name}-data", pure=False)
    n_jobs = scoring.model.n_jobs
    paths = {
        client.submit(score_path, _core.VERSION, held, path, time_limit, n_jobs, key=f"{name}-{path}", pure=False): path
        for path in range(scoring.n_paths)
    }
    try:
        for future in as_completed(list(paths), loop=client.loop, timeout=time_limit):
            cells, features = _answer(client, future)
            penalty, fold = divmod(paths[future], len(scoring.folds))
            for size, cell in enumerate(cells):
                if cell is not None:
                    scores.enter(penalty, size, fold, *cell)
            for k, names in features:
                heard(paths[future], k, names)
    except TimeoutError:
        # What is missing is cut off, as at any time limit.
        pass
    finally:
        with contextlib.suppress(Exception):
            client.cancel([*paths, held])


def _answer(client: Any, future: Any) -> Answer:
    try:
        answer: Answer = future.result()
    except CancelledError as error:
        closed = getattr(client, "status", "running") in ("closed", "closing")
        reason = "The client was closed" if closed else "A task was cancelled"
        raise ClusterError(f"{reason} during cross-validation.") from error
    except Exception as error:
        raise ClusterError(f"A worker could not do its task: {describe(error)}") from error
    return answer
