"""Look-up tables in front of adders, into the adders.

A carry cell of the ECP5 adds functions of up to four signals, and synthesis uses two of the four: what chooses an operand
stays a look-up table of its own, with a way of its own. This pass over the netlist puts such a table into the carry cell where
one of the operands is a table of up to three signals that is 0 whenever two of them are, such as ``a if s else b``.

A half of a cell makes ``p``, the table of its four inputs, and ``g``, the same table with the last two inputs 0. Its sum
is ``p ^ carry``, and the next carry is ``carry if p else g`` (yosys' model of the cell, ``ccu2c_sim.vh``). With one operand A
and the other f(B, C, D), ``p`` is ``A ^ f``, and ``g`` is A, as it must be, if f(B, 0, 0) is 0.
Non-goals: subtraction, tables that others read as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import permutations
from typing import Any

CARRY = "CCU2C"
TABLE = "LUT4"
_INPUTS = "ABCD"
_ADDS = 0b1001011010101010
"""Of a half that adds A and B: C is 0 and D is 1."""


def fold(module: Mapping[str, Any]) -> int:
    """Put tables into carry cells, in a module of a netlist as yosys' ``write_json`` gives it, in place.

    Returns
    -------
    int
        Look-up tables that were taken away.
    """
    cells = module["cells"]
    readers = Counter[Any]()
    tables: dict[Any, str] = {}
    for name, cell in cells.items():
        for port, bits in cell["connections"].items():
            if cell.get("port_directions", {}).get(port) != "output":
                readers.update(bits)
            elif cell["type"] == TABLE:
                tables[bits[0]] = name
    for port in module["ports"].values():
        readers.update(port["bits"])
    taken = 0
    for cell in [cell for cell in cells.values() if cell["type"] == CARRY]:
        for half in "01":
            wires = [cell["connections"][f"{name}{half}"][0] for name in _INPUTS]
            if not _adds(cell, half, wires):
                continue
            for kept, other in (wires[:2], wires[1::-1]):
                table = tables.get(other)
                inputs = _inputs(cells[table]) if table is not None and readers[other] == 1 else None
                if inputs is None:
                    continue
                for name, wire in zip(_INPUTS, [kept, *inputs], strict=True):
                    cell["connections"][f"{name}{half}"] = [wire]
                cell["parameters"][f"INIT{half}"] = f"{_added(cells.pop(table), inputs):016b}"
                taken += 1
                break
    return taken


def _adds(cell: Mapping[str, Any], half: str, wires: list[Any]) -> bool:
    parameters = cell["parameters"]
    return (
        int(parameters[f"INIT{half}"], 2) == _ADDS
        and parameters[f"INJECT1_{half}"].strip() == "NO"
        and wires[2:] == ["0", "1"]
        and wires[0] != wires[1]
    )


def _inputs(table: Mapping[str, Any]) -> tuple[Any, Any, Any] | None:
    """Three inputs of a table, of which the last two at 0 make it 0; none if there are no such."""
    used = {bits[0] for name in _INPUTS for bits in [table["connections"][name]]} - {"0", "1", "x"}
    if len(used) > 3:
        return None
    for inputs in permutations([*sorted(used), *["0"] * (3 - len(used))]):
        if not any(_value(table, dict(zip(inputs, (first, 0, 0), strict=True)) | {"0": 0}) for first in (0, 1)):
            return inputs
    return None


def _value(table: Mapping[str, Any], of: Mapping[Any, int]) -> int:
    """What a table gives for values of its inputs."""
    known = {**of, "1": 1, "x": 0}
    index = sum(known[table["connections"][name][0]] << bit for bit, name in enumerate(_INPUTS))
    return int(table["parameters"]["INIT"], 2) >> index & 1


def _added(table: Mapping[str, Any], inputs: tuple[Any, Any, Any]) -> int:
    """The table of a half that adds A to a table of B, C and D, ``inputs``."""
    found = 0
    for index in range(16):
        first, *others = (index >> bit & 1 for bit in range(4))
        of = {wire: value for wire, value in zip(inputs, others, strict=True) if wire != "0"}
        found |= (first ^ _value(table, {**of, "0": 0})) << index
    return found
