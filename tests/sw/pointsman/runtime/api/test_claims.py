"""Values of which each node gives its part: given by none, or by two otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pointsman
from pointsman import cop
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.runtime import Application, Node
from pointsman.runtime.api.claims import KEPT, Claims, told_in, unclaimed
from pointsman.runtime.api.left_out import Loaded
from pointsman.runtime.api.substrate import HERE, UNKNOWN, Given, Signature

BROADCAST = "(broadcast 'b (runtime :distributed t) :m 4)"


def errors(text: str, *numbers: tuple[int, ...], loads: tuple[int, ...] = ()) -> list[str]:
    """Of nodes in a row that loaded 'b' last with these numbers, ``loads`` times."""
    program = compile_text(text, topology=mesh(len(numbers)))
    nodes = {
        node: Loaded(("b",) * (loads[node] if loads else 1), False, values={"b": Given(own)})
        for node, own in enumerate(numbers)
    }
    return [error.message for error in unclaimed(program, nodes)]


def test_a_source_that_no_node_is_is_named_with_the_place_of_the_operator() -> None:
    (said,) = errors(BROADCAST, (UNKNOWN,), (UNKNOWN,), (UNKNOWN,))
    assert said.endswith(":1:1: b_load: no node of the subset said which node is the source")
    assert errors(BROADCAST, (UNKNOWN,), (HERE,), (1,)) == []


def test_nodes_that_mean_two_sources_are_named() -> None:
    (said,) = errors(BROADCAST, (UNKNOWN,), (HERE,), (2,))
    assert said.endswith("b_load: node 1 of the subset gives 1 as source, node 2 2")


def test_of_rows_only_that_without_a_destination_is_told() -> None:
    text = "(subset '((0 1) (2 3)) (collect 'b (runtime :distributed t)))"
    assert errors(text, (HERE,), (UNKNOWN,), (UNKNOWN,), (0,)) == []
    (said,) = errors(text, (HERE,), (UNKNOWN,), (UNKNOWN,), (UNKNOWN,))
    assert said.endswith("b_load: no node of the subset said which node is the destination")


def test_entries_that_are_no_permutation_are_told() -> None:
    text = "(permute 'b (runtime :distributed t))"
    (said,) = errors(text, (1,), (1,), (0,))
    assert said.endswith("b_load: the nodes give [1, 1, 0], in which not every node stands once")
    assert errors(text, (1,), (2,), (0,)) == []


def test_a_node_that_is_a_round_behind_means_another_value() -> None:
    assert errors(BROADCAST, (UNKNOWN,), (UNKNOWN,), (UNKNOWN,), loads=(2, 2, 1)) == []


def test_a_value_that_one_node_may_load_alone_is_not_asked_of_all() -> None:
    assert errors("(broadcast 'b (runtime :dynamic t))", (UNKNOWN,), (UNKNOWN,)) == []
    assert errors("(broadcast 'b (runtime))", (0,), (1,)) == []
    assert told_in(next(compile_text("(broadcast 'b 0)", topology=mesh(2)).operators())) == ()


def test_the_second_writer_of_a_message_is_told_of_the_first() -> None:
    signature = Signature("b", "broadcast", "int32*", 1, partial=("source",), told_in=((0, 1), (2, 3)))
    claims = Claims()
    assert [claims.writes(signature, node, 0) for node in (0, 2, 1, 3)] == [None, None, 0, 2]
    for message in range(1, 2 * KEPT):
        assert claims.writes(signature, message % 2, message) is None
    assert len(claims.written) <= KEPT + 2


def test_a_node_that_loads_other_values_is_told_of_the_first() -> None:
    signature = Signature("b", "broadcast", "int32*", 1, ("source",), ((0,), (1,)), told_in=((0, 1), (2, 3)))
    claims = Claims()
    zero, one = Given((0,), 0), Given((1,), 1)
    assert [claims.loads(signature, node, zero) for node in (0, 1)] == [None, None]
    assert [claims.loads(signature, node, one) for node in (2, 1, 3)] == [None, None, None]
    assert claims.loads(signature, 0, zero) == (1, one)
    alone = Signature("c", "broadcast", "int32*", 1, ("source",), ((0,), (1,)))
    assert [claims.loads(alone, 0, zero), claims.loads(alone, 1, one)] == [None, None]


Source = Callable[[int, int], bool]


class Cast(Application):
    """Three rounds; ``source``: is a node the source in this round?"""

    source: Source

    def program(self, net: cop.Network) -> cop.Parts:
        return cop.loop("r", 3, cop.broadcast("b", cop.runtime(distributed=True), m=4), cop.cshift("c", 1, m=2))

    async def main(self, node: Node) -> None:
        await node.cop.r_load()
        for turn in range(3):
            here = type(self).source(node.number, turn)
            await node.cop.b_load(here or None)
            await (node.cop.b_write(np.full(4, turn, np.int32)) if here else node.cop.b_read())
            await node.cop.c_load()
            await node.cop.c_func(np.full(2, turn, np.int32))


class Nobody(Cast):
    source = staticmethod(lambda node, turn: node == turn and turn != 1)


class Two(Cast):
    source = staticmethod(lambda node, turn: node == turn or (node, turn) == (5, 1))


class Apart(Application):
    """Node 1 gives another source than the others, after they have loaded; the source hears of nobody."""

    def program(self, net: cop.Network) -> cop.Parts:
        return cop.broadcast("b", cop.runtime(), m=4)

    async def main(self, node: Node) -> None:
        await node.compute(400 if node.number == 1 else 1)
        await node.cop.b_load(node.number == 1)
        await (node.cop.b_write(np.zeros(4, np.int32)) if node.number < 2 else node.cop.b_read())


TARGETS: list[dict[str, Any]] = [
    {"dry": True},
    {"engine": "model"},
    {"target": "tdm", "engine": "model"},
    {"target": "packet", "engine": "model"},
]


@pytest.mark.parametrize("options", TARGETS, ids=["dry", "numesh", "tdm", "packet"])
@pytest.mark.parametrize(
    ("application", "said"),
    [
        (Nobody, "b_load: no node of the subset said which node is the source"),
        (Two, r"both said that they are the source|node 1 of the subset gives 1 as source, another one 5"),
    ],
)
def test_every_target_says_what_is_wrong_with_a_source(
    application: type[Application], said: str, options: dict[str, Any]
) -> None:
    with pytest.raises(PointsmanError, match=said) as caught:
        pointsman.run(application, mesh(3, 2), **options)
    assert "in a circle" not in caught.value.message
    assert "at each b_load" in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize("options", TARGETS, ids=["dry", "numesh", "tdm", "packet"])
def test_every_target_says_which_node_gives_another_value(options: dict[str, Any]) -> None:
    with pytest.raises(PointsmanError, match=r"node \d calls b_load with the values \d, node \d with \d"):
        pointsman.run(Apart, mesh(3, 1), **options)


class Lists(Application):
    """A node gives its own entry of a permutation, or all of them."""

    def program(self, net: cop.Network) -> cop.Parts:
        return cop.permute("p", cop.runtime(distributed=True), m=2)

    async def main(self, node: Node) -> int:
        whole = [(k + 1) % node.nodes for k in range(node.nodes)]
        given: list[Any] = [whole, np.array(whole), tuple(whole), whole[node.number]]
        await node.cop.p_load(given[node.number % 4])
        return int((await node.cop.p_func(np.full(2, node.number)))[0])

    def check(self, results: Any) -> str:
        assert list(results) == [(k - 1) % len(results) for k in range(len(results))]
        return "shifted"


@pytest.mark.parametrize("options", TARGETS, ids=["dry", "numesh", "tdm", "packet"])
def test_a_node_may_give_more_of_a_permutation_than_its_entry(options: dict[str, Any]) -> None:
    assert pointsman.run(Lists, mesh(3, 2), **options).correct


class Short(Lists):
    async def main(self, node: Node) -> int:
        await node.cop.p_load([1, 0])
        return 0


@pytest.mark.parametrize("options", TARGETS, ids=["dry", "numesh", "tdm", "packet"])
def test_a_list_that_is_too_short_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(PointsmanError, match="gives as permutation a list of 2 nodes; its subset has 6"):
        pointsman.run(Short, mesh(3, 2), **options)


class Sum(Application):
    """Two rounds; in the second no node is the destination, or two are."""

    destinations = 0

    def program(self, net: cop.Network) -> cop.Parts:
        return cop.loop("l", 2, cop.reduce("r", "add", destination=cop.runtime(distributed=True), m=2))

    async def main(self, node: Node) -> None:
        for turn in range(2):
            await node.cop.r_load((node.number < (self.destinations if turn else 1)) or None)
            await node.cop.r_func([1, 2])


class Sums(Sum):
    destinations = 2


@pytest.mark.parametrize("options", TARGETS, ids=["dry", "numesh", "tdm", "packet"])
@pytest.mark.parametrize(
    ("application", "said"),
    [
        (Sum, "r_load: no node of the subset said which node is the destination"),
        (Sums, "r_load: node . of the subset gives . as destination, (another one|node .) ."),
    ],
)
def test_every_target_says_what_is_wrong_with_a_destination(
    application: type[Application], said: str, options: dict[str, Any]
) -> None:
    with pytest.raises(PointsmanError, match=said):
        pointsman.run(application, mesh(3, 1), **options)


class Nowhere(Application):
    def program(self, net: cop.Network) -> cop.Parts:
        return cop.stream("s", 0, cop.runtime(dynamic=True), m=2)

    async def main(self, node: Node) -> None:
        await node.cop.s_load(None)
        await (node.cop.s_write([1, 2]) if node.number == 0 else node.cop.s_read())


@pytest.mark.parametrize("options", TARGETS, ids=["dry", "numesh", "tdm", "packet"])
def test_every_target_says_that_a_writer_gives_no_destination(options: dict[str, Any]) -> None:
    with pytest.raises(PointsmanError, match=r":\d+: s_(load|write): node 0 writes and must give the destination"):
        pointsman.run(Nowhere, mesh(3, 1), **options)


@pytest.mark.parametrize(
    ("kind", "strict", "told"), [("stream", False, False), ("stream", True, True), ("eoshift", False, True)]
)
def test_nodes_without_a_part_in_a_message_may_leave_out_its_load_function(kind: str, strict: bool, told: bool) -> None:
    signature = Signature("s", kind, "int32*", 1, ("distance",), ((0,), (1,)), told_in=((0, 1),))
    claims, zero, one = Claims(strict=strict), Given((0,), 0), Given((1,), 1)
    assert claims.loads(signature, 0, zero) is None
    assert claims.loads(signature, 1, one) == ((0, zero) if told else None)
