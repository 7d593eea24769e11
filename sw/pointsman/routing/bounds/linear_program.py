"""The linear program of maximum concurrent flow: how often per slot could all demands be served if words were divisible?

Flows of unicast streams are added up by source, which keeps the program small. A multicast stream has a flow for each
destination, and uses a link as much as the largest of them (a relaxation: trees use at least that). Flow control, slots and
whole words are left out, so the optimum bounds every router. The solver's optimum is not trusted: its dual prices are
rounded and the bound is computed from them exactly (:mod:`.prices`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from numesh.shape import NodeShape
from pointsman.artifacts.routes.routes import RouteProblem
from pointsman.errors import PointsmanError

from .capacity import Capacity, capacity_of, demand_of
from .prices import Prices, round_prices, throughput_bound

if TYPE_CHECKING:
    import highspy

MAX_COLUMNS = 1_500_000
EMPTY = 1e-7
TOLERANCE = 1e-8
"""Tolerance of the solver. The bound is recomputed exactly from its prices: a looser tolerance weakens it but keeps it valid."""


@dataclass(frozen=True)
class Commodity:
    """A flow from ``source``: of several unicast ``streams``, or of a multicast stream to a single destination."""

    source: int
    streams: tuple[int, ...]
    destination: int | None
    """The destination of a multicast stream's flow; None: each unicast stream flows to its own destination."""


@dataclass(frozen=True)
class FlowBound:
    """The answer of the linear program.

    ``throughput`` is the exact bound: how often per slot all demands can be served at most. For the numesh model it is the
    greatest smallest bandwidth / weight, for the ideal model 1 / period. ``reached`` is the throughput of the flows (floating
    point, at most ``throughput``). ``flows`` has a row for each commodity and a column for each of ``problem.links``, in
    words per slot.
    """

    problem: RouteProblem
    capacity: Capacity
    throughput: Fraction
    reached: float
    commodities: tuple[Commodity, ...]
    flows: np.ndarray
    prices: Prices


def max_concurrent_flow(
    problem: RouteProblem,
    shape: NodeShape | None = None,
    length: int | None = None,
    *,
    free_slots: int | None = None,
    vertex: bool = False,
) -> FlowBound:
    """Solve the linear program.

    Parameters
    ----------
    shape, length, free_slots
        As in :func:`.capacity.capacity_of`, for the NuMesh node; no shape: the ideal model, links only.
    vertex : bool
        True: find a vertex of the optimal face, whose flows split into few paths (slower); otherwise flows are spread.

    Raises
    ------
    PointsmanError
        If there is no stream, or the program would be too large (use :mod:`.subgradient` then).
    """
    if not problem.streams:
        raise PointsmanError("a flow bound must have at least one stream")
    capacity = capacity_of(shape, length, free_slots)
    commodities = _commodities(problem)
    if len(commodities) * len(problem.links) > MAX_COLUMNS:
        raise PointsmanError(
            f"a linear program must have at most {MAX_COLUMNS} flows, not {len(commodities) * len(problem.links)}"
        )
    program = _Program(problem, capacity, commodities)
    program.solve(vertex)
    bound = throughput_bound(problem, capacity, program.prices)
    if bound is None:
        raise RuntimeError("the linear program gave no prices")
    return FlowBound(problem, capacity, bound, program.reached, tuple(commodities), program.flows, program.prices)


def flow_paths(bound: FlowBound) -> list[list[tuple[float, tuple[int, ...]]]]:
    """Per stream, the paths that its flow takes: (words per slot, nodes from source to destination), largest first.

    For a multicast stream these are the paths to all of its destinations.
    """
    problem = bound.problem
    demands = demand_of(problem, bound.capacity)
    paths: list[list[tuple[float, tuple[int, ...]]]] = [[] for _ in problem.streams]
    for commodity, row in zip(bound.commodities, bound.flows, strict=True):
        left = {problem.links[link]: float(row[link]) for link in np.flatnonzero(row > EMPTY)}
        into: dict[int, list[int]] = {}
        for u, v in left:
            into.setdefault(v, []).append(u)
        for index in commodity.streams:
            stream = problem.streams[index]
            ends = stream.destinations if commodity.destination is None else (commodity.destination,)
            for end in ends:
                wanted = float(demands[index]) * bound.reached
                while wanted > EMPTY:
                    path = _widest(commodity.source, end, into, left)
                    if path is None:
                        break
                    amount = min(wanted, *(left[hop] for hop in pairwise(path)))
                    for hop in pairwise(path):
                        left[hop] -= amount
                    wanted -= amount
                    paths[index].append((amount, path))
    for found in paths:
        found.sort(key=lambda entry: (-entry[0], entry[1]))
    return paths


def _widest(
    source: int, end: int, into: dict[int, list[int]], left: dict[tuple[int, int], float]
) -> tuple[int, ...] | None:
    """The path from ``source`` to ``end`` whose narrowest link has the most flow left."""
    width = {end: float("inf")}
    following: dict[int, int] = {}
    open_nodes = {end}
    while open_nodes:
        node = max(open_nodes, key=lambda n: (width[n], -n))
        open_nodes.discard(node)
        if node == source:
            path = [node]
            while node != end:
                node = following[node]
                path.append(node)
            return tuple(path)
        for before in into.get(node, ()):
            through = min(width[node], left[before, node])
            if through > EMPTY / 10 and through > width.get(before, 0.0):
                width[before] = through
                following[before] = node
                open_nodes.add(before)
    return None


def _commodities(problem: RouteProblem) -> list[Commodity]:
    single: dict[int, list[int]] = {}
    several: list[Commodity] = []
    for index, stream in enumerate(problem.streams):
        if len(stream.destinations) == 1:
            single.setdefault(stream.source, []).append(index)
        else:
            several.extend(Commodity(stream.source, (index,), node) for node in stream.destinations)
    return [Commodity(source, tuple(streams), None) for source, streams in sorted(single.items())] + several


class _Program:
    """The program in HiGHS, columns and rows as arrays."""

    def __init__(self, problem: RouteProblem, capacity: Capacity, commodities: list[Commodity]) -> None:
        self.problem = problem
        self.capacity = capacity
        self.commodities = commodities
        pairs = np.array(problem.links, np.int64).reshape(-1, 2)
        n_links = len(pairs)
        tails, heads = pairs[:, 0], pairs[:, 1]
        demands = [float(demand) for demand in demand_of(problem, capacity)]
        rows: list[np.ndarray] = []
        columns: list[np.ndarray] = []
        values: list[np.ndarray] = []
        self.throughput_column = 0
        n_columns = 1
        row_low: list[np.ndarray] = []
        row_high: list[np.ndarray] = []
        n_rows = 0

        def add(row: np.ndarray, column: np.ndarray, value: np.ndarray) -> None:
            rows.append(row)
            columns.append(column)
            values.append(value)

        # A stream's use of each link: its flow itself, or for a multicast stream a column of its own.
        users: list[tuple[np.ndarray, np.ndarray]] = []
        self.columns: list[tuple[np.ndarray, np.ndarray]] = []
        use_column: dict[int, int] = {}
        for commodity in commodities:
            ends = {problem.streams[index].destinations[0] for index in commodity.streams}
            if commodity.destination is not None:
                ends = {commodity.destination}
            kept = heads != commodity.source
            if len(ends) == 1:
                kept &= tails != next(iter(ends))
            links = np.flatnonzero(kept)
            mine = n_columns + np.arange(len(links))
            n_columns += len(links)
            self.columns.append((links, mine))
            one = np.ones(len(links))
            add(n_rows + heads[links], mine, one)
            out = tails[links] != commodity.source
            add(n_rows + tails[links][out], mine[out], -one[out])
            wanted = np.zeros(problem.nodes)
            for index in commodity.streams:
                stream = problem.streams[index]
                wanted[stream.destinations[0] if commodity.destination is None else commodity.destination] += demands[
                    index
                ]
            nodes = np.flatnonzero(wanted)
            add(n_rows + nodes, np.zeros(len(nodes), np.int64), -wanted[nodes])
            row_low.append(np.zeros(problem.nodes))
            row_high.append(np.zeros(problem.nodes))
            n_rows += problem.nodes
            if commodity.destination is None:
                users.append((links, mine))
        self.share_rows: dict[int, list[int]] = {}
        for commodity, (links, mine) in zip(commodities, self.columns, strict=True):
            if commodity.destination is None:
                continue
            index = commodity.streams[0]
            if index not in use_column:
                use_column[index] = n_columns
                users.append((np.arange(n_links), n_columns + np.arange(n_links)))
                n_columns += n_links
            self.share_rows.setdefault(index, []).append(n_rows)
            add(n_rows + links, mine, np.ones(len(links)))
            add(n_rows + np.arange(n_links), use_column[index] + np.arange(n_links), -np.ones(n_links))
            row_low.append(np.full(n_links, -np.inf))
            row_high.append(np.zeros(n_links))
            n_rows += n_links
        self.link_rows = n_rows
        for links, mine in users:
            add(n_rows + links, mine, np.ones(len(links)))
        row_low.append(np.full(n_links, -np.inf))
        row_high.append(np.ones(n_links))
        n_rows += n_links
        self.node_rows = n_rows
        if capacity.node is not None:
            for links, mine in users:
                add(n_rows + tails[links], mine, np.ones(len(links)))
            delivered = np.zeros(problem.nodes)
            for stream, demand in zip(problem.streams, demands, strict=True):
                for node in stream.destinations:
                    delivered[node] += demand
            nodes = np.flatnonzero(delivered)
            add(n_rows + nodes, np.zeros(len(nodes), np.int64), delivered[nodes])
            row_low.append(np.full(problem.nodes, -np.inf))
            row_high.append(np.full(problem.nodes, float(capacity.node)))
            n_rows += problem.nodes
        self.model = _highs_model(
            n_rows,
            n_columns,
            np.concatenate(rows),
            np.concatenate(columns),
            np.concatenate(values),
            np.concatenate(row_low),
            np.concatenate(row_high),
        )

    def solve(self, vertex: bool) -> None:
        import highspy  # only here: it cannot be loaded beside OR-Tools

        highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("threads", 1)
        highs.setOptionValue("random_seed", 0)
        highs.setOptionValue("solver", "ipm")
        highs.setOptionValue("run_crossover", "on" if vertex else "off")
        highs.setOptionValue("ipm_optimality_tolerance", TOLERANCE)
        highs.passModel(self.model)
        highs.run()
        solution = highs.getSolution()
        duals = np.abs(np.array(solution.row_dual))
        values = np.array(solution.col_value)
        n_links = len(self.problem.links)
        if not len(values) or not np.isfinite(values).all():
            raise RuntimeError(f"the linear program has no solution: {highs.getModelStatus()}")
        self.reached = float(values[0])
        self.flows = np.zeros((len(self.commodities), n_links))
        for row, (links, mine) in zip(self.flows, self.columns, strict=True):
            row[links] = values[mine]
        np.maximum(self.flows, 0.0, out=self.flows)
        nodes = np.zeros(self.problem.nodes)
        if self.capacity.node is not None:
            nodes = duals[self.node_rows : self.node_rows + self.problem.nodes]
        links = duals[self.link_rows : self.link_rows + n_links]
        shares = {
            index: np.stack([duals[row : row + n_links] for row in rows]) for index, rows in self.share_rows.items()
        }
        self.prices = round_prices(self.problem, links, nodes, shares)


def _highs_model(
    n_rows: int,
    n_columns: int,
    rows: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    row_low: np.ndarray,
    row_high: np.ndarray,
) -> highspy.HighsLp:
    import highspy

    order = np.lexsort((rows, columns))
    rows, columns, values = rows[order], columns[order], values[order]
    model = highspy.HighsLp()
    model.num_col_ = n_columns
    model.num_row_ = n_rows
    cost = np.zeros(n_columns)
    cost[0] = 1.0
    model.col_cost_ = cost
    model.sense_ = highspy.ObjSense.kMaximize
    model.col_lower_ = np.zeros(n_columns)
    model.col_upper_ = np.full(n_columns, np.inf)
    model.row_lower_ = row_low
    model.row_upper_ = row_high
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = np.searchsorted(columns, np.arange(n_columns + 1)).astype(np.int32)
    model.a_matrix_.index_ = rows.astype(np.int32)
    model.a_matrix_.value_ = values
    return model
