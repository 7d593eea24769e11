"""Save files of GTKWave: groups that close, and signals that the waveform has."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from cosim.engines.verilated.build import find_compiler
from cosim.engines.verilated.gtkw import MOST_NODES, gtkw_path, gtkw_text
from cosim.hardware import SEAT
from cosim.numesh.hardware import numesh_hardware
from cosim.packet.hardware import packet_hardware
from numesh.shape import NodeShape
from packet_router.shape import RouterShape
from pointsman.errors import PointsmanError
from pointsman.network import mesh

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="needs a C++ compiler")

NODE = "module numesh_node(clk);\nendmodule\n"


def groups_of(text: str) -> list[str]:
    """Names of the groups as they begin; each has to end under its name, the inner ones first."""
    opened: list[str] = []
    found: list[str] = []
    lines = text.splitlines()
    for flag, name in pairwise(lines):
        if flag in ("@800200", "@c00200"):
            opened.append(name)
            found.append(name)
        elif flag in ("@1000200", "@1401200"):
            assert opened.pop() == name
    assert not opened
    return found


@pytest.mark.parametrize("kind", ["scheduled", "packet"])
def test_each_node_has_its_port_and_its_links(kind: str) -> None:
    scheduled = kind == "scheduled"
    shape = RouterShape(size=(3, 1))
    hardware = numesh_hardware(NodeShape(), mesh(3, 1), NODE) if scheduled else packet_hardware(shape)
    text = gtkw_text(hardware, Path("/somewhere/run.fst"))
    assert '[dumpfile] "/somewhere/run.fst"' in text
    named = [f"-{which}node {node}" for node in range(3) for which in ("", "links of ")]
    assert groups_of(text) == named
    assert text.count(f"{SEAT}.p_write[0]\n") == 3
    for wire in hardware.wires:
        assert f"node_2.{SEAT}.{wire.name}[" in text


def test_large_networks_have_groups_for_some_nodes() -> None:
    text = gtkw_text(numesh_hardware(NodeShape(), mesh(20, 20), NODE), Path("a.fst"))
    assert len(groups_of(text)) == 2 * MOST_NODES


@pytest.mark.long
@needs_compiler
def test_the_waveform_has_every_signal_that_is_named(tmp_path: Path) -> None:
    import pywellen

    from cosim.numesh.machine import Machine

    path = tmp_path / "run.fst"
    with Machine(NodeShape(vfsms=8, schedule_depth=16), mesh(2, 2), engine="verilated", wave=path) as machine:
        machine.run([None] * 4, until=3)
    widths = {str(one.full_name): int(one.bitwidth) for one in pywellen.Waveform(str(path)).all_vars()}
    named = [line for line in gtkw_path(path).read_text().splitlines() if line.startswith("node_")]
    assert len(named) > 4 * 10
    for line in named:
        name, _, at = line.rstrip("]").partition("[")
        assert widths[name] == (int(at.partition(":")[0]) + 1 if ":" in at else 1)


@needs_compiler
def test_a_waveform_is_not_named_as_its_save_file(tmp_path: Path) -> None:
    from cosim.numesh.machine import Machine

    with pytest.raises(PointsmanError, match=r"a waveform cannot be called run\.gtkw"):
        Machine(NodeShape(), mesh(2, 2), engine="verilated", wave=tmp_path / "run.gtkw")
