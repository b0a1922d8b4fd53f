"""Checkpoints in files."""

from __future__ import annotations

import os
import tempfile
import warnings
from pathlib import Path


class CheckpointFile:
    """A file that is replaced by every new checkpoint, whole or not at all."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        if not self._path.absolute().parent.is_dir():
            raise ValueError(f"checkpoint={str(path)!r}: there is no folder {str(self._path.absolute().parent)!r}.")
        self._failed = False

    def write(self, data: bytes) -> None:
        """Replace it. Whether that works or not, the search goes on."""
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
        handle, name = tempfile.mkstemp(dir=self._path.absolute().parent, prefix=f".{self._path.name}.", suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, self._path)
        except BaseException:
            os.unlink(name)
            raise
