"""A ring through all nodes, written by hand: the smallest images that keep every router and processor busy."""

from __future__ import annotations

from collections.abc import Sequence

from numesh.codes import FIRST_FREE_VFSM, LOOKAHEAD, NOP_VFSM, Annotation, Codes, MoveType, ScheduleEntry
from numesh.memories import NodeMemories
from numesh.shape import NodeShape
from pointsman.errors import PointsmanError
from pointsman.network import Topology


def ring_order(topology: Topology) -> list[int]:
    """All nodes in the order of a ring: each is a neighbour of its predecessor, and the first of the last.

    Raises
    ------
    PointsmanError
        If the topology is no mesh or torus in two dimensions with an even number of rows and two columns at least.
    """
    if topology.kind == "graph" or len(topology.size) != 2 or topology.size[1] % 2 or topology.size[0] < 2:
        raise PointsmanError(
            f"a ring needs a mesh with an even number of rows and at least two columns, not {topology}"
        )
    columns, rows = topology.size
    order = []
    for y in range(rows):
        across = range(1, columns) if y % 2 == 0 else range(columns - 1, 0, -1)
        order += [topology.node_at(x, y) for x in across]
    return order + [topology.node_at(0, y) for y in range(rows - 1, -1, -1)]


def ring_memories(
    shape: NodeShape, topology: Topology, streams: Sequence[tuple[int, int]], *, endless: bool = False
) -> list[NodeMemories]:
    """Memories with which each node sends to the next node in `ring_order`.

    Parameters
    ----------
    shape : NodeShape
        At least two pipelines: the first sends, the second receives.
    topology : Topology
        Network with a ring.
    streams : sequence of (int, int)
        (out, in), interface registers: words written to register ``out`` arrive in register ``in`` of the next node. Each
        stream takes two slots of the schedule, and so moves a word every ``2 * len(streams)`` cycles.
    endless : bool
        A word that was written once is sent repeatedly, whether it is read or not, so that routers are fully busy without
        any processor.
    """
    codes = Codes(shape)
    order = ring_order(topology)
    memories = [NodeMemories.at_reset(shape)] * topology.nodes
    period = 2 * len(streams)
    for place, node in enumerate(order):
        forward, _ = _ends(topology, node, order[(place + 1) % len(order)])
        _, back = _ends(topology, order[place - 1], node)
        schedule = list(memories[node].schedule)
        annotations = [list(words) for words in memories[node].annotations]
        for number, (out, into) in enumerate(streams):
            vfsm = FIRST_FREE_VFSM + number
            idle = (NOP_VFSM,) * (shape.pipelines - 2)
            rows = ((vfsm, NOP_VFSM, *idle), (NOP_VFSM, vfsm, *idle))
            for slot, row in enumerate(rows, 2 * number):
                schedule[slot] = codes.encode_entry(ScheduleEntry(row, (slot + LOOKAHEAD) % period))
            send = Annotation(MoveType.COPY if endless else MoveType.MOVE, codes.register(out), forward)
            receive = Annotation(MoveType.BLIND if endless else MoveType.MOVE, back, codes.register(into))
            annotations[0][vfsm] = codes.encode_annotation(send)
            annotations[1][vfsm] = codes.encode_annotation(receive)
        memories[node] = NodeMemories(tuple(schedule), tuple(map(tuple, annotations)))
    return memories


def _ends(topology: Topology, node: int, other: int) -> tuple[int, int]:
    """Ports of the first link from ``node`` to ``other``, at either end."""
    return next((port, end) for port, (there, end) in sorted(topology.at_port[node].items()) if there == other)
