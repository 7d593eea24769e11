"""Verilog and address maps of bridges."""

from __future__ import annotations

import re

import pytest

from host.axi_lite import bus_members as axi_members
from host.core import port_members
from host.emit import BRIDGES, MODULE, address_map, bridge_verilog
from host.shape import HostShape
from host.wishbone import bus_members as wishbone_members


@pytest.mark.parametrize("bus", BRIDGES)
def test_ports_are_flat_and_those_of_bus_and_nodes(bus: str) -> None:
    shape = HostShape(nodes=2, registers=4)
    head = re.search(rf"^module {MODULE}\((.*?)\);", bridge_verilog(shape, bus), re.M | re.S)
    assert head is not None
    ports = {port.strip() for port in head[1].split(",")}
    members = axi_members(shape) if bus == "axi4-lite" else wishbone_members(shape)
    # What cannot be driven has no port: nobody looks at the protection of an access.
    assert ports == {*members, *port_members(shape), "irq", "done", "clk", "rst"}


@pytest.mark.parametrize("bus", BRIDGES)
def test_a_node_of_one_register_has_an_address_all_the_same_which_is_driven(bus: str) -> None:
    verilog = bridge_verilog(HostShape(registers=1), bus)
    assert re.search(r"^  output p_address_0;$", verilog, re.M)
    assert "[-1:0] p_address" not in verilog


def test_the_map_has_every_address_once() -> None:
    shape = HostShape(nodes=3, registers=40, width=64)
    found = address_map(shape, "wishbone")
    several = [place for node in found["nodes"] for name in ("registers", "full", "mask") for place in node[name]]
    several += [word["address"] for word in found["control"].values()]
    assert len(several) == len(set(several)) == 3 * (40 + 1 + 1) + 8
    assert found["nodes"][1]["registers"][2] == shape.register(1, 2)
