"""The soak of the command is clean on a few uses, and sees what it is to see."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from loading import module_at

FOLDER = Path(__file__).parent


def test_a_few_uses_end_as_they_should(tmp_path: Path) -> None:
    few = ["--first", "4", "--uses", "15", "--seed", "3", "--out", str(tmp_path / "faults")]
    command = [sys.executable, str(FOLDER / "commands_soak.py"), *few]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    summary = json.loads(done.stdout[done.stdout.index("{") :])
    assert (summary["uses"], summary["faults"], sum(summary["outcomes"].values())) == (15, 0, 15)
    assert not (tmp_path / "faults").exists()


@pytest.fixture(scope="module")
def soak() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        return module_at(FOLDER / "commands_soak.py")


@pytest.mark.parametrize(
    ("end", "found"),
    [
        ((2, "", "pointsman: depth must be even\n", []), None),
        ((0, "4 results\n", "", ["out.json"]), None),
        ((-999, "", "", []), "HANG"),
        ((-11, "", "", []), "SIGNAL 11"),
        ((1, "", "Traceback (most recent call last):\n", []), "TRACEBACK"),
        ((3, "", "pointsman: no\n", []), "STATUS 3"),
        ((2, "", "Exception ignored in: x\n", []), "NOISE"),
        ((2, "", "", []), "SILENT"),
        ((2, "", "no\n", []), "NO MESSAGE"),
        ((2, "", "pointsman: no\n" * 100, []), "LONG"),
        ((2, "half", "pointsman: no\n", []), "OUTPUT AND ERROR"),
        ((2, "", "pointsman: no\n", ["out.json"]), "LEFT BEHIND"),
        ((0, "", "", []), "NO ANSWER"),
        ((0, "done", "", [".out.json-4711"]), "TEMPORARY FILE"),
    ],
)
def test_ends_are_told_apart(soak: ModuleType, end: tuple[int, str, str, list[str]], found: str | None) -> None:
    use = soak.Use(["run", "ring.py"])
    assert soak.fault(use, *end) == found
    if found == "LEFT BEHIND":
        assert soak.fault(replace(use, output="full"), *end) is None
