"""The exact solver runs in a process of its own, and its faults are told."""

from __future__ import annotations

import sys

import pytest

from pointsman.errors import PointsmanError
from pointsman.routing import solver
from pointsman.routing.solver import solved


def test_a_task_is_answered_without_loading_the_solver_here():
    pytest.importorskip("ortools")
    task = {"ways": [[[0, 1]], [[0, 1]]], "channels": 1, "sharers": [1, 1], "order": [], "least": 1, "most": 3}
    task["seconds"] = 10.0
    loaded = "ortools.sat.python.cp_model" in sys.modules
    [(phases, found)] = solved("pointsman.connections.channels.exact", [task], "this")
    assert phases == 2
    assert sorted(found) == [[0, [0, 1]], [1, [0, 1]]]
    assert ("ortools.sat.python.cp_model" in sys.modules) is loaded


def test_a_fault_of_the_process_is_told():
    pytest.importorskip("ortools")
    with pytest.raises(RuntimeError, match=r"the exact solver failed:[\s\S]*cannot import name 'serve'"):
        solved("pointsman.errors", [], "this")


def test_without_the_package_it_is_refused(monkeypatch):
    monkeypatch.setattr(solver, "find_spec", lambda name: None)
    with pytest.raises(PointsmanError, match=r"^this must have OR-Tools\n  hint: pip install pointsman\[exact\]$"):
        solved("pointsman.errors", [], "this")
