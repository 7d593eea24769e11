"""Operators by messages on the time-multiplexed switch, and the connections that they need.

Takes an Operator. Gives `Decomposition`s that can do it and the pairs of ports between which their words go. Besides those of
``operators.messages`` the switch has two broadcasts and a barrier along a ring, useless on a mesh but good on a crossbar: each
port sends to the next port only, so a single configuration is enough, whatever the source.
Non-goals: time; see `pointsman.targets.tdm.working_sets`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pointsman.artifacts.tables import Pair
from pointsman.errors import PointsmanError
from pointsman.network import Topology
from pointsman.operators.api.operands import chosen_operands, is_partial, runtime_operands, runtime_values
from pointsman.program.program import Operator, Runtime

from . import (
    DECOMPOSITIONS,
    Call,
    Decomposition,
    Exchange,
    Receive,
    Script,
    Send,
    value_of,
)
from .agreement import plain_operator

MAX_SCRIPTS = 100_000
"""Most scripts (run-time values × nodes) that `use_of` reads for an operator; beyond that every pair of its ports is used."""


class ChainBcast(Decomposition):
    """Each node forwards the message to the next node of the subset, up to the node before the source (chain_bcast)."""

    name = "chain_bcast"
    kinds = ("broadcast",)

    def fits(self, operator: Operator, topology: Topology) -> bool:
        return not is_partial(operator, "source")

    def script(self, operator: Operator, instance: int, node: int, values: Sequence[Any], topology: Topology) -> Script:
        nodes = operator.instances[instance].nodes
        own, source = nodes.index(node), value_of(operator, instance, "source", values)
        after = (own + 1) % len(nodes)
        on = () if after == source else (Send(nodes[after]),)
        if own == source:
            return Script("write", {"write": (Call(on),)})
        return Script("read", {"read": (Call((Receive(nodes[own - 1], forward=on),), 0),)})


class RingBcast(Decomposition):
    """Each node forwards the message to the next node of the subset, round to the source, which removes it (ring_bcast).

    No reader needs to know the source: each reads from the node before it and sends to the node after it.
    """

    name = "ring_bcast"
    kinds = ("broadcast",)

    def script(self, operator: Operator, instance: int, node: int, values: Sequence[Any], topology: Topology) -> Script:
        nodes = operator.instances[instance].nodes
        own, source = nodes.index(node), value_of(operator, instance, "source", values)
        before, after = nodes[own - 1], nodes[(own + 1) % len(nodes)]
        if own == source:
            steps = () if len(nodes) == 1 else (Exchange(Send(after), Receive(before, 1)),)
            return Script("write", {"write": (Call(steps),)}, slots=2)
        return Script("read", {"read": (Call((Receive(before, forward=(Send(after),)),), 0),)})


class RingBarrier(Decomposition):
    """A word goes round the ring twice: when a node sees it again, all nodes have called the barrier (ring_barrier)."""

    name = "ring_barrier"
    kinds = ("barrier",)

    def script(self, operator: Operator, instance: int, node: int, values: Sequence[Any], topology: Topology) -> Script:
        nodes = operator.instances[instance].nodes
        own = nodes.index(node)
        take, give = Receive(nodes[own - 1], 1, words=1), Send(nodes[(own + 1) % len(nodes)], 1, words=1)
        if len(nodes) == 1:
            steps: tuple[Send | Receive, ...] = ()
        elif own == 0:
            steps = (give, take, give)
        else:
            steps = (take, give, take) if own == len(nodes) - 1 else (take, give, take, give)
        return Script("func", {"func": (Call(steps),)}, slots=2)


WAYS: tuple[Decomposition, ...] = (ChainBcast(), RingBcast(), RingBarrier(), *DECOMPOSITIONS)
"""All decompositions that the switch can use; of the same kind, the preferred comes first."""


def way_named(name: str, kind: str) -> Decomposition:
    """The decomposition called ``name`` for operators of ``kind``; PointsmanError if there is none."""
    for way in WAYS:
        if way.name == name and kind in way.kinds:
            return way
    names = ", ".join(way.name for way in WAYS if kind in way.kinds)
    raise PointsmanError(f"there is no way '{name}' to do a {kind} on the switch", hint=f"there are: {names or 'none'}")


@dataclass(frozen=True)
class Way:
    """A way to do an operator on the switch.

    Parameters
    ----------
    decomposition : Decomposition
        Its messages.
    operator : Operator
        The operator that the decomposition does: without ``:distributed`` values if the nodes agree on them first.
    agrees : bool
        The nodes agree on the ``:distributed`` values in the load function.
    """

    decomposition: Decomposition
    operator: Operator
    agrees: bool = False


def ways(operator: Operator, topology: Topology) -> tuple[Way, ...]:
    """Ways to do ``operator``; if its ``:impl`` names a decomposition of the switch that can do it, only that.

    A value that not every node knows is agreed upon in the load function, unless a way needs it nowhere but where it is known.

    Raises
    ------
    PointsmanError
        If no decomposition can do it.
    """
    mine = [way for way in WAYS if operator.kind in way.kinds]
    named = [way for way in mine if way.name == operator.impl]
    plain = plain_operator(operator)
    for some in (named, mine):  # a way that the operands rule out is named in vain, as ways of other targets are
        found = []
        for way in some:
            if way.fits(operator, topology) and not needs_agreement(operator, way):
                found.append(Way(way, operator))
            elif plain != operator and way.fits(plain, topology):
                found.append(Way(way, plain, agrees=True))
        if found:
            return tuple(found)
    raise PointsmanError(
        f"{operator.position}: operator '{operator.label}': the switch cannot do this {operator.kind} "
        f"({', '.join(way.name for way in mine) or 'there is no way'})"
    )


def needs_agreement(operator: Operator, way: Decomposition) -> bool:
    """Must nodes know more of a ``:distributed`` or ``:dynamic`` value for this way than they are told?

    Only a ring hands a message on whoever has written it, and of a stream only its writer needs to know the destination.
    """
    partial = any(is_partial(operator, name) for name in runtime_operands(operator))
    return partial and way.name != RingBcast.name and operator.kind != "stream"


def reads_from_anybody(operator: Operator) -> bool:
    """Do receivers of an operator not know which node sends the next message?"""
    return operator.kind == "collect"


# -- run-time values -------------------------------------------------------------------------------------------


def is_permuted(operator: Operator) -> bool:
    """Is ``operator`` a permute whose permutation is given at run time?"""
    return operator.kind == "permute" and isinstance(operator.instances[0].operand("permutation"), Runtime)


def arguments(operator: Operator, numbers: Sequence[int], permutation: Sequence[int] | None = None) -> list[Any]:
    """Run-time values for `Decomposition.script`: ``numbers`` for nodes and distances, ``permutation``, None for functions."""
    left = list(numbers)
    chosen = chosen_operands(operator)
    found: list[Any] = []
    for name in runtime_operands(operator):
        if name in chosen:
            found.append(left.pop(0))
        else:
            found.append(list(permutation) if permutation is not None and name == "permutation" else None)
    return found


# -- connections -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SwitchUse:
    """Traffic on the switch when every node calls all I/O functions of an operator.

    Parameters
    ----------
    words : mapping of Pair to float
        Words between two ports, for the run-time value with most words.
    share : mapping of Pair to float
        Fraction of the run-time values for which a pair is used.
    by_value : tuple of frozenset of Pair
        Pairs used, for each of the operator's run-time values.
    accesses : int
        Words that the busiest processor writes and reads.
    depth : int
        Messages in the longest sequence of which each waits for the message before it.
    """

    words: Mapping[Pair, float]
    share: Mapping[Pair, float]
    by_value: tuple[frozenset[Pair], ...]
    accesses: int
    depth: int


def use_of(found: Way, topology: Topology) -> SwitchUse:
    """Traffic counted in the scripts of all nodes for all run-time values (above MAX_SCRIPTS: estimated)."""
    operator, way = found.operator, found.decomposition
    possible = runtime_values(operator)
    partial = found.agrees or any(is_partial(operator, name) for name in runtime_operands(operator))
    nodes = sum(len(instance.nodes) for instance in operator.instances)
    words: dict[Pair, float] = {}
    count: dict[Pair, int] = {}
    sets: list[frozenset[Pair]] = []
    accesses = depth = 0
    some = possible if len(possible) * nodes <= MAX_SCRIPTS else possible[:1]
    for value in some:
        pairs: set[Pair] = set()
        for i, instance in enumerate(operator.instances):
            scripts = {
                node: way.script(operator, i, node, arguments(operator, value, range(len(instance.nodes))), topology)
                for node in instance.nodes
            }
            for node, script in scripts.items():
                sent = _sent(script, operator.m)
                for to, amount in sent.items():
                    pairs.add((node, to))
                    words[node, to] = max(words.get((node, to), 0.0), amount)
                accesses = max(accesses, int(sum(sent.values())) + _received(script, operator.m))
            depth = max(depth, _depth(scripts))
        for pair in pairs:
            count[pair] = count.get(pair, 0) + 1
        sets.append(frozenset(pairs))
    if is_permuted(operator) or some is not possible:
        everything = frozenset((u, v) for one in operator.instances for u in one.nodes for v in one.nodes if u != v)
        accesses, depth = max(accesses, 2 * operator.m), max(depth, 1)
        return SwitchUse(dict.fromkeys(everything, operator.m), {}, (everything,) * len(possible), accesses, depth)
    if partial:
        sets = [frozenset().union(*sets)] * len(possible)
    return SwitchUse(words, {pair: n / len(some) for pair, n in count.items()}, tuple(sets), accesses, depth)


def _sent(script: Script, m: int) -> dict[int, int]:
    found: dict[int, int] = {}
    for send in _all(script, Send):
        found[send.to] = found.get(send.to, 0) + (m if send.words is None else send.words)
    return found


def _received(script: Script, m: int) -> int:
    return sum(m if one.words is None else one.words for one in _all(script, Receive))


def _all(script: Script, sort: type) -> list[Any]:
    """All sends or all receives of a script."""
    found = []
    for calls in script.calls.values():
        for call in calls:
            for step in call.steps:
                parts: tuple[Any, ...] = (step,)
                if isinstance(step, Exchange):
                    parts = (step.send, step.receive, *step.receive.forward)
                elif isinstance(step, Receive):
                    parts = (step, *step.forward)
                found += [part for part in parts if isinstance(part, sort)]
    return found


def _depth(scripts: Mapping[int, Script]) -> int:
    """Length of the longest sequence of messages that wait for each other, when every node does each of its calls once."""
    steps = {
        node: [step for calls in script.calls.values() for call in calls for step in call.steps]
        for node, script in scripts.items()
    }
    level = dict.fromkeys(steps, 0)
    arrived: dict[tuple[int, int | None], list[int]] = {}
    waiting = {node for node, todo in steps.items() if todo}
    place = dict.fromkeys(steps, 0)
    moved = True
    deepest = 0
    while waiting and moved:
        moved = False
        for node in sorted(waiting):
            while place[node] < len(steps[node]):
                step = steps[node][place[node]]
                sends: tuple[Send, ...] = ()
                if isinstance(step, Send):
                    sends = (step,)
                elif isinstance(step, Exchange):
                    # The send is done now; only its receive stays, which may be tried several times.
                    steps[node][place[node]] = step.receive
                    arrived.setdefault((step.send.to, node), []).append(level[node] + 1)
                    moved = True
                    continue
                elif isinstance(step, Receive):
                    queue = arrived.get((node, step.source))
                    if not queue:
                        break
                    level[node] = max(level[node], queue.pop(0))
                    sends = step.forward
                for send in sends:
                    arrived.setdefault((send.to, node), []).append(level[node] + 1)
                deepest = max(deepest, level[node])
                place[node] += 1
                moved = True
            if place[node] == len(steps[node]):
                waiting.discard(node)
    return max(1, deepest)
