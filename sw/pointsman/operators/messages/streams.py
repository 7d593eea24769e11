"""Messages between named nodes: stream, collect, spread, gather, seqread, seqwrite (Metcalf 1997, A.1 and B.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pointsman.artifacts.scripts import NOTHING, Call, Receive, Script, Send
from pointsman.network import Topology
from pointsman.operators.api.operands import is_partial
from pointsman.program.program import Operator

from .decomposition import Decomposition, value_of


class DynStream(Decomposition):
    """A message from source to destination (dyn_stream). Only the source knows a ``:dynamic`` destination."""

    name = "dyn_stream"
    kinds = ("stream",)

    def script(self, operator: Operator, instance: int, node: int, values: Sequence[Any], topology: Topology) -> Script:
        nodes = operator.instances[instance].nodes
        source = nodes[value_of(operator, instance, "source", values)]
        destination = value_of(operator, instance, "destination", values)
        if node == source:
            to = nodes[destination]
            return Script("both", local=True) if to == node else _writes(to)
        if is_partial(operator, "destination") or nodes[destination] == node:
            return _reads(source)
        return NOTHING


class DynCollect(Decomposition):
    """Any node sends messages to the destination, which reads them in the order in which they arrive (dyn_collect)."""

    name = "dyn_collect"
    kinds = ("collect",)

    def script(self, operator: Operator, instance: int, node: int, values: Sequence[Any], topology: Topology) -> Script:
        nodes = operator.instances[instance].nodes
        destination = nodes[value_of(operator, instance, "destination", values)]
        if node != destination:
            return _writes(destination)
        if len(nodes) == 1:
            return Script("both", local=True)
        return _reads(None)


class DynSpread(Decomposition):
    """The source sends a message to each other node, in the order of the subset, a write call each (dyn_spread)."""

    name = "dyn_spread"
    kinds = ("spread",)

    def script(self, operator: Operator, instance: int, node: int, values: Sequence[Any], topology: Topology) -> Script:
        nodes = operator.instances[instance].nodes
        source = nodes[value_of(operator, instance, "source", values)]
        return _to_each(node, source, [other for other in nodes if other != source])


class DynGather(Decomposition):
    """The destination reads a message from each other node, in the order of the subset, a read call each (dyn_gather)."""

    name = "dyn_gather"
    kinds = ("gather",)

    def script(self, operator: Operator, instance: int, node: int, values: Sequence[Any], topology: Topology) -> Script:
        nodes = operator.instances[instance].nodes
        destination = nodes[value_of(operator, instance, "destination", values)]
        return _from_each(node, destination, [other for other in nodes if other != destination])


class DynSeqread(Decomposition):
    """Each source writes a message; the destination reads them in the order of its list of sources (dyn_seqread)."""

    name = "dyn_seqread"
    kinds = ("seqread",)

    def script(self, operator: Operator, instance: int, node: int, values: Sequence[Any], topology: Topology) -> Script:
        nodes = operator.instances[instance].nodes
        sources = [nodes[source] for source in value_of(operator, instance, "sources", values)]
        return _from_each(node, nodes[value_of(operator, instance, "destination", values)], sources)


class DynSeqwrite(Decomposition):
    """The source writes a message to each destination, in the order of its list of destinations (dyn_seqwrite)."""

    name = "dyn_seqwrite"
    kinds = ("seqwrite",)

    def script(self, operator: Operator, instance: int, node: int, values: Sequence[Any], topology: Topology) -> Script:
        nodes = operator.instances[instance].nodes
        destinations = [nodes[end] for end in value_of(operator, instance, "destinations", values)]
        return _to_each(node, nodes[value_of(operator, instance, "source", values)], destinations)


def _to_each(node: int, source: int, others: Sequence[int]) -> Script:
    """Script of ``node`` where ``source`` writes a message to each of ``others``, a call each."""
    if node == source:
        return Script("write", {"write": tuple(Call((Send(other),)) for other in others)})
    return _reads(source) if node in others else NOTHING


def _from_each(node: int, destination: int, others: Sequence[int]) -> Script:
    """Script of ``node`` where ``destination`` reads a message from each of ``others``, a call each."""
    if node == destination:
        return Script("read", {"read": tuple(Call((Receive(other),), 0) for other in others)})
    return _writes(destination) if node in others else NOTHING


def _writes(to: int) -> Script:
    return Script("write", {"write": (Call((Send(to),)),)})


def _reads(source: int | None) -> Script:
    return Script("read", {"read": (Call((Receive(source),), 0),)})
