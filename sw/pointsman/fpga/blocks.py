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

    from tdm_switch.shape import SwitchShape


@dataclass(frozen=True)
class SizeOption:
    """A size that the user may choose: a whole number, or one of ``choices``."""

    name: str
    help: str
    default: int | str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Dut:
    """A block of certain sizes, ready to be measured.

    ``joined`` names for an input the output that drives it, as a neighbour of the same kind would; the other ports are
    reached through shift registers.
    """

    shape: Mapping[str, int | bool | str]
    component: wiring.Component
    joined: Mapping[str, str]


@dataclass(frozen=True)
class Block:
    """A kind of hardware. ``build`` takes a value for each of ``sizes`` by name."""

    name: str
    sizes: tuple[SizeOption, ...]
    build: Callable[[Mapping[str, Any]], Dut]

    def dut(self, given: Mapping[str, int | str]) -> Dut:
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
                graph=None,
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


def _tdm_array(sizes: Mapping[str, Any]) -> Dut:
    """The scheduler array between registers."""
    from tdm_switch.array import SchedulerArray
    from tdm_switch.pipelined_array import PipelinedArray

    _switch_shape({"ports": sizes["ports"]})
    rotated = sizes["start"] == "any"
    if sizes["order"] == "pipelined":
        if rotated:
            raise PointsmanError("the pipelined array starts at (0, 0)", hint="leave --start out")
        return Dut(dict(sizes), PipelinedArray(ports=sizes["ports"]), {})
    return Dut(dict(sizes), SchedulerArray(ports=sizes["ports"], order=sizes["order"], rotated=rotated), {})


def _tdm_scheduler(sizes: Mapping[str, Any]) -> Dut:
    """The scheduler: all that decides, without network interfaces and fabric."""
    from tdm_switch.scheduler import Scheduler

    shape = _switch_shape(sizes)
    return Dut(shape.as_dict(), Scheduler(shape=shape), {})


def _tdm_switch(sizes: Mapping[str, Any]) -> Dut:
    """The whole switch, with its processor ports."""
    from tdm_switch.switch import Switch

    shape = _switch_shape(sizes)
    return Dut(shape.as_dict(), Switch(shape=shape), {})


def _switch_shape(sizes: Mapping[str, Any]) -> SwitchShape:
    from tdm_switch.shape import ShapeError, SwitchShape

    try:
        return SwitchShape(**sizes)
    except ShapeError as error:
        raise PointsmanError(str(error)) from None


SWITCH_SIZES = (
    SizeOption("ports", "processors at the switch", 16),
    SizeOption("slots", "configuration registers", 4),
    SizeOption("width", "bits of a word", 32),
    SizeOption("queue_depth", "words in a queue for a destination", 16),
    SizeOption("buffer_depth", "words in the input buffer for a source", 16),
    SizeOption("slot_cycles", "cycles of a time slot", 8),
    SizeOption("guard_cycles", "of these, cycles without a grant", 1),
    SizeOption("sl_cycles", "cycles of a decision", 1),
    SizeOption("sl_units", "slots decided at once", 1),
    SizeOption("order", "order of the scheduler array", "plain", ("plain", "wrapped")),
    SizeOption("priority", "where the array starts", "round_robin", ("fixed", "round_robin", "random")),
    SizeOption("age_bits", "bits of the predictor's counters", 8),
    SizeOption("stored", "configurations of the second level", 4),
)
"""Sizes of a time-multiplexed switch that the user may choose."""

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
        Block(
            "tdm-array",
            (
                SizeOption("ports", "ports of the switch", 16),
                SizeOption("order", "order of the cells", "plain", ("plain", "wrapped", "pipelined")),
                SizeOption("start", "(0, 0), or any cell", "fixed", ("fixed", "any")),
            ),
            _tdm_array,
        ),
        Block("tdm-scheduler", SWITCH_SIZES, _tdm_scheduler),
        Block("tdm-switch", SWITCH_SIZES, _tdm_switch),
    )
}
"""Blocks by name."""
