"""Ways of words in instances that look alike, moved, against those that are followed for themselves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.targets.numesh.promises import Follower

PROGRAMS = {
    "rows": "(subset (make-1d 'x) (broadcast 'o (runtime) :m 9))",
    "columns": "(subset (make-1d 'y) (stream 'o (runtime) (runtime) :m 9))",
    "hops": "(subset (make-1d 'x) (stream 'o (runtime) (runtime) :m 9 :impl (quote str_stream_tree)))",
    "reduce": "(subset (make-1d 'x) (allreduce 'o 'sum :m 3))",
    "collect": "(subset (make-1d 'x) (collect 'o (runtime) :m 9 :impl (quote str_collect_runtime)))",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_moved_ways_are_those_of_the_instance_itself(name: str) -> None:
    plan = make_plan(compile_text(PROGRAMS[name], topology=mesh(4, 3)), NodeShape(), name="p", period=16)
    moved = 0
    for phase in plan.phases:
        for planned in phase.operators:
            alike = Follower(phase, planned)
            apart = Follower(phase, replace(planned, roles=dict(planned.roles)))
            assert not apart.moves
            moved += len(alike.moves)
            for state in range(len(planned.values) * planned.stages):
                assert alike.ways(state) == apart.ways(state), (planned.operator.label, state)
    assert moved, "no instances look alike"
