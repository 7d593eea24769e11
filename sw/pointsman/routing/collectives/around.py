"""All-gather round a cycle: each word goes round once, and every link of the cycle carries a word in each slot.

With a cycle through all n nodes every word starts at once; the word of the node d places before comes in slot d, so each node
takes a word in
each of n - 1 slots, which no schedule beats. Nodes beside the cycle hang on it: each takes copies from its node of the cycle
one slot
later, and its own word enters the cycle there. With one such node, on a cycle of m, period m + 1 will do: what goes round the
cycle slot by
slot passes all m(m + 1) pairs of a place and a slot before it comes to the first again, and words follow each other on this
one long way, that from
the place before each time. With more of them the words are packed.
"""

from __future__ import annotations

import numpy as np

from pointsman.artifacts.routes.collectives import CollectiveWord, Words
from pointsman.artifacts.routes.routes import RouteProblem

from .cycles import cycle_through
from .packing import pack
from .schedule import Schedule


def around(net: RouteProblem, nodes: tuple[int, ...], least: int, seed: int = 0) -> Schedule | None:
    """All-gather of a word a node, in ``least`` slots or more; None if a node is neither on the cycle nor joined to
    it both ways."""
    cycle = cycle_through(net)
    on_cycle = set(cycle)
    links = set(net.links)
    hanging: dict[int, int] = {}
    for node in nodes:
        if node in on_cycle:
            continue
        at = [place for place, other in enumerate(cycle) if (node, other) in links and (other, node) in links]
        if not at:
            return None
        hanging[node] = at[0]
    length = len(cycle)
    if length < 2:
        return None
    ring = np.array(cycle, np.int64)
    pendants = sorted(hanging)
    tails = np.array([cycle[hanging[node]] for node in pendants], np.int64)
    attached = np.array([hanging[node] for node in pendants], np.int64)
    leaves = np.array(pendants, np.int64)
    turns = np.arange(length)

    def moves_of(index: int) -> np.ndarray:
        """Of a word that starts in slot 0; first those of the nodes of the cycle, then of those beside it."""
        entry, slot = (index, 0) if index < length else (hanging[pendants[index - length]], 1)
        own = cycle[index] if index < length else pendants[index - length]
        along = ring[(entry + turns) % length]
        moves = [np.array([(own, 0, cycle[entry])] * slot, np.int64).reshape(-1, 3)]
        moves.append(np.stack([along[:-1], slot + turns[:-1], along[1:]], axis=1))
        other = leaves != own
        if other.any():
            late = slot + (attached[other] - entry) % length
            moves.append(np.stack([tails[other], late, leaves[other]], axis=1))
        whole = np.concatenate(moves)
        return whole[np.argsort(whole[:, 1], kind="stable")]

    if not pendants:
        period, starts = length - 1, [0] * length
    elif len(pendants) == 1:
        period, entrance = length + 1, hanging[pendants[0]]
        starts = [(entrance - place) % length * (length - 1) % period for place in range(length)]
        starts.append((length * length - 1) % period)
    else:
        links_at = {link: at for at, link in enumerate(net.links)}
        cells = [_cells(moves_of(index), links_at) for index in range(len(nodes))]
        packed = pack(cells, len(links_at) + net.nodes, least, seed=seed)
        assert packed is not None
        period, starts = packed

    def make(index: int) -> CollectiveWord:
        moves = moves_of(index) + np.array((0, starts[index], 0))
        own = int(moves[0, 0])
        return CollectiveWord((own, 0), own, starts[index], outward=moves, destinations=moves[:, 2])

    method = f"cycle of {length} nodes" + f", {len(pendants)} beside it" * bool(pendants)
    return Schedule(period, Words(len(nodes), make), method)


def _cells(moves: np.ndarray, links: dict[tuple[int, int], int]) -> np.ndarray:
    """Links and ejection ports that a word uses, each with its slot, for `pack`."""
    crossed = [(links[before, after], slot) for before, slot, after in moves.tolist()]
    taken = [(len(links) + after, slot + 1) for _, slot, after in moves.tolist()]
    return np.array(crossed + taken, np.int64)
