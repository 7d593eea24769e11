"""Verilog around a block: joints as numbers, settings, headers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cosim.engines.verilated.verilog import (
    build_header,
    instance,
    joints_of,
    machine_verilog,
    one_block_header,
    one_block_verilog,
    promise_of,
    verilator_settings,
)
from cosim.hardware import SEAT, TOP, Hardware, Register, Wire, output

BLOCK = "module block(clk, rst);\nendmodule\n"
WIRES = [Wire(name="a", width=3), Wire(name="x__y", width=5, output=True), Wire(name="b")]


def hardware(**changes: object) -> Hardware:
    given = {
        "name": "two blocks", "blocks": 2, "module": "block", "verilog": BLOCK, "registers": 5, "width": 9, "wires": WIRES,
        "joints": [{"a": output(1, "x__y")}, {"a": "3'd6", "b": "1'b1"}],
    }  # fmt: skip
    return Hardware(**given | changes)


def test_joints_are_outputs_by_number_or_constants() -> None:
    assert joints_of(hardware()) == [(0, 0, 1, 0, 0), (1, 0, -1, 0, 6), (1, 1, -1, 0, 1)]


@pytest.mark.parametrize(("text", "value"), [("3'd5", 5), ("8'hfE", 254), ("4'b101", 5), ("7", 7)])
def test_a_constant_is_read_in_its_base(text: str, value: int) -> None:
    assert joints_of(hardware(joints=[{}, {"b": text}])) == [(1, 1, -1, 0, value)]


def test_an_expression_is_no_number() -> None:
    assert joints_of(hardware(joints=[{"a": f"{output(1, 'x__y')} + 1"}, {}])) is None


def test_the_machine_has_a_wrapper_for_each_block_and_inputs_that_nobody_joins_are_zero() -> None:
    text = machine_verilog(hardware())
    assert text.startswith(BLOCK)
    assert [text.count(f" {instance(i)}(") for i in range(3)] == [1, 1, 0]
    top = text[text.index(f"module {TOP}") :]
    first, second = (next(line for line in top.splitlines() if f" {instance(i)}(" in line) for i in range(2))
    assert f".a({output(1, 'x__y')})" in first
    assert ".b(1'd0)" in first
    assert ".a(3'd6)" in second
    assert f".x__y({output(1, 'x__y')})" in second


@pytest.mark.parametrize(("width", "named"), [(32, False), (33, True), (64, True)])
def test_a_word_of_more_than_32_bits_is_named_so_that_it_stays_in_one_piece(width: int, named: bool) -> None:
    assert (f"{SEAT}__DOT__next_p_write_data" in one_block_header(hardware(width=width), 16)) == named


def test_what_stands_between_blocks_comes_before_them() -> None:
    text = machine_verilog(hardware(extra="wire between;"))
    assert text.index("wire between;") < text.index(f" {instance(0)}(")


def test_one_block_alone_has_all_its_inputs_set_from_outside() -> None:
    text = one_block_verilog(hardware())
    for name, width in (("a", 3), ("b", 1), ("p_write_data", 9), ("p_address", 3)):
        assert f"reg [{width - 1}:0] next_{name} " in text
    assert "next_rst" not in text, "reset is a port"
    assert TOP not in text


def test_headers_have_the_numbers_and_the_names_of_state_as_verilator_writes_them() -> None:
    one = hardware(state={"deep": Register("inner", "v", "first.second"), "own": Register("block", "w__w")})
    whole, alone = build_header(one), one_block_header(one, 8)
    for text in (whole, alone):
        assert "#define REGISTERS 5u\n" in text
        assert "#define WIDTH 9\n" in text
        assert "first__DOT__second__DOT__v" in text
        assert "w___05Fw" in text
    assert "#define NODES 2u\n" in whole
    assert "#define LANES 8\n" in alone


def test_a_variable_is_public_once_and_can_be_set_if_anybody_wants_to() -> None:
    state = {"a": Register("inner", "v", "first"), "b": Register("inner", "v", "second", writable=True)}
    lines = verilator_settings(hardware(state=state)).splitlines()
    assert [line for line in lines if "public" in line] == ['public_flat_rw -module "inner" -var "v"']
    assert any(SEAT in line for line in lines)
    assert not any(SEAT in line for line in verilator_settings(hardware(), one=True).splitlines())


def test_only_of_registered_hardware_wires_are_promised_too() -> None:
    loose, strict = (promise_of(replace(hardware(), registered=registered)) for registered in (False, True))
    assert {name for _, name in loose.outputs} == {"p_full", "p_read_data"}
    assert {name for _, name in strict.outputs} == {"p_full", "p_read_data", "x__y"}
    assert {name for _, name in strict.inputs} - {name for _, name in loose.inputs} == {"a", "b", "rst"}
