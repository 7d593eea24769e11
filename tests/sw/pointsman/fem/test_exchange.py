"""Exchanges of halos: connections, phases, and their COP."""

from __future__ import annotations

import pytest

from pointsman.connections.channels import divide
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.fem.exchange import calls_of, cop_text, exchange_of
from pointsman.fem.generators import generated
from pointsman.network import mesh, torus
from pointsman.verify.channels import check_phases


def test_a_mesh_becomes_connections_phases_and_a_program():
    exchange = exchange_of(generated("random:150:1"), 9, mesh(3, 3), channels=8, words=2)
    answer = divide(exchange.problem)
    assert check_phases(answer) == []
    assert exchange.after <= exchange.before
    words = exchange.halo.words()
    for (u, v), one in zip(exchange.pairs, exchange.problem.connections, strict=True):
        assert one.words == 2 * words[u, v] == 2 * words[v, u]
    program = compile_text(cop_text(answer, 3, sums=("dot",)), topology=mesh(3, 3))
    labels = {one.label for one in program.operators()}
    assert labels == {"dot", *(f"h{c}" for c in range(len(exchange.pairs)))}


def test_nobody_waits_for_ever_in_the_order_of_the_timetables():
    exchange = exchange_of(generated("valley:150:1"), 8, torus(4, 2), channels=6)
    answer = divide(exchange.problem)
    queues = [[one for phase in calls_of(answer, node) for one in phase] for node in range(8)]
    while any(queues):
        heads = [queue[0] for queue in queues if queue]
        ready = {c for c, sends in heads if sends} & {c for c, sends in heads if not sends}
        assert ready
        queues = [queue[1:] if queue and queue[0][0] in ready else queue for queue in queues]


def test_a_node_without_a_part_has_nothing_to_do():
    exchange = exchange_of(generated("plate:4x4"), 3, mesh(2, 2))
    empty = next(node for node in range(4) if exchange.part_on(node) is None)
    assert not any(calls_of(divide(exchange.problem), empty))


def test_a_mesh_in_one_part_has_nothing_to_exchange():
    exchange = exchange_of(generated("plate:4x4"), 1, mesh(1, 1))
    assert cop_text(divide(exchange.problem), 3) == "; A mesh in one part: there is nothing to exchange.\n"
    assert [
        one.label
        for one in compile_text(cop_text(divide(exchange.problem), 3, sums=("dot",)), topology=mesh(1, 1)).operators()
    ] == ["dot"]


def test_too_many_parts_are_refused_before_anything_is_cut():
    with pytest.raises(PointsmanError, match="9 parts do not fit on 4 nodes of the 2x2 mesh, one each"):
        exchange_of(generated("plate:4x4"), 9, mesh(2, 2))
