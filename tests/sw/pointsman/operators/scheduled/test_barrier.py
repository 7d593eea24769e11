"""One word up and one down: who waits for whom."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import by_step
from pointsman.cop.compile import compile_text
from pointsman.network import Topology, mesh
from pointsman.operators.api.implementation import Context
from pointsman.operators.scheduled.barrier import StrBarrierTree


def test_the_root_writes_after_all_have_come_and_everybody_reads_last(wired: Callable[..., Any]) -> None:
    one = wired("str_barrier_tree", "(barrier 'o)")
    streams = {stream.name: stream for stream in one.wiring.routed.streams}
    down = streams.pop("o[0].down")
    assert set(down.destinations) == set(range(6))
    assert {stream.source for stream in streams.values()} == set(range(6)) - {down.source}
    for node, role in one.roles().items():
        assert [lane.write for lane in role.lanes].count(True) == 1
        *children, own, answer = by_step(role.lanes)
        assert [lane.write for lane in own] == [True]
        assert [lane.write for lane in answer] == [False]
        assert len(children) <= 1, node  # words of children are read in any order


@pytest.mark.parametrize("topology", [mesh(1, 1), mesh(1, 2), mesh(3, 5), mesh(8, 8), mesh(3, 3, 3)], ids=str)
@pytest.mark.parametrize("shallow", [False, True])
def test_everybody_sends_one_word_up_but_the_root_which_answers_all(topology: Topology, shallow: bool) -> None:
    context = Context(topology, NodeShape())
    nodes = tuple(reversed(range(topology.nodes)))
    (operator,) = compile_text(f"(subset '({' '.join(map(str, nodes))}) (barrier 'b))", topology=topology).operators()
    streams = StrBarrierTree(shallow=shallow).streams(operator, context)
    if topology.nodes == 1:
        assert not streams
        return
    *up, down = streams
    assert sorted(down.destinations) == sorted(nodes)
    assert sorted(stream.source for stream in up) == sorted({*nodes} - {down.source})
    # A word is written when all of lower levels have been read.
    for stream in up:
        assert all(stream.turn < other.turn for other in streams if other.source == stream.destinations[0])


def test_slots_of_a_barrier_that_is_part_of_something_are_left_to_the_router() -> None:
    (operator,) = compile_text("(barrier 'b)", topology=mesh(4, 4)).operators()
    assert {
        stream.turn for stream in StrBarrierTree(part=True).streams(operator, Context(mesh(4, 4), NodeShape()))
    } == {None}
