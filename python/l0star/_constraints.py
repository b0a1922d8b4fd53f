"""What a model may look like, from names and labels to indices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from l0star._input import column, columns
from l0star._options import Options
from l0star._report import finite


@dataclass(frozen=True)
class Constraints:
    """Constraints on the features of one data set, by index; the engine checks whether they go together."""

    include: list[int]
    include_free: list[int]
    exclude: list[int]
    groups: list[list[int]]
    bounds: list[tuple[int, float, float]]
    ridge_factors: list[tuple[int, float]]
    requires: list[tuple[int, list[int]]]
    n_columns: int
    #: The same in the words of the command's model files; empty when nothing is asked for.
    words: dict[str, Any]

    @classmethod
    def read(cls, options: Options, names: list[str]) -> Constraints:
        """Look up what the options name."""
        bounds, signs = _bounds(options.bounds, names), _signs(options.nonnegative, names)
        found = cls(
            include=columns(options.include, names, "include"),
            include_free=columns(options.include_free, names, "include_free"),
            exclude=columns(options.exclude, names, "exclude"),
            groups=_groups(options.groups, names),
            bounds=[*bounds, *signs],
            ridge_factors=[
                (j, _number(factor, f"ridge_factor[{key!r}]"))
                for key, j, factor in _entries(options.ridge_factor, names, "ridge_factor")
            ],
            requires=[
                (j, columns(parents, names, "requires"))
                for _, j, parents in _entries(options.requires, names, "requires")
            ],
            n_columns=len(names),
            words={},
        )
        found.words.update(found._words(names, bounds, [j for j, _, _ in signs]))
        return found

    def _words(self, names: list[str], bounds: list[tuple[int, float, float]], signs: list[int]) -> dict[str, Any]:
        def named(some: Iterable[int]) -> list[str]:
            return [names[j] for j in some]

        groups = [[j for j in group if j not in self.exclude] for group in self.groups]
        has_all_signs = len(signs) == len(names)
        words = {
            "include": named(self.include),
            "include_free": named(self.include_free),
            "all_nonnegative": has_all_signs,
            "nonnegative": [] if has_all_signs else named(signs),
            "bounds": [
                {"feature": names[j], "lower": finite(lower), "upper": finite(upper)} for j, lower, upper in bounds
            ],
            "groups": [{"name": names[group[0]], "columns": named(group)} for group in groups if group],
            "ridge_factors": {names[j]: factor for j, factor in self.ridge_factors},
            "requires": [{"feature": names[j], "needs": named(parents)} for j, parents in self.requires],
        }
        return {key: value for key, value in words.items() if value}

    @property
    def n_included(self) -> int:
        """How many features are in every model and counted in k."""
        chosen = self._closed({*self.include, *self.include_free}, self.requires)
        return len(chosen - self._features(self.include_free))

    @property
    def n_features(self) -> int:
        """How many features k counts at most: columns, or groups of them."""
        out = self._closed(self.exclude, [(parent, [child]) for child, parents in self.requires for parent in parents])
        return len(self._features(range(self.n_columns)) - self._features(self.include_free) - out)

    def _features(self, chosen: Iterable[int]) -> set[int]:
        """Find the features of some columns; a group goes by one of its columns, one that is excluded by itself."""
        of = {j: min(set(group) - set(self.exclude)) for group in self.groups for j in set(group) - set(self.exclude)}
        return {of.get(j, j) for j in chosen}

    def _closed(self, chosen: Iterable[int], brings: list[tuple[int, list[int]]]) -> set[int]:
        """Find the features of some columns, with all that they bring."""
        features = self._features(chosen)
        for _ in brings:
            for one, others in brings:
                if self._features([one]) <= features:
                    features |= self._features(others)
        return features


def _groups(groups: Any, names: list[str]) -> list[list[int]]:
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
        # NaN is the label that is not equal to itself.
        if label is not None and label == label:
            labelled.setdefault(label, []).append(j)
    return list(labelled.values())


def _bounds(bounds: Any, names: list[str]) -> list[tuple[int, float, float]]:
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


def _signs(nonnegative: Any, names: list[str]) -> list[tuple[int, float, float]]:
    if nonnegative is None or isinstance(nonnegative, (bool, np.bool_)):
        nonnegative = range(len(names)) if nonnegative else []
    return [(j, 0.0, np.inf) for j in columns(nonnegative, names, "nonnegative")]


def _entries(given: Any, names: list[str], parameter: str) -> list[tuple[Any, int, Any]]:
    """Key, column and value of a dict by name or index."""
    if given is None:
        return []
    if not isinstance(given, Mapping):
        raise TypeError(f"{parameter} takes a dict, from names or indices of features; got {given!r}.")
    entries = [(key, column(key, names, parameter), value) for key, value in given.items()]
    if len({j for _, j, _ in entries}) < len(entries):
        raise ValueError(f"{parameter} has the same feature twice, by name and by index.")
    return entries


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (Real, Integral)):
        raise ValueError(f"{what} must be a number. Got {value!r} instead.")
    return float(value)
