"""The mesh of scheduled routers as a target: its stages, its files, and images read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import pointsman
from pointsman import cop
from pointsman.api.targets.numesh import NumeshTarget
from pointsman.artifacts.images.file import write_images
from pointsman.cli import main
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import mesh

TARGET = NumeshTarget()
PROGRAM = compile_text("(cshift 'c 1 :m 2)", topology=mesh(2, 2))
GIVEN: dict[str, Any] = {
    "pipelines": 2, "vfsms": 32, "schedule_depth": 128, "registers": 16, "width": 32, "aliased_handshake": False,
    "period": 8, "plugins": (), "effort": 1, "phases": None, "output": None, "readmemh": None,
}  # fmt: skip


@pytest.fixture(scope="module")
def images() -> Any:
    return TARGET.compile(PROGRAM, "p", GIVEN)


@pytest.mark.parametrize("stage", NumeshTarget.stages)
def test_every_stage_is_json_with_the_period_that_was_asked_for(stage: str) -> None:
    assert json.loads(TARGET.stage(PROGRAM, "p", stage, GIVEN))["period"] == 8


def test_images_are_described_by_name_mesh_and_slots(images: Any) -> None:
    first, head, *_ = TARGET.describe(images).splitlines()
    assert first == "p on a 2x2 mesh, 8 slots"
    assert head.split()[:3] == ["phase", "block", "operator"]


def test_a_program_for_more_than_the_chip_has_is_marked(tmp_path: Path) -> None:
    file, notes = tmp_path / "p.image", []
    large: dict[str, Any] = {"target": "numesh", "registers": 32, "tell": notes.append, "period": 8}
    compiled = pointsman.compile(lambda net: [cop.cshift("c", 1, m=2)], "2x2", **large)
    assert notes == ["warning: not executable on the NuMesh chip: registers 32 of 16"]
    assert compiled.text.splitlines()[1] == "  not executable on the NuMesh chip: registers 32 of 16"
    write_images(compiled.artifact, file)
    done = CliRunner().invoke(main, ["check", str(file), "--json", str(tmp_path / "p.json")])
    assert done.exit_code == 0
    assert "not executable on the NuMesh chip: registers 32 of 16" in done.output
    assert json.loads((tmp_path / "p.json").read_text())["beyond_chip"] == ["registers 32 of 16"]
    notes.clear()
    pointsman.compile(lambda net: [cop.cshift("c", 1, m=2)], "2x2", target="packet", tell=notes.append)
    assert notes == []


def test_nothing_is_written_that_was_not_asked_for(images: Any) -> None:
    assert list(TARGET.write(images, GIVEN)) == []


def test_what_was_written_is_read_back(images: Any, tmp_path: Path) -> None:
    file, folder = tmp_path / "p.image", tmp_path / "memories"
    told = list(TARGET.write(images, GIVEN | {"output": file, "readmemh": folder}))
    count = sum(path.is_file() for path in folder.rglob("*"))
    assert told == [f"wrote {file}", f"wrote {count} files into {folder}"]
    assert TARGET.read(file, mesh(2, 2), GIVEN) == images


def test_tables_and_addresses_are_other_targets(tmp_path: Path) -> None:
    TARGET.refuse({"emit": "plan"})
    with pytest.raises(PointsmanError, match=r"^--emit tables is a stage of target tdm\n  hint: add --target tdm$"):
        TARGET.refuse({"emit": "tables"})
