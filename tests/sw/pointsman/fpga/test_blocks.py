"""What can be measured."""

from __future__ import annotations

import pytest
from amaranth.back import verilog
from amaranth.hdl import Fragment
from amaranth.lib.wiring import In, Out

from numesh.shape import NodeShape
from pointsman.errors import PointsmanError
from pointsman.fpga.blocks import BLOCKS, Dut


def node(**sizes: int) -> Dut:
    dut = BLOCKS["numesh"].dut({"vfsms": 2, "schedule_depth": 2, **sizes})
    Fragment.get(dut.component, None)  # Amaranth warns of hardware that is made and not used
    return dut


@pytest.mark.parametrize("neighbours", [1, 2, 3, 4, 6, 7])
def test_every_link_of_a_node_leads_back_once(neighbours: int) -> None:
    dut = node(neighbours=neighbours)
    inputs = {f"{name}_{d}" for d in range(neighbours) for name in ("in_valid", "in_data", "out_accept")}
    assert set(dut.joined) == inputs
    assert len(set(dut.joined.values())) == len(inputs)
    for into, out in dut.joined.items():
        assert out.startswith({"in": "out", "out": "in"}[into.split("_")[0]])
        assert out.split("_")[1] == into.split("_")[1]


def test_sizes_that_are_not_given_are_the_standard_ones() -> None:
    assert node(width=16).shape == NodeShape(vfsms=2, schedule_depth=2, width=16).as_dict()


def test_sizes_that_cannot_be_are_refused() -> None:
    with pytest.raises(PointsmanError, match=r"^vfsms must be a power of two from 2 to 1024, not 3$"):
        BLOCKS["numesh"].dut({"vfsms": 3})
    with pytest.raises(
        PointsmanError, match=r"^the block numesh has no size ports\n  hint: there are: pipelines, vfsms, "
    ):
        BLOCKS["numesh"].dut({"ports": 3})


@pytest.mark.parametrize("block", ["packet-router", "packet-node"])
def test_every_link_of_a_packet_router_leads_back_once(block: str) -> None:
    dut = BLOCKS[block].dut({"side": 2, "dimensions": 1, "addresses": 2})
    verilog.convert(dut.component)  # Amaranth warns of hardware that is made and not used
    members = dut.component.signature.members
    assert len(set(dut.joined.values())) == len(dut.joined) == 12
    for into, out in dut.joined.items():
        assert members[into].flow == In
        assert members[out].flow == Out


def test_packet_routers_with_more_channels_are_adaptive() -> None:
    dut = BLOCKS["packet-router"].dut({"side": 2, "dimensions": 1, "addresses": 2, "channels": 3})
    verilog.convert(dut.component)  # Amaranth warns of hardware that is made and not used
    assert dut.component.shape.routing == "adaptive"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"torus": 2}, "torus must be 0 or 1, not 2"),
        ({"dimensions": 4}, "dimensions must be 1 to 3, not 4"),
        ({"side": 100, "dimensions": 2}, "coordinates must fit 12 bits of the header, not 7 + 7 for 100x100"),
    ],
)
def test_packet_routers_that_cannot_be_are_refused(sizes: dict[str, int], message: str) -> None:
    with pytest.raises(PointsmanError) as error:
        BLOCKS["packet-router"].dut(sizes)
    assert error.value.message == message
