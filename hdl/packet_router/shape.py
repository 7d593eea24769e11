"""Sizes of a packet router: the one place where a size is written."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import prod
from typing import Literal

Routing = Literal["e-cube", "adaptive", "up-down"]
COORDINATE_BITS = 12
"""Bits of the header for the place of the destination."""
GRAPH_NODES = 64
"""Nodes of a network that is a graph: every router has a table with a row for each pair of nodes."""
GRAPH_PORTS = 8


class ShapeError(ValueError):
    """A size that no packet router can have."""


@dataclass(frozen=True, kw_only=True)
class RouterShape:
    """What the user may choose of a network of packet routers (Metcalf 1997, §7.2 and §8.2.1).

    Parameters
    ----------
    size : tuple of int
        Nodes in each dimension, x first; one to three dimensions. A router knows its place among them.
    torus : bool
        Dimensions are closed to rings.
    routing : str
        "e-cube": dimension order, x first, one channel (two on a torus). "adaptive": any shortest way, with channels in
        dimension order to escape to.
    channels : int or None
        Virtual channels of each link. None: those of e-cube, or 5 for adaptive routing.
    buffer : int
        Words that each channel buffers at its receiving end. A power of two, 2 to 64.
    addresses : int
        Interface addresses: 0 is for what goes out, 1 and up are queues of what comes in. A power of two, 2 to 16.
    queue : int
        Words that each of these queues holds. A power of two, 2 to 64.
    width : int
        Bits of a word, 32 to 64.
    graph : tuple of (int, int) or None
        Links of a network that is neither mesh nor torus, each a pair of nodes, joined in both directions; up to 64 nodes with up
        to 8 links each. ``size`` then is the number of nodes, and ``routing`` is "up-down", on one channel. The ports of a
        node are numbered in the order of its links here.
    """

    size: tuple[int, ...] = (4, 4)
    torus: bool = False
    routing: Routing = "e-cube"
    channels: int | None = None
    buffer: int = 8
    addresses: int = 16
    queue: int = 8
    width: int = 32
    graph: tuple[tuple[int, int], ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.size, tuple) or not 1 <= len(self.size) <= 3:
            raise ShapeError(f"size must be one to three numbers of nodes, not {self.size!r}")
        for extent in self.size:
            _integer("size", extent)
            if extent < 1:
                raise ShapeError(f"nodes in a dimension must be at least 1, not {extent}")
        if sum(self.coordinate_bits) > COORDINATE_BITS:
            raise ShapeError(
                f"coordinates must fit {COORDINATE_BITS} bits of the header, not "
                f"{' + '.join(map(str, self.coordinate_bits))} for {'x'.join(map(str, self.size))}"
            )
        if not isinstance(self.torus, bool):
            raise ShapeError(f"torus must be true or false, not {self.torus!r}")
        if self.routing not in ("e-cube", "adaptive", "up-down"):
            raise ShapeError(f"routing must be e-cube, adaptive or up-down, not {self.routing!r}")
        if (self.graph is not None) != (self.routing == "up-down"):
            raise ShapeError("routing up-down and a graph must be given together")
        if self.graph is not None:
            self._check_graph(self.graph)
        if self.channels is not None:
            _integer("channels", self.channels)
            if self.routing == "up-down" and self.channels != 1:
                raise ShapeError(f"channels must be 1 for up-down, not {self.channels}")
            if self.routing == "e-cube" and self.channels != self.escape_channels:
                where = "torus" if self.torus else "mesh"
                raise ShapeError(
                    f"channels must be {self.escape_channels} for e-cube on a {where}, not {self.channels}"
                )
            if self.routing == "adaptive" and not self.escape_channels < self.channels <= 8:
                raise ShapeError(
                    f"channels must be {self.escape_channels + 1} to 8 for adaptive routing, not {self.channels}"
                )
        for name, low, high in (("buffer", 2, 64), ("addresses", 2, 16), ("queue", 2, 64)):
            value = getattr(self, name)
            _integer(name, value)
            if not low <= value <= high or value & (value - 1):
                raise ShapeError(f"{name} must be a power of two from {low} to {high}, not {value}")
        _integer("width", self.width)
        if not 32 <= self.width <= 64:
            raise ShapeError(f"width must be 32 to 64 bits, not {self.width}")

    def _check_graph(self, graph: tuple[tuple[int, int], ...]) -> None:
        if len(self.size) != 1 or self.torus:
            raise ShapeError("a graph must have its number of nodes as size, and be no torus")
        if self.nodes > GRAPH_NODES:
            raise ShapeError(f"a graph must have at most {GRAPH_NODES} nodes, not {self.nodes}")
        if not isinstance(graph, tuple):
            raise ShapeError(f"a graph must be a tuple of links, not {graph!r}")
        reached, more = {0}, True
        for link in graph:
            if (
                not isinstance(link, tuple)
                or len(link) != 2
                or not all(isinstance(node, int) and 0 <= node < self.nodes for node in link)
            ):
                raise ShapeError(f"a link must join two nodes 0 to {self.nodes - 1}, not {link!r}")
            if link[0] == link[1]:
                raise ShapeError(f"a link must not join node {link[0]} to itself")
        while more:
            found = {node for link in graph if reached & set(link) for node in link}
            more, reached = not found <= reached, reached | found
        if len(reached) != self.nodes:
            missing = min(set(range(self.nodes)) - reached)
            raise ShapeError(f"a graph must be connected: no links lead from node 0 to node {missing}")
        if self.links > GRAPH_PORTS:
            raise ShapeError(f"a node must have at most {GRAPH_PORTS} links, not {self.links}")

    @property
    def nodes(self) -> int:
        return prod(self.size)

    @property
    def dimensions(self) -> int:
        return len(self.size)

    @property
    def links(self) -> int:
        """Link ports: 2·d leads down dimension d, 2·d + 1 up. In a graph as many as its busiest node has links."""
        if self.graph is not None:
            return max(sum(node in link for link in self.graph) for node in range(self.nodes)) or 1
        return 2 * self.dimensions

    @property
    def local(self) -> int:
        """Number of the port to the interface."""
        return self.links

    @property
    def ports(self) -> int:
        return self.links + 1

    @property
    def escape_channels(self) -> int:
        """Channels 0 … that are used in dimension order: one, or two on a torus (before and after the link that closes
        the ring)."""
        return 2 if self.torus else 1

    @property
    def lanes(self) -> int:
        """Virtual channels of each link."""
        if self.channels is not None:
            return self.channels
        return 5 if self.routing == "adaptive" else self.escape_channels

    @property
    def registers(self) -> int:
        """Numbered registers that the processor sees; see `packet_router.node`."""
        return self.addresses

    @property
    def coordinate_bits(self) -> tuple[int, ...]:
        return tuple((extent - 1).bit_length() for extent in self.size)

    @property
    def here_bits(self) -> int:
        """Bits of the place that a router is told, at least one: a pin without bits would be one of two in Verilog."""
        return max(1, sum(self.coordinate_bits))

    def place(self, node: int) -> tuple[int, ...]:
        """Coordinates of a node, x first; nodes count x fastest."""
        place = []
        for extent in self.size:
            node, at = divmod(node, extent)
            place.append(at)
        return tuple(place)

    def pack(self, place: tuple[int, ...]) -> int:
        """Coordinates in one number, x in the lowest bits, as headers have them."""
        word, shift = 0, 0
        for at, bits in zip(place, self.coordinate_bits, strict=True):
            word |= at << shift
            shift += bits
        return word

    def as_dict(self) -> dict[str, object]:
        plain = asdict(self)
        plain["size"] = list(self.size)
        plain["channels"] = self.lanes
        if self.graph is None:
            del plain["graph"]
        else:
            plain["graph"] = [list(link) for link in self.graph]
        return plain


def _integer(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ShapeError(f"{name} must be an integer, not {value!r}")
