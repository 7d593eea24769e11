"""All-gather round a cycle: each word goes round once, and every link of the cycle carries a word in each slot.

With a cycle through all n nodes every word starts at once; the word of the node d places before comes in slot d, so each node
takes a word in each of n - 1 slots, which no schedule beats. Nodes beside the cycle hang on it, by a link or a tree: they take
copies from their node of the cycle, and their own words enter the cycle there. If all hang by a link, starts are known that take
a slot more than there are nodes, or a few (`turns`; n slots for one node beside the cycle). Otherwise, and if that is not the
bound, the words are packed.
"""

from __future__ import annotations

from itertools import count, pairwise

import numpy as np

from pointsman.artifacts.routes.collectives import CollectiveWord, Words
from pointsman.artifacts.routes.routes import RouteProblem

from .cycles import cycle_through
from .packing import pack
from .schedule import Schedule
from .turns import turns_of


def around(net: RouteProblem, nodes: tuple[int, ...], least: int, seed: int = 0) -> Schedule | None:
    """All-gather of a word a node, in ``least`` slots or more; None if there is no cycle that all others are joined to both
    ways."""
    cycle = cycle_through(net)
    length = len(cycle)
    if length < 2:
        return None
    links = set(net.links)
    place = {node: at for at, node in enumerate(cycle)}
    # Nodes beside the cycle in the order of their distance, each with the node before it on the way from the cycle.
    before: dict[int, int] = {}
    queue = list(cycle)
    for node in queue:
        for other in net.following[node]:
            if other not in place and other not in before and (other, node) in links:
                before[other] = node
                queue.append(other)
    if length + len(before) < len(nodes):
        return None
    ring = np.array(cycle, np.int64)
    pendants = list(before)
    turns = np.arange(length)

    def way_in(node: int) -> list[int]:
        """From ``node`` to the cycle."""
        way = [node]
        while way[-1] in before:
            way.append(before[way[-1]])
        return way

    def moves_of(index: int) -> np.ndarray:
        """Of a word that starts in slot 0; first those of the nodes of the cycle, then of those beside it."""
        way = way_in(cycle[index] if index < length else pendants[index - length])
        slot, entry = len(way) - 1, place[way[-1]]
        along = ring[(entry + turns) % length]
        when = dict(zip(way, range(slot), strict=False))
        entered = [(u, when[u], v) for u, v in pairwise(way)]
        hanging = []
        for node, parent in before.items():
            if node not in when:
                late = when[parent] if parent in when else slot + (place[parent] - entry) % length
                when[node] = late + 1
                hanging.append((parent, late, node))
        whole = np.concatenate(
            [
                np.array(entered, np.int64).reshape(-1, 3),
                np.stack([along[:-1], slot + turns[:-1], along[1:]], axis=1),
                np.array(hanging, np.int64).reshape(-1, 3),
            ]
        )
        return whole[np.argsort(whole[:, 1], kind="stable")]

    if not pendants:
        period, starts = length - 1, [0] * length
    else:
        known = _leaves_in_turn(cycle, before, max(least, len(nodes)))
        period, starts = known if known is not None else (0, [])
        if known is None or period > least:
            links_at = {link: at for at, link in enumerate(net.links)}
            cells = [_cells(moves_of(index), links_at) for index in range(len(nodes))]
            most = None if known is None else period - 1
            packed = pack(cells, len(links_at) + net.nodes, least, most=most, seed=seed)
            if packed is not None:
                period, starts = packed

    def make(index: int) -> CollectiveWord:
        moves = moves_of(index) + np.array((0, starts[index], 0))
        own = int(moves[0, 0])
        return CollectiveWord((own, 0), own, starts[index], outward=moves, destinations=moves[:, 2])

    method = f"cycle of {length} nodes" + f", {len(pendants)} beside it" * bool(pendants)
    return Schedule(period, Words(len(nodes), make), method)


def _leaves_in_turn(cycle: list[int], before: dict[int, int], least: int) -> tuple[int, list[int]] | None:
    """A period of at least ``least`` slots and starts, those of the cycle first, by `turns_of`; None if a node is farther from
    the cycle than a link."""
    if any(node in before for node in before.values()):
        return None
    leaves = {node: [leaf for leaf, other in before.items() if other == node] for node in cycle}
    firsts = [at for at, node in enumerate(cycle) if leaves[node]]
    for period in count(least):
        for first in firsts:
            turned = [*cycle[first:], *cycle[:first]]
            turns = turns_of([len(leaves[node]) for node in turned], period)
            if turns is None:
                continue
            starts: dict[int, int] = {}
            for at, node in enumerate(turned):
                own = [turn - len(cycle) * (at > 0) + at for turn in turns[at]]
                starts |= {leaf: (slot - 1) % period for leaf, slot in zip(leaves[node], own, strict=False)}
                starts[node] = own[-1] % period
            return period, [starts[node] for node in (*cycle, *before)]
    raise AssertionError("a longer period always has one ring with a free place")


def _cells(moves: np.ndarray, links: dict[tuple[int, int], int]) -> np.ndarray:
    """Links and ejection ports that a word uses, each with its slot, for `pack`."""
    crossed = [(links[before, after], slot) for before, slot, after in moves.tolist()]
    taken = [(len(links) + after, slot + 1) for _, slot, after in moves.tolist()]
    return np.array(crossed + taken, np.int64)
