"""What explain tells of the planner's decision: against the plan itself."""

from __future__ import annotations

import json
from math import inf
from pathlib import Path

import pytest
from click.testing import CliRunner

from numesh.shape import NodeShape
from pointsman.cli import main
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context
from pointsman.plan.analysis import ProgramAnalysis
from pointsman.plan.candidates.alternatives import estimates
from pointsman.plan.make_plan import make_plan
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import fold
from pointsman.plan.structure.structure import divided
from pointsman.program.program import Operator
from pointsman.report.decision import decision_json, decision_text

TEXT = """
(loop 'l 10
  (subset (make-1d 'x) (broadcast 'b (runtime) :m 60))
  (subset (make-1d 'y) (cshift 'c -1 :m 3)))
"""


@pytest.fixture(scope="module")
def decided():
    program = compile_text(TEXT, topology=mesh(3, 3))
    plan = make_plan(program, NodeShape(), name="test")
    return plan, decision_json(plan, ProgramAnalysis(program, Context(program.topology, NodeShape()), IMPLEMENTATIONS))


def test_every_operator_is_told_with_its_implementation_and_the_others(decided) -> None:
    plan, plain = decided
    told = {one["label"]: one for phase in plain["phases"] for one in phase["operators"]}
    assert {label: one["implementation"] for label, one in told.items()} == {
        one.operator.label: one.implementation.name for phase in plan.phases for one in phase.operators
    }
    for one in told.values():
        alone = [other["alone"] for other in one["alternatives"]]
        assert alone == sorted(alone)
        assert one["implementation"] in [other["implementation"] for other in one["alternatives"]]


def test_the_times_of_the_phases_are_the_plans(decided) -> None:
    plan, plain = decided
    assert [phase["cycles"] for phase in plain["phases"]] == [phase.cycles for phase in plan.phases]
    # Those of the phases are means of a node, the whole is the slowest node's.
    assert 0.8 * plan.cycles < sum(phase["cycles"] for phase in plain["phases"]) <= plan.cycles
    for phase, told in zip(plan.phases, plain["phases"], strict=True):
        change = told["change"]
        assert change["technique"] == phase.technique
        assert change["each"] * change["exits"] == pytest.approx(change["cycles"])
        assert 0 <= change["cycles"] < told["cycles"]


def test_one_way_is_chosen_and_no_routed_way_was_quicker(decided) -> None:
    plan, plain = decided
    chosen = [way for way in plain["ways"] if way["outcome"] == "chosen"]
    assert [way["cycles"] for way in chosen] == [plan.cycles]
    assert chosen[0]["period"] == plan.period
    assert all(way["cycles"] is None or way["cycles"] >= plan.cycles for way in plain["ways"])
    assert len(plain["ways"]) > 3


def test_the_text_has_phases_ends_and_ways(decided) -> None:
    plan, plain = decided
    text = decision_text(plain)
    for phase in plan.phases:
        assert f"phase {phase.name}: " in text
        assert phase.reason in text
    assert "chosen" in text


def test_the_command_gives_text_and_json(tmp_path: Path) -> None:
    source = tmp_path / "p.cop"
    source.write_text("(cshift 'c 1 :m 4)")
    answer = CliRunner().invoke(main, ["explain", str(source), "--mesh", "2x2", "--decision"])
    assert answer.exit_code == 0, answer.output
    assert "ends by none (at no cost): no phase follows" in answer.output
    answer = CliRunner().invoke(main, ["explain", str(source), "--mesh", "2x2", "--decision", "--json"])
    assert json.loads(answer.output)["decision"]["phases"][0]["name"] == "c"


def test_an_effort_of_nothing_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "p.cop"
    source.write_text("(cshift 'c 1 :m 4)")
    answer = CliRunner().invoke(main, ["compile", str(source), "--mesh", "2x2", "--effort", "0"])
    assert answer.exit_code == 2
    assert "--effort" in answer.output


def test_what_continues_is_told_with_its_words_in_each_phase() -> None:
    crowded = "(phase (cshift 'a 1 :m 12) (cshift 'b 3 :m 12) (cshift 'c 2 :m 12))"
    program = compile_text(
        f"(parallel (cshift 's 1 :m 400) (loop 'l 2 {crowded} (cshift 'f 1 :m 9)))", topology=mesh(2, 2)
    )
    shape = NodeShape(vfsms=64, registers=32)
    root = disjoint_tree(program)
    structure = divided(program, root, fold(root, lambda part, i: True))
    plan = make_plan(program, shape, name="test", period=16, structures=[structure])
    analysis = ProgramAnalysis(program, Context(program.topology, shape), IMPLEMENTATIONS)
    plain = decision_json(plan, analysis)
    (one,) = plain["continuing"]
    least = [min(chain.words for chain in plan.phases[p].routed.beside[0].chains) for p in range(2)]
    assert one["words"] == least
    assert least[0] < least[1]
    assert f"{least[0]}, {least[1]} words a period in them" in decision_text(plain)


def test_cycles_alone_are_bridged_to_the_phase(decided) -> None:
    _, plain = decided
    for phase in plain["phases"]:
        bridge = phase["bridge"]
        assert sum(bridge.values()) == pytest.approx(phase["cycles"])
        own = [
            other["alone"]
            for one in phase["operators"]
            for other in one["alternatives"]
            if other["implementation"] == one["implementation"]
        ]
        assert bridge["alone"] == pytest.approx(sum(own))
    assert "  in all: " in decision_text(plain)


def test_implementation_that_does_not_fit_has_a_reason_in_the_place_of_cycles(monkeypatch: pytest.MonkeyPatch) -> None:
    def crowded(operator: Operator, analysis: ProgramAnalysis, period: int) -> dict[str, float]:
        return {**estimates(operator, analysis, period), "str_crowded": inf}

    monkeypatch.setattr("pointsman.report.decision.estimates", crowded)
    program = compile_text("(cshift 'c 1 :m 4)", topology=mesh(2, 2))
    plan = make_plan(program, NodeShape(), name="test")
    plain = decision_json(plan, ProgramAnalysis(program, Context(program.topology, NodeShape()), IMPLEMENTATIONS))
    json.dumps(plain, allow_nan=False)
    (operator,) = plain["phases"][0]["operators"]
    assert operator["alternatives"][-1]["alone"] is None
    text = decision_text(plain)
    assert "inf" not in text
    assert (
        f"str_crowded (needs more slots, VFSMs or interface registers than a node has with {plan.period} slots)" in text
    )
