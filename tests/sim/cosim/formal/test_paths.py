"""Paths from inputs to outputs: of small netlists, and of Verilog."""

from __future__ import annotations

from pathlib import Path

import pytest

from cosim.formal.paths import outputs_reached, paths
from pointsman.errors import PointsmanError


def test_paths_are_found_by_input_and_output(tmp_path: Path) -> None:
    verilog = """
    module leaky(input clk, input [1:0] a, input b, output [1:0] x, output reg z);
      assign x = a & {2{b}};
      always @(posedge clk) z <= a[0];
    endmodule
    """
    assert paths(verilog, "leaky", tmp_path / "leaky") == ["a -> x", "b -> x"]


def test_module_without_inputs_is_no_proof(tmp_path: Path) -> None:
    with pytest.raises(PointsmanError, match=r"^module dumb has no inputs: there is nothing to search$"):
        paths("module dumb(input clk, output x); assign x = 1; endmodule", "dumb", tmp_path / "dumb")


def test_cell_that_is_not_known_is_an_error() -> None:
    cell = {"type": "DP16KD", "connections": {"Q": [2]}, "port_directions": {"Q": "output"}}
    with pytest.raises(PointsmanError, match=r"^unknown cell DP16KD$"):
        outputs_reached({"cells": {"ram": cell}, "ports": {}}, [])


def module(cells: dict, inputs: list[int], outputs: list[int]) -> dict:
    """A netlist with input ports ``i0`` … and output ports ``o0`` … of a bit each."""
    ports = {f"i{k}": {"direction": "input", "bits": [bit]} for k, bit in enumerate(inputs)}
    ports |= {f"o{k}": {"direction": "output", "bits": [bit]} for k, bit in enumerate(outputs)}
    return {"ports": ports, "cells": cells}


def cell(kind: str, output: list[int], **parameters: str) -> dict:
    def make(**inputs: list[int | str]) -> dict:
        directions = dict.fromkeys(inputs, "input") | {"Y": "output"}
        return {
            "type": kind,
            "connections": inputs | {"Y": output},
            "port_directions": directions,
            "parameters": parameters,
        }

    return make  # type: ignore[return-value]


def test_bitwise_cells_keep_bits_apart_and_others_do_not() -> None:
    for kind, reached in (("$and", {"o0"}), ("$add", {"o0", "o1"})):
        netlist = module({"c": cell(kind, [6, 7])(A=[2, 3], B=["0", "1"])}, [2, 3], [6, 7])
        assert outputs_reached(netlist, ["i0"]) == reached


def test_the_choice_of_a_multiplexer_reaches_all_of_its_bits() -> None:
    netlist = module({"c": cell("$mux", [6, 7])(A=[2, 3], B=["0", "0"], S=[4])}, [2, 3, 4], [6, 7])
    assert outputs_reached(netlist, ["i1"]) == {"o1"}
    assert outputs_reached(netlist, ["i2"]) == {"o0", "o1"}


def test_registers_end_a_path_and_memories_do_when_they_are_clocked() -> None:
    through = module({"a": cell("$not", [3])(A=[2]), "b": cell("$not", [4])(A=[3])}, [2], [4])
    assert outputs_reached(through, ["i0"]) == {"o0"}
    stopped = module({"a": cell("$not", [3])(A=[2]), "b": cell("$dff", [4])(D=[3], CLK=[9])}, [2], [4])
    assert outputs_reached(stopped, ["i0"]) == set()
    for clocked, reached in (("0", {"o0"}), ("1", set())):
        memory = module({"m": cell("$memrd_v2", [4], CLK_ENABLE=clocked)(ADDR=[2])}, [2], [4])
        assert outputs_reached(memory, ["i0"]) == reached


def test_an_input_that_is_an_output_is_a_path() -> None:
    assert outputs_reached(module({}, [2, 3], [3]), ["i1"]) == {"o0"}
    assert outputs_reached(module({}, [2, 3], [3]), ["i0"]) == set()
