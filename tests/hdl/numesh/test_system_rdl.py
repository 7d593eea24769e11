"""The SystemRDL of a node, read by other people's compiler and made a C header by other people's generator."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from peakrdl_cheader.exporter import CHeaderExporter
from systemrdl.node import AddrmapNode, MemNode, RegNode

from numesh.memory_map import memory_map
from numesh.shape import NodeShape
from numesh.system_rdl import system_rdl

Elaborated = Callable[[str], AddrmapNode]
SHAPES = [
    NodeShape(),
    NodeShape(pipelines=1, vfsms=8, schedule_depth=16, registers=3),
    NodeShape(pipelines=4, vfsms=64, schedule_depth=512, registers=40, width=64),
]


def fields_of(register: RegNode) -> list[tuple[str, int, int]]:
    return [(field.inst_name.removeprefix("move_"), field.low, field.high) for field in register.fields()]


def expected(fields: list[dict]) -> list[tuple[str, int, int]]:
    return [(field["name"], field["low"], field["high"]) for field in fields]


@pytest.mark.parametrize("shape", SHAPES)
def test_memories_have_the_entries_and_fields_of_the_map(shape: NodeShape, elaborated: Elaborated):
    told, top = memory_map(shape), elaborated(system_rdl(shape))
    memories = {node.inst_name: node for node in top.children() if isinstance(node, MemNode)}
    layouts = {"schedule": (shape.schedule_depth, told["schedule_entry"])}
    layouts |= {f"annotations_{p}": (shape.vfsms, told["annotation"]) for p in range(shape.pipelines)}
    assert memories.keys() == layouts.keys()
    for name, (count, fields) in layouts.items():
        assert memories[name].get_property("mementries") == count
        (entry,) = memories[name].registers()
        assert fields_of(entry) == expected(fields)
        assert entry.array_dimensions == [count]


@pytest.mark.parametrize("shape", SHAPES)
def test_commands_have_the_fields_of_the_map(shape: NodeShape, elaborated: Elaborated):
    top = elaborated(system_rdl(shape))
    found = {node.inst_name: fields_of(node) for node in top.registers()}
    kinds = memory_map(shape)["commands"]["kinds"]
    assert found == {f"command_{kind['name'].lower()}": expected(kind["fields"]) for kind in kinds}


def test_the_generated_header_has_the_positions_of_all_fields(elaborated: Elaborated, tmp_path: Path):
    shape = NodeShape()
    header = tmp_path / "node.h"
    CHeaderExporter().export(elaborated(system_rdl(shape)), str(header))
    defined = dict(re.findall(r"#define (\w+_bp) (\w+)", header.read_text()))
    for field in memory_map(shape)["schedule_entry"]:
        end = f"SCHEDULE__ENTRY__{field['name'].upper()}_bp"
        (at,) = {value for name, value in defined.items() if name.upper().endswith(end.upper())}
        assert int(at, 0) == field["low"]
