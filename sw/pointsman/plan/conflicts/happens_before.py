"""Which node can be in which phase while another node has not left an earlier phase (Metcalf 1997, §5.3.4; there only sketched).

The graph has, for each phase A and node n, an I/O vertex A_n (n uses its operators) and an arrival vertex A'_n (words
of A have come to n). Edges lead from an I/O vertex to those of the phases that can follow at the node, from the I/O
vertex of a writer to the arrival vertices of the nodes that its words reach, and from an arrival vertex to the I/O
vertex of its node. Which words have come when n is through with A depends on the implementation: if it is
message-bound, which `plan.termination.marked_graph` finds out, words that depend on all nodes of the instance.

A node n may use a wire that m reads in phase E again in phase L if L_n always follows some A_m via A'_n, with A after
E: m has left E then. *Always*: on every way that control flow takes from E to L; an operator that may be left out, or
that is not the last that a node uses before it leaves A, proves nothing. What m knows when it begins A, n knows when it
is through with A, so knowledge adds up over several operators: after a reduction to a node and a broadcast from it,
every node knows that every other node has come so far.

The same holds within L: if on every way into L an operator B of L is used after another operator A of L, and A tells of
m, then B may write what m reads in E (`HappensBefore.begins`): the words of B set out when m is in L. Words of load
functions may not, since an application may call those before it uses A. The reverse, which §5.3.4 mentions for a later
phase whose slots stand already, frees nothing: docs/phase_rules.md has the counterexample.

Takes a structure and planned phases; leaves alone what is done about conflicts (``collisions``, ``reroute``, ``memory``). The
judge proves the same in another way (`verify.phases.skew`). Where threads go through phases of their own nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pointsman.network import Topology
from pointsman.plan.plan import PlannedOperator, PlannedPhase
from pointsman.plan.structure.certainty import certain_users
from pointsman.plan.structure.structure import Structure

Nodes = int
"""A set of nodes: bit n stands for node n."""


class HappensBefore:
    """The dependency graph of planned phases, asked for pairs of phases and nodes.

    The first question about an earlier phase takes time of the order of nodes x operators x phases; answers are kept.
    """

    def __init__(self, structure: Structure, planned: Sequence[PlannedPhase], topology: Topology) -> None:
        self.structure = structure
        self.planned = planned
        self.nodes = topology.nodes
        self._sure = certain_users(structure)
        self._orders: dict[int, list[tuple[PlannedOperator, list[PlannedOperator]]]] = {}
        self._left: dict[int, list[list[Nodes] | None]] = {}
        self._begun: dict[tuple[int, int], dict[str, list[Nodes]]] = {}

    def has_left(self, earlier: int, later: int, node: int, other: int) -> bool:
        """When ``node`` is in phase ``later``, having come from ``earlier``, has ``other`` left ``earlier`` for certain?"""
        here = self.all_left(earlier, later)
        return here is not None and bool(here[node] >> other & 1)

    def begins(self, earlier: int, later: int, label: str, node: int, other: int) -> bool:
        """When ``node`` begins with the operator ``label`` of phase ``later``, has ``other`` left ``earlier`` for certain?"""
        here = self.all_left(earlier, later)
        if here is None:
            return False
        key = earlier, later
        if key not in self._begun:
            self._begun[key] = self._within(later, here)[0]
        return bool(self._begun[key][label][node] >> other & 1)

    def all_left(self, earlier: int, later: int) -> list[Nodes] | None:
        """By node, the nodes that have left ``earlier`` for certain when it is in phase ``later``; None: nothing is known."""
        if self.structure.threads is not None:
            return None
        if earlier not in self._left:
            self._left[earlier] = self._follow(earlier)
        return self._left[earlier][later]

    def _order(self, index: int) -> list[tuple[PlannedOperator, list[PlannedOperator]]]:
        """Operators of a phase, each with those before it: of a phase with many that is most of the work, and seldom asked."""
        if index not in self._orders:
            self._orders[index] = _ordered(self.planned[index], self._before(index))
        return self._orders[index]

    def _before(self, index: int) -> Mapping[str, frozenset[str]]:
        return self.structure.before[index] if self.structure.before else {}

    def _within(self, index: int, known: Sequence[Nodes]) -> tuple[dict[str, list[Nodes]], dict[str, list[Nodes]]]:
        """By operator of phase ``index`` and node, which nodes have left the earlier phase when the node begins the operator, and
        when it is through with it; ``known``: which had when it came to the phase. Nodes outside an operator learn nothing."""
        begun: dict[str, list[Nodes]] = {}
        through: dict[str, list[Nodes]] = {}
        for one, before in self._order(index):
            label = one.operator.label
            row = list(known)
            for other in before:
                for node in other.operator.nodes:
                    row[node] |= through[other.operator.label][node]
            begun[label], through[label] = row, list(row)
            if not one.message_bound:
                continue
            heard = [0] * self.nodes
            for instance in one.operator.instances:
                own = [node for node in instance.nodes if node not in one.silent]
                together = _together(own, row)
                for node in own:
                    heard[node] |= together
            through[label] = [a | b for a, b in zip(row, heard, strict=True)]
        return begun, through

    def _done(self, index: int, known: Sequence[Nodes]) -> list[Nodes]:
        """By node, which nodes have left the earlier phase when it is through with phase ``index``; ``known``: which
        had when it came to that phase."""
        phase = self.planned[index]
        last = self.structure.last[index] if self.structure.last else None
        through = self._within(index, known)[1]
        final = [one for one in phase.operators if last is not None and one.operator.label in last]
        found = list(known)
        for node in phase.nodes:
            if node not in self._sure[index]:
                continue  # it may go through the phase, or past it, without having heard of anybody
            own = [one for one in phase.operators if node in one.operator.nodes]
            if final and all(one in own for one in final):
                own = final  # a node uses one of these last, before it leaves
            if own:
                found[node] = through[own[0].operator.label][node]
                for one in own[1:]:
                    found[node] &= through[one.operator.label][node]
        if phase.barrier is not None:
            before = list(found)
            for instance in phase.barrier.operator.instances:
                together = _together(instance.nodes, before)
                for node in instance.nodes:
                    found[node] |= together
        return found

    def _follow(self, earlier: int) -> list[list[Nodes] | None]:
        """By phase and node, which nodes have left ``earlier`` when the node begins the phase, whatever way it took
        from there; None for phases that cannot come after ``earlier``."""
        everybody = (1 << self.nodes) - 1
        flow = self.structure.successors
        after = self.structure.graph.later(earlier)
        before: dict[int, list[int]] = {p: [] for p in after}
        for p in (earlier, *sorted(after)):
            for s in flow[p]:
                if s in before and p not in before[s]:
                    before[s].append(p)
        # Rows of all nodes as one number: what several phases have in common is found at once.
        known = dict.fromkeys(after, self._joined([everybody] * self.nodes))
        # A node that leaves ``earlier`` knows for certain only that it has left itself, also when it comes through again.
        done = {earlier: self._joined([1 << node for node in range(self.nodes)])}
        changed = True
        while changed:
            changed = False
            for p in sorted(after):
                common = known[p]
                for q in before[p]:
                    if q not in done:
                        done[q] = self._joined(self._done(q, self._apart(known[q])))
                    common &= done[q]
                if common != known[p]:
                    known[p], changed = common, True
                    if p != earlier:
                        done.pop(p, None)
        return [self._apart(known[p]) if p in after else None for p in range(len(self.planned))]

    def _joined(self, rows: Sequence[Nodes]) -> int:
        """The rows of all nodes as one number."""
        size = self.nodes // 8 + 1
        return int.from_bytes(b"".join(row.to_bytes(size, "little") for row in rows), "little")

    def _apart(self, joined: int) -> list[Nodes]:
        """The rows that `_joined` has made one number."""
        size = self.nodes // 8 + 1
        whole = joined.to_bytes(size * self.nodes, "little")
        return [int.from_bytes(whole[at : at + size], "little") for at in range(0, len(whole), size)]


def _ordered(
    phase: PlannedPhase, before: Mapping[str, frozenset[str]]
) -> list[tuple[PlannedOperator, list[PlannedOperator]]]:
    """The operators of a phase, each with the operators that are always used before it; earlier ones first."""
    order = sorted(phase.operators, key=lambda one: len(before.get(one.operator.label, ())))
    earlier = [before.get(one.operator.label, frozenset()) for one in order]
    return [
        (one, [other for other in order if other.operator.label in labels])
        for one, labels in zip(order, earlier, strict=True)
    ]


def _together(nodes: Iterable[int], row: Sequence[Nodes]) -> Nodes:
    """The union of what these nodes know, and these nodes themselves, since they have come so far."""
    found = 0
    for node in nodes:
        found |= row[node] | 1 << node
    return found
