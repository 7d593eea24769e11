"""Which load function a node left out."""

from __future__ import annotations

import numpy as np
import pytest

import pointsman
from pointsman import cop
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.runtime import Application, Node
from pointsman.runtime.api.left_out import KEPT, LatestLoads, Loaded, left_out

TEXT = """
(cshift 'a 1 :m 4)
(broadcast 'b (runtime) :m 4)
(allreduce 'c :m 4)
"""


def lines(text: str, *loads: str, ended: tuple[int, ...] = ()) -> list[str]:
    """Of nodes in a row with these loads, by the first letters of labels."""
    program = compile_text(text, topology=mesh(len(loads)))
    return left_out(program, {number: Loaded(tuple(own), number in ended) for number, own in enumerate(loads)})


def test_a_node_that_goes_on_without_a_load_is_named_with_the_place_of_the_operator() -> None:
    (line,) = lines(TEXT, "abc", "ac", "abc")
    assert line.endswith(":3:1: b_load: node 1 left it out and went on to c_load; node 0 called it")


def test_nodes_that_left_out_the_same_are_one_line() -> None:
    (line,) = lines(TEXT, "ac", "abc", "ac", "ac")
    assert "b_load: nodes 0, 2, 3 left it out" in line


def test_a_node_that_ended_left_out_what_comes_next() -> None:
    (line,) = lines(TEXT, "ab", "a", "ab", ended=(1,))
    assert line.endswith("b_load: node 1 left it out and ended; node 0 called it")


def test_a_node_that_is_late_left_nothing_out() -> None:
    assert lines(TEXT, "abc", "a", "ab") == []


def test_a_round_of_a_loop_without_a_load_is_found() -> None:
    (line,) = lines(f"(loop 'l 4 {TEXT})", "abcabcab", "abcacab", "abcabcab")
    assert "b_load: node 1 left it out and went on to c_load" in line


def test_the_order_of_what_is_used_in_any_order_tells_nothing() -> None:
    text = "(parallel (broadcast 'a 0) (broadcast 'b 1)) (barrier 'c)"
    assert lines(text, "abc", "bac", "ba") == []
    (line,) = lines(text, "abc", "bac", "bc")
    assert "a_load: node 2 left it out and went on to c_load" in line


def test_nodes_of_other_instances_need_not_load_as_often() -> None:
    text = "(subset '((0 1) (2 3)) (loop 'l 4 (cshift 'a 1))) (barrier 'c)"
    assert lines(text, "aac", "aa", "aaaa", "aaa") == []
    (line,) = lines(text, "aac", "ac", "aaaa", "aaa")
    assert "a_load: node 1 left it out and went on to c_load; node 0 called it" in line


def test_what_a_node_may_load_alone_is_not_asked_for() -> None:
    text = "(stream 's 0 (runtime :dynamic t)) (barrier 'c)"
    assert lines(text, "sssc", "sc") == []


def test_of_a_long_run_the_last_loads_are_kept_and_tell_the_same() -> None:
    """Node 1 left out a load in its last round but one; of other nodes more loads or fewer have been forgotten."""
    program = compile_text(f"(loop 'l 4 {TEXT})", topology=mesh(3))
    nodes = {}
    for number, loads in enumerate(("abc" * KEPT + "abcabc", "abc" * KEPT + "acab", "abc" * KEPT + "a")):
        latest = LatestLoads()
        for label in loads:
            latest.append(label)
        assert len(latest.last) == KEPT
        nodes[number] = Loaded(tuple(latest.last), False, latest.before)
        assert nodes[number].count("a") == loads.count("a")
    (line,) = left_out(program, nodes)
    assert "b_load: node 1 left it out and went on to c_load; node 0 called it" in line


class Forgetful(Application):
    def program(self, net: cop.Network) -> cop.Parts:
        return [cop.cshift("a", 1, m=4), cop.broadcast("b", cop.runtime(), m=4), cop.allreduce("c", m=4)]

    async def main(self, node: Node) -> None:
        words = np.zeros(4, np.int32)
        await node.cop.a_load()
        await node.cop.a_func(words)
        if node.number != 2:
            await node.cop.b_load(0)
            await (node.cop.b_write(words) if node.number == 0 else node.cop.b_read())
        await node.cop.c_load()
        await node.cop.c_func(words)


@pytest.mark.parametrize("target", ["numesh", "tdm"])
def test_the_report_of_a_deadlock_tells_it(target: str) -> None:
    with pytest.raises(PointsmanError, match="b_load: node 2 left it out and went on to c_load; node 0 called it"):
        pointsman.run(Forgetful, "3x3", target=target, engine="model")
