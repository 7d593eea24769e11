"""Online streams of a phase, which belong to the phase and not to an operator (Metcalf 1997, §4.2.2).

Takes the operators of a phase that are done by messages; gives the streams to route for them and, when these are
routed, an operator that stands for them: its roles name the registers of each node's channels, and its image keeps
where a message goes on from there. So the judge sees every online stream as the stream of an operator.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import LaneImage, OnlineNode
from pointsman.network import Topology
from pointsman.network.topology import partitions
from pointsman.operators import Implementation, RoleDraft, Wiring
from pointsman.operators.messages.online import Online, traffic
from pointsman.operators.trees.multicast_trees import narrow_tree
from pointsman.program.program import Group, Operator, Program
from pointsman.routing.online.channels import Channel, Pair, Together, combined, online_network, online_streams
from pointsman.routing.online.overlays import Burst, Overlay, chosen, load_of, over, registers_of
from pointsman.routing.streams import Stream

from .plan import OnlinePart, PlannedOperator
from .structure.structure import PhaseOutline

CLOSING = 6
"""Interface registers that the closing barrier takes at a node, with few exceptions at most."""
ALONE = ("stream", "collect")
"""Kinds of operators of which each instance has a single message under way at a time."""


def online_part(
    phase: PhaseOutline,
    implementations: Sequence[Implementation],
    program: Program,
    name: str,
    express: int = 0,
    shape: NodeShape | None = None,
    period: int = 0,
    narrow: bool = False,
) -> OnlinePart | None:
    """The online streams of a phase; None if no operator of it is done by messages.

    ``express``: see ``online_network``. ``shape``: shape of the nodes; if given and all operators are done by messages, channels
    other than those to all neighbours may be chosen; None: channels go to all neighbours. ``period``: slots of the schedule.
    ``narrow``: channels only along trees on which a node has few neighbours, which need the fewest registers and slots.
    """
    topology = program.topology
    words: dict[str, Mapping[Pair, float]] = {}
    for operator, implementation in zip(phase.operators, implementations, strict=True):
        if isinstance(implementation, Online):
            words[operator.label] = traffic(operator, implementation.way, topology)
    if not words:
        return None
    together = combined(_together(phase, program, words))
    bursts = _bursts(phase, words)
    found = over(_narrow(together, topology), topology, together) if narrow else None
    network = found or online_network(topology, together, express)
    if shape is not None and express == 0 and len(words) == len(phase.operators):
        room = max(registers_of(network), shape.registers - shape.pipelines - CLOSING)
        network = chosen(topology, together, tuple(bursts.values()), network, room, period)
    label = f"{name} online"
    own = {label: tuple(sorted(pair for pair in pairs if pair[0] != pair[1])) for label, pairs in words.items()}
    loads = {one: load_of(network, burst) for one, burst in bursts.items()}
    streams = tuple(online_streams(network, label))
    return OnlinePart(label, network, streams, own, {one: load for one, load in loads.items() if load is not None})


def _narrow(pairs: Iterable[Pair], topology: Topology) -> Overlay:
    """Channels both ways along a tree for each set of nodes that messages join, with two children a node if there is such
    a tree."""
    channels: set[Channel] = set()
    for part in partitions([set(pair) for pair in pairs]):
        for inside in (part, set(topology.working)):
            nodes = tuple(sorted(inside))
            root = nodes[len(nodes) // 2]
            others = tuple(node for node in nodes if node != root)
            trees = (narrow_tree(nodes, root, others, topology, legs) for legs in range(3, 3 + topology.ports))
            links = next((links for links in trees if links is not None), None)
            if links is not None:
                channels |= {Channel(a, b, (a, b)) for link in links for a, b in (link, link[::-1])}
                break
    return Overlay("a tree", tuple(sorted(channels)))


def _bursts(phase: PhaseOutline, words: Mapping[str, Mapping[Pair, float]]) -> dict[str, Burst]:
    """By label of an operator that is done by messages: words and messages that it sends in a call, and its number of calls."""
    found = {}
    for operator, rounds in zip(phase.operators, phase.rounds, strict=True):
        if operator.label not in words:
            continue
        own = {pair: amount for pair, amount in words[operator.label].items() if pair[0] != pair[1]}
        messages = sum(own.values()) / (operator.m * operator.c)
        if operator.kind in ALONE:
            messages = min(messages, float(len(operator.instances)))
        found[operator.label] = Burst(own, operator.m, messages, rounds * operator.c)
    return found


def home_of(phase: PhaseOutline, program: Program) -> Group | None:
    """The group of a program in which the operators of a phase stand beside each other; None if there is none."""
    labels = {operator.label for operator in phase.operators}
    return next(
        (
            part
            for part, _ in program.root.walk()
            if isinstance(part, Group)
            and part.kind in ("parallel", "phase")
            and {o.label for o, _ in part.walk() if isinstance(o, Operator)} == labels
        ),
        None,
    )


def _together(phase: PhaseOutline, program: Program, words: Mapping[str, Mapping[Pair, float]]) -> Together:
    """The traffic of the phase's operators, nested like the groups of the program in which they stand."""
    home = home_of(phase, program)
    if home is None:
        return Together("parallel", tuple(words.values()))
    found: dict[int, Together | Mapping[Pair, float]] = {}
    # In the reverse order of the walk, children come before their group.
    for part, _ in reversed(list(home.walk())):
        if isinstance(part, Operator):
            found[id(part)] = words.get(part.label, {})
        else:
            children = tuple(found[id(child)] for child in part.children)
            found[id(part)] = Together("parallel" if part.kind == "parallel" else "sequential", children)
    whole = found[id(home)]
    assert isinstance(whole, Together)
    return whole


def stands_for(part: OnlinePart, wiring: Wiring, streams: range, topology: Topology) -> PlannedOperator:
    """The operator that stands for the routed online streams."""
    roles: dict[int, tuple[RoleDraft, ...]] = {}
    for node in sorted(part.network.nodes):
        lanes = [
            LaneImage(write, wiring.registers(name, node, "inject" if write else "deliver"), data="token")
            for write, name in _ends(part, node)
        ]
        roles[node] = (RoleDraft("none", tuple(lanes)),)
    return PlannedOperator(part.operator, CARRIER, ((),), roles, {}, False, tuple(streams))


def _ends(part: OnlinePart, node: int) -> list[tuple[bool, str]]:
    """Channels that begin (True) or end at a node, inputs first."""
    names = [stream.name for stream in part.streams]
    inputs = [(False, n) for n, c in zip(names, part.network.channels, strict=True) if c.target == node]
    return inputs + [(True, n) for n, c in zip(names, part.network.channels, strict=True) if c.source == node]


def online_node(part: OnlinePart, node: int, registers: Sequence[tuple[int, ...]], nodes: int) -> OnlineNode:
    """The table of a node: its inputs, outputs, and by destination the output to take. ``registers``: by lane of its role."""
    ends = _ends(part, node)
    inputs = tuple(r for (write, _), r in zip(ends, registers, strict=True) if not write)
    outputs = tuple(r for (write, _), r in zip(ends, registers, strict=True) if write)
    leaving = [i for i, channel in enumerate(part.network.channels) if channel.source == node]
    onward = [-1] * nodes
    for destination, channel in part.network.onward.get(node, {}).items():
        onward[destination] = leaving.index(channel)
    return OnlineNode(inputs, outputs, tuple(onward))


class _Carrier(Implementation):
    """Stands for the online streams in a plan."""

    name = "online"
    kinds = ()

    def metric(self, operator: Operator, context: object) -> None:
        return None

    def streams(self, operator: Operator, context: object) -> list[Stream]:
        return []

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        return RoleDraft("none")


CARRIER = _Carrier()


def spans_of(part: OnlinePart) -> list[set[int]]:
    """Sets of nodes that messages can join: nodes of each channel's way, which have to be in the same closing barrier."""
    return [set(channel.path) for channel in part.network.channels]
