"""Operators whose messages processors pass on, in a timeline: channels of their phases, and steps of the programs' calls.

Steps must match the run time: `pointsman.runtime.numesh.online_port` runs these scripts, `pointsman.runtime.numesh.online_agent`
is the agent that passes messages on (``agents``).
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import astuple
from math import prod
from typing import Any
from zlib import crc32

import numpy as np

from pointsman.network import Topology
from pointsman.operators.api.cached import kept
from pointsman.operators.api.operands import is_dynamic, operand
from pointsman.operators.messages import (
    POINT_TO_POINT,
    Call,
    Combine,
    Decomposition,
    Exchange,
    Receive,
    Script,
    Send,
    scripts_of,
)
from pointsman.operators.messages.online import (
    AGREEING,
    Online,
    agreement,
    agrees,
    channel_words,
    legal_values,
    passed_on,
    seen,
    way_named,
)
from pointsman.plan.online import online_node
from pointsman.plan.plan import Plan, PlannedOperator
from pointsman.program.catalogue import OPERATORS
from pointsman.program.program import Operator, Runtime
from pointsman.protocol.costs import LOAD_CYCLES, AgentCosts

from .. import kernel as k
from .. import online_kernel as agents
from ..board import BoardNumbers
from ..sampling import SampledVisit, choice, writer_of

Step = tuple[int, int, int]
FUNCTIONS = ("write", "read", "func")


class OnlineSteps:
    """Steps of online operators, with the numbers of queues and of mails (destination, queue, words)."""

    def __init__(self, plan: Plan, network: BoardNumbers) -> None:
        self.plan, self.network = plan, network
        self.mails: dict[tuple[int, int, int], int] = {}
        """By (destination, queue, words), the number of a mail."""
        self.sendings = 0
        """Upper bound of messages and sendings of messages, those at each node on their ways counted."""
        self.passed: dict[tuple[int, int], dict[tuple[int, int], None]] = defaultdict(dict)
        """By queue and node, (source, mail) of the messages that the node passes on as they come in."""
        self._queues: dict[tuple[str, int], int] = {}
        self._loaded: dict[tuple[int, str], tuple[Any, ...]] = {}
        self._scripts: dict[tuple[int, str], list[tuple[int, Script]]] = {}
        self._passes: dict[tuple[int, str], Mapping[tuple[int, int], object]] = {}
        self._called: dict[tuple[int, str, str], int] = {}

    # -- steps -----------------------------------------------------------------------------------------------------

    def load(self, phase: int, node: int, one: PlannedOperator, visit: SampledVisit) -> list[Step]:
        """Steps of a load function once the node is in the phase."""
        operator, label = one.operator, one.operator.label
        instance, position = _place(operator, node)
        values = _seen(operator, visit, position)
        steps: list[Step] = []
        if agrees(operator):
            way = way_named("dyn_allreduce", "allreduce")
            script = way.script(agreement(operator), instance, node, (), self.plan.topology)
            steps += self._run(phase, operator, script.calls["func"][0], AGREEING, 1, node)
        before = self._loaded.get((node, label))
        if values != before:
            if values or before is not None:
                steps.append((k.WAIT, LOAD_CYCLES, 0))
            self._loaded[node, label] = values
            self._scripts[node, label] = _scripts(operator, _way(one), node, values, self.plan.topology)
            self._passes[node, label] = _passes(operator, _way(one), node, self.plan.topology)
        for function in FUNCTIONS:
            self._called.pop((node, label, function), None)
        return steps

    def calls(self, phase: int, node: int, one: PlannedOperator, visit: SampledVisit) -> Iterator[list[Step]]:
        """Steps of each call of a node's I/O functions, for a round; none if the node has no part, or sends to itself."""
        operator = one.operator
        for instance, script in self._scripts[node, operator.label]:
            if operator.kind == "collect" and script.kind == "write" and not visit.own:
                given = _values(operator, visit.number)
                (destination,) = given or (operator.instances[instance].operand("destination"),)
                if writer_of(operator, instance, visit.number, destination) != node:
                    continue
            if (
                operator.kind == "stream"
                and script.kind == "read"
                and is_dynamic(operator, "destination")
                and not visit.own
            ):
                # A node does not know whether it is the destination; its application reads what is sent to it only.
                destination = operand(operator, instance, "destination", _values(operator, visit.number))
                if operator.instances[instance].nodes[destination] != node:
                    continue
            for function in FUNCTIONS if not script.local else ():
                for call in script.calls.get(function, ()):
                    yield self._run(phase, operator, call, 0, operator.m, node)

    def call(self, phase: int, node: int, one: PlannedOperator, function: str, number: int) -> list[Step]:
        """Steps of a node's call of one function, of which it made ``number`` since it loaded the operator."""
        operator = one.operator
        for _, script in self._scripts[node, operator.label]:
            several = script.calls.get(function, ())
            if several and not script.local:
                return self._run(phase, operator, several[number % len(several)], 0, operator.m, node)
        return []

    def _run(self, phase: int, operator: Operator, call: Call, channel: int, words: int, node: int) -> list[Step]:
        found: list[Step] = []
        at_once = self._passes.get((node, operator.label), {})

        def send(step: Send, kind: int) -> int:
            mail = self._mail(operator, step.to, channel + step.channel)
            part = self.plan.phases[phase].part
            assert part is not None
            # Counted: the message, and at each node on its way the message and a sending of it.
            self.sendings += 2 + len(part.network.way(node, step.to))
            if kind >= 0:
                found.append((kind, mail, 0))
            return mail

        for step in call.steps:
            if isinstance(step, Combine):
                found.append((k.WAIT, words, 0))
                continue
            if isinstance(step, Send):
                send(step, k.SEND)
                continue
            receive = step
            if isinstance(step, Exchange):
                send(step.send, k.SEND)
                receive = step.receive
            assert isinstance(receive, Receive)
            queue = self._queue(operator.label, channel + receive.channel)
            found.append((k.RECEIVE, -1 if receive.source is None else receive.source, queue))
            passes = receive.source is not None and (receive.source, channel + receive.channel) in at_once
            for onward in receive.forward:
                mail = send(onward, -1 if passes else k.FORWARD)
                if passes and receive.source is not None:
                    self.passed[queue, node][receive.source, mail] = None
            found.append((k.WHOLE, 0, 0))
        if any(kind in (k.SEND, k.FORWARD) for kind, _, _ in found):
            found.append((k.FLUSH, 0, 0))
        return found

    def _queue(self, label: str, channel: int) -> int:
        return self._queues.setdefault((label, channel), len(self._queues))

    def _mail(self, operator: Operator, to: int, channel: int) -> int:
        key = to, self._queue(operator.label, channel), channel_words(operator.kind, operator.m, channel)
        return self.mails.setdefault(key, len(self.mails))

    # -- the post --------------------------------------------------------------------------------------------------

    def post(self) -> agents.Post:
        """State of the channels of all phases before the first word."""
        nodes, rows = self.network.nodes, (self.network.loader + 1 + len(self.network.second)) * self.network.nodes
        phases = [(p, phase) for p, phase in enumerate(self.plan.phases) if phase.online is not None]
        outputs: Mapping[int, list[int]] = defaultdict(list)
        inputs: Mapping[int, list[int]] = defaultdict(list)
        onward = np.full((rows if phases else 1, nodes), -1, np.int64)
        ends: list[list[tuple[int, ...]]] = []
        for p, phase in phases:
            assert phase.part is not None
            assert phase.online is not None
            first = len(ends)
            ends += [[(), ()] for _ in phase.part.network.channels]
            for node in sorted(phase.part.network.nodes):
                lanes = [lane.registers for lane in phase.online.roles[node][0].lanes]
                at = [tuple(self.network.register(p, node, r) for r in registers) for registers in lanes]
                table = online_node(phase.part, node, at, nodes)
                row = p * nodes + node
                channels = list(enumerate(phase.part.network.channels, first))
                into = [c for c, channel in channels if channel.target == node]
                out = [c for c, channel in channels if channel.source == node]
                for c, registers in zip(into, table.inputs, strict=True):
                    ends[c][1] = registers
                for c, registers in zip(out, table.outputs, strict=True):
                    ends[c][0] = registers
                inputs[row].extend(into)
                outputs[row].extend(out)
                for destination, index in enumerate(table.onward):
                    if index >= 0:
                        onward[row, destination] = out[index]
        places, registers_of = [], list[int]()
        for both in ends:
            place = []
            for registers in both:
                place.append((len(registers_of), len(registers)))
                registers_of += registers
            places.append(place)
        state = np.zeros((nodes, 10), np.int64)
        state[:, [agents.HEADER, agents.GOT, agents.FIRST, agents.LAST]] = -1
        channels_at = np.full((len(ends), 7), -1, np.int64)
        channels_at[:, [agents.TURN_OUT, agents.TURN_IN]] = 0
        return agents.Post(
            np.array(list(self.mails), np.int64).reshape(-1, 3),
            *_listed(outputs, rows),
            *_listed(inputs, rows),
            onward,
            np.array(places, np.int64).reshape(-1, 2, 2),
            np.array(registers_of, np.int64),
            np.array(astuple(AgentCosts()), np.int64),
            state,
            np.zeros((self.sendings, 8), np.int64),
            np.zeros((self.sendings, 5), np.int64),
            channels_at,
            np.zeros(2, np.int64),
            *self._passed_on(),
        )

    def _passed_on(self) -> tuple[np.ndarray, np.ndarray]:
        """`Post.passed` and `Post.first_passed`."""
        nodes = self.network.nodes
        lists = {queue * nodes + node: list(found) for (queue, node), found in self.passed.items()}
        rows = [lists.get(row, []) for row in range(len(self._queues) * nodes)]
        first = np.zeros(len(rows) + 1, np.int64)
        np.cumsum([len(row) for row in rows], out=first[1:])
        return np.array([one for row in rows for one in row], np.int64).reshape(-1, 2), first


def _listed(lists: Mapping[int, list[int]], rows: int) -> tuple[np.ndarray, np.ndarray]:
    first = np.zeros(rows + 1, np.int64)
    np.cumsum([len(lists.get(row, ())) for row in range(rows)], out=first[1:])
    return np.array([one for row in range(rows) for one in lists.get(row, ())], np.int64), first


def _way(one: PlannedOperator) -> Decomposition:
    assert isinstance(one.implementation, Online)
    return one.implementation.way


# Asked for again for every plan that is played, and the same for all of them.


def _place(operator: Operator, node: int) -> tuple[int, int]:
    """The first instance of an operator that has a node, and the node's position there."""

    def ask() -> dict[int, tuple[int, int]]:
        found: dict[int, tuple[int, int]] = {}
        for i, instance in enumerate(operator.instances):
            for position, each in enumerate(instance.nodes):
                found.setdefault(each, (i, position))
        return found

    return kept(operator, "places", None, ask)[node]


def _scripts(
    operator: Operator, way: Decomposition, node: int, values: tuple[Any, ...], topology: Topology
) -> list[tuple[int, Script]]:
    """`scripts_of`, none where the node is not ``:valid`` and so moves no word."""

    def ask() -> list[tuple[int, Script]]:
        found = scripts_of(operator, way, node, values, topology)
        if operator.valid is None or operator.kind not in POINT_TO_POINT:
            return found
        places = [(one, operator.instances[one[0]].nodes.index(node)) for one in found]
        return [one for one, position in places if position in operator.valid]

    return kept(operator, ("scripts", id(way), node, values, id(topology)), (way, topology), ask)


def _passes(operator: Operator, way: Decomposition, node: int, topology: Topology) -> Mapping[tuple[int, int], object]:
    """`passed_on`."""
    key = "passed on", id(way), node, id(topology)
    return kept(operator, key, (way, topology), lambda: passed_on(operator, way, node, topology))


def _values(operator: Operator, visit: int) -> tuple[Any, ...]:
    """`_drawn`."""
    return kept(operator, ("values", visit), None, lambda: _drawn(operator, visit))


def _seen(operator: Operator, visit: SampledVisit, position: int) -> tuple[Any, ...]:
    """Run-time values as the node at ``position`` knows them: those of a run, as far as they are known, else sampled ones."""
    values = list(_values(operator, visit.number))
    names = operator.runtime_names
    if visit.permutation is not None:
        return seen(operator, [visit.permutation], position)
    if visit.values is None or len(visit.values) != len(operator.chosen):
        return seen(operator, values, position)
    for name, value in zip(operator.chosen, visit.values, strict=True):
        values[names.index(name)] = value
    # Where nodes load alone, values of a visit are those that the node itself gave.
    return tuple(values) if any(is_dynamic(operator, name) for name in names) else seen(operator, values, position)


def _drawn(operator: Operator, visit: int) -> tuple[Any, ...]:
    """Run-time values at a visit, the same for all nodes: a combination of the legal nodes and distances, taken in
    turn; a permutation is random."""
    sorts = {one.name: one.sort for one in OPERATORS[operator.kind].operands}
    given = [(name, value) for name, value in operator.instances[0].operands if isinstance(value, Runtime)]
    legal = {name: legal_values(operator, 0, name) for name, _ in given if sorts[name] in ("node", "distance")}
    turn = visit // max([1, *(value.block for _, value in given)])
    place = choice(operator.label, turn, prod(map(len, legal.values())))
    drawn = {}
    for name in reversed(legal):  # as in `runtime_values`, the last one changes first
        place, here = divmod(place, len(legal[name]))
        drawn[name] = legal[name][here]
    found: list[Any] = []
    for name, _ in given:
        if name in legal:
            found.append(drawn[name])
        elif sorts[name] == "permutation":
            order = list(range(len(operator.instances[0].nodes)))
            random.Random(crc32(f"{operator.label} {turn}".encode())).shuffle(order)
            found.append(tuple(order))
        else:
            found.append(None)
    return tuple(found)
