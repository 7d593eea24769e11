"""Programs in C receive the words of the Python application; the coupling finds it when they do not."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from loading import module_at

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc, which has the sanitizers")


soak = module_at(Path(__file__).with_name("soak_c.py"))
coupling = sys.modules["coupling"]
APART = (4, 20, 38)
"""Built as a user would, with preloaded routers and without, loaded ahead or not."""
QUICK = [int(seed) for seed in Path(__file__).with_name("quick_seeds.txt").read_text().split()]
"""Three hundred that are quick to compile, with every implementation that quick ones have."""
FOUND = (1003740,)
"""Found by the soak: loads ahead an operator that continues, and begins in a phase in which the node has no part."""


@pytest.mark.parametrize("seed", APART)
def test_c_receives_the_words_that_python_receives(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(soak, "SECONDS", 20.0)
    monkeypatch.setattr(soak, "LARGE", 10**6)
    outcome = soak.run_case(seed, tmp_path)
    assert not outcome.reason
    assert outcome.changes > 0


def quick(few_blocks: bool, preloaded: bool) -> list[int]:
    """Those of `QUICK` and `FOUND` that have a driver in common."""
    return [seed for seed in (*QUICK, *FOUND) if (seed % 4 == 0) == few_blocks and bool(seed & 32) == preloaded]


def test_there_are_three_hundred_quick_programs():
    assert len(set(QUICK)) == 300


@pytest.mark.long
@pytest.mark.parametrize("preloaded", [False, True])
@pytest.mark.parametrize("few_blocks", [False, True])
def test_programs_that_are_built_together_receive_the_words_that_python_receives(
    few_blocks: bool, preloaded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(soak, "SECONDS", 20.0)
    monkeypatch.setattr(soak, "LARGE", 10**6)
    seeds = quick(few_blocks, preloaded)
    found = soak.run_cases(seeds, tmp_path)
    assert found.keys() == set(seeds)
    for outcome in found.values():
        if isinstance(outcome, coupling.CouplingError):
            raise outcome
        assert not outcome.reason


def test_a_driver_for_many_programs_finds_what_is_beyond_the_sizes_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    written = coupling.c_files

    def smaller(images):
        texts = written(images)
        sizes = texts["pm_sizes.h"]
        if images.name == "program_1":
            one = coupling.sizes_of(sizes)["OPERATORS"]
            texts["pm_sizes.h"] = sizes.replace(f"PM_OPERATORS {one} ", f"PM_OPERATORS {int(one) - 1} ")
        return texts

    monkeypatch.setattr(coupling, "c_files", smaller)
    monkeypatch.setattr(soak, "SECONDS", 20.0)
    monkeypatch.setattr(soak, "LARGE", 10**6)
    first, second = soak.run_cases(quick(False, False)[:2], tmp_path).values()
    assert not isinstance(first, coupling.CouplingError)
    assert "use-after-poison" in str(second)


def test_the_soak_goes_on_where_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    seen: list[int] = []

    def run_cases(seeds, folder: Path, drivers: Path):
        seen.extend(seeds)
        others = {1: soak.Outcome("slow"), 2: coupling.CouplingError("another word")}
        return {seed: others.get(seed % 3, soak.Outcome("", 2, ("str_bcast",))) for seed in seeds}

    monkeypatch.setattr(soak, "run_cases", run_cases)
    state = str(tmp_path / "state.json")
    assert soak.main(["--cases", "1", "--seed", "5", "--state", state]) == 1
    assert seen == [5, 6]
    assert soak.main(["--cases", "3", "--seed", "5", "--state", state]) == 1
    assert seen == [5, 6, 7, 8, 9, 10, 11, 12]
    total = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (total["right"], total["changes"], total["faults"]) == (3, 6, [5, 8, 11])
    assert total["refused"] == {"fault": 3, "slow": 2}
