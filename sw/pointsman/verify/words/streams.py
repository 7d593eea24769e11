"""TODO"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations

from numesh.codes import Codes
from pointsman.artifacts.images.images import Images, Promise
from pointsman.verify.node.node import NodeState, NodeView, Place
from pointsman.verify.phases.drain import check_dropped
from pointsman.verify.phases.ends import Ends, check_ends
from pointsman.verify.phases.role_choices import describe_choice, role_choices
from pointsman.verify.report import Finding, Notebook
from pointsman.verify.words.trace import States, Trace, trace_promise

MOST_PAIRS = 64
"""Pairs of values of two operators for which streams are followed."""


Choice = dict[int, int]
"""Operator to index of its value, for those that do not have their first."""


class _PhaseStreams:
    """The streams of a phase: promises, lanes, and VFSMs that belong to none."""

    def __init__(
        self,
        images: Images,
        codes: Codes,
        views: Mapping[int, NodeView],
        wider: Mapping[int, NodeView],
        phase: int,
        notebook: Notebook,
    ) -> None:
        self.images = images
        self.codes = codes
        self.views = views
        self.wider = wider
        """The same, and nodes in other phases of operators that continue: for these."""
        self.phase = phase
        self.name = images.phases[phase].name
        self.notebook = notebook
        self.operators = images.phases[phase].operators
        self.varying = [index for index in self.operators if images.operators[index].states > 1]
        self.promises: dict[int, list[int]] = {index: [] for index in self.operators}
        """Promises of each operator, by their place in the images."""
        for number, promise in enumerate(images.promises):
            if phase in images.operators[promise.operator].phases:
                self.promises[promise.operator].append(number)
        self.traces: dict[int, list[Trace]] = {}
        """Traces of each promise, for different roles."""
        self.begun: dict[tuple[int, NodeState | None], list[Trace]] = {}
        """The same by promise and what its source does."""
        self.states: dict[object, States] = {}
        """For the choice of values that was asked for last."""
        self.compared: set[tuple[int, ...]] = set()
        """Sets of traces, by identity, that have been looked at together."""
        self.owner: dict[Place, int] = {}
        self.ends: Ends | None = None
        """Operator to which a VFSM belongs."""
        self.register_owner: dict[tuple[int, int], int] = {}
        """Operator to whose streams a register belongs."""

    def check(self, owners: dict[tuple[str, int, int, int], tuple[str, str]]) -> None:
        """Judge all; note in ``owners`` which VFSMs belong to which operator."""
        for choice in self._choices():
            self.notebook.counts["combinations of values"] += 1
            for index in self.operators:
                self._check_operator(index, choice)
        self._check_stray()
        self.ends = check_ends(
            self.images, self.phase, self.codes, self.views, self.promises, self.traces, self.notebook
        )
        if self.ends is not None:
            check_dropped(self.ends)
        for place, index in self.owner.items():
            operator = self.images.operators[index]
            owners[self.name, *place] = (operator.label, operator.source)

    def senders(self) -> dict[Place, list[tuple[int, str]]]:
        """By VFSM, source and name of each stream whose words pass it."""
        found: dict[Place, dict[tuple[int, str], None]] = {}
        for number, traces in self.traces.items():
            promise = self.images.promises[number]
            for place in set().union(*(trace.vfsms for trace in traces)):
                found.setdefault(place, {})[promise.source, promise.stream] = None
        return {place: list(streams) for place, streams in found.items()}

    def words(self) -> dict[Place, set[tuple[int, int]]]:
        """By VFSM, operator and source of the words that pass it."""
        found: dict[Place, set[tuple[int, int]]] = {}
        for number, traces in self.traces.items():
            promise = self.images.promises[number]
            for place in set().union(*(trace.vfsms for trace in traces)):
                found.setdefault(place, set()).add((promise.operator, promise.source))
        return found

    def _choices(self) -> Iterator[Choice]:
        """First values; each value of each operator; pairs of values of two operators that can touch each other."""
        images = self.images
        yield {}
        for index in self.varying:
            for value in range(1, images.operators[index].states):
                yield {index: value}
        # By now the traces tell where each operator's words pass.
        passed = {
            index: {
                node for number in self.promises[index] for trace in self.traces.get(number, ()) for node in trace.keys
            }
            for index in self.varying
        }
        has_roles = {
            index: {
                node
                for node, view in self.views.items()
                for other, operator in view.operators
                if other == index and len(set(operator.role_of)) > 1
            }
            for index in self.varying
        }
        left = 0
        for first, second in combinations(self.varying, 2):
            if passed[first].isdisjoint(has_roles[second]) and passed[second].isdisjoint(has_roles[first]):
                continue
            a, b = images.operators[first].states, images.operators[second].states
            if a * b > MOST_PAIRS:
                left += 1
                continue
            for value in range(1, a):
                for other in range(1, b):
                    yield {first: value, second: other}
        if left:
            self.notebook.unchecked.append(
                f"streams of phase {self.name} for pairs of values of {left} pairs of operators, each more than "
                f"{MOST_PAIRS} (their nodes and links are checked for all pairs)"
            )

    def _views(self, index: int) -> Mapping[int, NodeView]:
        return self.wider if self.images.operators[index].continues else self.views

    def _check_operator(self, index: int, choice: Choice) -> None:
        """Follow every promise of an operator that holds for these values."""
        images = self.images
        value = choice.get(index, 0)
        held = [number for number in self.promises[index] if value in images.promises[number].values]
        values = describe_choice(images, choice, self.varying)
        found = [(images.promises[number], self._trace(number, choice, values)) for number in held]
        together = (index, *(id(trace) for _, trace in found))
        if together not in self.compared:
            self.compared.add(together)
            users: dict[Place, Promise] = {}
            senders: dict[tuple[int, int], Promise] = {}
            for promise, trace in found:
                for at in trace.registers:
                    other = senders.setdefault(at, promise)
                    if other is not promise and not _merged(other, promise):
                        self._note_register(promise, other.stream, at, values)
                    owner = self.register_owner.setdefault(at, index)
                    if owner != index:
                        self._note_register(promise, f"of operator {images.operators[owner].label}", at, values)
                for place in trace.vfsms:
                    other = users.setdefault(place, promise)
                    if other is not promise and not _merged(other, promise):
                        self._note_meeting(promise, other.stream, place, values)
                    owner = self.owner.setdefault(place, index)
                    if owner != index:
                        label = images.operators[owner].label
                        self._note_meeting(promise, f"of operator {label}", place, values)
        closing = self.images.phases[self.phase]
        if closing.technique == "hijack" and index == closing.barrier:
            return  # it uses streams of others: `check_ends`
        if not choice or choice.keys() == {index}:
            self._check_lanes(index, choice, [promise for promise, _ in found], values)

    def _trace(self, number: int, choice: Choice, values: tuple[str, ...]) -> Trace:
        """The trace of a promise for these values; one that was made for the same roles if there is one."""
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
        # In some of its phases what continues may have more than it has in all.
        more = bool(self.images.operators[promise.operator].continues)
        trace = trace_promise(promise, states, self.codes, more=more)
        known.append(trace)
        self.traces.setdefault(number, []).append(trace)
        self._note_trace(promise, trace, values)
        return trace

    def _states(self, index: int, choice: Choice) -> States:
        """What nodes do for these values; those of the last choice are kept, since many promises ask for them."""
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
            finding = problem.at(self.name, node, values)
            self.notebook.add(replace(finding, operator=operator.label, source=operator.source))

    def _note_meeting(self, promise: Promise, other: str, place: Place, values: tuple[str, ...]) -> None:
        operator = self.images.operators[promise.operator]
        node, pipeline, vfsm = place
        self.notebook.add(
            Finding(
                "promises",
                f"stream {promise.stream} meets stream {other}",
                "a VFSM for each",
                phase=self.name,
                node=node,
                pipeline=pipeline,
                vfsm=vfsm,
                operator=operator.label,
                source=operator.source,
                values=values,
            )
        )

    def _note_register(self, promise: Promise, other: str, at: tuple[int, int], values: tuple[str, ...]) -> None:
        operator = self.images.operators[promise.operator]
        node, register = at
        self.notebook.add(
            Finding(
                "registers",
                f"stream {promise.stream} meets stream {other} in register {register}",
                "a register for each",
                phase=self.name,
                node=node,
                operator=operator.label,
                source=operator.source,
                values=values,
            )
        )

    def _check_lanes(self, index: int, choice: Choice, held: list[Promise], values: tuple[str, ...]) -> None:
        """Processor against router: which registers they write and read for these values."""
        images = self.images
        operator, value = images.operators[index], choice.get(index, 0)

        def note(node: int, message: str, right: str) -> None:
            self.notebook.add(
                Finding(
                    "lanes",
                    message,
                    right,
                    phase=self.name,
                    node=node,
                    operator=operator.label,
                    source=operator.source,
                    values=values,
                )
            )

        sends = {(promise.source, promise.register): promise for promise in held}
        delivers = {destination: promise for promise in held for destination in promise.destinations}
        # In an earlier stage a processor may wait for what only comes in a later one.
        left = range(value + 1, value - value % operator.stages + operator.stages)
        later = {
            destination
            for number in (self.promises[index] if left else ())
            for destination in images.promises[number].destinations
            if any(state in left for state in images.promises[number].values)
        }
        moved: tuple[set[tuple[int, int]], set[tuple[int, int]]] = (set(), set())
        for node, here in images.members[index].items():
            role = here.roles[here.role_of[value]]
            moved[True].update((node, register) for register, _ in role.commands)
            if operator.remote:  # VFSM 1 takes commands
                moved[False].update(at for at in delivers if at[0] == node and at[1] < images.shape.pipelines)
            if not role.lanes:
                continue
            view = self._views(index)[node]
            state = view.state(view.key(choice))
            for lane in role.lanes:
                self.notebook.counts["lanes"] += 1
                for register in lane.registers:
                    moved[lane.write].add((node, register))
                    if lane.write and register not in state.register_readers:
                        note(node, f"the processor writes register {register}, which no VFSM reads", "a reader")
                    elif lane.write and (node, register) not in sends:
                        note(
                            node,
                            f"the processor writes register {register}, for which nothing is promised",
                            "a promise for every word",
                        )
                    elif not lane.write and register not in state.register_writers:
                        note(node, f"the processor reads register {register}, which no VFSM writes", "a writer")
                    elif not lane.write and register in state.register_readers:
                        note(node, f"the processor reads register {register}, as a VFSM does", "one reader")
                    elif not lane.write and (node, register) not in delivers:
                        if (node, register) in later:
                            continue
                        note(
                            node,
                            f"the processor reads register {register}, to which no stream delivers",
                            "a promise for every word",
                        )
        for name, promised, done, verb in (
            ("sends from", sends, moved[True], "writes"),
            ("delivers to", delivers, moved[False], "reads"),
        ):
            for (node, register), promise in promised.items():
                if promise.held and promised is delivers:
                    self._check_held(index, choice, promise, (node, register), done, note)
                elif (node, register) not in done:
                    note(
                        node,
                        f"stream {promise.stream} {name} register {register}, which the processor never {verb}",
                        "a lane of its role",
                    )

    def _check_held(
        self,
        index: int,
        choice: Choice,
        promise: Promise,
        at: tuple[int, int],
        read: set[tuple[int, int]],
        note: Callable[[int, str, str], None],
    ) -> None:
        """Words that wait: nobody reads them now, and in the last stage of these values a VFSM takes them on."""
        node, register = at
        stages = self.images.operators[index].stages
        value = choice.get(index, 0)
        if at in read:
            note(node, f"stream {promise.stream} is held at register {register}, which the processor reads", "neither")
        view = self.views[node]
        last = view.state(view.key({**choice, index: value - value % stages + stages - 1}))
        if stages == 1 or register not in last.register_readers:
            note(
                node,
                f"stream {promise.stream} is held at register {register}, from which nothing ever takes its words",
                "a VFSM that does in the last stage",
            )

    def _check_stray(self) -> None:
        """Every VFSM that can move a word for some value must have been met on the way of a stream."""
        for node, view in self.views.items():
            reached = {place[1:] for place in self.owner if place[0] == node}
            for (key,), values in role_choices(self.images, (view,), self.notebook, self.name):
                state = view.state(key)
                for vfsm in state.annotations:
                    if vfsm not in reached and state.moves(vfsm):
                        annotation = state.annotations[vfsm]
                        self.notebook.add(
                            Finding(
                                "stray",
                                f"it moves words from {self.codes.name(annotation.source)} to "
                                f"{self.codes.name(annotation.destination)} for no stream",
                                "a promise, or no such VFSM",
                                phase=self.name,
                                node=node,
                                pipeline=vfsm[0],
                                vfsm=vfsm[1],
                                values=values,
                            )
                        )


def _merged(one: Promise, other: Promise) -> bool:
    """Two sources of one stream (a collect), of which one at a time sends: these may share VFSMs."""
    return one.stream == other.stream and one.destinations == other.destinations
