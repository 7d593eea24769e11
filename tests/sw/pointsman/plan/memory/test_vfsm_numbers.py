"""Numbers of VFSMs at nodes that have enough, and at nodes that have not."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

import pytest

from numesh.codes import FIRST_FREE_VFSM
from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.conflicts.link_slots import reprogram_slots
from pointsman.plan.errors import PlanError
from pointsman.plan.make_plan import make_plan
from pointsman.plan.memory.vfsm_numbers import VfsmMap, keeps_buffers, vfsm_numbers
from pointsman.plan.plan import Plan
from pointsman.plan.structure.structure import outline

TEXT = """(loop 'l 3 (broadcast 'b (runtime) :m 1) (allreduce 'r 'add :m 1)
  (permute 'p (reverse (all *nodes*)) :m 1) (cshift 'c 1 :m 1)) (broadcast 'e 0 :m 2)"""


@lru_cache
def planned(vfsms: int) -> Plan:
    program = compile_text(TEXT, topology=mesh(3, 2))
    return make_plan(program, NodeShape(vfsms=vfsms), name="p", period=16, structures=[outline(program)])


@pytest.fixture
def plan() -> Plan:
    return planned(32)


def places(here: VfsmMap) -> set[tuple[int, int]]:
    return {(p, number) for p, numbers in zip(here.pipelines, here.numbers, strict=True) for number in numbers}


def needed(plan: Plan) -> int:
    """VFSMs of the fullest pipeline of a phase."""
    return max(
        vfsm.number - FIRST_FREE_VFSM + 1
        for phase in plan.phases
        for chain in phase.routed.chains
        for vfsm in chain.vfsms
    )


def test_with_enough_each_phase_has_its_own_in_its_own_pipelines(plan: Plan) -> None:
    found = vfsm_numbers(plan.phases, plan.structure, plan.shape)
    for node in range(6):
        mine = [by_node[node] for by_node in found if node in by_node]
        assert all(here.pipelines == (0, 1) for here in mine)
        assert not any(places(a) & places(b) for a, b in combinations(mine, 2))


@pytest.mark.parametrize("vfsms", [8, 16])
def test_with_few_they_share_but_never_within_a_phase_nor_with_one_that_keeps_its_own(vfsms: int) -> None:
    plan = planned(vfsms)
    found = vfsm_numbers(plan.phases, plan.structure, plan.shape)
    shared = 0
    for node in range(6):
        mine = {i: by_node[node] for i, by_node in enumerate(found) if node in by_node}
        between = {i: {i: 1} for i in range(4)}  # what is in the loop comes again
        for i, here in mine.items():
            assert sum(map(len, here.numbers)) == len(places(here))
            assert all(FIRST_FREE_VFSM <= number < vfsms for _, number in places(here))
            assert sorted(here.pipelines) == [0, 1]
            # Commands that change the phase are carried by pipeline 0.
            assert reprogram_slots(plan.phases[i].routed, node, here.own(0))
            for other, there in mine.items():
                common = i != other and places(here) & places(there)
                shared += bool(common)
                assert not (common and keeps_buffers(plan.phases[i], i, node, between))
    assert shared or vfsms == 16


def test_a_phase_that_is_too_big_is_refused(plan: Plan) -> None:
    assert needed(plan) > 2
    with pytest.raises(PlanError, match=r"needs \d+ VFSMs of a pipeline of node \d, which has 2 besides"):
        vfsm_numbers(plan.phases, plan.structure, NodeShape(vfsms=4))


@pytest.mark.parametrize("vfsms", [32, 16])
def test_what_continues_is_left_alone_and_no_pipelines_are_exchanged(plan: Plan, vfsms: int) -> None:
    found = vfsm_numbers(plan.phases, plan.structure, NodeShape(vfsms=vfsms), {0: (2, 1)})
    for here in (by_node[0] for by_node in found if 0 in by_node):
        assert here.pipelines == (0, 1)
        assert not places(here) & {(0, 2), (0, 3), (1, 2)}
        assert sum(map(len, here.numbers)) == len(places(here))
