"""Verilog of components: nothing in it that a simulator may not start, or takes for something else."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from amaranth.lib import wiring

from emission import component_verilog, components_verilog
from host.axi_lite import AxiLiteBridge
from host.shape import HostShape
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


UNKNOWN = {
    "node": (lambda: component_verilog(Node(shape=NodeShape()), "block"), ("ram", "gets", "puts")),
    "packet_router": (lambda: component_verilog(PacketNode(shape=RouterShape(size=(2, 2))), "block"), ()),
    "switch": (lambda: whole_switch(SwitchShape(ports=3, slots=2)), ()),
    "bridge": (lambda: component_verilog(AxiLiteBridge(shape=HostShape(nodes=2, registers=1)), "block"), ()),
}
"""Verilog, and which memories must have contents at power-up."""


def whole_switch(shape: SwitchShape) -> str:
    parts = Parts(apart=True)
    text = component_verilog(Switch(shape=shape, parts=parts), "block")
    return text + components_verilog((make(), name) for name, make in parts.makers.items())


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="there is no iverilog")
@pytest.mark.parametrize("name", UNKNOWN)
def test_after_reset_nothing_unknown_is_left_of_registers_and_memories(name: str, tmp_path: Path) -> None:
    make, needed = UNKNOWN[name]
    text = make()
    text, registers = re.subn(r"^(  (?:output )?reg [^=;]*) = [^;]+;", r"\1;", text, flags=re.M)
    # Memories lose their contents, but those which must have them.
    row = r"    (?!(?:KEPT)\[)\w+\[\d+\] = [^;]+;\n".replace("KEPT", "|".join(needed) or "-")
    text, memories = re.subn(rf"  initial begin\n(?:{row})+  end\n", "", text)
    assert registers > 10
    assert memories or name == "bridge"
    head = text.partition("endmodule")[0]
    ports = re.findall(r"^  (input|output)(?: \[(\d+):0\])? (\w+);$", head, re.M)
    told = [port for way, _, port in ports if way == "output" and "data" not in port]
    # Links of a packet router are quiet: a word into a full buffer would not be the router's fault.
    quiet = "in_valid|out_credit_valid" if name == "packet_router" else "-"
    drives = [
        f"{port} = {{$urandom, $urandom}};"
        for way, width, port in ports
        if way == "input" and port not in ("clk", "rst") and not re.match(quiet, port)
    ]
    lines = [
        "module bench;",
        *(
            f"  {'reg' if way == 'input' else 'wire'}{f' [{width}:0]' if width else ''} {port}{' = 0' if way == 'input' else ''};"
            for way, width, port in ports
        ),
        f"  block block({', '.join(f'.{port}({port})' for _, _, port in ports)});",
        "  integer cycle, unknown;",
        "  initial begin",
        "    unknown = 0; rst = 1;",
        "    for (cycle = 0; cycle < 500; cycle = cycle + 1) begin",
        "      #1 clk = 1; #1 clk = 0; rst = cycle < 32;",
        *(f"      {drive}" for drive in drives),
        f"      #1 if (!rst && ^{{{', '.join(told)}}} === 1'bx) unknown = unknown + 1;",
        "    end",
        '    $display("unknown %0d", unknown);',
        "  end",
        "endmodule",
    ]
    (tmp_path / "bench.v").write_text("\n".join(lines) + "\n")
    (tmp_path / "block.v").write_text(text)
    subprocess.run(["iverilog", "-g2012", "-s", "bench", "-o", "b.vvp", "bench.v", "block.v"], cwd=tmp_path, check=True)
    done = subprocess.run(["vvp", "-n", "b.vvp"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout.split("\n")[-2:] == ["unknown 0", ""]


def test_the_text_depends_on_the_component_alone() -> None:
    shape = SwitchShape(ports=2, slots=2)
    first, second = (component_verilog(Switch(shape=shape, parts=Parts(apart=True)), "block") for _ in range(2))
    assert first == second
    assert "yosys" not in first.lower()
    assert "amaranth" not in first.lower()
