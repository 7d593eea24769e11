"""Random problems of logical channels, from a seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import networkx
import numpy as np

from pointsman.artifacts.channels.channels import ChannelCosts, ChannelProblem, Demand, PhasedConnections
from pointsman.connections.channels import exact
from pointsman.connections.channels.exact import Found, task_of
from pointsman.network import Topology, from_networkx, mesh, torus
from pointsman.routing.solver import solved

SIZES = ((1, 2), (5,), (2, 2), (1, 7), (3, 3), (3, 5), (4, 4), (2, 3, 3), (8, 8))


def random_problem(seed: int, channels: int, *, wishes: bool = True) -> ChannelProblem:
    """A torus, mesh or graph, and connections of it; with ``wishes`` some have bandwidths, latencies or an order."""
    random = np.random.default_rng([seed, channels])
    topology = _network(random)
    pairs = random.integers(0, topology.nodes, (int(random.integers(0, 3 * topology.nodes + 1)), 2))
    costs = ChannelCosts(access=int(random.choice([1, 2, 10])), duplex=bool(random.integers(2)))
    demands = []
    for source, destination in pairs[pairs[:, 0] != pairs[:, 1]].tolist():
        demand = Demand(source, destination, int(random.integers(1, 200)))
        links = ChannelProblem(topology, 1, (demand,)).distances[0]
        if wishes and random.random() < 0.1:
            share = Fraction(1, int(random.integers(1, 4)))
            latency = costs.hop * (links + int(random.integers(0, 3)))
            demand = Demand(source, destination, demand.words, share, latency)
        demands.append(demand)
    order: tuple[tuple[int, int], ...] = ()
    if wishes and len(demands) > 1 and random.random() < 0.3:
        chosen = np.sort(random.integers(0, len(demands), (3, 2)), axis=1)
        order = tuple((i, j) for i, j in chosen.tolist() if i < j)
    return ChannelProblem(topology, channels, tuple(demands), order=order, costs=costs)


def small_problems(first: int, count: int) -> Iterator[ChannelProblem]:
    """``count`` problems, from seed ``first`` on, that CP-SAT settles: at most nine nodes and ten connections."""
    seed = first
    while count:
        problem = random_problem(seed, 1 + seed % 4)
        seed += 1
        if problem.topology.nodes > 9 or len(problem.connections) < 2:
            continue
        kept = min(10, len(problem.connections))
        order = tuple(pair for pair in problem.order if max(pair) < kept)
        yield replace(problem, connections=problem.connections[:kept], order=order)
        count -= 1


def proved(known: Sequence[tuple[ChannelProblem, PhasedConnections]], seconds: float = 20.0) -> list[Found]:
    """The fewest phases of problems with answers, by CP-SAT."""
    tasks = [task_of(problem, 1, max(1, len(answer.phases)), seconds) for problem, answer in known]
    return solved(exact.__name__, tasks, "the exact division")


def _network(random: np.random.Generator) -> Topology:
    kind = random.integers(5)
    if kind == 4:
        nodes = int(random.integers(2, 20))
        return from_networkx(
            networkx.connected_watts_strogatz_graph(nodes, min(4, nodes), 0.4, seed=int(random.integers(99)))
        )
    size = SIZES[int(random.integers(len(SIZES)))]
    return (torus if kind < 2 else mesh)(*size)
