"""What each flow gets: its bandwidth, and the latency of a word that comes at the worst moment."""

from __future__ import annotations

from dataclasses import dataclass

from pointsman.artifacts.flows.flows import FlowSet
from pointsman.artifacts.routes.routes import RoutedWords, RouteResult, Word


@dataclass(frozen=True)
class FlowReport:
    """A flow: words a slot, and slots. ``slack``: of the latency; None if it has no limit."""

    name: str
    demanded: float
    given: float
    worst_latency: int
    limit: float | None

    @property
    def slack(self) -> float | None:
        return None if self.limit is None else self.limit - self.worst_latency

    @property
    def holds(self) -> bool:
        return self.given >= self.demanded * (1 - 1e-9) and (self.slack is None or self.slack >= 0)


def flow_reports(flows: FlowSet, result: RouteResult) -> list[FlowReport]:
    """A report for each flow, in their order."""
    return [
        FlowReport(flow.name, flow.bandwidth, routed.bandwidth, worst_latency(routed, result.period), flow.latency)
        for flow, routed in zip(flows.flows, result.streams, strict=True)
    ]


def worst_latency(routed: RoutedWords, period: int) -> int:
    """Slots from when a word is ready to its last delivery, if it has just missed a slot of the stream."""
    travel = [_times(word, period) for word in routed.words]
    starts = sorted(start % period for start, _ in travel)
    gaps = [(after - before) % period or period for before, after in zip(starts, [*starts[1:], starts[0]], strict=True)]
    return max(gaps) + max(slots for _, slots in travel)


def _times(word: Word, period: int) -> tuple[int, int]:
    """Slot of the injection, and slots from there to the last delivery."""
    moves = list(word)
    start = next(slot for before, slot, _, _, _ in moves if before is None)
    source = next(after for before, _, after, _, _ in moves if before is None)
    arrived: dict[int | None, int] = {source: start}
    last = start
    waiting = [move for move in moves if move[0] is not None and move[0] != move[2]]
    while waiting:
        ready = [move for move in waiting if move[0] in arrived]
        if not ready:
            break
        for move in ready:
            before, slot, after = move[:3]
            moment = arrived[before] + (slot - arrived[before]) % period
            if after is None:
                last = max(last, moment)
            else:
                arrived[after] = moment + 1
            waiting.remove(move)
    return start, last - start
