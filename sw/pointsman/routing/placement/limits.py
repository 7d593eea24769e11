"""Flows of placed tasks to streams that keep their limits of latency, and to streams of best effort beside them.

A limit asks for slots that are close enough: for more bandwidth than the flow demands, or for slots that are spread evenly. So
the streams are routed with the bandwidths that their limits ask for. Those that are late get closer slots where the ideal model
has free ones, lose the words with the longest ways on the node, or else ask for more, and all are routed again. What ports have
no room for, and the largest flows where flows lack bandwidth, are given up, so that the others hold. The best answer is kept: the
fewest flows that fail, then the least that is missing. Flows of bandwidth 0 are of best effort: they get what the others leave,
and change nothing for them; so are those that are given up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, gcd, inf

import numpy as np

from pointsman.artifacts.flows.flows import Flow, FlowSet
from pointsman.artifacts.routes.routes import RoutedWords, RouteProblem, RouteResult, RouteStream
from pointsman.routing.errors import RoutingError
from pointsman.routing.network_router.moves import node_tables
from pointsman.routing.network_router.router import route_streams, route_to_images
from pointsman.routing.options import RouteConstraints, RouteOptions

from .at_most import Port, fitting, room_of, slots_beyond
from .cells import FreeCells, best_effort, repeated
from .cost import asked, late
from .report import FlowReport, flow_reports, way_length, worst_latency

Router = Callable[[RouteProblem, RouteOptions], RouteResult]

WORDS, MOST_WORDS = 64, 1024
"""Words of a flow of bandwidth 1 in the ideal model, before common factors are taken out: the more, the less of a port is lost to
flows that need less than a word."""
SPARE = 1 / 16
"""Share of a port that may be lost so."""
ROUNDS = 4
"""Times that all streams are routed, at most, for a placement."""
LEAST = 1e-3
"""Least weight of a stream, relative to a word a slot."""


@dataclass(frozen=True)
class FlowRoutes:
    """Streams that answer flows. ``index[k]`` is the stream of flow k, None if it has none (no room);
    ``rounds``: how often all were routed."""

    problem: RouteProblem
    result: RouteResult
    reports: tuple[FlowReport, ...]
    index: tuple[int | None, ...]
    rounds: int = 1

    @property
    def missing(self) -> tuple[int, float]:
        """Flows that fail, and the sum of what they lack, each as a share; the less the better."""
        lacking = 0.0
        for report in self.reports:
            if not report.holds:
                lacking += max(0.0, 1 - report.given / report.demanded) if report.demanded else 0.0
                if report.slack is not None and report.limit is not None:
                    lacking += max(0.0, -report.slack) / report.limit
        return sum(not report.holds for report in self.reports), lacking


def route_flows(
    flows: FlowSet,
    net: RouteProblem,
    at: Sequence[int],
    router: Router,
    options: RouteOptions,
    rounds: int = ROUNDS,
) -> FlowRoutes:
    """Route the flows between tasks on the nodes ``at``, all of them up to ``rounds`` times.

    Raises
    ------
    RoutingError
        If the router finds no schedule at all.
    """
    ends = [(at[flow.source], tuple(at[task] for task in flow.destinations)) for flow in flows.flows]
    promised = fitting(flows.flows, [_ports(one) for one in ends], room_of(net, router))
    lost = sum(flow.bandwidth > 0 for flow in flows.flows) - len(promised)
    best: tuple[tuple[int, float], list[int], RouteProblem, RouteResult] | None = None
    turns = 0
    while True:
        chosen = [flows.flows[index] for index in promised]
        try:
            problem, result, turns = _promises(chosen, net, [ends[k] for k in promised], router, options, turns, rounds)
        except RoutingError:
            if best is None:
                raise
            break
        reports = tuple(flow_reports(chosen, result.streams, result.period))
        failing, lacking = FlowRoutes(problem, result, reports, ()).missing
        missing = failing + lost, lacking + lost
        if best is None or missing < best[0]:
            best = missing, promised, problem, result
        given_up = _given_up(reports, [ends[k] for k in promised])
        if not given_up or turns >= rounds or len(given_up) >= failing:
            break
        lost += len(given_up)
        promised = [index for k, index in enumerate(promised) if k not in given_up]
    _, promised, problem, result = best
    others = [index for index in range(len(flows.flows)) if index not in set(promised)]
    index: list[int | None] = [None] * len(flows.flows)
    for stream, flow in enumerate(promised):
        index[flow] = stream
    if others:
        chosen = [flows.flows[flow] for flow in promised]
        problem, result, granted = _beside(problem, result, chosen, {flow: ends[flow] for flow in others})
        for stream, flow in enumerate(granted, len(promised)):
            index[flow] = stream
    words = [None if stream is None else result.streams[stream] for stream in index]
    return FlowRoutes(problem, result, tuple(flow_reports(flows.flows, words, result.period)), tuple(index), turns)


def _given_up(reports: Sequence[FlowReport], ends: Sequence[Ends]) -> set[int]:
    """Flows to be given up, so that the others may have what these demand: all together lack no more. Those with the fullest port
    first, and of these the largest."""
    load: dict[Port, float] = {}
    for report, one in zip(reports, ends, strict=True):
        for port in _ports(one):
            load[port] = load.get(port, 0.0) + report.demanded
    lacking = sum(max(0.0, report.demanded - report.given) for report in reports)
    short = [k for k, report in enumerate(reports) if report.given < report.demanded * (1 - 1e-9)]
    found: set[int] = set()
    for k in sorted(
        short, key=lambda k: (-round(max(load[port] for port in _ports(ends[k])), 2), -reports[k].demanded)
    ):
        if lacking <= 1e-9:
            break
        found.add(k)
        lacking -= reports[k].demanded
    return found


def _promises(
    chosen: list[Flow],
    net: RouteProblem,
    ends: list[Ends],
    router: Router,
    options: RouteOptions,
    turn: int,
    rounds: int,
) -> tuple[RouteProblem, RouteResult, int]:
    """Route flows that all have a bandwidth, and how often all flows were routed, ``turn`` times before."""
    beyond = slots_beyond(router)
    hops = [_hops(net, source, to) + beyond for source, to in ends]
    plain = [flow.bandwidth for flow in chosen]
    grain = _grain(plain, ends)
    rates = _rates(chosen, ends, hops, grain)
    promises = [
        None if rate < asked(flow, far) else flow.latency for rate, flow, far in zip(rates, chosen, hops, strict=True)
    ]
    best: tuple[tuple[int, float], RouteProblem, RouteResult] | None = None
    while True:
        problem = replace(net, streams=tuple(_streams(ends, rates, grain)))
        try:
            result = router(problem, replace(options, seed=options.seed + turn))
            turn += 1
        except RoutingError:
            if best is None and rates == plain:
                raise
            if rates == plain:
                break
            rates, turn = plain, turn + 1
            continue
        result = _quicker(problem, result, chosen)
        for more in (None, False, True):
            tried = problem, result
            if more is not None:
                tried = _closer(problem, result, chosen, hops, promises if more else None)
            reports = tuple(flow_reports(chosen, tried[1].streams, result.period))
            missing = FlowRoutes(*tried, reports, ()).missing
            if best is None or missing < best[0]:
                best = missing, *tried
            if not missing[0]:
                break
        # No bandwidth helps a flow whose way alone is too long.
        waiting = [
            k
            for k, one in enumerate(reports)
            if one.slack is not None and one.slack < 0 and not late(chosen[k], hops[k])
        ]
        short = any(one.given < one.demanded for one in reports)
        raised = [min(1.0, 1.5 * rate) if k in waiting else rate for k, rate in enumerate(rates)]
        after = plain if short else raised
        if not missing[0] or after == rates or turn >= rounds:
            break
        rates = after
    assert best is not None
    return best[1], best[2], turn


Ends = tuple[int, tuple[int, ...]]


def _ports(ends: Ends) -> list[Port]:
    return [("in", ends[0]), *(("out", node) for node in ends[1])]


def _grain(rates: list[float], ends: list[Ends]) -> int:
    """Words of a flow of bandwidth 1: so many that ports have room for all whole words if they have for all flows."""
    grain = WORDS
    while grain < MOST_WORDS:
        lost: dict[Port, float] = {}
        for rate, one in zip(rates, ends, strict=True):
            for port in _ports(one):
                lost[port] = lost.get(port, 0.0) + max(0.0, 1 / grain - rate)
        if max(lost.values(), default=0.0) <= SPARE:
            break
        grain *= 2
    number: dict[Port, int] = {}
    uses = [(number.setdefault(port, len(number)), k) for k, one in enumerate(ends) for port in _ports(one)]
    ports, of = (np.array(column, int) for column in zip(*uses, strict=True)) if uses else (np.zeros(0, int),) * 2
    wanted = np.array(rates)
    fits = np.bincount(ports, wanted[of], len(number)) <= 1 + 1e-9
    for words in range(grain, MOST_WORDS + 1):
        if (np.bincount(ports, _words(wanted, words)[of], len(number))[fits] <= words).all():
            return words
    return grain


def _words(rates: np.ndarray, grain: int) -> np.ndarray:
    """Whole words of flows in ``grain`` slots."""
    return np.maximum(1.0, np.ceil(grain * rates - 1e-9))


def _rates(flows: list[Flow], ends: list[Ends], hops: list[int], grain: int) -> list[float]:
    """Bandwidths to ask for. A limit that no bandwidth keeps, or for which the ports of its ends have no room, shall take none
    from the others: those that ask for least come first."""
    rates = [flow.bandwidth for flow in flows]
    room: dict[Port, float] = {}
    for k, rate in enumerate(rates):
        for port in _ports(ends[k]):
            room[port] = room.get(port, 1.0) - max(rate, 1 / grain)
    wanted = [
        (asked(flow, far), k)
        for k, (flow, far) in enumerate(zip(flows, hops, strict=True))
        if flow.latency is not None and not late(flow, far)
    ]
    for rate, k in sorted(wanted):
        more = min(1.0, rate) - max(rates[k], 1 / grain)
        if more <= 0 or all(more <= room[port] for port in _ports(ends[k])):
            rates[k] = max(rates[k], min(1.0, rate))
            for port in _ports(ends[k]):
                room[port] -= max(0.0, more)
    return rates


def _hops(net: RouteProblem, source: int, ends: tuple[int, ...]) -> int:
    found = net.distances(source)
    return max(found[end] for end in ends)


def _streams(ends: list[Ends], rates: list[float], grain: int) -> list[RouteStream]:
    words = [int(count) for count in _words(np.array(rates), grain)]
    factor = gcd(*words) if words else 1
    return [
        RouteStream(source, to, max(LEAST, rate), count // factor)
        for (source, to), rate, count in zip(ends, rates, words, strict=True)
    ]


def _closer(
    problem: RouteProblem,
    result: RouteResult,
    flows: list[Flow],
    hops: list[int],
    promises: list[float | None] | None,
) -> tuple[RouteProblem, RouteResult]:
    """In the ideal model, if streams are late: take all that have limits out, and give them slots that are close enough, those
    with the shortest pauses first. Streams for which there are none get slots anywhere. ``promises``: limits for which the ports
    have room; then streams that share a port with a late one are taken out, too, and other limits are given up."""
    late = [
        k
        for k, (flow, routed) in enumerate(zip(flows, result.streams, strict=True))
        if flow.latency is not None and worst_latency(routed, result.period) > flow.latency
    ]
    if result.router != "ideal" or not late:
        return problem, result
    given, streams = list(result.streams), list(problem.streams)

    def ports(k: int) -> list[Port]:
        return _ports((streams[k].source, streams[k].destinations))

    out = [(flow.latency - hops[k], k) for k, flow in enumerate(flows) if flow.latency is not None]
    if promises is not None:
        busy = {port for k in late for port in ports(k)}
        out += [(inf, k) for k, flow in enumerate(flows) if flow.latency is None and not busy.isdisjoint(ports(k))]
    taken = {k for _, k in out}
    kept = (word for k, routed in enumerate(given) if k not in taken for word in routed.words)
    cells = FreeCells(problem, result.period, kept)
    for _, k in sorted(out):
        source, ends = streams[k].source, streams[k].destinations
        limit = flows[k].latency if promises is None else promises[k]
        least = max(1, ceil(flows[k].bandwidth * result.period - 1e-9))
        found = None if limit is None else cells.close(source, ends, hops[k], least, floor(limit))
        found = found or cells.anywhere(source, ends, hops[k] + 4, least)
        if not found:
            return problem, result
        given[k] = RoutedWords(len(found) / result.period, tuple(found))
        streams[k] = replace(streams[k], words=len(found))
    return replace(problem, streams=tuple(streams)), replace(result, streams=tuple(given))


def _quicker(problem: RouteProblem, result: RouteResult, flows: list[Flow]) -> RouteResult:
    """On the node, where streams have words by ways of all lengths: those that are late lose their longest, as far as that makes
    them quicker and they keep the bandwidth that they need; before, all that have more than a word a slot lose theirs."""
    if result.router == "ideal":
        return result
    streams = [
        _one_a_slot(routed, result.period, flow.bandwidth) for flow, routed in zip(flows, result.streams, strict=True)
    ]
    for k, (flow, routed) in enumerate(zip(flows, streams, strict=True)):
        if flow.latency is None or worst_latency(routed, result.period) <= flow.latency:
            continue
        lengths = [way_length(word, result.period) for word in routed.words]
        for longest in sorted(set(lengths)):
            words = tuple(word for word, length in zip(routed.words, lengths, strict=True) if length <= longest)
            fewer = RoutedWords(len(words) / result.period, words)
            if fewer.bandwidth < flow.bandwidth * (1 - 1e-9):
                continue
            if worst_latency(fewer, result.period) < worst_latency(streams[k], result.period):
                streams[k] = fewer
    return _of_these(problem, result, tuple(streams))


def _one_a_slot(routed: RoutedWords, period: int, demanded: float) -> RoutedWords:
    """The words of a stream, without those with the longest ways if they are more than one a slot: by two pipelines a node sends
    more, and a processor has no more. Of words with ways of one length none is kept if not all can be, as far as the stream has
    the bandwidth that is ``demanded``."""
    if len(routed.words) <= period:
        return routed
    lengths = [way_length(word, period) for word in routed.words]
    order = sorted(range(len(lengths)), key=lambda number: lengths[number])
    shorter = [number for number in order if lengths[number] < lengths[order[period]]]
    kept = shorter if shorter and len(shorter) >= demanded * period - 1e-9 else order[:period]
    return RoutedWords(len(kept) / period, tuple(routed.words[number] for number in sorted(kept)))


def _of_these(problem: RouteProblem, result: RouteResult, streams: tuple[RoutedWords, ...]) -> RouteResult:
    """The result of the node's router with these words in place of its own."""
    if streams == result.streams:
        return result
    fewer_words = replace(result, streams=streams)
    images = route_to_images(problem, fewer_words)
    return replace(fewer_words, nodes=node_tables(images), images=images)


def _beside(
    problem: RouteProblem, result: RouteResult, chosen: list[Flow], ends: dict[int, tuple[int, tuple[int, ...]]]
) -> tuple[RouteProblem, RouteResult, list[int]]:
    """Streams of best effort behind those of ``chosen``; with the flows that have one, in order. ``ends``: of these flows."""
    others = list(ends)
    best = problem, result
    # The router has given out all that it could: no stream keeps more than it needs, and what then remains is dealt out again.
    period = result.period
    if result.router == "ideal":
        times = ceil(WORDS / period)
        period *= times
        kept = [
            _needed(flow, RoutedWords(routed.bandwidth, tuple(repeated(routed.words, result.period, times))), period)
            for flow, routed in zip(chosen, result.streams, strict=True)
        ]
        cells = FreeCells(problem, period, (word for routed in kept for word in routed.words))
        found = best_effort(cells, [(*ends[flow], _hops(problem, *ends[flow]) + 2) for flow in others])
        all_ends = [(stream.source, stream.destinations, stream.weight) for stream in problem.streams]
        all_ends += [(*ends[flow], LEAST) for flow, words in zip(others, found, strict=True) if words]
        given = (*kept, *(RoutedWords(len(words) / period, tuple(words)) for words in found if words))
        streams = tuple(RouteStream(*one, len(routed.words)) for one, routed in zip(all_ends, given, strict=True))
        return (
            replace(problem, streams=streams),
            replace(result, period=period, streams=given, bound=None, bounds=(), length_reason="room for best effort"),
            [flow for flow, words in zip(others, found, strict=True) if words],
        )
    pinned = {
        stream: _needed(flow, routed, period)
        for stream, (flow, routed) in enumerate(zip(chosen, result.streams, strict=True))
    }
    granted: list[int] = []
    for trial in (others, *([flow] for flow in others)):
        wanted = [*granted, *trial]
        grown = replace(problem, streams=(*problem.streams, *(RouteStream(*ends[flow]) for flow in wanted)))
        try:
            answer = route_streams(grown, RouteOptions(length=period, bounds=False), RouteConstraints(pinned=pinned))
        except RoutingError:
            continue
        seconds = result.seconds + answer.seconds
        # Whoever routes these streams again must not think that best effort is worth more than a promise.
        wider = replace(problem, streams=(*problem.streams, *(RouteStream(*ends[flow], LEAST) for flow in wanted)))
        answer = _of_these(wider, answer, tuple(_one_a_slot(routed, period, 0.0) for routed in answer.streams))
        best = (
            wider,
            replace(
                answer, seconds=seconds, bound=result.bound, bounds=result.bounds, length_reason=result.length_reason
            ),
        )
        granted = wanted
        if trial is others:
            break
    return *best, granted


def _needed(flow: Flow, routed: RoutedWords, period: int) -> RoutedWords:
    """As few of the words as the flow needs, if it has what it needs."""
    words = list(routed.words)
    for word in routed.words:
        rest = [other for other in words if other is not word]
        fewer = RoutedWords(len(rest) / period, tuple(rest))
        if rest and flow_reports([flow], [fewer], period)[0].holds:
            words = rest
    return RoutedWords(len(words) / period, tuple(words))
