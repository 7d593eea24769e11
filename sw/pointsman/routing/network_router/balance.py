"""How much the network can carry, about: paths chosen by load alone, without slots.

Places, wires and operations are described in the package, the arrays in ``arrays``.
"""

from __future__ import annotations

import numpy as np

from pointsman.kernels import kernel

from .arrays import PackingLinks, PackingScratch
from .cheapest_path import walks


@kernel
def balance(
    net: PackingLinks,
    hops: np.ndarray,
    allowed: np.ndarray,
    hops_row: np.ndarray,
    source: np.ndarray,
    first_end: np.ndarray,
    ends: np.ndarray,
    weight: np.ndarray,
    node_capacity: float,
    link_capacity: float,
    rounds: int,
    slack: int,
    scratch: PackingScratch,
) -> float:
    """About the greatest share that all unicast streams can have at once, were words divisible: a lower estimate.

    Paths are chosen one after the other at prices that grow exponentially with the load (Garg and Könemann 1998), and the
    flows of all rounds are averaged. Streams of several destinations count as paths to each of them (too much).
    """
    nodes = net.first_out.shape[0] - 1
    links = net.writer.shape[0]
    node_load = np.zeros(nodes, np.float64)
    wire_load = np.zeros(links + 1, np.float64)
    best = np.zeros(scratch.node.shape[0], np.float64)
    via = np.zeros(scratch.node.shape[0], np.int64)
    sharpness = 0.0
    highest = 1.0
    for turn in range(rounds):
        for stream in range(source.shape[0]):
            if first_end[stream + 1] - first_end[stream] > 1:
                continue
            end = ends[first_end[stream]]
            row = hops[hops_row[stream]]
            count = walks(net, row, allowed[stream], source[stream], end, slack if turn % 2 else 0, scratch)
            for branch in range(count - 1, -1, -1):
                node = scratch.node[branch]
                price = np.exp(sharpness * node_load[node] / (node_capacity * highest))
                if scratch.rest[branch] == 0:
                    best[branch] = price
                    continue
                best[branch] = 1e300
                for index in range(scratch.first[branch], scratch.first[branch + 1]):
                    wire = net.wire[scratch.links[index]]
                    total = (
                        price
                        + np.exp(sharpness * wire_load[wire] / (link_capacity * highest)) * 0.1
                        + best[scratch.ends[index]]
                    )
                    if total < best[branch]:
                        best[branch], via[branch] = total, index
            root = -1
            for branch in range(count):
                if scratch.node[branch] == source[stream] and best[branch] < 1e299:
                    if root < 0 or best[branch] < best[root]:
                        root = branch
            if root < 0:
                continue
            branch = root
            while True:
                node_load[scratch.node[branch]] += weight[stream]
                if scratch.rest[branch] == 0:
                    break
                wire_load[net.wire[scratch.links[via[branch]]]] += weight[stream]
                branch = scratch.ends[via[branch]]
        highest = 1e-9
        for node in range(nodes):
            highest = max(highest, node_load[node] / node_capacity)
        for wire in range(links):
            highest = max(highest, wire_load[wire] / link_capacity)
        sharpness = 8.0 + turn
    return rounds / highest
