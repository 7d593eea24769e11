"""Which messages may be on their way to a node at the same time (Metcalf 1997, §7.2.2).

Takes a program and how its operators send messages. Gives for each node pairs of arrivals that should not share an interface
address. Leaves alone: which address they get, and how a reader tells messages at an address apart (``addresses``).

Arrivals A and B may share an address of node n if n has read A whenever a message of B sets out, and the other way round.
That is proved as in the dependency graph of phases (`pointsman.plan.conflicts.happens_before`), here for single messages: what
a node knows of the nodes that have left A's phase goes with each of its messages, and at a phase a node knows for certain only
what it knows on *every* way that control flow takes there (optional groups are left out on some). A shift sends before it
receives, and so orders nothing. Operators with run-time operands tell nobody anything, because it is not known which nodes
they join.

Where routing is deterministic, messages from one node to another keep their order. So A and B may also share an address if all
of their messages at n come from one node (Metcalf 1997, Figure 7-5): it sends them in the order in which n reads them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pointsman.cop.evaluation.operators import ends
from pointsman.network import Topology
from pointsman.operators.api.operands import runtime_operands
from pointsman.operators.messages import Combine, Decomposition, Exchange, Receive, Script, Send
from pointsman.plan.structure.structure import Structure
from pointsman.program.program import Operator

Nodes = int
"""A set of nodes: bit n stands for node n."""
Key = tuple[int, int, int]
"""A message in an instance: from, to, channel."""


@dataclass(frozen=True, order=True)
class Arrival:
    """Messages of an operator (its place in the program) on one of its channels, at a node."""

    operator: int
    channel: int
    node: int


@dataclass(frozen=True)
class Flow:
    """What happens in an instance of an operator, in an order that the messages allow: (node, message) each, sent or received."""

    nodes: tuple[int, ...]
    events: tuple[tuple[bool, int, int], ...]
    """Whether it is sent, the node, the message's place in ``messages``."""
    messages: tuple[Key, ...]
    known: bool
    """False: nothing is known of its messages, and there are no events."""


class ArrivalOrder:
    """What is known of the order of a program's messages.

    Parameters
    ----------
    structure : Structure
        Order of the program's phases; operators of one phase are in no order.
    operators : sequence of (Operator, Decomposition)
        Every operator of the program, phase by phase.
    phase_of : sequence of int
        Phase of each operator.
    topology : Topology
    in_order : bool
        Messages from one node to another keep their order, as they do where routing is deterministic.
    """

    def __init__(
        self,
        structure: Structure,
        operators: Sequence[tuple[Operator, Decomposition]],
        phase_of: Sequence[int],
        topology: Topology,
        *,
        in_order: bool = True,
    ) -> None:
        self.structure = structure
        self.in_order = in_order
        self.phase_of = phase_of
        self.nodes = topology.nodes
        self.arrivals: list[Arrival] = []
        """All arrivals, in no order of time."""
        self.flows: list[list[Flow]] = []
        """By operator, for each of its instances."""
        found: dict[Arrival, None] = {}
        self.senders: dict[Arrival, set[int]] = defaultdict(set)
        """Nodes from which an arrival comes, where they are known."""
        for number, (operator, way) in enumerate(operators):
            self.flows.append([_flow(operator, way, i, topology) for i in range(len(operator.instances))])
            for flow, instance in zip(self.flows[-1], operator.instances, strict=True):
                if flow.known:
                    for sender, to, channel in flow.messages:
                        found[Arrival(number, channel, to)] = None
                        self.senders[Arrival(number, channel, to)].add(sender)
                else:
                    _, readers = ends(operator.kind, instance.nodes, instance.operands)
                    for node in sorted(readers):
                        found.update({Arrival(number, channel, node): None for channel in range(way.channels)})
        self.arrivals = list(found)
        self.operators_of: dict[int, list[int]] = defaultdict(list)
        for number, phase in enumerate(phase_of):
            self.operators_of[phase].append(number)

    def conflicts(self) -> Mapping[int, set[frozenset[Arrival]]]:
        """By node: pairs of arrivals that may be under way at the same time."""
        at: dict[tuple[int, int], list[Arrival]] = defaultdict(list)
        phases_at: dict[int, set[int]] = defaultdict(set)
        for arrival in self.arrivals:
            at[self.phase_of[arrival.operator], arrival.node].append(arrival)
            phases_at[arrival.node].add(self.phase_of[arrival.operator])
        found: dict[int, set[frozenset[Arrival]]] = defaultdict(set)
        for phase in sorted(self.operators_of):
            here = sorted(node for node, phases in phases_at.items() if phase in phases)
            for node in here:
                found[node].update(frozenset((a, b)) for a in at[phase, node] for b in at[phase, node] if a != b)
            later = {q for node in here for q in phases_at[node]} - {phase}
            known = self._follow(phase) if later & self.structure.graph.later(phase) else {}
            for q in later & known.keys():
                told = self._told(q, known[q])
                for node in here:
                    for b in at[q, node]:
                        if not told[b] >> node & 1:
                            found[node].update(frozenset((a, b)) for a in at[phase, node] if not self._on_one_way(a, b))
        return found

    # -- inside ----------------------------------------------------------------------------------------------

    def _on_one_way(self, one: Arrival, other: Arrival) -> bool:
        """Do arrivals of different phases come from one node each, the same, and so in the order of these phases?"""
        senders = self.senders.get(one, set())
        return self.in_order and len(senders) == 1 and senders == self.senders.get(other)

    def _follow(self, earlier: int) -> dict[int, list[Nodes]]:
        """By phase after ``earlier`` and node: which nodes have certainly left ``earlier`` when the node begins the phase."""
        flow = self.structure.successors
        after = self.structure.graph.later(earlier)
        before: dict[int, list[int]] = {p: [q for q in (earlier, *after) if p in flow[q]] for p in after}
        everybody = (1 << self.nodes) - 1
        known = {p: [everybody] * self.nodes for p in after}
        # A node that leaves ``earlier`` knows for certain only that it has left itself, also when it comes through again.
        done = {earlier: [1 << node for node in range(self.nodes)]}
        changed = True
        while changed:
            changed = False
            for p in sorted(after):
                common = known[p]
                for q in dict.fromkeys(before[p]):
                    if q not in done:
                        done[q] = self._done(q, known[q])
                    common = [a & b for a, b in zip(common, done[q], strict=True)]
                if common != known[p]:
                    known[p], changed = common, True
                    if p != earlier:
                        done.pop(p, None)
        return known

    def _done(self, phase: int, known: Sequence[Nodes]) -> list[Nodes]:
        """What nodes know when they are through with a phase: of several operators they may have used any."""
        through: dict[int, Nodes] = {}
        for number in self.operators_of[phase]:
            for flow in self.flows[number]:
                after, _ = _played(flow, known)
                for node in flow.nodes:
                    through[node] = through.get(node, -1) & after[node]
        return [through.get(node, own) for node, own in enumerate(known)]

    def _told(self, phase: int, known: Sequence[Nodes]) -> dict[Arrival, Nodes]:
        """What the senders of each arrival in a phase know in common when they send."""
        found: dict[Arrival, Nodes] = defaultdict(lambda: -1)
        for number in self.operators_of[phase]:
            for flow in self.flows[number]:
                _, sent = _played(flow, known)
                for (_, to, channel), knowledge in zip(flow.messages, sent, strict=True):
                    found[Arrival(number, channel, to)] &= knowledge
                if not flow.known:
                    for arrival in self.arrivals:
                        if arrival.operator == number and arrival.node in flow.nodes:
                            for sender in flow.nodes:
                                if sender != arrival.node:
                                    found[arrival] &= known[sender]
        return found


def _played(flow: Flow, known: Sequence[Nodes]) -> tuple[list[Nodes], list[Nodes]]:
    """By node what it knows after an instance, and by message what its sender knew; ``known``: what nodes knew before."""
    row = list(known)
    sent: list[Nodes] = [0] * len(flow.messages)
    for sends, node, message in flow.events:
        if sends:
            sent[message] = row[node]
        else:
            row[node] |= sent[message]
    return row, sent


def _flow(operator: Operator, way: Decomposition, instance: int, topology: Topology) -> Flow:
    """Play an instance whose operands are all known."""
    nodes = operator.instances[instance].nodes
    if runtime_operands(operator):
        return Flow(nodes, (), (), known=False)
    events: list[tuple[bool, int, int]] = []
    messages: list[Key] = []
    under_way: dict[Key, list[int]] = defaultdict(list)

    def sends(node: int, send: Send) -> None:
        key = (node, send.to, send.channel)
        under_way[key].append(len(messages))
        events.append((True, node, len(messages)))
        messages.append(key)

    left = {node: _steps(way.script(operator, instance, node, (), topology)) for node in nodes}
    waiting: dict[int, Receive] = {}
    while True:
        before = len(events)
        for node in nodes:
            while True:
                if node in waiting:
                    receive = waiting[node]
                    key = next(
                        (k for k, those in under_way.items() if those and _is_for(k, node, receive)),
                        None,
                    )
                    if key is None:
                        break
                    del waiting[node]
                    message = under_way[key].pop(0)
                    if receive.source is not None:
                        # What comes from anybody tells nothing for certain.
                        events.append((False, node, message))
                    for onward in receive.forward:
                        sends(node, onward)
                step = next(left[node], None)
                if step is None:
                    break
                if isinstance(step, Send):
                    sends(node, step)
                elif isinstance(step, Exchange):
                    sends(node, step.send)
                    waiting[node] = step.receive
                elif isinstance(step, Receive):
                    waiting[node] = step
        if len(events) == before:
            return Flow(nodes, tuple(events), tuple(messages), known=True)


def _is_for(key: Key, node: int, receive: Receive) -> bool:
    origin, to, channel = key
    return to == node and channel == receive.channel and receive.source in (None, origin)


def _steps(script: Script) -> Iterator[Send | Receive | Exchange | Combine]:
    return (step for calls in script.calls.values() for call in calls for step in call.steps)
