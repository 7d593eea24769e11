"""What the compiler expects of a call against the cycle model."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

from pointsman.errors import PointsmanError
from pointsman.network import mesh


@pytest.fixture(scope="module")
def operators(load: Callable[[str], ModuleType]) -> ModuleType:
    return load("operators.py")


@pytest.mark.parametrize(
    "impl",
    [
        *(
            "str_stream",
            "str_bcast_linear",
            "str_collect",
            "str_collect_direct",
            "str_collect_tree",
            "str_prefix",
            "str_seqread",
            "par_shift",
        ),
        *("sch_shift", "sch_prefix", "str_barrier_tree", "str_gather"),
    ],
)
def test_expected_cycles_are_near_those_measured(operators: ModuleType, impl: str) -> None:
    way = next(way for way in operators.WAYS if way.impl == impl)
    found = operators.measure(way, mesh(2, 2), 20)
    assert abs(found.expected - found.cycles) <= 0.03 * found.cycles + 2


def test_a_value_that_there_is_not_is_refused(operators: ModuleType) -> None:
    program = operators.compile_text("(broadcast 'o (runtime :values '(0 1)))", topology=mesh(2, 2))
    plan = operators.make_plan(program, operators.NodeShape(), name="o", period=16)
    with pytest.raises(PointsmanError, match=r"^operator 'o' has no schedule for the values \(3,\)$"):
        operators.call_cycles(plan, "o", (3,), operators.START)


def test_a_call_before_the_load_is_through_is_refused(operators: ModuleType) -> None:
    program = operators.compile_text("(broadcast 'o 0)", topology=mesh(2, 2))
    plan = operators.make_plan(program, operators.NodeShape(), name="o", period=16)
    with pytest.raises(
        PointsmanError, match=r"^a call of operator 'o' at cycle 3 cannot begin, or does not come to its end$"
    ):
        operators.call_cycles(plan, "o", (), 3)


def test_the_table_names_the_worst(operators: ModuleType) -> None:
    row = {
        "implementation": "a",
        "kind": "stream",
        "mesh": "2x2",
        "latency": 7.0,
        "expected_latency": 8.0,
        "cycles_per_word": 2.0,
        "expected_cycles_per_word": 2.0,
        "load": 40,
        "reload": 0,
        "vfsms": 2,
        "registers": 2,
        "error": 0.05,
    }
    text = operators.table([row, {**row, "implementation": "b", "error": 0.25}, {"refused": "too big"}])
    assert "| stream | `a` | 2x2 | 7 | 8 | 2.00 | 2.00 | 40 | 0 | 2 | 2 |" in text
    assert text.endswith("median error 15 %, worst 25 % (`b` on 2x2).\n")


def test_every_measured_implementation_exists_and_all_are_measured(operators: ModuleType) -> None:
    # Those that pass messages on are measured by a benchmark of their own, replacements by what they consist of.
    offline = [one for one in operators.IMPLEMENTATIONS if not one.name.startswith(("dyn_", "repl_"))]
    known = {(kind, one.name) for one in offline for kind in one.kinds}
    measured = {(way.kind, way.impl) for way in operators.WAYS}
    assert measured <= known
    # What does cyclic shifts as well is measured with these; an exchange has no messages long enough to be measured like others.
    shifts = {("eoshift", name) for name in ("par_shift", "sch_shift", "sch_shift_runtime")}
    assert known - measured == {*shifts, ("allreduce", "str_allreduce_exchange")}
    assert {("cshift", name) for _, name in shifts} <= measured
