"""What a bench is told comes through the environment."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from cosim.benches.numesh.catalogue import BENCHES, ODD
from cosim.benches.task import TASK_VARIABLE, Task

TASK = Task("schedule", 7, "/somewhere", "/somewhere/out.json")


def test_a_task_comes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TASK_VARIABLE, json.dumps(asdict(TASK)))
    assert Task.given() == TASK
    assert TASK.among(BENCHES).shape == ODD
    assert TASK.prepared == Path("/somewhere")


def test_each_purpose_has_randomness_of_its_own() -> None:
    assert TASK.random("driver").random() == TASK.random("driver").random()
    assert TASK.random("driver").random() != TASK.random("other").random()
