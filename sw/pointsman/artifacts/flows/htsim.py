"""Flows as a connection matrix of htsim: text with a connection a line, from node to node, all starting at once."""

from __future__ import annotations

from itertools import count

from pointsman.errors import PointsmanError

from .flows import Flow, FlowSet

MOST = (1 << 31) - 1
"""Largest number that htsim reads, of a node and of bytes."""


def htsim_text(flows: FlowSet, *, cycles: float, word_bytes: int, hosts: int | None = None) -> str:
    """The matrix: of each flow the bytes that it sends in ``cycles``; a multicast is a connection to each destination, as htsim
    has none. A task's node is that of its ``at``, else the first that is free. The matrix has ``hosts`` nodes, by default as many
    as its tasks need: htsim takes those that have as many as its network, and its fat trees have 16, 54, 128, ... (k^3/4).

    Raises
    ------
    PointsmanError
        If there are no flows, one is of best effort, so that how many bytes it sends is not known, a number is beyond what
        htsim reads, or the tasks need more than ``hosts``.
    """
    if not flows.flows:
        raise PointsmanError("there are no flows, and a connection matrix must have a connection")
    taken = {task.at for task in flows.tasks}
    free = (node for node in count() if node not in taken)
    nodes = [next(free) if task.at is None else task.at for task in flows.tasks]
    if max(nodes) >= MOST:
        task = flows.tasks[nodes.index(max(nodes))]
        raise PointsmanError(f"task '{task.name}' is at node {task.at}, and htsim's nodes are 0 to {MOST - 1}")
    needed = 1 + max(nodes)
    if hosts is not None and hosts < needed:
        raise PointsmanError(
            f"a connection matrix of {hosts} hosts has nodes 0 to {hosts - 1}, and task "
            f"'{flows.tasks[nodes.index(max(nodes))].name}' is at node {max(nodes)}",
            hint=f"--nodes {needed}, or more",
        )
    ends = [
        (nodes[flow.source], nodes[one], size)
        for flow in flows.flows
        for size in [_size(flow, cycles, word_bytes)]
        for one in flow.destinations
    ]
    lines = [f"Nodes {hosts or needed}", f"Connections {len(ends)}"]
    lines += [f"{a}->{b} id {number} start 0 size {size}" for number, (a, b, size) in enumerate(ends, 1)]
    return "\n".join(lines) + "\n"


def _size(flow: Flow, cycles: float, word_bytes: int) -> int:
    if not flow.bandwidth:
        raise PointsmanError(
            f"flow '{flow.name}' is of best effort (bandwidth 0), and a connection has a number of bytes",
            hint="a small bandwidth, such as 0.01",
        )
    size = round(flow.bandwidth * cycles * word_bytes)
    if not 1 <= size <= MOST:
        raise PointsmanError(
            f"flow '{flow.name}' sends {flow.bandwidth * cycles * word_bytes:.3g} bytes in {cycles:g} cycles, "
            f"and a connection of htsim has 1 to {MOST}",
            hint="more --cycles" if size < 1 else "fewer --cycles",
        )
    return size
