"""A problem made into arrays, and placed arrays made into routed words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pointsman.artifacts.routes.routes import Move, RoutedWords, RouteProblem, Word
from pointsman.routing.pathfinder.distances import hops_to

from .arrays import Net, Rows, WordArrays, WordScratch
from .symmetry import Symmetry


@dataclass(frozen=True)
class Placement:
    """A schedule: the words of each leader stream (`Symmetry`), each word as (start slot, links, depths)."""

    period: int
    symmetry: Symmetry
    words: dict[int, tuple[tuple[int, tuple[int, ...], tuple[int, ...]], ...]]


def net_of(problem: RouteProblem) -> Net:
    pairs = np.array(problem.links, np.int32).reshape(-1, 2)
    nodes = problem.nodes
    tails, heads = pairs[:, 0].copy(), pairs[:, 1].copy()
    entering = np.argsort(heads, kind="stable").astype(np.int32)
    first = np.searchsorted(tails, np.arange(nodes + 1)).astype(np.int32)
    in_first = np.searchsorted(heads[entering], np.arange(nodes + 1)).astype(np.int32)
    hops = np.full((nodes, nodes), -1, np.int16)
    alive, queue = np.ones(nodes, np.bool_), np.empty(nodes, np.int32)
    for end in sorted({node for stream in problem.streams for node in stream.destinations}):
        hops_to(end, in_first, entering, tails, alive, queue, hops[end])
    return Net(first, heads, tails, in_first, entering, hops)


def words_of(
    problem: RouteProblem, net: Net, symmetry: Symmetry, rows: Rows, period: int, extra: int
) -> tuple[WordArrays, list[int]]:
    """Arrays for the leaders' words, without places; also the stream of each word."""
    streams = [index for index, leader in enumerate(symmetry.leader) if leader == index]
    owner = [index for index in streams for _ in range(problem.streams[index].words)]
    source: list[int] = []
    ends: list[int] = []
    end_first, capacity, cells = [0], [0], [0]
    n_links, nodes = len(problem.links), problem.nodes
    for index in owner:
        stream = problem.streams[index]
        source.append(stream.source)
        ends.extend(stream.destinations)
        end_first.append(len(ends))
        if len(stream.destinations) == 1:
            room = int(net.hops[stream.destinations[0], stream.source]) + extra
        else:
            room = nodes
        capacity.append(capacity[-1] + room)
        ports = [n_links + stream.source, *(n_links + nodes + node for node in stream.destinations)]
        cells.append(cells[-1] + room + sum(period // int(rows.fold[port]) for port in ports))
    count = len(owner)
    zeros = np.zeros
    words = WordArrays(
        source=np.array(source, np.int32),
        end_first=np.array(end_first, np.int64),
        ends=np.array(ends, np.int32),
        first=np.array(capacity, np.int64),
        size=zeros(count, np.int32),
        links=zeros(capacity[-1], np.int32),
        depth=zeros(capacity[-1], np.int32),
        start=np.full(count, -1, np.int32),
        cell_first=np.array(cells, np.int64),
        cell_size=zeros(count, np.int32),
        cells=zeros(cells[-1], np.int32),
    )
    return words, owner


def scratch_of(problem: RouteProblem, net: Net, period: int, extra: int, seed: int) -> WordScratch:
    far = int(net.hops.max(initial=0)) + extra + (period if problem.buffers else 0)
    states = min(problem.nodes * (extra + 1), 1 + problem.nodes * (far + 1))
    mixed = np.random.SeedSequence([seed, period, extra]).generate_state(1, np.uint64)[0] | np.uint64(1)
    single = any(len(stream.destinations) == 1 for stream in problem.streams)
    # A state for each link and number of links passed, one for the injection port and one for the ejection port.
    last_links = len(problem.links) * (extra + 1) if single and not problem.buffers else 0
    rows = (last_links + 2, period)
    return WordScratch(
        best=np.zeros((states if single else 1, period), np.int32),
        state_of=np.full((far + 3, problem.nodes), -1, np.int32),
        level_first=np.zeros(far + 4, np.int64),
        state_node=np.zeros(states + 1, np.int32),
        over=np.zeros(rows, np.int32),
        owners=np.zeros(rows, np.int32),
        cost=np.zeros(rows, np.int32),
        over_of=np.full((far + 3 if last_links else 1, len(problem.links)), -1, np.int32),
        last_link=np.zeros(last_links + 2, np.int32),
        path=np.zeros(far + 1, np.int32),
        tree_depth=np.zeros(problem.nodes, np.int64),
        wanted=np.zeros(problem.nodes, np.bool_),
        random=np.array([mixed], np.uint64),
    )


def placement_of(words: WordArrays, owner: list[int], symmetry: Symmetry, period: int) -> Placement:
    placed: dict[int, list[tuple[int, tuple[int, ...], tuple[int, ...]]]] = {}
    for number, stream in enumerate(owner):
        span = slice(words.first[number], words.first[number] + words.size[number])
        placed.setdefault(stream, []).append(
            (int(words.start[number]), tuple(words.links[span].tolist()), tuple(words.depth[span].tolist()))
        )
    return Placement(period, symmetry, {stream: tuple(sorted(found)) for stream, found in placed.items()})


def routed_words(problem: RouteProblem, placement: Placement) -> tuple[RoutedWords, ...]:
    """All streams' words as moves, each word's moves in the order of their slots."""
    period, symmetry = placement.period, placement.symmetry
    members = symmetry.members.tolist()
    answer = []
    for index, stream in enumerate(problem.streams):
        to = members[symmetry.by[index]]
        turn = symmetry.shift(symmetry.by[index], period)
        words = sorted(
            _moves(problem, to, (start + turn) % period, links, depths, frozenset(stream.destinations))
            for start, links, depths in placement.words[symmetry.leader[index]]
        )
        whole = tuple(
            tuple((before, slot % period, after, None, None) for slot, before, after in moves) for moves in words
        )
        answer.append(RoutedWords(len(whole) / period, whole))
    return tuple(answer)


_Timed = tuple[int, int | None, int | None]


def _moves(
    problem: RouteProblem,
    to: list[int],
    start: int,
    links: tuple[int, ...],
    depths: tuple[int, ...],
    ends: frozenset[int],
) -> list[_Timed]:
    hops = [
        (to[problem.links[link][0]], to[problem.links[link][1]], start + depth)
        for link, depth in zip(links, depths, strict=True)
    ]
    source = hops[0][0]
    arrived = {source: start}
    moves: list[_Timed] = [(start, None, source)]
    left = dict.fromkeys((hop[0] for hop in hops), -1)
    for node, after, slot in hops:
        left[node] = max(left[node], slot)
        arrived[after] = slot + 1
        moves.append((slot, node, after))
        if after in ends:
            moves.append((slot + 1, after, None))
    for node, last in left.items():
        moves.extend((slot, node, node) for slot in range(arrived[node], last))
    return sorted(moves, key=lambda move: (move[0], move[1] is not None, move[2] is None, move[1] or 0, move[2] or 0))


__all__ = ["Move", "Placement", "Word", "net_of", "placement_of", "routed_words", "scratch_of", "words_of"]
