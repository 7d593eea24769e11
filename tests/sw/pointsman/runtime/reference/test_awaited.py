"""Messages that nodes wait for and nobody has written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import pointsman
from pointsman import cop
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.runtime import Application, Node
from pointsman.runtime.api.left_out import Loaded
from pointsman.runtime.api.substrate import UNKNOWN, Given
from pointsman.runtime.reference.awaited import awaited

NONE = Given()


def lines(text: str, reader: int, moved: Sequence[tuple[int, int]], given: Given = NONE) -> list[str]:
    """Of nodes in a row that have written and read so many messages of 'a'; ``reader`` waits for another."""
    nodes = {
        node: Loaded(
            ("a",),
            False,
            values={"a": given},
            moved={("a", "write"): written, ("a", "read"): read},
            activity="a_read" if node == reader else "computing",
        )
        for node, (written, read) in enumerate(moved)
    }
    return awaited(compile_text(text, topology=mesh(len(moved))), nodes)


@pytest.mark.parametrize(
    ("text", "reader", "silent", "written", "given"),
    [
        ("(stream 'a 0 2)", 2, [(1, 0), (0, 0), (0, 1)], [(2, 0), (0, 0), (0, 1)], Given()),
        ("(broadcast 'a 0)", 2, [(1, 0), (0, 0), (0, 1)], [(2, 0), (0, 1), (0, 1)], Given()),
        ("(broadcast 'a (runtime))", 2, [(1, 1), (1, 1), (0, 2)], [(2, 1), (1, 1), (0, 2)], Given((0,))),
        ("(gather 'a 2)", 2, [(1, 0), (3, 0), (0, 2)], [(2, 0), (1, 0), (0, 2)], Given()),
        ("(seqread 'a '(0 1) 2)", 2, [(0, 0), (3, 0), (0, 0)], [(1, 0), (0, 0), (0, 0)], Given()),
        ("(spread 'a 0)", 2, [(3, 0), (0, 2), (0, 1)], [(4, 0), (0, 2), (0, 1)], Given()),
        ("(seqwrite 'a 0 '(2 1))", 2, [(2, 0), (0, 1), (0, 1)], [(3, 0), (0, 1), (0, 1)], Given()),
    ],
)
def test_the_writer_is_named_as_long_as_it_has_not_written(
    text: str, reader: int, silent: list[tuple[int, int]], written: list[tuple[int, int]], given: Given
) -> None:
    (line,) = lines(text, reader, silent, given)
    count = silent[0][0]
    assert f":1:1: node {reader} waits in a_read for node 0, which has written {count} message" in line
    assert line.endswith("and is computing")
    assert lines(text, reader, written, given) == []


def test_calls_that_go_on_together_are_looked_at_one_by_one() -> None:
    program = compile_text("(parallel (barrier 'b) (stream 'a 0 1))", topology=mesh(2))
    at = {0: "b_func, c_func", 1: "b_func, a_read"}
    nodes = {
        node: Loaded(("a", "b"), False, values={"a": NONE}, moved={}, activity=calls) for node, calls in at.items()
    }
    lines = awaited(program, nodes)
    assert [line.partition(": ")[2] for line in lines] == [
        "node 1 waits in a_read for node 0, which has written 0 messages and is in b_func, c_func"
    ]


def test_nothing_is_told_where_any_node_may_write() -> None:
    assert lines("(collect 'a 0)", 0, [(0, 0), (0, 0)]) == []
    assert lines("(broadcast 'a (runtime :distributed t))", 0, [(0, 0), (0, 0)], Given((UNKNOWN,))) == []


class Left(Application):
    """Node 1 of a chain writes nothing and goes on."""

    def program(self, net: cop.Network) -> cop.Parts:
        return [cop.seqread("a", [2, 1, 3], 0, m=2), cop.barrier("b")]

    async def main(self, node: Node) -> None:
        await node.cop.a_load()
        if node.number > 1:
            await node.cop.a_write([1, 2])
        for _ in range(3 if node.number == 0 else 0):
            await node.cop.a_read()
        await node.cop.b_load()
        await node.cop.b_func()


@pytest.mark.parametrize(
    "options",
    [{"dry": True}, {"engine": "model"}, {"target": "tdm", "engine": "model"}, {"target": "packet", "engine": "model"}],
    ids=["dry", "numesh", "tdm", "packet"],
)
def test_every_target_names_the_writer(options: dict[str, Any]) -> None:
    said = r"node 0 waits in a_read for node 1, which has written 0 messages and is in b_func|has called a_load, but not used 'a'"
    with pytest.raises(PointsmanError, match=said):
        pointsman.run(Left, mesh(4), **options)
