"""One search on several processes: the driver, and the functions that workers run."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import hashlib
import itertools
import os
import pickle
import queue
import tempfile
import threading
import uuid
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, ProcessPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from l0star import _core
from l0star._warnings import warn

if TYPE_CHECKING:
    from l0star._result import Result

#: Seconds that the driver waits for answers before it checks signals and limits.
PATIENCE = 0.05
#: Seconds that the driver waits for the bytes of a finished answer before it turns to others.
TRANSFER = 10.0
#: These are one class from Python 3.11 on.
TIMEOUTS = (TimeoutError, asyncio.TimeoutError, concurrent.futures.TimeoutError)
#: Number of problems that a process keeps, each with its Gram matrix.
_KEPT = 2


class ClusterError(RuntimeError):
    """The workers of a search are no longer usable, or refuse its tasks.

    No work is lost: the error carries the best model so far, which is also in the checkpoint, if there is one.

    Attributes
    ----------
    result : Result
        The best model so far, with its certified gap.
    results : list of Result
        For a path: the results of the finished sizes, and ``result``.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.results: list[Result] = []

    @property
    def result(self) -> Result:
        """The last of ``results``."""
        return self.results[-1]


class VersionMismatch(RuntimeError):
    """A worker has another version of l0star."""


class Future(Protocol):
    """The return value of ``submit``: a future of ``concurrent.futures``, of Dask, or of a similar library."""

    def result(self, timeout: float | None = None) -> Any:
        """Return the result of the call."""

    def add_done_callback(self, fn: Callable[[Any], object]) -> object:
        """Register a function to call when the future is done."""

    def cancel(self) -> object:
        """Cancel the call."""


class Budgets(NamedTuple):
    """Budgets of tasks; a worker always finishes its current node."""

    #: Seconds per task, while there are more open nodes than workers.
    full: float = 4.0
    #: Seconds per task otherwise.
    hungry: float = 0.5
    #: Nodes per task, whatever time they take.
    nodes: int | None = None
    #: The search runs locally until it has this many open nodes per worker.
    ramp: int = 4


_USUAL = Budgets()


@dataclass(frozen=True)
class Place:
    """The place where searches run: a client or an executor, and how many of its workers they use."""

    client: Any
    workers: int | None = None
    budgets: Budgets = _USUAL

    def __post_init__(self) -> None:
        if not callable(getattr(self.client, "submit", None)):
            raise TypeError(
                "client must be a dask.distributed.Client, an executor of concurrent.futures, or another object with a "
                f"method submit; got {self.client!r}."
            )
        if getattr(self.client, "asynchronous", False) is True:
            raise TypeError("client must not be an asynchronous one: make it without asynchronous=True.")
        if self.workers is not None and self.workers < 1:
            raise ValueError(f"workers must be at least 1; got {self.workers!r}.")


_current: ContextVar[Place | None] = ContextVar("l0star_place", default=None)


@contextlib.contextmanager
def on(client: Any, *, workers: int | None = None) -> Iterator[None]:
    """Run every search in this block on the workers of a client.

    This applies to the searches of :func:`solve`, of :func:`sparse_path` and of the estimators' ``fit``, with
    ``method="best-first"``. Easy searches end before there is any work to share and never leave this process.

    Parameters
    ----------
    client : dask.distributed.Client, executor of concurrent.futures, or the like
        Anything with a method ``submit`` that returns a future. Its workers need the same version of l0star.
    workers : int, default=None
        Number of tasks to run at the same time; by default one per worker of the client.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from sklearn.datasets import load_diabetes
    >>> import l0star
    >>> X, y = load_diabetes(return_X_y=True)
    >>> with ThreadPoolExecutor(2) as executor, l0star.on(executor):
    ...     model = l0star.SparseRegressor(k=5).fit(X, y)
    >>> model.status_
    'optimal'
    """
    token = _current.set(Place(client, workers))
    try:
        yield
    finally:
        _current.reset(token)


def place_of(client: Any) -> Place | None:
    """Return the place of a search: its own client, else that of the block; None for this process."""
    if client is None:
        return _current.get()
    return client if isinstance(client, Place) else Place(client)


@dataclass(frozen=True)
class Recipe:
    """The inputs of an engine problem, from which another process can build it."""

    rules: dict[str, Any]
    #: The other arguments of ``_core.Problem``, or of ``_core.Problem.of_moments``.
    arguments: dict[str, Any]
    #: ``X`` and ``y``; None for moments.
    rows: tuple[Any, Any] | None = None
    #: The encoded moments, in place of rows.
    moments: bytes | None = None

    def build(self) -> _core.Problem:
        """Build the problem."""
        rules = _core.Rules(**self.rules)
        if self.moments is not None:
            return _core.Problem.of_moments(_core.Moments.decode(self.moments), rules=rules, **self.arguments)
        if self.rows is None:
            raise ValueError("a recipe needs rows or moments")
        return _core.Problem(*self.rows, rules=rules, **self.arguments)


@dataclass(frozen=True)
class Data:
    """A recipe on its way to a worker: its bytes, or the file that holds them, and their fingerprint."""

    fingerprint: str
    recipe: bytes | None = None
    file: str | None = None

    def load(self) -> Any:
        """Unpack the recipe."""
        recipe = self.recipe
        if recipe is None:
            with open(str(self.file), "rb") as file:
                recipe = file.read()
        return pickle.loads(recipe)

    def build(self) -> _core.Problem:
        """Build the problem of the recipe."""
        recipe: Recipe = self.load()
        return recipe.build()


class _Explorers:
    """The cache of a worker process: the last problems, and their idle explorers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._problems: OrderedDict[str, _core.Problem] = OrderedDict()
        self._free: dict[tuple[str, int, int | None], list[_core.Explorer]] = {}

    @contextlib.contextmanager
    def lend(self, data: Data, threads: int, memory_limit: int | None) -> Iterator[_core.Explorer]:
        """Lend an explorer for one task."""
        key = (data.fingerprint, threads, memory_limit)
        with self._lock:
            # A process builds a problem once, even if several of its threads need it at the same time.
            problem = self._problems.get(data.fingerprint) or data.build()
            self._problems[data.fingerprint] = problem
            self._problems.move_to_end(data.fingerprint)
            while len(self._problems) > _KEPT:
                old, _ = self._problems.popitem(last=False)
                self._free = {kept: own for kept, own in self._free.items() if kept[0] != old}
            free = self._free.setdefault(key, [])
            explorer = free.pop() if free else _core.Explorer(problem, threads=threads, memory_limit=memory_limit)
        yield explorer
        with self._lock:
            if data.fingerprint in self._problems:
                self._free.setdefault(key, []).append(explorer)


_explorers = _Explorers()


def check_version(version: str) -> None:
    """Raise an error if the caller has another version of l0star."""
    if version != _core.VERSION:
        raise VersionMismatch(
            f"a worker has l0star {_core.VERSION}, and this process has {version}. Install the same version on all."
        )


def explore(version: str, data: Data, task: bytes, threads: int, memory_limit: int | None) -> bytes:
    """Explore the subtrees of a task; workers run this pure function."""
    check_version(version)
    with _explorers.lend(data, threads, memory_limit) as explorer:
        return explorer.explore(task)


def hold(data: Data) -> Data:
    """Return the data: a Dask task that any worker can repeat."""
    return data


class Workers:
    """Submitter of the tasks of one search; the engine calls it on the thread that waits for the search."""

    def __init__(self, place: Place, recipe: Recipe, memory_limit: int | None) -> None:
        self._place, self._memory_limit = place, memory_limit
        data = pickle.dumps(recipe, protocol=5)
        fingerprint = hashlib.blake2b(data, digest_size=16).hexdigest()
        self._data = Data(fingerprint, recipe=data)
        #: Pending and finished submissions, keyed by submission number, since a task may be submitted again.
        self._pending: dict[int, tuple[int, Future]] = {}
        self._done: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._count = itertools.count()

    def workers(self) -> int:
        """Return how many tasks can run at the same time; 0 while there are no workers."""
        count = self._worker_count()
        return (self._place.workers or count) if count else 0

    def budgets(self) -> Budgets:
        """Return the budgets of tasks."""
        return self._place.budgets

    def submit(self, task_id: int, task: bytes) -> None:
        """Submit a task."""
        number = next(self._count)
        try:
            future = self._begin(number, task)
        except Exception as error:
            raise ClusterError(f"a task could not be submitted: {describe(error)}") from error
        self._pending[number] = (task_id, future)
        future.add_done_callback(lambda _: self._done.put(number))

    def collect(self) -> list[tuple[int, bytes | None]]:
        """Wait briefly for answers and return them; the answer of a lost task is None."""
        answers: list[tuple[int, bytes | None]] = []
        with contextlib.suppress(queue.Empty):
            number = self._done.get(timeout=PATIENCE)
            while True:
                answers += self._answer(number)
                number = self._done.get_nowait()
        if not answers:
            self._look()
        return answers

    def recall(self) -> None:
        """Cancel pending tasks, since the search continues locally; more may be submitted later."""
        for _, future in self._pending.values():
            with contextlib.suppress(Exception):
                future.cancel()
        self._pending.clear()

    def finish(self, reason: str | None) -> None:
        """End the submissions; raise an error with the reason if the search gave up."""
        self.close()
        if reason is not None:
            raise ClusterError(f"The search on the cluster was given up: {reason}.")

    def close(self) -> None:
        """Cancel pending tasks."""
        self.recall()

    def _answer(self, number: int) -> list[tuple[int, bytes | None]]:
        if number not in self._pending:
            return []
        task_id, future = self._pending.pop(number)
        try:
            answer = future.result(timeout=TRANSFER)
        except (CancelledError, *TIMEOUTS) as error:
            self._look(error)
            return [(task_id, None)]
        except Exception as error:
            if self._is_lost(error):
                return [(task_id, None)]
            raise ClusterError(f"A worker refused its task: {describe(error)}") from error
        return [(task_id, answer)]

    def _worker_count(self) -> int:
        raise NotImplementedError

    def _begin(self, number: int, task: bytes) -> Future:
        raise NotImplementedError

    def _is_lost(self, error: Exception) -> bool:
        """Return whether a task failed because its worker died, so that it can be submitted again."""
        raise NotImplementedError

    def _look(self, error: BaseException | None = None) -> None:
        """Raise an error if tasks can no longer be submitted."""


class _Pool(Workers):
    """The processes or threads of an executor."""

    def __init__(self, place: Place, recipe: Recipe, memory_limit: int | None) -> None:
        super().__init__(place, recipe, memory_limit)
        self._file: str | None = None
        if isinstance(place.client, ProcessPoolExecutor) or "loky" in type(place.client).__module__:
            # Such an executor would copy the data with every task: its processes read a file once instead.
            handle, self._file = tempfile.mkstemp(prefix="l0star-", suffix=".problem")
            with os.fdopen(handle, "wb") as file:
                file.write(self._data.recipe or b"")
            self._data = replace(self._data, recipe=None, file=self._file)

    def close(self) -> None:
        super().close()
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._file)

    def _worker_count(self) -> int:
        count = getattr(self._place.client, "_max_workers", None)
        return count if isinstance(count, int) and count > 0 else os.cpu_count() or 1

    def _begin(self, number: int, task: bytes) -> Future:
        future: Future = self._place.client.submit(explore, _core.VERSION, self._data, task, 1, self._memory_limit)
        return future

    def _is_lost(self, error: Exception) -> bool:
        if isinstance(error, BrokenExecutor):
            raise ClusterError(
                "A worker process died, and the executor cannot be used any more. Resume from the checkpoint with a "
                "new executor; a dask.distributed.Client replaces workers by itself."
            ) from error
        return False


class _Dask(Workers):
    """The workers of a Dask cluster: one task per worker, on all of its threads."""

    def __init__(self, place: Place, recipe: Recipe, memory_limit: int | None) -> None:
        super().__init__(place, recipe, memory_limit)
        self._search = uuid.uuid4().hex[:12]
        self._held: Any = None
        self._threads: dict[str, int] = {}
        #: The worker that each submission was meant for.
        self._homes: dict[int, str | None] = {}
        self._asked = itertools.count()
        self._was_alone = False

    def _worker_count(self) -> int:
        # A round trip to the scheduler: rare enough to cost nothing, frequent enough to notice changes of workers.
        if next(self._asked) % 20 == 0 or not self._threads:
            self._look()
            self._threads = dict(self._place.client.nthreads())
        if not self._threads:
            # A task that waits for a worker makes an adaptive cluster start one, here the task of the data.
            self._problem()
            if not self._was_alone:
                self._was_alone = True
                warn(
                    "The client has no workers now. The search continues in this process, on one thread, "
                    "until there are some.",
                    RuntimeWarning,
                )
        return len(self._threads)

    def _begin(self, number: int, task: bytes) -> Future:
        client = self._place.client
        busy = {self._homes.get(number) for number in self._pending}
        idle = [worker for worker in self._threads if worker not in busy]
        self._homes = {own: home for own, home in self._homes.items() if own in self._pending}
        self._homes[number] = idle[0] if idle else None
        where: dict[str, Any] = {"workers": idle[:1], "allow_other_workers": True} if idle else {}
        future: Future = client.submit(
            explore,
            _core.VERSION,
            self._problem(),
            task,
            self._threads.get(idle[0], 1) if idle else 1,
            self._memory_limit,
            key=f"l0star-explore-{self._search}-{number}",
            pure=False,
            **where,
        )
        return future

    def _problem(self) -> Any:
        """Return the problem as a task that any worker can repeat; scattered data would be lost with their worker."""
        if self._held is None or self._held.status in ("cancelled", "error", "lost"):
            with warnings.catch_warnings():
                # The data are large, but are sent only once.
                warnings.filterwarnings("ignore", message="Sending large graph")
                key = f"l0star-problem-{self._data.fingerprint}-{self._search}-{next(self._count)}"
                self._held = self._place.client.submit(hold, self._data, key=key, pure=False)
        return self._held

    def close(self) -> None:
        super().close()
        if self._held is not None:
            with contextlib.suppress(Exception):
                self._held.release()

    def _is_lost(self, error: Exception) -> bool:
        # The client has already imported distributed; l0star does not need it otherwise.
        from distributed import KilledWorker

        self._look(error)
        # A broken connection is an OSError. Tasks of Dask open no files, so nothing else raises one.
        return isinstance(error, (KilledWorker, OSError))

    def _look(self, error: BaseException | None = None) -> None:
        status = getattr(self._place.client, "status", "running")
        if status in ("closed", "closing"):
            raise ClusterError("The client was closed while a search ran on its workers.") from error


@contextlib.contextmanager
def workers(place: Place | None, recipe: Recipe | None, memory_limit: int | None) -> Iterator[Workers | None]:
    """Yield the submitter of the tasks of one search, and clean up afterwards."""
    if place is None or recipe is None:
        yield None
        return
    is_dask = not isinstance(place.client, Executor) and hasattr(place.client, "nthreads")
    made = (_Dask if is_dask else _Pool)(place, recipe, memory_limit)
    try:
        yield made
    finally:
        made.close()


def describe(error: BaseException) -> str:
    """Describe why a task failed."""
    if isinstance(error, VersionMismatch):
        return str(error)
    kind = type(error).__name__
    hint = ""
    if isinstance(error, ImportError) or "deserialization" in str(error):
        hint = f" Every worker needs l0star {_core.VERSION}."
    return f"{kind}: {error}{hint}"
