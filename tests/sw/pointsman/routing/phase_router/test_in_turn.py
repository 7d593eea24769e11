"""Words that processors pass on: legal by the replay of the router's tests, and as quick as an empty network allows, by a play
of single words that knows nothing of how slots were chosen."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from types import ModuleType
from typing import Any

import pytest

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.cop.compile import compile_text
from pointsman.network import Topology, mesh, torus
from pointsman.network.lattice import diamond
from pointsman.operators.api.implementation import Context
from pointsman.operators.scheduled.barrier import StrBarrierTree
from pointsman.operators.scheduled.reduce import StrAllreduce
from pointsman.plan.conflicts.link_slots import link_writes
from pointsman.plan.make_plan import make_plan
from pointsman.routing.phase_router.in_turn import lengths_in_turn
from pointsman.routing.phase_router.router import PhaseConditions, route_phase
from pointsman.routing.streams import RoutedPhase, Stream, Turn
from pointsman.runtime import numesh_node
from pointsman.targets.numesh import make_images

SHAPE = NodeShape(neighbours=8)


def barrier(topology: Topology, *, shallow: bool = True) -> list[Stream]:
    (operator,) = compile_text("(barrier 'b)", topology=topology).operators()
    return StrBarrierTree(shallow=shallow).streams(operator, Context(topology, SHAPE))


def last_read(routed: RoutedPhase, start: int = 0) -> int:
    """Cycle after the last read, if all processors write from cycle ``start`` on, played a cycle at a time: a word is read by its
    first VFSM in the slot of the cycle, two cycles later than a word that its last VFSM delivers can be read."""
    period = routed.period
    got: dict[int, set[int]] = {node: set() for node in range(routed.topology.nodes)}
    there: dict[int, list[tuple[int, int]]] = {node: [] for node in got}
    unwritten = sorted(range(len(routed.streams)), key=lambda k: routed.streams[k].turn)
    before = {
        k: {j for j in unwritten if routed.streams[j].turn < one.turn and one.source in routed.streams[j].destinations}
        for k, one in enumerate(routed.streams)
    }
    cycle, end = start, start
    while any(len(got[node]) < sum(node in one.destinations for one in routed.streams) for node in got):
        for node in got:
            ready = sorted((at, k) for at, k in there[node] if at <= cycle)
            if ready:
                there[node].remove(ready[0])
                got[node].add(ready[0][1])
                end = cycle + 1
                continue
            able = [k for k in unwritten if routed.streams[k].source == node and before[k] <= got[node]]
            if able:
                unwritten.remove(able[0])
                (chain,) = routed.chains_of(able[0])
                begun = cycle + (chain.vfsms[0].slots[0] - cycle) % period
                when = [begun]
                for vfsm in chain.vfsms[1:]:
                    after = when[vfsm.parent] + (vfsm.slots[0] - when[vfsm.parent]) % period
                    when.append(after)
                for at, vfsm in zip(when, chain.vfsms, strict=True):
                    if vfsm.destination.kind == "deliver":
                        there[vfsm.node].append((at + 3, able[0]))
        cycle += 1
        assert cycle < 1000
    return end - start


@pytest.mark.parametrize(
    ("topology", "period", "cycles"),
    [
        (mesh(2), 4, 10),
        (mesh(4, 4), 11, 22),
        (mesh(4, 4), 12, 22),
        (mesh(8, 8), 13, 36),
        (mesh(8, 8), 16, 36),
        (mesh(3, 5), 12, 23),
        (torus(5, 5), 14, 26),
        (mesh(3, 3, 3), 16, 28),
    ],
    ids=str,
)
def test_a_barrier_alone_takes_hardly_longer_than_on_an_empty_network(
    replay: ModuleType, topology: Topology, period: int, cycles: int
) -> None:
    streams = barrier(topology)
    routed = route_phase(streams, topology, SHAPE, period=period)
    assert replay.findings(routed) == []
    assert last_read(routed) <= cycles


@pytest.mark.parametrize("seed", range(5))
def test_a_seed_turns_all_slots_on(seed: int) -> None:
    streams = barrier(mesh(4, 4))
    first, other = (route_phase(streams, mesh(4, 4), SHAPE, period=12, seed=k) for k in (0, seed))
    assert last_read(other, seed) == last_read(first)
    turned = [[(slot + seed) % 12 for slot in v.slots] for chain in first.chains for v in chain.vfsms]
    assert [list(v.slots) for chain in other.chains for v in chain.vfsms] == turned


@pytest.mark.parametrize("topology", [mesh(1, 2), mesh(1, 9), mesh(4, 3), torus(3, 3), diamond(2)], ids=str)
@pytest.mark.parametrize("shallow", [False, True])
@pytest.mark.parametrize("period", [8, 11, 16])
def test_routes_are_legal_on_other_networks_and_in_few_slots(
    replay: ModuleType, topology: Topology, shallow: bool, period: int
) -> None:
    routed = route_phase(barrier(topology, shallow=shallow), topology, SHAPE, period=period)
    assert replay.findings(routed) == []
    assert last_read(routed) < 200


def test_link_writes_that_are_forbidden_are_left_alone(replay: ModuleType) -> None:
    topology = mesh(4, 4)
    forbidden = {(node, port, slot) for node in range(16) for port in topology.at_port[node] for slot in (0, 3, 7)}
    for seed in range(3):
        routed = route_phase(
            barrier(topology), topology, SHAPE, period=12, seed=seed, conditions=PhaseConditions(forbidden)
        )
        assert replay.findings(routed) == []
        assert not link_writes(routed) & forbidden


@pytest.mark.parametrize("words", [1, None])
def test_other_streams_of_the_phase_have_as_many_words_as_without_an_order(
    replay: ModuleType, words: int | None
) -> None:
    topology = mesh(4, 4)
    ring = [Stream(f"s{k}", k, ((k + 1) % 16,), max_words=words, group="s") for k in range(16)]
    plain = [Stream(one.name, one.source, one.destinations, max_words=1, group=one.group) for one in barrier(topology)]
    usual = route_phase([*plain, *ring], topology, SHAPE, period=16)
    routed = route_phase([*barrier(topology), *ring], topology, SHAPE, period=16)
    assert replay.findings(routed) == []
    assert all(routed.words(k) >= usual.words(k) for k in range(16, 32))
    waited = [
        last_read(RoutedPhase(SHAPE, topology, 16, tuple(barrier(topology)), one.chains[: len(plain)]))
        for one in (usual, routed)
    ]
    assert waited[1] < waited[0] or words is None  # other words leave little room
    assert waited[1] <= waited[0]


def test_an_operator_follows_the_one_before_it(replay: ModuleType) -> None:
    """Two rounds of words to node 1 and back: the second begins when the first has ended."""
    there = [Stream(f"{name} up", 0, (1,), max_words=1, turn=Turn(name, 1)) for name in "ab"]
    back = [Stream(f"{name} down", 1, (0,), max_words=1, turn=Turn(name, 2)) for name in "ab"]
    streams = [there[0], back[0], there[1], back[1]]
    routed = route_phase(streams, mesh(2), SHAPE, period=8)
    assert replay.findings(routed) == []
    starts = [routed.chains_of(k)[0].vfsms[0].slots[0] for k in range(4)]
    assert [(b - a) % 8 for a, b in pairwise(starts)] == [5, 5, 5]


def test_lengths_divide_the_time_of_all_words() -> None:
    routed = route_phase(barrier(mesh(4, 4)), mesh(4, 4), SHAPE, period=8)
    assert lengths_in_turn(routed, 24) == [5, 6, 7, 8, 9, 12, 13, 23, 24]
    assert lengths_in_turn(routed, 8) == [5, 6, 7, 8]
    assert lengths_in_turn(route_phase([Stream("s", 0, (1,))], mesh(2), SHAPE, period=8), 24) == []


def test_crowded_routers_have_schedules_in_which_words_may_wait() -> None:
    def lines(node: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        x, y = node % 4, node // 4
        return tuple(4 * y + k for k in range(4) if k != x), tuple(4 * k + x for k in range(4) if k != y)

    exchange = [
        Stream(f"{level}-{node}", node, line, max_words=1, turn=Turn("o", level))
        for node in range(16)
        for level, line in enumerate(lines(node), 1)
    ]
    routed = route_phase(exchange, mesh(4, 4), SHAPE, period=24)
    assert set(range(14, 21)) <= set(lengths_in_turn(routed, 24))


@pytest.mark.parametrize(("text", "least"), [("(barrier 'b)", 22), ("(allreduce 'b 'add :m 1)", 22)])
def test_rounds_on_the_cycle_model_take_two_periods(text: str, least: int) -> None:
    program = compile_text(f"(loop 'l 20 {text})", topology=mesh(4, 4))
    images = make_images(make_plan(program, NodeShape(), name="rounds", period=12))

    async def main(node: Any) -> int:
        await node.cop.l_load()
        await node.cop.b_load()
        got = 0
        for k in range(20):
            got += (await node.cop.b_func([node.number + k]))[0] if "reduce" in text else await node.cop.b_func() or 0
        return int(got)

    with Machine(images.shape, program.topology, engine="model", progress=False) as machine:
        nodes = [numesh_node(images, number, machine) for number in range(16)]
        done = run_nodes(nodes, main, machine, max_cycles=10_000)
    assert done.results == [20 * 120 + 16 * 190 if "reduce" in text else 0] * 16
    assert 20 * least <= done.finished.max() < 20 * 24 + 110  # loading takes some 100 cycles


def sums(topology: Topology, kind: str, *, by_item: bool) -> list[Stream]:
    (operator,) = compile_text(f"(allreduce 'a 'add {kind})", topology=topology).operators()
    return StrAllreduce(by_item=by_item).streams(operator, Context(topology, SHAPE))


@pytest.mark.parametrize("topology", [mesh(1, 5), mesh(4, 4), mesh(3, 5), torus(3, 3), mesh(2, 2, 2)], ids=str)
@pytest.mark.parametrize(
    ("kind", "words", "by_item"),
    [(":type 'float64", 2, False), (":m 2", 2, True), (":m 3", 3, True), (":m 4", 4, True)],
)
def test_words_of_a_short_message_go_the_same_way_one_after_the_other(
    replay: ModuleType, topology: Topology, kind: str, words: int, by_item: bool
) -> None:
    streams = [replace(one, max_words=words) for one in sums(topology, kind, by_item=by_item)]
    assert all(one.turn and one.turn.item == (1 if by_item else words) for one in streams)
    routed = route_phase(streams, topology, SHAPE, period=64)
    assert replay.findings(routed) == []
    for number in range(len(streams)):
        (chain,) = routed.chains_of(number)
        assert chain.words == words
    level = {number: one.turn.level for number, one in enumerate(streams) if one.turn}
    leaves = [number for number in level if level[number] == 1]
    root = len(streams) - 1
    first = [routed.chains_of(number)[0].vfsms[0].slots[0] for number in (*leaves, root)]
    assert max(first[:-1]) < first[-1], "what the root sends is written after what the leaves sent, in the same period"


def test_rounds_of_doubles_take_two_periods() -> None:
    """Their two words wait for no slot at any level: 38 cycles a round for 48 where slots are in no order."""
    program = compile_text("(loop 'l 20 (allreduce 'b 'add :type 'float64))", topology=mesh(4, 4))
    images = make_images(make_plan(program, NodeShape(), name="doubles"))

    async def main(node: Any) -> float:
        await node.cop.l_load()
        await node.cop.b_load()
        got = 0.0
        for k in range(20):
            got += await node.cop.b_func(node.number + k / 4)
        return got

    with Machine(images.shape, program.topology, engine="model", progress=False) as machine:
        nodes = [numesh_node(images, number, machine) for number in range(16)]
        done = run_nodes(nodes, main, machine, max_cycles=10_000)
    assert done.results == [20 * 120 + 16 * 190 / 4] * 16
    assert done.finished.max() < 20 * 39 + 150


def test_items_of_more_words_than_a_period_may_have_are_placed_by_their_first(replay: ModuleType) -> None:
    streams = [replace(one, max_words=1) for one in sums(mesh(3, 3), ":type 'float64", by_item=False)]
    routed = route_phase(streams, mesh(3, 3), SHAPE, period=12)
    assert replay.findings(routed) == []
    assert {routed.words(number) for number in range(len(streams))} == {1}
