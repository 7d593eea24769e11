"""Phase analysis: which of a program's communications share a set of configurations (Yuan 1998, §5.5, Figures 5.15 and 5.16).

A program is a list of nodes (statements). From the inside out, and in each list from the back to the front, communications are
gathered as long as the network carries them together in the slots available; where they no longer fit, a phase begins. If all
communications of a loop or conditional fit together, the phase can begin before the loop, instead of in every iteration.

Takes a list of nodes; gives phases with their connections and the place where each begins. Leaves alone the order of the program:
communications are not moved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pointsman.artifacts.configurations.configurations import Connection, ConnectionProblem, Network, Routing
from pointsman.errors import PointsmanError

from .configure import configure

Pattern: TypeAlias = frozenset[Connection]
DegreeOf: TypeAlias = Callable[[Pattern], int]
ConfigurationsOf: TypeAlias = Callable[[Pattern], tuple[tuple[Connection, ...], ...]]


@dataclass(frozen=True)
class Communication:
    """A statement that communicates (Yuan's TREE_INSTR)."""

    name: str
    connections: Pattern

    @property
    def parts(self) -> tuple[tuple[str, Sequence[Node]], ...]:
        return ()


@dataclass(frozen=True)
class Statements:
    """A sequence of statements (TREE_BLOCK)."""

    body: Sequence[Node]

    @property
    def parts(self) -> tuple[tuple[str, Sequence[Node]], ...]:
        return (("body", self.body),)


@dataclass(frozen=True)
class If:
    """A conditional (TREE_IF)."""

    then: Sequence[Node] = ()
    otherwise: Sequence[Node] = ()
    header: Sequence[Node] = ()

    @property
    def parts(self) -> tuple[tuple[str, Sequence[Node]], ...]:
        return (("header", self.header), ("then", self.then), ("otherwise", self.otherwise))


@dataclass(frozen=True)
class For:
    """A counted loop (TREE_FOR)."""

    body: Sequence[Node]
    low: Sequence[Node] = ()
    high: Sequence[Node] = ()
    step: Sequence[Node] = ()

    @property
    def parts(self) -> tuple[tuple[str, Sequence[Node]], ...]:
        return (("low", self.low), ("high", self.high), ("step", self.step), ("body", self.body))


@dataclass(frozen=True)
class Loop:
    """A loop with a test (TREE_LOOP)."""

    body: Sequence[Node]
    test: Sequence[Node] = ()

    @property
    def parts(self) -> tuple[tuple[str, Sequence[Node]], ...]:
        return (("test", self.test), ("body", self.body))


Node: TypeAlias = Communication | Statements | If | For | Loop
Place: TypeAlias = tuple[int | str, ...]
"""Path from the program to a gap in a list of nodes: index of a node, name of its part, …, index of the node after the gap."""


@dataclass(frozen=True)
class Phase:
    """``connections`` that are established together from ``place`` on, until execution reaches the place of another phase."""

    place: Place
    connections: Pattern
    degree: int
    names: tuple[str, ...]


def communication_phases(
    program: Sequence[Node], limit: int, degree_of: DegreeOf, *, divide: ConfigurationsOf | None = None
) -> list[Phase]:
    """Phases of a program for a network of ``limit`` slots, in the order of the text.

    A communication that alone needs more slots is refused, or divided: of its configurations ``limit`` at a time have a phase of
    their own, one behind the other at its place. Table 5.9 (Yuan 1998) is of such phases: an exchange between all takes
    64 channels there, and its phases have 9.1 in the mean, 64 in seven parts.

    Parameters
    ----------
    program : sequence of Node
    limit : int
        Number of slots available (Yuan's d).
    degree_of : callable
        Gives the number of configurations that a set of connections needs; see ``degree_on``.
    divide : callable or None
        Gives the configurations of a communication that does not fit alone; see ``configurations_on``. None: refuse it.

    Raises
    ------
    PointsmanError
        If a communication alone does not fit, and is not to be divided.

    >>> near = Communication("near", frozenset({(0, 1), (1, 0)}))
    >>> far = Communication("far", frozenset({(0, 2), (2, 0)}))
    >>> degree = degree_on(Network("crossbar", (3,)))
    >>> [phase.names for phase in communication_phases([For([near, far])], 2, degree)]
    [('near', 'far')]
    >>> [phase.place for phase in communication_phases([For([near, far])], 1, degree)]
    [(0, 'body', 0), (0, 'body', 1)]
    """
    if limit < 1:
        raise PointsmanError(f"there must be at least one slot, not {limit}")
    analysis = _Analysis(limit, degree_of, divide)
    gathered, _ = analysis.of_list(program, ())
    analysis.begin(gathered, (0,))
    return in_order(program, analysis.phases)


def in_order(program: Sequence[Node], phases: Iterable[Phase]) -> list[Phase]:
    """Phases of a program in the order of the text; those at one place stay as they are."""
    return sorted(phases, key=lambda phase: _order(program, phase.place))


def degree_on(network: Network, routing: Routing = "xy", algorithm: str = "best") -> DegreeOf:
    """A ``degree_of`` for ``communication_phases`` that asks ``configure``, once for each set of connections."""
    configured = configurations_on(network, routing, algorithm)
    return lambda connections: len(configured(connections))


def configurations_on(network: Network, routing: Routing = "xy", algorithm: str = "best") -> ConfigurationsOf:
    """A ``divide`` for ``communication_phases`` that asks ``configure``, once for each set of connections."""
    known: dict[Pattern, tuple[tuple[Connection, ...], ...]] = {}

    def configured(connections: Pattern) -> tuple[tuple[Connection, ...], ...]:
        if connections not in known:
            problem = ConnectionProblem(network, tuple(sorted(connections)), routing)
            known[connections] = tuple(map(tuple, configure(problem, algorithm=algorithm).configurations))
        return known[connections]

    return configured


@dataclass(frozen=True)
class _Gathered:
    """Communications not yet in a phase, in the order of the text."""

    connections: Pattern = frozenset()
    names: tuple[str, ...] = ()

    def after(self, earlier: _Gathered) -> _Gathered:
        return _Gathered(earlier.connections | self.connections, earlier.names + self.names)


class _Analysis:
    def __init__(self, limit: int, degree_of: DegreeOf, divide: ConfigurationsOf | None) -> None:
        self.limit = limit
        self.degree_of = degree_of
        self.divide = divide
        self.phases: list[Phase] = []

    def fits(self, gathered: _Gathered) -> bool:
        return self.degree_of(gathered.connections) <= self.limit

    def begin(self, gathered: _Gathered, place: Place) -> None:
        """Add a phase at ``place`` for the gathered communications, if there are any."""
        if gathered.connections:
            degree = self.degree_of(gathered.connections)
            self.phases.append(Phase(place, gathered.connections, degree, gathered.names))

    def of_list(self, nodes: Sequence[Node], at: Place) -> tuple[_Gathered, bool]:
        """Figure 5.15: communications of a list that must be established before it, and whether phases begin inside it."""
        gathered, kills = _Gathered(), False
        for index in reversed(range(len(nodes))):
            pattern, killed = self.of_node(nodes[index], (*at, index))
            if killed:
                self.begin(gathered, (*at, index + 1))
                gathered, kills = _Gathered(), True
            if not pattern.connections:
                continue
            together = gathered.after(pattern)
            if self.fits(together):
                gathered = together
            else:
                self.begin(gathered, (*at, index + 1))
                gathered, kills = pattern, True
        return gathered, kills

    def of_node(self, node: Node, at: Place) -> tuple[_Gathered, bool]:
        """Figure 5.16: the same for a node of any kind."""
        if isinstance(node, Communication):
            alone = _Gathered(node.connections, (node.name,))
            if not self.fits(alone):
                if self.divide is not None:
                    configurations = self.divide(node.connections)
                    for first in range(0, len(configurations), self.limit):
                        part = configurations[first : first + self.limit]
                        connections = frozenset(pair for one in part for pair in one)
                        self.phases.append(Phase(at, connections, len(part), alone.names))
                    return _Gathered(), True
                raise PointsmanError(
                    f"the communication {node.name} needs {self.degree_of(node.connections)} slots, and there are {self.limit}"
                )
            return alone, False
        found = [(name, *self.of_list(nodes, (*at, name))) for name, nodes in node.parts]
        together = _Gathered()
        for _, pattern, _ in reversed(found):
            together = together.after(pattern)
        if any(kills for _, _, kills in found) or not self.fits(together):
            for name, pattern, _ in found:
                self.begin(pattern, (*at, name, 0))
            return _Gathered(), True
        return together, False


def _order(program: Sequence[Node], place: Place) -> tuple[int, ...]:
    """Key that sorts places in the order of the text."""
    key: list[int] = []
    nodes = program
    for step in range(0, len(place), 2):
        index = place[step]
        assert isinstance(index, int)
        key.append(index)
        if step + 1 < len(place):
            parts = nodes[index].parts
            number = next(number for number, (name, _) in enumerate(parts) if name == place[step + 1])
            key.append(number)
            nodes = parts[number][1]
    return tuple(key)
