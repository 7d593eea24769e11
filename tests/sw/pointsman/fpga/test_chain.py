# amaranth: UnusedElaboratable=no
"""The surroundings of a block while it is measured."""

from __future__ import annotations

import re

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from pointsman.errors import PointsmanError
from pointsman.fpga.blocks import BLOCKS
from pointsman.fpga.chain import ShiftChain, block_rtlil, measured_rtlil, named


class Adder(wiring.Component):
    """Adds in a register."""

    def __init__(self, bits: int = 4) -> None:
        super().__init__({"a": In(bits), "b": In(bits), "sum": Out(bits), "echo": Out(bits)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.sync += self.sum.eq(self.a + self.b)
        m.d.comb += self.echo.eq(self.a)
        return m


class Wires(wiring.Component):
    """Nothing but wires."""

    def __init__(self) -> None:
        super().__init__({"a": In(2), "z": Out(2)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.z.eq(~self.a)
        return m


def test_all_ports_but_the_joined_ones_are_registered() -> None:
    text = measured_rtlil(Adder(), {"b": "sum"})
    top = text[: text.index("module \\dut")]
    registers = {name.split("$")[0] for name in re.findall(r"connect \\Q \\(\S+)", top)}
    assert registers == {"reset", "i_a", "caught_echo", "combined_echo"}
    assert re.search(r"connect \\b \\o_sum", top) or re.search(r"connect \\sum \\i_b", top) or "i_b" in top
    assert re.search(r"cell \\dut \\dut", top)


def test_a_block_without_a_clock_gets_none() -> None:
    top = measured_rtlil(Wires(), {})
    top = top[: top.index("module \\dut")]
    instance = top[top.index("cell \\dut \\dut") :].split("  end")[0]
    assert "\\clk" not in instance
    assert "\\rst" not in instance
    assert "connect \\a" in instance


@pytest.mark.parametrize(
    ("joined", "message"),
    [
        ({"sum": "echo"}, "an input must be joined to an output of the block, not sum to echo"),
        ({"a": "b"}, "an input must be joined to an output of the block, not a to b"),
        ({"a": "nothing"}, "an input must be joined to an output of the block, not a to nothing"),
    ],
)
def test_what_cannot_be_joined_is_refused(joined: dict[str, str], message: str) -> None:
    with pytest.raises(PointsmanError) as error:
        ShiftChain(Adder(), joined)
    assert str(error.value) == message


def test_registers_carry_their_names_and_no_absolute_paths() -> None:
    text = measured_rtlil(BLOCKS["numesh"].dut({"vfsms": 4, "schedule_depth": 4}).component, {})
    sources = set(re.findall(r'attribute \\src "([^"]*)"', text))
    assert not [source for source in sources if source.startswith("/")]
    registers = {source.split("@")[0] for source in sources if "@hdl/numesh/" in source}
    assert {"transfer_0.held", "transfer_1.held", "interface.full_processor"} <= registers
    assert all(re.fullmatch(r"hdl/numesh/\w+\.py:\d+", s.split("@")[1]) for s in sources if "@hdl/" in s)


def test_a_flip_flop_without_a_name_keeps_its_place() -> None:
    text = (
        'module \\dut.part\n  attribute \\src "/x/hdl/numesh/a.py:3"\n  cell $dff $1\n    connect \\Q $2\n  end\nend\n'
    )
    assert 'attribute \\src "hdl/numesh/a.py:3"' in named(text, "dut")
    assert 'attribute \\src "part.q@hdl/numesh/a.py:3"' in named(text.replace("$2", "\\q"), "dut")


def test_the_same_hardware_gives_the_same_text() -> None:
    texts = {block_rtlil(BLOCKS["numesh"].dut({"vfsms": 4, "schedule_depth": 4}).component) for _ in range(2)}
    assert len(texts) == 1
    assert "src" not in texts.pop()


def test_the_chain_goes_through_all_inputs_and_all_caught_outputs() -> None:
    text = measured_rtlil(Adder(2), {})
    top = text[: text.index("module \\dut")]
    wires = dict(re.findall(r"connect \\D (.*)\n.*\n    connect \\Q (\S+)", top))
    assert wires["{ \\i_a [0] \\si [0] }"] == "\\i_a"
    assert wires["{ \\i_b [0] \\i_a [1] }"] == "\\i_b", "the second input follows the first"
    assert wires["\\o_sum [1:0]"] == "\\caught_sum"
    assert wires["\\o_echo [1:0]"] == "\\caught_echo"
