"""Messages to or from several nodes in turn, which processors pass on along a tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import Context
from pointsman.operators.scheduled.passed_on import MOST, PASSED_ON
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import Plan


def planned(text: str, *size: int) -> Plan:
    return make_plan(compile_text(text, topology=mesh(*size)), NodeShape(), name="p")


def ways(plan: Plan) -> dict[str, str]:
    return {one.operator.label: one.implementation.name for phase in plan.phases for one in phase.operators}


def test_each_message_of_a_subtree_is_read_and_written_once(wired: Callable[..., Any]) -> None:
    roles = wired("str_gather_tree", "(gather 'o 1 :m 5 :impl 'str_gather_tree)").roles()
    assert roles[1].kind == "read"
    assert [lane.turn for lane in roles[1].lanes] == list(range(roles[1].turns)) == [0, 1, 2, 3, 4]
    passed = 0
    for node in set(roles) - {1}:
        written = [lane.data for lane in roles[node].lanes if lane.write]
        assert written.count("out") == 1
        assert written.count("t0") == sum(not lane.write for lane in roles[node].lanes)
        passed += len(written)
    assert passed >= 5, "each message is written by its node and by each one that passes it on"


def test_a_spread_is_a_gather_the_other_way_round(wired: Callable[..., Any]) -> None:
    gather = wired("str_gather_tree", "(gather 'o 1 :m 5 :impl 'str_gather_tree)").roles()
    spread = wired("str_spread_tree", "(spread 'o 1 :m 5 :impl 'str_spread_tree)").roles()
    for node in gather:
        assert {gather[node].kind, spread[node].kind} == {"read", "write"}
        assert len(gather[node].lanes) == len(spread[node].lanes)
        assert sum(lane.write for lane in gather[node].lanes) == sum(not lane.write for lane in spread[node].lanes)


@pytest.mark.parametrize("kind", ["gather", "spread"])
@pytest.mark.parametrize("root", [0, 5])
def test_a_word_comes_every_second_cycle(kind: str, root: int) -> None:
    short, long = (planned(f"({kind} 'o {root} :m {m} :impl 'str_{kind}_tree)", 4, 4).cycles for m in (20, 60))
    assert long - short == pytest.approx(2 * 15 * 40, rel=0.05)
    assert short < 2 * 15 * 20 + 100


def test_single_words_of_many_nodes_take_little_more_than_their_reads() -> None:
    text = "(gather 'o 0 :m 1)"
    plan = planned(text, 8, 8)
    assert ways(plan) == {"o": "str_gather_tree"}
    assert plan.cycles < 2 * 63 + 60
    assert plan.cycles < 0.3 * planned(text.replace(":m 1", ":m 1 :impl 'dyn_gather"), 8, 8).cycles


def test_a_stream_has_room_for_the_messages_of_its_subtree_in_long_schedules() -> None:
    plan = make_plan(
        compile_text("(gather 'o 0 :m 1 :impl 'str_gather_tree)", topology=mesh(4, 4)), NodeShape(), name="p", period=16
    )
    routed = plan.phases[0].routed
    assert min(routed.words(stream) for stream in range(len(routed.streams))) > 1


def test_it_is_not_taken_where_nodes_may_come_in_any_order() -> None:
    beside = "(parallel (gather 'o 0 :m 1) (broadcast 'b 3 :m 1))"
    assert ways(planned(beside.replace("parallel", "sequential"), 4, 4))["o"] == "str_gather_tree"
    assert ways(planned(beside, 4, 4))["o"] != "str_gather_tree"
    asked = beside.replace("'o 0 :m 1", "'o 0 :m 1 :impl 'str_gather_tree")
    assert ways(planned(asked, 4, 4))["o"] == "str_gather_tree"


def test_a_role_has_no_more_lanes_than_it_may() -> None:
    context = Context(mesh(MOST + 2), NodeShape())
    gather = next(one for one in PASSED_ON if one.name == "str_gather_tree")
    for nodes, can in ((MOST + 1, True), (MOST + 2, False)):
        (operator,) = compile_text("(gather 'o 0)", topology=mesh(nodes)).operators()
        assert (gather.metric(operator, context) is not None) == can


def test_nodes_that_do_not_hang_together_have_a_tree_of_longer_ways(wired: Callable[..., Any]) -> None:
    text = "(subset '((0 2 5)) (gather 'o 0 :m 2 :impl 'str_gather_tree))"
    roles = wired("str_gather_tree", text).roles()
    assert roles[0].turns == 2
