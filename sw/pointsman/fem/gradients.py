"""Conjugate gradients on the parts of a mesh, on any machine: one program of a part, which asks for exchanges and sums.

``steps`` is the method (Hestenes and Stiefel 1952) as a generator; `GradientsApplication` runs it on the project's targets, where
streams carry halos and operators sum, and `cell_program` on a machine with logical channels.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np

from pointsman import cop
from pointsman.artifacts.channels.channels import PhasedConnections
from pointsman.network import Topology
from pointsman.runtime import Application, Node, WrongAnswer

from .exchange import HaloExchange, calls_of, label
from .poisson import PartSystem, Poisson, summed

NONZERO = 16
"""Clocks for an entry of the matrix in a product. Feldmann et al. 1993, Table 5: 22,696 clocks for a part of m11k, which has
about 190 nodes with seven entries each."""
VALUE = 4
"""Clocks for a value in the updates and sums of a round. The paper gives none."""
TOLERANCE = 1e-8
"""Greatest difference from SciPy's solution, relative to the largest value."""
SUMS = ("curvature", "residual")

Request = tuple[str, Any]


def steps(system: PartSystem, rounds: int, start: float) -> Generator[Request, Any, np.ndarray]:
    """A part's side of conjugate gradients; ``start`` is the first residual's square.

    Yields ("compute", clocks), ("halo", partial sums), answered by all sums, and ("curvature" or "residual", this part's share of
    a sum), answered by the sum. Returns the solution at the part's nodes.
    """
    x = np.zeros(len(system.load))
    r = system.load * system.free
    p, rho = r.copy(), start
    for _ in range(rounds):
        partial = system.stiffness @ p
        yield "compute", NONZERO * system.stiffness.nnz
        q = (yield "halo", partial) * system.free
        curvature = yield "curvature", float(p[system.owned] @ q[system.owned])
        alpha = rho / curvature if curvature else 0.0
        x += alpha * p
        r -= alpha * q
        yield "compute", VALUE * len(x)
        before, rho = rho, (yield "residual", float(r[system.owned] @ r[system.owned]))
        p = r + (rho / before if before else 0.0) * p
    return x


class GradientsApplication(Application):
    """Conjugate gradients on the targets. Every node with a part exchanges in the order of the timetables."""

    name = "gradients"

    def __init__(self, exchange: HaloExchange, answer: PhasedConnections, system: Poisson, rounds: int) -> None:
        super().__init__(argparse.Namespace(), exchange.topology)
        self.exchange, self.answer, self.system, self.rounds = exchange, answer, system, rounds
        first = system.load * system.free
        self.start = float(first @ first)
        self.exchange_cycles: list[int] = []
        """What exchanges took on the first node that has a part."""

    def program(self, net: cop.Network) -> cop.Part:
        """The program of `exchange.cop_text`."""
        demands = self.answer.problem.connections
        ranks = self.topology.ranks
        phases = [
            cop.phase(
                cop.parallel(
                    *(
                        cop.stream(
                            label(c),
                            ranks[demands[c].source],
                            ranks[demands[c].destination],
                            type="float64*",
                            m=demands[c].words,
                        )
                        for c in (route.connection for route in routes)
                    )
                )
            )
            for routes in self.answer.phases
        ]
        return cop.loop("rounds", self.rounds, *phases, *(cop.allreduce(name, "add", type="float64") for name in SUMS))

    async def main(self, node: Node) -> Any:
        part = self.exchange.part_on(node.number)
        await node.cop.rounds_load()
        if part is None:
            for _ in range(self.rounds):
                for number, calls in enumerate(calls_of(self.answer, node.number)):
                    await self._enter(node, number, calls)
                for name in SUMS:
                    await self._sum(node, name, 0.0)
            return None
        work = steps(self.system.parts[part], self.rounds, self.start)
        answer: Any = None
        while True:
            try:
                what, value = work.send(answer)
            except StopIteration as end:
                return end.value
            answer = None
            if what == "compute":
                await node.compute(value)
            elif what == "halo":
                began = node.time
                answer = await self._halo(node, part, value)
                if node.number == int(self.exchange.node_of[0]):
                    self.exchange_cycles.append(node.time - began)
            else:
                answer = await self._sum(node, what, value)

    async def _sum(self, node: Node, name: str, value: float) -> float:
        await getattr(node.cop, f"{name}_load")()
        return float(await getattr(node.cop, f"{name}_func")(value))

    async def _enter(self, node: Node, number: int, calls: Sequence[tuple[int, bool]]) -> None:
        """A node enters a phase by loading a stream of it, and so lets words of others pass; it loads its own, or the first."""
        for connection in [connection for connection, _ in calls] or [self.answer.phases[number][0].connection]:
            await getattr(node.cop, f"{label(connection)}_load")()

    async def _halo(self, node: Node, part: int, values: np.ndarray) -> np.ndarray:
        halo, others = self.exchange.halo, {}
        for number, calls in enumerate(calls_of(self.answer, node.number)):
            await self._enter(node, number, calls)
            for connection, sends in calls:
                source, destination = self.exchange.pairs[connection]
                if sends:
                    message = np.ascontiguousarray(values[halo.places(part, destination)])
                    await getattr(node.cop, f"{label(connection)}_write")(message)
                else:
                    message = await getattr(node.cop, f"{label(connection)}_read")()
                    others[source] = (halo.places(part, source), message)
        return summed(values, part, others)

    def check(self, results: Sequence[Any]) -> str:
        """The solution of every part must be SciPy's."""
        found = [results[int(node)] for node in self.exchange.node_of]
        return compared(self.exchange, self.system, found, self.rounds)


def compared(exchange: HaloExchange, system: Poisson, found: Sequence[np.ndarray], rounds: int) -> str:
    """Compare the parts' solutions with SciPy's, and copies of shared values with each other.

    Raises
    ------
    WrongAnswer
        If they differ.
    """
    right = system.solution()
    largest = float(np.abs(right).max())
    worst = 0.0
    together = np.full(len(right), np.nan)
    for part, values in enumerate(found):
        nodes = exchange.halo.nodes[part]
        known = ~np.isnan(together[nodes])
        if (together[nodes][known] != values[known]).any():
            raise WrongAnswer(f"part {part} has another value at a shared node than a part before it")
        together[nodes] = values
        worst = max(worst, float(np.abs(values - right[nodes]).max()) / largest)
    if not worst <= TOLERANCE:
        raise WrongAnswer(
            f"the solution differs from SciPy's by {worst:.1e} of its largest value after {rounds} rounds"
        )
    return f"solution equal to SciPy's within {worst:.0e} after {rounds} rounds of conjugate gradients"


def cell_program(
    exchange: HaloExchange, answer: PhasedConnections, system: Poisson, rounds: int
) -> tuple[Callable[[Any], Generator[Any, Any, Any]], dict[str, dict[Any, tuple[int, ...]]]]:
    """The same for a machine with logical channels: a program of its cells, and its phases with their connections.

    Sums go along a tree of connections between neighbours in a phase of its own, to the first cell and back.
    """
    topology = exchange.topology
    demands, costs = answer.problem.connections, answer.problem.costs
    parents = _parents(topology)
    children = {node: sorted(c for c, p in parents.items() if p == node) for node in topology.working}
    phases: dict[str, dict[Any, tuple[int, ...]]] = {
        str(number): {route.connection: route.path for route in routes} for number, routes in enumerate(answer.phases)
    }
    phases["sum"] = {pair: pair for child, parent in parents.items() for pair in ((child, parent), (parent, child))}
    first = system.load * system.free
    start = float(first @ first)

    def total(cell: Any, value: float) -> Generator[Any, Any, float]:
        yield from cell.instantiate_phase("sum")
        for child in children[cell.number]:
            value += yield from cell.receive_element((child, cell.number))
        if cell.number in parents:
            yield from cell.send_element((cell.number, parents[cell.number]), value)
            value = yield from cell.receive_element((parents[cell.number], cell.number))
        for child in children[cell.number]:
            yield from cell.send_element((cell.number, child), value)
        return value

    def halo(cell: Any, part: int | None, values: Any) -> Generator[Any, Any, Any]:
        others: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        for number, routes in enumerate(answer.phases):
            yield from cell.instantiate_phase(str(number))
            for route in sorted(routes, key=lambda route: (route.start, route.connection)):
                one = demands[route.connection]
                if part is None or cell.number not in (one.source, one.destination):
                    continue
                source, destination = exchange.pairs[route.connection]
                if one.source == cell.number:
                    message = values[exchange.halo.places(part, destination)]
                    yield from cell.send_elements(route.connection, message, costs.element)
                else:
                    got = yield from cell.receive_elements(route.connection, one.words, costs.element)
                    others[source] = (exchange.halo.places(part, source), np.array(got))
        return None if part is None else summed(values, part, others)

    def program(cell: Any) -> Generator[Any, Any, Any]:
        part = exchange.part_on(cell.number)
        if part is None:
            for _ in range(rounds):
                yield from halo(cell, None, None)
                for _ in SUMS:
                    yield from total(cell, 0.0)
            return None
        work = steps(system.parts[part], rounds, start)
        reply: Any = None
        while True:
            try:
                what, value = work.send(reply)
            except StopIteration as end:
                return end.value
            if what == "compute":
                yield from cell.compute(value)
                reply = None
            elif what == "halo":
                reply = yield from halo(cell, part, value)
            else:
                reply = yield from total(cell, value)

    return program, phases


def _parents(topology: Topology) -> dict[int, int]:
    """For each node but the first the node before it on a shortest way from the first."""
    first = topology.working[0]
    parents, queue = {first: first}, [first]
    for node in queue:
        for other in sorted({other for other, _ in topology.at_port[node].values()}):
            if other not in parents:
                parents[other] = node
                queue.append(other)
    del parents[first]
    return parents
