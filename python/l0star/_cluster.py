"""One search on several processes: the driver's end, and what workers run."""

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

#: How long the driver waits for answers before it looks at signals and limits.
PATIENCE = 0.05
#: How long it waits for the bytes of an answer that is there; then it looks elsewhere first.
TRANSFER = 10.0
#: One and the same from Python 3.11 on.
TIMEOUTS = (TimeoutError, asyncio.TimeoutError, concurrent.futures.TimeoutError)
#: Problems that a process keeps, each with its Gram matrix.
_KEPT = 2


class ClusterError(RuntimeError):
    """The workers of a search cannot be used any more, or refuse its tasks.

    Nothing that was done is lost: the best model so far is here, and in the checkpoint, if there is one.

    Attributes
    ----------
    result : Result
        The best model so far, with its certified gap.
    results : list of Result
        Of a path: those that are finished, and ``result``.
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
    """What ``submit`` returns: a future of ``concurrent.futures``, of Dask, or of the same kind."""

    def result(self, timeout: float | None = None) -> Any:
        """Give what the call returned."""

    def add_done_callback(self, fn: Callable[[Any], object]) -> object:
        """Call back when it is done."""

    def cancel(self) -> object:
        """Make no more of it."""


class Budgets(NamedTuple):
    """How long tasks take; the node at hand is always finished."""

    #: Seconds, while there are more open nodes than workers.
    full: float = 4.0
    #: Seconds, while there are not.
    hungry: float = 0.5
    #: Nodes, whatever time they take.
    nodes: int | None = None
    #: The search goes on by itself until it has so many open nodes for each worker.
    ramp: int = 4


_USUAL = Budgets()


@dataclass(frozen=True)
class Place:
    """Where searches run: a client or an executor, and how many of its workers they use."""

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
    """Let every search in this block run on the workers of a client.

    Searches are those of :func:`solve`, of :func:`sparse_path` and of the estimators' ``fit``, with
    ``method="best-first"``. Easy ones end before there is anything to share and never leave this process.

    Parameters
    ----------
    client : dask.distributed.Client, executor of concurrent.futures, or the like
        Anything with a method ``submit`` that returns a future. Its workers need the same version of l0star.
    workers : int, default=None
        How many tasks to run at the same time; by default one for each worker that the client has.

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
    """Give where a search runs: on a client that was given to it, or on that of the block; None: in this process."""
    if client is None:
        return _current.get()
    return client if isinstance(client, Place) else Place(client)


@dataclass(frozen=True)
class Recipe:
    """What a problem of the engine is made of, for a process that does not have it."""

    rules: dict[str, Any]
    #: The other arguments of ``_core.Problem``, or of ``_core.Problem.of_moments``.
    arguments: dict[str, Any]
    #: ``X`` and ``y``, or nothing.
    rows: tuple[Any, Any] | None = None
    #: The bytes of moments in their place.
    moments: bytes | None = None

    def build(self) -> _core.Problem:
        """Make it."""
        rules = _core.Rules(**self.rules)
        if self.moments is not None:
            return _core.Problem.of_moments(_core.Moments.decode(self.moments), rules=rules, **self.arguments)
        if self.rows is None:
            raise ValueError("a recipe needs rows or moments")
        return _core.Problem(*self.rows, rules=rules, **self.arguments)


@dataclass(frozen=True)
class Data:
    """A recipe on its way to a worker: its bytes, or the file that has them, and their fingerprint."""

    fingerprint: str
    recipe: bytes | None = None
    file: str | None = None

    def load(self) -> Any:
        """Unpack what it holds."""
        recipe = self.recipe
        if recipe is None:
            with open(str(self.file), "rb") as file:
                recipe = file.read()
        return pickle.loads(recipe)

    def build(self) -> _core.Problem:
        """Make the problem."""
        recipe: Recipe = self.load()
        return recipe.build()


class _Explorers:
    """What a process keeps from task to task: the last problems, and explorers of them that nobody uses."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._problems: OrderedDict[str, _core.Problem] = OrderedDict()
        self._free: dict[tuple[str, int, int | None], list[_core.Explorer]] = {}

    @contextlib.contextmanager
    def lend(self, data: Data, threads: int, memory_limit: int | None) -> Iterator[_core.Explorer]:
        """Give an explorer for one task."""
        key = (data.fingerprint, threads, memory_limit)
        with self._lock:
            # A process gets its problem once, however many of its threads ask at the same time.
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
    """Refuse to work for a process with another version."""
    if version != _core.VERSION:
        raise VersionMismatch(
            f"a worker has l0star {_core.VERSION}, and this process has {version}. Install the same version on all."
        )


def explore(version: str, data: Data, task: bytes, threads: int, memory_limit: int | None) -> bytes:
    """Explore the subtrees of a task: a pure function, run by workers."""
    check_version(version)
    with _explorers.lend(data, threads, memory_limit) as explorer:
        return explorer.explore(task)


def hold(data: Data) -> Data:
    """Give the data: a task of Dask that any worker can do again."""
    return data


class Workers:
    """Submits the tasks of one search; the engine calls it on the thread that waits for the search."""

    def __init__(self, place: Place, recipe: Recipe, memory_limit: int | None) -> None:
        self._place, self._memory_limit = place, memory_limit
        data = pickle.dumps(recipe, protocol=5)
        fingerprint = hashlib.blake2b(data, digest_size=16).hexdigest()
        self._data = Data(fingerprint, recipe=data)
        #: Those that are not over, and what is over: by the number of the submission, since tasks are submitted again.
        self._pending: dict[int, tuple[int, Future]] = {}
        self._done: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._count = itertools.count()

    def workers(self) -> int:
        """Give how many tasks run at the same time; 0 while there is nobody to run them."""
        count = self._worker_count()
        return (self._place.workers or count) if count else 0

    def budgets(self) -> Budgets:
        """Give how long tasks take."""
        return self._place.budgets

    def submit(self, task_id: int, task: bytes) -> None:
        """Begin a task."""
        number = next(self._count)
        try:
            future = self._begin(number, task)
        except Exception as error:
            raise ClusterError(f"a task could not be submitted: {describe(error)}") from error
        self._pending[number] = (task_id, future)
        future.add_done_callback(lambda _: self._done.put(number))

    def collect(self) -> list[tuple[int, bytes | None]]:
        """Wait a moment for answers; None for a task that was lost."""
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
        """Cancel what is not over: the search has gone on by itself. More may be submitted later."""
        for _, future in self._pending.values():
            with contextlib.suppress(Exception):
                future.cancel()
        self._pending.clear()

    def finish(self, reason: str | None) -> None:
        """Need no more answers; raise why the search gave up, if it did."""
        self.close()
        if reason is not None:
            raise ClusterError(f"The search on the cluster was given up: {reason}.")

    def close(self) -> None:
        """Cancel what is not over."""
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
        """Whether a task failed because its worker died, and can be submitted again."""
        raise NotImplementedError

    def _look(self, error: BaseException | None = None) -> None:
        """Raise, if nothing can be submitted any more."""


class _Pool(Workers):
    """The processes or threads of an executor."""

    def __init__(self, place: Place, recipe: Recipe, memory_limit: int | None) -> None:
        super().__init__(place, recipe, memory_limit)
        self._file: str | None = None
        if isinstance(place.client, ProcessPoolExecutor) or "loky" in type(place.client).__module__:
            # What is given to such an executor is copied with every task: its processes read a file once instead.
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
    """The workers of a Dask cluster: one task for each, on all its threads."""

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
        # A round trip to the scheduler: seldom enough to cost nothing, often enough to see workers come and go.
        if next(self._asked) % 20 == 0 or not self._threads:
            self._look()
            self._threads = dict(self._place.client.nthreads())
        if not self._threads:
            # A task that waits for a worker makes an adaptive cluster start one.
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
        """Give the problem as a task that any worker can do again; what is scattered would be lost with its worker."""
        if self._held is None or self._held.status in ("cancelled", "error", "lost"):
            with warnings.catch_warnings():
                # The data are large, and sent once.
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
        # Imported by the client already; l0star does not need it otherwise.
        from distributed import KilledWorker

        self._look(error)
        # A connection that breaks is an OSError, and tasks open no files.
        return isinstance(error, (KilledWorker, OSError))

    def _look(self, error: BaseException | None = None) -> None:
        status = getattr(self._place.client, "status", "running")
        if status in ("closed", "closing"):
            raise ClusterError("The client was closed while a search ran on its workers.") from error


@contextlib.contextmanager
def workers(place: Place | None, recipe: Recipe | None, memory_limit: int | None) -> Iterator[Workers | None]:
    """Give what submits the tasks of one search; nothing is left behind."""
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
    """Say what happened to a task."""
    if isinstance(error, VersionMismatch):
        return str(error)
    kind = type(error).__name__
    hint = ""
    if isinstance(error, ImportError) or "deserialization" in str(error):
        hint = f" Every worker needs l0star {_core.VERSION}."
    return f"{kind}: {error}{hint}"
