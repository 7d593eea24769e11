"""Parts on network nodes: quadratic assignment by local search, words times links as short as possible."""

from __future__ import annotations

import numpy as np

from pointsman.artifacts.channels.channels import links_from
from pointsman.errors import PointsmanError
from pointsman.network import Topology

STARTS = 12
"""Random starts besides that in order."""


def placed(words: np.ndarray, topology: Topology, seed: int = 0) -> tuple[np.ndarray, int, int]:
    """A network node for each part, and the sum of words times links before (parts in order) and after.

    Two nodes exchange what is on them as long as the best exchange shortens the sum; the best of several starts is kept.

    Parameters
    ----------
    words : array [part, part]
        Words from part to part.

    Raises
    ------
    PointsmanError
        If there are more parts than nodes that work.
    """
    parts, room = len(words), len(topology.working)
    if parts > room:
        raise PointsmanError(f"{parts} parts do not fit on {room} nodes of the {topology.described}, one each")
    nodes = np.array(topology.working)
    far = np.array([links_from(topology, int(node)) for node in nodes])[:, nodes]
    flow = np.zeros((room, room), np.int64)
    flow[:parts, :parts] = words + words.T
    random = np.random.default_rng(seed)
    starts = [np.arange(room), *(random.permutation(room) for _ in range(STARTS))]
    before = _cost(flow, far, starts[0])
    best = min((_improved(flow, far, start.copy()) for start in starts), key=lambda one: _cost(flow, far, one))
    return nodes[best[:parts]], before // 2, _cost(flow, far, best) // 2


def _cost(flow: np.ndarray, far: np.ndarray, at: np.ndarray) -> int:
    return int((flow * far[np.ix_(at, at)]).sum())


def _improved(flow: np.ndarray, far: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Steepest descent over exchanges of two."""
    size = len(at)
    while True:
        here = far[np.ix_(at, at)]
        own = (flow * here).sum(axis=1)
        # Row i, column j: what i would cost at the place of j; between the two themselves the distance stays.
        moved = flow @ here
        gain = own[:, None] + own[None, :] - moved - moved.T - 2 * flow * here
        i, j = divmod(int(np.argmax(gain)), size)
        if gain[i, j] <= 0:
            return at
        at[i], at[j] = at[j], at[i]
