"""Rules "promises", "stray" and "registers" of a phase: every stream is followed, for every value and for pairs of values.

Takes the view of a phase; notes findings, and gives what other passes need: traces, and whose words pass each VFSM.
``trace`` follows a stream for a choice of values. This module decides which choices there are (each value of each
operator, and pairs of values of two operators that can touch each other), and checks that streams keep apart and that
every VFSM that moves words belongs to a stream.

What values change of the routers is the VFSMs that load functions rewrite. A stream that passes none of those that another
operator rewrites goes the same way for all values of it: a VFSM of the other that took words of the stream would read a link,
register or buffer beside its reader (``node.rules``), or belong to another operator or to no stream, which is noted here.

Example: two run-time broadcasts of 4 values each are followed for 1 + 3 + 3 choices; if one rewrites a VFSM that words of the
other pass, which the rule "rewrites" forbids, for 1 + 3 + 3 + 9.

Two operators may have a stream in common that no load function rewrites: words of the one then follow words of the other.

Leaves to ``lanes`` whether processors write and read the registers at the ends, and to ``pointsman.verify.order`` whether nodes
use operators that have streams in common one after the other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

from pointsman.artifacts.images.images import Promise
from pointsman.verify.node.node import NodeState, NodeView, Place
from pointsman.verify.node.phase_view import PhaseView
from pointsman.verify.node.role_choices import describe_choice, role_choices
from pointsman.verify.report import Notebook

from .lanes import Choice, OperatorEnds, check_lanes
from .trace import States, Trace, trace_promise

MOST_PAIRS = 64
"""Streams are followed for pairs of values of two operators if these have at most this many pairs."""


class Passing(NamedTuple):
    """A stream that passes a VFSM: its operator, the node that sends the words, the number of its promise and its name."""

    operator: int
    source: int
    promise: int
    stream: str


Words = Mapping[Place, Collection[Passing]]
"""By VFSM, the streams that pass it."""


class PhaseStreams:
    """The streams of a phase.

    Parameters
    ----------
    wider : mapping
        For streams of operators that continue: the nodes of the phase, and nodes in other phases of these operators.
    """

    def __init__(self, view: PhaseView, wider: Mapping[int, NodeView], notebook: Notebook) -> None:
        self.view = view
        self.images = images = view.images
        self.wider = wider
        self.notebook = notebook
        self.operators = view.image.operators
        self.varying = [index for index in self.operators if images.operators[index].states > 1]
        self.promises: dict[int, list[int]] = {index: [] for index in self.operators}
        """By operator, the numbers of its promises in the images."""
        self.held: dict[int, dict[int, list[int]]] = {index: {} for index in self.operators}
        """By operator and state, the numbers of promises that hold then."""
        for number, promise in enumerate(images.promises):
            if view.phase in images.operators[promise.operator].phases:
                self.promises[promise.operator].append(number)
                for state in promise.values:
                    self.held[promise.operator].setdefault(state, []).append(number)
        self.followed: dict[tuple[int, int], tuple[tuple[int, Trace], ...]] = {}
        """By operator and state, its promises, by number, each with its trace while other operators are in their first state."""
        self.traces: dict[int, list[Trace]] = {}
        """By number of a promise, its traces for different roles."""
        self.begun: dict[tuple[int, NodeState | None], list[Trace]] = {}
        """The same traces by number of the promise and state of its source, for a quick search."""
        self.states: dict[object, States] = {}
        """Cache of ``_states`` for the choices of values asked for last."""
        self.touched: set[tuple[int, int]] = set()
        """See ``_touched``; by the traces of the choices before."""
        self.compared: set[tuple[int, ...]] = set()
        """Operator and identities of its traces that have been compared with each other."""
        self.owner: dict[Place, int] = {}
        """By VFSM, the operator to which it belongs: the first of those that share it."""
        self.register_owner: dict[tuple[int, int], int] = {}
        """By (node, register), the operator to whose streams it belongs: the first of those that share it."""

    def check(self) -> None:
        """Follow all streams."""
        for choice in self._choices():
            self.notebook.counts["combinations of values"] += 1
            for index in self.operators:
                self._check_operator(index, choice)
        self._check_stray()

    def words(self) -> Words:
        """By VFSM, the streams that pass it for any choice of values."""
        found: dict[Place, dict[Passing, None]] = {}
        for number, traces in self.traces.items():
            promise = self.images.promises[number]
            passing = Passing(promise.operator, promise.source, number, promise.stream)
            for place in dict.fromkeys(place for trace in traces for place in trace.vfsms):
                found.setdefault(place, {})[passing] = None
        return found

    def _choices(self) -> Iterator[Choice]:
        """First values; each value of each operator; pairs of values of two operators that can touch each other."""
        images = self.images
        yield {}
        self.touched = self._touched()
        for index in self.varying:
            for value in range(1, images.operators[index].states):
                yield {index: value}
        self.touched = self._touched()
        touching = {index for index, _ in self.touched}
        left = 0
        for first, second in combinations(self.varying, 2):
            if touching.isdisjoint((first, second)):
                continue
            a, b = images.operators[first].states, images.operators[second].states
            if a * b > MOST_PAIRS:
                left += 1
                continue
            for value in range(1, a):
                for other in range(1, b):
                    yield {first: value, second: other}
        if left:
            self.notebook.leave_out(
                f"streams of phase {self.view.name} for pairs of values of {left} pairs of operators, each more than "
                f"{MOST_PAIRS} (their nodes and links are checked for all pairs)"
            )

    def _touched(self) -> set[tuple[int, int]]:
        """(operator with several values, other operator) pairs in which load functions of the first rewrite VFSMs that words of
        the other, by the traces so far, pass."""
        passed = {
            index: {
                place
                for number in self.promises[index]
                for trace in self.traces.get(number, ())
                for place in trace.vfsms
            }
            for index in self.operators
        }
        found = set()
        for index in self.varying:
            members = self.images.members[index]
            rewritten = {
                (node, one.pipeline, one.vfsm)
                for node, here in members.items()
                for role in here.roles
                for one in role.rewrites
            }
            found |= {(index, other) for other in passed if other != index and not rewritten.isdisjoint(passed[other])}
        return found

    def _views(self, index: int) -> Mapping[int, NodeView]:
        return self.wider if self.images.operators[index].continues else self.view.nodes

    def _check_operator(self, index: int, choice: Choice) -> None:
        """Follow every promise of an operator that holds for these values."""
        images = self.images
        if choice and choice.keys() != {index} and not any((other, index) in self.touched for other in choice):
            return  # as for the values before
        value = choice.get(index, 0)
        held = self.held[index].get(value, ())
        values = describe_choice(images, choice, self.varying)
        found = [(images.promises[number], self._trace(number, choice, values)) for number in held]
        alone = not choice or choice.keys() == {index}
        if alone:
            self.followed[index, value] = tuple((number, trace) for number, (_, trace) in zip(held, found, strict=True))
        together = (index, *(id(trace) for _, trace in found))
        in_turn = images.operators[index].kind == "collect"
        if together not in self.compared:
            self.compared.add(together)
            users: dict[Place, Promise] = {}
            senders: dict[tuple[int, int], Promise] = {}
            for promise, trace in found:
                for at in trace.registers:
                    other = senders.setdefault(at, promise)
                    if other is not promise and not (in_turn and _merged(other, promise)):
                        self._note_register(promise, other.stream, at, values)
                    owner = self.register_owner.setdefault(at, index)
                    if owner != index and not self._has_too(owner, promise):
                        self._note_register(promise, f"of operator {images.operators[owner].label}", at, values)
                for place in trace.vfsms:
                    other = users.setdefault(place, promise)
                    if other is not promise and not (in_turn and _merged(other, promise)):
                        self._note_meeting(promise, other.stream, place, values)
                    owner = self.owner.setdefault(place, index)
                    if owner != index and not self._has_too(owner, promise):
                        label = images.operators[owner].label
                        self._note_meeting(promise, f"of operator {label}", place, values)
        closing = self.view.image
        if closing.technique == "hijack" and index == closing.barrier:
            return  # a hijack uses streams of other operators: ``phases.ends`` checks it
        if alone:
            ends = OperatorEnds(self.view, self._states(index, choice), index, self.held[index], choice)
            check_lanes(ends, values, self.notebook)

    def _has_too(self, operator: int, promise: Promise) -> bool:
        """Does another operator promise the same way, for words of one after words of the other? Then a stream carries both, if
        it always stays as it is. That nodes use one after the other stands in the text (``pointsman.verify.order``)."""
        both = operator, promise.operator
        if any(self.images.operators[one].states > 1 or self.images.operators[one].continues for one in both):
            return False
        same = promise.source, promise.register, promise.destinations, promise.words
        others = (self.images.promises[number] for number in self.promises[operator])
        return any((one.source, one.register, one.destinations, one.words) == same for one in others)

    def _trace(self, number: int, choice: Choice, values: tuple[str, ...]) -> Trace:
        """The trace of a promise for these values; reuses a trace made for the same roles."""
        promise = self.images.promises[number]
        states = self._states(promise.operator, choice)
        known = self.begun.setdefault((number, states[promise.source]), [])
        for trace in known:
            for node, key in trace.keys.items():
                state = states[node]
                if (() if state is None else state.key) != key:
                    break
            else:
                return trace
        # An operator that continues promises what it has in all phases; in some of them its streams may carry more.
        more = bool(self.images.operators[promise.operator].continues)
        trace = trace_promise(promise, states, self.view.codes, more=more)
        known.append(trace)
        self.traces.setdefault(number, []).append(trace)
        self._note_trace(promise, trace, values)
        return trace

    def _states(self, index: int, choice: Choice) -> States:
        """What nodes do for these values; kept for the last choices, as many promises ask for them."""
        asked = tuple(sorted(choice.items())), bool(self.images.operators[index].continues)
        if asked not in self.states:
            if len(self.states) > 1:
                self.states.clear()
            self.states[asked] = States(self._views(index), choice)
        return self.states[asked]

    def _note_trace(self, promise: Promise, trace: Trace, values: tuple[str, ...]) -> None:
        operator = self.images.operators[promise.operator]
        counts = self.notebook.counts
        counts["streams followed"] += 1
        counts["words per period"] += trace.words
        counts["link slots"] += trace.link_slots
        for node, problem in trace.problems:
            finding = problem.at(self.view.name, node, values)
            self.notebook.add(replace(finding, operator=operator.label, source=operator.source))

    def _note_meeting(self, promise: Promise, other: str, place: Place, values: tuple[str, ...]) -> None:
        node, pipeline, vfsm = place
        self.notebook.note(
            "promises",
            f"stream {promise.stream} meets stream {other}",
            "a VFSM for each",
            self.images.operators[promise.operator],
            phase=self.view.name,
            node=node,
            pipeline=pipeline,
            vfsm=vfsm,
            values=values,
        )

    def _note_register(self, promise: Promise, other: str, at: tuple[int, int], values: tuple[str, ...]) -> None:
        node, register = at
        self.notebook.note(
            "registers",
            f"stream {promise.stream} meets stream {other} in register {register}",
            "a register for each",
            self.images.operators[promise.operator],
            phase=self.view.name,
            node=node,
            values=values,
        )

    def _check_stray(self) -> None:
        """Note VFSMs that can move a word for some value but were not met on the way of any stream."""
        met: dict[int, set[tuple[int, int]]] = {}
        for owner, pipeline, number in self.owner:
            met.setdefault(owner, set()).add((pipeline, number))
        for node, view in self.view.nodes.items():
            reached = met.get(node, set())
            for (key,), values in role_choices(self.images, (view,), self.notebook, self.view.name):
                state = view.state(key)
                for vfsm in state.annotations:
                    if vfsm not in reached and state.moves(vfsm):
                        annotation = state.annotations[vfsm]
                        self.notebook.note(
                            "stray",
                            f"it moves words from {self.view.codes.name(annotation.source)} to "
                            f"{self.view.codes.name(annotation.destination)} for no stream",
                            "a promise, or no such VFSM",
                            phase=self.view.name,
                            node=node,
                            pipeline=vfsm[0],
                            vfsm=vfsm[1],
                            values=values,
                        )


def _merged(one: Promise, other: Promise) -> bool:
    """Are these promises two sources of a collect that end in the same place? They send in turn, so they may share VFSMs."""
    return one.source != other.source and one.destinations == other.destinations
