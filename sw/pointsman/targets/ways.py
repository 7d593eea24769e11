"""Where the words of an operator go, from the register that a processor writes to those that processors read.

Takes a planned operator and its routed phase; gives for each state the ways of its words, in virtual registers. A way
may pass from stream to stream where one VFSM writes the register from which another takes its words.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from pointsman.plan.plan import PlannedOperator, PlannedPhase
from pointsman.streams.joints import joint_words
from pointsman.streams.stream import Place, RoutedVfsm

Way = tuple[str, int, int, tuple[tuple[int, int], ...], int, bool]
"""Name of the stream, source, its register, (node, register) of each destination, words per period, held."""

COMMAND = -1
"""Stands for the command register of pipeline 0 in a destination; those of further pipelines lie below."""

Standing = tuple[list[list[RoutedVfsm]], dict[tuple[int, int], tuple[int, int]], list[dict[int, list[int]]]]
"""VFSMs by chain; (node, register) to (chain, VFSM) that takes its words; by chain, VFSM to those after it."""


class Follower:
    """Follows the words of one operator."""

    def __init__(self, phase: PlannedPhase, planned: PlannedOperator) -> None:
        self.phase = phase
        self.planned = planned
        self.chains = [chain for chain in phase.routed.chains if chain.stream in planned.streams]
        self.joined = not planned.implementation.traceable

    def ways(self, state: int) -> Iterator[Way]:
        """The ways of all words that processors may write in a state."""
        planned, routed = self.planned, self.phase.routed
        lanes = [(node, lane) for node, drafts in planned.roles.items() for lane in drafts[state].lanes]
        written = sorted(
            {(node, r) for node, lane in lanes if lane.write for r in lane.registers}
            | {(node, r) for node, drafts in planned.roles.items() for r, _ in drafts[state].commands}
        )
        read = {(node, r) for node, lane in lanes if not lane.write for r in lane.registers}
        vfsms, takers, children = self.standing(state)
        for node, register in written:
            if (node, register) not in takers:
                continue
            first = takers[node, register]
            words = len(vfsms[first[0]][first[1]].slots)
            arrivals: list[tuple[int, int]] = []
            joined = False
            stack, seen = [first], {first}
            while stack:
                c, i = stack.pop()
                vfsm = vfsms[c][i]
                stack += [(c, j) for j in reversed(children[c][i])]
                if vfsm.destination.kind == "command":
                    arrivals.append((vfsm.node, COMMAND - vfsm.destination.number))
                if vfsm.destination.kind not in ("deliver", "register"):
                    continue
                end = vfsm.node, self.register(c, vfsm, vfsm.destination, "deliver")
                onward = takers.get(end)
                if onward is None:
                    arrivals.append(end)
                elif onward not in seen:
                    joined = True
                    seen.add(onward)
                    stack.append(onward)
                    words = min(words, self.joint(vfsm, vfsms[onward[0]][onward[1]]))
            name = routed.streams[self.chains[first[0]].stream].name
            if joined or self.joined:
                name = name.split(".")[0]
            held = planned.stages > 1 and not any(end in read for end in arrivals)
            yield name, node, register, tuple(arrivals), words, held

    def standing(self, state: int) -> Standing:
        """How the chains stand in a state: their VFSMs, which of them takes the words of a register, and which of each chain
        have their words from which."""
        standing = {
            (s.stream, s.chain, s.vfsm.node, s.vfsm.pipeline, s.vfsm.number): s.vfsm
            for drafts in self.planned.roles.values()
            for s in drafts[state].settings
        }
        vfsms = [
            [standing.get((c.stream, c.chain, v.node, v.pipeline, v.number), v) for v in c.vfsms] for c in self.chains
        ]
        takers: dict[tuple[int, int], tuple[int, int]] = {}
        children: list[dict[int, list[int]]] = []
        for c, row in enumerate(vfsms):
            below: dict[int, list[int]] = defaultdict(list)
            for i, vfsm in enumerate(row):
                if vfsm.source.kind in ("inject", "register"):
                    takers[vfsm.node, self.register(c, vfsm, vfsm.source, "inject")] = c, i
                elif vfsm.source.kind not in ("nop", "null") and vfsm.parent >= 0:
                    below[vfsm.parent].append(i)
            children.append(below)
        return vfsms, takers, children

    def joint(self, writer: RoutedVfsm, reader: RoutedVfsm) -> int:
        """Words a period that pass the register between two VFSMs."""
        return joint_words(writer.slots, reader.slots, self.phase.routed.period)

    def register(self, c: int, vfsm: RoutedVfsm, place: Place, end: str) -> int:
        if place.kind == "register":
            return place.number
        return self.phase.wiring.register(vfsm.node, self.chains[c].stream, self.chains[c].chain, end)
