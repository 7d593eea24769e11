"""The soak finds what it is for, and a small one is clean."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from loading import module_at

soak = module_at(Path(__file__).with_name("soak.py"))


def test_the_same_seed_gives_the_same_record():
    one, two = soak.run_case(3, "model"), soak.run_case(3, "model")
    soak.check_equal(3, one, two, "twice")
    assert len(one) == soak.ROUNDS
    one[1].cycles[0, 0] += 1
    with pytest.raises(soak.SoakError, match=r"^seed 3 twice, phase 1: records differ in cycles$"):
        soak.check_equal(3, one, two, "twice")


@pytest.mark.parametrize("fault", ["changed", "lost"])
def test_a_fault_is_found_and_its_seed_named(monkeypatch: pytest.MonkeyPatch, fault: str):
    plain = soak._message

    def wrong(seed: int, phase: int, node: int, stream: int, words: int) -> np.ndarray:
        message = plain(seed, phase, node, stream, words)
        if node == 1 and phase == 2:
            message = message ^ np.uint32(4) if fault == "changed" else np.roll(message, -1)
        calls[node] = calls.get(node, 0) + 1
        return message if calls[node] % 2 else plain(seed, phase, node, stream, words)

    calls: dict[int, int] = {}
    monkeypatch.setattr(soak, "_message", wrong)
    monkeypatch.setattr(soak, "SIZES", ((2, 2),))
    monkeypatch.setattr(soak, "STREAMS", {(2, 2): 1})
    with pytest.raises(
        soak.SoakError, match=r"^seed 5, 2x2, engine model, phase 2: node \d+, stream 0, word \d+ is 0x"
    ):
        soak.run_case(5, "model")


def test_it_goes_on_where_it_was_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(soak, "SIZES", ((2, 2),))
    monkeypatch.setattr(soak, "STREAMS", {(2, 2): 1})
    path = tmp_path / "state.json"
    monkey = ["--engine", "model", "--others", "", "--state", str(path)]
    assert soak.main([*monkey, "--node-cycles", "1"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert (first["cases"], first["faults"]) == (1, 0)
    assert soak.main([*monkey, "--node-cycles", str(first["node_cycles"] + 1)]) == 0
    second = json.loads(capsys.readouterr().out)
    assert second["cases"] == 2
    assert second["words"] > first["words"]
