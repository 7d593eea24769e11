"""Processors that keep pace: what is taken for granted of registers holds on the cycle model, and orders of accesses by law."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.artifacts.images import Images
from pointsman.cop.compile import compile_text
from pointsman.network import Topology, mesh
from pointsman.operators import Context
from pointsman.operators.scheduled.in_halves import IN_HALVES
from pointsman.plan.make_plan import make_plan
from pointsman.routing.pace import (
    REFILL,
    Paces,
    in_pace,
    keeps_pace,
    latest_read,
    periods_on,
    read_before,
)
from pointsman.routing.phase_router.router import route_phase
from pointsman.routing.streams import RoutedPhase, Turn
from pointsman.runtime import numesh_node
from pointsman.runtime.api.requests import Category, Wait
from pointsman.targets.numesh import make_images

WORDS = 20


@pytest.fixture(scope="module", params=[5, 6, 8])
def images(request: pytest.FixtureRequest) -> tuple[Images, int]:
    """A stream of a word a period between neighbours."""
    program = compile_text(f"(stream 's 0 1 :m 1 :c {WORDS} :b 0.1)", topology=mesh(2, 1))
    plan = make_plan(program, NodeShape(), name="s", period=request.param)
    assert plan.phases[0].routed.words(0) == 1
    return make_images(plan), request.param


def accesses(images: Images, waits: int, *, slow: int, period: int) -> np.ndarray:
    """Cycles of the accesses of node ``slow``, which makes one a period from a cycle on that ``waits`` says; the other makes its
    own as soon as it can."""

    async def main(node: Any) -> None:
        await node.cop.s_load()
        if node.number == slow:
            await Wait(150 + waits, Category.CPU)
        for k in range(WORDS):
            if node.number:
                await node.cop.s_read()
            else:
                await node.cop.s_write(np.array([k], np.int32))
            if node.number == slow:
                await Wait(period - 1, Category.CPU)

    with Machine(NodeShape(), mesh(2, 1), engine="model", progress=False) as machine:
        nodes = [numesh_node(images, n, machine) for n in range(2)]
        record = run_nodes(nodes, main, machine, events=True)
    assert record.events is not None
    times = record.events["time"][(record.events["node"] == slow) & (record.events["time"] >= 150)]
    return np.asarray(times[-WORDS:])


@pytest.mark.parametrize("slow", [0, 1], ids=["writes", "reads"])
def test_a_processor_may_be_as_late_as_said_and_no_later(images: tuple[Images, int], slow: int) -> None:
    """In all but one cycle of a period accesses go on a period apart; in that one they are put off."""
    made, period = images
    steady = [
        bool((np.diff(accesses(made, waits, slow=slow, period=period)) == period).all()) for waits in range(period)
    ]
    assert sum(steady) == period - REFILL + 1 == latest_read(period) + 1


def test_a_processor_that_has_a_cycle_for_each_access_keeps_pace() -> None:
    for first, second, third in permutations(range(6), 3):
        assert keeps_pace(6, (((False, first),), ((False, second),), ((False, third),)))


def test_more_accesses_than_cycles_are_never_in_time() -> None:
    for first in range(4):
        lanes = tuple(((False, first + k),) for k in range(5))
        assert not keeps_pace(4, lanes)


def test_the_order_of_parts_decides_which_word_waits() -> None:
    # A word that has to leave in the cycle in which another comes, which can wait.
    leaving, coming = ((False, 0), (True, 1)), ((False, 1), (False, 2), (True, 4))
    period = 5
    orders = [keeps_pace(period, some) for some in ((leaving, coming), (coming, leaving))]
    assert orders == [False, True]
    assert in_pace(period, (leaving, coming)) == (1, 0)
    assert in_pace(period, (coming, leaving)) == (0, 1)
    assert in_pace(3, (leaving, coming)) is None


def test_words_come_as_late_as_they_may() -> None:
    # 2 -> 1 -> 0, and 3 on its own.
    later = periods_on(6, {0: None, 3: None, 1: 0, 2: 1}, {0: 40, 1: 12, 2: 1, 3: 19}, {1: 17, 2: 6})
    assert later[0] == 0
    assert 40 - 6 < 19 + later[3] <= 40
    for k, onward, leaves, comes in ((1, 0, 40, 17), (2, 1, 12, 6)):
        assert later[k] % 6 == 0
        assert 1 <= leaves + later[onward] - comes - later[k] <= 6


def halves(topology: Topology, period: int) -> RoutedPhase:
    (operator,) = compile_text("(allreduce 'o 'add :m 64)", topology=topology).operators()
    streams = IN_HALVES[0].streams(operator, Context(topology, NodeShape()))
    return route_phase(streams, topology, NodeShape(), period=period)


@pytest.mark.parametrize("topology", [mesh(2, 2), mesh(4, 2), mesh(3, 3), mesh(4, 4)], ids=str)
def test_first_words_come_after_what_they_are_made_of(topology: Topology) -> None:
    routed = halves(topology, 5 if topology.nodes == 4 else 6)
    paces = Paces(routed)
    streams = routed.streams
    turns = {k: one.turn for k, one in enumerate(streams) if one.turn is not None}
    before = read_before(turns, {k: (one.source, one.destinations) for k, one in enumerate(streams)})
    assert any(before.values())
    for k, some in before.items():
        leaves = paces.first[k, streams[k].source]
        assert leaves % routed.period == routed.chains_of(k)[0].vfsms[0].slots[0] % routed.period
        assert all(1 <= leaves - paces.first[j, streams[k].source] <= routed.period for j in some)


def test_streams_of_several_words_have_no_such_order() -> None:
    routed = halves(mesh(2, 2), 16)
    assert max(routed.words(k) for k in range(len(routed.streams))) > 1
    assert Paces(routed).of("o") is None


def test_words_wait_for_those_of_their_part_only() -> None:
    turns = {0: Turn("o", 1), 1: Turn("o", 1, part=1), 2: Turn("o", 2), 3: Turn("p", 1), 4: Turn("o", 3)}
    ends = {0: (0, (1,)), 1: (2, (1,)), 2: (1, (3,)), 3: (2, (1,)), 4: (3, (0, 1))}
    assert read_before(turns, ends) == {0: [], 1: [], 2: [0], 3: [], 4: [2]}
