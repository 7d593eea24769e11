"""``pointsman run``: what is refused before anything is compiled."""

from __future__ import annotations

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
        (["--json", "/nowhere/at/all.json"], "/nowhere"),
    ],
)
def test_options_that_do_not_go_together(options: list[str], said: str) -> None:
    done = CliRunner().invoke(main, ["run", MATMUL, "--mesh", "2x2", "--size", "4", *options])
    assert done.exit_code == 2
    assert said in done.output
