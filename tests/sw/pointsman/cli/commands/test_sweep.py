"""``pointsman sweep``."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from pointsman.cli import main

EXAMPLE = Path(__file__).parents[5] / "examples/sweep/matmul.toml"


def test_cases_are_listed_without_running() -> None:
    done = CliRunner().invoke(main, ["sweep", str(EXAMPLE), "--list"])
    assert done.exit_code == 0
    assert done.output.splitlines()[0] == "matmul 2x2 numesh engine=model size=12"
    assert len(done.output.splitlines()) == 12


def test_what_is_wrong_in_the_file_ends_with_status_2(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text("[[sweep]]\napplication = 'x.py'\nnetwork = '2x2'\n")
    done = CliRunner().invoke(main, ["sweep", str(path)])
    assert done.exit_code == 2
    assert f"pointsman: {path}: sweep[0].application: there is no file" in done.output
    path.write_text(f"[[sweep]]\napplication = '{EXAMPLE.parents[1]}/halves/halves.py'\nnetwork = '4x2'\ndry = true\n")
    done = CliRunner().invoke(main, ["sweep", str(path), "--plot", str(tmp_path / "p.png")])
    assert done.exit_code == 2
    assert "plot: there must be a table [plot] to draw" in done.output


def test_the_table_and_the_exit_status(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(
        f"[[sweep]]\napplication = '{EXAMPLE.parents[1]}/halves/halves.py'\nnetwork = ['4x2', '2x2']\ndry = true\n"
    )
    done = CliRunner().invoke(main, ["sweep", str(path), "--on", "pool:1"])
    assert done.exit_code in (0, 1)
    assert "4x2" in done.stdout
    assert (tmp_path / "s/results.jsonl").read_text().count("\n") == 2
