"""Roles of nodes: rewritten VFSMs and registers have the numbers of the allocation."""

from __future__ import annotations

from pointsman.plan.plan import Plan
from pointsman.targets.numesh.allocation import Allocation
from pointsman.targets.numesh.roles import RoleImages


def test_a_role_stands_once_however_many_values_have_it(small_plan: Plan) -> None:
    allocation = Allocation(small_plan)
    images = RoleImages(allocation)
    for index, (_, planned) in enumerate(allocation.operators):
        for node in planned.roles:
            roles, chosen = images.roles(index, node)
            assert len(set(roles)) == len(roles)
            assert len(chosen) == len(planned.values) * planned.stages
            assert set(chosen) == set(range(len(roles)))
            assert images.roles(index, node)[0] is roles


def test_what_load_functions_rewrite_stands_in_the_phase(small_plan: Plan) -> None:
    allocation = Allocation(small_plan)
    images = RoleImages(allocation)
    rewritten = 0
    for index, (phase, planned) in enumerate(allocation.operators):
        for node in planned.roles:
            standing = {(one.pipeline, one.vfsm): one.annotation for one in images.annotated(phase, node)}
            first, *_ = images.roles(index, node)[0]
            assert all(standing[one.pipeline, one.vfsm] == one.annotation for one in first.rewrites)
            rewritten += len(first.rewrites)
    assert rewritten, "the source of the broadcast is known at run time only"
