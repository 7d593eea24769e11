"""The SystemRDL of a bridge, read by other people's compiler and made a C header by other people's generator."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from peakrdl_cheader.exporter import CHeaderExporter
from systemrdl import RDLCompiler
from systemrdl.node import AddrmapNode, RegNode

from host.emit import address_map
from host.shape import HostShape
from host.system_rdl import system_rdl

SHAPES = [HostShape(), HostShape(nodes=3, registers=40), HostShape(nodes=2, registers=5, width=64, blocked="error")]


def read(shape: HostShape, folder: Path) -> AddrmapNode:
    path = folder / "bridge.rdl"
    path.write_text(system_rdl(shape))
    compiler = RDLCompiler()
    compiler.compile_file(str(path))
    return compiler.elaborate().top


@pytest.mark.parametrize("shape", SHAPES)
def test_every_register_has_the_address_of_the_map(shape: HostShape, tmp_path: Path):
    top = read(shape, tmp_path)
    there = {
        node.get_path().partition(".")[2]: node.absolute_address
        for node in top.descendants(unroll=True)
        if isinstance(node, RegNode)
    }
    expected = {}
    found = address_map(shape, "wishbone")
    for i, node in enumerate(found["nodes"]):
        for name, key in (("data", "registers"), ("full", "full"), ("mask", "mask")):
            expected |= {f"node[{i}].{name}[{k}]": address for k, address in enumerate(node[key])}
    expected |= {name.lower(): word["address"] for name, word in found["control"].items()}
    assert there == expected
    assert all(node.size == shape.bytes for node in top.descendants() if isinstance(node, RegNode))


@pytest.mark.parametrize("shape", SHAPES[1:])
def test_the_generated_header_gives_c_the_same_addresses(shape: HostShape, tmp_path: Path):
    header = tmp_path / "bridge.h"
    CHeaderExporter().export(read(shape, tmp_path), str(header))
    program = tmp_path / "program.c"
    last = shape.nodes - 1
    places = {
        f"node[{last}].data[{shape.registers - 1}]": shape.register(last, shape.registers - 1),
        f"node[{last}].full[0]": shape.full(last),
        f"node[0].mask[{shape.flag_words - 1}]": shape.mask(0, shape.flag_words - 1),
        "cycles_low": shape.control("CYCLES_LOW"),
        "shape": shape.control("SHAPE"),
    }
    asserts = [f'_Static_assert(offsetof(numesh_host_t, {where}) == {at}, "{where}");' for where, at in places.items()]
    program.write_text("\n".join(["#include <stddef.h>", '#include "bridge.h"', *asserts, ""]))
    (tmp_path / "assert.h").write_text("#define static_assert _Static_assert\n")  # there is no C library
    folders = {"ZIG_GLOBAL_CACHE_DIR": str(tmp_path), "ZIG_LOCAL_CACHE_DIR": str(tmp_path)}
    target = ["--target=riscv32-freestanding-none", "-mcpu=generic_rv32+m", "-std=c11", "-I."]
    done = subprocess.run(
        [sys.executable, "-m", "ziglang", "cc", *target, "-c", program.name, "-o", "program.o"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, **folders},
    )
    assert done.returncode == 0, done.stderr
