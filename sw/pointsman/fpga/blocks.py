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
    )
}
"""Blocks by name."""
