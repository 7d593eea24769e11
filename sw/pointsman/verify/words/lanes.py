"""Rule "lanes": processor against router at the ends of streams.

Takes an operator of a phase and a choice of run-time values; notes findings. A processor must write exactly the
registers from which streams begin, and read exactly the registers to which they deliver. Example: a broadcast's source
writes register 2 and every other node reads register 3. If a role lacked the lane that reads register 3, words would
fill the router and stop the source.

Operators of several stages (``OperatorImage.stages``) may hold words back at a register until a VFSM takes them on in
the last stage.

Leaves to ``trace`` whether the words come to these registers, and to ``structure.roles`` how lanes wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from pointsman.artifacts.images.images import OperatorImage, Promise, Role
from pointsman.verify.node.phase_view import PhaseView
from pointsman.verify.report import Notebook

from .trace import States

Choice = dict[int, int]
"""Operator to its state (`OperatorImage.states`); operators that are not named are in state 0."""
At = tuple[int, int]
"""Node and interface register."""
Note = Callable[..., None]


@dataclass(frozen=True)
class OperatorEnds:
    """The ends of an operator's streams for a choice of values.

    Parameters
    ----------
    states : States
        What the nodes that the operator's words may pass do for the choice.
    index : int
        Number of the operator.
    held : mapping
        By state of the operator, the numbers of the promises that hold.
    choice : mapping
        State of each operator, as ``Choice``.
    """

    view: PhaseView
    states: States
    index: int
    held: Mapping[int, Sequence[int]]
    choice: Choice

    @property
    def operator(self) -> OperatorImage:
        return self.view.images.operators[self.index]

    @cached_property
    def value(self) -> int:
        return self.choice.get(self.index, 0)

    @cached_property
    def last(self) -> int:
        """The state for the last stage of the same run-time value."""
        stages = self.operator.stages
        return self.value - self.value % stages + stages - 1

    @cached_property
    def sends(self) -> dict[At, Promise]:
        """By register from which a stream begins in this state, the promise of the stream."""
        return {(one.source, one.register): one for one in self._promises(self.value)}

    @cached_property
    def delivers(self) -> dict[At, Promise]:
        """By register to which a stream delivers in this state, the promise of the stream."""
        return {end: one for one in self._promises(self.value) for end in one.destinations}

    @cached_property
    def later(self) -> set[At]:
        """Registers to which streams deliver in a later stage of the same value: a processor may already wait there."""
        left = range(self.value + 1, self.last + 1)
        return {end for state in left for one in self._promises(state) for end in one.destinations}

    def _promises(self, state: int) -> Iterator[Promise]:
        return (self.view.images.promises[number] for number in self.held.get(state, ()))


def check_lanes(ends: OperatorEnds, values: tuple[str, ...], notebook: Notebook) -> None:
    """Check which registers processors write and read; ``values``: the choice of values as text, for findings."""
    images, operator, index = ends.view.images, ends.operator, ends.index
    note = partial(notebook.note, "lanes", operator=operator, phase=ends.view.name, values=values)
    value = ends.value
    written: set[At] = set()
    read: set[At] = set()
    for node, here in images.members[index].items():
        role = here.roles[here.role_of[value]]
        if not (role.lanes or role.commands or operator.remote):
            continue
        written.update((node, register) for register, _ in role.commands)
        if operator.remote:  # VFSM 1 takes commands
            read.update(at for at in ends.delivers if at[0] == node and at[1] < images.shape.pipelines)
        notebook.counts["lanes"] += len(role.lanes)
        for lane in role.lanes:
            (written if lane.write else read).update([(node, register) for register in lane.registers])
        if role.lanes:
            _check_role(ends, node, role, partial(note, node=node))
    for (node, register), promise in ends.sends.items():
        if (node, register) not in written:
            message = f"stream {promise.stream} sends from register {register}, which the processor never writes"
            note(message, "a lane of its role", node=node)
    for (node, register), promise in ends.delivers.items():
        if promise.held:
            _check_held(ends, promise, (node, register), read, partial(note, node=node))
        elif (node, register) not in read:
            message = f"stream {promise.stream} delivers to register {register}, which the processor never reads"
            note(message, "a lane of its role", node=node)


def _check_role(ends: OperatorEnds, node: int, role: Role, note: Note) -> None:
    """Check each lane of a node against the VFSMs and promises at its registers."""
    state = ends.states[node]
    assert state is not None
    for lane in role.lanes:
        for register in lane.registers:
            at = node, register
            if lane.write and register not in state.register_readers:
                wrong = "which no VFSM reads", "a reader"
            elif lane.write and at not in ends.sends:
                wrong = "for which nothing is promised", "a promise for every word"
            elif not lane.write and register not in state.register_writers:
                wrong = "which no VFSM writes", "a writer"
            elif not lane.write and register in state.register_readers:
                wrong = "as a VFSM does", "one reader"
            elif not lane.write and at not in ends.delivers and at not in ends.later:
                wrong = "to which no stream delivers", "a promise for every word"
            else:
                continue
            verb = "writes" if lane.write else "reads"
            note(f"the processor {verb} register {register}, {wrong[0]}", wrong[1])


def _check_held(ends: OperatorEnds, promise: Promise, at: At, read: set[At], note: Note) -> None:
    """Check words held at a register: no processor reads them, and a VFSM takes them on in the last stage."""
    node, register = at
    held = f"stream {promise.stream} is held at register {register}"
    if at in read:
        note(f"{held}, which the processor reads", "neither")
    view = ends.states.views[node]
    last = view.state(view.key({**ends.choice, ends.index: ends.last}))
    if ends.operator.stages == 1 or register not in last.register_readers:
        note(f"{held}, from which nothing ever takes its words", "a VFSM that does in the last stage")
