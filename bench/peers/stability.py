"""Compares the best models of many resamples with one fit of each peer to the same rows. Standard library only."""

import dataclasses
import tempfile

import instances
import ours
import race
from page import cell, mark
from statements import times


def run(l0star, team, peers, k, resamples, time_limit):
    """Returns the table for the diabetes data with interactions and squares, on one thread and one core."""
    family = dataclasses.replace(instances.FAMILIES[0], k=k)
    with tempfile.TemporaryDirectory() as folder:
        instance = race.Instance(l0star, family, 1, folder, time_limit)
        best = instance.solve()
        start = best["coefficients"]
        instance.request.update(
            start=start,
            bound=race.GUESS * max(map(abs, start.values())),
            interval=instance.interval(best) if any(peer.penalised for peer in peers) else None,
        )
        many = ours.stability(l0star, instance.request, resamples)
        single = [(peer, instance.ask(team, peer, folder, best)) for peer in peers]
    return table(family, best, many, single)


def table(family, best, many, single):
    """Returns a Markdown table: a row for all our resamples, one for our single fit, and one for each peer's."""
    whole = many["seconds"]
    said = f"{whole:.3g} s, {many['proved']} of {many['resamples']} proved"
    lines = [
        f"| {family.name}, k = {family.k} | seconds | resamples of l0star in that time |",
        "|---|---|---|",
        f"| l0star, {many['resamples']} resamples | {said} | {many['resamples']} |",
    ]
    for name, answer in [("l0star", best), *((peer.name + mark(peer.name), answer) for peer, answer in single)]:
        row = {**dict.fromkeys(race.KEYS), **answer}
        seconds = row["seconds"]
        share = "–" if seconds is None else times(many["resamples"] * seconds / whole)
        lines.append(f"| {name}, one fit | {cell([row], None)} | {share} |")
    return "\n".join(lines)
