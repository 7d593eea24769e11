"""Flows of placed tasks to streams that keep their limits of latency, and to streams of best effort beside them.

A limit asks for slots that are close enough: for more bandwidth than the flow demands, or for slots that are spread evenly. So
the streams are routed with the bandwidths that their limits ask for. Those that are late get closer slots where the ideal model
has free ones, or else ask for more, and all are routed again. The best answer is kept: the fewest flows that fail, then the
least that is missing. Flows of bandwidth 0 are of best effort: they get what the others leave, and change nothing for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, gcd

from pointsman.artifacts.flows.flows import Flow, FlowSet
from pointsman.artifacts.routes.routes import RoutedWords, RouteProblem, RouteResult, RouteStream
from pointsman.routing.errors import RoutingError
from pointsman.routing.network_router.router import route_streams
from pointsman.routing.options import RouteConstraints, RouteOptions

from .cells import FreeCells, best_effort, repeated
from .cost import asked, late
from .report import FlowReport, flow_reports, worst_latency

Router = Callable[[RouteProblem, RouteOptions], RouteResult]

WORDS = 64
"""Words of a flow of bandwidth 1 in the ideal model, before common factors are taken out."""
ROUNDS = 4
"""Times that all streams are routed, at most, for a placement."""
LEAST = 1e-3
"""Least weight of a stream, relative to a word a slot."""


@dataclass(frozen=True)
class FlowRoutes:
    """Streams that answer flows. ``index[k]`` is the stream of flow k, None if it has none (best effort without room)."""

    problem: RouteProblem
    result: RouteResult
    reports: tuple[FlowReport, ...]
    index: tuple[int | None, ...]

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
    flows: FlowSet, net: RouteProblem, at: Sequence[int], router: Router, options: RouteOptions
) -> FlowRoutes:
    """Route the flows between tasks on the nodes ``at``.

    Raises
    ------
    RoutingError
        If the router finds no schedule at all.
    """
    promised = [index for index, flow in enumerate(flows.flows) if flow.bandwidth > 0]
    chosen = [flows.flows[index] for index in promised]

    def ends_of(index: int) -> tuple[int, tuple[int, ...]]:
        flow = flows.flows[index]
        return at[flow.source], tuple(at[task] for task in flow.destinations)

    ends = [ends_of(index) for index in promised]
    hops = [_hops(net, source, to) for source, to in ends]
    plain = [flow.bandwidth for flow in chosen]
    # A limit that no bandwidth keeps shall take none from the others.
    rates = [
        flow.bandwidth if late(flow, far) else min(1.0, asked(flow, far))
        for flow, far in zip(chosen, hops, strict=True)
    ]
    best: tuple[tuple[int, float], RouteProblem, RouteResult] | None = None
    for turn in range(ROUNDS):
        problem = replace(net, streams=tuple(_streams(ends, rates)))
        try:
            result = router(problem, replace(options, seed=options.seed + turn))
        except RoutingError:
            if best is None and rates == plain:
                raise
            if rates == plain:
                break
            rates = plain
            continue
        problem, result = _closer(problem, result, chosen, hops)
        reports = tuple(flow_reports(chosen, result.streams, result.period))
        missing = FlowRoutes(problem, result, reports, ()).missing
        if best is None or missing < best[0]:
            best = missing, problem, result
        waiting = [k for k, one in enumerate(reports) if one.slack is not None and one.slack < 0]
        short = any(one.given < one.demanded for one in reports)
        raised = [min(1.0, 1.5 * rate) if k in waiting else rate for k, rate in enumerate(rates)]
        after = plain if short else raised
        if not missing[0] or after == rates:
            break
        rates = after
    assert best is not None
    _, problem, result = best
    others = [index for index, flow in enumerate(flows.flows) if flow.bandwidth == 0]
    index: list[int | None] = [None] * len(flows.flows)
    for stream, flow in enumerate(promised):
        index[flow] = stream
    if others:
        problem, result, granted = _beside(problem, result, chosen, {flow: ends_of(flow) for flow in others})
        for stream, flow in enumerate(granted, len(promised)):
            index[flow] = stream
    words = [None if stream is None else result.streams[stream] for stream in index]
    return FlowRoutes(problem, result, tuple(flow_reports(flows.flows, words, result.period)), tuple(index))


def _hops(net: RouteProblem, source: int, ends: tuple[int, ...]) -> int:
    found = net.distances(source)
    return max(found[end] for end in ends)


def _streams(ends: list[tuple[int, tuple[int, ...]]], rates: list[float]) -> list[RouteStream]:
    words = [max(1, ceil(WORDS * rate - 1e-9)) for rate in rates]
    factor = gcd(*words) if words else 1
    return [
        RouteStream(source, to, max(LEAST, rate), count // factor)
        for (source, to), rate, count in zip(ends, rates, words, strict=True)
    ]


def _closer(
    problem: RouteProblem, result: RouteResult, flows: list[Flow], hops: list[int]
) -> tuple[RouteProblem, RouteResult]:
    """In the ideal model, give late streams slots that are close enough, where there are any."""
    if result.router != "ideal":
        return problem, result
    given = list(result.streams)
    late = [
        k
        for k, flow in enumerate(flows)
        if flow.latency is not None and worst_latency(given[k], result.period) > flow.latency
    ]
    if not late:
        return problem, result
    cells = FreeCells(problem, result.period, (word for routed in given for word in routed.words))
    streams = list(problem.streams)
    for k in late:
        for word in given[k].words:
            cells.take(word)
        stream, limit = streams[k], flows[k].latency
        assert limit is not None
        least = max(1, ceil(flows[k].bandwidth * result.period - 1e-9))
        found = cells.close(stream.source, stream.destinations, hops[k], least, floor(limit))
        if found is None:
            for word in given[k].words:
                cells.add(word)
            continue
        given[k] = RoutedWords(len(found) / result.period, tuple(found))
        streams[k] = replace(stream, words=len(found))
    return replace(problem, streams=tuple(streams)), replace(result, streams=tuple(given))


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
        best = (
            grown,
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
