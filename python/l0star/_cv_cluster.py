"""Cross-validation on the workers of a Dask cluster: one task per penalty and fold."""

from __future__ import annotations

import contextlib
import hashlib
import queue
import threading
import uuid
import warnings
from collections import OrderedDict
from concurrent.futures import CancelledError
from typing import Any

from joblib.parallel import get_active_backend

from l0star import _core
from l0star._cluster import PATIENCE, TIMEOUTS, TRANSFER, ClusterError, Data, check_version, describe, hold
from l0star._progress import Listener, cancellation
from l0star._scoring import Heard, Scoring
from l0star._solve import Clock
from l0star._warnings import warn

#: Number of data sets that a process keeps for its next tasks.
_KEPT = 2

#: Outcome of the search of every size (None if there is none), and the features of the models.
Answer = tuple[list[tuple[float, str, int, tuple[float, float] | None] | None], list[tuple[int, list[str]]]]


def active_client() -> Any:
    """Return the client of joblib's Dask backend if that is the active one; None otherwise, and on a worker."""
    backend, _ = get_active_backend()
    client = getattr(backend, "client", None)
    is_cluster = client is not None and hasattr(client, "nthreads")
    return client if is_cluster and cancellation() is None else None


class _Scorings:
    """The cache of unpacked data that a process keeps from task to task."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Scoring] = OrderedDict()

    def of(self, data: Data) -> Scoring:
        """Return the unpacked data, which are unpacked once for all tasks."""
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
    """Score the models of all sizes on one fold, with one penalty, on a worker."""
    check_version(version)
    is_cancelled = cancellation()

    def listener(*_: Any) -> bool:
        return is_cancelled is not None and is_cancelled()

    return _score(_scorings.of(data), path, time_limit, n_jobs, listener)


def _score(
    scoring: Scoring, path: int, time_limit: float | None, n_jobs: int | None, listener: Listener | None
) -> Answer:
    ridge, l0_penalty = scoring.penalties[path // len(scoring.folds)]
    scores = _core.Tally(scoring.ks, [ridge], [l0_penalty], 1)
    features: list[tuple[int, list[str]]] = []
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
    """Enter the scores of all paths, each searched by a worker, or by this process while there are no workers.

    When the call ends, for whatever reason, the remaining tasks are cancelled and their searches stop.
    """
    clock = Clock(time_limit)
    with contextlib.closing(_Tasks(client, scoring, time_limit)) as tasks:
        # Paths without an answer at the end of the time are cut off, as with any time limit.
        while tasks.are_left and clock.left() != 0.0:
            path = tasks.next()
            answer = None if path is None else tasks.answer(path)
            if path is None or answer is None:
                if not tasks.is_alone():
                    continue
                path = tasks.take_back()
                answer = _score(scoring, path, clock.left(), scoring.model.n_jobs, None)
            cells, features = answer
            penalty, fold = divmod(path, len(scoring.folds))
            for size, cell in enumerate(cells):
                if cell is not None:
                    scores.enter(penalty, size, fold, *cell)
            for k, names in features:
                heard(path, k, names)


class _Tasks:
    """The submitted paths: one task per path.

    The data are a task that any worker can repeat, and are sent to each worker once.
    """

    def __init__(self, client: Any, scoring: Scoring, time_limit: float | None) -> None:
        from cloudpickle import dumps

        self._client = client
        packed = dumps(scoring)
        name = f"l0star-cv-{uuid.uuid4().hex[:12]}"
        data = Data(hashlib.blake2b(packed, digest_size=16).hexdigest(), recipe=packed)
        with warnings.catch_warnings():
            # The data are large, but are sent only once.
            warnings.filterwarnings("ignore", message="Sending large graph")
            self._held = client.submit(hold, data, key=f"{name}-data", pure=False)
        n_jobs = scoring.model.n_jobs
        self._pending = {
            path: client.submit(
                score_path, _core.VERSION, self._held, path, time_limit, n_jobs, key=f"{name}-{path}", pure=False
            )
            for path in range(scoring.n_paths)
        }
        self._done: queue.SimpleQueue[int] = queue.SimpleQueue()
        #: Number of idle waits since the last answer.
        self._idle = 0
        self._was_alone = False
        for path in self._pending:
            self._listen(path)

    @property
    def are_left(self) -> bool:
        """Whether a path has no answer yet."""
        return bool(self._pending)

    def next(self) -> int | None:
        """Wait briefly for a finished path; None if there is none."""
        try:
            path = self._done.get(timeout=PATIENCE)
        except queue.Empty:
            return None
        return path if path in self._pending else None

    def answer(self, path: int) -> Answer | None:
        """Return the answer of a worker; None if the worker left with its answer, which another then computes again."""
        try:
            answer: Answer = self._pending[path].result(timeout=TRANSFER)
        except CancelledError as error:
            self._look(error)
            raise ClusterError("A task was cancelled during cross-validation.") from error
        except TIMEOUTS:
            self._listen(path)
            return None
        except Exception as error:
            self._look(error)
            raise ClusterError(f"A worker could not do its task: {describe(error)}") from error
        del self._pending[path]
        self._idle = 0
        return answer

    def is_alone(self) -> bool:
        """Return whether the client has no workers; warn the first time."""
        self._look()
        # A round trip to the scheduler: rare enough to cost nothing, frequent enough to notice changes of workers.
        self._idle += 1
        if self._idle % 20 != 1 or self._client.nthreads():
            return False
        if not self._was_alone:
            self._was_alone = True
            warn(
                "The client has no workers now. Cross-validation continues in this process until there are some.",
                RuntimeWarning,
            )
        return True

    def take_back(self) -> int:
        """Withdraw and return the path that workers would have reached last."""
        path, future = self._pending.popitem()
        self._idle = 0
        with contextlib.suppress(Exception):
            self._client.cancel([future])
        return path

    def close(self) -> None:
        """Cancel all pending tasks."""
        with contextlib.suppress(Exception):
            self._client.cancel([*self._pending.values(), self._held])

    def _listen(self, path: int) -> None:
        self._look()
        self._pending[path].add_done_callback(lambda _: self._done.put(path))

    def _look(self, error: BaseException | None = None) -> None:
        if getattr(self._client, "status", "running") in ("closed", "closing"):
            raise ClusterError("The client was closed during cross-validation.") from error
