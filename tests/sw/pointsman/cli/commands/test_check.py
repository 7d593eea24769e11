"""``pointsman check`` tells files of connection tables from images."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from pointsman.artifacts.tables.file import KIND
from pointsman.cli import main
from pointsman.cli.commands.check import is_tables


@pytest.mark.parametrize(("content", "tables"), [(KIND.magic + b"more", True), (KIND.magic[:-1], False), (b"", False)])
def test_first_bytes_decide(content: bytes, tables: bool, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert is_tables(path) is tables


def test_what_is_no_file_is_no_table(tmp_path: Path) -> None:
    assert not is_tables(tmp_path)
    assert not is_tables(tmp_path / "nothing")


def test_a_file_that_cannot_be_read_is_a_users_fault(tmp_path: Path) -> None:
    path = tmp_path / "a.image"
    path.write_text("no image")
    done = CliRunner().invoke(main, ["check", str(path)])
    assert done.exit_code == 2
    assert "an image file must start with" in done.output
