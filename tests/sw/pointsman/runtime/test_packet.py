"""Operators of programs as messages between processors, on mailboxes in place of routers."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from loading import module_at
from packet_router.shape import RouterShape
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.runtime.packet import packet_node
from pointsman.targets.packet import make_packet_program


def _load() -> ModuleType:
    path = Path(__file__).with_name("mailboxes.py")
    return module_at(path, "packet_mailboxes")


boxes = _load()


def run(text: str, main: Any, size=(2, 3), *, addresses=None, functions=None, seed=0) -> list[Any]:
    shape = RouterShape(size=size)
    program = make_packet_program(compile_text(text, topology=mesh(*size)), shape, name="test", addresses=addresses)
    machine = boxes.Mailboxes(shape, seed)
    nodes = [packet_node(program, n, machine, functions=functions) for n in range(shape.nodes)]

    async def whole(node: Any) -> Any:
        await node.cop.init()
        result = await main(node)
        await node.cop.fini()
        return result

    return machine.run([whole(node) for node in nodes])


@pytest.mark.parametrize("addresses", [None, 2])
@pytest.mark.parametrize("seed", range(4))
def test_broadcasts_from_changing_sources_stay_apart(addresses, seed):
    """Messages of a later source may come before those of an earlier one: they are put aside."""

    async def main(node):
        got = []
        for source in (0, 5, 1, 1, 4, 0, 3, 2):
            await node.cop.b_load(source)
            if node.number == source:
                await node.cop.b_write(np.arange(3) + 10 * source + len(got))
                got.append(10 * source + len(got))
            else:
                got.append(int((await node.cop.b_read())[0]))
        return got

    for impl in ("dyn_bcast", "dyn_bcast_dense"):
        results = run(f"(broadcast 'b (runtime) :m 3 :impl '{impl})", main, addresses=addresses, seed=seed)
        assert all(result == results[0] for result in results)
        assert results[0] == [10 * s + k for k, s in enumerate((0, 5, 1, 1, 4, 0, 3, 2))]


@pytest.mark.parametrize("addresses", [None, 2])
@pytest.mark.parametrize("seed", range(3))
def test_reductions_and_prefixes(addresses, seed):
    async def main(node):
        values = []
        await node.cop.r_load(4)
        values.append(await node.cop.r_func(np.array([node.number, 1])))
        await node.cop.a_load()
        values.append(await node.cop.a_func(np.array([node.number, 7])))
        await node.cop.p_load()
        values.append(await node.cop.p_func(np.array([1 << node.number, 1])))
        await node.cop.w_load()
        await node.cop.w_func()
        return values

    text = "(reduce 'r (runtime) :m 2) (allreduce 'a 'larger :m 2) (prefix 'p :m 2) (barrier 'w)"

    def larger(left, right, out):
        out[:] = np.where(left > right, left, right)

    results = run(text, main, addresses=addresses, seed=seed, functions={"larger": larger})
    for number, (total, largest, prefix) in enumerate(results):
        assert total is None if number != 4 else total.tolist() == [15, 6]
        assert largest.tolist() == [5, 7]
        assert prefix.tolist() == [2 ** (number + 1) - 1, number + 1]


@pytest.mark.parametrize("addresses", [None, 2])
def test_shifts_permutations_and_sequences(addresses):
    async def main(node):
        own = np.array([node.number, 100])
        values = []
        await node.cop.c_load(2)
        values.append(int((await node.cop.c_func(own))[0]))
        await node.cop.e_load()
        values.append(int((await node.cop.e_func(own))[0]))
        await node.cop.p_load([3, 4, 5, 0, 1, 2])
        values.append(int((await node.cop.p_func(own))[0]))
        await node.cop.g_load()
        if node.number == 2:
            values.append([int((await node.cop.g_read())[0]) for _ in range(5)])
        else:
            await node.cop.g_write(own)
            values.append(None)
        await node.cop.s_load(1, 4)
        if node.number == 1:
            await node.cop.s_write(own)
        values.append(int((await node.cop.s_read())[0]) if node.number == 4 else None)
        return values

    text = (
        "(cshift 'c (runtime) :m 2) (eoshift 'e 1 :m 2) (permute 'p (runtime) :m 2) (gather 'g 2 :m 2) "
        "(stream 's (runtime) (runtime) :m 2)"
    )
    results = run(text, main, addresses=addresses)
    assert [r[0] for r in results] == [4, 5, 0, 1, 2, 3]
    assert [r[1] for r in results] == [0, 0, 1, 2, 3, 4]
    assert [r[2] for r in results] == [3, 4, 5, 0, 1, 2]
    assert results[2][3] == [0, 1, 3, 4, 5]
    assert [r[4] for r in results] == [None, None, None, None, 1, None]


def test_a_missing_partner_is_noticed():
    async def main(node):
        await node.cop.w_load()
        if node.number:
            await node.cop.w_func()

    with pytest.raises(boxes.StuckError):
        run("(barrier 'w)", main)


@pytest.mark.parametrize("seed", range(3))
def test_shift_and_longer_messages_share_an_address(seed):
    async def main(node):
        await node.cop.c_load()
        await node.cop.b_load()
        if not node.number:
            await node.cop.b_write(np.arange(3))
        own = await node.cop.c_func(np.array([node.number, 7]))
        return own[0], None if not node.number else (await node.cop.b_read()).tolist()

    results = run("(parallel (cshift 'c 1 :m 2) (broadcast 'b 0 :m 3))", main, addresses=2, seed=seed)
    assert results == [((n - 1) % 6, [0, 1, 2] if n else None) for n in range(6)]


@pytest.mark.parametrize("addresses", [None, 3])
@pytest.mark.parametrize("seed", range(3))
def test_nodes_that_know_only_their_own_value_agree_on_the_rest(addresses, seed):
    """True, False and None, a number, and an entry of a permutation; sources that change, and one subset beside another."""
    text = """
    (sequential
      (broadcast 'b (runtime :distributed t) :m 3)
      (reduce 'r 'add (runtime :distributed t))
      (collect 'c (runtime :distributed t))
      (permute 'p (runtime :distributed t)))
    """

    async def main(node):
        me, got = node.number, []
        for source in (0, 5, 1, 1, 4):
            await node.cop.b_load(True if me == source else None if me % 2 else source)
            if me == source:
                await node.cop.b_write(np.arange(3) + 10 * source)
            else:
                assert list(await node.cop.b_read()) == [10 * source, 10 * source + 1, 10 * source + 2]
        for destination in (3, 0):
            await node.cop.r_load(me == destination)
            total = await node.cop.r_func(me + 1)
            assert (total == 21) == (me == destination)
        for destination in (5, 2):
            await node.cop.c_load(me == destination)
            if me == destination:
                got += sorted([await node.cop.c_read() for _ in range(5)])
            else:
                await node.cop.c_write(7 * me)
        for step in (1, 4):
            await node.cop.p_load((me + step) % 6)
            assert await node.cop.p_func(100 + me) == 100 + (me - step) % 6
        return got

    results = run(text, main, addresses=addresses, seed=seed)
    for destination in (5, 2):
        assert results[destination] == [7 * n for n in range(6) if n != destination]


@pytest.mark.parametrize(
    ("text", "given", "problem"),
    [
        (
            "(broadcast 'o (runtime :distributed t))",
            lambda n: None,
            "no node of the subset said which node is the source",
        ),
        (
            "(broadcast 'o (runtime :distributed t))",
            lambda n: n in (1, 4),
            "node 1 of the subset gives 1 as source, another one 4",
        ),
        ("(permute 'o (runtime :distributed t))", lambda n: n // 2, "in which not every node stands once"),
    ],
)
def test_nodes_that_do_not_agree_are_told(text, given, problem):
    async def main(node):
        await node.cop.o_load(given(node.number))

    with pytest.raises(PointsmanError, match=problem):
        run(text, main)
