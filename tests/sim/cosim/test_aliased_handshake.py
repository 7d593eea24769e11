"""Routers with both handshakes of a link on one wire: no link is turned round while its other end may still take words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from loading import module_at
from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.conflicts.collisions import turned_round
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import Plan
from pointsman.plan.structure.structure import outline
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

soak = module_at(Path(__file__).with_name("soak_programs.py"))

SHIFTS = "(cshift 'a 1 :m 30) (cshift 'b -1 :m 30)"
BETWEEN = "(cshift 'a 1 :m 30) (barrier 'x) (cshift 'b -1 :m 30)"
SEEDS = range(16)
LONG = 13
"""A program that takes as long as all others."""


def planned(text: str, size: tuple[int, int], *, aliased: bool, split: bool = True) -> Plan:
    program = compile_text(text, topology=mesh(*size))
    structures = [outline(program)] if split else None
    return make_plan(program, NodeShape(aliased_handshake=aliased), name="shifts", structures=structures)


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("size", [(2, 2), (3, 3)])
def test_shifts_there_and_back_are_kept_apart(size: tuple[int, int], split: bool) -> None:
    plan = planned(SHIFTS, size, aliased=True, split=split)
    assert turned_round(plan.phases, plan.structure) == {}
    report = check_images(make_images(plan))
    assert report.ok, report.render()


def test_they_would_turn_wires_round_otherwise() -> None:
    plan = planned(SHIFTS, (3, 3), aliased=False)
    assert turned_round(plan.phases, plan.structure)
    aliased = replace(make_images(plan), shape=NodeShape(aliased_handshake=True))
    assert any("so both accept" in finding.message for finding in check_images(aliased).findings)


def test_a_wire_may_be_turned_round_in_a_phase_that_does_not_come_next_if_a_node_waits_before_it() -> None:
    images = make_images(planned(BETWEEN, (3, 3), aliased=True))
    assert check_images(images).ok

    def both_accept(*settle: tuple[int, int]) -> bool:
        findings = check_images(waiting(images, settle)).findings
        return any("was written in phase a, so both accept" in finding.message for finding in findings)

    assert not both_accept((1, 0), (2, 27))
    assert both_accept((1, 0), (2, 0))


def waiting(images: Images, settle: tuple[tuple[int, int], ...]) -> Images:
    """With other times to settle after the first phase."""
    nodes = (
        replace(node, phases=tuple(replace(p, settle=settle) if p.phase == 0 else p for p in node.phases))
        for node in images.nodes
    )
    return replace(images, nodes=tuple(nodes))


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[pytest.mark.slow] if seed == LONG else []) for seed in SEEDS]
)
def test_random_programs_are_judged_and_run(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soak, "SHAPE", replace(soak.SHAPE, aliased_handshake=True))
    run = soak.run_case(replace(soak.case_of(seed), runs=1), "model")
    assert run.images is not None or run.reason


@pytest.mark.slow
def test_most_of_them_are_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soak, "SHAPE", replace(soak.SHAPE, aliased_handshake=True))
    assert sum(isinstance(soak.compiled(soak.case_of(seed)), Images) for seed in SEEDS) > len(SEEDS) * 3 / 4


@pytest.mark.parametrize("size", [(4, 1), (2, 2), (3, 3)])
@pytest.mark.parametrize(
    "operator",
    [
        "(permute 'p (runtime) :m 2)",
        "(permute 'p (runtime) :m 2 :impl 'dyn_permute)",
        "(broadcast 'b (runtime) :m 2 :impl 'dyn_bcast)",
        "(cshift 'c (runtime) :m 200)",
    ],
)
def test_neither_messages_that_are_passed_on_nor_schedules_made_at_run_time_go_both_ways_in_a_slot(
    operator: str, size: tuple[int, int]
) -> None:
    report = check_images(make_images(planned(f"(loop 'l 2 {operator})", size, aliased=True, split=False)))
    assert report.ok, report.render()
