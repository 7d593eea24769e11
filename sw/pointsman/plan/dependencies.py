"""Who can be in which phase while somebody else has not left an earlier one (Metcalf 1997, §5.3.4; there only sketched).

The graph has, for each phase A and node n, an I/O vertex A_n (n uses its operators) and an arrival vertex A'_n (words of A
have come to n). Edges lead from an I/O vertex to those of the phases that can follow at the node, from the I/O vertex of a
writer to the arrival vertices of those that its words reach, and from an arrival vertex to the I/O vertex of its node. Which
words have come when n is through with A is the implementation's affair; `plan.progress` has followed its streams: if it is
message-bound, words that depend on all nodes of the instance.

A node n may use a wire that m reads in phase E again in phase L if L_n always follows some A_m via A'_n, with A after E: m
has left E then. *Always*: on every way that control flow takes from E to L; an operator that may be left out, or that is not
the last that a node uses before it leaves A, proves nothing. Dependencies that hold of m when it begins A hold of n when it
is through, so they add up over several operators: after a reduction to a node and a broadcast from it everybody knows of
everybody.

Takes a structure and planned phases; leaves alone what is done about it (`ends.collisions`, `around`, `fit`). The judge
proves it again in another way (`streams.check_skew`). Where threads go through phases of their own nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Sequence

from pointsman.network import Topology
from pointsman.streams.stream import RoutedPhase

from .plan import PlannedOperator, PlannedPhase
from .structure import Structure

Nodes = int
"""A set of nodes: bit n stands for node n."""


class Dependencies:
    """The dependency graph of planned phases, asked for pairs of phases and nodes.

    A question about phases that has not been asked before takes nodes x phases x the number of nodes of an instance, a few times.
    """

    def __init__(self, structure: Structure, planned: Sequence[PlannedPhase], topology: Topology) -> None:
        self.structure = structure
        self.nodes = topology.nodes
        self.arrived = [self._arrivals(phase, self._last(index)) for index, phase in enumerate(planned)]
        """By phase and node: whose I/O vertices lead to the node's arrival vertex."""
        self.users = [sum(1 << node for node in phase.nodes) for phase in planned]
        self._left: dict[int, list[list[Nodes] | None]] = {}

    def has_left(self, earlier: int, later: int, node: int, other: int) -> bool:
        """When ``node`` is in phase ``later``, having come from ``earlier``, has ``other`` left ``earlier`` for certain?"""
        if self.structure.threads is not None:
            return False
        if earlier not in self._left:
            self._left[earlier] = self._follow(earlier)
        here = self._left[earlier][later]
        return here is not None and bool(here[node] >> other & 1)

    def _last(self, index: int) -> frozenset[str] | None:
        return self.structure.last[index] if self.structure.last else None

    def _arrivals(self, phase: PlannedPhase, last: frozenset[str] | None) -> list[Nodes]:
        arrived = [0] * self.nodes
        for node in phase.nodes:
            own = [one for one in phase.operators if node in one.operator.nodes]
            final = [one for one in phase.operators if last is not None and one.operator.label in last]
            if final and all(one in own for one in final):
                own = final  # it has used one of them before it leaves
            told = [_told(one, node) for one in own]
            common = told[0] if told else 0
            for more in told[1:]:
                common &= more
            if phase.barrier is not None:
                for instance in phase.barrier.operator.instances:
                    if node in instance.nodes:
                        common |= sum(1 << other for other in instance.nodes)
            arrived[node] = common
        return arrived

    def _follow(self, earlier: int) -> list[list[Nodes] | None]:
        """By phase and node, who has left ``earlier`` when the node begins the phase, on every way from there; None for phases
        that do not come after it."""
        everybody = (1 << self.nodes) - 1
        flow = self.structure.successors
        after = self.structure.reachable(earlier)
        before: dict[int, list[int]] = {p: [] for p in after}
        for p in (earlier, *sorted(after)):
            for s in flow[p]:
                if s in before and p not in before[s]:
                    before[s].append(p)
        known: list[list[Nodes] | None] = [
            [everybody] * self.nodes if p in after else None for p in range(len(self.users))
        ]

        def when_done(phase: int, node: int) -> Nodes:
            # Only itself has left it for certain, also when it comes through it again.
            if phase == earlier:
                return 1 << node
            beginning = known[phase]
            assert beginning is not None
            found, rest = beginning[node], self.arrived[phase][node] & ~beginning[node]
            while rest:
                lowest = rest & -rest
                found |= lowest | beginning[lowest.bit_length() - 1]
                rest ^= lowest
            return found

        changed = True
        while changed:
            changed = False
            for p in sorted(after):
                own = known[p]
                assert own is not None
                for node in range(self.nodes):
                    common = own[node]
                    for q in before[p]:
                        common &= when_done(q, node)
                    if common != own[node]:
                        own[node], changed = common, True
        return known


def _told(one: PlannedOperator, node: int) -> Nodes:
    """Who has begun with an operator when ``node`` is through with it."""
    if not one.message_bound or node in one.silent:
        return 0
    own = (set(i.nodes) - one.silent for i in one.operator.instances if node in i.nodes)
    return sum(1 << other for other in set().union(*own))


def keeping(structure: Structure, planned: Sequence[PlannedPhase]) -> list[bool]:
    """By phase, must it keep its interface registers to itself? So if nodes leave it each for itself, and a neighbour that is in
    it again may send words while a node has not left it yet: they wait in its registers while other phases run. Only neighbours
    count that write a link to the node there."""
    if not planned:
        return []
    topology = planned[0].routed.topology
    known = Dependencies(structure, planned, topology)
    found = []
    for index, phase in enumerate(planned):
        again = index in structure.reachable(index)
        found.append(
            bool(phase.loose)
            and (
                structure.threads is not None
                or not again
                or any(
                    not known.has_left(index, index, other, node)
                    for other, node in senders(phase.routed)
                    if node in phase.loose
                )
            )
        )
    return found


def senders(routed: RoutedPhase) -> set[tuple[int, int]]:
    """(node, neighbour) for each link over which words of a phase come to the neighbour."""
    ends = routed.topology.at_port
    writes = {
        (vfsm.node, vfsm.destination.number)
        for chain in (*routed.all_chains, *routed.second)
        for vfsm in chain.vfsms
        if vfsm.destination.kind == "link"
    }
    return {(node, ends[node][port][0]) for node, port in writes}
