"""Operators whose load functions would get in each other's way are in phases of their own, or done otherwise."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images


@pytest.mark.parametrize(
    "other", ["(barrier 'z)", "(broadcast 'z (runtime))", "(broadcast 'z (runtime) :impl 'par_bcast)"]
)
def test_what_rewrites_the_same_routers_is_in_no_phase_with_commands_of_others(other: str) -> None:
    text = f"(loop 'l 2 (stream 'o 0 (runtime) :m 5 :impl 'str_stream_dyn) {other})"
    plan = make_plan(compile_text(text, topology=mesh(2, 1)), NodeShape(registers=11), name="p")
    assert check_images(make_images(plan)).ok
    for phase in plan.phases:
        rewritten = [{n for n, roles in one.roles.items() if any(r.settings for r in roles)} for one in phase.operators]
        assert not set.intersection(*rewritten) or len(rewritten) == 1
