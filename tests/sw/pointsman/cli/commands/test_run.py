"""``pointsman run``: what is refused before anything is compiled."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from pointsman.cli import main

MATMUL = str(Path(__file__).resolve().parents[5] / "examples/matmul/matmul.py")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--wave-window", "1", "2"], "--wave-window needs --wave"),
        (["--dry", "--image", "a.image"], "--dry runs the program, --image an image: give one of them"),
        (["--slots", "4"], "--slots are for the switch, not for target numesh"),
        (["--target", "tdm", "--monitors"], "--monitors is for the mesh of scheduled routers, not for target tdm"),
        (["--target", "packet", "--period", "8"], "--period is for scheduled routers, not for --target packet"),
        (["--addresses", "4"], "--addresses is for --target packet"),
        (["--width", "16"], "applications send words of 32 bits, and nodes with --width 16 have others"),
        (["--width", "64"], "applications send words of 32 bits, and nodes with --width 64 have others"),
        (["--target", "packet", "--phases", "2"], "--phases is for scheduled routers, not for --target packet"),
        (
            ["--target", "optical", "--phases", "2"],
            "--phases is for the mesh of scheduled routers, not for target optical",
        ),
        (["--json", "/nowhere/at/all.json"], "/nowhere"),
    ],
)
def test_options_that_do_not_go_together(options: list[str], said: str) -> None:
    done = CliRunner().invoke(main, ["run", MATMUL, "--mesh", "2x2", "--size", "4", *options])
    assert done.exit_code == 2
    assert said in done.output


def test_what_an_object_of_an_application_raises_when_it_is_deleted_is_told_in_a_line(tmp_path: Path) -> None:
    path = tmp_path / "ring.py"
    path.write_text("class A:\n    def __del__(self):\n        raise ValueError\nA()\n")
    before = sys.unraisablehook
    done = CliRunner().invoke(main, ["run", str(path), "--mesh", "2x1", "--dry"])
    assert done.exit_code == 2
    first, second, *_ = done.stderr.splitlines()
    assert first == "pointsman: ValueError in A.__del__ is ignored"
    assert second.startswith(f"pointsman: {path} must define one class derived from pointsman.runtime.Application")
    assert sys.unraisablehook is before


@pytest.mark.parametrize("command", [["run"], ["run", "--dry"], ["show", "--engine", "model"]])
def test_the_program_of_an_application_is_not_overwritten(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "ring.cop").write_text("(cshift 'c 1)\n")
    path = tmp_path / "ring.py"
    path.write_text(
        "from pointsman.runtime import Application\nclass Ring(Application):\n    program = 'ring.cop'\n"
        "    async def main(self, node):\n        pass\n"
    )
    name, *options = command
    done = CliRunner().invoke(main, [name, str(path), "--mesh", "2", *options, "--json", str(tmp_path / "ring.cop")])
    assert done.exit_code == 2
    assert done.stderr == (
        f"pointsman: cannot write {tmp_path}/ring.cop: it has the application's program\n  hint: give another name\n"
    )
    assert (tmp_path / "ring.cop").read_text() == "(cshift 'c 1)\n"
