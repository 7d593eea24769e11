"""Streams of a phase that close it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Wiring
from pointsman.plan.make_plan import make_plan
from pointsman.plan.termination.hijack import Hijacked, hijack
from pointsman.plan.termination.marked_graph import operator_graph, termination
from pointsman.program.program import Instance, Operator


def closed(text: str, nodes: tuple[int, ...], *names: str) -> Hijacked | None:
    """What can close the only phase of a program on a line of four for these nodes."""
    chosen = [one for one in IMPLEMENTATIONS if not names or one.name in names]
    plan = make_plan(compile_text(text, topology=mesh(4)), NodeShape(), name="test", period=16, implementations=chosen)
    (phase,) = plan.phases
    barrier = Operator("end", "barrier", (Instance(nodes, ()),))
    return hijack(barrier, phase.operators, phase.routed, Wiring(phase.routed))


def test_a_multicast_closes_the_phase_with_the_shortest_message_that_fills_it() -> None:
    found = closed("(broadcast 'b 0 :m 1)", (0, 1, 2, 3), "str_bcast")
    assert found is not None
    plan = make_plan(
        compile_text("(broadcast 'b 0 :m 1)", topology=mesh(4)),
        NodeShape(),
        name="test",
        period=16,
        implementations=[one for one in IMPLEMENTATIONS if one.name == "str_bcast"],
    )
    routed = plan.phases[0].routed
    graph = {n: drafts[0].lanes for n, drafts in found.planned.roles.items()}
    for words in range(1, found.words):
        lanes = {n: tuple(replace(lane, words=words) for lane in own) for n, own in graph.items()}
        ends = termination(operator_graph(Wiring(routed), lanes, {}, [0]), lanes, words, (0, 1, 2, 3))
        assert not ends.message_bound or words not in (1, 2, 3, 4, 5, 6, 8, 10, 12)
    assert found.spread > 0


def test_streams_one_after_the_other_do_as_well() -> None:
    text = "(phase (subset '(0 1) (stream 'a 0 1)) (subset '(1 2) (stream 'b 0 1)) (subset '(2 3) (stream 'c 0 1)))"
    found = closed(text, (0, 1, 2, 3))
    assert found is not None
    assert [len(found.planned.roles[n][0].lanes) for n in range(4)] == [1, 2, 2, 1]
    assert found.planned.roles[1][0].lanes[1].after == 0


@pytest.mark.parametrize(
    "text",
    [
        "(subset '(0 1) (stream 'a 0 1))",  # nodes 2 and 3 are not reached
        "(broadcast 'b (runtime) :m 40)",  # load functions rewrite it
    ],
)
def test_what_does_not_reach_everybody_always_is_not_suitable(text: str) -> None:
    assert closed(text, (0, 1, 2, 3), "str_stream", "str_bcast_linear") is None


def test_where_streams_lead_both_ways_a_word_goes_up_a_tree_and_down_again() -> None:
    found = closed("(phase (eoshift 'up 1 :m 4) (eoshift 'down -1 :m 4))", (0, 1, 2, 3))
    assert found is not None
    assert found.words == 1
    lanes = {node: drafts[0].lanes for node, drafts in found.planned.roles.items()}
    for own in lanes.values():
        assert [lane.after for lane in own] == [None, *range(len(own) - 1)], "one after the other"
    turns = {node: [lane.write for lane in own] for node, own in lanes.items()}
    root = turns.pop(1)
    assert root == [False, False, True, True], "all words up are read before one goes down"
    assert turns == {0: [True, False], 2: [False, True, False, True], 3: [True, False]}
    delays = {node: found.planned.delays[node][0] for node in lanes}
    # A word is there 3 cycles and one for its link after it was written, so node 3 is told 8 cycles after the root's turn.
    soonest = {1: 0, 0: 4, 2: 4, 3: 8}
    leaves = {node: soonest[node] + delays[node] for node in lanes}
    assert min(leaves.values()) >= 8, "nobody is gone before all have been told"
    assert delays[1] > max(delays[0], delays[2]) > delays[3], "those that are told first wait for the last"
    assert found.spread >= max(leaves.values()) - min(leaves.values())
