"""Words followed from where a processor writes them to where processors read them.

For one phase and a choice of run-time values a promise is proven on the VFSMs rather than on single words: starting
from the VFSM that reads the source register, each VFSM is followed in *every* slot in which it is scheduled, and it
must hand its words to the same VFSMs in each. A word that is refused stays with its VFSM and is sent in another of its
slots, so this is what keeps words on their way and in order however the processors block (Metcalf 1997, §7.1.1). With
every slot met by a reader in the next, and every buffer emptied in time (``check_node``), a VFSM tree carries as many
words per period as its first VFSM has slots.

A VFSM that no word can reach for a value needs no partner: a run-time broadcast leaves those before its source as they
are (§7.1.4).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from numesh.codes import Codes
from pointsman.images.image import Promise

from .check_joints import joint_words
from .check_node import Key, NodeState, NodeView, Problem, Vfsm

Place = tuple[int, int, int]
"""Node, pipeline and number of a VFSM."""


@dataclass
class Trace:
    """The tree of VFSMs of a promise."""

    keys: dict[int, Key] = field(default_factory=dict)
    """Nodes that were looked at, and their roles."""
    vfsms: dict[Place, None] = field(default_factory=dict)
    arrivals: list[tuple[int, int]] = field(default_factory=list)
    """(node, register) of each delivery."""
    registers: dict[tuple[int, int], None] = field(default_factory=dict)
    """(node, register) of every interface register on the way, the first included."""
    problems: list[tuple[int, Problem]] = field(default_factory=list)
    """(node, what is wrong there)."""
    words: int = 0
    link_slots: int = 0


def trace_promise(
    promise: Promise,
    views: Mapping[int, NodeView],
    codes: Codes,
    choice: Mapping[int, int],
    *,
    more: bool = False,
) -> Trace:
    """Follow the words of ``promise``.

    Parameters
    ----------
    promise : Promise
        What is promised.
    views : mapping of int to NodeView
        The nodes that have a part in the phase.
    codes : Codes
        Codes of the shape.
    choice : mapping
        Operator to index of its value.
    more : bool
        There may be more words per period than are promised.
    """
    return _Tracer(promise, views, codes, choice, more=more).run()


class _Tracer:
    def __init__(
        self,
        promise: Promise,
        views: Mapping[int, NodeView],
        codes: Codes,
        choice: Mapping[int, int],
        *,
        more: bool,
    ) -> None:
        self.promise = promise
        self.more = more
        self.views = views
        self.codes = codes
        self.choice = choice
        self.trace = Trace()
        self.waiting: list[Place] = []

    def state(self, node: int) -> NodeState | None:
        view = self.views.get(node)
        if view is None:
            self.trace.keys.setdefault(node, ())
            return None
        key = self.trace.keys.get(node)
        if key is None:
            key = self.trace.keys[node] = view.key(self.choice)
        return view.state(key)

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
        self.reach(promise.source, first[0])
        while self.waiting:
            node, pipeline, number = self.waiting.pop()
            self.follow(node, (pipeline, number))
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

    def reach(self, node: int, vfsm: Vfsm) -> None:
        place = (node, *vfsm)
        if place in self.trace.vfsms:
            self.note(
                "promises",
                node,
                "its words come to the same VFSM on two ways",
                "a tree, in which each VFSM has one before it",
                vfsm,
            )
            return
        self.trace.vfsms[place] = None
        self.waiting.append(place)

    def follow(self, node: int, vfsm: Vfsm) -> None:
        """Go on to all VFSMs that get the words of this one."""
        state = self.state(node)
        assert state is not None
        codes, destination = self.codes, state.annotations[vfsm].destination
        if codes.is_neighbour(destination):
            if destination in state.view.links:
                self.cross(node, vfsm, state, *state.view.links[destination])
        elif codes.is_register(destination):
            self.land(node, vfsm, state, destination - codes.first_register)
        elif codes.is_buffer(destination):
            for taker in state.takers((vfsm[0], destination - codes.first_buffer))[:1]:
                self.reach(node, taker)
        elif destination != codes.null:
            self.note(
                "promises",
                node,
                f"its words come to {codes.name(destination)} and stay there for ever",
                "a destination that takes them, or a source that gives none",
                vfsm,
            )
        if codes.is_neighbour(destination):
            self.same(
                node, vfsm, state.view.slots[vfsm], lambda slot: state.fork_leg(vfsm, slot), node, "forks them to"
            )

    def land(self, node: int, vfsm: Vfsm, state: NodeState, register: int) -> None:
        """In a register: the words have arrived, unless a VFSM takes them on."""
        self.trace.registers[node, register] = None
        takers = state.register_readers.get(register, [])
        if not takers:
            self.trace.arrivals.append((node, register))
            return
        slots = state.view.slots
        passing = joint_words(slots[vfsm], slots[takers[0]], state.view.period)
        self.trace.words = min(self.trace.words, passing)
        self.reach(node, takers[0])

    def cross(self, node: int, vfsm: Vfsm, state: NodeState, other: int, port: int) -> None:
        """Follow words over a link: in the next slot they must be read at the other end."""
        far = self.state(other)
        period = state.view.period
        name = self.codes.name(state.annotations[vfsm].destination)
        met: dict[int, Vfsm | None] = {}
        for slot in state.view.slots[vfsm]:
            self.trace.link_slots += 1
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
        self.same(node, vfsm, slots, lambda slot: met[slot], other, f"writes {name} to")
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

    def same(
        self,
        node: int,
        vfsm: Vfsm,
        slots: list[int] | tuple[int, ...],
        next_of: Callable[[int], Vfsm | None],
        other: int,
        verb: str,
    ) -> None:
        """Reach the VFSM that gets the words in each of ``slots``; it must be the same one."""
        following: dict[Vfsm | None, int] = {}
        for slot in slots:
            following.setdefault(next_of(slot), slot)
        if len(following) > 1:
            described = " and ".join(
                f"{f'VFSM {v[1]} of pipeline {v[0]}' if v else 'none'} (slot {slot})" for v, slot in following.items()
            )
            self.note(
                "promises",
                node,
                f"it {verb} {described}, so a refused word would lose its way",
                "the same VFSM in every slot",
                vfsm,
            )
        for target in following:
            if target is not None:
                self.reach(other, target)

    def compare(self) -> None:
        """Where the words have arrived against where they should."""
        promised = list(self.promise.destinations)
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


def _times(count: int) -> str:
    return {0: "never", 1: "once"}.get(count, f"{count} times")
