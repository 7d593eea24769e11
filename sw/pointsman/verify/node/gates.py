"""Rule "gates": a barrier in the router opens only when all of its nodes have entered (Metcalf 1997, B.1 ``str_barrier``).

Takes the view of a phase; notes findings. A node that enters such a barrier opens a gate in its own router: a VFSM that
read nothing now passes the word on. The router has a stage for even calls, a stage for odd calls (the turns), and a
stage in which the gate is shut.

How it is proven: for each node, and each stage other than the turn's that its router may be in, the word of the turn is
followed with that node left behind. If the word comes to any processor, that processor is released without the node.
Example: a line 0 - 1 - 2 with the word going from 0 to 2. With node 1 in any stage but the turn's, node 2 must get no
word.

Leaves to ``words.trace`` that the word comes to all nodes when every gate is open.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pointsman.artifacts.images.images import Promise
from pointsman.verify.report import Notebook

from .node import NodeState
from .phase_view import PhaseView


def check_gates(view: PhaseView, notebook: Notebook) -> None:
    """Note nodes that have not entered and that the words of an operator with gates pass nevertheless.

    Time grows with the square of the number of nodes of an instance.
    """
    for index, operator in view.operators():
        if not operator.gated:
            continue
        note = partial(notebook.note, "gates", operator=operator, phase=view.name)
        members = {node for node, own in view.nodes.items() for other, _ in own.operators if other == index}
        promises = [one for one in view.images.promises if one.operator == index]
        for state in range(operator.states):
            turn = state % operator.stages
            held = [one for one in promises if state in one.values]
            if turn == 0:
                for one in held:
                    note(f"words of {one.stream} pass while all gates are shut", "no way for them", node=one.source)
                continue
            for node in sorted(members - {node for one in held for node, _ in one.destinations}):
                if any(not role.local for role in view.nodes[node].here[index].roles):
                    note(
                        "nothing tells it that all have entered",
                        "a word to every node",
                        node=node,
                        values=(f"stage {turn}",),
                    )
            for one in held:
                for node, _ in one.destinations:
                    if node == one.source:
                        continue
                    for other in range(state - turn, state - turn + operator.stages):
                        notebook.counts["gates left behind"] += other != state
                        if other != state and next(_arrivals(one, view, state, node, other), None):
                            note(
                                f"words of {one.stream} pass it although it is in stage {other - state + turn}",
                                "a VFSM on their way that reads nothing",
                                node=node,
                                values=(f"stage {turn}",),
                            )


def _arrivals(promise: Promise, view: PhaseView, state: int, behind: int, other: int) -> Iterator[tuple[int, int]]:
    """(node, register) pairs at which a processor may get words of ``promise`` while the node ``behind`` is in the
    state ``other`` of the operator and all other nodes are in ``state``."""
    codes = view.codes

    def stands(node: int) -> NodeState | None:
        own = view.nodes.get(node)
        return None if own is None else own.state(own.key({promise.operator: other if node == behind else state}))

    source = stands(promise.source)
    if source is None:
        return
    waiting = [(promise.source, vfsm) for vfsm in source.register_readers.get(promise.register, ())]
    seen = set(waiting)
    while waiting:
        node, vfsm = waiting.pop()
        here = stands(node)
        assert here is not None
        destination = here.annotations[vfsm].destination
        reached: list[tuple[int, tuple[int, int]]] = []
        if codes.is_neighbour(destination) and destination in here.view.links:
            far, port = here.view.links[destination]
            there = stands(far)
            for slot in here.view.slots[vfsm]:
                after = (slot + 1) % here.view.period
                reached += [(far, one) for one in (there.reads.get((port, after), ()) if there else ())]
                leg = here.fork_leg(vfsm, slot)
                reached += [(node, leg)] if leg else []
        elif codes.is_buffer(destination):
            reached += [(node, one) for one in here.takers((vfsm[0], destination - codes.first_buffer))]
        elif codes.is_register(destination):
            register = destination - codes.first_register
            readers = here.register_readers.get(register, [])
            reached += [(node, one) for one in readers]
            if not readers:
                yield node, register
        for place in reached:
            if place not in seen:
                seen.add(place)
                waiting.append(place)
