"""Rules that a node keeps by itself in a phase, for a choice of roles.

Takes the view of a node, or its state; gives its faults: rules "back-to-back", "moves", "links" (two VFSMs on a link in
a slot), "interface-order", "forks", "registers" and "buffers". Example of a buffer: VFSM 5 at slot 3 writes the buffer
of VFSM 6, where the word is from slot 7 on. If VFSM 6 takes it at slot 8, VFSM 5 may run again from slot 11 on; sooner its turn
would be idle.

Leaves to ``words.trace`` whether the two ends of a link agree, and to ``phases`` what another phase does with the same places.
"""

from __future__ import annotations

from collections.abc import Sequence

from numesh.codes import FIRST_FREE_VFSM, REPROGRAM_VFSM, SHORTEST_RETURN, SHORTEST_STAY, SHORTEST_TURN, MoveType

from .node import NodeState, NodeView, Problem, Vfsm


def schedule_problems(view: NodeView) -> list[Problem]:
    """Findings of the rule that depends on the schedule alone: VFSMs whose turns are nearer than ``SHORTEST_TURN``."""
    message, right = "it runs in the slot before as well", "a slot between two runs of a VFSM"
    return [
        Problem("back-to-back", message, right, pipeline, slot, vfsm)
        for pipeline, column in enumerate(view.columns)
        for slot, vfsm in enumerate(column)
        if vfsm >= FIRST_FREE_VFSM and vfsm in (column[slot - d] for d in range(1, SHORTEST_TURN))
    ]


def role_problems(state: NodeState) -> list[Problem]:
    """Findings of the rules that depend on annotations, for the roles of ``state``."""
    checked = _Problems(state)
    for rule in (_moves, _ports, _interface_order, _forks, _second_legs, _registers, _buffers, _distances):
        rule(state, checked)
    return checked.found


class _Problems:
    """Collects the findings at a node."""

    def __init__(self, state: NodeState) -> None:
        self.name = state.view.codes.name
        self.found: list[Problem] = []

    def note(self, rule: str, message: str, right: str, vfsm: Vfsm, slot: int | None = None) -> None:
        self.found.append(Problem(rule, message, right, vfsm[0], slot, vfsm[1]))


def _moves(state: NodeState, problems: _Problems) -> None:
    codes = state.view.codes
    for vfsm, annotation in state.annotations.items():
        if annotation.source == codes.null:
            # Even without a destination: the word would stay in the buffer until a load function gives a destination.
            message = "NULL gives a word in every slot, which no stream sends"
            right = "an interface register, where streams begin"
        elif not state.moves(vfsm):
            continue
        elif annotation.type == MoveType.BLIND:
            message = "a blind move drops or overwrites a word when its destination is full"
            right = "a flow-controlled move"
        elif annotation.type == MoveType.COPY and not codes.is_neighbour(annotation.source):
            message = f"a copy leaves the word in {codes.name(annotation.source)} and sends it again"
            right = "a move"
        else:
            continue
        problems.note("moves", message, right, vfsm)


def _ports(state: NodeState, problems: _Problems) -> None:
    for verb, table in (("reads", state.reads), ("writes", state.writes)):
        for (port, slot), vfsms in table.items():
            if port not in state.view.links:
                for vfsm in vfsms:
                    message = f"it {verb} {problems.name(port)}, where no node is joined"
                    problems.note("links", message, "a link of the network", vfsm, slot)
            for vfsm in vfsms[1:]:
                message = f"it {verb} {problems.name(port)} as VFSM {vfsms[0][1]} of pipeline {vfsms[0][0]} does"
                problems.note("links", message, "one VFSM for a link and slot", vfsm, slot)


def _interface_order(state: NodeState, problems: _Problems) -> None:
    codes, period = state.view.codes, state.view.period
    for writer in (vfsm for writers in state.register_writers.values() for vfsm in writers):
        column = state.view.columns[writer[0]]
        for slot in state.view.slots[writer]:
            after = (slot + 1) % period
            reader = (writer[0], column[after])
            annotation = state.annotations.get(reader)
            reading = annotation is not None and codes.is_register(annotation.source)
            if reader[1] == REPROGRAM_VFSM or reading:
                message = f"it reads the interface right after VFSM {writer[1]} writes it"
                problems.note("interface-order", message, "a slot between them", reader, after)


def _forks(state: NodeState, problems: _Problems) -> None:
    """Check that a VFSM marked as forked has a second leg in the slot after each of its own slots."""
    for vfsm, annotation in state.annotations.items():
        if not annotation.forked or not state.taking[vfsm]:
            continue
        column = state.view.columns[vfsm[0]]
        for slot in state.view.slots[vfsm]:
            second = state.annotations.get((vfsm[0], column[(slot + 1) % len(column)]))
            if second is None or second.type != MoveType.FORK or second.source != annotation.destination:
                message = "it is marked as forked and no second leg follows"
                problems.note("forks", message, "a second leg in the next slot, or no mark", vfsm, slot)


def _second_legs(state: NodeState, problems: _Problems) -> None:
    for vfsm, annotation in state.annotations.items():
        if annotation.type != MoveType.FORK or not state.taking[vfsm]:
            continue
        pipeline, name = vfsm[0], problems.name(annotation.source)
        if not state.view.codes.is_neighbour(annotation.source):
            problems.note("forks", f"it forks from {name}", "a link that the first leg writes", vfsm)
            continue
        for slot in state.view.slots[vfsm]:
            first = (pipeline, state.view.columns[pipeline][slot - 1])
            leg = state.annotations.get(first)
            if leg is None or leg.destination != annotation.source:
                message = f"it forks off {name}, which VFSM {first[1]} in the slot before does not write"
                problems.note("forks", message, "the first leg in the slot before", vfsm, slot)
            elif not leg.forked:
                message = "it is forked off in the next slot and not marked as forked"
                right = "the mark, so that no word passes the second leg when the phase changes"
                problems.note("forks", message, right, first, (slot - 1) % state.view.period)


def _registers(state: NodeState, problems: _Problems) -> None:
    pipelines = len(state.view.columns)
    for register in sorted(state.register_readers.keys() | state.register_writers.keys()):
        readers = state.register_readers.get(register, [])
        writers = state.register_writers.get(register, [])
        if register < pipelines:
            # Other nodes may send commands there: ``words.commands`` checks them.
            for vfsm in readers if register in state.view.commanded() else readers + writers:
                message = f"it uses command register {register}"
                problems.note("registers", message, f"a register from {pipelines} up", vfsm)
        elif len(readers) > 1:
            # Several writers may merge; ``words.streams`` judges that.
            message = f"register {register} is read by {len(readers)} and written by {len(writers)} VFSMs"
            problems.note("registers", message, "one reader", (readers + writers)[-1])


def _buffers(state: NodeState, problems: _Problems) -> None:
    for buffer in sorted(state.buffer_writers.keys() | state.buffer_readers.keys()):
        pipeline, number = buffer
        writers, takers = state.buffer_writers.get(buffer, []), state.takers(buffer)
        if number < FIRST_FREE_VFSM:
            message = f"it uses the buffer of VFSM {number}"
            problems.note("buffers", message, "another buffer", (pipeline, (writers or takers)[0][1]))
        elif not writers:
            problems.note("buffers", "its buffer is read but not written", "a writer", (pipeline, takers[0][1]))
        elif len(takers) != 1:
            problems.note("buffers", f"its buffer is emptied by {len(takers)} VFSMs", "one reader", buffer)
        else:
            _timing(state, buffer, writers, takers[0], problems)


def _timing(state: NodeState, buffer: Vfsm, writers: Sequence[Vfsm], taker: Vfsm, problems: _Problems) -> None:
    """Check that a word written at slot t, in the buffer from t + ``SHORTEST_STAY`` on, is taken before the writer runs again."""
    stay, period, slots = SHORTEST_STAY, state.view.period, state.view.slots
    pipeline, _ = buffer
    for writer in writers:
        for slot in slots[writer]:
            taken = min((at - slot - stay) % period for at in slots[taker]) + stay
            again = min((at - slot - 1) % period for at in slots[writer]) + 1
            if taken >= again:
                message = f"VFSM {taker[1]} takes its word {taken} slots later, when it has run again"
                right = f"VFSM {taker[1]} {stay} to {again - 1} slots after it"
                problems.note("buffers", message, right, (pipeline, writer[1]), slot)


def _distances(state: NodeState, problems: _Problems) -> None:
    """Check that no VFSM always runs so soon after another one at its buffers that the node lets it idle."""
    codes = state.view.codes

    def put(vfsm: Vfsm) -> int | None:
        """Another VFSM whose buffer it fills."""
        annotation = state.annotations.get(vfsm)
        if annotation is None or not state.moving.get(vfsm) or not codes.is_buffer(annotation.destination):
            return None
        number = annotation.destination - codes.first_buffer
        return None if number == vfsm[1] else number

    def taken(vfsm: Vfsm) -> int | None:
        """Another VFSM whose buffer it empties."""
        annotation = state.annotations.get(vfsm)
        if annotation is None or not codes.is_buffer(annotation.source):
            return None
        number = annotation.source - codes.first_buffer
        return None if number == vfsm[1] else number

    touching = {vfsm for vfsm in state.annotations if put(vfsm) is not None or taken(vfsm) is not None}
    if not touching:
        return
    for pipeline, column in enumerate(state.view.columns):
        for slot, number in enumerate(column):
            vfsm = (pipeline, number)
            for distance in range(1, min(SHORTEST_STAY, len(column))):
                other = (pipeline, column[slot - distance])
                if other == vfsm or not {vfsm, other} & touching:
                    continue
                finds = {number, taken(vfsm)} - {None}
                met = {put(other)} & finds or {other[1]} & ({taken(vfsm)} - {None})
                least = SHORTEST_STAY
                if not met and distance < SHORTEST_RETURN:
                    # A word may be put there two slots after one was taken out; the compiler keeps three here, too.
                    met = ({taken(other)} & finds) or ({put(vfsm)} - {None}) & {other[1], put(other), taken(other)}
                    least = SHORTEST_RETURN
                for buffer in met:
                    when = "in the slot" if distance == 1 else f"{distance} slots"
                    message = f"it runs {when} after VFSM {other[1]}, at the buffer of VFSM {buffer}"
                    problems.note("buffers", message, f"at least {least} slots from one to the other", vfsm, slot)
