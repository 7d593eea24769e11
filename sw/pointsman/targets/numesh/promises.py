"""Ways of an operator's words: from the register that a processor writes to the registers that processors read.

Takes a planned operator and its routed phase; gives the ways of its words, in virtual registers, each with the states in which
they take it. A way passes from stream to stream where a VFSM writes a register from which another VFSM takes words. From one
state to the next few nodes have another role, and only the words that this concerns are followed again: an operator between any
two of 256 nodes has 65,536 states, in each of which the words of its barrier go the same ways.
"""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from dataclasses import dataclass

from pointsman.operators import RoleDraft
from pointsman.operators.api.operands import streams_by_instance
from pointsman.plan.plan import PlannedOperator, PlannedPhase
from pointsman.routing.register_rate import joint_words
from pointsman.routing.streams import Place, RoutedVfsm, Stream

from .allocation import Key, key_of

Way = tuple[str, int, int, tuple[tuple[int, int], ...], int, bool]
"""Name of the stream, source, its register, (node, register) of each destination, words per period, held."""

COMMAND = -1
"""Register number that means the command register of pipeline 0 in a destination; pipeline p has COMMAND - p."""
Register = tuple[int, int]
"""(node, virtual register)."""


@dataclass(frozen=True)
class _Followed:
    """A way that has been followed."""

    way: Way
    stream: int
    """The stream that it begins in."""
    joined: bool
    """Does it go on in other streams?"""
    passed: frozenset[int | Register]
    """Chains that it passes, by index in ``Follower.chains``, and registers that it comes to: as long as nothing changes in
    these, it stays as it is."""


class Follower:
    """Follows the words of an operator. Of instances that look alike it follows only a representative's, and moves them."""

    def __init__(self, phase: PlannedPhase, planned: PlannedOperator) -> None:
        self.phase = phase
        self.planned = planned
        self.nodes = [node for node in planned.roles if planned.like(node) == node]
        moved, self.moves = self._moves()
        self.chains = [c for c in phase.routed.chains if c.stream in planned.streams and c.stream not in moved]
        self.joined = not planned.implementation.traceable
        self._routed = {
            key_of(chain.stream, chain.chain, vfsm): (c, i, vfsm)
            for c, chain in enumerate(self.chains)
            for i, vfsm in enumerate(chain.vfsms)
        }
        self._vfsms = [list(chain.vfsms) for chain in self.chains]
        """VFSMs of each chain as they stand in the present state."""
        self._below: list[dict[int, list[int]]] = [defaultdict(list) for _ in self.chains]
        """By chain and VFSM, the VFSMs that have their words from it, ascending."""
        self._takers: dict[Register, set[tuple[int, int]]] = defaultdict(set)
        """By register, the (chain, VFSM) that take its words."""
        self._settings: dict[int, dict[Key, RoutedVfsm]] = {}
        """By node, the VFSMs that its role sets."""
        self._written: dict[int, set[Register]] = {}
        self._read: dict[int, set[Register]] = {}
        """By node, the registers that its processor writes and reads."""
        self._changed: set[int | Register] = set()
        """Chains and registers that have changed since the words were followed last."""
        for c, row in enumerate(self._vfsms):
            for i, vfsm in enumerate(row):
                self._put(c, i, vfsm)

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

    def carried(self) -> list[tuple[Way, list[int]]]:
        """The ways of all words that processors may write, each with the states in which they take it, ascending; in the order of
        the first state, then of node and register."""
        streams = self.phase.routed.streams
        found: list[tuple[Way, list[int]]] = []
        for one, states in self._own().items():
            found.append((one[2], states))
            stream, joined, (_, node, register, arrivals, words, held) = one
            for nodes, moved in self.moves:
                if node in nodes:
                    there = tuple([(nodes[end], r) for end, r in arrivals])
                    name = self._name(streams[moved[stream]], joined=joined)
                    found.append(((name, nodes[node], register, there, words, held), states))
        return sorted(found, key=lambda one: (one[1][0], one[0][1:3]))

    def _own(self) -> dict[tuple[int, bool, Way], list[int]]:
        """The ways that are followed, not moved, each with its stream and whether it goes on in other streams: their states."""
        count = len(self.planned.values) * self.planned.stages
        changes: dict[int, list[tuple[int, RoleDraft]]] = defaultdict(list)
        for node in self.nodes:
            before: RoleDraft | None = None
            for state, draft in enumerate(self.planned.states(node)):
                if draft is not before:
                    changes[state].append((node, draft))
                    before = draft
        found: dict[tuple[int, bool, Way], list[int]] = defaultdict(list)
        live: dict[Register, tuple[_Followed, int]] = {}
        concerned: dict[int | Register, set[Register]] = defaultdict(set)
        """By chain, and by register, the registers whose words pass it."""

        for state in sorted(changes):
            for node, draft in changes[state]:
                self._take(node, draft)
            # What is written now, or no more, and what passes something that has changed.
            again = {what for what in self._changed if isinstance(what, tuple)}.union(
                *(concerned[what] for what in self._changed)
            )
            self._changed.clear()
            for start in again:
                one, since = self._follow(start), state
                if start in live:
                    before_it, begun = live.pop(start)
                    for what in before_it.passed:
                        concerned[what].discard(start)
                    if one is not None and one.way == before_it.way:
                        since = begun
                    else:
                        found[before_it.stream, before_it.joined, before_it.way].extend(range(begun, state))
                if one is not None:
                    live[start] = one, since
                    for what in one.passed:
                        concerned[what].add(start)
        for one, begun in live.values():
            found[one.stream, one.joined, one.way].extend(range(begun, count))
        return found

    def _take(self, node: int, draft: RoleDraft) -> None:
        """Let a node have another role."""
        wanted = {key_of(s.stream, s.chain, s.vfsm): s.vfsm for s in draft.settings}
        for key in dict.fromkeys((*self._settings.get(node, ()), *wanted)):
            if key in self._routed:
                c, i, routed = self._routed[key]
                vfsm = wanted.get(key, routed)
                if vfsm != self._vfsms[c][i]:
                    self._put(c, i, self._vfsms[c][i], taken_out=True)
                    self._vfsms[c][i] = vfsm
                    self._put(c, i, vfsm)
                    self._changed.add(c)
        self._settings[node] = wanted
        written = {(node, r) for lane in draft.lanes if lane.write for r in lane.registers}
        written |= {(node, r) for r, _ in draft.commands}
        read = {(node, r) for lane in draft.lanes if not lane.write for r in lane.registers}
        self._changed |= written ^ self._written.get(node, set())
        self._changed |= read ^ self._read.get(node, set())
        self._written[node], self._read[node] = written, read

    def _put(self, c: int, i: int, vfsm: RoutedVfsm, *, taken_out: bool = False) -> None:
        """Note from where a VFSM has its words, or (``taken_out``) has them no more."""
        if vfsm.source.kind in ("inject", "register"):
            register = vfsm.node, self.register(c, vfsm, vfsm.source, "inject")
            (set.discard if taken_out else set.add)(self._takers[register], (c, i))
            self._changed.add(register)
        elif vfsm.source.kind not in ("nop", "null") and vfsm.parent >= 0:
            below = self._below[c][vfsm.parent]
            if taken_out:
                below.remove(i)
            else:
                insort(below, i)

    def _follow(self, start: Register) -> _Followed | None:
        """The way of the words that a processor writes into a register, as all stands; None if it writes none, or nothing takes
        them."""
        node, register = start
        if start not in self._written.get(node, ()) or not self._takers[start]:
            return None
        planned, routed = self.planned, self.phase.routed
        first = max(self._takers[start])
        words = len(self._vfsms[first[0]][first[1]].slots)
        arrivals: list[tuple[int, int]] = []
        passed: set[int | Register] = {first[0], start}
        stack, seen = [first], {first}
        while stack:
            c, i = stack.pop()
            vfsm = self._vfsms[c][i]
            stack += [(c, j) for j in reversed(self._below[c].get(i, ()))]
            if vfsm.destination.kind == "command":
                arrivals.append((vfsm.node, COMMAND - vfsm.destination.number))
            if vfsm.destination.kind not in ("deliver", "register"):
                continue
            end = vfsm.node, self.register(c, vfsm, vfsm.destination, "deliver")
            passed.add(end)
            onward = max(self._takers[end], default=None)
            if onward is None:
                arrivals.append(end)
            elif onward not in seen:
                seen.add(onward)
                stack.append(onward)
                passed.add(onward[0])
                words = min(words, self.joint(vfsm, self._vfsms[onward[0]][onward[1]]))
        joined = len(seen) > 1 or self.joined
        stream = self.chains[first[0]].stream
        name = self._name(routed.streams[stream], joined=joined)
        held = planned.stages > 1 and not any(end in self._read.get(end[0], ()) for end in arrivals)
        way = name, node, register, tuple(arrivals), words, held
        return _Followed(way, stream, joined, frozenset(passed))

    def joint(self, writer: RoutedVfsm, reader: RoutedVfsm) -> int:
        """Words a period that pass the register between two VFSMs."""
        return joint_words(writer.slots, reader.slots, self.phase.routed.period)

    def register(self, c: int, vfsm: RoutedVfsm, place: Place, end: str) -> int:
        if place.kind == "register":
            return place.number
        return self.phase.wiring.register(vfsm.node, self.chains[c].stream, self.chains[c].chain, end)

    def _name(self, stream: Stream, *, joined: bool) -> str:
        name = stream.name_of(self.planned.operator.label)
        return name.split(".")[0] if joined else name
