"""The SystemRDL of a bridge, read by other people's compiler and made a C header by other people's generator."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from peakrdl_cheader.exporter import CHeaderExporter
from peakrdl_html import HTMLExporter
from peakrdl_ipxact import IPXACTExporter
from systemrdl.node import AddrmapNode, RegNode

from host.emit import address_map
from host.shape import HostShape
from host.system_rdl import system_rdl

Elaborated = Callable[[str], AddrmapNode]
SHAPES = [HostShape(), HostShape(nodes=3, registers=40), HostShape(nodes=2, registers=5, width=64, blocked="error")]


@pytest.mark.parametrize("shape", SHAPES)
def test_every_register_has_the_address_of_the_map(shape: HostShape, elaborated: Elaborated):
    top = elaborated(system_rdl(shape))
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
def test_the_generated_header_gives_c_the_same_addresses(shape: HostShape, elaborated: Elaborated, tmp_path: Path):
    header = tmp_path / "bridge.h"
    CHeaderExporter().export(elaborated(system_rdl(shape)), str(header))
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


IPXACT = "{http://www.accellera.org/XMLSchema/IPXACT/1685-2014}"


@pytest.mark.parametrize("shape", SHAPES[1:])
def test_the_generated_ip_xact_has_the_same_addresses(shape: HostShape, elaborated: Elaborated, tmp_path: Path):
    IPXACTExporter().export(elaborated(system_rdl(shape)), str(tmp_path / "bridge.xml"))

    def number(element: ElementTree.Element, name: str) -> int:
        text = element.findtext(f"{IPXACT}{name}")
        return int((text or "1").replace("'h", "0x"), 0)

    (block,) = ElementTree.parse(tmp_path / "bridge.xml").getroot().iter(f"{IPXACT}addressBlock")
    found = {}
    (nodes,) = block.findall(f"{IPXACT}registerFile")
    for page in range(number(nodes, "dim")):
        for register in nodes.findall(f"{IPXACT}register"):
            at = number(nodes, "addressOffset") + page * number(nodes, "range") + number(register, "addressOffset")
            for k in range(number(register, "dim")):
                found[page, register.findtext(f"{IPXACT}name"), k] = at + k * number(register, "size") // 8
    control = {
        one.findtext(f"{IPXACT}name"): number(one, "addressOffset") for one in block.findall(f"{IPXACT}register")
    }
    expected = address_map(shape, "wishbone")
    for page, node in enumerate(expected["nodes"]):
        for name, key in (("data", "registers"), ("full", "full"), ("mask", "mask")):
            assert [found.pop((page, name, k)) for k in range(len(node[key]))] == list(node[key])
    assert not found
    assert control == {name.lower(): word["address"] for name, word in expected["control"].items()}


def test_the_generated_pages_name_every_register(elaborated: Elaborated, tmp_path: Path):
    HTMLExporter().export(elaborated(system_rdl(SHAPES[0])), str(tmp_path / "pages"))
    shown = "".join(path.read_text() for path in (tmp_path / "pages" / "content").glob("*.html"))
    for name in ("data", "full", "mask", *address_map(SHAPES[0], "wishbone")["control"]):
        assert name.lower() in shown
