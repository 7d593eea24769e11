"""Programs in C receive the words of the Python application; the coupling finds it when they do not."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc, which has the sanitizers")


def _loaded(name: str):
    specification = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert specification is not None
    assert specification.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


soak = _loaded("soak_c")
coupling = sys.modules["coupling"]
SEEDS = (4, 6, 9, 16, 20, 21, 22, 36, 38, 39, 40, 75)
"""Quick ones, with preloaded routers and without, loaded ahead or not: phases that change in turn and blocks that are loaded
again, operators that continue, a value of which only one node knows, stages, gates, combining."""


@pytest.mark.parametrize("seed", SEEDS)
def test_c_receives_the_words_that_python_receives(seed: int, tmp_path: Path):
    outcome = soak.run_case(seed, tmp_path)
    assert not outcome.reason
    assert outcome.changes > 0


@pytest.mark.slow
def test_three_hundred_programs(tmp_path: Path):
    progress = soak.Progress(1000)
    soak.soak(progress, 300, lambda progress: None)
    assert not progress.faults
    assert progress.right > 100


def test_the_soak_goes_on_where_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    seeds: list[int] = []

    def run_case(seed: int, folder: Path):
        seeds.append(seed)
        if seed == 6:
            raise coupling.CouplingError("another word")
        return soak.Outcome("", 2, ("str_bcast",)) if seed % 2 else soak.Outcome("slow")

    monkeypatch.setattr(soak, "run_case", run_case)
    state = str(tmp_path / "state.json")
    assert soak.main(["--cases", "1", "--seed", "5", "--state", state]) == 0
    assert soak.main(["--cases", "3", "--seed", "5", "--state", state]) == 1
    assert seeds == [5, 6, 7]
    total = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (total["right"], total["changes"], total["faults"], total["refused"]) == (2, 4, [6], {"fault": 1})
