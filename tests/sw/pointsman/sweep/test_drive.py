"""A sweep resumes, and a failure does not stop it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pointsman.errors import PointsmanError
from pointsman.sweep.drive import _alone_in, run_sweep, run_values
from pointsman.sweep.spec import read_spec


def spec(folder: Path, arguments: str) -> Path:
    path = folder / "s.toml"
    path.write_text(f"[[sweep]]\napplication = 'noted.py'\nnetwork = '2'\ndry = true\narguments = {{ {arguments} }}\n")
    return path


def runs(folder: Path, what: str = "end") -> list[int]:
    return sorted(int(line.split()[1]) for line in (folder / "log").read_text().splitlines() if line.startswith(what))


def test_a_failure_does_not_stop_the_others_and_is_run_again_when_asked(noted: Path, tmp_path: Path) -> None:
    sweep = read_spec(spec(tmp_path, "fail = ['', 'raise', 'wrong']"))
    told: list[str] = []
    records = run_sweep(sweep, tmp_path / "out", on="pool:1", tell=told.append)
    assert [record["status"] for record in records] == ["right", "error", "wrong"]
    assert told[1].startswith("2/3 error: noted 2 dry=True fail=raise: ")
    assert len(runs(tmp_path, "start")) == 3
    lines = (tmp_path / "out/results.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == records
    told.clear()
    assert run_sweep(sweep, tmp_path / "out", on="pool:1", tell=told.append) == records
    assert told == ["3 of 3 cases are recorded already"]
    run_sweep(sweep, tmp_path / "out", on="pool:1", again=True, tell=told.append)
    assert len(runs(tmp_path, "start")) == 4


def test_a_killed_sweep_goes_on_where_it_was(noted: Path, tmp_path: Path) -> None:
    path = spec(tmp_path, "seconds = 0.2, number = [0, 1, 2, 3, 4, 5]")
    command = [sys.executable, "-m", "pointsman.cli", "sweep", str(path), "--on", "pool:1", "-o", str(tmp_path / "out")]
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert first.stderr is not None
    while not first.stderr.readline().startswith("2/6"):
        assert first.poll() is None
    first.kill()
    first.wait()
    first.stderr.close()
    time.sleep(1)  # its worker ends the case that it has, and then itself
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "cases are recorded already" in done.stderr
    assert done.stdout.count("right") == 6
    assert runs(tmp_path) == [0, 1, 2, 3, 4, 5]


def test_where_cases_run_is_looked_at_before_a_folder_is_made(noted: Path, tmp_path: Path) -> None:
    with pytest.raises(PointsmanError, match="cases run on pool, pool:N"):
        run_sweep(read_spec(spec(tmp_path, "number = 1")), tmp_path / "out", on="pool:0")
    assert not (tmp_path / "out").exists()


def test_two_sweeps_do_not_share_a_folder(noted: Path, tmp_path: Path) -> None:
    sweep = read_spec(spec(tmp_path, "number = 1"))
    with _alone_in(tmp_path / "out"), pytest.raises(PointsmanError, match="another sweep is running in"):
        run_sweep(sweep, tmp_path / "out", on="pool:1")
    (tmp_path / "file").write_text("")
    with pytest.raises(PointsmanError, match="cannot use the folder"):
        run_sweep(sweep, tmp_path / "file", on="pool:1")


def test_values_of_cases_or_the_first_error(noted: Path, tmp_path: Path) -> None:
    right, wrong = read_spec(spec(tmp_path, "fail = ['', 'raise']")).cases
    assert [values["correct"] for values in run_values([right], tmp_path / "out")] == [True]
    with pytest.raises(PointsmanError, match=r"noted 2 dry=True fail=raise: .*ValueError: as asked for"):
        run_values([right, wrong], tmp_path / "out")
