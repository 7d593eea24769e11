from typing import Any

import pytest

from numesh.ecp5 import absorb_output_registers


def flop(data: int, output: int, clock: int = 2, **pins: list[str]) -> dict[str, Any]:
    connections = {"DI": [data], "Q": [output], "CLK": [clock], **pins}
    return {
        "type": "TRELLIS_FF",
        "parameters": {"CEMUX": "1"} if "CE" not in pins else {"CEMUX": "CE"},
        "connections": connections,
        "port_directions": {name: "output" if name == "Q" else "input" for name in connections},
    }


def netlist(**more: dict[str, Any]) -> dict[str, Any]:
    """A block RAM with two outputs in use, each with a flip-flop."""
    connections = {"CLKB": [2], "DOB0": [10], "DOB1": [11], "DOB2": [12]}
    ram = {
        "type": "DP16KD",
        "parameters": {"REGMODE_A": "NOREG", "REGMODE_B": "NOREG"},
        "connections": connections,
        "port_directions": {name: "output" if name.startswith("DO") else "input" for name in connections},
    }
    cells = {"ram": ram, "first": flop(10, 20), "second": flop(11, 21)} | more
    return {"modules": {"top": {"cells": cells, "ports": {"q": {"direction": "output", "bits": [20, 21]}}}}}


def test_flops_behind_all_outputs_move_into_the_block_ram() -> None:
    design = netlist()
    assert absorb_output_registers(design, "top") == 2
    cells = design["modules"]["top"]["cells"]
    assert list(cells) == ["ram"]
    assert cells["ram"]["parameters"] == {"REGMODE_A": "NOREG", "REGMODE_B": "OUTREG"}
    assert {name: cells["ram"]["connections"][name] for name in ("DOB0", "DOB1", "OCEB", "RSTB")} == {
        "DOB0": [20],
        "DOB1": [21],
        "OCEB": ["1"],
        "RSTB": ["0"],
    }
    assert absorb_output_registers(design, "top") == 0


@pytest.mark.parametrize(
    "second",
    [
        flop(11, 21, clock=3),
        flop(11, 21, CE=["x"]),
        flop(11, 21, LSR=["x"]),
        {**flop(11, 21), "type": "LUT4"},
        {**flop(11, 21), "parameters": {"CEMUX": "1", "CLKMUX": "INV"}},
    ],
    ids=["clock", "enable", "reset", "no flop", "other edge"],
)
def test_a_port_with_an_output_that_does_not_fit_is_left_alone(second: dict[str, Any]) -> None:
    design = netlist(second=second)
    assert absorb_output_registers(design, "top") == 0
    assert design["modules"]["top"]["cells"]["ram"]["parameters"]["REGMODE_B"] == "NOREG"
    assert len(design["modules"]["top"]["cells"]) == 3


def test_an_output_that_somebody_else_reads_keeps_its_flops_outside() -> None:
    assert absorb_output_registers(netlist(third=flop(10, 22)), "top") == 0
    design = netlist()
    design["modules"]["top"]["ports"]["q"]["bits"].append(10)
    assert absorb_output_registers(design, "top") == 0
