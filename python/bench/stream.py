"""Streaming sums over rows: time and memory of ``l0star fit`` on a Parquet file, compared with DuckDB and polars.

    cargo build --release --all-features
    python python/bench/stream.py target/release/l0star                  # 10,000,000 x 50
    python python/bench/stream.py target/release/l0star --rows 100000    # seconds
    python python/bench/stream.py target/release/l0star --repeat 20      # and the same file 20 times over

Every program runs in a separate process. The file is written in groups of rows and removed afterwards.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

#: Number of rows in a group.
GROUP = 100_000

SUMS = {
    "duckdb": "import duckdb; duckdb.sql(\"SELECT sum(COLUMNS(*)) FROM '{file}'\").fetchall()",
    "polars": "import polars; polars.scan_parquet('{file}').sum().collect(engine='streaming')",
}


def write(file: Path, rows: int, columns: int) -> None:
    """Write random rows with a response of three columns, some of them far from zero."""
    rng = np.random.default_rng(1)
    names = [*(f"x{j + 1}" for j in range(columns)), "y"]
    with pq.ParquetWriter(file, pa.schema([(name, pa.float64()) for name in names])) as writer:
        for start in range(0, rows, GROUP):
            count = min(GROUP, rows - start)
            X = rng.normal(size=(columns, count))
            X[1] += 1e6
            y = X[0] - 2 * X[1] + 0.5 * X[4] + rng.normal(size=count)
            writer.write_table(pa.table([*map(pa.array, X), pa.array(y)], names=names))


def run(name: str, command: list[str], rows: int) -> str:
    """Run a command, and print its time and peak memory."""
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        raise SystemExit(f"{name}: exit code {done.returncode}\n{done.stderr}")
    # This is the maximum over all children so far, so programs run in ascending order of memory.
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    print(
        f"{name:24} {seconds:8.2f} s  {rows / seconds / 1e6:8.2f} million rows/s  at most {most / 1e6:6.0f} MB",
        flush=True,
    )
    return done.stdout


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="the command l0star")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--file", type=Path, help="keep the rows in this file, and use what is there")
    parser.add_argument("--repeat", type=int, default=0, help="sum the file so many times in one command, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = options.file or Path(folder) / "rows.parquet"
        if not file.exists():
            write(file, options.rows, options.columns)
        size, load = file.stat().st_size / 1e6, os.getloadavg()[0]
        print(f"{options.rows} x {options.columns}: {size:.0f} MB of Parquet, {os.cpu_count()} cores, load {load:.1f}")
        fit = [options.binary, "fit", str(file), "--target", "y", "-k", "3", "--json", "--available-memory", "1MB"]
        print(run("l0star fit, in a stream", fit, options.rows)[:200])
        if options.repeat:
            out = str(Path(folder) / "rows.l0m")
            again = [options.binary, "moments", *[str(file)] * options.repeat, "--target", "y", "--out", out, "--json"]
            print(run(f"l0star moments, {options.repeat} times", again, options.repeat * options.rows)[:200])
        for name, code in SUMS.items():
            run(f"{name}, column sums", [sys.executable, "-c", code.format(file=file)], options.rows)


if __name__ == "__main__":
    main()
