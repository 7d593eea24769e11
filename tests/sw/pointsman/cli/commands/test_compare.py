"""``pointsman compare`` of two results."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from pointsman.cli import main


def test_a_file_that_is_no_result_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("[1, 2]")
    done = CliRunner().invoke(main, ["compare", str(path), str(path)])
    assert done.exit_code == 2
    assert done.output.startswith("pointsman: ")
