"""Checkpoint files."""

from __future__ import annotations

import contextlib
import glob
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from l0star._core import CheckpointError, Lock
from l0star._options import Options


class Checkpoints:
    """The checkpoint that a search or a path resumes from, and the file that further ones are written to.

    Attributes
    ----------
    resume : bytes or None
        The checkpoint to resume from.
    save : callable or None
        Called with every further checkpoint; None if there is no file.
    every : float
        Seconds between two checkpoints.
    """

    def __init__(self, options: Options) -> None:
        self._source = options.resume
        self.resume = None if options.resume is None else Path(options.resume).read_bytes()
        path = options.checkpoint if options.checkpoint is not None else options.resume
        self._file = None if path is None else CheckpointFile(path)
        self.save: Callable[[bytes], None] | None = None if self._file is None else self._file.write
        self.every = float(options.checkpoint_every)

    @property
    def last(self) -> bytes | None:
        """The last checkpoint that was saved."""
        return None if self._file is None else self._file.last

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Lock the file against other runs, and name it in errors about its contents."""
        lock = None if self._file is None else self._file.lock()
        try:
            yield
        except CheckpointError as error:
            raise ValueError(f"resume={str(self._source)!r}: {error}") from None
        finally:
            if lock is not None:
                lock.release()


class CheckpointFile:
    """A file that is replaced by every new checkpoint, whole or not at all."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        if not self._path.absolute().parent.is_dir():
            raise ValueError(f"checkpoint={str(path)!r}: there is no folder {str(self._path.absolute().parent)!r}.")
        self._failed = False
        self.last: bytes | None = None

    def lock(self) -> Lock:
        """Lock the file; raise an error if another run is using it."""
        lock = Lock(self._path)
        # A process that was killed during a write leaves a temporary file next to the checkpoint.
        for leftover in self._path.absolute().parent.glob(f".{glob.escape(self._path.name)}.*.tmp"):
            with contextlib.suppress(OSError):
                leftover.unlink()
        return lock

    def write(self, data: bytes) -> None:
        """Replace the file; if that fails, warn once and let the search continue."""
        self.last = data
        try:
            self._replace(data)
        except OSError as error:
            if not self._failed:
                self._failed = True
                warnings.warn(
                    f"The checkpoint was not written, and the search goes on without it: {error}",
                    RuntimeWarning,
                    stacklevel=2,
                )

    def _replace(self, data: bytes) -> None:
        beside = self._path.absolute().with_name(f".{self._path.name}.{os.getpid()}.tmp")
        try:
            with beside.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self._path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
