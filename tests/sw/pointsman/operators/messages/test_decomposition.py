"""Which way of doing an operator by messages is taken, and what all have in common."""

from __future__ import annotations

import pytest

from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.operators.api.operands import runtime_operands
from pointsman.operators.messages import DECOMPOSITIONS, decompose


def test_instances_keep_to_their_own_nodes(machine):
    topology = mesh(3, 4)
    operator = machine.one("(subset (make-1d 'x) (broadcast 'b (runtime)))", topology)
    assert len(operator.instances) == 4
    for way in (one for one in DECOMPOSITIONS if one.name in ("dyn_bcast", "dyn_bcast_dense")):
        for i, instance in enumerate(operator.instances):
            for node in instance.nodes:
                script = way.script(operator, i, node, (1,), topology)
                assert {to for to, _ in script.messages_out()} <= set(instance.nodes)


def test_every_kind_has_a_way_and_names_are_unique():
    from pointsman.program.catalogue import OPERATORS

    assert {kind for one in DECOMPOSITIONS for kind in one.kinds} == set(OPERATORS)
    assert len({one.name for one in DECOMPOSITIONS}) == len(DECOMPOSITIONS)


def test_unknown_and_unfit_implementations_are_refused(machine):
    topology = mesh(3)
    operator = machine.one("(broadcast 'b (runtime) :impl 'dyn_bcast_tree)", topology)
    assert runtime_operands(operator) == ("source",)
    with pytest.raises(PointsmanError, match="dyn_bcast_tree cannot do this broadcast by messages"):
        decompose(operator, topology)
    with pytest.raises(PointsmanError, match="no implementation 'dyn_wave' of a broadcast by messages"):
        decompose(operator, topology, "dyn_wave")
