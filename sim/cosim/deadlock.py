"""Explanation of a deadlock: which node waits for which, since when, in which phase, and where words are stuck.

Takes the engine's `DeadlockError`, and on the mesh of scheduled routers the promises of the images: from which register of
which node each stream comes, and to which it goes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from cosim.record import State
from pointsman.runtime import Node
from pointsman.runtime.numesh.substrate import NumeshSubstrate
from pointsman.runtime.tdm.substrate import TdmSubstrate

from .errors import DeadlockError, Waiting

_LISTED = 16
_PARTNERS = 4


def deadlock_report(nodes: Sequence[Node], error: DeadlockError, state: State | None) -> str:
    """The report as text, a line for each node. ``state``: registers in which words may be stuck, if the machine shows them."""
    waits = {waiting.node: waiting for waiting in error.waiting}
    partners = {node: _partners(nodes[node], waiting) for node, waiting in waits.items()}
    lines = _waiting(nodes, error, partners, waits)
    circle = find_circle({node: list(others) for node, others in partners.items()})
    if circle:
        lines.append(f"  in a circle: {' waits for '.join(f'node {node}' for node in circle)}")
    lines += [f"  {line}" for line in _absent(nodes, list(waits))]
    done = [node.number for node in nodes if node.activity == "done"]
    if done:
        lines.append(f"  finished already: {', '.join(map(str, done[:_LISTED]))}{' …' if len(done) > _LISTED else ''}")
    if state is not None:
        lines += [f"  {line}" for line in _words(state)]
    lines += [f"  {line}" for node in list(waits)[:_LISTED] for line in nodes[node].not_awaited()]
    return "\n".join(lines)


def deadlock_waits(nodes: Sequence[Node], error: DeadlockError) -> str:
    """The beginning of the report: which nodes wait, and where, for those who know the cause already."""
    return "\n".join(_waiting(nodes, error, {}, {waiting.node: waiting for waiting in error.waiting}))


def _waiting(
    nodes: Sequence[Node], error: DeadlockError, partners: Mapping[int, Mapping[int, str]], waits: Mapping[int, Waiting]
) -> list[str]:
    lines = [f"deadlock: no word has moved for long before cycle {error.time}; these nodes wait:"]
    for node, waiting in list(waits.items())[:_LISTED]:
        lines.append(f"  {waiting}, {nodes[node].substrate.where()}, {nodes[node].activity}")
        found = partners.get(node, {})
        for other, why in list(found.items())[:_PARTNERS]:
            lines.append(f"    {why} node {other}, {_doing(nodes[other], waits)}")
        if len(found) > _PARTNERS:
            lines.append(f"    and {len(found) - _PARTNERS} more nodes")
    if len(waits) > _LISTED:
        lines.append(f"  and {len(waits) - _LISTED} more")
    return lines


def deadlock_hint(nodes: Sequence[Node], error: DeadlockError) -> str:
    """What would help: nodes that write to each other before they read are a circle that a stranger does not expect."""
    waits = {waiting.node: waiting for waiting in error.waiting}
    circle = find_circle({node: list(_partners(nodes[node], waiting)) for node, waiting in waits.items()})
    if circle and all(waits[node].writes and nodes[node].activity.endswith("_write") for node in circle):
        if any(isinstance(nodes[node].substrate, TdmSubstrate) for node in circle):
            return (
                "a write ends when its last word is in the queue of the switch, which has room for a few only, and calls of "
                "node.together are made one after the other: where nodes write to each other, let one of them read first"
            )
        return (
            "a write ends when its last word is in the router, which has room for a few only: where nodes write to each other, "
            "let one of them read first, or do both at the same time: await node.together(node.cop.a_write(…), node.cop.b_read())"
        )
    return "every message must be read by all its readers, and every node of a subset must take part"


def find_circle(waits_for: Mapping[int, Sequence[int]]) -> list[int]:
    """Nodes each of which waits for the next, the first again at the end; empty if there is no circle."""
    done: set[int] = set()
    for start in waits_for:
        path: list[int] = []
        stack: list[Iterator[int]] = [iter((start,))]
        while stack:
            node = next(stack[-1], None)
            if node is None:
                stack.pop()
                if path:
                    done.add(path.pop())
            elif node in path:
                return [*path[path.index(node) :], node]
            elif node in waits_for and node not in done:
                path.append(node)
                stack.append(iter(waits_for[node]))
    return []


def _partners(node: Node, waiting: Waiting) -> dict[int, str]:
    """Other nodes at the ends of the streams for which a node waits, each with the action that it should take."""
    found: dict[int, str] = {}
    if isinstance(node.substrate, TdmSubstrate):
        registers = node.substrate.interface.registers
        for other in range(node.nodes):
            if registers.queue(other) in waiting.writes:
                found[other] = "words are to be read by"
            elif registers.buffer(other) in waiting.reads:
                found[other] = "words are to be written by"
    if not isinstance(node.substrate, NumeshSubstrate):
        return found
    images, current = node.substrate.images, node.substrate.router.current
    for promise in images.promises:
        if current not in images.operators[promise.operator].phases or (
            promise.source == node.number and not waiting.writes
        ):
            continue
        label = images.operators[promise.operator].label
        if not _concerns(node, label):
            continue
        if promise.source == node.number and promise.register in waiting.writes:
            for other, _ in promise.destinations:
                found.setdefault(other, f"words of '{label}' are to be read by")
        elif any(end == node.number and register in waiting.reads for end, register in promise.destinations):
            found.setdefault(promise.source, f"words of '{label}' are to be written by")
    # A stream may come back to where it begins, and no node waits for what it does itself.
    found.pop(node.number, None)
    return found


def _absent(nodes: Sequence[Node], waiting: Sequence[int]) -> list[str]:
    """Nodes that have passed over a phase in which others wait, though their routers have words to pass on there."""
    lines: dict[tuple[int, int], str] = {}
    for one in waiting:
        here = nodes[one].substrate
        if not isinstance(here, NumeshSubstrate) or here.router.current < 0:
            continue
        phase = here.router.current
        for node in nodes:
            there = node.substrate
            if not isinstance(there, NumeshSubstrate) or phase not in there.router.phases:
                continue
            later, visits = there.router.current, there.router.visits
            if later > phase and visits[later] > visits[phase] < here.router.visits[phase]:
                lines[phase, node.number] = (
                    f"node {node.number} is {there.where()} and has not come to phase '{here.images.phases[phase].name}': a node "
                    "comes to a phase by a load function, also if it only passes on words of others"
                )
    return list(lines.values())[:_LISTED]


def _concerns(node: Node, label: str) -> bool:
    """Whether the node is in a function of this operator, according to its activity."""
    doing = node.activity
    return not doing.endswith(("_write", "_read", "_func")) or doing.rpartition("_")[0] == label


def _doing(node: Node, waits: Mapping[int, Waiting]) -> str:
    if node.activity == "done":
        return "which has finished"
    if node.number in waits:
        return f"which itself waits since cycle {waits[node.number].since} {node.substrate.where()}, {node.activity}"
    return f"which is {node.substrate.where()}, {node.activity}"


def _words(state: State) -> list[str]:
    """Where words are stuck."""
    lines = []
    for node in range(len(state["full"])):
        parts = []
        registers = np.flatnonzero(state["full"][node]).tolist()
        if registers:
            parts.append(f"register{'s' if len(registers) > 1 else ''} {', '.join(map(str, registers))}")
        if "held" in state:
            parts += [f"the buffer of VFSM {vfsm} in pipeline {p}" for p, vfsm in np.argwhere(state["held"][node])]
        if parts:
            lines.append(f"words are stuck at node {node}: {', '.join(parts)}")
    if len(lines) > _LISTED:
        lines[_LISTED:] = [f"and at {len(lines) - _LISTED} more nodes"]
    return lines
