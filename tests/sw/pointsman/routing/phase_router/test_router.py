"""The stream router, judged by a replay that shares nothing with it."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations, permutations
from types import ModuleType

import pytest

from numesh.shape import NodeShape
from pointsman.network import Topology, mesh, torus
from pointsman.routing.errors import RoutingError
from pointsman.routing.phase_router.router import PhaseConditions, route_phase
from pointsman.routing.streams import Condition, RoutedPhase, Stream


def shift(nodes: int) -> list[Stream]:
    inside = frozenset(range(nodes))
    return [Stream(f"s{i}", i, ((i - 1) % nodes,), chains=2, group="s", keep_in=inside) for i in range(nodes)]


def linear(nodes: int) -> list[Stream]:
    path = tuple(range(nodes))
    return [
        Stream(
            name,
            way[0],
            way[1:],
            group="b",
            keep_in=frozenset(path),
            path=way,
            injects_anywhere=True,
            inject_condition=Condition("c", True),
            deliver_condition=Condition("c", False),
            rewritten=True,
        )
        for name, way in (("up", path), ("down", path[::-1]))
    ]


def words(phase: RoutedPhase) -> list[int]:
    return [phase.words(i) for i in range(len(phase.streams))]


@pytest.mark.parametrize("nodes", range(2, 11))
@pytest.mark.parametrize("period", [4, 8, 16, 24])
def test_a_circular_shift_gets_half_the_links(replay: ModuleType, nodes: int, period: int) -> None:
    phase = route_phase(shift(nodes), mesh(nodes, 1), NodeShape(), period=period)
    assert replay.findings(phase) == []
    assert min(words(phase)) >= period // 2


@pytest.mark.parametrize("nodes", range(2, 11))
def test_a_broadcast_from_a_known_source_gets_half_the_links(replay: ModuleType, nodes: int) -> None:
    for source in {0, nodes // 2, nodes - 1}:
        others = tuple(n for n in range(nodes) if n != source)
        phase = route_phase([Stream("b", source, others, chains=2)], mesh(nodes, 1), NodeShape(), period=8)
        assert replay.findings(phase) == []
        assert words(phase)[0] >= 4


@pytest.mark.parametrize("nodes", [3, 4, 6, 10])
@pytest.mark.parametrize("period", [8, 16, 40])
def test_a_run_time_broadcast_fills_all_but_a_slot(replay: ModuleType, nodes: int, period: int) -> None:
    phase = route_phase(linear(nodes), mesh(nodes, 1), NodeShape(), period=period)
    assert replay.findings(phase) == []
    assert words(phase) == [(2 * period - 1) // 4] * 2


@pytest.mark.parametrize("nodes", [3, 5, 10])
@pytest.mark.parametrize("period", [8, 16, 40])
def test_streams_between_neighbours_fill_all_but_a_slot(replay: ModuleType, nodes: int, period: int) -> None:
    pairs = [(i, i + d) for i in range(nodes) for d in (-1, 1) if 0 <= i + d < nodes]
    streams = [Stream(f"{a}-{b}", a, (b,), group="d", path=(a, b)) for a, b in pairs]
    phase = route_phase(streams, mesh(nodes, 1), NodeShape(), period=period)
    assert replay.findings(phase) == []
    assert min(words(phase)) == (2 * period - 1) // 4


def random_streams(chance: random.Random, topology: Topology) -> list[Stream]:
    nodes = list(range(topology.nodes))
    streams = []
    for i in range(chance.randint(1, topology.nodes)):
        source = chance.choice(nodes)
        count = chance.randint(1, min(4, len(nodes)))
        streams.append(
            Stream(f"s{i}", source, tuple(chance.sample(nodes, count)), chains=chance.choice([1, 2]), group="g")
        )
    return streams


@pytest.mark.parametrize("seed", range(25))
def test_random_multicasts_are_legal_or_refused(replay: ModuleType, seed: int) -> None:
    chance = random.Random(seed)
    topology = chance.choice([mesh(1, 1), mesh(4, 1), mesh(3, 3), mesh(3, 5), mesh(2, 2, 2), torus(3, 3), torus(2, 3)])
    shape = NodeShape(neighbours=max(1, topology.ports), pipelines=chance.choice([1, 2, 3]))
    streams = random_streams(chance, topology)
    period = chance.choice([4, 7, 8, 16])
    try:
        phase = route_phase(streams, topology, shape, period=period)
    except RoutingError as error:
        assert error.message
        return
    assert replay.findings(phase) == []
    assert min(words(phase)) >= 1


def test_the_same_streams_give_the_same_routes() -> None:
    streams = random_streams(random.Random(3), mesh(3, 3))
    first, second = (route_phase(streams, mesh(3, 3), NodeShape(), period=16) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("change", ["slot", "pipeline", "drop", "number"])
def test_the_replay_sees_a_broken_route(replay: ModuleType, change: str) -> None:
    phase = route_phase(shift(4), mesh(4, 1), NodeShape(), period=8)
    chain = phase.chains[-1]
    vfsm = chain.vfsms[-1]
    broken = {
        "slot": (*chain.vfsms[:-1], vfsm._replace(slots=tuple((s + 1) % 8 for s in vfsm.slots))),
        "pipeline": (*chain.vfsms[:-1], vfsm._replace(pipeline=1 - vfsm.pipeline)),
        "drop": chain.vfsms[:-1],
        "number": (*chain.vfsms[:-1], vfsm._replace(number=99)),
    }[change]
    chains = (*phase.chains[:-1], replace(chain, vfsms=broken))
    assert replay.findings(replace(phase, chains=chains))


def test_forbidden_links_are_not_used(replay: ModuleType) -> None:
    forbidden = [(0, 1, slot) for slot in range(8) if slot != 5]
    phase = route_phase(
        [Stream("s", 0, (1,))], mesh(2, 1), NodeShape(), period=8, conditions=PhaseConditions(forbidden=forbidden)
    )
    assert replay.findings(phase, forbidden=forbidden) == []
    assert words(phase) == [1]


@pytest.mark.parametrize("free", [(0, 1, 15), (0, 2, 14), (0, 5, 9), (3, 4, 5, 6), (0, 2)])
def test_free_slots_at_uneven_distances_are_used(replay: ModuleType, free: tuple[int, ...]) -> None:
    """All that a link lets by: a VFSM does not run twice without a slot in between."""
    forbidden = [(0, 1, slot) for slot in range(16) if slot not in free]
    phase = route_phase(
        [Stream("s", 0, (1,))], mesh(2, 1), NodeShape(), period=16, conditions=PhaseConditions(forbidden=forbidden)
    )
    assert replay.findings(phase, forbidden=forbidden) == []
    sets = (chosen for size in range(len(free) + 1) for chosen in combinations(free, size))
    most = max(len(one) for one in sets if all((b - a) % 16 > 1 for a, b in permutations(one, 2)))
    assert words(phase) == [most]


def test_a_way_of_several_hops_finds_starts_between_forbidden_slots(replay: ModuleType) -> None:
    # Words that go straight through leave node n in slots 0, 2 and 7 + n.
    forbidden = [(node, 1, (slot + node) % 16) for node in range(3) for slot in range(16) if slot not in (0, 2, 7)]
    phase = route_phase(
        [Stream("s", 0, (3,))], mesh(4, 1), NodeShape(), period=16, conditions=PhaseConditions(forbidden=forbidden)
    )
    assert replay.findings(phase, forbidden=forbidden) == []
    assert words(phase) == [3]


@pytest.mark.parametrize("period", [8, 16])
def test_a_share_that_streams_did_not_have_beside_fewer_is_not_tried(replay: ModuleType, period: int) -> None:
    """Knowing it changes nothing but the time; and what was had is kept to."""
    few, network = shift(4), mesh(4, 1)
    more = [*few, Stream("meet", 0, (1, 2, 3), max_words=1, group="m")]
    had = words(route_phase(few, network, NodeShape(), period=period))
    tried: list[str] = []
    known: list[str] = []
    free = route_phase(more, network, NodeShape(), period=period, progress=tried.append)
    told = route_phase(
        more, network, NodeShape(), period=period, conditions=PhaseConditions(had=had), progress=known.append
    )
    assert told == free
    assert len(known) <= len(tried)
    assert max(had) > 1
    least = route_phase(more, network, NodeShape(), period=period, conditions=PhaseConditions(had=[1] * len(few)))
    assert words(least) == [1] * len(more)
    assert replay.findings(least) == []
