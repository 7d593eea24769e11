"""Roles of look-alike instances, moved, against those that implementations give themselves."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context, Wiring
from pointsman.operators.api.implementation import role
from pointsman.operators.api.loading import Loading
from pointsman.operators.api.operands import runtime_values
from pointsman.plan.cost.feasible import feasible_implementations
from pointsman.plan.roles.instances import Instances
from pointsman.routing.errors import RoutingError
from pointsman.routing.phase_router.router import route_phase

PROGRAMS = {
    "rows": "(subset (make-1d 'x) (broadcast 'o (runtime) :m 9))",
    "columns": "(subset (make-1d 'y) (stream 'o (runtime) (runtime) :m 9))",
    "reduce": "(subset (make-1d 'x) (allreduce 'o 'sum :m 3))",
    "shift": "(subset (make-1d 'y) (cshift 'o (runtime) :m 9))",
    "collect": "(subset (make-1d 'x) (stream 'o (runtime) 0 :m 9))",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_moved_roles_are_those_of_the_implementation(name: str) -> None:
    program = compile_text(PROGRAMS[name], topology=mesh(4, 3))
    (operator,) = program.operators()
    context = Context(program.topology, NodeShape())
    moved = 0
    for _, implementation in feasible_implementations(operator, IMPLEMENTATIONS, context):
        if implementation.loading is Loading.PER_VALUE:
            continue  # those only do operators whose value is settled
        streams = implementation.streams(operator, context)
        try:
            routed = route_phase(streams, program.topology, NodeShape(), period=16)
        except RoutingError:
            continue
        wiring = Wiring(routed)
        instances = Instances(implementation, operator, range(len(streams)), wiring)
        moved += instances.distinct == [0]
        for i, instance in enumerate(operator.instances):
            for value in runtime_values(operator):
                for node in instance.nodes:
                    own = role(implementation, operator, wiring, i, node, value)
                    assert instances.role(i, node, value) == own, (implementation.name, i, node, value)
    assert moved, "no implementation has instances that look alike"


@pytest.mark.parametrize("name", ["rows", "columns"])
def test_equal_roles_of_a_node_are_one_object(name: str) -> None:
    program = compile_text(PROGRAMS[name], topology=mesh(4, 3))
    (operator,) = program.operators()
    context = Context(program.topology, NodeShape())
    _, implementation = feasible_implementations(operator, IMPLEMENTATIONS, context)[0]
    streams = implementation.streams(operator, context)
    wiring = Wiring(route_phase(streams, program.topology, NodeShape(), period=16))
    instances = Instances(implementation, operator, range(len(streams)), wiring)
    values = runtime_values(operator)
    fewer = 0
    for i, instance in enumerate(operator.instances):
        for node in instance.nodes:
            roles = [instances.role(i, node, value) for value in values]
            assert len({id(one) for one in roles}) == len(set(roles))
            fewer += len(set(roles)) < len(values)
    assert fewer, "every value has a role of its own"
