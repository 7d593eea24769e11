"""Rules "promises" and "links": words followed from where a processor writes them to where processors read them.

Takes a promise and what the nodes of a phase do for a choice of run-time values; gives a trace with the faults on the
way. The promise is proven on VFSMs rather than on single words: starting from the VFSM that reads the source register,
each VFSM is followed in *every* slot in which it is scheduled, and must hand its words to the same VFSMs in each. A
refused word stays with its VFSM and is sent in another of its slots, so this rule keeps words on their way and in order
however the processors block (Metcalf 1997, §7.1.1). If a reader meets every slot in the slot after it, and every buffer
is emptied in time (``node.rules``), a tree of VFSMs carries as many words per period as its first VFSM has slots.

Example: VFSM 2 of node 0 writes a link in slots 1 and 5, and node 1 reads it by VFSM 3 in slot 2 and by VFSM 4 in slot 6.
Each slot is met, but a word refused in slot 1 would go to VFSM 4 in slot 5, perhaps behind the next word: a finding.

A VFSM that no word can reach for a value needs no partner: a run-time broadcast does not rewrite VFSMs before its
source (§7.1.4). Leaves to ``streams`` whether two streams meet, and to ``lanes`` what processors do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from numesh.codes import Codes
from pointsman.artifacts.images.images import Promise
from pointsman.verify.node.node import Hop, Key, NodeState, NodeView, Place, Problem, Remark, Vfsm

from .register_rate import joint_words


@dataclass
class Trace:
    """The tree of VFSMs of a promise."""

    keys: dict[int, Key] = field(default_factory=dict)
    """By node looked at, its roles."""
    vfsms: dict[Place, None] = field(default_factory=dict)
    arrivals: list[tuple[int, int]] = field(default_factory=list)
    """(node, register) of each delivery."""
    registers: dict[tuple[int, int], None] = field(default_factory=dict)
    """(node, register) of every interface register on the way, including the source's."""
    problems: list[tuple[int, Problem]] = field(default_factory=list)
    """(node, what is wrong there)."""
    words: int = 0
    link_slots: int = 0
    dropped: bool = False
    """Does a VFSM on the way drop its words?"""


class States(dict[int, NodeState | None]):
    """By node, what it does for a choice of run-time values; filled when asked. None for a node without a part in the
    phase.

    Parameters
    ----------
    views : mapping of int to NodeView
        The nodes that have a part in the phase.
    choice : mapping
        Operator to its state, as ``NodeView.key``.
    """

    def __init__(self, views: Mapping[int, NodeView], choice: Mapping[int, int]) -> None:
        super().__init__()
        self.views = views
        self.choice = choice

    def __missing__(self, node: int) -> NodeState | None:
        view = self.views.get(node)
        state = self[node] = None if view is None else view.state(view.key(self.choice))
        return state


def trace_promise(promise: Promise, states: States, codes: Codes, *, more: bool = False) -> Trace:
    """Follow the words of ``promise`` while nodes are in ``states``. ``more``: the stream may carry more words per
    period than promised."""
    return _Tracer(promise, states, codes, more=more).run()


class _Tracer:
    def __init__(self, promise: Promise, states: States, codes: Codes, *, more: bool) -> None:
        self.promise = promise
        self.more = more
        self.states = states
        self.codes = codes
        self.trace = Trace()
        self.waiting: list[Place] = []

    def state(self, node: int) -> NodeState | None:
        state = self.states[node]
        self.trace.keys[node] = () if state is None else state.key
        return state

    def note(
        self, rule: str, node: int, message: str, right: str, vfsm: Vfsm | None = None, slot: int | None = None
    ) -> None:
        pipeline, number = vfsm or (None, None)
        problem = Problem(rule, f"stream {self.promise.stream}: {message}", right, pipeline, slot, number)
        self.trace.problems.append((node, problem))

    def run(self) -> Trace:
        promise, trace = self.promise, self.trace
        state = self.state(promise.source)
        first = state.register_readers.get(promise.register, []) if state else []
        if not first:
            self.note(
                "promises",
                promise.source,
                f"nothing reads register {promise.register}, to which the processor writes",
                "a VFSM that does",
            )
            return trace
        assert state is not None
        trace.words = len(state.view.slots[first[0]])
        trace.registers[promise.source, promise.register] = None
        place = (promise.source, *first[0])
        trace.vfsms[place] = None
        self.waiting.append(place)
        while self.waiting:
            self.follow(self.waiting.pop())
        if trace.words < promise.words or (trace.words > promise.words and not self.more):
            self.note(
                "promises",
                promise.source,
                f"{trace.words} words per period",
                f"{promise.words} words, as promised",
                first[0],
            )
        self.compare()
        return trace

    def follow(self, place: Place) -> None:
        """Go on to all VFSMs that get words from the VFSM at ``place``."""
        trace, node = self.trace, place[0]
        state = self.states[node]
        assert state is not None
        # Cached, as many streams, for many values, go from this VFSM to the same VFSMs.
        cached = state.hops.get(place)
        if cached is None:
            end = state.view.links.get(state.annotations[place[1:]].destination)
            cached = state.hops[place] = (None if end is None else end[0]), {}
        other, hops = cached
        far = None if other is None else self.state(other)
        hop = hops.get(far)
        if hop is None:
            hop = hops[far] = _Hopper(self.codes, state, place[1:], far).run()
        trace.link_slots += hop.link_slots
        trace.dropped |= hop.dropped
        if hop.register is not None:
            trace.registers[node, hop.register] = None
            if hop.words is None:
                trace.arrivals.append((node, hop.register))
            else:
                trace.words = min(trace.words, hop.words)
        for remark in hop.remarks:
            self.note(*remark)
        for step in hop.steps:
            if step in trace.vfsms:
                self.note(
                    "promises",
                    step[0],
                    "its words come to the same VFSM on two ways",
                    "a tree, in which each VFSM has one before it",
                    step[1:],
                )
            else:
                trace.vfsms[step] = None
                self.waiting.append(step)

    def compare(self) -> None:
        """Compare the registers at which the words have arrived with the promised destinations."""
        promised = list(self.promise.destinations)
        if sorted(promised) == sorted(self.trace.arrivals):
            return
        for node, register in dict.fromkeys((*promised, *self.trace.arrivals)):
            wanted = promised.count((node, register))
            found = self.trace.arrivals.count((node, register))
            if wanted != found:
                self.note(
                    "promises",
                    node,
                    f"each word comes to register {register} {_times(found)}",
                    f"{_times(wanted)}, as promised",
                )


class _Hopper:
    """Finds where the words of a VFSM go next, given the states of its node and of the node at the end of its link."""

    def __init__(self, codes: Codes, state: NodeState, vfsm: Vfsm, far: NodeState | None) -> None:
        self.codes = codes
        self.node = state.view.node
        self.state = state
        self.vfsm = vfsm
        self.far = far
        self.hop = Hop()

    def note(
        self, rule: str, node: int, message: str, right: str, vfsm: Vfsm | None = None, slot: int | None = None
    ) -> None:
        self.hop.remarks.append(Remark(rule, node, message, right, vfsm, slot))

    def reach(self, node: int, vfsm: Vfsm) -> None:
        self.hop.steps.append((node, *vfsm))

    def run(self) -> Hop:
        codes, state, vfsm = self.codes, self.state, self.vfsm
        destination = state.annotations[vfsm].destination
        if codes.is_neighbour(destination):
            if destination in state.view.links:
                self.cross(*state.view.links[destination])
        elif codes.is_register(destination):
            self.land(destination - codes.first_register)
        elif codes.is_buffer(destination):
            for taker in state.takers((vfsm[0], destination - codes.first_buffer))[:1]:
                self.reach(self.node, taker)
        elif destination == codes.null:
            self.hop.dropped = True
        else:
            self.note(
                "promises",
                self.node,
                f"its words come to {codes.name(destination)} and stay there for ever",
                "a destination that takes them, or a source that gives none",
                vfsm,
            )
        if codes.is_neighbour(destination):
            self.same(state.view.slots[vfsm], lambda slot: state.fork_leg(vfsm, slot), self.node, "forks them to")
        return self.hop

    def land(self, register: int) -> None:
        """Words go into a register: they have arrived, unless a VFSM takes them on."""
        self.hop.register = register
        takers = self.state.register_readers.get(register, [])
        if takers:
            slots = self.state.view.slots
            self.hop.words = joint_words(slots[self.vfsm], slots[takers[0]], self.state.view.period)
            self.reach(self.node, takers[0])

    def cross(self, other: int, port: int) -> None:
        """Follow words over a link: in the next slot a VFSM must read them at ``port`` of the node ``other``."""
        node, vfsm, state, far = self.node, self.vfsm, self.state, self.far
        period = state.view.period
        name = self.codes.name(state.annotations[vfsm].destination)
        met: dict[int, Vfsm | None] = {}
        for slot in state.view.slots[vfsm]:
            self.hop.link_slots += 1
            after = (slot + 1) % period
            readers = far.reads.get((port, after), []) if far else []
            met[slot] = readers[0] if readers else None
            if not readers:
                self.note(
                    "links",
                    node,
                    f"it writes {name}, but node {other} does not read that link in slot {after}",
                    f"a VFSM of node {other} that reads from {self.codes.name(port)} in slot {after}",
                    vfsm,
                    slot,
                )
        written = {(slot + 1) % period for slot in met}
        slots = [slot for slot, reader in met.items() if reader is not None]
        self.same(slots, lambda slot: met[slot], other, f"writes {name} to")
        for reader in dict.fromkeys(reader for reader in met.values() if reader is not None):
            assert far is not None
            for slot in far.view.slots[reader]:
                if slot not in written:
                    self.note(
                        "links",
                        other,
                        f"it reads {self.codes.name(port)}, but node {node} does not write there in the slot before",
                        "a written word for every read",
                        reader,
                        slot,
                    )

    def same(self, slots: Sequence[int], next_of: Callable[[int], Vfsm | None], other: int, verb: str) -> None:
        """Reach the VFSM ``next_of(slot)`` that gets the words in each of ``slots``; it must be the same in all."""
        following: dict[Vfsm | None, int] = {}
        for slot in slots:
            following.setdefault(next_of(slot), slot)
        if len(following) > 1:
            described = " and ".join(
                f"{f'VFSM {v[1]} of pipeline {v[0]}' if v else 'none'} (slot {slot})" for v, slot in following.items()
            )
            self.note(
                "promises",
                self.node,
                f"it {verb} {described}, so a refused word would lose its way",
                "the same VFSM in every slot",
                self.vfsm,
            )
        for target in following:
            if target is not None:
                self.reach(other, target)


def _times(count: int) -> str:
    return {0: "never", 1: "once"}.get(count, f"{count} times")
