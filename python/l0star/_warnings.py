"""Warnings that point to the user's line of code."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

_HERE = str(Path(__file__).parent)


class L0starWarning(UserWarning):
    """The data can be fitted, but the model should not be trusted without a second look.

    Reasons are scales that differ by a factor of more than a thousand without ``standardize``, columns that are
    (nearly) equal, constant columns, and a ``k`` that is larger than the data support.
    """


def warn(text: str, category: type[Warning]) -> None:
    """Warn at the line that called the package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level + 1)
