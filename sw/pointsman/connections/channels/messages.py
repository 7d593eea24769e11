"""Message passing on the same machine: routes with two pools of channels, and predicted clocks.

Messages go in dimension order; in every ring they begin with a channel of pool 0 and go on with pool 1 from the link on that
closes the ring (the dateline), so that no channels wait for each other in a circle (Feldmann et al. 1993, §4.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from pointsman.artifacts.channels.channels import ChannelCosts, Demand
from pointsman.errors import PointsmanError
from pointsman.network import Topology
from pointsman.network.dimension_order import way

Hop = tuple[int, int, int]
"""(node, next node, pool)"""


def message_route(topology: Topology, source: int, destination: int) -> tuple[Hop, ...]:
    """Hops of a message on a mesh or torus.

    >>> from pointsman.network import torus
    >>> message_route(torus(4), 3, 1)
    ((3, 0, 1), (0, 1, 1))
    """
    if not topology.regular:
        raise PointsmanError(f"messages need a mesh or torus without faults, not a {topology.kind}")
    hops: list[Hop] = []
    axis, pool = -1, 0
    for u, v in pairwise(way(topology, source, destination)):
        before, after = topology.coordinates(u), topology.coordinates(v)
        here = next(k for k in range(len(before)) if before[k] != after[k])
        if here != axis:
            axis, pool = here, 0
        if abs(before[here] - after[here]) > 1:
            pool = 1
        hops.append((u, v, pool))
    return tuple(hops)


def predicted_messages(demands: Sequence[Demand], costs: ChannelCosts) -> int:
    """Clocks of a message for each connection, as the busiest processor needs them without anybody in its way: the overheads of
    all that it sends and receives, and the words of the larger of the two, which go at the same time (§5.1: n · (2k + 800))."""
    sent: dict[int, list[int]] = {}
    received: dict[int, list[int]] = {}
    for one in demands:
        sent.setdefault(one.source, []).append(one.words)
        received.setdefault(one.destination, []).append(one.words)
    return max(
        (
            costs.message * (len(sent.get(node, ())) + len(received.get(node, ())))
            + costs.element * max(sum(sent.get(node, ())), sum(received.get(node, ())))
            for node in sent.keys() | received.keys()
        ),
        default=0,
    )
