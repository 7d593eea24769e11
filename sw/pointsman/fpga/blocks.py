"""Blocks of hardware that can be measured. A further one is a function that makes its component and an entry of BLOCKS.

The hardware description is imported when a block is made, so that the command line can list the blocks at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pointsman.errors import PointsmanError

if TYPE_CHECKING:
    from amaranth.lib import wiring


@dataclass(frozen=True)
class SizeOption:
    """A size that the user may choose: a whole number."""

    name: str
    help: str
    default: int


@dataclass(frozen=True)
class Dut:
    """A block of certain sizes, ready to be measured.

    ``joined`` names for an input the output that drives it, as a neighbour of the same kind would; the other ports are
    reached through shift registers.
    """

    shape: Mapping[str, int | bool]
    component: wiring.Component
    joined: Mapping[str, str]


@dataclass(frozen=True)
class Block:
    """A kind of hardware. ``build`` takes a value for each of ``sizes`` by name."""

    name: str
    sizes: tuple[SizeOption, ...]
    build: Callable[[Mapping[str, int]], Dut]

    def dut(self, given: Mapping[str, int]) -> Dut:
        """The block in these sizes; the others are the standard ones.

        Raises
        ------
        PointsmanError
            If the block has no such size, or cannot have this one.
        """
        known = {size.name: size.default for size in self.sizes}
        for name in given:
            if name not in known:
                raise PointsmanError(
                    f"the block {self.name} has no size {name.replace('_', '-')}",
                    hint=f"there are: {', '.join(known).replace('_', '-')}",
                )
        return self.build({**known, **given})


def _numesh(sizes: Mapping[str, int]) -> Dut:
    """A node whose links lead back to itself, out at one side and in at the opposite one."""
    from numesh.node import Node
    from numesh.shape import NodeShape, ShapeError

    try:
        shape = NodeShape(**dict[str, Any](sizes))
    except ShapeError as error:
        raise PointsmanError(str(error)) from None
    joined: dict[str, str] = {}
    for port in range(shape.neighbours):
        other = port ^ 1 if port ^ 1 < shape.neighbours else port
        joined |= {
            f"in_valid_{port}": f"out_valid_{other}",
            f"in_data_{port}": f"out_data_{other}",
            f"out_accept_{other}": f"in_accept_{port}",
        }
    return Dut(shape.as_dict(), Node(shape=shape), joined)


def _packet(whole: bool) -> Callable[[Mapping[str, int]], Dut]:
    """A packet router, or the whole node around it; its links lead back to itself, out at one side and in at the other."""

    def build(sizes: Mapping[str, int]) -> Dut:
        from packet_router.mesh import BACK, FORWARD
        from packet_router.node import Node
        from packet_router.router import Router
        from packet_router.shape import RouterShape, ShapeError

        lanes = sizes["channels"]
        escape = 2 if sizes["torus"] else 1
        if sizes["torus"] not in (0, 1):
            raise PointsmanError(f"torus must be 0 or 1, not {sizes['torus']}")
        if not 1 <= sizes["dimensions"] <= 3:
            raise PointsmanError(f"dimensions must be 1 to 3, not {sizes['dimensions']}")
        try:
            shape = RouterShape(
                size=(sizes["side"],) * sizes["dimensions"],
                torus=bool(sizes["torus"]),
                routing="e-cube" if lanes <= escape else "adaptive",
                channels=lanes,
                **{name: sizes[name] for name in ("buffer", "addresses", "queue", "width")},
            )
        except ShapeError as error:
            raise PointsmanError(str(error)) from None
        joined: dict[str, str] = {}
        for port in range(shape.links):
            joined |= {f"in_{name}_{port}": f"out_{name}_{port ^ 1}" for name in FORWARD}
            joined |= {f"out_{name}_{port}": f"in_{name}_{port ^ 1}" for name in BACK}
        plain: dict[str, int | bool] = {name: sizes[name] for name in ("side", "dimensions", "channels")}
        plain |= {"torus": shape.torus, **{n: sizes[n] for n in ("buffer", "addresses", "queue", "width")}}
        return Dut(plain, Node(shape=shape) if whole else Router(shape=shape), joined)

    return build


_PACKET_SIZES = (
    SizeOption("side", "nodes in each dimension", 16),
    SizeOption("dimensions", "dimensions of the network", 2),
    SizeOption("torus", "1 for a torus", 0),
    SizeOption("channels", "virtual channels of a link; more than e-cube needs make it adaptive", 1),
    SizeOption("buffer", "words buffered for each channel", 8),
    SizeOption("addresses", "interface addresses", 16),
    SizeOption("queue", "words queued for each interface address", 8),
    SizeOption("width", "bits of a word", 32),
)

BLOCKS = {
    block.name: block
    for block in (
        Block(
            "numesh",
            (
                SizeOption("pipelines", "words that a node can move in a cycle", 2),
                SizeOption("vfsms", "virtual state machines per pipeline", 32),
                SizeOption("schedule_depth", "entries of the schedule memory", 128),
                SizeOption("neighbours", "links to other nodes", 4),
                SizeOption("registers", "interface registers between processor and router", 16),
                SizeOption("width", "bits of a word", 32),
            ),
            _numesh,
        ),
        Block("packet-router", _PACKET_SIZES, _packet(whole=False)),
        Block("packet-node", _PACKET_SIZES, _packet(whole=True)),
    )
}
"""Blocks by name."""
