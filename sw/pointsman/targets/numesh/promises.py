"""Ways of an operator's words: from the register that a processor writes to the registers that processors read.

Takes a planned operator and its routed phase; gives for each state the ways of its words, in virtual registers. A way
passes from stream to stream where a VFSM writes a register from which another VFSM takes words.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from pointsman.plan.plan import PlannedOperator, PlannedPhase
from pointsman.plan.roles.instances import streams_by_instance
from pointsman.routing.register_rate import joint_words
from pointsman.routing.streams import Place, RoutedVfsm

from .allocation import Key, key_of

Way = tuple[str, int, int, tuple[tuple[int, int], ...], int, bool]
"""Name of the stream, source, its register, (node, register) of each destination, words per period, held."""

COMMAND = -1
"""Register number that means the command register of pipeline 0 in a destination; pipeline p has COMMAND - p."""

Standing = tuple[list[list[RoutedVfsm]], dict[tuple[int, int], tuple[int, int]], list[dict[int, list[int]]]]
"""VFSMs by chain; (node, register) to the (chain, VFSM) that takes its words; by chain, each VFSM to the VFSMs after it."""


class Follower:
    """Follows the words of an operator. Of instances that look alike it follows only a representative's, and moves them."""

    def __init__(self, phase: PlannedPhase, planned: PlannedOperator) -> None:
        self.phase = phase
        self.planned = planned
        self.nodes = [node for node in planned.roles if planned.like(node) == node]
        moved, self.moves = self._moves()
        self.chains = [c for c in phase.routed.chains if c.stream in planned.streams and c.stream not in moved]
        self.joined = not planned.implementation.traceable
        self._routed = [[(key_of(c.stream, c.chain, vfsm), vfsm) for vfsm in c.vfsms] for c in self.chains]
        self._settings: dict[int, dict[Key, RoutedVfsm]] = {}
        """By id() of a role, the VFSMs that it sets."""

    def _moves(self) -> tuple[set[int], list[tuple[dict[int, int], dict[int, int]]]]:
        """Streams of instances that look like another instance; and for each of these instances, maps from the other's nodes
        and streams to its own."""
        planned, routed = self.planned, self.phase.routed
        if len(self.nodes) == len(planned.roles):
            return set(), []
        by_instance = streams_by_instance(planned.operator, planned.streams, routed.streams)
        instance_of = {node: i for i, one in enumerate(planned.operator.instances) for node in one.nodes}
        moved: set[int] = set()
        moves = []
        for i, instance in enumerate(planned.operator.instances):
            like = instance_of[planned.like(instance.nodes[0])]
            if like != i:
                moved |= set(by_instance[i])
                nodes = dict(zip(planned.operator.instances[like].nodes, instance.nodes, strict=True))
                moves.append((nodes, dict(zip(by_instance[like], by_instance[i], strict=True))))
        return moved, moves

    def ways(self, state: int) -> list[Way]:
        """The ways of all words that processors may write in a state, sorted by node and register."""
        streams = self.phase.routed.streams
        own = list(self._ways(state))
        found = [way for _, _, way in own]
        for nodes, moved in self.moves:
            for stream, joined, (_, node, register, arrivals, words, held) in own:
                if node in nodes:
                    there = tuple([(nodes[end], r) for end, r in arrivals])
                    name = _name(streams[moved[stream]].name, joined=joined)
                    found.append((name, nodes[node], register, there, words, held))
        return sorted(found, key=lambda way: way[1:3])

    def _ways(self, state: int) -> Iterator[tuple[int, bool, Way]]:
        """The ways that are followed, not moved, each with its stream and whether it goes on in other streams."""
        planned, routed = self.planned, self.phase.routed
        drafts = [(node, planned.role(node, state)) for node in self.nodes]
        lanes = [(node, lane) for node, draft in drafts for lane in draft.lanes]
        written = sorted(
            {(node, r) for node, lane in lanes if lane.write for r in lane.registers}
            | {(node, r) for node, draft in drafts for r, _ in draft.commands}
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
            stream = self.chains[first[0]].stream
            name = _name(routed.streams[stream].name, joined=joined or self.joined)
            held = planned.stages > 1 and not any(end in read for end in arrivals)
            yield stream, joined or self.joined, (name, node, register, tuple(arrivals), words, held)

    def standing(self, state: int) -> Standing:
        """How the chains stand in a state: their VFSMs, which of them takes the words of a register, and which of each chain
        have their words from which."""
        standing: dict[Key, RoutedVfsm] = {}
        for node in self.nodes:
            draft = self.planned.role(node, state)
            # Few roles serve many states, each as one object.
            settings = self._settings.get(id(draft))
            if settings is None:
                settings = {key_of(s.stream, s.chain, s.vfsm): s.vfsm for s in draft.settings}
                self._settings[id(draft)] = settings
            standing.update(settings)
        vfsms = [[standing.get(key, vfsm) for key, vfsm in chain] for chain in self._routed]
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


def _name(stream: str, *, joined: bool) -> str:
    return stream.split(".")[0] if joined else stream
