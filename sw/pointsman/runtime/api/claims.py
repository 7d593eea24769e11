"""Run-time values that are none, as the nodes of an operator do not mean the same: compared over all nodes of a run.

A value that all nodes load has to be the same at all of them. Of one that is ``:distributed`` each node knows only its own part:
some implementations agree on it in the load function, and refuse there what is none (`operators.messages.agreement`). Where each
node only gets itself ready, nobody knows what the others said: a broadcast without a source is a deadlock then, one from two
sources mixes their words. Here the nodes of a run are compared: what each loads, who writes a broadcast's message, and what all
loaded last, once they wait for ever.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pointsman.errors import PointsmanError
from pointsman.operators.api.operands import is_dynamic, is_partial, runtime_operands
from pointsman.operators.messages.agreement import no_permutation, nobody_said, two_said
from pointsman.program.catalogue import OPERATORS
from pointsman.program.program import Operator, Program

from .left_out import Loaded
from .substrate import CHOSEN, HERE, UNKNOWN, Given, Signature

MOST = 8
"""Values, at most, that are told of."""
BETWEEN = ("stream", "seqread", "seqwrite")
"""Kinds of operators whose messages concern some of their nodes only."""
KEPT = 1000
"""Latest messages, and changes of values, of an instance that are known."""


@dataclass
class Claims:
    """What the nodes of a run said of run-time values. ``strict``: of operators ``BETWEEN`` some nodes, too, as the reference
    machine asks for; where hardware runs them, a node that has no part in a message may leave out the load function."""

    strict: bool = False
    written: dict[tuple[str, int, int], int] = field(default_factory=dict)
    """By label, first node of the instance and number of the message: the node that wrote it."""
    loaded: dict[tuple[str, int, int], tuple[int, Given]] = field(default_factory=dict)
    """By label, number of the instance and of the change of values: the node that came first, and its values."""
    reduced: dict[tuple[str, int, int], dict[int, int]] = field(default_factory=dict)
    """By label, first node of the instance and number of the call: destinations that nodes named in a reduce, by position."""
    calls: Counter[tuple[str, int]] = field(default_factory=Counter)
    """By label and node, how often it has called a reduce."""
    changes: Counter[tuple[str, int]] = field(default_factory=Counter)
    """By label and node, how often it has loaded other values than before."""

    met: dict[tuple[str, int], tuple[int, str]] = field(default_factory=dict)
    """By layer and number of a collective call of active messages: the processor that came first, and what it called."""
    meetings: Counter[tuple[str, int]] = field(default_factory=Counter)
    """By layer and processor, how many collective calls it has made."""

    def meets(self, layer: str, processor: int, called: str) -> tuple[int, str] | None:
        """Note that a processor makes its next collective call, in words; who made that call first, and which, if another."""
        number = self.meetings[layer, processor]
        self.meetings[layer, processor] += 1
        self.met.pop((layer, number - KEPT), None)
        first = self.met.setdefault((layer, number), (processor, called))
        return None if first[1] == called else first

    def writes(self, signature: Signature, node: int, message: int) -> int | None:
        """Note that a node writes its ``message``-th message of a broadcast whose source not every node knows, those that it
        read counted; the node that has already written that message, if another one has."""
        nodes = _only_instance(signature, "broadcast", node)
        if nodes is None:
            return None
        key = signature.label, nodes[0]
        self.written.pop((*key, message - KEPT), None)
        first = self.written.setdefault((*key, message), node)
        return None if first == node else first

    def reduces(self, signature: Signature, node: int, given: Given) -> PointsmanError | None:
        """Note that a node calls a reduce whose destination not every node knows; what is wrong, once another node named another
        destination in its call of the same number, or all have called and none named any."""
        nodes = _only_instance(signature, "reduce", node)
        if nodes is None:
            return None
        call = self.calls[signature.label, node]
        self.calls[signature.label, node] += 1
        key = signature.label, nodes[0], call
        here, number = nodes.index(node), given.numbers[0]
        said = self.reduced.setdefault(key, {})
        said[here] = here if number == HERE else number
        named = [(position, value) for position, value in said.items() if value != UNKNOWN]
        if len({value for _, value in named}) > 1:
            return two_said(signature.where, signature.label, "destination", named[0], named[-1])
        if len(said) == len(nodes):
            del self.reduced[key]
            return None if named else nobody_said(signature.where, signature.label, "destination")
        return None

    def loads(self, signature: Signature, node: int, given: Given) -> tuple[int, Given] | None:
        """Note that a node loads other values than before; a node of an instance that loaded others, and these."""
        if signature.partial or (signature.kind in BETWEEN and not self.strict):
            return None
        change = self.changes[signature.label, node]
        self.changes[signature.label, node] += 1
        for number, nodes in enumerate(signature.told_in):
            if node in nodes:
                key = signature.label, number
                self.loaded.pop((*key, change - KEPT), None)
                first, wanted = self.loaded.setdefault((*key, change), (node, given))
                if (given.numbers, given.permutation) != (wanted.numbers, wanted.permutation):
                    return first, wanted
        return None


def _only_instance(signature: Signature, kind: str, node: int) -> tuple[int, ...] | None:
    """Nodes of the instance that a node is in; None if it is in several, or the operator is no other of this kind than one of
    which each node knows its own part of a value."""
    instances = [nodes for nodes in signature.told_in if node in nodes]
    return instances[0] if signature.kind == kind and signature.partial and len(instances) == 1 else None


def told_in(operator: Operator) -> tuple[tuple[int, ...], ...]:
    """Instances of an operator with run-time values, whose nodes give them together; none if one may do so alone."""
    names = runtime_operands(operator) if operator.instances else ()
    if not names or any(is_dynamic(operator, name) for name in names):
        return ()
    return tuple(tuple(instance.nodes) for instance in operator.instances)


def unclaimed(program: Program, nodes: Mapping[int, Loaded]) -> list[PointsmanError]:
    """An error for each value that nodes gave in their last loads and that is none; ``nodes`` by number, those that take part.

    Only nodes that loaded the operator equally often are compared: a node that is a round behind means another value.
    """
    found: list[PointsmanError] = []
    for operator in program.operators():
        for instance in told_in(operator):
            given = [nodes[node].values.get(operator.label) for node in instance if node in nodes]
            said = [one for one in given if one is not None]
            rounds = {nodes[node].count(operator.label) for node in instance if node in nodes}
            if len(said) < len(instance) or len(rounds) > 1:
                continue
            error = _wrong(operator, said)
            if error is not None:
                found.append(error)
    return found[:MOST]


def _wrong(operator: Operator, given: Sequence[Given]) -> PointsmanError | None:
    """What is wrong with the values that the nodes of an instance have loaded, in the order of its positions."""
    sorts = {one.name: one.sort for one in OPERATORS[operator.kind].operands}
    where = "" if operator.position is None else f"{operator.position}: "
    numbered = [name for name in runtime_operands(operator) if sorts[name] in CHOSEN or is_partial(operator, name)]
    for at, name in enumerate(numbered):
        if not is_partial(operator, name):
            continue
        if sorts[name] == "permutation":
            entries = [one.numbers[at] for one in given]
            if sorted(entries) != list(range(len(given))):
                return no_permutation(where, operator.label, entries)
            continue
        said = [
            (position, position if one.numbers[at] == HERE else one.numbers[at])
            for position, one in enumerate(given)
            if one.numbers[at] != UNKNOWN
        ]
        if not said:
            return nobody_said(where, operator.label, name)
        other = next((one for one in said if one[1] != said[0][1]), None)
        if other is not None:
            return two_said(where, operator.label, name, said[0], other)
    return None
