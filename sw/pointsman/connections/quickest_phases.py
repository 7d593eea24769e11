"""Phases whose degrees are chosen one by one, so that a run's communication takes few slots.

``communication_phases`` gathers as many communications as fit, and a phase of many has many slots in its frame, which each of
them waits for; Yuan 1998, §6.3 and §7.2, names that as what its compiler loses to reservations with one channel. Here each list
of nodes is cut where that costs the fewest slots: a phase costs its degree for each packet that passes, and ``load`` each time
that it is established. A loop or conditional is in a phase with what stands beside it, or has phases of its own, whichever costs
less.

Takes what ``communication_phases`` takes, and how often and how much each node sends; gives phases in the same form. The cut is
the best for each list, given the costs inside; that a phase is still established from the iteration before is not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pointsman.errors import PointsmanError

from .phases import Communication, ConfigurationsOf, Node, Pattern, Phase, Place, in_order


@dataclass(frozen=True)
class Weights:
    """What a run sends.

    Parameters
    ----------
    packets : mapping of str to int
        For each communication, by its name, the packets of its longest message, summed over the run.
    entries : mapping of Place to int
        How often a run comes to a list of nodes, by its place; those not named, once.
    load : int
        Slots that it takes to establish a phase.
    """

    packets: Mapping[str, int]
    entries: Mapping[Place, int] = field(default_factory=dict)
    load: int = 0


def run_slots(phases: Sequence[Phase], weights: Weights) -> int:
    """Slots that communication takes in a run with some phases, however they were made: for each packet the degree of its phase,
    and ``load`` whenever a phase is come to."""
    return sum(
        phase.degree * sum(weights.packets[name] for name in phase.names)
        + weights.entries.get(phase.place[:-1], 1) * weights.load
        for phase in phases
    )


@dataclass(frozen=True)
class _Cut:
    """A list of nodes with phases: slots of a run, and the phases."""

    slots: int
    phases: tuple[Phase, ...]


def quickest_phases(
    program: Sequence[Node], limit: int, configurations_of: ConfigurationsOf, weights: Weights
) -> tuple[list[Phase], int]:
    """Phases of a program for a network of ``limit`` slots, and the slots that its communication takes in a run.

    Parameters
    ----------
    program : sequence of Node
    limit : int
    configurations_of : callable
        As ``phases.configurations_on`` makes it. A communication that alone needs more than ``limit`` is divided.
    weights : Weights

    Raises
    ------
    PointsmanError
        If ``limit`` is less than 1.

    >>> from pointsman.artifacts.configurations.configurations import Network
    >>> from .phases import configurations_on
    >>> one, other = (Communication(name, frozenset({(0, k)})) for k, name in enumerate("ab", start=1))
    >>> configured = configurations_on(Network("crossbar", (3,)))
    >>> [phase.names for phase in quickest_phases([one, other], 2, configured, Weights({"a": 9, "b": 9}, load=1))[0]]
    [('a',), ('b',)]
    >>> [phase.names for phase in quickest_phases([one, other], 2, configured, Weights({"a": 9, "b": 9}, load=20))[0]]
    [('a', 'b')]
    """
    if limit < 1:
        raise PointsmanError(f"there must be at least one slot, not {limit}")
    found = _Cutting(limit, configurations_of, weights).of_list(program, ())
    return in_order(program, found.phases), found.slots


class _Cutting:
    def __init__(self, limit: int, configurations_of: ConfigurationsOf, weights: Weights) -> None:
        self.limit = limit
        self.configurations_of = configurations_of
        self.weights = weights
        self.degree: Callable[[Pattern], int] = lambda pattern: len(configurations_of(pattern))

    def of_list(self, nodes: Sequence[Node], at: Place) -> _Cut:
        """The best cut of a list: for each end, the best beginning of its last part."""
        entries = self.weights.entries.get(at, 1)
        best = [_Cut(0, ())]
        for end in range(1, len(nodes) + 1):
            node = nodes[end - 1]
            opened = self.opened(node, (*at, end - 1))
            ways = [] if opened is None else [_Cut(best[-1].slots + opened.slots, (*best[-1].phases, *opened.phases))]
            pattern: Pattern = frozenset()
            names: tuple[str, ...] = ()
            for begin in reversed(range(end)):
                inside = communications(nodes[begin])
                names = (*(one.name for one in inside), *names)
                pattern = pattern.union(*(one.connections for one in inside))
                degree = self.degree(pattern) if pattern else 0
                if degree > self.limit:
                    break
                before = best[begin]
                if not pattern:
                    ways.append(before)
                    continue
                phase = Phase((*at, begin), pattern, degree, names)
                slots = degree * sum(self.weights.packets[name] for name in names) + entries * self.weights.load
                ways.append(_Cut(before.slots + slots, (*before.phases, phase)))
            best.append(min(ways, key=lambda cut: (cut.slots, len(cut.phases))))
        return best[-1]

    def opened(self, node: Node, at: Place) -> _Cut | None:
        """Phases inside a node; None for a communication that has one of its own."""
        if isinstance(node, Communication):
            if self.degree(node.connections) <= self.limit:
                return None
            configurations = self.configurations_of(node.connections)
            phases = []
            for first in range(0, len(configurations), self.limit):
                part = configurations[first : first + self.limit]
                phases.append(Phase(at, frozenset(pair for one in part for pair in one), len(part), (node.name,)))
            entries = self.weights.entries.get(at[:-1], 1)
            slots = len(configurations) * self.weights.packets[node.name] + entries * self.weights.load * len(phases)
            return _Cut(slots, tuple(phases))
        cuts = [self.of_list(nodes, (*at, name)) for name, nodes in node.parts]
        return _Cut(sum(cut.slots for cut in cuts), tuple(phase for cut in cuts for phase in cut.phases))


def communications(node: Node) -> list[Communication]:
    """All communications of a node, in the order of the text."""
    if isinstance(node, Communication):
        return [node]
    return [one for _, nodes in node.parts for inner in nodes for one in communications(inner)]
