"""Which messages may be on their way to a node at the same time (Metcalf 1997, §7.2.2).

Takes a program and how its operators send messages. Gives for each node pairs of arrivals that must not share an interface
address. Also serves destination queues of online routing (§4.2.1).

Vertices are the arrivals of messages, and the steps of each node's I/O. (The thesis has a single I/O vertex for each operator
and node, by which a node of a shift would send only after it has received.) An edge a -> b says that a has happened when b
happens. Streams with run-time ends give no edge between nodes, because it is not known which nodes they join.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pointsman.cop.evaluation.operators import ends
from pointsman.network import Topology
from pointsman.operators.api.operands import runtime_operands
from pointsman.operators.messages import Combine, Decomposition, Exchange, Receive, Send
from pointsman.plan.structure.phase_graph import END, START
from pointsman.plan.structure.structure import Structure
from pointsman.program.program import Operator


@dataclass(frozen=True, order=True)
class Arrival:
    """Messages of an operator (its place in the program) on one of its channels, at a node."""

    operator: int
    channel: int
    node: int


class ArrivalOrder:
    """The dependency graph of a program.

    Parameters
    ----------
    structure : Structure
        Order of the program's phases; operators of one phase are in no order.
    operators : sequence of (Operator, Decomposition)
        Every operator of the program, phase by phase.
    phase_of : sequence of int
        Phase of each operator.
    topology : Topology
    """

    def __init__(
        self,
        structure: Structure,
        operators: Sequence[tuple[Operator, Decomposition]],
        phase_of: Sequence[int],
        topology: Topology,
    ) -> None:
        self.operators = operators
        self.phase_of = phase_of
        self.edges: list[list[int]] = []
        self.arrivals: dict[Arrival, int] = {}
        self.first: dict[tuple[int, int], int] = {}
        """First vertex of an operator's I/O at a node, by operator and node."""
        self.end: dict[tuple[int, int], int] = {}
        for number, (operator, way) in enumerate(operators):
            self._io(number, operator, way, topology)
        self._order(structure)
        self.firsts: dict[int, set[int]] = defaultdict(set)
        """By operator: the first vertices of its I/O at all nodes."""
        for (number, _), vertex in self.first.items():
            self.firsts[number].add(vertex)
        self.inside_a_loop: set[Arrival] = set()
        """Arrivals from which edges lead back to their own operator."""

    def vertices(self) -> int:
        return len(self.edges)

    def conflicts(self) -> Mapping[int, set[frozenset[Arrival]]]:
        """By node: pairs of arrivals that may be under way at the same time."""
        at_node: dict[int, list[Arrival]] = defaultdict(list)
        for arrival in self.arrivals:
            at_node[arrival.node].append(arrival)
        found: dict[int, set[frozenset[Arrival]]] = defaultdict(set)
        for node, here in at_node.items():
            for arrival in here:
                if len(here) == 1:
                    continue
                reached = self._reached(arrival)
                for other in here:
                    if other == arrival:
                        continue
                    same = self.phase_of[other.operator] == self.phase_of[arrival.operator]
                    known = self.arrivals[other] in reached
                    if same or (self.end[other.operator, node] in reached and not known):
                        found[node].add(frozenset((arrival, other)))
        return found

    # -- building --------------------------------------------------------------------------------------------

    def _vertex(self) -> int:
        self.edges.append([])
        return len(self.edges) - 1

    def _arrival(self, operator: int, channel: int, node: int) -> int:
        key = Arrival(operator, channel, node)
        if key not in self.arrivals:
            self.arrivals[key] = self._vertex()
        return self.arrivals[key]

    def _io(self, number: int, operator: Operator, way: Decomposition, topology: Topology) -> None:
        constant = not runtime_operands(operator)
        for i, instance in enumerate(operator.instances):
            _, readers = ends(operator.kind, instance.nodes, instance.operands)
            receiving = frozenset(readers)
            for node in instance.nodes:
                first, last = self._vertex(), self._vertex()
                self.first[number, node], self.end[number, node] = first, last
                if not constant:
                    self.edges[first].append(last)
                    for channel in range(way.channels if node in receiving else 0):
                        self.edges[self._arrival(number, channel, node)].append(last)
                    continue
                script = way.script(operator, i, node, (), topology)
                at = first
                for calls in script.calls.values():
                    for call in calls:
                        for step in call.steps:
                            at = self._step(number, node, at, step)
                self.edges[at].append(last)

    def _step(self, number: int, node: int, at: int, step: Send | Receive | Exchange | Combine) -> int:
        """Add a step that begins after vertex ``at``; gives the vertex of its end."""
        if isinstance(step, Combine):
            return at
        if isinstance(step, Send):
            self.edges[at].append(self._arrival(number, step.channel, step.to))
            return at
        if isinstance(step, Exchange):
            self.edges[at].append(self._arrival(number, step.send.channel, step.send.to))
            step = step.receive
        after = self._vertex()
        comes = self._arrival(number, step.channel, node)
        self.edges[at].append(after)
        self.edges[comes].append(after)
        for onward in step.forward:
            # A message may be forwarded before it has been read to its end.
            arrival = self._arrival(number, onward.channel, onward.to)
            self.edges[comes].append(arrival)
            self.edges[at].append(arrival)
        return after

    def _order(self, structure: Structure) -> None:
        """Add edges: a node's I/O in a phase ends before its I/O in the next phase in which it takes part begins."""
        phases_of: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        for number, (operator, _) in enumerate(self.operators):
            for node in operator.nodes:
                phases_of[node][self.phase_of[number]].append(number)
        following: dict[tuple[int, frozenset[int]], tuple[int, ...]] = {}
        for node, phases in phases_of.items():
            members = frozenset(phases)
            for phase, numbers in phases.items():
                key = (phase, members)
                if key not in following:
                    after = structure.graph.next_among(phase, members)
                    following[key] = tuple(p for p in after if p not in (START, END))
                for later in following[key]:
                    for number in numbers:
                        for other in phases[later]:
                            self.edges[self.end[number, node]].append(self.first[other, node])

    def _reached(self, arrival: Arrival) -> set[int]:
        """Vertices that happen after an arrival, up to the next use of its own operator; edges into that are not followed."""
        start = self.arrivals[arrival]
        seen = {start}
        stack = [start]
        firsts = self.firsts[arrival.operator]
        while stack:
            for vertex in self.edges[stack.pop()]:
                if vertex in seen:
                    continue
                if vertex in firsts:
                    self.inside_a_loop.add(arrival)
                    continue
                seen.add(vertex)
                stack.append(vertex)
        return seen
