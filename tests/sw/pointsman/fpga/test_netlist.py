"""Cells and names of a netlist."""

from __future__ import annotations

from typing import Any

import pytest

from pointsman.fpga.devices import DEVICES
from pointsman.fpga.netlist import Cells, Name, Names
from pointsman.fpga.tools import ToolError


def cell(kind: str, source: str = "", **wires: list[Any]) -> dict[str, Any]:
    return {"type": kind, "attributes": {"src": source} if source else {}, "connections": wires}


def test_cells_are_counted_by_what_they_take() -> None:
    kinds = ["LUT4"] * 5 + ["CCU2C"] * 2 + ["TRELLIS_FF"] * 3 + ["TRELLIS_DPR16X4"] * 4 + ["DP16KD", "$scopeinfo"]
    module = {"cells": {str(i): cell(kind) for i, kind in enumerate(kinds)}}
    assert Cells.of_module(module) == Cells(lut4=9, ff=3, dpr16x4=4, ebr=1)


def test_cells_of_gowin_are_counted() -> None:
    kinds = ["LUT1", "LUT2", "LUT3", "LUT4", "ALU", "DFF", "DFFRE", "DFFSE", "RAM16SDP4", "DPX9B", "GND", "VCC"]
    module = {"cells": {kind: cell(kind) for kind in kinds}}
    assert Cells.of_module(module) == Cells(lut4=5, ff=3, dpr16x4=1, ebr=1)
    with pytest.raises(ToolError, match=r"not counted: MUX2_LUT5$"):
        Cells.of_module({"cells": {"a": cell("MUX2_LUT5")}})
    small = DEVICES["gw1nr-9"]
    Cells(8640, 6480, 0, 26).check_fit(small)
    for big in (Cells(0, 6481, 0, 0), Cells(0, 0, 271, 0), Cells(0, 0, 0, 27)):
        with pytest.raises(ToolError, match=r"^the gw1nr-9 is too small: "):
            big.check_fit(small)


@pytest.mark.parametrize("kind", ["L6MUX21", "numesh_node", "$add"])
def test_cells_that_would_be_missed_are_an_error(kind: str) -> None:
    with pytest.raises(ToolError, match=rf"^the netlist has cells that are not counted: {kind.replace('$', '.')}$"):
        Cells.of_module({"cells": {"a": cell("LUT4"), "b": cell(kind)}})


def test_a_device_that_is_too_small_is_told() -> None:
    fits = Cells(lut4=24288, ff=24288, dpr16x4=0, ebr=56)
    fits.check_fit(DEVICES["ecp5-25k"])
    for what, big in (
        ("24289 look-up tables, and it has 24288", Cells(24289, 0, 0, 0)),
        ("24289 look-up tables, and it has 24288", Cells(24285, 0, 1, 0)),
        ("24289 flip-flops, and it has 24288", Cells(0, 24289, 0, 0)),
        ("3037 distributed memories, and it has 3036", Cells(0, 0, 3037, 0)),
        ("57 block memories, and it has 56", Cells(0, 0, 0, 57)),
    ):
        with pytest.raises(ToolError, match=rf"^the ecp5-25k is too small: the block needs {what}\n  hint: "):
            big.check_fit(DEVICES["ecp5-25k"])


@pytest.fixture
def names() -> Names:
    word = "transfer_0.write_word@hdl/numesh/transfer.py:98|/share/cells_map.v:56"
    module = {
        "ports": {"out_valid_0": {}, "p_full": {}},
        "cells": {
            "odd.name_TRELLIS_FF_Q": cell("TRELLIS_FF", word, Q=[7], DI=[8]),
            "x_TRELLIS_FF_Q": cell("TRELLIS_FF", "hdl/numesh/a.py:1", Q=[9], DI=[8]),
            "schedule.ram.0.0": cell("DP16KD"),
        },
        "netnames": {
            "mixed": {"bits": [7, 8], "attributes": {}},
            "annotation_0.active": {"bits": [20], "attributes": {"src": "hdl/numesh/annotation.py:64|/share/x.v:1"}},
            "entry$65.next": {"bits": [21, 22], "attributes": {"src": "hdl/numesh/schedule.py:5"}},
            "odd.name_TRELLIS_FF_Q_DI": {"bits": [8], "attributes": {"src": "hdl/numesh/zzz.py:1"}},
        },
    }
    return Names({"modules": {"dut": module}}, "dut", "dut")


def test_a_register_keeps_the_name_that_it_was_given(names: Names) -> None:
    name = Name("transfer_0.write_word", "hdl/numesh/transfer.py:98", True)
    assert names.cell("dut.odd.name_TRELLIS_FF_Q") == name
    assert names.net("dut.mixed[0]") == name, "the bit that the register drives"
    assert names.net("dut.mixed[1]").exact is False


def test_registers_of_gowin_keep_their_names_too() -> None:
    word = "transfer_0.write_word@hdl/numesh/transfer.py:98"
    module = {
        "ports": {},
        "cells": {"a_DFFRE_Q_1": cell("DFFRE", word, Q=[7], D=[8])},
        "netnames": {"mixed": {"bits": [7], "attributes": {}}, "kept": {"bits": [9], "attributes": {"src": "a.py:1"}}},
    }
    names = Names({"modules": {"dut": module}}, "dut", "dut")
    name = Name("transfer_0.write_word", "hdl/numesh/transfer.py:98", True)
    assert names.cell("dut.a_DFFRE_Q_1") == names.net("dut.mixed[0]") == name
    assert names.net("dut.kept_LUT2_I0_F_LUT4_I3_F") == Name("kept", "a.py:1", False)


def test_memories_and_signals_are_called_by_their_names(names: Names) -> None:
    assert names.cell("dut.schedule.ram.0.0") == Name("schedule.ram", "", True)
    assert names.cell("dut.schedule.ram.0.0$DPRAM_COMB3") == Name("schedule.ram", "", True)
    assert names.net("dut.annotation_0.active") == Name("annotation_0.active", "hdl/numesh/annotation.py:64", True)
    assert names.net("dut.entry$65.next[1]") == Name("entry.next", "hdl/numesh/schedule.py:5", True)


def test_logic_is_called_after_what_is_next_to_it(names: Names) -> None:
    near = Name("annotation_0.active", "hdl/numesh/annotation.py:64", False)
    assert names.net("dut.annotation_0.active_LUT4_D_1_Z_LUT4_C_Z[3]") == near
    assert names.cell("dut.annotation_0.active_LUT4_D") == near
    assert names.net("dut.schedule.ram.0.0_DOB10_LUT4_D_Z[2]") == Name("schedule.ram", "", False)


def test_wires_between_ports_and_the_surroundings_are_told_apart(names: Names) -> None:
    assert names.net("o_out_valid_0") == Name("port out_valid_0", "", True)
    assert names.net("i_p_full[3]") == Name("port p_full", "", True)
    assert names.cell("caught_p_full_TRELLIS_FF_Q") == Name("surroundings caught_p_full", "", True)
