"""Networks as text: ``torus:4x4`` or a JSON file, and the JSON file of faults; also the form of both inside other files.

A network file is ``{"kind": "graph", "nodes": 4, "links": [[0, 1], …]}`` or ``{"kind": "mesh", "size": [4, 4]}``, as under
"topology" in the file of ``pointsman route``; a file of faults is ``{"nodes": [5], "links": [[0, 1]]}``, as under "faults".
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Literal

import msgspec

from pointsman.errors import PointsmanError
from pointsman.network import Topology, graph, mesh, parse_size, torus
from pointsman.network.faults import with_faults
from pointsman.network.lattice import diamond
from pointsman.network.topology import MAX_NODES

from .json_file import read_json

MAX_LINKS = 65_536
KINDS = ("mesh", "torus", "diamond")
"""Kinds of networks that are given by their size."""


class NetworkEntry(msgspec.Struct, forbid_unknown_fields=True):
    """A network in a file."""

    kind: Literal["mesh", "torus", "graph", "diamond"]
    size: list[int] | None = None
    nodes: int | None = None
    links: list[tuple[int, int]] | None = None


class FaultsEntry(msgspec.Struct, forbid_unknown_fields=True):
    """Faults in a file."""

    nodes: list[int] = []
    links: list[tuple[int, int]] = []


def topology_from(text: str) -> Topology:
    """The network that ``text`` names: KIND:SIZE, such as ``torus:4x4`` or ``diamond:3``, or a JSON file.

    Raises
    ------
    PointsmanError
        If it is neither, or the file is wrong.
    """
    kind, colon, size = text.partition(":")
    if colon and kind in KINDS:
        return sized(kind, parse_size(size))
    path = Path(text)
    if colon and not path.exists():
        raise PointsmanError(
            f"a network must be one of {', '.join(KINDS)}, not {kind!r}", hint="for instance torus:4x4"
        )
    return read_json(path, "network file", NetworkEntry, _for_programs, page="docs/routing.md")


def faults_from(path: Path, topology: Topology, *, apart: bool = False) -> Topology:
    """``topology`` with the faults of a file (`with_faults`, which explains ``apart``).

    Raises
    ------
    PointsmanError
        If the file is wrong, or its faults leave no network that hangs together.
    """

    def faulty(entry: FaultsEntry) -> Topology:
        return with_faults(topology, entry.nodes, entry.links, apart=apart)

    return read_json(path, "file of faults", FaultsEntry, faulty, page="docs/routing.md")


def sized(kind: str, size: Sequence[int], place: str = "") -> Topology:
    """A mesh, torus or diamond lattice. ``place``: of the size in a file, for messages."""
    if any(not 1 <= extent <= MAX_NODES for extent in size) or not 1 <= prod(size[:4]) <= MAX_NODES:
        raise PointsmanError(f"{place}a network must have 1 to {MAX_NODES} nodes, not {list(size[:4])}")
    if kind == "diamond":
        if len(size) != 1:
            raise PointsmanError(f"{place}a diamond lattice must have one number, its nodes a side")
        return diamond(size[0])
    return (mesh if kind == "mesh" else torus)(*size)


def sized_entry(entry: NetworkEntry, place: str) -> Topology:
    """The mesh, torus or diamond lattice of an entry. ``place``: of the entry in a file, such as "topology"."""
    if entry.size is None or entry.nodes is not None or entry.links is not None:
        raise PointsmanError(f'{_head(place)}a {entry.kind} must have "size", and neither "nodes" nor "links"')
    return sized(entry.kind, entry.size, f"{_dotted(place)}size: ")


def graph_entry(entry: NetworkEntry, place: str) -> tuple[int, Sequence[tuple[int, int]]]:
    """Nodes and directed links of a graph in a file, each link once."""
    if entry.nodes is None or entry.links is None or entry.size is not None:
        raise PointsmanError(f'{_head(place)}a graph must have "nodes" and "links", and no "size"')
    return checked_links(entry.nodes, entry.links, place)


def checked_links(nodes: int, links: Sequence[tuple[int, int]], place: str) -> tuple[int, Sequence[tuple[int, int]]]:
    """``nodes`` and ``links``, if each link joins two different nodes and is named once; otherwise an error."""
    if not 1 <= nodes <= MAX_NODES:
        raise PointsmanError(f"{_dotted(place)}nodes: a network must have 1 to {MAX_NODES} nodes, not {nodes}")
    if len(links) > MAX_LINKS:
        raise PointsmanError(f"{_dotted(place)}links: there must be at most {MAX_LINKS}, not {len(links)}")
    seen: dict[tuple[int, int], int] = {}
    for index, (u, v) in enumerate(links):
        here = f"{_dotted(place)}links[{index}]"
        check_node(u, nodes, here)
        check_node(v, nodes, here)
        if u == v:
            raise PointsmanError(f"{here}: a link must join two different nodes, not {u} and itself")
        if (u, v) in seen:
            raise PointsmanError(
                f"{here}: a link must be named once; {u} -> {v} is links[{seen[u, v]}] already",
                hint="links are directed: [0, 1] and [1, 0] are two",
            )
        seen[u, v] = index
    return nodes, links


def check_node(node: int, nodes: int, place: str) -> int:
    """``node``, if it is the number of a node; otherwise an error."""
    if isinstance(node, bool) or not isinstance(node, int) or not 0 <= node < nodes:
        raise PointsmanError(f"{place}: a node must be one of 0..{nodes - 1}, not {node}")
    return node


def _for_programs(entry: NetworkEntry) -> Topology:
    """The network of an entry that is a file by itself."""
    return sized_entry(entry, "") if entry.kind != "graph" else _two_way(*graph_entry(entry, ""))


def _two_way(nodes: int, links: Sequence[tuple[int, int]]) -> Topology:
    """A graph for programs, whose links carry words both ways: either every link is named once, or each in both directions."""
    named = set(links)
    once = [index for index, (u, v) in enumerate(links) if (v, u) not in named]
    if once and len(once) < len(links):
        u, v = links[once[0]]
        raise PointsmanError(
            f"links[{once[0]}]: {u} -> {v} has no link back, and others have",
            hint="programs need links both ways: name every link once, or each in both directions",
        )
    return graph(nodes, sorted({(min(pair), max(pair)) for pair in links}))


def _head(place: str) -> str:
    return f"{place}: " if place else ""


def _dotted(place: str) -> str:
    return f"{place}." if place else ""
