"""The router reaches what the operators count on, and every result is legal."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest

from numesh.codes import MoveType
from numesh.shape import NodeShape
from pointsman.network import Topology, graph, mesh, torus
from pointsman.streams.router import RoutingError, route_phase
from pointsman.streams.stream import RoutedPhase, Stream

CHIP = NodeShape()


@pytest.fixture
def routed(replay: ModuleType):  # type: ignore[no-untyped-def]
    """Route on the chip's nodes; judge the result."""

    def route(streams: list[Stream], topology: Topology, period: int, **options: object) -> RoutedPhase:
        shape = options.pop("shape", CHIP)
        phase = route_phase(streams, topology, shape, period=period, **options)  # type: ignore[arg-type]
        rules = {key: options[key] for key in ("forbidden", "phase_change") if key in options}
        assert replay.findings(phase, **rules) == []
        assert phase.schedule.shape == (topology.nodes, period, phase.shape.pipelines)
        return phase

    return route


def words(phase: RoutedPhase) -> list[int]:
    return [phase.words(index) for index in range(len(phase.streams))]


# Lines ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nodes", range(2, 11))
def test_a_circular_shift_along_a_line_carries_half_a_word_a_cycle(routed, patterns, nodes: int) -> None:
    """Metcalf 1997, Table 8.2 reaches .500 for two nodes and .333 for more."""
    for period in (4, 8, 12, 16, 20, 24, 32, 40):
        phase = routed(patterns.circular_shift(range(nodes)), mesh(nodes), period)
        assert min(words(phase)) >= period // 2, period


@pytest.mark.parametrize("seed", range(5))
def test_a_circular_shift_does_not_hang_on_the_seed(routed, patterns, seed: int) -> None:
    for nodes in (5, 9, 10):
        assert min(words(routed(patterns.circular_shift(range(nodes)), mesh(nodes), 8, seed=seed))) >= 4


def test_the_columns_of_a_mesh_are_routed_once(routed, patterns) -> None:
    topology = mesh(10, 10)
    columns = [[x + 10 * y for y in range(10)] for x in range(10)]
    streams = [s for x, column in enumerate(columns) for s in patterns.circular_shift(column, f"c{x}.")]
    tried: list[str] = []
    phase = routed(streams, topology, 20, progress=tried.append)
    alone: list[str] = []
    routed(patterns.circular_shift(range(10)), mesh(10), 20, progress=alone.append)
    assert min(words(phase)) >= 10
    assert tried == alone
    for x in range(10):
        assert (phase.schedule[columns[x]] == phase.schedule[columns[0]]).all()


@pytest.mark.parametrize("nodes", range(2, 11))
def test_a_broadcast_along_a_line_carries_half_a_word_a_cycle(routed, patterns, nodes: int) -> None:
    """From any position; Metcalf 1997, Table 8.2 reaches .500 for two nodes and .250 for six and more."""
    for period in (4, 8, 20, 40):
        for source in range(nodes):
            phase = routed(patterns.broadcast(range(nodes), source), mesh(nodes), period)
            assert phase.words(0) >= period // 2, (period, source)


@pytest.mark.parametrize("nodes", [2, 3, 4, 7, 10])
@pytest.mark.parametrize("period", [8, 16, 20, 32, 40])
def test_multicasts_from_both_ends_of_a_line_leave_one_slot_for_reprogramming(
    routed, patterns, nodes: int, period: int
) -> None:
    phase = routed(patterns.linear(range(nodes)), mesh(nodes), period)
    assert words(phase) == [(2 * period - 1) // 4] * 2


@pytest.mark.parametrize("nodes", [3, 4, 7, 10])
@pytest.mark.parametrize("period", [8, 16, 40])
def test_neighbour_streams_on_a_line_fill_all_slots_but_one(routed, patterns, nodes: int, period: int) -> None:
    phase = routed(patterns.neighbours(mesh(nodes)), mesh(nodes), period)
    assert set(words(phase)) == {(2 * period - 1) // 4}


def test_at_the_ends_of_a_line_of_two_nothing_but_the_stream_itself_limits_it(routed, patterns) -> None:
    assert words(routed(patterns.neighbours(mesh(2)), mesh(2), 16)) == [8, 8]


# Boxes ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(3, 3), (4, 4)])
@pytest.mark.parametrize("period", [8, 16, 40])
def test_neighbour_streams_in_a_box_fill_all_slots_of_its_inner_nodes(
    routed, patterns, size: tuple[int, int], period: int
) -> None:
    phase = routed(patterns.neighbours(mesh(*size)), mesh(*size), period)
    assert set(words(phase)) == {(2 * period - 1) // 8}


@pytest.mark.parametrize(
    ("image", "period", "chains", "least"),
    [
        ("bit reversal", 64, 1, 31),
        ("bit reversal", 64, 4, 31),
        (0, 64, 4, 24),
        (1, 64, 1, 31),
        (2, 64, 1, 31),
        (0, 16, 2, 5),
    ],
)
def test_a_permutation_of_a_box(routed, patterns, image: str | int, period: int, chains: int, least: int) -> None:
    given = patterns.bit_reversal(16) if image == "bit reversal" else patterns.shuffled(16, image)
    phase = routed(patterns.permutation(16, given, chains), mesh(4, 4), period)
    assert min(words(phase)) >= least
    assert len(set(words(phase))) == 1


@pytest.mark.parametrize(("seed", "least"), [(0, 14), (1, 15)])
def test_a_permutation_of_64_nodes(routed, patterns, seed: int, least: int) -> None:
    phase = routed(patterns.permutation(64, patterns.shuffled(64, seed), 2), mesh(8, 8), 64)
    assert min(words(phase)) >= least


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("size", [(4, 4), (3, 5)])
def test_random_multicasts(routed, patterns, size: tuple[int, int], seed: int) -> None:
    for chains in (1, 2):
        phase = routed(patterns.multicasts(mesh(*size), seed, 6, 5, chains), mesh(*size), 24)
        assert min(words(phase)) >= 5


# What a stream may ask for ----------------------------------------------------------------------------------------------


def test_streams_of_two_groups_get_shares_by_weight(routed) -> None:
    streams = [Stream("a", 0, (1,), weight=1.0, group="a"), Stream("b", 0, (1,), weight=3.0, group="b")]
    phase = routed(streams, mesh(2), 16)
    # One link of 16 slots: 4 and 12 words would use it up, but b may not run in two slots in a row.
    assert words(phase) == [8, 8]
    streams = [Stream(s.name, 0, (1,), weight=s.weight, group=s.group, chains=2) for s in streams]
    assert words(routed(streams, mesh(2), 16)) == [4, 12]


def test_a_group_goes_on_where_another_has_no_room(routed) -> None:
    streams = [Stream("slow", 0, (1,), max_words=2, group="s"), Stream("fast", 2, (3,), group="f")]
    assert words(routed(streams, mesh(4), 16)) == [2, 8]


def test_no_stream_gets_more_words_than_it_wants(routed) -> None:
    phase = routed([Stream("a", 0, (2,), max_words=3), Stream("b", 2, (0,))], mesh(3), 12)
    assert words(phase) == [3, 3]


def test_a_processor_reads_its_own_words_back(routed) -> None:
    phase = routed([Stream("self", 0, (0,)), Stream("both", 1, (1, 0))], mesh(2), 12)
    assert min(words(phase)) >= 1
    first = phase.chains[0].vfsms
    assert [(v.source.kind, v.destination.kind) for v in first] == [("inject", "deliver")]


def test_a_path_is_kept_and_the_last_leg_of_a_fork_delivers(routed) -> None:
    path = (0, 3, 4, 1, 2)
    phase = routed([Stream("snake", 0, (4, 2), path=path)], mesh(3, 2), 8)
    assert list(dict.fromkeys(v.node for v in phase.chains[0].vfsms)) == list(path)
    legs = [v for v in phase.chains[0].vfsms if v.node == 4]
    assert [(v.type, v.destination.kind) for v in legs] == [(MoveType.MOVE, "link"), (MoveType.FORK, "deliver")]
    assert legs[1].source == legs[0].destination


def test_forbidden_writes_are_kept_free(routed) -> None:
    forbidden = [(0, 1, slot) for slot in range(16) if slot % 4]
    assert words(routed([Stream("a", 0, (1,))], mesh(2), 16, forbidden=forbidden)) == [4]


def test_a_stream_goes_round_what_is_forbidden(routed) -> None:
    wall = [(0, 1, slot) for slot in range(8)]
    with pytest.raises(RoutingError, match=r"no slots found for one word of every stream in 8 slots"):
        route_phase([Stream("a", 0, (1,))], mesh(2), CHIP, period=8, forbidden=wall)
    phase = routed([Stream("a", 0, (1,))], mesh(2, 2), 8, forbidden=wall)
    assert {v.node for v in phase.chains[0].vfsms} == {0, 1, 2, 3}


def test_the_last_phase_needs_no_slot_for_reprogramming(routed, patterns) -> None:
    streams = patterns.neighbours(mesh(3))
    assert set(words(routed(streams, mesh(3), 8, phase_change=False))) == {4}
    assert set(words(routed(streams, mesh(3), 8))) == {3}


def test_aliased_wires_carry_one_direction_a_slot(routed) -> None:
    streams = [Stream("there", 0, (1,), chains=2), Stream("back", 1, (0,), chains=2)]
    assert words(routed(streams, mesh(2), 8, shape=NodeShape(aliased_handshake=True))) == [4, 4]
    assert min(words(routed(streams, mesh(2), 8))) >= 6


@pytest.mark.parametrize("pipelines", [1, 2, 3, 4])
def test_more_pipelines_carry_more(routed, patterns, pipelines: int) -> None:
    shape = NodeShape(pipelines=pipelines)
    phase = routed(patterns.neighbours(mesh(4)), mesh(4), 16, shape=shape)
    assert min(words(phase)) >= min(8, (16 * pipelines - 1) // 4 - (pipelines == 1))


def test_two_links_between_two_nodes_are_both_used(routed) -> None:
    streams = [Stream("a", 0, (1,), chains=4)]
    once = routed(streams, graph(2, [(0, 1)]), 8, shape=NodeShape(pipelines=3))
    twice = routed(streams, graph(2, [(0, 1), (0, 1)]), 8, shape=NodeShape(pipelines=3))
    assert words(once) == [8]
    assert words(twice)[0] > 8


def test_a_torus_of_two_has_two_links(routed, patterns) -> None:
    routed(patterns.neighbours(torus(2, 2)), torus(2, 2), 12)


def test_every_period_from_two_up_is_served(routed) -> None:
    for period in range(2, 18):
        phase = routed([Stream("there", 0, (2,)), Stream("back", 2, (0,))], mesh(3), period)
        assert min(words(phase)) >= 1


def test_no_streams_make_an_empty_phase(routed) -> None:
    assert routed([], mesh(2, 2), 8).chains == ()


# Few VFSMs and registers ------------------------------------------------------------------------------------------------


def test_a_stream_is_split_no_further_than_registers_allow(routed) -> None:
    streams = [Stream("a", 0, (1,), chains=9)]
    phase = routed(streams, mesh(2), 18, shape=NodeShape(registers=5))
    assert len(phase.chains) <= 3


def test_four_vfsms_a_pipeline_are_enough_for_two_streams(routed) -> None:
    streams = [Stream("there", 0, (2,)), Stream("back", 2, (0,))]
    phase = routed(streams, mesh(3), 8, shape=NodeShape(vfsms=4))
    assert max(v.number for chain in phase.chains for v in chain.vfsms) <= 3


# The same everywhere ----------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_routes(routed, patterns) -> None:
    streams = patterns.multicasts(mesh(3, 3), 5, 6, 4, 2)
    first, again = (routed(streams, mesh(3, 3), 12, seed=3) for _ in range(2))
    assert first == again
    assert first.chains == again.chains


def test_the_result_does_not_depend_on_hash_order() -> None:
    script = (
        "from pointsman.network import mesh\n"
        "from numesh.shape import NodeShape\n"
        "from pointsman.streams.router import route_phase\n"
        "from pointsman.streams.stream import Stream\n"
        "streams = [Stream(f'x{i}', i, ((i * 4) % 9,), keep_in=frozenset(range(9)), group='ab'[i % 2]) for i in range(9)]\n"
        "print(route_phase(streams, mesh(3, 3), NodeShape(), period=8, seed=1).chains)\n"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(printed) == 1


def test_progress_is_told_in_lines(patterns) -> None:
    told: list[str] = []
    route_phase(patterns.circular_shift(range(3)), mesh(3), CHIP, period=4, progress=told.append)
    assert told
    assert all("slots, words" in line for line in told)


def test_more_effort_never_loses_the_words_of_a_short_period(routed, patterns) -> None:
    few = routed(patterns.circular_shift(range(5)), mesh(5), 12, effort=0.5)
    many = routed(patterns.circular_shift(range(5)), mesh(5), 12, effort=3.0)
    assert min(words(many)) >= 6
    assert min(words(few)) >= 1
