"""Senseless streams are refused before routing begins."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain, pairwise
from math import isfinite

from numesh.codes import SHORTEST_TURN
from numesh.shape import NodeShape
from pointsman.network import Topology

from .errors import RoutingError
from .streams import Stream


def validate(
    streams: Sequence[Stream],
    topology: Topology,
    shape: NodeShape,
    period: int,
    forbidden: Collection[tuple[int, int, int]],
    effort: float,
) -> None:
    """Raise ``RoutingError`` for the first fault in streams, network, period or effort."""
    if period < SHORTEST_TURN:
        rule = "no VFSM runs in two slots in a row"
        raise RoutingError(f"a period must have at least {SHORTEST_TURN} slots, not {period}: {rule}")
    if not effort > 0 or not isfinite(effort):
        raise RoutingError(f"effort must be a positive number, not {effort}")
    if shape.vfsms <= 2 and streams:
        raise RoutingError(f"{shape.vfsms} VFSMs a pipeline leave none for streams", hint="numbers 0 and 1 are taken")
    if topology.ports > shape.neighbours:
        raise RoutingError(f"the topology needs {topology.ports} neighbour ports, the shape has {shape.neighbours}")
    for node, port, slot in sorted(forbidden):
        if not 0 <= node < topology.nodes or port not in topology.at_port[node] or not 0 <= slot < period:
            raise RoutingError(f"there is no link at port {port} of node {node} in slot {slot} to be forbidden")
    names: set[str] = set()
    for stream in streams:
        if stream.name in names:
            raise RoutingError(f"two streams are called {stream.name}")
        names.add(stream.name)
        problem = _problem(stream, topology)
        if problem:
            raise RoutingError(f"stream {stream.name}: {problem}")


def _problem(stream: Stream, topology: Topology) -> str | None:
    nodes = (stream.source, *stream.destinations)
    if not stream.destinations:
        return "it has no destination"
    if len(set(stream.destinations)) < len(stream.destinations):
        return "a destination is named twice"
    given = (*(stream.path or ()), *chain.from_iterable(stream.tree or ()))
    for node in (*nodes, *(stream.keep_in or ()), *given):
        if not 0 <= node < topology.nodes:
            return f"node {node} is outside the network (0..{topology.nodes - 1})"
    if not stream.weight > 0 or not isfinite(stream.weight):
        return f"its weight must be a positive number, not {stream.weight}"
    if stream.chains < 1:
        return f"it must have at least one chain, not {stream.chains}"
    if stream.max_words is not None and stream.max_words < 1:
        return f"it must be allowed at least one word per period, not {stream.max_words}"
    if stream.keep_in is not None:
        outside = [node for node in (*nodes, *given) if node not in stream.keep_in]
        if outside:
            return f"node {outside[0]} is outside the nodes that it may use"
    if stream.path is not None and stream.tree is not None:
        return "it has both a path and a tree"
    if stream.tree is not None:
        return _tree_problem(stream, topology)
    return _path_problem(stream, topology) if stream.path is not None else None


def _path_problem(stream: Stream, topology: Topology) -> str | None:
    path = stream.path or ()
    if not path or path[0] != stream.source or path[-1] not in stream.destinations:
        return "its path must lead from its source to its last destination"
    if len(set(path)) < len(path):
        return "its path passes a node twice"
    for node, after in pairwise(path):
        if all(other != after for other, _ in topology.at_port[node].values()):
            return f"its path goes from node {node} to node {after}, which are not adjacent"
    missed = [node for node in stream.destinations if node not in path]
    return f"its path misses destination {missed[0]}" if missed else None


def _tree_problem(stream: Stream, topology: Topology) -> str | None:
    reached = {stream.source}
    for node, after in stream.tree or ():
        if node not in reached:
            return f"its tree goes on from node {node}, which it has not reached"
        if after in reached:
            return f"its tree reaches node {after} twice"
        if all(other != after for other, _ in topology.at_port[node].values()):
            return f"its tree goes from node {node} to node {after}, which are not adjacent"
        reached.add(after)
    missed = [node for node in stream.destinations if node not in reached]
    return f"its tree misses destination {missed[0]}" if missed else None
