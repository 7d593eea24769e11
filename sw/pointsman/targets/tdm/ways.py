"""How each operator is done by messages on the switch, and which connections that takes.

Takes an Operator. Gives a `Decomposition` and the pairs of ports between which its words go. The messages are those of
``operators.messages``; two ways of broadcasting and one barrier are added that a mesh would not want and a crossbar does:
round a ring each port has one destination, so that one configuration is enough, whatever the source.
Non-goals: time; that is for ``sets``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pointsman.cop.program import Operator, Runtime
from pointsman.errors import PointsmanError
from pointsman.network import Topology
from pointsman.operators.messages import (
    DECOMPOSITIONS,
    Call,
    Decomposition,
    Exchange,
    Receive,
    Script,
    Send,
    is_partial,
    value_of,
)
from pointsman.tables import Pair

MAX_SCRIPTS = 100_000
"""Scripts that are looked at for one operator; with more, every pair of its ports counts as used."""


class ChainBcast(Decomposition):
    """From the source to the next node of the subset, and on from each to the next; the last one keeps it (chain_bcast)."""

    name = "chain_bcast"
    kinds = ("broadcast",)

    def fits(self, operator: Operator, topology: Topology) -> bool:
        return not is_partial(operator, "source")

    def script(self, operator: Operator, instance: int, node: int, values: Sequence[Any], topology: Topology) -> Script:
        nodes = operator.instances[instance].nodes
        own, source = nodes.index(node), value_of(operator, instance, "source", values)
        after = (own + 1) % len(nodes)
        on = () if after == source else (Send(nodes[after]),)
        if own == source:
            return Script("write", {"write": (Call(on),)})
        return Script("read", {"read": (Call((Receive(nodes[own - 1], forward=on),), 0),)})


class RingBcast(Decomposition):
    """Round the ring and back to the source, which takes its own words out (ring_bcast).

    No reader needs to know who the source is: each takes words from the node before it and hands them to the one after it.
    """

    name = "ring_bcast"
    kinds = ("broadcast",)

    def script(self, operator: Operator, instance: int, node: int, values: Sequence[Any], topology: Topology) -> Script:
        nodes = operator.instances[instance].nodes
        own, source = nodes.index(node), value_of(operator, instance, "source", values)
        before, after = nodes[own - 1], nodes[(own + 1) % len(nodes)]
        if own == source:
            steps = () if len(nodes) == 1 else (Exchange(Send(after), Receive(before, 1)),)
            return Script("write", {"write": (Call(steps),)}, slots=2)
        return Script("read", {"read": (Call((Receive(before, forward=(Send(after),)),), 0),)})


class RingBarrier(Decomposition):
    """A word goes round the ring twice: when it comes by again, all have called (ring_barrier)."""

    name = "ring_barrier"
    kinds = ("barrier",)

    def script(self, operator: Operator, instance: int, node: int, values: Sequence[Any], topology: Topology) -> Script:
        nodes = operator.instances[instance].nodes
        own = nodes.index(node)
        take, give = Receive(nodes[own - 1], 1, words=1), Send(nodes[(own + 1) % len(nodes)], 1, words=1)
        if len(nodes) == 1:
            steps: tuple[Send | Receive, ...] = ()
        elif own == 0:
            steps = (give, take, give)
        else:
            steps = (take, give, take) if own == len(nodes) - 1 else (take, give, take, give)
        return Script("func", {"func": (Call(steps),)}, slots=2)


WAYS: tuple[Decomposition, ...] = (ChainBcast(), RingBcast(), RingBarrier(), *DECOMPOSITIONS)
"""Everything that the switch can do, by name."""


def way_named(name: str, kind: str) -> Decomposition:
    """The way of this name for this kind of operator.

    Raises
    ------
    PointsmanError
        If there is none.
    """
    for way in WAYS:
        if way.name == name and kind in way.kinds:
            return way
    names = ", ".join(way.name for way in WAYS if kind in way.kinds)
    raise PointsmanError(f"there is no way '{name}' to do a {kind} on the switch", hint=f"there are: {names or 'none'}")


def ways(operator: Operator, topology: Topology) -> tuple[Decomposition, ...]:
    """Ways that can do ``operator``; only the one that its ``:impl`` names, if that is one of the switch.

    Raises
    ------
    PointsmanError
        If none can do it.
    """
    mine = [way for way in WAYS if operator.kind in way.kinds]
    named = [way for way in mine if way.name == operator.impl]
    found = tuple(
        way for way in named or mine if way.fits(operator, topology) and not _takes_from_anybody(operator, way, topology)
    )
    if not found:
        names = ", ".join(way.name for way in named or mine)
        raise PointsmanError(
            f"{operator.position}: operator '{operator.label}': the switch cannot do this {operator.kind} "
            f"({names or 'there is no way'})",
            hint="words on the switch carry no sender's name, so a reader must know from whom it reads",
        )
    return found


def _takes_from_anybody(operator: Operator, way: Decomposition, topology: Topology) -> bool:
    """A processor waits at one input buffer at a time; it cannot wait for whoever comes first."""
    if way.name == RingBcast.name:
        return False
    if operator.kind == "collect" or any(is_partial(operator, name) for name, _ in operator.instances[0].operands):
        return any(
            source is None
            for i, instance in enumerate(operator.instances)
            for node in instance.nodes
            for value in _few(operator)
            for source, _ in way.script(operator, i, node, arguments(operator, value), topology).messages_in()
        )
    return False


def _few(operator: Operator) -> list[tuple[int, ...]]:
    from pointsman.operators.implementation import runtime_values

    return [runtime_values(operator)[0]]


def arguments(operator: Operator, numbers: Sequence[int], permutation: Sequence[int] | None = None) -> list[Any]:
    """Values for a script: numbers where nodes and distances are given at run time, the permutation, None for a function."""
    from pointsman.cop.catalogue import OPERATORS

    sorts = {operand.name: operand.sort for operand in OPERATORS[operator.kind].operands}
    left = list(numbers)
    found: list[Any] = []
    for name, value in operator.instances[0].operands:
        if isinstance(value, Runtime):
            sort = sorts[name]
            if sort in ("node", "distance"):
                found.append(left.pop(0))
            else:
                found.append(permutation if sort == "permutation" else None)
    return found
