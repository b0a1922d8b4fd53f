"""Constraints on models: the parameters about features, with names and labels resolved to columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from l0star import _core
from l0star._input import Data, Words, column, columns
from l0star._options import Options


def rules(options: Options, names: list[str], texts: Sequence[tuple[str, list[int]]] = ()) -> _core.Rules:
    """Return the constraints that the options put on the features of one data set, some of them text columns."""
    return _core.Rules(**arguments(options, names, texts))


def arguments(options: Options, names: list[str], texts: Sequence[tuple[str, list[int]]] = ()) -> dict[str, Any]:
    """Return the arguments of :class:`_core.Rules`."""
    words = Words(names, dict(texts))
    signs = _signs(options.nonnegative, words)
    has_all_signs = len(signs) == len(names)
    most = options.assume_max_coefficient
    return {
        "names": names,
        "texts": list(texts),
        "include": columns(options.include, words, "include"),
        "include_free": columns(options.include_free, words, "include_free"),
        "exclude": columns(options.exclude, words, "exclude"),
        "all_nonnegative": has_all_signs,
        "nonnegative": [] if has_all_signs else signs,
        "bounds": _bounds(options.bounds, words),
        "groups": _groups(options.groups, words),
        "ridge_factors": [
            (j, _number(factor, f"ridge_factor[{key!r}]"))
            for key, j, factor in _entries(options.ridge_factor, words, "ridge_factor")
        ],
        "requires": [
            (j, columns(parents, words, "requires")) for _, j, parents in _entries(options.requires, words, "requires")
        ],
        "l0_penalty": float(options.l0_penalty),
        "l0_factors": [
            (j, _number(factor, f"l0_factor[{key!r}]"))
            for key, j, factor in _entries(options.l0_factor, words, "l0_factor")
        ],
        "assume_max_coefficient": None if most is None else float(most),
    }


def arguments_of(options: Options, data: Data) -> dict[str, Any]:
    """Return the arguments for a data set, which may have been made from a frame with text."""
    prepared = data.prepared
    if data.moments is not None:
        return arguments(options, data.names, data.moments.texts)
    if prepared is None:
        return arguments(options, data.names)
    left = replace(options, exclude=prepared.left(options.exclude))
    return arguments(left, data.names, prepared.texts)


def rules_of(options: Options, data: Data) -> _core.Rules:
    """Return the constraints on the features of a data set."""
    return _core.Rules(**arguments_of(options, data))


def _groups(groups: Any, names: Words) -> list[list[int]]:
    if groups is None:
        return []
    if isinstance(groups, (str, Mapping)) or not isinstance(groups, Iterable):
        raise TypeError(f"groups takes a list of lists, or one label for each column; got {groups!r}.")
    parts = groups.tolist() if isinstance(groups, np.ndarray) else list(groups)
    if not parts or any(isinstance(part, Iterable) and not isinstance(part, str) for part in parts):
        return [columns(part, names, "groups") for part in parts]
    if len(parts) != len(names):
        raise ValueError(
            f"groups has {len(parts)} labels, but X has {len(names)} features: give one for each, or lists of columns."
        )
    labelled: dict[Any, list[int]] = {}
    for j, label in enumerate(parts):
        # Only NaN is not equal to itself.
        if label is not None and label == label:
            labelled.setdefault(label, []).append(j)
    return list(labelled.values())


def _bounds(bounds: Any, names: Words) -> list[tuple[int, float, float]]:
    found = []
    for key, j, pair in _entries(bounds, names, "bounds"):
        if isinstance(pair, str) or not isinstance(pair, Iterable) or len(pair := list(pair)) != 2:
            raise ValueError(f"bounds[{key!r}] must be a pair (lower, upper). Got {pair!r} instead.")
        lower, upper = (
            _number(given, f"bounds[{key!r}]") if given is not None else none
            for given, none in zip(pair, (-np.inf, np.inf), strict=True)
        )
        found.append((j, lower, upper))
    return found


def _signs(nonnegative: Any, names: Words) -> list[int]:
    if nonnegative is None or isinstance(nonnegative, (bool, np.bool_)):
        nonnegative = range(len(names)) if nonnegative else []
    return columns(nonnegative, names, "nonnegative")


def _entries(given: Any, names: Words, parameter: str) -> list[tuple[Any, int, Any]]:
    """Return key, column and value for each entry of a dict by name or index."""
    if given is None:
        return []
    if not isinstance(given, Mapping):
        raise TypeError(f"{parameter} takes a dict, from names or indices of features; got {given!r}.")
    entries = [(key, j, value) for key, value in given.items() for j in column(key, names, parameter)]
    if len({j for _, j, _ in entries}) < len(entries):
        raise ValueError(f"{parameter} has the same feature twice, by name and by index.")
    return entries


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (Real, Integral)):
        raise ValueError(f"{what} must be a number. Got {value!r} instead.")
    return float(value)
