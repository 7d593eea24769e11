"""A packing made into a routed phase, into the answer's moves and node tables, and back.

Takes chains (``PackedChain``) in the numbers of the packing problem; gives the types that judge, images and files read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from numesh.codes import FIRST_FREE_VFSM, Codes, MoveType
from pointsman.artifacts.images.images import Images
from pointsman.artifacts.routes.routes import Move, NodeTable, RoutedWords, RouteProblem, RouteResult
from pointsman.routing.streams import Place, RoutedChain, RoutedPhase, RoutedVfsm, Stream

from .arrays import BUFFER, DELIVER, FORK, INJECT
from .arrays import LINK as TO_LINK
from .packing import PackedChain


def assemble_phase(problem: RouteProblem, slots: int, packed: Sequence[PackedChain]) -> RoutedPhase:
    port_of = {}
    for node, ports in enumerate(problem.topology.at_port):
        for port, (other, other_port) in ports.items():
            port_of[node, other] = (port, other_port)
    parts = [0] * len(problem.streams)
    for one in packed:
        parts[one.stream] += 1
    streams = tuple(
        Stream(
            f"s{index}",
            stream.source,
            stream.destinations,
            weight=stream.weight,
            chains=max(1, parts[index]),
            group=f"s{index}",
        )
        for index, stream in enumerate(problem.streams)
    )
    numbers: dict[tuple[int, int], int] = {}
    counts = [0] * len(streams)
    chains = []
    for one in sorted(packed, key=lambda one: one.stream):
        chain = counts[one.stream]
        counts[one.stream] += 1
        chains.append(RoutedChain(one.stream, chain, _vfsms(one, slots, problem, port_of, numbers)))
    return RoutedPhase(problem.shape, problem.topology, slots, streams, tuple(chains))


def _vfsms(
    one: PackedChain,
    slots: int,
    problem: RouteProblem,
    port_of: dict[tuple[int, int], tuple[int, int]],
    numbers: dict[tuple[int, int], int],
) -> tuple[RoutedVfsm, ...]:
    made: list[RoutedVfsm] = []
    for place, offset, link, source, destination, parent in one.ops.tolist():
        node, pipeline = divmod(place, problem.shape.pipelines)
        number = numbers[node, pipeline] = numbers.get((node, pipeline), FIRST_FREE_VFSM - 1) + 1
        kind, origin = MoveType.MOVE, Place("inject")
        before = made[parent] if parent >= 0 else None
        if source == BUFFER and before is not None:
            origin = Place("buffer", before.number)
        elif source == FORK and before is not None:
            kind, origin = MoveType.FORK, before.destination
        elif source != INJECT and before is not None:
            origin = Place("link", port_of[before.node, node][1])
        to = Place("deliver")
        if destination == BUFFER:
            to = Place("buffer", number)
        elif destination == TO_LINK:
            to = Place("link", port_of[problem.links[link]][0])
        elif destination != DELIVER:
            raise AssertionError(destination)
        at = tuple((start + offset) % slots for start in one.starts)
        made.append(RoutedVfsm(node, pipeline, number, kind, origin, to, at, parent))
    return tuple(made)


def words_of(routed: RoutedPhase, stream: int) -> RoutedWords:
    words = []
    for chain in routed.chains_of(stream):
        words += [_word(routed, chain, number) for number in range(chain.words)]
    words.sort(key=lambda word: word[0][1])
    return RoutedWords(len(words) / routed.period, tuple(words))


def _word(routed: RoutedPhase, chain: RoutedChain, number: int) -> tuple[Move, ...]:
    """The moves of word ``number`` of a chain; the first has it at its source a slot before the first VFSM reads it."""
    first = chain.vfsms[0]
    moves: list[Move] = [(None, (first.slots[number] - 1) % routed.period, first.node, None, None)]
    for vfsm in chain.vfsms:
        to: int | None = None
        if vfsm.destination.kind == "buffer":
            to = vfsm.node
        elif vfsm.destination.kind == "link":
            to = routed.topology.at_port[vfsm.node][vfsm.destination.number][0]
        moves.append((vfsm.node, vfsm.slots[number], to, vfsm.pipeline, vfsm.number))
    return tuple(moves)


def node_tables(images: Images) -> tuple[NodeTable, ...]:
    codes = Codes(images.shape)
    idle = ((0,) * images.shape.pipelines,) * images.period
    tables = []
    for node in images.nodes:
        if not node.phases:
            tables.append(NodeTable(idle, ()))
            continue
        part = node.phases[0]
        tables.append(
            NodeTable(
                part.schedule,
                tuple(
                    (
                        rewrite.pipeline,
                        rewrite.vfsm,
                        rewrite.annotation.type.name,
                        codes.name(rewrite.annotation.source),
                        codes.name(rewrite.annotation.destination),
                    )
                    for rewrite in part.annotations
                ),
            )
        )
    return tuple(tables)


def routed_phase(problem: RouteProblem, result: RouteResult) -> RoutedPhase:
    """A routed phase made from the words of a result: words with the same VFSMs are a chain."""
    return assemble_phase(problem, result.period, chains_of(problem, dict(enumerate(result.streams)), result.period))


def chains_of(problem: RouteProblem, streams: Mapping[int, RoutedWords], period: int) -> list[PackedChain]:
    shares: list[PackedChain] = []
    place_of = {pair: index for index, pair in enumerate(problem.links)}
    for index, stream in streams.items():
        chains: dict[tuple[tuple[int, int, int], ...], list[tuple[Move, ...]]] = {}
        for word in stream.words:
            key = tuple((m[0] or 0, m[3] or 0, m[4] or 0) for m in word[1:])
            chains.setdefault(key, []).append(word)
        for words in chains.values():
            shares.append(_packed(index, words, problem, place_of, period))
    return shares


def _packed(
    stream: int,
    words: Sequence[tuple[Move, ...]],
    problem: RouteProblem,
    link_of: dict[tuple[int, int], int],
    period: int,
) -> PackedChain:
    moves = words[0][1:]
    start = moves[0][1]
    rows: list[tuple[int, int, int, int, int, int]] = []
    at: dict[int, int] = {}
    last: dict[int, int] = {}
    offset_of: dict[int, int] = {problem.streams[stream].source: 0}
    for node, slot, to, pipeline, _ in moves:
        assert node is not None
        assert pipeline is not None
        base = offset_of[node]
        offset = base + (slot - start - base) % period
        parent, source = at.get(node, -1), INJECT if node not in at else TO_LINK
        if node in last:
            parent = last[node]
            source = BUFFER if rows[parent][4] == BUFFER else FORK
        destination = DELIVER if to is None else BUFFER if to == node else TO_LINK
        link = link_of[node, to] if to is not None and to != node else -1
        rows.append((node * problem.shape.pipelines + pipeline, offset, link, source, destination, parent))
        last[node] = len(rows) - 1
        if to is not None and to != node:
            at[to] = len(rows) - 1
            offset_of[to] = offset + 1
    return PackedChain(stream, np.array(rows, np.int32), tuple(sorted(word[1][1] for word in words)))
