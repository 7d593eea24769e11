"""What each flow gets: its bandwidth, and the latency of a word that comes at the worst moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pointsman.artifacts.flows.flows import Flow
from pointsman.artifacts.routes.routes import Move, RoutedWords, Word


@dataclass(frozen=True)
class FlowReport:
    """A flow: words a slot, and slots. ``demanded`` 0: best effort; ``worst_latency`` None: it gets no word. ``slack``: of the
    latency; None if it has no limit."""

    name: str
    demanded: float
    given: float
    worst_latency: int | None
    limit: float | None

    @property
    def slack(self) -> float | None:
        return None if self.limit is None or self.worst_latency is None else self.limit - self.worst_latency

    @property
    def holds(self) -> bool:
        return self.given >= self.demanded * (1 - 1e-9) and (self.slack is None or self.slack >= 0)


def flow_reports(flows: Sequence[Flow], given: Sequence[RoutedWords | None], period: int) -> list[FlowReport]:
    """A report for each flow, in their order; ``given``: its words, None if it has none."""
    return [
        FlowReport(flow.name, flow.bandwidth, 0.0, None, flow.latency)
        if routed is None
        else FlowReport(flow.name, flow.bandwidth, routed.bandwidth, worst_latency(routed, period), flow.latency)
        for flow, routed in zip(flows, given, strict=True)
    ]


def worst_latency(routed: RoutedWords, period: int) -> int:
    """Slots from when a word is ready to its last delivery, if it has just missed a slot of the stream: the pause until the next
    one, and the way of the word that starts there."""
    ways: dict[int, int] = {}
    for word in routed.words:
        start = next(move for move in word if move[0] is None)[1] % period
        ways[start] = max(ways.get(start, 0), way_length(word, period))
    starts = sorted(ways)
    before = [starts[-1] - period, *starts]
    return max(start - last + ways[start] for last, start in zip(before, starts, strict=False))


def way_length(word: Word, period: int) -> int:
    """Slots from a word's start to its last delivery."""
    moments = [moment for _, moment in unrolled(word, period)]
    return moments[-1] - moments[0]


def unrolled(word: Word, period: int) -> list[tuple[Move, int]]:
    """The moves of a word with the slots in which they are made, not taken modulo the period, in order; waits are left out."""
    start = next(move for move in word if move[0] is None)
    arrived: dict[int | None, int] = {start[2]: start[1]}
    found = [(start, start[1])]
    waiting = [move for move in word if move[0] is not None and move[0] != move[2]]
    while waiting:
        ready = [move for move in waiting if move[0] in arrived]
        if not ready:
            break
        for move in ready:
            before, slot, after = move[:3]
            moment = arrived[before] + (slot - arrived[before]) % period
            found.append((move, moment))
            if after is not None:
                arrived[after] = moment + 1
            waiting.remove(move)
    return sorted(found, key=lambda one: one[1])
