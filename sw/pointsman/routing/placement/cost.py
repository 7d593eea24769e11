"""What a placement costs: latency limits that cannot be kept, overloaded ports and links, and words times links.

Flows take fixed shortest ways, spread by their ends; so the cost of a move is that of the flows that move. The router, which
is free in its ways, has the last word. A flow with a limit is counted with the bandwidth that its limit asks for there
(`asked`), so that a long way is dear before it is impossible.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pointsman.artifacts.flows.flows import Flow, FlowSet
from pointsman.artifacts.routes.routes import RouteProblem

from .cost_kernel import Board, anneal, move, put_all, take_all, total, undo

LATE = 1000.0
"""Price of a link too many on the way of a flow with a limit of latency."""
FULL = 100.0
"""Price of the square of a link's load above 1 word a slot; below, the square itself is small beside words times links."""

NEAR = 1e-6
"""Price of a link for a flow of best effort: so little that it only chooses among placements that are equal for the others."""
CUT_OFF = 1e6
"""Price of an end that its source does not reach, because of faults."""


def asked(flow: Flow, hops: int) -> float:
    """Words a slot that ``flow`` needs if its farthest destination is ``hops`` links away, at most 1: its bandwidth, or more if
    its slots must be closer. A word that has just missed a slot waits for the next, 1 / bandwidth slots with even gaps."""
    if flow.latency is None:
        return flow.bandwidth
    return max(flow.bandwidth, 1.0 / max(1.0, flow.latency - hops))


def late(flow: Flow, hops: int) -> float:
    """Slots above the limit that a word of ``flow`` takes at least, on a way of ``hops`` links."""
    return 0.0 if flow.latency is None else max(0.0, hops + 1.0 - flow.latency)


def sooner(flows: FlowSet, slots: int) -> FlowSet:
    """The flows with limits of latency that are ``slots`` less."""
    if not slots:
        return flows
    return FlowSet(
        flows.tasks,
        tuple(flow if flow.latency is None else replace(flow, latency=flow.latency - slots) for flow in flows.flows),
    )


class PlacementCost:
    """Costs of placements of a set of flows on a network; keeps the loads of the placement that it is at."""

    def __init__(self, flows: FlowSet, net: RouteProblem) -> None:
        self.board = _board(flows, net)
        self.all = np.arange(len(flows.flows))

    def place_all(self, at: list[int]) -> float:
        """Cost of the placement ``at`` (node of each task), which is kept as the present one."""
        self.clear()
        self.put(self.all, at)
        return self.cost

    def clear(self) -> None:
        """No flow is placed."""
        self.board.load[:] = 0.0
        self.board.sums[:] = 0.0
        self.board.placed[:] = False

    @property
    def cost(self) -> float:
        return float(total(self.board))

    @property
    def placed(self) -> dict[int, tuple[float, float, np.ndarray]]:
        """Price, words a slot and links of each flow that is placed."""
        board = self.board
        found = {}
        for flow in np.flatnonzero(board.placed).tolist():
            source = int(board.from_node[flow])
            used: set[int] = set()
            for node in board.to_node[board.first_end[flow] : board.first_end[flow + 1]].tolist():
                while node != source and (link := int(board.into[source, node])) >= 0:
                    used.add(link)
                    node = int(board.tails[link])
            links = np.array(sorted(used), np.intp)
            found[flow] = float(board.price[flow]), float(board.rate[flow]), links
        return found

    def move(self, tasks: tuple[int, ...], at: list[int]) -> float:
        """Cost once ``tasks`` are where ``at`` says; the others are where they were."""
        return float(move(self.board, np.array(tasks, np.int64), np.array(at, np.int64)))

    def undo(self) -> None:
        """Go back to the placement before the last move."""
        undo(self.board)

    def take(self, flows: np.ndarray) -> None:
        """Take flows out that were placed."""
        take_all(self.board, flows)

    def put(self, flows: np.ndarray, at: list[int]) -> None:
        """Place flows that are not placed; ``at`` has the nodes of their tasks."""
        put_all(self.board, flows, np.array(at, np.int64))

    def anneal(
        self,
        at: list[int],
        movable: list[int],
        free: list[int],
        chance: np.random.Generator,
        *,
        steps: int,
        heat: float,
        cooling: float,
    ) -> tuple[float, list[int]]:
        """The best placement met in ``steps`` from ``at``, the present one, with its cost: a step exchanges two tasks of
        ``movable``, or moves one to a node of ``free``."""
        holds = np.full(len(self.board.ready), -1)
        holds[[at[task] for task in movable]] = movable
        best = np.array(at, np.int64)
        price = anneal(self.board, best, np.array(movable), np.array(free), holds, chance, steps, heat, cooling)
        return float(price), best.tolist()


def _board(flows: FlowSet, net: RouteProblem) -> Board:
    links = np.array(net.links, np.int64).reshape(-1, 2)
    tails, heads = np.ascontiguousarray(links[:, 0]), np.ascontiguousarray(links[:, 1])
    edges = np.arange(net.nodes + 1)
    before = np.argsort(heads, kind="stable")
    of_task: list[set[int]] = [set() for _ in flows.tasks]
    for index, flow in enumerate(flows.flows):
        for task in (flow.source, *flow.destinations):
            of_task[task].add(index)
    ends = [task for flow in flows.flows for task in flow.destinations]
    count, all_ends, wide = len(flows.flows), len(ends), len(links)
    none = float("nan")
    return Board(
        first=np.searchsorted(tails, edges),
        after=np.arange(wide),
        heads=heads,
        first_in=np.searchsorted(heads[before], edges),
        before=before,
        tails=tails,
        ready=np.zeros(net.nodes, np.bool_),
        # Rows are filled when a flow starts there; until then they take no memory.
        into=np.empty((net.nodes, net.nodes), np.int32),
        hops=np.empty((net.nodes, net.nodes), np.int32),
        source=np.array([flow.source for flow in flows.flows], np.int64),
        first_end=np.cumsum([0] + [len(flow.destinations) for flow in flows.flows]),
        ends=np.array(ends, np.int64),
        bandwidth=np.array([flow.bandwidth for flow in flows.flows], np.float64),
        limit=np.array([none if flow.latency is None else flow.latency for flow in flows.flows], np.float64),
        first_of=np.cumsum([0] + [len(found) for found in of_task]),
        of=np.array([flow for found in of_task for flow in sorted(found)], np.int64),
        load=np.zeros(wide),
        sums=np.zeros(3),
        placed=np.zeros(count, np.bool_),
        price=np.zeros(count),
        rate=np.zeros(count),
        from_node=np.zeros(count, np.int64),
        to_node=np.zeros(all_ends, np.int64),
        seen=np.zeros(wide, np.int64),
        changed=np.zeros(wide, np.int64),
        loads=np.zeros(wide),
        marks=np.zeros(wide, np.int64),
        counts=np.zeros(4, np.int64),
        touched=np.zeros(count, np.int64),
        is_touched=np.zeros(count, np.bool_),
        old_price=np.zeros(count),
        old_rate=np.zeros(count),
        old_from=np.zeros(count, np.int64),
        old_to=np.zeros(all_ends, np.int64),
        old_sums=np.zeros(3),
        constants=np.array([LATE, FULL, NEAR, CUT_OFF]),
    )
