"""Shifts and permutations by messages (Metcalf 1997, B.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pointsman.artifacts.scripts import Call, Exchange, Receive, Script, Send
from pointsman.network import Topology
from pointsman.operators.api.operands import is_partial
from pointsman.program.program import Operator

from .decomposition import Decomposition, value_of

_GIVEN, _GOT = 0, 1


class DynShift(Decomposition):
    """Every node sends to the node ``distance`` ahead and receives from the node that far behind, at once (dyn_shift)."""

    name = "dyn_shift"
    kinds = ("cshift", "eoshift")

    def script(self, operator: Operator, instance: int, node: int, values: Sequence[Any], topology: Topology) -> Script:
        nodes = operator.instances[instance].nodes
        distance = value_of(operator, instance, "distance", values)
        own, size = nodes.index(node), len(nodes)
        ends: list[int | None] = [own + distance, own - distance]
        if operator.kind == "cshift":
            ends = [end % size for end in (own + distance, own - distance)]
        to, origin = (end if end is not None and 0 <= end < size else None for end in ends)
        return both_ways(node, None if to is None else nodes[to], None if origin is None else nodes[origin])


class DynPermute(Decomposition):
    """Every node sends to its image (dyn_permute). Of a ``:distributed`` permutation it knows its own, and reads from anyone."""

    name = "dyn_permute"
    kinds = ("permute",)

    def script(self, operator: Operator, instance: int, node: int, values: Sequence[Any], topology: Topology) -> Script:
        nodes = operator.instances[instance].nodes
        own = nodes.index(node)
        permutation = value_of(operator, instance, "permutation", values)
        if is_partial(operator, "permutation"):
            to = nodes[permutation]
            if to == node:
                return both_ways(node, node, node)
            return Script("func", {"func": (Call((Exchange(Send(to), Receive(None, _GOT)),), _GOT),)}, slots=2)
        return both_ways(node, nodes[permutation[own]], nodes[permutation.index(own)])


def both_ways(node: int, to: int | None, origin: int | None) -> Script:
    """Send to ``to``, return the message from ``origin`` (zeros if None); if ``to`` is ``node``, return its own message."""
    if to == node:
        return Script("func", {"func": (Call((), _GIVEN),)})
    if to is None and origin is None:
        return Script("func", {"func": (Call((), _GOT),)}, slots=2)
    if to is None:
        return Script("func", {"func": (Call((Receive(origin, _GOT),), _GOT),)}, slots=2)
    if origin is None:
        return Script("func", {"func": (Call((Send(to),), _GOT),)}, slots=2)
    return Script("func", {"func": (Call((Exchange(Send(to), Receive(origin, _GOT)),), _GOT),)}, slots=2)
