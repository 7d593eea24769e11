"""Both ways of moving words until no two share a cell."""

from __future__ import annotations

from collections import Counter

import pytest

from pointsman.artifacts.routes.routes import RouteProblem, RouteStream
from pointsman.network import mesh, torus
from pointsman.routing.ideal_router.model import net_of, scratch_of, words_of
from pointsman.routing.ideal_router.negotiate import eject, negotiate
from pointsman.routing.ideal_router.symmetry import no_symmetry

METHODS = ["negotiate", "eject"]
RING = RouteProblem(torus(4, 4), tuple(RouteStream(node, ((node + 5) % 16,)) for node in range(16)))
TREES = RouteProblem(mesh(3, 3), (RouteStream(0, (2, 8)), RouteStream(4, (0, 6), words=2), RouteStream(7, (1,))))


def run(problem: RouteProblem, period: int, method: str, seed: int = 1, work: int = 20_000_000):
    """What is left, the work, and the words."""
    net, group = net_of(problem), no_symmetry(problem)
    rows, n_rows = group.rows(problem, period)
    words, _ = words_of(problem, net, group, rows, period, 0)
    room = scratch_of(problem, net, period, 0, seed)
    common = (net, rows, words, room, period, n_rows, 0, problem.buffers, work)
    left, done = negotiate(*common, 1.0, 1.05, 8) if method == "negotiate" else eject(*common)
    return left, done, words, rows


def cells_of(words, word: int) -> list[int]:
    first = int(words.cell_first[word])
    return words.cells[first : first + int(words.cell_size[word])].tolist()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("problem", "period"), [(RING, 3), (TREES, 6)], ids=["ring", "trees"])
def test_no_cell_is_used_twice_and_each_word_uses_those_of_its_links_and_ports(
    problem: RouteProblem, period: int, method: str
) -> None:
    left, _, words, rows = run(problem, period, method)
    assert left == 0
    used = Counter(cell for word in range(len(words.source)) for cell in cells_of(words, word))
    assert set(used.values()) == {1}
    n_links, nodes = len(problem.links), problem.nodes
    for word in range(len(words.source)):
        start, span = int(words.start[word]), slice(words.first[word], words.first[word] + words.size[word])
        ends = words.ends[words.end_first[word] : words.end_first[word + 1]].tolist()
        wanted = [(n_links + int(words.source[word]), start)]
        for link, depth in zip(words.links[span].tolist(), words.depth[span].tolist(), strict=True):
            wanted.append((link, start + depth))
            head = problem.links[link][1]
            if head in ends:
                wanted.append((n_links + nodes + head, start + depth + 1))
        expected = sorted(int(rows.row[resource]) * period + slot % period for resource, slot in wanted)
        assert sorted(cells_of(words, word)) == expected


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_places(method: str) -> None:
    first, again, other = (run(RING, 4, method, seed)[2] for seed in (1, 1, 2))
    assert (first.start == again.start).all()
    assert (first.links == again.links).all()
    assert (first.start != other.start).any()


@pytest.mark.parametrize("method", METHODS)
def test_a_word_that_has_no_way_is_told(method: str) -> None:
    cut = RouteProblem(mesh(3), (RouteStream(0, (1, 2)),), dead_links=frozenset({(1, 2)}))
    assert run(cut, 4, method)[0] == -1


@pytest.mark.parametrize("method", METHODS)
def test_more_words_than_slots_are_given_up_when_the_work_is_used_up(method: str) -> None:
    crowd = RouteProblem(mesh(3), tuple(RouteStream(node, (1,)) for node in (0, 2, 0)))
    left, work, *_ = run(crowd, 2, method, work=20_000)
    assert left == 1, "two words can be taken in two slots"
    assert 20_000 < work < 100_000
