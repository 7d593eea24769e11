"""Operators with gates (a barrier in the router): is the word that releases all held up by every node that has not entered?

The streams are judged as all others are, with every gate of a turn open. This pass leaves one node behind: with its router in
any other stage than the one whose turn it is, no word of that turn may come to anybody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from numesh.codes import Codes
from pointsman.artifacts.images.images import Images, Promise, Role
from pointsman.verify.report import Finding, Notebook

from .node import NodeState, NodeView


def check_gates(images: Images, codes: Codes, views: Mapping[int, NodeView], phase: int, notebook: Notebook) -> None:
    """Note nodes past which the words of an operator with gates come although they have not entered.

    Time grows with the square of an instance's nodes.

    Parameters
    ----------
    views : mapping of int to NodeView
        The nodes that have a part in the phase.
    """
    for index in images.phases[phase].operators:
        operator = images.operators[index]
        if not operator.gated:
            continue

        def note(message: str, right: str, node: int, values: tuple[str, ...] = (), index: int = index) -> None:
            one = images.operators[index]
            notebook.add(
                Finding(
                    "gates",
                    message,
                    right,
                    phase=images.phases[phase].name,
                    node=node,
                    operator=one.label,
                    source=one.source,
                    values=values,
                )
            )

        members = {node for node, view in views.items() for other, _ in view.operators if other == index}
        promises = [one for one in images.promises if one.operator == index]
        for state in range(operator.states):
            turn = state % operator.stages
            held = [one for one in promises if state in one.values]
            if turn == 0:
                for one in held:
                    note(f"words of {one.stream} pass while all gates are shut", "no way for them", one.source)
                continue
            for node in sorted(members - {node for one in held for node, _ in one.destinations}):
                if any(not role.local for role in _roles(views[node], index)):
                    note("nothing tells it that all have entered", "a word to every node", node, (f"stage {turn}",))
            for one in held:
                for node, _ in one.destinations:
                    if node == one.source:
                        continue
                    for other in range(state - turn, state - turn + operator.stages):
                        notebook.counts["gates left behind"] += other != state
                        if other != state and next(_arrivals(one, codes, views, index, state, node, other), None):
                            note(
                                f"words of {one.stream} pass it although it is in stage {other - state + turn}",
                                "a VFSM on their way that reads nothing",
                                node,
                                (f"stage {turn}",),
                            )


def _roles(view: NodeView, index: int) -> tuple[Role, ...]:
    return next(operator.roles for other, operator in view.operators if other == index)


def _arrivals(
    promise: Promise, codes: Codes, views: Mapping[int, NodeView], index: int, state: int, behind: int, other: int
) -> Iterator[tuple[int, int]]:
    """Registers from which a processor may get words of a promise while the node ``behind`` is in another state."""

    def stands(node: int) -> NodeState | None:
        view = views.get(node)
        return None if view is None else view.state(view.key({index: other if node == behind else state}))

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
