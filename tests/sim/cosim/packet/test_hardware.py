"""Networks of packet routers as the compiled engine is told of them."""

from __future__ import annotations

import pytest

from cosim.engines.verilated.build import _one_block
from cosim.hardware import output
from cosim.packet.hardware import network_hardware, packet_hardware
from packet_router.shape import RouterShape

TEXT = "module stub(clk);\nendmodule\n"
GRAPH = RouterShape(size=(3,), routing="up-down", graph=((0, 1), (1, 2)))
SHAPES = [RouterShape(size=(2, 3)), RouterShape(size=(3,), torus=True), GRAPH]


@pytest.mark.parametrize("shape", SHAPES, ids=["mesh", "torus", "graph"])
def test_every_joint_leads_from_an_output_of_a_neighbour_with_the_same_width(shape: RouterShape) -> None:
    hardware = network_hardware(shape, "stub", TEXT, 3)
    wires = {wire.name: wire for wire in hardware.wires}
    outputs = {output(i, name): wire for i in range(shape.nodes) for name, wire in wires.items() if wire.output}
    joined = 0
    for joints in hardware.joints:
        for name, driver in joints.items():
            assert not wires[name].output
            if name != "here":
                assert outputs[driver].width == wires[name].width
                joined += 1
    assert joined > 0
    drivers = [driver for joints in hardware.joints for name, driver in joints.items() if name != "here"]
    assert len(drivers) == len(set(drivers)), "an output goes to one neighbour"


@pytest.mark.parametrize(("shape", "kind"), list(zip(SHAPES, ("mesh", "torus", "graph"), strict=True)))
def test_a_network_is_named_by_its_size_and_its_kind(shape: RouterShape, kind: str) -> None:
    size = "x".join(map(str, shape.size))
    assert network_hardware(shape, "stub", TEXT, 3).name == f"a {size} {kind} of packet routers"


def test_every_node_is_told_where_it_is() -> None:
    here = [joints["here"] for joints in network_hardware(RouterShape(size=(2, 3)), "stub", TEXT, 1).joints]
    assert len(set(here)) == 6
    assert len({text.partition("'")[0] for text in here}) == 1, "in so many bits for all"


@pytest.mark.slow
def test_networks_whose_coordinates_have_as_many_bits_share_a_build() -> None:
    def key(*size: int, torus: bool = False) -> str:
        return repr(_one_block(packet_hardware(RouterShape(size=size, torus=torus)), wave=False))

    assert key(3, 3) == key(4, 4) == key(3, 4)
    assert key(4, 4) != key(5, 5)
    assert key(4, 4) != key(4, 4, torus=True)
