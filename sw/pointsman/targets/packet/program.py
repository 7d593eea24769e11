"""A program for packet routers: implementations by messages, and interface addresses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from packet_router.shape import RouterShape
from pointsman.errors import PointsmanError
from pointsman.network import Topology
from pointsman.operators.api.operands import is_partial, runtime_operands
from pointsman.operators.messages import COUNTED, Decomposition, decompose
from pointsman.operators.messages.agreement import agreed_operands, agreement_of, plain_operator
from pointsman.plan.structure.structure import Structure, outline
from pointsman.program.program import Operator, Program

from .addresses import Address, allocate
from .arrivals import Arrival, ArrivalOrder

MAX_ANALYSED = 300_000
"""Phases times steps of messages up to which it is worked out which operators may share an address without waiting."""


@dataclass(frozen=True)
class PacketOperator:
    """An operator with its implementation, and the address of its messages by (node, channel)."""

    operator: Operator
    way: Decomposition
    addresses: Mapping[tuple[int, int], Address]
    phase: int
    agreement: PacketOperator | None = None
    """Allreduce in its load function that tells all nodes run-time values that not every node knows; None: not needed."""

    @cached_property
    def words(self) -> int:
        """Words of its messages, without header, but with the round of a `counted` operator."""
        return 1 if self.operator.kind == "barrier" else self.operator.m + self.counted

    @cached_property
    def counted(self) -> bool:
        """Do its messages begin with the number of the call, because readers do not know from whom the next one comes?"""
        operator = plain_operator(self.operator)
        return operator.kind in COUNTED and any(is_partial(operator, name) for name in runtime_operands(operator))


@dataclass(frozen=True)
class PacketProgram:
    """A program compiled for the target *packet*: operators, implementations, addresses."""

    name: str
    parameters: tuple[tuple[str, int], ...]
    topology: Topology
    shape: RouterShape
    structure: Structure
    operators: tuple[PacketOperator, ...]
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Plain values: per operator its implementation, and its addresses by channel and node."""
        return {
            "name": self.name,
            "parameters": dict(self.parameters),
            "network": {"kind": self.topology.kind, "size": list(self.topology.size)},
            "shape": self.shape.as_dict(),
            "operators": {
                one.operator.label: {
                    "kind": one.operator.kind,
                    "implementation": one.way.name,
                    "words": one.operator.m,
                    "phase": one.phase,
                    "addresses": [
                        {
                            "node": node,
                            "channel": channel,
                            "address": address.number,
                            "tag": address.tag,
                            "virtual": address.virtual,
                        }
                        for (node, channel), address in sorted(one.addresses.items())
                    ],
                }
                for one in self.operators
            },
            "notes": list(self.notes),
        }


def without_links(topology: Topology) -> frozenset[int]:
    """Nodes to which no link leads. All routers of a graph are joined, so theirs hang on others, and carry nothing."""
    return frozenset(range(topology.nodes)) - {node for link in topology.links for node in (link.node, link.other)}


def _refuse_alone(operator: Operator, alone: frozenset[int]) -> None:
    for instance in operator.instances:
        found = alone.intersection(instance.nodes)
        if found and len(instance.nodes) > 1:
            raise PointsmanError(f"no link leads to node {min(found)}, which takes part in '{operator.label}'")


def make_packet_program(
    program: Program, shape: RouterShape, *, name: str, addresses: int | None = None, in_order: bool = True
) -> PacketProgram:
    """Choose implementations and allocate addresses.

    Parameters
    ----------
    addresses : int or None
        Number of interface addresses to use, from 2 to ``shape.addresses``; None: all.
    in_order : bool
        Messages of one pair of nodes keep their order, as those of programs do on all routers here: they never ask for an
        adaptive way. False: addresses as for routers that do not promise it (Metcalf 1997, Figure 7-4).

    Raises
    ------
    PointsmanError
        If an operator cannot be done by messages, the program is for another network, or there are no such addresses.
    """
    topology = program.topology
    kind = "graph" if shape.graph is not None else "torus" if shape.torus else "mesh"
    links = {frozenset((link.node, link.other)) for link in topology.links}
    alone = without_links(topology)
    if not topology.regular:
        joined = {frozenset(link) for link in shape.graph or () if alone.isdisjoint(link)}
        fits = kind == "graph" and topology.nodes == shape.nodes and joined == links
    else:
        fits = (topology.kind, topology.size) == (kind, shape.size)
    if not fits:
        raise PointsmanError(
            f"the program is for a {topology.described}, the routers are a {'x'.join(map(str, shape.size))} {kind}"
        )
    if addresses is None:
        addresses = shape.addresses
    if not 2 <= addresses <= shape.addresses:
        raise PointsmanError(f"interface addresses must be 2 to {shape.addresses}, not {addresses}")
    structure = outline(program)
    operators: list[tuple[Operator, Decomposition]] = []
    phase_of: list[int] = []
    traffic: list[float] = []
    notes = []
    for number, phase in enumerate(structure.phases):
        for operator in phase.operators:
            _refuse_alone(operator, alone)
            if operator.impl is not None and not operator.impl.startswith("dyn_"):
                notes.append(f"{operator.label}: :impl {operator.impl} is for scheduled routers and not used")
            operators.append((operator, decompose(plain_operator(operator), topology)))
            phase_of.append(number)
            traffic.append(float(operator.m * operator.c * phase.loops))
    agreeing = [number for number, (operator, _) in enumerate(operators) if agreed_operands(operator)]
    first_agreement = len(operators)
    for number in agreeing:
        hidden = agreement_of(operators[number][0])
        operators.append((hidden, decompose(hidden, topology)))
        phase_of.append(phase_of[number])
        traffic.append(float(hidden.m))
    dependencies = ArrivalOrder(structure, operators, phase_of, topology, in_order=in_order)
    arrivals = {arrival: traffic[arrival.operator] for arrival in dependencies.arrivals}
    here: dict[int, list[Arrival]] = {}
    for arrival in arrivals:
        here.setdefault(arrival.node, []).append(arrival)
    work = len(structure.phases) * sum(len(flow.events) + 1 for flows in dependencies.flows for flow in flows)
    conflicts: dict[int, set[frozenset[Arrival]]] | None = None
    if work > MAX_ANALYSED:
        notes.append("the order of messages was not worked out: operators share interface addresses evenly")
    else:
        conflicts = dict(dependencies.conflicts())
        # Load functions may be called early: nothing else is known to be over by then.
        for node, those in here.items():
            apart = {
                frozenset((a, b)) for a in those for b in those if a != b and max(a, b).operator >= first_agreement
            }
            conflicts.setdefault(node, set()).update(apart)
    allocated = allocate(arrivals, conflicts, addresses)
    tables: list[dict[tuple[int, int], Address]] = [{} for _ in operators]
    for arrival, address in allocated.items():
        tables[arrival.operator][arrival.node, arrival.channel] = address
    made = [PacketOperator(operator, way, tables[i], phase_of[i]) for i, (operator, way) in enumerate(operators)]
    for hidden_at, number in enumerate(agreeing, first_agreement):
        made[number] = replace(made[number], agreement=made[hidden_at])
    return PacketProgram(
        name,
        program.parameters,
        topology,
        shape,
        structure,
        tuple(made[:first_agreement]),
        tuple(notes),
    )
