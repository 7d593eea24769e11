"""How long a call of an operator takes, worked out from its routes and roles before anything runs.

Takes a planned operator and its routed phase. Messages are followed as wholes: a message that a processor begins to send
at t, with g cycles from word to word, begins to arrive L later and ends (m - 1) · g after that; L counts the slots on its
way, g is what the slowest VFSM, register or processor on it allows. A processor does its steps one after the other and
makes one access a cycle. A word waits half the time between two slots of the VFSM that takes it.

Non-goals: other operators in the phase, loads, phase changes.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pointsman.images.image import LaneImage
from pointsman.plan.plan import PlannedOperator, PlannedPhase
from pointsman.streams.stream import RoutedVfsm

from .ways import Follower

ENDS = 4
"""Cycles from a processor's write to the first VFSM, and from the last VFSM to the processor that reads."""
REWRITE = 6
"""Cycles for which a spread waits while a node connects what comes in to what goes out. In a gather what comes in waits at
the node already."""


GATE = 6
"""Cycles that a processor needs to have its router open a gate and to shut it."""


@dataclass(frozen=True)
class Way:
    """From a register that a processor writes to one that a processor reads."""

    end: tuple[int, int]
    latency: float
    gap: float
    slots: tuple[int, ...]
    """In which its first VFSM runs."""


class Forecast:
    """Times of one operator."""

    def __init__(self, phase: PlannedPhase, planned: PlannedOperator) -> None:
        self.phase = phase
        self.planned = planned
        self.followers = [Follower(replace(phase, routed=routed), planned) for routed in phase.routed.schedules]
        self.follower = self.followers[0]
        self.period = phase.routed.period

    def round(self, value: int, writers: Sequence[int] | None = None) -> float:
        """Cycles of a call for the value at this index; of all messages of a chain, one stage after the other."""
        stages = self.planned.stages
        if stages == 1:
            return self.cycles(value, writers)
        if self.planned.implementation.gated:
            return GATE + self.cycles(value * stages + 1, writers)
        total = float(ENDS)
        for stage in range(stages - 1):
            # The words of the next message wait behind those of this one, so only its own time counts.
            state = value * stages + stage
            ways = self._ways(state)
            gaps = [1.0]
            for node, drafts in self.planned.roles.items():
                draft = drafts[state]
                if draft.stage in (stage, stages - 1):
                    registers = [r for lane in draft.lanes if lane.write and lane.turn == 0 for r in lane.registers]
                    gaps += [way.gap for r in registers for way in ways.get((node, r), ())]
            total += self.planned.operator.m * max(gaps) + (0 if self._reads_in_turn() else REWRITE)
        return total

    def _reads_in_turn(self) -> bool:
        """Does the single end of a chain read?"""
        return any(
            lane.turn > 0 and not lane.write for drafts in self.planned.roles.values() for lane in drafts[0].lanes
        )

    def cycles(self, state: int, writers: Sequence[int] | None = None) -> float:
        """Cycles from the moment at which all nodes make their calls to the end of the last.

        Parameters
        ----------
        state : int
            Index of the values, times stages.
        writers : sequence of int or None
            Nodes that write, where not all that may do (collects).
        """
        ways = self._ways(state)
        roles = {node: drafts[state] for node, drafts in self.planned.roles.items()}
        mail: dict[tuple[int, int], deque[tuple[float, float]]] = defaultdict(deque)
        time = dict.fromkeys(roles, 0.0)
        first = dict.fromkeys(roles, 0.0)
        """By node, when the first item of the message was through the last lane, where items follow each other."""
        todo: dict[int, deque[list[LaneImage]]] = {}
        for node, draft in roles.items():
            steps: deque[list[LaneImage]] = deque()
            todo[node] = steps
            for turn in range(draft.turns):
                lanes = [lane for lane in draft.lanes if lane.turn == turn]
                if draft.kind == "both" or writers is not None:
                    lanes = [lane for lane in lanes if not lane.write or writers is None or node in writers]
                if draft.by_item or any(lane.after_all for lane in lanes):
                    # One after the other, each as a step of its own.
                    steps.extend([replace(lane, after=None, after_all=False)] for lane in lanes)
                    continue
                for step in sorted({lane.step for lane in lanes}):
                    steps.append([lane for lane in lanes if lane.step == step])
        sent: set[tuple[int, int]] = set()
        moving = True
        while moving:
            moving = False
            for node, steps in todo.items():
                while steps:
                    place = (node, len(steps))
                    if roles[node].by_item:
                        own = len(roles[node].lanes)
                        through = self._items(node, steps[0][0], own, (first[node], time[node]), ways, mail)
                        if through is None:
                            break
                        first[node], time[node] = through
                        steps.popleft()
                        moving = True
                        continue
                    if place not in sent:
                        sent.add(place)
                        moving = True
                        self._send(node, steps[0], time[node], ways, mail, None)
                    end = self._finish(node, steps[0], time[node], ways, mail)
                    if end is None:
                        break
                    time[node] = end
                    steps.popleft()
                    moving = True
        return max(time.values())

    def _items(
        self,
        node: int,
        lane: LaneImage,
        own: int,
        since: tuple[float, float],
        ways: Mapping[tuple[int, int], list[Way]],
        mail: dict[tuple[int, int], deque[tuple[float, float]]],
    ) -> tuple[float, float] | None:
        """When the first and the last word are through a lane that comes after one through which they were in ``since``; None
        while what it reads has not been sent. ``own``: lanes of the node, each of which takes a cycle of its port for a word."""
        item, words = self.planned.operator.type.words, self._words(lane)
        if lane.write:
            start = since[0] + item
            last = max(since[1] + item, start + (words - 1) * max(own, self._gap(node, [lane], lane, ways)))
            reached = {way.end: way for register in lane.registers for way in ways.get((node, register), ())}
            for end, way in reached.items():
                mail[end].append((start + way.latency, last + way.latency))
            return start, last
        if not any(mail[node, register] for register in lane.registers):
            return None
        arrivals = [mail[node, register].popleft() for register in lane.registers if mail[node, register]]
        come, over = min(a for a, _ in arrivals), max(b for _, b in arrivals)
        start = max(since[0] + item, come + item)
        return start, max(since[1] + item, over + 1, start + (words - 1) * own)

    def _words(self, lane: LaneImage) -> int:
        return self.planned.operator.m if lane.words is None else lane.words

    def _gap(
        self, node: int, step: list[LaneImage], lane: LaneImage, ways: Mapping[tuple[int, int], list[Way]]
    ) -> float:
        """Cycles from word to word that leaves through a lane."""
        here = [way for register in lane.registers for way in ways.get((node, register), ())]
        gap = max([float(len(step)), *(way.gap / len(lane.registers) for way in here)])
        if len(lane.registers) > 1 and here:
            gap = max(gap, self._in_turn([ways[node, register] for register in lane.registers]))
        if lane.window is not None and here and lane.pair is not None and any(not one.write for one in step):
            # Words of a window come back as soon as the partner's have come.
            gap = max(gap, (max(way.latency for way in here) + 1) / lane.window)
        return gap

    def _in_turn(self, chains: list[list[Way]]) -> float:
        """Cycles from word to word of a stream with several chains, of which processors use one after the other at both
        ends: slots of one that lie together are of no use while it is another's turn."""
        most, count = 64, len(chains)
        latest = [max(way.latency for way in ways) - ENDS if ways else 0.0 for ways in chains]
        written, taken, read = -1, [0] * most, [0.0] * most
        for k in range(most):
            c = k % count
            written = max(written + 1, taken[k - count] + 1 if k >= count else 0)
            slots = chains[c][0].slots if chains[c] else ()
            slot = _next(slots, written + 1, self.period)
            while k >= count and slot + latest[c] < read[k - count] - 1:
                slot = _next(slots, slot + 1, self.period)
            taken[k] = slot
            read[k] = max(read[k - 1] + 1 if k else 0.0, slot + latest[c] + 2)
        return (read[-1] - read[most // 2 - 1]) / (most // 2)

    def _send(
        self,
        node: int,
        step: list[LaneImage],
        start: float,
        ways: Mapping[tuple[int, int], list[Way]],
        mail: dict[tuple[int, int], deque[tuple[float, float]]],
        source: tuple[float, float] | None,
    ) -> None:
        """Deposit what the write lanes of a step send; ``source``: first and last arrival of the message they pass on."""
        for lane in step:
            if not lane.write or (lane.after is not None) != (source is not None):
                continue
            gap = self._gap(node, step, lane, ways)
            words = self._words(lane)
            last = start + (words - 1) * gap
            if source is not None:
                last = max(last, source[1])
            reached = {way.end: way for register in lane.registers for way in ways.get((node, register), ())}
            for end, way in reached.items():
                mail[end].append((start + way.latency, last + way.latency))

    def _finish(
        self,
        node: int,
        step: list[LaneImage],
        start: float,
        ways: Mapping[tuple[int, int], list[Way]],
        mail: dict[tuple[int, int], deque[tuple[float, float]]],
    ) -> float | None:
        """When a step is through; None while a message that it reads has not been sent."""
        reads = [lane for lane in step if not lane.write]
        if any(not any(mail[node, register] for register in lane.registers) for lane in reads):
            return None
        end = start + sum(self._words(lane) for lane in step)
        for lane in step:
            if lane.write and lane.after is None:
                end = max(end, start + (self._words(lane) - 1) * self._gap(node, step, lane, ways) + 1)
        for lane in reads:
            arrivals = [mail[node, register].popleft() for register in lane.registers if mail[node, register]]
            first, last = min(a for a, _ in arrivals), max(b for _, b in arrivals)
            end = max(end, last + 1)
            onward = [one for one in step if one.write and one.after is not None]
            if onward:
                self._send(node, step, max(start, first + 1), ways, mail, (first, last + 1))
                gap = max(self._gap(node, step, one, ways) for one in onward)
                end = max(end, max(start, first + 1) + (self._words(lane) - 1) * gap + 1)
        return end

    def _ways(self, state: int) -> dict[tuple[int, int], list[Way]]:
        """By node and register written, where its words come out and how fast."""
        # A node is in the schedule that has more slots for what it sends.
        found: dict[tuple[int, int], list[Way]] = {}
        for follower in self.followers:
            for start, ways in self._ways_of(follower, state).items():
                if start not in found or _gap_of(ways) < _gap_of(found[start]):
                    found[start] = ways
        return found

    def _ways_of(self, follower: Follower, state: int) -> dict[tuple[int, int], list[Way]]:
        found: dict[tuple[int, int], list[Way]] = {}
        vfsms, takers, children = follower.standing(state)
        for start, first in takers.items():
            ways: list[Way] = []
            gap = self.period / len(vfsms[first[0]][first[1]].slots)
            stack: list[tuple[tuple[int, int], float, float]] = [(first, ENDS + (gap - 1) / 2, gap)]
            seen = {first}
            while stack:
                (c, i), elapsed, slowest = stack.pop()
                vfsm = vfsms[c][i]
                for j in children[c][i]:
                    stack.append(((c, j), elapsed + _step(vfsm, vfsms[c][j], self.period), slowest))
                if vfsm.destination.kind not in ("deliver", "register"):
                    continue
                end = vfsm.node, follower.register(c, vfsm, vfsm.destination, "deliver")
                onward = takers.get(end)
                if onward is None:
                    ways.append(Way(end, elapsed, slowest, vfsms[first[0]][first[1]].slots))
                elif onward not in seen:
                    seen.add(onward)
                    after = vfsms[onward[0]][onward[1]]
                    wait = min((b - a - 2) % self.period for a in vfsm.slots[:1] for b in after.slots) + 2
                    words = follower.joint(vfsm, after)
                    stack.append((onward, elapsed + wait, max(slowest, self.period / max(1, words))))
            found[start] = ways
        return found


def _gap_of(ways: Sequence[Way]) -> float:
    return max((way.gap for way in ways), default=0.0)


def _next(slots: Sequence[int], cycle: int, period: int) -> int:
    """First cycle from ``cycle`` on that falls into one of ``slots``."""
    return min((cycle + (slot - cycle) % period for slot in slots), default=cycle)


def _step(parent: RoutedVfsm, child: RoutedVfsm, period: int) -> int:
    """Slots from a VFSM to the next on the way of a word."""
    return (child.slots[0] - parent.slots[0]) % period or period
