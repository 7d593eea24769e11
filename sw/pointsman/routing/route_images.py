"""A routed phase alone as images: each stream is an operator, whose ends write and read.

With them the judge can prove routes of ``pointsman route``, and machines can run them. Leaves alone load functions and changes of
phase.
"""

from __future__ import annotations

from collections import defaultdict

from numesh.codes import FIRST_FREE_VFSM, REPROGRAM_VFSM, Annotation, Codes, MoveType
from pointsman.artifacts.images.images import (
    Images,
    LaneImage,
    NodeImage,
    NodeOperator,
    NodePhase,
    OperatorImage,
    PhaseImage,
    Promise,
    Rewrite,
    Role,
)
from pointsman.routing.errors import RoutingError
from pointsman.routing.streams import Place, RoutedChain, RoutedPhase, RoutedVfsm


def route_images(routed: RoutedPhase) -> Images:
    """Images of a single phase with an operator for each stream; chains get interface registers in order."""
    codes = Codes(routed.shape)
    registers = _registers(routed)
    schedule = routed.schedule
    vfsms: dict[int, list[tuple[RoutedChain, int]]] = defaultdict(list)
    writes: dict[tuple[int, int], set[int]] = defaultdict(set)
    for chain in routed.chains:
        for index, vfsm in enumerate(chain.vfsms):
            vfsms[vfsm.node].append((chain, index))
            if vfsm.destination.kind == "deliver":
                writes[vfsm.node, vfsm.pipeline].update(vfsm.slots)

    def code(chain: RoutedChain, vfsm: RoutedVfsm, place: Place) -> int:
        if place.kind == "link":
            return codes.neighbour(place.number)
        if place.kind == "buffer":
            return codes.buffer(place.number)
        return codes.register(registers[chain.stream, chain.chain, vfsm.node, place.kind])

    def annotation(chain: RoutedChain, index: int) -> Rewrite:
        vfsm = chain.vfsms[index]
        forked = any(other.parent == index and other.type == MoveType.FORK for other in chain.vfsms)
        return Rewrite(
            vfsm.pipeline,
            vfsm.number,
            Annotation(vfsm.type, code(chain, vfsm, vfsm.source), code(chain, vfsm, vfsm.destination), forked),
        )

    def rows(node: int) -> tuple[tuple[int, ...], ...]:
        table = schedule[node].astype(int).tolist()
        for pipeline in range(routed.shape.pipelines):
            busy = writes[node, pipeline]
            for slot in range(routed.period):
                if table[slot][pipeline] < FIRST_FREE_VFSM and (slot - 1) % routed.period not in busy:
                    table[slot][pipeline] = REPROGRAM_VFSM
        return tuple(map(tuple, table))

    operators: dict[int, list[tuple[int, NodeOperator]]] = defaultdict(list)
    promises = []
    for number, stream in enumerate(routed.streams):
        mine = routed.chains_of(number)
        out = tuple(registers[number, chain.chain, stream.source, "inject"] for chain in mine)
        ends = (stream.source, *stream.destinations)
        for position, node in enumerate(ends):
            if position == 0:
                role = Role("write", (LaneImage(True, out),))
            else:
                into = tuple(registers[number, chain.chain, node, "deliver"] for chain in mine)
                role = Role("read", (LaneImage(False, into, data="in"),))
            operators[node].append((number, NodeOperator((role,), (0,), position, len(ends))))
        for chain, register in zip(mine, out, strict=True):
            destinations = tuple(
                (vfsm.node, registers[number, chain.chain, vfsm.node, "deliver"])
                for vfsm in chain.vfsms
                if vfsm.destination.kind == "deliver"
            )
            promises.append(Promise(number, 0, stream.name, (0,), stream.source, register, destinations, chain.words))
    nodes = tuple(
        NodeImage(
            (NodePhase(0, rows(node), tuple(annotation(chain, index) for chain, index in vfsms[node])),)
            if node in vfsms
            else (),
            tuple(operators.get(node, ())),
        )
        for node in range(routed.topology.nodes)
    )
    return Images(
        routed.shape,
        routed.topology,
        routed.period,
        "routes",
        (),
        (),
        tuple(
            OperatorImage(s.name, "stream", "str_stream", 0, "int32", 1, (), ((),), routed.bandwidth(i), "")
            for i, s in enumerate(routed.streams)
        ),
        (PhaseImage("streams", 1, tuple(range(len(routed.streams))), "none", "the only phase", ()),),
        nodes,
        tuple(promises),
        tuple((node, -1, -1, (0,)) for node in sorted(vfsms) if node not in operators),
    )


def _registers(routed: RoutedPhase) -> dict[tuple[int, int, int, str], int]:
    """Interface register by (stream, chain, node, "inject" or "deliver")."""
    used: dict[int, int] = defaultdict(lambda: routed.shape.pipelines)
    found: dict[tuple[int, int, int, str], int] = {}
    for chain in routed.chains:
        for vfsm in chain.vfsms:
            for place in (vfsm.source, vfsm.destination):
                if place.kind not in ("inject", "deliver"):
                    continue
                if used[vfsm.node] >= routed.shape.registers:
                    raise RoutingError(f"node {vfsm.node} has too few interface registers for its chains")
                found[chain.stream, chain.chain, vfsm.node, place.kind] = used[vfsm.node]
                used[vfsm.node] += 1
    return found
