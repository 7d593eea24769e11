"""The reference machine: what operators mean, and what is wrong in a program itself."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import numpy as np
import pytest

from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.runtime import Node
from pointsman.runtime.reference import DryRun, ReferenceMachine


def run(text: str, main: Callable[[Node], Coroutine[Any, Any, Any]], nodes: int = 4, **functions: Any) -> DryRun:
    return ReferenceMachine(compile_text(text, topology=mesh(nodes), file="x.cop"), "x", functions).run(main)


def collective(label: str, message: Callable[[int], Any], *values: Any) -> Callable[[Node], Coroutine[Any, Any, Any]]:
    async def main(node: Node) -> Any:
        await getattr(node.cop, f"{label}_load")(*values)
        result = await getattr(node.cop, f"{label}_func")(message(node.number))
        return result if result is None else result.tolist()

    return main


def test_reduce_gives_its_destination_the_sum_and_others_nothing() -> None:
    assert run("(reduce 'r 'add 2)", collective("r", lambda n: [n])).results == [None, None, [6], None]


def test_prefix_takes_messages_in_the_order_of_the_subset() -> None:
    def join(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        out[:] = a * 10 + b

    assert run("(prefix 'p 'join)", collective("p", lambda n: [n + 1]), join=join).results == [[1], [12], [123], [1234]]


def test_function_may_come_at_run_time() -> None:
    assert run("(allreduce 'r (runtime))", collective("r", lambda n: [n], np.maximum)).results == [[3]] * 4


def test_function_that_nobody_has_is_named() -> None:
    with pytest.raises(PointsmanError, match=r"^x.cop:1:1: operator 'r' names the function maxx, which the appl"):
        run("(reduce 'r 'maxx 0)", collective("r", lambda n: [n]))


def test_nodes_outside_valid_send_anything_and_get_nothing() -> None:
    results = run("(allreduce 'r 'add :valid '(0 3))", collective("r", lambda n: [n] if n in (0, 3) else None)).results
    assert results == [[3], None, None, [3]]


def test_zeros_come_over_the_edge_of_an_eoshift() -> None:
    assert run("(eoshift 'e (runtime))", collective("e", lambda n: [n + 1], 2)).results == [[0], [0], [1], [2]]


def test_permutation_given_at_run_time_must_be_one() -> None:
    assert run("(permute 'p (runtime))", collective("p", lambda n: [n], (1, 0, 3, 2))).results == [[1], [0], [3], [2]]
    with pytest.raises(PointsmanError, match="gives as permutation a list in which not every node stands once"):
        run("(permute 'p (runtime))", collective("p", lambda n: [n], (1, 1, 3, 2)))


def test_values_that_differ_between_nodes_are_found() -> None:
    async def main(node: Node) -> None:
        await node.cop.c_load(1 if node.number else 2)
        await node.cop.c_func([0])

    with pytest.raises(PointsmanError, match=r"^x.cop:1:1: node 1 calls c_load with the values 1, node 0 with 2"):
        run("(cshift 'c (runtime))", main)


def test_values_that_differ_are_found_where_no_word_tells_and_loading_the_same_again_is_no_difference() -> None:
    async def main(node: Node, bad: int = -1) -> None:
        for to in (1, 1, 2):
            if node.number != 3 or to != 1 or bad >= 0:
                await node.cop.s_load(0, 3 if node.number == bad and to == 2 else to)
            elif not seen:
                seen.append(to)
                await node.cop.s_load(0, to)

    seen: list[int] = []
    run("(stream 's (runtime) (runtime))", main)
    with pytest.raises(PointsmanError, match=r"node 3 calls s_load with the values 0, 3, node 0 with 0, 2"):
        run("(stream 's (runtime) (runtime))", lambda node: main(node, 3))


@pytest.mark.parametrize("sort", [":distributed t", ":dynamic t"])
def test_nodes_may_give_what_they_know_of_the_source_of_a_broadcast(sort: str) -> None:
    async def main(node: Node) -> list[int]:
        got = []
        for source in (2, 0, 0, 3):
            # Who is not the source says so, says nothing, or knows it.
            known = node.number == source if node.number != 1 else (source if source else None)
            if sort == ":distributed t" or node.number == source or not got:
                await node.cop.b_load(known if node.number == source or sort == ":distributed t" else None)
            elif node.number == 2 and got == [20]:
                await node.cop.b_load(False)
            if node.number == source:
                await node.cop.b_write([10 * source + len(got) // 4])
                got.append(10 * source)
            else:
                got.append(int((await node.cop.b_read())[0]))
            if sort == ":dynamic t" and node.number == source:
                await node.cop.b_load(False)
        return got

    assert run(f"(broadcast 'b (runtime {sort}))", main).results == [[20, 0, 0, 30]] * 4


def test_nodes_may_give_their_own_entry_of_a_permutation_and_two_that_clash_are_told() -> None:
    async def main(node: Node, order: tuple[int, ...]) -> Any:
        await node.cop.p_load(order[node.number])
        return (await node.cop.p_func([node.number])).tolist()

    text = "(permute 'p (runtime :distributed t))"
    assert run(text, lambda node: main(node, (1, 2, 3, 0))).results == [[3], [0], [1], [2]]
    with pytest.raises(PointsmanError, match=r"nodes 0 and 2 both send to node 1 in the same round of p_func"):
        run(text, lambda node: main(node, (1, 2, 1, 0)))


def test_only_the_destination_knows_that_it_is_the_one() -> None:
    async def main(node: Node) -> Any:
        got = []
        for destination in (3, 1):
            await node.cop.r_load(node.number == destination)
            got.append(await node.cop.r_func([node.number]))
        return [None if one is None else one.tolist() for one in got]

    found = run("(reduce 'r 'add (runtime :distributed t))", main).results
    assert found == [[None, None], [None, [6]], [None, None], [[6], None]]


def test_only_the_source_knows_where_its_message_goes() -> None:
    async def main(node: Node) -> Any:
        await node.cop.s_load(2 if node.number == 0 else None)
        if node.number == 0:
            await node.cop.s_write([5])
        return (await node.cop.s_read()).tolist() if node.number == 2 else None

    assert run("(stream 's 0 (runtime :dynamic t))", main).results == [None, None, [5], None]


def test_program_that_cannot_go_on_is_told_node_by_node() -> None:
    async def main(node: Node) -> None:
        await node.cop.s_load()
        if node.number == 1:
            await node.cop.s_read()

    with pytest.raises(PointsmanError) as caught:
        run("(stream 's 0 1)", main)
    assert caught.value.message == (
        "deadlock: these nodes wait for messages that nobody sends:\n  node 1: s_read\n  finished already: 0, 2, 3\n"
        "  x.cop:1:1: node 1 waits in s_read for node 0, which has written 0 messages and has ended"
    )


def test_messages_that_nobody_reads_are_told() -> None:
    async def main(node: Node) -> None:
        await node.cop.s_load()
        if node.number == 0:
            await node.cop.s_write([1])

    assert run("(stream 's 0 1)", main).unread == (
        "x.cop:1:1: 1 message of operator 's' from node 0 to node 1 never read",
    )


def test_computing_takes_its_cycles_and_words_take_none() -> None:
    async def main(node: Node) -> int:
        await node.cop.b_load()
        await node.compute(10 * node.number)
        await node.cop.b_func()
        return node.time

    done = run("(barrier 'b)", main)
    assert done.cycles == 30
    assert done.results == [0, 10, 20, 30]
