"""Streams that are an all-gather in fact: from every node to all others. They are done by construction, too."""

from __future__ import annotations

import time
from dataclasses import replace

from pointsman.artifacts.routes.collectives import CollectiveProblem, CollectiveWord
from pointsman.artifacts.routes.routes import RoutedWords, RouteProblem, RouteResult, Word
from pointsman.routing.bounds.ideal import counted_bounds
from pointsman.routing.bounds.parity import is_all_gather
from pointsman.routing.options import RouteOptions

from .router import route_collective


def route_all_gather(problem: RouteProblem, options: RouteOptions) -> RouteResult | None:
    """The streams of an all-gather in the ideal model; None if they are none, or a length is asked for, or the bound is not met
    where a search might meet it."""
    if options.length is not None or not problem.streams or not is_all_gather(problem):
        return None
    began = time.perf_counter()
    words = sum(stream.words for stream in problem.streams if stream.source == problem.streams[0].source)
    found = route_collective(CollectiveProblem(replace(problem, streams=()), "all-gather", words), options)
    seconds = time.perf_counter() - began
    if found.period > min(bound.value for bound in found.bounds[:1]) and problem.nodes <= 16:
        return None  # small enough for the search to find the least
    bounds = counted_bounds(problem)
    by_source: dict[int, list[CollectiveWord]] = {}
    for word in found.words:
        by_source.setdefault(word.item[0], []).append(word)
    streams = []
    for stream in problem.streams:
        mine = [_modulo(by_source[stream.source].pop(), found.period) for _ in range(stream.words)]
        streams.append(RoutedWords(len(mine) / found.period, tuple(mine)))
    least = bounds[0]
    reason = (
        f"no period is shorter ({least.kind}: {least.text})"
        if found.period <= least.value
        else f"the shortest found, {found.period - int(least.value)} above the bound ({least.kind}: {least.text})"
    )
    return RouteResult(
        router="ideal",
        period=found.period,
        streams=tuple(streams),
        bound=least,
        bounds=tuple(bounds),
        seconds=seconds,
        bound_seconds=time.perf_counter() - began - seconds,
        length_reason=reason,
        notes=(f"all-gather: {found.method}",),
    )


def _modulo(word: CollectiveWord, period: int) -> Word:
    return tuple((before, slot % period, after, None, None) for before, slot, after, _, _ in word.moves())
