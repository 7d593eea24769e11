"""The JSON files that ``pointsman route`` reads (a problem) and writes (its result)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any, Literal

import msgspec

from numesh.shape import NodeShape
from pointsman.errors import PointsmanError
from pointsman.files import read_text, write_whole
from pointsman.network import Topology, mesh, torus
from pointsman.network.lattice import diamond
from pointsman.network.topology import MAX_NODES

from .routes import (
    Bound,
    NodeTable,
    RoutedWords,
    RouteProblem,
    RouteResult,
    RouteStream,
    directed,
    shape_for,
    single_links,
)

__all__ = [
    "Bound",
    "NodeTable",
    "RouteProblem",
    "RouteResult",
    "RouteStream",
    "RoutedWords",
    "make_problem",
    "problem_from_graph",
    "read_problem",
    "result_bytes",
    "write_result",
]

MAX_STREAMS = 200_000
MAX_WORDS = 1_000_000
"""Most words of all streams together in a period (ideal model)."""
MAX_LINKS = 65_536


class _Topology(msgspec.Struct, forbid_unknown_fields=True):
    kind: Literal["mesh", "torus", "graph", "diamond"]
    size: list[int] | None = None
    nodes: int | None = None
    links: list[tuple[int, int]] | None = None


class _Shape(msgspec.Struct, forbid_unknown_fields=True):
    pipelines: int = 2
    vfsms: int = 32
    schedule_depth: int = 128
    registers: int = 16


class _Faults(msgspec.Struct, forbid_unknown_fields=True):
    nodes: list[int] = []
    links: list[tuple[int, int]] = []


class _Stream(msgspec.Struct, forbid_unknown_fields=True):
    source: int
    destinations: list[int]
    weight: float = 1.0
    words: int = 1


class _File(msgspec.Struct, forbid_unknown_fields=True):
    topology: _Topology
    streams: list[_Stream]
    shape: _Shape = msgspec.field(default_factory=_Shape)
    faults: _Faults = msgspec.field(default_factory=_Faults)
    buffers: bool = False


def read_problem(path: Path) -> RouteProblem:
    """Read STREAMS.json.

    Raises
    ------
    PointsmanError
        If the file is wrong; the message has the place of the first fault.
    """
    text = read_text(path, "streams file")
    try:
        return _problem(msgspec.json.decode(text, type=_File))
    except (msgspec.ValidationError, msgspec.DecodeError, RecursionError) as error:
        raise PointsmanError(f"{path}: {error or 'nested too deeply'}", hint="docs/routing.md shows the form") from None
    except PointsmanError as error:
        raise PointsmanError(f"{path}: {error.message}", hint=error.hint) from None


def make_problem(
    topology: Topology,
    streams: Iterable[RouteStream],
    *,
    dead_nodes: Iterable[int] = (),
    dead_links: Iterable[tuple[int, int]] = (),
    shape: NodeShape | None = None,
    buffers: bool = False,
) -> RouteProblem:
    """A checked problem.

    Raises
    ------
    PointsmanError
        If a stream or fault names a node or link that does not exist, or a destination cannot be reached.
    """
    topology = single_links(topology)
    nodes = topology.nodes
    known = {(link.node, link.other) for link in topology.links}
    known |= {(v, u) for u, v in known}
    dead = frozenset(_node(node, nodes, f"faults.nodes[{index}]") for index, node in enumerate(dead_nodes))
    cut = []
    for index, (u, v) in enumerate(dead_links):
        if (u, v) not in known:
            raise PointsmanError(f"faults.links[{index}]: a faulty link must be a link of the network, not {u} -> {v}")
        cut.append((u, v))
    problem = RouteProblem(
        topology=topology,
        streams=tuple(streams),
        dead_nodes=dead,
        dead_links=frozenset(cut),
        shape=shape or shape_for(topology),
        buffers=buffers,
    )
    _check_streams(problem)
    return problem


def problem_from_graph(graph: Any, streams: Iterable[RouteStream | Mapping[str, Any]], **options: Any) -> RouteProblem:
    """A problem on a networkx graph whose nodes are the numbers 0..n-1; an undirected edge carries words both ways.

    Raises
    ------
    PointsmanError
        As :func:`make_problem`, and if the nodes are not numbered 0..n-1.
    """
    nodes = graph.number_of_nodes()
    if sorted(graph.nodes, key=repr) != sorted(range(nodes), key=repr):
        raise PointsmanError(
            f"nodes of a graph must be numbered 0..{nodes - 1}", hint="networkx.convert_node_labels_to_integers"
        )
    if graph.is_multigraph():
        raise PointsmanError("a graph must not have several edges between two nodes")
    pairs = [(u, v) for u, v in graph.edges]
    if not graph.is_directed():
        pairs += [(v, u) for u, v in pairs]
    topology, extra = _graph(nodes, pairs)
    wanted = tuple(stream if isinstance(stream, RouteStream) else _stream_of(stream) for stream in streams)
    dead_links = {*extra, *options.pop("dead_links", ())}
    return make_problem(topology, wanted, dead_links=sorted(dead_links), **options)


def write_result(path: Path, result: RouteResult) -> None:
    """Write OUT.json."""
    write_whole(path, result_bytes(result))


def result_bytes(result: RouteResult) -> bytes:
    return msgspec.json.encode(result.as_dict()) + b"\n"


def _stream_of(entry: Mapping[str, Any]) -> RouteStream:
    try:
        stream = msgspec.convert(dict(entry), type=_Stream)
    except msgspec.ValidationError as error:
        raise PointsmanError(f"a stream is malformed: {error}") from None
    return RouteStream(stream.source, tuple(stream.destinations), stream.weight, stream.words)


def _problem(file: _File) -> RouteProblem:
    topology, extra = _topology(file.topology)
    if len(file.streams) > MAX_STREAMS:
        raise PointsmanError(f"streams: there must be at most {MAX_STREAMS}, not {len(file.streams)}")
    shape = shape_for(
        topology,
        pipelines=file.shape.pipelines,
        vfsms=file.shape.vfsms,
        schedule_depth=file.shape.schedule_depth,
        registers=file.shape.registers,
    )
    streams = [
        RouteStream(entry.source, tuple(entry.destinations), entry.weight, entry.words) for entry in file.streams
    ]
    return make_problem(
        topology,
        streams,
        dead_nodes=file.faults.nodes,
        dead_links=[*file.faults.links, *sorted(extra)],
        shape=shape,
        buffers=file.buffers,
    )


def _topology(entry: _Topology) -> tuple[Topology, frozenset[tuple[int, int]]]:
    if entry.kind == "graph":
        if entry.nodes is None or entry.links is None or entry.size is not None:
            raise PointsmanError('topology: a graph must have "nodes" and "links", and no "size"')
        return _graph(entry.nodes, entry.links)
    if entry.size is None or entry.nodes is not None or entry.links is not None:
        raise PointsmanError(f'topology: a {entry.kind} must have "size", and neither "nodes" nor "links"')
    size = entry.size
    if any(not 1 <= extent <= MAX_NODES for extent in size) or not 1 <= prod(size[:4]) <= MAX_NODES:
        raise PointsmanError(f"topology.size: a network must have 1 to {MAX_NODES} nodes, not {size[:4]}")
    if entry.kind == "diamond":
        if len(size) != 1:
            raise PointsmanError("topology.size: a diamond lattice must have one number, its nodes a side")
        return diamond(size[0]), frozenset()
    make = mesh if entry.kind == "mesh" else torus
    return single_links(make(*size)), frozenset()


def _graph(nodes: int, pairs: Sequence[tuple[int, int]]) -> tuple[Topology, frozenset[tuple[int, int]]]:
    if not 1 <= nodes <= MAX_NODES:
        raise PointsmanError(f"topology.nodes: a network must have 1 to {MAX_NODES} nodes, not {nodes}")
    if len(pairs) > MAX_LINKS:
        raise PointsmanError(f"topology.links: there must be at most {MAX_LINKS}, not {len(pairs)}")
    seen: dict[tuple[int, int], int] = {}
    for index, (u, v) in enumerate(pairs):
        place = f"topology.links[{index}]"
        _node(u, nodes, place)
        _node(v, nodes, place)
        if u == v:
            raise PointsmanError(f"{place}: a link must join two different nodes, not {u} and itself")
        if (u, v) in seen:
            raise PointsmanError(
                f"{place}: a link must be named once; {u} -> {v} is links[{seen[u, v]}] already",
                hint="links are directed: [0, 1] and [1, 0] are two",
            )
        seen[u, v] = index
    return directed(nodes, pairs)


def _node(node: int, nodes: int, place: str) -> int:
    if isinstance(node, bool) or not isinstance(node, int) or not 0 <= node < nodes:
        raise PointsmanError(f"{place}: a node must be one of 0..{nodes - 1}, not {node}")
    return node


def _check_streams(problem: RouteProblem) -> None:
    total = 0
    reached: dict[int, list[int]] = {}
    for index, stream in enumerate(problem.streams):
        place = f"streams[{index}]"
        _node(stream.source, problem.nodes, f"{place}.source")
        if not stream.destinations:
            raise PointsmanError(f"{place}: a stream must have a destination")
        if not (math.isfinite(stream.weight) and stream.weight > 0):
            raise PointsmanError(f"{place}: a weight must be positive and finite, not {stream.weight}")
        if not 1 <= stream.words <= MAX_WORDS:
            raise PointsmanError(f"{place}: words must be 1 to {MAX_WORDS}, not {stream.words}")
        total += stream.words
        for number, node in enumerate(stream.destinations):
            _node(node, problem.nodes, f"{place}.destinations[{number}]")
        if len(set(stream.destinations)) < len(stream.destinations):
            raise PointsmanError(f"{place}: each destination must be named once")
        if stream.source in stream.destinations:
            raise PointsmanError(
                f"{place}: a stream must go to other nodes, not to its source {stream.source}",
                hint="leave it out: words of a node to itself need no network",
            )
        for node in (stream.source, *stream.destinations):
            if node in problem.dead_nodes:
                raise PointsmanError(f"{place}: a stream must start and end at working nodes; node {node} is faulty")
        if stream.source not in reached:
            reached[stream.source] = problem.distances(stream.source)
        for node in stream.destinations:
            if reached[stream.source][node] < 0:
                raise PointsmanError(f"{place}: there is no way from node {stream.source} to node {node}")
    if total > MAX_WORDS:
        raise PointsmanError(f"streams: there must be at most {MAX_WORDS} words a period, not {total}")
