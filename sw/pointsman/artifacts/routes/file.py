"""The JSON files that ``pointsman route`` reads (a problem) and writes (its result)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from numesh.shape import NodeShape
from pointsman.artifacts.json_file import read_json
from pointsman.artifacts.network_files import (
    FaultsEntry,
    NetworkEntry,
    check_node,
    checked_links,
    graph_entry,
    sized_entry,
)
from pointsman.errors import PointsmanError
from pointsman.files import write_whole
from pointsman.network import Topology

from .collectives import KINDS, ROOTED, CollectiveProblem, Kind
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
    "make_collective",
    "make_problem",
    "problem_from_graph",
    "read_problem",
    "read_wanted",
    "result_bytes",
    "write_result",
]

MAX_STREAMS = 200_000
MAX_WORDS = 1_000_000
"""Most words of all streams together in a period (ideal model)."""
LEAST_WEIGHT, MOST_WEIGHT = 1e-4, 1e6
"""Weights of streams; the router takes them as fractions with denominators up to 10,000."""


class _Shape(msgspec.Struct, forbid_unknown_fields=True):
    pipelines: int = 2
    vfsms: int = 32
    schedule_depth: int = 128
    registers: int = 16


class _Stream(msgspec.Struct, forbid_unknown_fields=True):
    source: int
    destinations: list[int]
    weight: float = 1.0
    words: int = 1


class _File(msgspec.Struct, forbid_unknown_fields=True):
    topology: NetworkEntry
    streams: list[_Stream] | None = None
    collective: Kind | None = None
    words: int | None = None
    root: int | None = None
    ordered: bool | None = None
    places: dict[str, int] | None = None  # written by ``pointsman place``, for people
    shape: _Shape = msgspec.field(default_factory=_Shape)
    faults: FaultsEntry = msgspec.field(default_factory=FaultsEntry)
    buffers: bool = False


def read_problem(path: Path) -> RouteProblem:
    """Read STREAMS.json with streams.

    Raises
    ------
    PointsmanError
        If the file is wrong, or has a collective; the message has the place of the first fault.
    """
    problem = read_wanted(path)
    if isinstance(problem, CollectiveProblem):
        raise PointsmanError(f"{path}: streams are wanted here, and the file has a collective")
    return problem


def read_wanted(given: Path | Mapping[str, Any]) -> RouteProblem | CollectiveProblem:
    """Read STREAMS.json, or take its values: streams, or a collective in their place.

    Raises
    ------
    PointsmanError
        If the file is wrong; the message has the place of the first fault.
    """
    return read_json(given, "streams file", _File, _wanted, page="docs/routing.md")


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
    dead = frozenset(check_node(node, nodes, f"faults.nodes[{index}]") for index, node in enumerate(dead_nodes))
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
    check_streams(problem)
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
    topology, extra = directed(*checked_links(nodes, pairs, "topology"))
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


def make_collective(
    net: RouteProblem, kind: str, *, words: int = 1, root: int = 0, ordered: bool = False
) -> CollectiveProblem:
    """A checked collective on a network.

    Raises
    ------
    PointsmanError
        If the kind, the root or the number of words is wrong.
    """
    if kind not in KINDS:
        raise PointsmanError(f"collective: a collective must be one of {', '.join(KINDS)}, not {kind!r}")
    if not 1 <= words <= MAX_WORDS:
        raise PointsmanError(f"words: words must be 1 to {MAX_WORDS}, not {words}")
    check_node(root, net.nodes, "root")
    if root in net.dead_nodes and kind in ROOTED:
        raise PointsmanError(f"root: the root must be a working node; node {root} is faulty")
    return CollectiveProblem(net, kind, words, root, ordered)


def _wanted(file: _File) -> RouteProblem | CollectiveProblem:
    return _problem(file) if file.collective is None else _collective(file)


def _collective(file: _File) -> CollectiveProblem:
    if file.streams is not None:
        raise PointsmanError("streams: a file must have streams or a collective, not both")
    assert file.collective is not None
    return make_collective(
        _net(file, []),
        file.collective,
        words=1 if file.words is None else file.words,
        root=0 if file.root is None else file.root,
        ordered=bool(file.ordered),
    )


def _problem(file: _File) -> RouteProblem:
    if file.streams is None:
        raise PointsmanError('a file must have "streams", or a "collective" in their place')
    for name in ("words", "root", "ordered"):
        if getattr(file, name) is not None:
            raise PointsmanError(f"{name}: {name} at this place is that of a collective, and the file has streams")
    if len(file.streams) > MAX_STREAMS:
        raise PointsmanError(f"streams: there must be at most {MAX_STREAMS}, not {len(file.streams)}")
    streams = [
        RouteStream(entry.source, tuple(entry.destinations), entry.weight, entry.words) for entry in file.streams
    ]
    return _net(file, streams)


def _net(file: _File, streams: list[RouteStream]) -> RouteProblem:
    topology, extra = _topology(file.topology)
    shape = shape_for(
        topology,
        pipelines=file.shape.pipelines,
        vfsms=file.shape.vfsms,
        schedule_depth=file.shape.schedule_depth,
        registers=file.shape.registers,
    )
    return make_problem(
        topology,
        streams,
        dead_nodes=file.faults.nodes,
        dead_links=[*file.faults.links, *sorted(extra)],
        shape=shape,
        buffers=file.buffers,
    )


def _topology(entry: NetworkEntry) -> tuple[Topology, frozenset[tuple[int, int]]]:
    if entry.kind == "graph":
        return directed(*graph_entry(entry, "topology"))
    return single_links(sized_entry(entry, "topology")), frozenset()


def check_streams(problem: RouteProblem) -> None:
    """Do the streams go from working nodes to others that they reach, with words and weights that there are?

    Raises
    ------
    PointsmanError
        With the stream that does not.
    """
    total = 0
    reached: dict[int, list[int]] = {}
    for index, stream in enumerate(problem.streams):
        place = f"streams[{index}]"
        check_node(stream.source, problem.nodes, f"{place}.source")
        if not stream.destinations:
            raise PointsmanError(f"{place}: a stream must have a destination")
        if not LEAST_WEIGHT <= stream.weight <= MOST_WEIGHT:
            raise PointsmanError(
                f"{place}: a weight must be {LEAST_WEIGHT:g} to {MOST_WEIGHT:,.0f}, not {stream.weight:g}",
                hint="only the ratios of weights matter",
            )
        if not 1 <= stream.words <= MAX_WORDS:
            raise PointsmanError(f"{place}: words must be 1 to {MAX_WORDS}, not {stream.words}")
        total += stream.words
        for number, node in enumerate(stream.destinations):
            check_node(node, problem.nodes, f"{place}.destinations[{number}]")
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
