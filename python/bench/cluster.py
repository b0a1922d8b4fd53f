"""One search on a local Dask cluster: its overhead, the cost of kills, and how many workers the driver can feed.

    python python/bench/cluster.py                  # two workers, with and without kills; a few minutes
    python python/bench/cluster.py --small          # seconds
    python python/bench/cluster.py --simulate FILE  # 16 to 1024 workers, from task lengths that --record FILE wrote

The first two modes compare two threads in one process with two single-threaded worker processes. The simulation
replays recorded tasks (seconds, bytes) on a driver that needs a fixed time per task, measured by --record, and a fixed
time per byte, given by --bandwidth.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import random
import signal
import statistics
import threading
import time
from pathlib import Path
from typing import Any, ClassVar

import dask
import numpy as np
from distributed import Client, LocalCluster

import l0star
from l0star import _cluster


def instance(rows: int, columns: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return similar columns and a noisy response, which are hard to prove."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 1)) + rng.normal(size=(rows, columns))
    return X, X[:, :8].sum(axis=1) + 6 * rng.normal(size=rows)


class Recorder(_cluster._Dask):
    """Records how long tasks take, how large they are, and how long the driver takes in between."""

    log: ClassVar[list[dict[str, float]]] = []

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._begun: dict[int, tuple[float, int]] = {}
        self._taken: tuple[float, int] = (0.0, 0)

    def submit(self, task_id: int, task: bytes) -> None:
        """Submit a task."""
        self._begun[task_id] = (time.perf_counter(), len(task))
        super().submit(task_id, task)

    def collect(self) -> list[tuple[int, bytes | None]]:
        """Wait briefly for answers."""
        since, count = self._taken
        if count:
            # The time since the last answers: merging them, and submitting further tasks.
            self.log.append({"driver": (time.perf_counter() - since) / count})
        answers = super().collect()
        now = time.perf_counter()
        self._taken = (now, len(answers))
        for task_id, answer in answers:
            start, size = self._begun.get(task_id, (now, 0))
            self.log.append({"seconds": now - start, "bytes": size + len(answer or b"")})
        return answers


def kill_workers(client: Client, every: float, stop: threading.Event, killed: list[int]) -> None:
    """Kill a random worker at random intervals."""
    while not stop.wait(every * random.uniform(0.5, 1.5)):
        try:
            pids = list(client.run(os.getpid, on_error="ignore").values())
            os.kill(random.choice(pids), signal.SIGKILL)
            killed.append(1)
        except (OSError, IndexError, RuntimeError, TypeError, ValueError):
            continue


def compare(options: argparse.Namespace) -> None:
    """Compare two threads, two workers, and two workers with kills."""
    rows, columns, k = (60, 45, 9) if options.small else (options.rows, options.columns, options.k)
    X, y = instance(rows, columns, options.seed)
    arguments: dict[str, Any] = {"ridge": options.ridge, "time_limit": options.time_limit}

    def timed(name: str, **more: Any) -> float:
        start = time.perf_counter()
        result = l0star.solve(X, y, k, **arguments, **more)
        seconds = time.perf_counter() - start
        print(f"{name:32} {seconds:8.1f} s  {result.status}  {result.objective:.12g}  {result.nodes} nodes", flush=True)
        return seconds

    threads = timed("two threads, one process", n_jobs=2)
    # A local cluster closes a worker for good if it is down this long after it died. With a kill every few seconds, the
    # worker may just have been killed again.
    dask.config.set({"distributed.deploy.lost-worker-timeout": "1 day"})
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        workers = timed("two workers", client=client)
        print(f"{'efficiency':32} {threads / workers:8.2f}")
        stop, killed = threading.Event(), []
        killer = threading.Thread(target=kill_workers, args=(client, options.kill_every, stop, killed))
        killer.start()
        timed("two workers, killed at random", client=client)
        stop.set()
        killer.join()
        print(f"{'kills':32} {len(killed):8}")
        if options.record:
            usual, _cluster._Dask = _cluster._Dask, Recorder  # type: ignore[misc]
            timed("two workers, recorded", client=client)
            _cluster._Dask = usual  # type: ignore[misc]
            Path(options.record).write_text(json.dumps(Recorder.log))


def simulate(options: argparse.Namespace) -> None:
    """Replay recorded tasks on a driver that handles one answer at a time."""
    log = json.loads(Path(options.simulate).read_text())
    tasks = [entry for entry in log if "seconds" in entry]
    driver_times = [entry["driver"] for entry in log if "driver" in entry]
    lengths = [entry["seconds"] for entry in tasks]
    sizes = [entry["bytes"] for entry in tasks]
    per_task = statistics.mean(driver_times)
    per_byte = 1 / options.bandwidth
    print(f"{len(tasks)} tasks, median {statistics.median(lengths):.2f} s and {statistics.median(sizes):.0f} bytes")
    print(f"the driver needs {1e3 * per_task:.2f} ms per task, and {options.bandwidth / 1e6:.0f} MB/s")
    rng = random.Random(1)
    for workers in (16, 64, 256, 1024):
        # Each worker gets a new task as soon as the driver has processed its answer and sent the next task.
        ends = [(0.0, at) for at in range(workers)]
        heapq.heapify(ends)
        driver = busy = 0.0
        horizon = 60.0
        while ends[0][0] < horizon:
            end, worker = heapq.heappop(ends)
            at = rng.randrange(len(tasks))
            driver = max(driver, end) + per_task + sizes[at] * per_byte
            busy += lengths[at]
            heapq.heappush(ends, (driver + lengths[at], worker))
        print(f"{workers:6} workers: {min(busy / (workers * horizon), 1.0):5.2f} of the time busy")


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--rows", type=int, default=80)
    parser.add_argument("--columns", type=int, default=70)
    parser.add_argument("-k", type=int, default=12)
    parser.add_argument("--ridge", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--time-limit", type=float, default=900.0)
    parser.add_argument("--kill-every", type=float, default=5.0)
    parser.add_argument("--record", help="write the lengths and sizes of tasks to this file")
    parser.add_argument("--simulate", help="simulate the driver from such a file")
    parser.add_argument("--bandwidth", type=float, default=100e6, help="bytes per second")
    options = parser.parse_args()
    if options.simulate:
        simulate(options)
    else:
        compare(options)


if __name__ == "__main__":
    main()
