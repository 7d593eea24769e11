"""Steps of a processor, written down."""

from __future__ import annotations

from pointsman.operators.api.role_script import RoleScript


def test_messages_before_a_combination_are_a_step_earlier() -> None:
    script = RoleScript()
    script.move(False, (0,), "t0")
    script.move(False, (1,), "t1")
    assert script.fold(["t0", "out", "t1"], "in") == "in"
    script.wait()
    script.move(True, (2,), "in")
    role = script.role(by_item=False, result=True, void=False)
    assert [(lane.data, lane.step) for lane in role.lanes] == [("t0", 0), ("t1", 0), ("in", 1)]
    assert [(c.step, c.left, c.right, c.result) for c in role.combines] == [
        (1, "t0", "out", "in"),
        (1, "in", "t1", "in"),
    ]


def test_a_single_message_is_its_own_sum() -> None:
    script = RoleScript()
    assert script.fold(["out"], "in") == "out"
    assert not script.role(by_item=True, result=True, void=False).by_item


def test_item_by_item_each_lane_comes_after_the_one_before_it() -> None:
    script = RoleScript()
    script.move(False, (0,), "t0")
    script.combine("t0", "out", "in")
    script.wait()
    script.move(True, (1,), "in")
    role = script.role(by_item=True, result=False, void=False)
    assert [(lane.step, lane.after) for lane in role.lanes] == [(0, None), (0, 0)]
    assert [combination.step for combination in role.combines] == [1]  # after one lane
