"""Base class of the ways to do an operator by messages (the *dyn* implementations of Metcalf 1997, appendix B)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pointsman.artifacts.scripts import Call, Receive, Script, Send
from pointsman.network import Topology
from pointsman.operators.api.operands import runtime_operands, taking_part
from pointsman.program.program import Operator, Runtime

SEVERAL_MESSAGES = ("spread", "gather", "seqread", "seqwrite")
"""Kinds with several messages at an end in a round."""
POINT_TO_POINT = (*SEVERAL_MESSAGES, "collect")
"""Kinds in which a call concerns two nodes only, so that the call is left out when either is not ``:valid``."""
COUNTED = ("broadcast", "permute")
"""Kinds in which every node takes part in every call, so that all nodes count the same calls (*rounds*). A reader that does not
know its source finds its message by the round."""


class Decomposition(ABC):
    """A way to do some kinds of operators by messages.

    Attributes
    ----------
    name : str
        Name for ``:impl``.
    kinds : tuple of str
        Kinds of operators.
    channels : int
        Channels that its messages use: 0 to ``channels`` - 1.
    """

    name: str
    kinds: tuple[str, ...]
    channels: int = 1

    def fits(self, operator: Operator, topology: Topology) -> bool:
        """Can this decomposition do ``operator`` on this network?"""
        return True

    @abstractmethod
    def script(self, operator: Operator, instance: int, node: int, values: Sequence[Any], topology: Topology) -> Script:
        """Script of ``node`` (a number of the network, not a position) in the instance, for these run-time values.

        ``values`` has an entry for each run-time operand, in the order of the operands. An entry that the node does not
        know (``:distributed``) is -1.
        """


def scripts_of(
    operator: Operator, way: Decomposition, node: int, values: Sequence[Any], topology: Topology
) -> list[tuple[int, Script]]:
    """Scripts of a node that has something to do, each with its instance: several if it writes in one and reads in another.
    Calls that concern nodes which are not ``:valid`` are left out. ``values``: as of `Decomposition.script`."""
    found = []
    for i, instance in enumerate(operator.instances):
        if node in instance.nodes:
            script = way.script(operator, i, node, values, topology)
            if script.kind != "none":
                found.append((i, among_valid(operator, i, script)))
    return found


def value_of(operator: Operator, instance: int, name: str, values: Sequence[Any]) -> Any:
    """Value of operand ``name``: known at compile time, else taken from the run-time ``values``."""
    value = operator.instances[instance].operand(name)
    if isinstance(value, Runtime):
        return values[runtime_operands(operator).index(name)]
    return value


def is_known(operator: Operator, name: str) -> bool:
    """Is operand ``name`` known at compile time in every instance?"""
    return not any(isinstance(instance.operand(name), Runtime) for instance in operator.instances)


def among_valid(operator: Operator, instance: int, script: Script) -> Script:
    """``script`` without calls that send to or receive from a node that is not ``:valid``."""
    if operator.valid is None or operator.kind not in POINT_TO_POINT:
        return script
    nodes = operator.instances[instance].nodes
    there = {nodes[k] for k in taking_part(operator, instance)}

    def stays(call: Call) -> bool:
        ends = [s.to if isinstance(s, Send) else s.source for s in call.steps if isinstance(s, Send | Receive)]
        return all(end is None or end in there for end in ends)

    calls = {name: tuple(call for call in several if stays(call)) for name, several in script.calls.items()}
    return replace(script, calls={name: several for name, several in calls.items() if several})
