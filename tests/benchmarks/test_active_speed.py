"""Speeds of active messages are measured between barriers: messages are sent, and programs compute."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from types import ModuleType

import pytest

import pointsman
from pointsman.network import mesh


@pytest.fixture(scope="module")
def program(load: Callable[[str], ModuleType]) -> ModuleType:
    return load("active_speed.py")


@pytest.mark.parametrize("work", ["bulk", "kernel", "handler"])
def test_as_many_messages_are_sent_as_are_counted(program: ModuleType, work: str) -> None:
    made = program.Timed(argparse.Namespace(), mesh(4))
    made.steps, made.amount = [(work, 0)], 4096
    record = pointsman.run(made, target="logp", logp="example").finished.record
    # Most are sent to others, each as a packet; barriers have a few more.
    assert 0.7 * 4096 < record.accesses[:, 0].min() <= record.accesses[:, 0].max() < 4096 + 500


@pytest.mark.long
def test_a_program_that_computes_has_figures_beside_the_raw_engine(
    program: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "BETWEEN", (100, 1_000))  # those of the benchmark are 100,000 cycles and more
    steps = [("compute", 1000), ("wait", 0)]
    (seconds, cycles), (_, raw) = program._timed((2, 1), steps, 3000, target="packet", engine="model")
    assert seconds > 0
    assert 3000 < cycles < 4500
    assert 3000 <= raw < cycles
    found = program.on_rtl("packet", (2, 1), 2000, 2, "model")
    assert list(found["over raw"]) == [str(between) for between in program.BETWEEN]


def test_the_abstract_machine_has_figures_for_each_kind_of_traffic(program: ModuleType) -> None:
    found = program.on_logp(4, 1 << 12)
    assert set(found) == {"bulk", "kernel", "handler"}
    assert all(one > 0 for one in found.values())
