"""Checkpoints in files."""

from __future__ import annotations

import contextlib
import glob
import os
import warnings
from pathlib import Path


class CheckpointFile:
    """A file that is replaced by every new checkpoint, whole or not at all."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        if not self._path.absolute().parent.is_dir():
            raise ValueError(f"checkpoint={str(path)!r}: there is no folder {str(self._path.absolute().parent)!r}.")
        self._failed = False
        self.last: bytes | None = None
        # A process that was killed while it wrote leaves a temporary file beside the checkpoint.
        for leftover in self._path.absolute().parent.glob(f".{glob.escape(self._path.name)}.*.tmp"):
            with contextlib.suppress(OSError):
                leftover.unlink()

    def write(self, data: bytes) -> None:
        """Replace it. Whether that works or not, the search goes on."""
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
