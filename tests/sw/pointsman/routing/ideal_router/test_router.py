"""The ideal router: on random problems against judge, bounds and exact answers, and at the marks."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import networkx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pointsman.artifacts.routes.file import RouteProblem, RouteStream, make_problem
from pointsman.artifacts.routes.routes import directed
from pointsman.errors import PointsmanError
from pointsman.network import graph, mesh, torus
from pointsman.network.lattice import diamond
from pointsman.routing.errors import RoutingError
from pointsman.routing.ideal_router import router as ideal
from pointsman.routing.ideal_router.exact import exact_periods
from pointsman.routing.ideal_router.router import route_ideal
from pointsman.routing.options import RouteOptions
from pointsman.verify.routes import check_ideal

QUIET = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@st.composite
def problems(draw: st.DrawFn) -> RouteProblem:
    """A mesh, torus or directed graph, some links and a node dead, and streams that can be routed."""
    dead_links: set[tuple[int, int]] = set()
    if draw(st.booleans()):
        nodes = draw(st.integers(2, 9))
        pairs = [(u, v) for u in range(nodes) for v in range(nodes) if u != v]
        topology, extra = directed(nodes, draw(st.lists(st.sampled_from(pairs), unique=True, max_size=3 * nodes)))
        dead_links |= extra
    else:
        size = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3).filter(lambda s: prod(s) >= 2))
        topology = draw(st.sampled_from([mesh, torus]))(*size)
    bare = make_problem(topology, [], dead_links=sorted(dead_links))
    if bare.links:
        dead_links |= set(draw(st.lists(st.sampled_from(bare.links), max_size=3)))
    dead_nodes = set(draw(st.lists(st.integers(0, bare.nodes - 1), max_size=1)))
    bare = make_problem(topology, [], dead_nodes=dead_nodes, dead_links=sorted(dead_links))
    streams = []
    for _ in range(draw(st.integers(0, 8))):
        source = draw(st.integers(0, bare.nodes - 1))
        reached = [node for node, hops in enumerate(bare.distances(source)) if hops > 0]
        if reached and source not in dead_nodes:
            ends = draw(st.lists(st.sampled_from(reached), unique=True, min_size=1, max_size=4))
            streams.append(RouteStream(source, tuple(ends), words=draw(st.integers(1, 3))))
    return replace(bare, streams=tuple(streams), buffers=draw(st.booleans()))


def all_to_all(topology) -> RouteProblem:
    pairs = [(a, b) for a in range(topology.nodes) for b in range(topology.nodes) if a != b]
    return make_problem(topology, [RouteStream(a, (b,)) for a, b in pairs])


def random_unicast(seed: int, topology, most: int) -> RouteProblem:
    chance = np.random.default_rng(seed)
    streams = []
    for _ in range(int(chance.integers(2, most))):
        a, b = chance.choice(topology.nodes, 2, replace=False).tolist()
        streams.append(RouteStream(a, (b,), words=int(chance.integers(1, 4))))
    return make_problem(topology, streams)


def judged(problem: RouteProblem, **options):
    result = route_ideal(problem, RouteOptions(**options))
    report = check_ideal(problem, result)
    assert report.ok, report.render()
    if result.bound is not None:
        assert result.period >= result.bound.value
    return result


@QUIET
@given(problems())
def test_random_problems_are_routed_as_the_judge_wants_and_not_below_the_bound(problem):
    result = judged(problem, effort=0.01)
    assert [len(stream.words) for stream in result.streams] == [stream.words for stream in problem.streams]


@pytest.mark.parametrize(
    "seeds", [range(32), pytest.param(range(32, 400), marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_small_random_problems_reach_the_exact_answer(seeds):
    networks = (mesh(3, 2), torus(3, 3), mesh(2, 2, 2), torus(4))
    problems = [random_unicast(seed, networks[seed % 4], 12) for seed in seeds]
    above = 0
    for problem, exact in zip(problems, exact_periods(problems), strict=True):
        assert exact is not None
        found = judged(problem, effort=0.005, bounds=False).period
        # Not below: ways more than two links longer than the shortest help neither.
        assert found >= exact
        above += found > exact
    assert above == 0


def test_all_to_all_reaches_the_bound_where_it_is_known_to_be_reachable():
    tori = [(torus(3, 3), 8), (torus(4, 4), 15), (torus(5, 5), 24)]
    meshes = [
        (mesh(3, 3), 8),
        (mesh(4, 4), 16),
        (mesh(5, 5), 30),
        (mesh(7, 7), 84),
        (mesh(9, 9), 180),
        (mesh(7, 9), 140),
    ]
    for topology, period in (*tori, *meshes):
        result = judged(all_to_all(topology))
        assert result.period == period, topology
        assert result.bound.value == period


@pytest.mark.parametrize(
    "topology", [mesh(1, 6), mesh(5, 3), torus(5), torus(2, 2), torus(3, 3, 3), mesh(4, 6), torus(6, 4), diamond(2)]
)
def test_all_to_all_on_other_networks_ends_near_the_bound(topology):
    result = judged(all_to_all(topology), effort=0.03)
    assert result.period <= result.bound.value + max(1, 0.03 * result.bound.value)


@pytest.mark.slow
def test_large_sets_without_symmetry_end_near_the_bound():
    chance = np.random.default_rng([1, 100, 90, 400])
    streams = [
        RouteStream(a, (b,), words=int(chance.integers(1, 6)))
        for a in range(100)
        for b in range(100)
        if a != b and chance.random() < 0.9
    ]
    result = judged(make_problem(torus(10, 10), streams))
    assert result.period <= 1.01 * result.bound.value


def test_multicast_to_everyone_shares_links():
    problem = make_problem(mesh(3, 3), [RouteStream(a, tuple(b for b in range(9) if b != a)) for a in range(9)])
    result = judged(problem, effort=0.005)
    # Every node takes 8 words; nine separate unicast sets would need far more.
    assert result.period <= 10
    links = sum(1 for stream in result.streams for move in stream.words[0] if None not in (move[0], move[2]))
    assert links == 9 * 8


def test_buffers_help_where_slots_clash():
    # Two words that must swap places on a line of two links each, in a period of one slot: no clash, with or without.
    problem = make_problem(mesh(4), [RouteStream(0, (3,), words=2), RouteStream(1, (3,)), RouteStream(2, (3,))])
    assert judged(problem).period == 4
    assert judged(replace(problem, buffers=True)).period == 4


def test_a_detour_is_taken_where_it_helps():
    problem = make_problem(mesh(2, 2), [RouteStream(0, (1,), words=2), RouteStream(2, (3,), words=1)])
    assert judged(problem).period == 2
    # Four words over one link would need four slots; two links lead out of the source.
    far = make_problem(torus(3, 3), [RouteStream(0, (1,), words=4)])
    assert judged(far).period == 4


def test_the_same_seed_gives_the_same_answer_and_another_seed_may_not():
    problem = random_unicast(3, mesh(4, 4), 60)
    first, second, other = (judged(problem, seed=seed, effort=0.02) for seed in (1, 1, 2))
    assert first.streams == second.streams
    assert other.streams != first.streams


def test_a_length_that_is_given_is_kept_and_one_that_is_too_small_is_refused():
    problem = make_problem(mesh(3), [RouteStream(0, (2,), words=3), RouteStream(1, (2,), words=2)])
    assert judged(problem, length=9).period == 9
    with pytest.raises(RoutingError, match=r"4 slots are too few, 5 are needed \(ejection\): node 2 takes 5"):
        route_ideal(problem, RouteOptions(length=4))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"effort": 0}, "effort must be 0.001 to 1000, not 0"),
        ({"effort": float("nan")}, "effort must be"),
        ({"seed": -1}, "a seed must be 0 to 4294967295, not -1"),
        ({"length": 0}, "a length must be 1 to 65536 slots, not 0"),
        ({"length": 10**9}, "a length must be"),
    ],
)
def test_options_outside_are_refused(options, message):
    with pytest.raises(PointsmanError, match=message):
        route_ideal(make_problem(mesh(2), [RouteStream(0, (1,))]), RouteOptions(**options))


def test_nothing_to_route_is_an_answer():
    assert judged(make_problem(mesh(2), [])).period == 1


def test_a_time_limit_still_gives_an_answer():
    judged(random_unicast(5, mesh(4, 4), 80), time_limit=0.001)


def test_more_words_than_a_schedule_can_hold_are_refused():
    problem = make_problem(mesh(2), [RouteStream(0, (1,), words=100_000)])
    with pytest.raises(RoutingError, match="at most 65536 slots"):
        route_ideal(problem)


@pytest.mark.slow
@pytest.mark.parametrize("side", range(6, 11))
@pytest.mark.parametrize("make", [mesh, torus])
def test_all_to_all_ends_at_the_bound_or_one_above(make, side):
    result = judged(all_to_all(make(side, side)))
    assert result.period <= result.bound.value + (make is torus)


def test_large_problems_without_symmetry_go_down_slot_by_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(5)
    pairs = [(a, b) for a in range(16) for b in range(16) if a != b and chance.random() < 0.5]
    problem = make_problem(mesh(4, 4), [RouteStream(a, (b,), words=int(chance.integers(1, 5))) for a, b in pairs])
    usual = route_ideal(problem)
    monkeypatch.setattr(ideal, "SECOND_WORK", 1)
    result = route_ideal(problem)
    assert check_ideal(problem, result).ok
    assert result.period <= usual.period + 2
    assert result.bound is not None
    assert result.period <= 1.05 * result.bound.value
    # The same problem and seed: the same answer.
    assert route_ideal(problem).streams == result.streams
    with monkeypatch.context() as less:
        less.setattr(ideal, "LARGE_PASSES", 1)
        less.setattr(ideal, "FEW_PASSES", 1)
        quick = route_ideal(problem)
    assert check_ideal(problem, quick).ok
    assert quick.period >= result.period


def test_small_problems_get_no_more_passes_than_help(monkeypatch: pytest.MonkeyPatch) -> None:
    # Two words from each node to the opposite number, one way round: seven slots, where six would fill every link.
    topology, extra = directed(7, [(0, 1), (1, 5), (2, 3), (3, 0), (4, 6), (5, 4), (6, 2)])
    streams = [RouteStream(node, (6 - node,), words=2) for node in range(7) if node != 3]
    problem = make_problem(topology, streams, dead_links=sorted(extra))
    work = []

    def counted(*arguments):
        outcome = attempt(*arguments)
        work.append(outcome.work)
        return outcome

    attempt = ideal.try_attempt
    monkeypatch.setattr(ideal, "try_attempt", counted)
    monkeypatch.setattr(ideal, "MOST_PASSES", 3_000)
    result = route_ideal(problem, RouteOptions(bounds=False))
    assert check_ideal(problem, result).ok
    assert result.period == 7
    assert sum(work) < ideal.SECOND_WORK / 10


def test_the_linear_program_ends_the_search_for_periods_below_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made = networkx.gnm_random_graph(30, 45, seed=5)
    if not networkx.is_connected(made):
        made = networkx.gnm_random_graph(30, 45, seed=105)
    streams = [RouteStream(a, (b,)) for a in range(30) for b in range(30) if a != b]
    spent: list[int] = []
    attempt = ideal.try_attempt
    monkeypatch.setattr(ideal, "try_attempt", lambda *given: spent.append((made := attempt(*given)).work) or made)
    result = route_ideal(make_problem(graph(30, list(made.edges)), streams))
    assert result.bound is not None
    assert (result.period, result.bound.kind) == (result.bound.value, "linear program")
    assert result.bounds[1].value < 0.6 * result.period
    assert sum(spent) < 500_000_000, "with all periods above the cut tried it were six times as much"


def test_thin_meshes_are_solved_by_detours_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = [RouteStream(a, (b,)) for a in range(18) for b in range(18) if a != b]
    spent: list[int] = []
    attempt = ideal.try_attempt
    monkeypatch.setattr(ideal, "try_attempt", lambda *given: spent.append((made := attempt(*given)).work) or made)
    assert route_ideal(make_problem(mesh(2, 9), streams)).period == 40
    assert sum(spent) < 500_000_000, "by shortest ways first it were ten times as much"
