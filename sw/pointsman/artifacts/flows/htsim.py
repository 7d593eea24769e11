"""Flows as a connection matrix of htsim: text with a connection a line, from node to node, all starting at once."""

from __future__ import annotations

from itertools import count

from pointsman.errors import PointsmanError

from .flows import FlowSet


def htsim_text(flows: FlowSet, *, cycles: float, word_bytes: int) -> str:
    """The matrix: of each flow the bytes that it sends in ``cycles``; a multicast is a connection to each destination, as htsim
    has none. A task's node is that of its ``at``, else the first that is free.

    Raises
    ------
    PointsmanError
        If a flow is of best effort: how many bytes it sends is not known.
    """
    for flow in flows.flows:
        if not flow.bandwidth:
            raise PointsmanError(
                f"flow '{flow.name}' is of best effort (bandwidth 0), and a connection has a number of bytes",
                hint="a small bandwidth, such as 0.01",
            )
    taken = {task.at for task in flows.tasks}
    free = (node for node in count() if node not in taken)
    nodes = [next(free) if task.at is None else task.at for task in flows.tasks]
    lines = [
        f"{nodes[flow.source]}->{nodes[one]} id {{}} start 0 size {max(1, round(flow.bandwidth * cycles * word_bytes))}"
        for flow in flows.flows
        for one in flow.destinations
    ]
    head = [f"Nodes {1 + max(nodes, default=0)}", f"Connections {len(lines)}"]
    return "\n".join([*head, *(line.format(number) for number, line in enumerate(lines, 1))]) + "\n"
