"""Every operator over online routing, with every sort of run-time value, against the reference machine."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from pointsman.network import graph, mesh, torus


def _cases() -> ModuleType:
    spec = importlib.util.spec_from_file_location("online_cases", Path(__file__).with_name("online_cases.py"))
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["online_cases"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


cases = _cases()
Case, run_case = cases.Case, cases.run_case

M22 = mesh(2, 2)

CASES = [
    Case("(stream 's (runtime) (runtime) :m 3)", M22, ((1, 2), (0, 0), (3, 0), (2, 1))),
    Case("(loop 'l 4 (broadcast 'b (runtime :distributed t) :m 2))", M22, ((1,), (3,), (0,), (0,), (2,))),
    Case("(loop 'l 4 (broadcast 'b (runtime :dynamic t) :m 1))", M22, ((1,), (3,), (0,))),
    Case("(broadcast 'b (runtime) :m 3 :impl 'dyn_bcast_dense)", mesh(3, 5), ((7,), (0,), (14,))),
    Case("(broadcast 'b 4 :m 3 :impl 'dyn_bcast_tree)", mesh(3, 3), ((),)),
    Case("(loop 'l 3 (permute 'p (runtime) :m 2))", M22, (((1, 0, 3, 2),), ((0, 1, 2, 3),), ((3, 0, 1, 2),))),
    Case("(loop 'l 3 (permute 'p (runtime :distributed t) :m 2))", M22, (((1, 0, 3, 2),), ((3, 0, 1, 2),))),
    Case("(loop 'l 3 (cshift 'p (runtime) :m 2))", mesh(3, 5), ((1,), (-4,), (14,))),
    Case("(loop 'l 3 (eoshift 'p (runtime) :m 2))", mesh(3, 5), ((1,), (-4,), (15,))),
    Case("(loop 'l 3 (collect 'p (runtime) :m 2))", M22, ((1,), (1,), (3,), (0,))),
    Case("(loop 'l 3 (collect 'p (runtime :distributed t) :m 2))", M22, ((1,), (1,), (3,), (0,))),
    Case("(loop 'l 3 (reduce 'p 'add (runtime :distributed t) :m 2))", M22, ((1,), (3,), (3,))),
    Case("(loop 'l 3 (reduce 'p 'max (runtime) :m 2 :type 'float64*))", mesh(3, 5), ((1,), (3,), (14,))),
    Case("(allreduce 'p 'add :m 2 :type 'int64*)", mesh(2, 2, 2), ((), ())),
    Case("(prefix 'p 'add :m 3)", mesh(3, 5), ((), ())),
    Case("(barrier 'p)", mesh(3, 5), ((), ())),
    Case("(spread 'p 2 :m 2)", mesh(2, 2, 2), ((), ())),
    Case("(gather 'p 2 :m 2)", mesh(2, 2, 2), ((), ())),
    Case("(seqread 'p '(3 0 1) (runtime) :m 2)", M22, ((2,), (2,))),
    Case("(seqwrite 'p (runtime) '(3 0 1) :m 2)", M22, ((2,), (2,))),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.text} on {case.topology}")
def test_an_operator_does_online_what_the_reference_machine_does(case):
    run_case(case)


@pytest.mark.parametrize("case", [
    Case("(stream 's (runtime) (runtime) :m 3)", mesh(1, 1), ((0, 0),)),
    Case("(stream 's (runtime) (runtime) :m 3)", mesh(1, 2), ((0, 0), (1, 0))),
    Case("(stream 's (runtime) (runtime) :m 3)", torus(4, 3), ((0, 11), (11, 0))),
    Case("(stream 's (runtime) (runtime) :m 3)", graph(4, [(0, 1), (1, 2), (2, 3)]), ((0, 3), (3, 1))),
], ids=lambda case: f"{case.topology.kind} {case.topology}")
def test_on_networks_of_any_sort(case):
    run_case(case)
