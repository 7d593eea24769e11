"""``pointsman tam``: its options reach the run."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from pointsman.cli import main

PROGRAM = "codeblock main\n slots a\n inlet start a\n  post go\n thread go\n  halt a, me, nodes\n"


def test_options_reach_the_run_and_a_file_that_cannot_be_written_is_told_before(tmp_path: Path) -> None:
    path = tmp_path / "one.tam"
    path.write_text(PROGRAM)
    done = CliRunner().invoke(
        main, ["tam", str(path), "2.5", "--nodes", "6", "--target", "packet", "--engine", "model"]
    )
    assert done.exit_code == 0, done.output
    assert "the program gave 2.5 0 6" in done.output
    assert "on 6 TAM processors, target packet" in done.output
    done = CliRunner().invoke(main, ["tam", str(path), "1", "--json", str(tmp_path / "none/out.json")])
    assert done.exit_code == 2
    done = CliRunner().invoke(main, ["tam", str(path), "1", "--nodes", "2", "--max-cycles", "1"])
    assert done.exit_code == 2
    assert "have not ended after 1 units" in done.output
