"""Laws that every router of whole networks keeps, read from the moves of its answer alone."""

from __future__ import annotations

from collections import Counter

import pytest

from pointsman.api.judged import judge_route
from pointsman.artifacts.routes.file import make_problem
from pointsman.artifacts.routes.routes import RouteProblem, RouteResult, RouteStream
from pointsman.cli.commands.route import route
from pointsman.network import mesh, torus
from pointsman.network.lattice import diamond
from pointsman.routing.options import RouteOptions
from pointsman.routing.routers import ROUTERS

QUICK = RouteOptions(seed=3, effort=0.01)
PROBLEMS = {
    "1x5, a row to all": make_problem(mesh(1, 5), [RouteStream(0, (1, 2, 3, 4)), RouteStream(4, (0,), words=2)]),
    "2 nodes": make_problem(mesh(2), [RouteStream(0, (1,)), RouteStream(1, (0,))]),
    "3x5, crossing": make_problem(mesh(3, 5), [RouteStream(n, (14 - n,)) for n in range(15) if n != 7]),
    "3x5, dead nodes": make_problem(mesh(3, 5), [RouteStream(0, (14, 12)), RouteStream(2, (0,))], dead_nodes=[4, 7]),
    "torus, shift": make_problem(torus(4, 4), [RouteStream(n, ((n + 5) % 16,)) for n in range(16)]),
    "diamond, gather": make_problem(diamond(3), [RouteStream(n, (0,), weight=1 + n % 2) for n in range(1, 6)]),
}


def test_the_command_offers_every_router() -> None:
    """Guard: the laws below are asked of what users can choose."""
    (option,) = [parameter for parameter in route.params if parameter.name == "router"]
    assert list(option.type.choices) == list(ROUTERS) == ["numesh", "ideal"]  # type: ignore[attr-defined]


@pytest.fixture(scope="module", params=[(name, case) for name in ROUTERS for case in PROBLEMS], ids="/".join)
def routed(request: pytest.FixtureRequest) -> tuple[RouteProblem, RouteResult]:
    name, case = request.param
    result = ROUTERS[name](PROBLEMS[case], QUICK)
    assert result.router == name
    return PROBLEMS[case], result


def test_the_judge_is_content(routed: tuple[RouteProblem, RouteResult]) -> None:
    judge_route(*routed)


def test_every_word_goes_over_links_from_its_source_to_each_destination_once(
    routed: tuple[RouteProblem, RouteResult],
) -> None:
    problem, result = routed
    assert len(result.streams) == len(problem.streams)
    for stream, words in zip(problem.streams, result.streams, strict=True):
        assert words.words
        assert words.bandwidth == pytest.approx(len(words.words) / result.period)
        for word in words.words:
            (before, _, source, *_), *moves = word
            assert (before, source) == (None, stream.source)
            reached = [source]
            delivered = []
            for node, _, to, *_ in moves:
                assert node in reached
                if to is None:
                    delivered.append(node)
                elif to != node:
                    assert (node, to) in problem.links
                    reached.append(to)
            assert sorted(delivered) == sorted(stream.destinations)
            assert len(set(reached)) == len(reached)


def test_a_link_or_a_vfsm_has_one_word_in_a_slot(routed: tuple[RouteProblem, RouteResult]) -> None:
    """In the ideal model, also a node's port in and its port out; on the node, a pipeline runs one VFSM at a time."""
    _, result = routed
    uses: Counter[tuple[object, ...]] = Counter()
    for words in result.streams:
        for word in words.words:
            for node, slot, to, pipeline, _ in word:
                assert 0 <= slot < result.period
                if to is not None and node not in (None, to):
                    uses["link", node, to, slot] += 1
                elif node != to and result.router == "ideal":
                    uses["in" if node is None else "out", to if node is None else node, slot] += 1
                if pipeline is not None:
                    uses["vfsm", node, pipeline, slot] += 1
    assert set(uses.values()) == {1}


def test_no_answer_is_better_than_its_bound(routed: tuple[RouteProblem, RouteResult]) -> None:
    problem, result = routed
    assert result.bound is not None
    if result.router == "ideal":
        assert result.period >= result.bound.value
        assert [len(words.words) for words in result.streams] == [stream.words for stream in problem.streams]
    else:
        shares = [words.bandwidth / s.weight for words, s in zip(result.streams, problem.streams, strict=True)]
        assert min(shares) <= result.bound.value + 1e-9


@pytest.mark.parametrize("name", ROUTERS)
def test_the_same_seed_gives_the_same_answer_and_a_length_is_kept(name: str) -> None:
    problem = PROBLEMS["3x5, crossing"]
    options = RouteOptions(length=12, seed=5, effort=0.01)
    first, second = (ROUTERS[name](problem, options) for _ in range(2))
    assert (first.period, first.streams, first.nodes) == (second.period, second.streams, second.nodes)
    assert first.period == 12
