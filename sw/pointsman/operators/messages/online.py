"""Operators over online routing: the fall-back of every operator (Metcalf 1997, §4.2; "dyn" in B.1).

An operator is done by point-to-point messages (``messages``), which processors pass on over streams to neighbours. These
streams belong to the phase (``routing.online.channels``), so an implementation here has no streams of its own: it only
says between which nodes messages may go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import log2
from types import MappingProxyType
from typing import Any

from pointsman.errors import PointsmanError
from pointsman.network import Topology
from pointsman.operators.api.cached import kept
from pointsman.operators.api.implementation import Context, Implementation, Metric
from pointsman.operators.api.loading import Loading
from pointsman.operators.api.operands import is_partial
from pointsman.operators.api.roles import RoleDraft
from pointsman.operators.api.wiring import Wiring
from pointsman.program.catalogue import OPERATORS
from pointsman.program.program import Operator, Runtime
from pointsman.routing.streams import Stream

from . import DECOMPOSITIONS, Decomposition, Exchange, Receive, Script, Send, scripts_of

UNKNOWN = -1
"""Stands in a script's arguments for a run-time value that the node does not know."""
MOST_SCRIPTS = 20_000
"""Most scripts (run-time values × nodes) that `traffic` reads for an instance; beyond that it assumes every pair of nodes."""
WORDS_PER_CYCLE = 0.45
"""Words per cycle that a chain of processors passes on: two accesses for each word. Too few slots may lower the real rate."""
HOP_CYCLES = 9.0
"""Cycles that a header takes from a processor to the next, without the wait for a slot (measured by benchmarks/online.py)."""
SERIAL = {"dyn_bcast": 1.0, "dyn_spread": 1.0, "dyn_seqwrite": 1.0, "dyn_gather": 0.75, "dyn_seqread": 0.75}
"""Decompositions in which a single node sends or receives a message for each other node, so its messages queue, and the time of
each: while one is taken up, the next comes on its other channels (gathers of 500 words on 3×3 to 8×8)."""
TREES = {"dyn_reduce": 1.0, "dyn_allreduce": 2.0, "dyn_prefix": 2.0}
"""Decompositions in which processors combine whole messages up a tree, and how often a message passes each of its levels."""
AGREEING, AGREEMENT = 3, 6
"""Channels from AGREEING on carry the one-word messages by which nodes agree on a value; an operator whose nodes have to agree
has AGREEMENT channels in all."""


class Online(Implementation):
    """An operator by messages that processors pass on: wraps a decomposition, whose name and kinds it has."""

    loading = Loading.ONLINE
    one_way = True
    played_only = True

    def __init__(self, way: Decomposition) -> None:
        self.way = way
        self.name = way.name
        self.kinds = way.kinds

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        if not agrees(operator) and not self.way.fits(operator, context.topology):
            return None
        nodes = max(len(instance.nodes) for instance in operator.instances)
        far = sum(size - 1 for size in context.topology.size) if context.topology.regular else nodes
        several = max(1.0, self._in_turn(nodes))
        latency = HOP_CYCLES * max(1, far) + (8.0 * (several - 1) if self.name in SERIAL else 0.0)
        return Metric(words_per_cycle=WORDS_PER_CYCLE / several, latency=latency)

    def _in_turn(self, nodes: int) -> float:
        """Times of a message that an operator of so many nodes takes at least: messages of a SERIAL decomposition go through a
        single node one after the other, those of a TREE are combined whole, level after level, and where everybody sends at
        once they share the links in the middle of the mesh."""
        if self.name in SERIAL:
            return SERIAL[self.name] * (nodes - 1)
        if self.name in TREES:
            return TREES[self.name] * log2(nodes)
        return nodes**0.5 / 3 if self.name in ("dyn_shift", "dyn_permute") else 1.0

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        return []

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        """No lanes: I/O functions are made at run time, from the values (`pointsman.runtime.numesh.online_agent`)."""
        return RoleDraft("none")


ONLINE: tuple[Online, ...] = tuple(Online(way) for way in DECOMPOSITIONS)


def agrees(operator: Operator) -> bool:
    """Must nodes agree on the destination at load, because only the destination knows it (``:distributed``)?"""
    return operator.kind in ("collect", "reduce") and is_partial(operator, "destination")


def agreement(operator: Operator) -> Operator:
    """The allreduce of a word (max) by which all nodes learn the destination."""
    instances = tuple(replace(instance, operands=(("function", "max"),)) for instance in operator.instances)
    return Operator(operator.label, "allreduce", instances, m=1)


def channels_of(operator: Operator, way: Decomposition) -> int:
    """Number of message channels of an operator; each has a destination queue of its own."""
    return AGREEMENT if agrees(operator) else way.channels


def channel_words(kind: str, m: int, channel: int) -> int:
    """Words of a message on ``channel`` of an operator of this kind with ``m``-word messages."""
    return 1 if kind == "barrier" or channel >= AGREEING else m


def destination_queues(operators: Sequence[tuple[int, int, Operator, Decomposition]]) -> dict[int, tuple[int, ...]]:
    """Destination queues of the channels of online operators, by operator.

    Two channels can have messages at a node at the same time only if their operators share a phase and a node: phases are
    separated by barriers, after which no message is under way. So each phase numbers its queues from 0, and operators without
    a common node share queues, if their messages are equally long: a node that passes a message on tells its length from its
    queue (Metcalf 1997, §4.2.1, §7.2.2).

    Parameters
    ----------
    operators : sequence
        (key of the operator in the result, its phase, the operator, its decomposition) of each.
    """
    found: dict[int, tuple[int, ...]] = {}
    taken: dict[int, list[tuple[int, frozenset[int], int]]] = {}  # by phase: queue, nodes, words
    for index, phase, operator, way in operators:
        nodes = operator.nodes
        own: list[int] = []
        used = taken.setdefault(phase, [])
        for channel in range(channels_of(operator, way)):
            words = channel_words(operator.kind, operator.m, channel)
            bad = {queue for queue, others, length in used if others & nodes or length != words}
            queue = next(number for number in range(len(used) + 1) if number not in bad)
            used.append((queue, nodes, words))
            own.append(queue)
        found[index] = tuple(own)
    return found


def way_named(name: str, kind: str) -> Decomposition:
    """The decomposition called ``name`` for operators of ``kind``; PointsmanError if there is none."""
    for way in DECOMPOSITIONS:
        if way.name == name and kind in way.kinds:
            return way
    raise PointsmanError(f"no {kind} by messages is called {name}")


def traffic(operator: Operator, way: Decomposition, topology: Topology) -> Mapping[tuple[int, int], float]:
    """Mean words that an operator sends between two nodes, over its run-time values, by (source, destination).

    Every pair that some value can use has more than 0 words.
    """
    key = "traffic", id(way), id(topology)
    return kept(operator, key, (way, topology), lambda: MappingProxyType(_traffic(operator, way, topology)))


def _traffic(operator: Operator, way: Decomposition, topology: Topology) -> dict[tuple[int, int], float]:
    words: dict[tuple[int, int], float] = {}
    if agrees(operator):
        asked = agreement(operator)
        words |= traffic(asked, way_named("dyn_allreduce", "allreduce"), topology)
    amount = float(operator.m * operator.c)
    for i, instance in enumerate(operator.instances):
        values = list(_values(operator, i))
        if not values or len(values) * len(instance.nodes) > MOST_SCRIPTS:
            share = amount / max(1, len(instance.nodes))
            for pair in product(instance.nodes, instance.nodes):
                if pair[0] != pair[1]:
                    words[pair] = words.get(pair, 0.0) + share
            continue
        for node in instance.nodes:
            own = instance.nodes.index(node)
            for value in values:
                script = way.script(operator, i, node, seen(operator, value, own), topology)
                for to in _sends(script):
                    words[node, to] = words.get((node, to), 0.0) + amount / len(values)
    return words


def seen(operator: Operator, values: Sequence[Any], position: int) -> tuple[Any, ...]:
    """Run-time values as the node at ``position`` knows them: a ``:distributed`` node only if it is that node itself, else
    UNKNOWN; a ``:dynamic`` destination only at the source; of a ``:distributed`` permutation its own entry."""
    if agrees(operator) or not values:
        return tuple(values)
    found = []
    operands = operator.instances[0].operands
    known = dict(zip([name for name, value in operands if isinstance(value, Runtime)], values, strict=True))
    for name, operand in operands:
        if not isinstance(operand, Runtime):
            continue
        value = known[name]
        sort = next(one.sort for one in OPERATORS[operator.kind].operands if one.name == name)
        if sort == "permutation" and operand.distributed and not isinstance(value, int):
            value = value[position]
        elif sort == "node" and operand.dynamic and operator.kind == "stream":
            # The source is known at compile time, or is a run-time operand.
            source = known.get("source", operator.instances[0].operand("source"))
            value = value if position == source else UNKNOWN
        elif sort == "node" and (operand.distributed or operand.dynamic):
            value = value if position == value else UNKNOWN
        found.append(value)
    return tuple(found)


def carried(operator: Operator, way: str, topology: Topology, values: Sequence[Any]) -> dict[int, list[Script]]:
    """By node, the scripts that the run time carries out in an operator done by the decomposition ``way``, for run-time values of
    the whole program: an entry for each run-time operand. What the judge is given to prove (`pointsman.verify.meaning.messages`).

    Raises
    ------
    PointsmanError
        If there is no such decomposition.
    """
    found = {}
    for instance in operator.instances:
        for position, node in enumerate(instance.nodes):
            own = seen(operator, values, position)
            found[node] = [one for _, one in scripts_of(operator, way_named(way, operator.kind), node, own, topology)]
    return found


def passed_on(
    operator: Operator, way: Decomposition, node: int, topology: Topology
) -> dict[tuple[int, int], tuple[tuple[int, int], ...]]:
    """Messages that a node passes on as they come in, before its program asks for them: by (source, channel), where to, as
    (destination, channel) of each. None of an operator with run-time values: the node may not have loaded them yet."""
    if operator.runtime_names:
        return {}
    found: dict[tuple[int, int], tuple[tuple[int, int], ...]] = {}
    for _, script in scripts_of(operator, way, node, (), topology):
        for call in (call for several in script.calls.values() for call in several):
            for step in call.steps:
                receive = step.receive if isinstance(step, Exchange) else step
                if isinstance(receive, Receive) and receive.source is not None and receive.forward:
                    onward = tuple((one.to, one.channel) for one in receive.forward)
                    assert found.setdefault((receive.source, receive.channel), onward) == onward
    return found


def legal_values(operator: Operator, instance: int, name: str) -> tuple[int, ...] | range:
    """Legal values of a run-time operand: of a node or a distance, or of a node's entry in a ``:distributed`` permutation."""
    value = operator.instances[instance].operand(name)
    assert isinstance(value, Runtime)
    if value.values is not None:
        return tuple(sorted(set(value.values)))
    nodes = min(len(one.nodes) for one in operator.instances)
    if name != "distance":
        return tuple(node for node in range(nodes) if node not in operator.chained)
    return range(1 - nodes, nodes) if operator.kind == "cshift" else range(-nodes, nodes + 1)


def _values(operator: Operator, instance: int) -> Iterator[tuple[Any, ...]]:
    """Every combination of run-time values; empty if a permutation known to all nodes makes them too many to list."""
    choices: list[Sequence[Any]] = []
    for name, operand in operator.instances[instance].operands:
        if not isinstance(operand, Runtime):
            continue
        sort = next(one.sort for one in OPERATORS[operator.kind].operands if one.name == name)
        if sort == "function":
            choices.append((None,))
        elif sort == "permutation" and not operand.distributed:
            return
        else:
            choices.append(legal_values(operator, instance, name))
    yield from product(*choices)


def _sends(script: Script) -> Iterator[int]:
    """Destination of each message that the script sends."""
    for calls in script.calls.values():
        for call in calls:
            for step in call.steps:
                if isinstance(step, Send):
                    yield step.to
                elif isinstance(step, Exchange):
                    yield step.send.to
                    yield from (onward.to for onward in step.receive.forward)
                elif isinstance(step, Receive):
                    yield from (onward.to for onward in step.forward)


def for_image(operator: Operator) -> Operator:
    """The operator as an image keeps it: without positions in the COP text."""
    return replace(
        operator,
        position=None,
        instances=tuple(
            replace(
                instance,
                position=None,
                operands=tuple(
                    (name, replace(value, position=None) if isinstance(value, Runtime) else value)
                    for name, value in instance.operands
                ),
            )
            for instance in operator.instances
        ),
    )
