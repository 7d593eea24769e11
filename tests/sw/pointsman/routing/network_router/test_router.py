"""Routes for the node: judged by a replay that shares nothing with the router, and run on machines."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import ModuleType
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.api.judged import judge_route
from pointsman.artifacts.images.readmemh import memories_of
from pointsman.artifacts.routes.file import make_problem
from pointsman.artifacts.routes.routes import RouteProblem, RouteResult, RouteStream
from pointsman.network import Topology, graph, mesh, torus
from pointsman.routing.errors import RoutingError
from pointsman.routing.ideal_router.explain import PeriodError
from pointsman.routing.network_router import router
from pointsman.routing.network_router.moves import routed_phase
from pointsman.routing.network_router.router import route_to_images
from pointsman.routing.options import FREE, USUAL, RouteConstraints, RouteOptions
from pointsman.runtime import Node, numesh_node
from pointsman.runtime.api.requests import Category, Lane, Transfer, Wait
from pointsman.verify.images import check_images


def route_streams(
    problem: RouteProblem, options: RouteOptions = USUAL, constraints: RouteConstraints = FREE
) -> RouteResult:
    """What the router gives, seen by the judge."""
    result = router.route_streams(problem, options, constraints)
    judge_route(problem, result)
    return result


def reversal(nodes: int) -> list[RouteStream]:
    bits = nodes.bit_length() - 1
    ends = [int(format(node, f"0{bits}b")[::-1], 2) for node in range(nodes)]
    return [RouteStream(node, (end,)) for node, end in enumerate(ends) if node != end]


def moves_are_legal(problem: RouteProblem, result: RouteResult) -> None:
    """The file's own moves: a way from source to all destinations, and no resource twice in a slot."""
    cells: Counter[tuple[int, int, int]] = Counter()
    links: Counter[tuple[int, int, int]] = Counter()
    for stream, routed in zip(problem.streams, result.streams, strict=True):
        assert routed.bandwidth == len(routed.words) / result.period
        for word in routed.words:
            (origin, first, source, *_), *rest = word
            assert origin is None
            assert source == stream.source
            at = {source: (first + 1) % result.period}
            ends = []
            for node, slot, to, pipeline, vfsm in rest:
                assert None not in (node, pipeline, vfsm)
                assert node in at
                cells[node, pipeline, slot] += 1
                if to is None:
                    ends.append(node)
                elif to != node:
                    assert (node, to) in problem.links
                    links[node, to, slot] += 1
                    at[to] = (slot + 1) % result.period
            assert sorted(ends) == sorted(stream.destinations)
    assert max([*cells.values(), *links.values()], default=1) == 1


def agreed(problem: RouteProblem, result: RouteResult, replay: ModuleType) -> None:
    moves_are_legal(problem, result)
    assert check_images(route_to_images(problem, result)).ok
    # A processor takes the chains of a stream in the order of their slots here, so they may be unequal.
    findings = [text for text in replay.findings(routed_phase(problem, result)) if "has unequal chains" not in text]
    assert findings == []
    if result.bound is not None:
        shares = [r.bandwidth / s.weight for r, s in zip(result.streams, problem.streams, strict=True)]
        assert min(shares) <= result.bound.value + 1e-9


@pytest.mark.parametrize(("side", "least"), [(4, 0.88), (8, 0.85)])
def test_bit_reversal_comes_near_the_linear_program(side: int, least: float, replay: ModuleType) -> None:
    problem = make_problem(mesh(side, side), reversal(side * side))
    result = route_streams(problem, RouteOptions(effort=0.5))
    agreed(problem, result, replay)
    assert result.bound is not None
    assert result.bound.kind == "linear program"
    assert min(stream.bandwidth for stream in result.streams) >= least * result.bound.value


def random_network(chance: np.random.Generator) -> tuple[Topology, nx.DiGraph]:
    kind = chance.integers(4)
    if kind == 0:
        topology = mesh(int(chance.integers(1, 5)), int(chance.integers(1, 5)))
    elif kind == 1:
        topology = torus(3, int(chance.integers(3, 5)))
    elif kind == 2:
        topology = mesh(2, 2, 2)
    else:
        nodes = int(chance.integers(2, 8))
        edges = {(int(a), int(b)) for a, b in chance.integers(0, nodes, (2 * nodes, 2)) if a < b}
        topology = graph(nodes, sorted(edges | {(i, i + 1) for i in range(nodes - 1)})[: 2 * nodes])
    net = nx.DiGraph()
    net.add_nodes_from(range(topology.nodes))
    net.add_edges_from((n, o) for n in range(topology.nodes) for o, _ in topology.at_port[n].values())
    return topology, net


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10**6))
def test_random_streams_on_random_networks_are_legal_or_refused(seed: int, replay: ModuleType) -> None:
    chance = np.random.default_rng(seed)
    topology, net = random_network(chance)
    if topology.nodes < 2 or topology.ports > 8:
        return
    dead = []
    for u, v in sorted(net.edges):
        if chance.random() < 0.08:
            dead.append((u, v))
    net.remove_edges_from(dead)
    streams = []
    for _ in range(int(chance.integers(1, 8))):
        source = int(chance.integers(topology.nodes))
        reached = sorted(nx.descendants(net, source))
        if reached:
            ends = chance.choice(reached, min(len(reached), int(chance.integers(1, 4))), replace=False)
            streams.append(RouteStream(source, tuple(map(int, ends)), float(chance.choice([0.5, 1.0, 3.0]))))
    if not streams:
        return
    shape = NodeShape(
        pipelines=int(chance.integers(1, 4)), neighbours=max(4, topology.ports), vfsms=int(chance.choice([8, 32]))
    )
    problem = make_problem(topology, streams, dead_links=dead, shape=shape)
    try:
        result = route_streams(problem, RouteOptions(effort=0.02, seed=seed))
    except RoutingError:
        return
    agreed(problem, result, replay)


@pytest.mark.parametrize("dead", [[3], [14], [0, 35]])
def test_a_dead_node_is_gone_round(dead: list[int], replay: ModuleType) -> None:
    chance = np.random.default_rng(3)
    alive = [node for node in range(36) if node not in dead]
    ends = chance.permutation(alive)
    streams = [RouteStream(a, (int(b),)) for a, b in zip(alive, ends, strict=True) if a != b]
    problem = make_problem(mesh(6, 6), streams, dead_nodes=dead)
    result = route_streams(problem, RouteOptions(effort=0.1))
    agreed(problem, result, replay)
    used = {move[0] for stream in result.streams for word in stream.words for move in word}
    assert not used & set(dead)


def test_a_row_broadcast_and_a_column_shift_get_half_of_a_link() -> None:
    broadcast = make_problem(mesh(10, 1), [RouteStream(0, tuple(range(1, 10)))])
    assert route_streams(broadcast, RouteOptions(effort=0.1)).streams[0].bandwidth >= 0.5
    shift = make_problem(mesh(1, 10), [RouteStream(n, ((n + 1) % 10,)) for n in range(10)])
    assert min(s.bandwidth for s in route_streams(shift, RouteOptions(effort=0.3)).streams) >= 0.5


def test_weights_are_kept_in_proportion() -> None:
    problem = make_problem(
        mesh(4, 1), [RouteStream(0, (3,), 3.0), RouteStream(1, (2,), 1.0), RouteStream(2, (3,), 1.0)]
    )
    result = route_streams(problem, RouteOptions(effort=0.2))
    shares = [r.bandwidth / s.weight for r, s in zip(result.streams, problem.streams, strict=True)]
    assert result.bound is not None
    assert min(shares) >= 0.8 * result.bound.value


def test_the_same_seed_gives_the_same_answer() -> None:
    problem = make_problem(mesh(4, 4), reversal(16))
    one, two = (route_streams(problem, RouteOptions(effort=0.05, seed=5)) for _ in range(2))
    assert (one.period, one.streams, one.nodes) == (two.period, two.streams, two.nodes)


def test_a_given_length_is_kept() -> None:
    problem = make_problem(mesh(3, 3), [RouteStream(0, (8,)), RouteStream(8, (0,))])
    result = route_streams(problem, RouteOptions(length=17, effort=0.1))
    assert result.period == 17
    assert result.length_reason == "the length was given"


@pytest.mark.parametrize(
    ("length", "message"),
    [(1, "the period must have 2 to 64 slots, not 1"), (65, "the period must have 2 to 64 slots, not 65")],
)
def test_a_length_that_the_node_cannot_have_is_refused(length: int, message: str) -> None:
    with pytest.raises(RoutingError, match=message):
        route_streams(make_problem(mesh(2, 2), [RouteStream(0, (3,))]), RouteOptions(length=length))


def test_too_many_streams_at_a_node_are_told_with_the_shape_that_would_do() -> None:
    streams = [RouteStream(0, (node,)) for node in range(1, 16)]
    with pytest.raises(RoutingError, match="node 0 is an end of 15 streams and has 14 interface registers") as caught:
        route_streams(make_problem(mesh(4, 4), streams))
    assert caught.value.hint is not None
    assert "17 registers" in caught.value.hint


def test_what_does_not_fit_is_counted_and_explained() -> None:
    streams = [RouteStream(node, (7,)) for node in range(7)]
    message = "does not fit into 3 slots: node 7 is an end of 7 streams, and 2 pipelines have 4 slots for them"
    with pytest.raises(PeriodError, match=message) as caught:
        route_streams(make_problem(mesh(8, 1), streams), RouteOptions(length=3, effort=0.05))
    report = caught.value.report
    assert report["infeasible"]
    assert report["proved"]
    assert report["nodes"] == [7]
    assert len(report["streams"]) == 7
    assert report["changes"][0] == "a length of 5 slots"


def test_what_does_not_fit_between_the_ends_is_explained_by_what_stayed_in_conflict() -> None:
    streams = [RouteStream(node, (11 - node,)) for node in range(6)]
    with pytest.raises(PeriodError, match="one word for every stream does not fit into 3 slots: ") as caught:
        route_streams(make_problem(mesh(12, 1), streams), RouteOptions(length=3, effort=0.05))
    report = caught.value.report
    assert report["conflicts"] > 0
    assert report["streams"]
    assert report["nodes"]
    assert "the tightest bound is" in str(caught.value)


def test_no_streams_are_no_work() -> None:
    result = route_streams(make_problem(mesh(2, 2), []))
    assert result.streams == ()


def places(stream: Any) -> set[tuple[tuple[Any, ...], ...]]:
    return {tuple(move[:4] for move in word) for word in stream.words}


def test_pinned_words_stay_where_they_are(replay: ModuleType) -> None:
    before = make_problem(mesh(4, 4), [RouteStream(0, (15,)), RouteStream(3, (12, 8))])
    first = route_streams(before, RouteOptions(length=20, effort=0.05))
    streams = [*before.streams, *(RouteStream(node, (15 - node,)) for node in (1, 2, 5, 6))]
    problem = make_problem(mesh(4, 4), streams)
    kept = {index: replace(s, words=s.words[:6], bandwidth=6 / 20) for index, s in enumerate(first.streams)}
    result = route_streams(problem, RouteOptions(length=20, effort=0.1), RouteConstraints(pinned=kept))
    agreed(problem, result, replay)
    for index, stream in kept.items():
        assert places(result.streams[index]) == places(stream)
    assert all(stream.words for stream in result.streams[2:])


def test_a_price_of_infinity_forbids_a_slot_and_a_price_is_avoided(replay: ModuleType) -> None:
    problem = make_problem(mesh(3, 3), [RouteStream(0, (8,)), RouteStream(2, (6,))])

    def cost(node: int, pipeline: int, slot: int) -> float:
        return float("inf") if slot == 5 else 3.0 if node == 4 else 0.0

    result = route_streams(problem, RouteOptions(length=12, effort=0.02), RouteConstraints(cost=cost))
    agreed(problem, result, replay)
    moves = [move for stream in result.streams for word in stream.words for move in word[1:]]
    assert all(move[1] != 5 for move in moves)
    free = route_streams(problem, RouteOptions(length=12, effort=0.02))
    assert any(move[1] == 5 for stream in free.streams for word in stream.words for move in word[1:])


def test_a_stream_keeps_to_its_nodes(replay: ModuleType) -> None:
    problem = make_problem(mesh(4, 4), [RouteStream(0, (12,)), RouteStream(1, (13,)), RouteStream(3, (15,))])
    column = [0, 4, 8, 12]
    result = route_streams(problem, RouteOptions(length=16, effort=0.02), RouteConstraints(keep_in={0: column}))
    agreed(problem, result, replay)
    assert {move[0] for word in result.streams[0].words for move in word[1:]} <= set(column)
    with pytest.raises(RoutingError, match="stream 1 cannot reach node 13 inside the nodes that it may use"):
        route_streams(problem, RouteOptions(effort=0.02), RouteConstraints(keep_in={1: [1, 5, 13]}))


def test_pins_and_prices_need_a_length() -> None:
    problem = make_problem(mesh(2, 2), [RouteStream(0, (3,))])
    result = route_streams(problem, RouteOptions(length=8, effort=0.02))
    with pytest.raises(RoutingError, match="pinned words need the length of their period"):
        route_streams(problem, constraints=RouteConstraints(pinned={0: result.streams[0]}))
    with pytest.raises(RoutingError, match="a cost by slot needs a length"):
        route_streams(problem, constraints=RouteConstraints(cost=lambda node, pipeline, slot: 0.0))
    with pytest.raises(RoutingError, match="there is no stream 4 to pin"):
        route_streams(problem, RouteOptions(length=8), RouteConstraints(pinned={4: result.streams[0]}))


# -- on machines: every stream gets its share ---------------------------------------------------------------------------


def run_always_sending(
    problem: RouteProblem, result: RouteResult, periods: int, engine: Any, stalled: int | None = None
) -> list[int]:
    """Cycles that each node needs for ``periods`` periods of all its streams; data are checked."""
    images = route_to_images(problem, result)
    sent = {
        (p.operator, p.register): np.arange(periods * p.words, dtype=np.uint32) + 1000 * k
        for k, p in enumerate(images.promises)
    }

    async def main(node: Node) -> int:
        lanes, expected = [], []
        for index, _ in images.nodes[node.number].operators:
            await getattr(node.cop, f"s{index}_load")()
        start = node.time
        for promise in images.promises:
            data = sent[promise.operator, promise.register]
            if promise.source == node.number:
                lanes.append(Lane(True, promise.register, len(data), data))
            for end, register in promise.destinations:
                if end == node.number:
                    room = np.zeros(len(data), np.uint32)
                    expected.append((room, data))
                    if promise.operator == stalled:
                        for word in range(len(data)):
                            await Wait(int(7 * (word % 3)), Category.CPU)
                            await Transfer([Lane(False, register, 1, room[word : word + 1])], Category.READ)
                    else:
                        lanes.append(Lane(False, register, len(data), room))
        if lanes:
            await Transfer(lanes, Category.READ)
        took = node.time - start
        for room, data in expected:
            assert (room == data).all()
        return took

    with Machine(problem.shape, problem.topology, engine=engine) as machine:
        machine.preload(memories_of(images))
        nodes = [numesh_node(images, number, machine, preloaded=True) for number in range(problem.nodes)]
        record = run_nodes(nodes, main, machine)
    return [int(took) for took in record.results]


@pytest.mark.parametrize("engine", ["model", "verilated"])
def test_every_stream_gets_exactly_its_share(engine: str) -> None:
    """All sources always send: twice the words take twice the time, to the period."""
    chance = np.random.default_rng(4)
    nodes = chance.permutation(16)
    streams = [RouteStream(int(a), (int(b),)) for a, b in zip(nodes[:8], nodes[8:], strict=True)]
    problem = make_problem(mesh(4, 4), streams)
    result = route_streams(problem, RouteOptions(length=24, effort=0.05))
    short, long = (run_always_sending(problem, result, periods, engine) for periods in (10, 30))
    assert [b - a for a, b in zip(short, long, strict=True)] == pytest.approx([20 * result.period] * 16, abs=1)


def test_a_stalled_stream_takes_nothing_from_the_others() -> None:
    chance = np.random.default_rng(5)
    nodes = chance.permutation(16)
    streams = [RouteStream(int(a), (int(b),)) for a, b in zip(nodes[:8], nodes[8:], strict=True)]
    problem = make_problem(mesh(4, 4), streams)
    result = route_streams(problem, RouteOptions(length=24, effort=0.05))
    free = run_always_sending(problem, result, 20, "model")
    stalled = run_always_sending(problem, result, 20, "model", stalled=0)
    ends = {streams[0].source, *streams[0].destinations}
    assert stalled[streams[0].destinations[0]] > free[streams[0].destinations[0]]
    for node in range(16):
        if node not in ends:
            assert abs(stalled[node] - free[node]) <= 1
