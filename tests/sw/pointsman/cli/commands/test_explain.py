"""``pointsman explain``."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from pointsman.cli import main


def explain(tmp_path: Path, text: str, *options: str) -> str:
    path = tmp_path / "p.cop"
    path.write_text(text)
    done = CliRunner().invoke(main, ["explain", str(path), "--mesh", "2x2", *options])
    assert done.exit_code == 0, done.output
    return done.output


def test_every_operator_is_named(tmp_path: Path) -> None:
    said = explain(tmp_path, "(broadcast 'b 0) (barrier 'x)")
    assert "broadcast" in said
    assert "barrier" in said


def test_json_goes_into_a_file(tmp_path: Path) -> None:
    output = tmp_path / "out.json"
    assert explain(tmp_path, "(barrier 'x)", "--json", "-o", str(output)) == ""
    assert json.loads(output.read_text())


def test_a_file_after_json_is_refused_with_what_there_is_for_it(tmp_path: Path) -> None:
    path = tmp_path / "p.cop"
    path.write_text("(barrier 'x)")
    done = CliRunner().invoke(main, ["explain", str(path), "--mesh", "2x2", "--json", str(tmp_path / "out.json")])
    assert done.exit_code == 2
    assert "explain --json prints, and takes no file; -o FILE writes" in done.output
    assert not (tmp_path / "out.json").exists()
