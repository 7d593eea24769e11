"""Programs that exchange blocks between cells: by phased connections with their timetables, or by messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pointsman.artifacts.channels.channels import ChannelCosts, ChannelProblem, Demand, PhasedConnections
from pointsman.errors import PointsmanError
from pointsman.network import Topology

from .machine import ChannelMachine
from .session import Cell, ChannelRun, ChannelSession, Path, Step

Blocks = Mapping[int, Sequence[Any]]
"""Words of each connection, by its number."""


def paths_of(answer: PhasedConnections) -> dict[str, dict[int, Path]]:
    """Phases for a session: "0", "1", … with the connections by their numbers."""
    return {
        str(number): {route.connection: route.path for route in routes} for number, routes in enumerate(answer.phases)
    }


def phased(answer: PhasedConnections, blocks: Blocks) -> Callable[[Cell], Step]:
    """A program that sends ``blocks`` phase by phase in the order of the timetables; it returns what a cell has received.

    With ``duplex`` costs a cell sends and receives side by side, else one after the other.
    """
    demands, duplex = answer.problem.connections, answer.problem.costs.duplex

    def program(cell: Cell) -> Step:
        got: dict[int, Any] = {}
        for number, routes in enumerate(answer.phases):
            yield from cell.instantiate_phase(str(number))
            mine = sorted(
                (route.start, route.connection)
                for route in routes
                if cell.number in (demands[route.connection].source, demands[route.connection].destination)
            )
            groups = [mine] if duplex else [[one] for one in mine]
            for group in groups:
                sends = [(c, blocks[c]) for _, c in group if demands[c].source == cell.number]
                receives = [(c, len(blocks[c])) for _, c in group if demands[c].destination == cell.number]
                values = yield from cell.exchange(sends, receives)
                got.update(zip((c for c, _ in receives), values, strict=True))
        return got

    return program


def by_messages(
    demands: Sequence[Demand], blocks: Blocks, seed: int | None = None, *, steps: bool = False
) -> Callable[[Cell], Step]:
    """A program that sends each block as a message, in the order of the list or (``seed``) in random order. It returns the blocks
    received, by (source, place among those of this source).

    All are sent before any is taken; with ``steps`` a cell takes one after each that it sends, as in a butterfly, whose steps
    need what the one before has brought.

    Raises
    ------
    PointsmanError
        With ``steps`` if a cell receives more or fewer than it sends: then cells may wait for each other for ever.
    """
    order = list(range(len(demands)))
    if seed is not None:
        order = np.random.default_rng(seed).permutation(len(demands)).tolist()
    sent, received = Counter(one.source for one in demands), Counter(one.destination for one in demands)
    if steps and sent != received:
        cell = min(cell for cell in sent | received if sent[cell] != received[cell])
        raise PointsmanError(
            f"cell {cell} sends {sent[cell]} messages and receives {received[cell]}, which is no steps"
        )

    def program(cell: Cell) -> Step:
        got: dict[tuple[int, int], Any] = {}

        def take() -> Step:
            source, block = yield from cell.msg_receive()
            got[source, sum(key[0] == source for key in got)] = block

        for c in order:
            if demands[c].source == cell.number:
                yield from cell.msg_send(demands[c].destination, blocks[c])
                if steps:
                    yield from take()
        while len(got) < received[cell.number]:
            yield from take()
        return got

    return program


def measured(topology: Topology, answer: PhasedConnections) -> ChannelRun:
    """A run of all connections of an answer, on words that tell where they come from."""
    problem = answer.problem
    machine = ChannelMachine(topology, channels=problem.channels, costs=problem.costs)
    return ChannelSession(machine, paths_of(answer)).run(phased(answer, _numbered(problem.connections)))


def measured_messages(
    topology: Topology, demands: Sequence[Demand], costs: ChannelCosts, seed: int | None = None, *, steps: bool = False
) -> ChannelRun:
    """The same as messages."""
    machine = ChannelMachine(topology, costs=costs)
    session = ChannelSession(machine, {}, messages=len(demands))
    return session.run(by_messages(demands, _numbered(demands), seed, steps=steps))


def aggregate_bandwidth(words: int, clocks: int, *, megahertz: float = 20.0, word_bytes: int = 4) -> float:
    """Megabytes a second that all cells together transfer (§5.1).

    >>> round(aggregate_bandwidth(64 * 4 * 16384, 131592))
    2550
    """
    return words * word_bytes / clocks * megahertz


def _numbered(demands: Sequence[Demand]) -> dict[int, range]:
    """Blocks of the right lengths that need no memory."""
    return {c: range(one.words) for c, one in enumerate(demands)}


def problem_of(topology: Topology, demands: Sequence[Demand], channels: int = 12) -> ChannelProblem:
    """Connections on the machine as the paper divides its channels (§5: 12 of 16)."""
    return ChannelProblem(topology, channels, tuple(demands))
