"""Verilog of components: nothing in it that a simulator may not start, or takes for something else."""

from __future__ import annotations

import re

import pytest
from amaranth.lib import wiring

from emission import component_verilog
from numesh.node import Node
from numesh.shape import NodeShape
from packet_router.node import Node as PacketNode
from packet_router.shape import RouterShape
from tdm_switch.parts import Parts
from tdm_switch.shape import SwitchShape
from tdm_switch.switch import Switch

COMPONENTS = {
    "node": lambda: Node(shape=NodeShape()),
    "packet_router": lambda: PacketNode(shape=RouterShape(size=(2, 2))),
    "switch": lambda: Switch(shape=SwitchShape(ports=4, slots=2), parts=Parts(apart=True)),
}


@pytest.fixture(scope="module", params=COMPONENTS)
def text(request: pytest.FixtureRequest) -> str:
    component: wiring.Component = COMPONENTS[request.param]()
    return component_verilog(component, "block")


def test_every_process_has_a_clock_or_is_a_function(text: str) -> None:
    processes = re.findall(r"always @.*", text)
    assert processes
    assert all("posedge" in process for process in processes)


def test_no_function_is_named_like_one_of_the_system(text: str) -> None:
    functions = re.findall(r"^ *function (?:\[\d+:0\] )?(\S+)", text, re.M)
    assert not [name for name in functions if "$" in name]
    for name in functions:
        assert len(re.findall(rf"\b{name} ?\(", text)) == 1


def test_modules_have_plain_names(text: str) -> None:
    modules = re.findall(r"^module (\S+?)\(", text, re.M)
    assert modules[0] == "block"
    assert all(re.fullmatch(r"block\w*", name) for name in modules)


def test_the_text_depends_on_the_component_alone() -> None:
    shape = SwitchShape(ports=2, slots=2)
    first, second = (component_verilog(Switch(shape=shape, parts=Parts(apart=True)), "block") for _ in range(2))
    assert first == second
    assert "yosys" not in first.lower()
    assert "amaranth" not in first.lower()
