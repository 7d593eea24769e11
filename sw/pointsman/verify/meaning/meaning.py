"""Rule "meaning": what each node's functions return is what the operator's definition says.

Takes each operator of the images and its definition, the operator of the program; notes findings. The roles of all nodes are
carried out for every run-time value, with words that say where they come from (`processor`), over the streams that other rules
prove (`wires`). Each call must give the message of the definition (`definitions`), word by word, and when all are through no
word may be left. As the wires have the least room that a router can have, calls that end here end on the hardware.

Leaves out what only the run time makes, and says so: schedules made at run time, messages that processors pass on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import lcm

from pointsman.artifacts.images.images import Images, NodeOperator, OperatorImage, Promise, Role
from pointsman.program.catalogue import ITEM_FUNCTIONS, OPERATORS
from pointsman.program.program import Operator, Runtime
from pointsman.verify.report import Notebook

from .definitions import Anyone, Call, Definition, Fold, Gives, Meeting, Nothing, Zeros
from .processor import NoMeaningError, Processor, Result, Size, barrier_lanes
from .wires import TOKEN, ZERO, Term, Wires

MOST_WORDS = 4_000_000
"""Words times nodes times values that are looked at in an operator; of more values only some are."""


def check_meaning(images: Images, notebook: Notebook) -> None:
    """Check all operators of ``images`` against their definitions."""
    promises: dict[int, list[Promise]] = {}
    for promise in images.promises:
        promises.setdefault(promise.operator, []).append(promise)
    for index, operator in enumerate(images.operators):
        program = operator.program
        if program is None:
            if operator.kind in OPERATORS:
                notebook.counts["operators of no program"] += 1
        elif operator.online is None:
            _Meaning(images, index, operator, program, promises.get(index, ()), notebook).check()


@dataclass(frozen=True)
class _Meaning:
    """An operator beside its definition."""

    images: Images
    index: int
    operator: OperatorImage
    program: Operator
    promises: Sequence[Promise]
    notebook: Notebook

    @property
    def views(self) -> Mapping[int, NodeOperator]:
        return self.images.members[self.index]

    @property
    def _hijacks(self) -> bool:
        """Does it close its phase by words over the streams of the phase's other operators?"""
        phase = self.images.phases[self.operator.phase]
        return phase.technique == "hijack" and phase.barrier == self.index

    def check(self) -> None:
        """Check the operator for all values."""
        operator = self.operator
        sorts = {one.name: one.sort for one in OPERATORS[self.program.kind].operands}
        open_ends = [
            name
            for name, value in self.program.instances[0].operands
            if isinstance(value, Runtime) and sorts[name] == "permutation"
        ]
        if operator.instances or open_ends:
            self.notebook.leave_out("what operators mean whose schedules are made at run time")
            return
        if {node for one in self.program.instances for node in one.nodes} != set(self.views):
            return  # noted with the structure
        size = self._size()
        values = range(len(operator.values))
        work = max(1, 2 * size.words * len(self.views))
        if work * len(values) > MOST_WORDS:
            step = -(-work * len(values) // MOST_WORDS)
            values = range(0, len(values), step)
            self.notebook.leave_out(f"what '{operator.label}' means for all of its values: one in {step} is looked at")
        for value in values:
            self.notebook.counts["meanings"] += 1
            self._check_value(value, size)

    def _size(self) -> Size:
        """A message length that shows all that the real one does: registers take turns, so longer ones repeat what happens."""
        item = self.program.type.words
        lanes = [lane for view in self.views.values() for role in view.roles for lane in role.lanes]
        period = lcm(item, *(len(lane.registers) for lane in lanes))
        real = self.program.m
        least = max([2 * period, *(lane.words + 1 for lane in lanes if lane.words not in (None, real))])
        least += max((lane.window or 0 for lane in lanes), default=0)
        if real > least + period:
            words = least + (real - least) % period
        else:
            words = real
        function = dict(self.program.instances[0].operands).get("function")
        return Size(words, real, function in ITEM_FUNCTIONS or function is None)

    def _check_value(self, value: int, size: Size) -> None:
        operator = self.operator
        numbers = operator.values[value]
        said = ", ".join(f"{name} {number}" for name, number in zip(operator.runtime, numbers, strict=False))
        note = partial(self.notebook.note, "meaning", operator=operator, values=(said,) if said else ())
        definitions = [Definition(self.program, i, numbers) for i in range(len(self.program.instances))]
        state = value * operator.stages
        stages = operator.stages if operator.gated else 1
        for at in range(state + 1, state + stages) if stages > 1 else (state,):
            # That no word of a gated barrier passes a node that has not called is proven by the rule "gates", and whom the words
            # that close a phase tell of by "message-ends".
            meets = not operator.gated and not self._hijacks
            run = _Run(definitions, self._roles(at), self._wires(at), size, meets)
            for node, message, right in run.problems():
                note(message, right, node=node)

    def _roles(self, state: int) -> dict[int, Role]:
        return {node: view.roles[view.role_of[self._state_at(view, state)]] for node, view in self.views.items()}

    def _state_at(self, view: NodeOperator, state: int) -> int:
        """The state whose role a node takes: of a value that another node brings it knows only whether it names itself."""
        operator = self.operator
        if not operator.remote or any(role.commands for role in view.roles):
            return state
        return operator.values.index((view.position,)) if (view.position,) in operator.values else 0

    def _wires(self, state: int) -> Wires:
        """The streams in a state; of an operator whose later stages serve other nodes, those of all its stages."""
        states = range(state, state + (1 if self.operator.gated else self.operator.stages))
        needs = [{n for n, view in self.views.items() if view.role_of[one] != view.role_of[state]} for one in states]
        promises = self.promises
        if self._hijacks and not promises:
            # Words that close the phase go over the streams of the others in it (§5.2.3).
            promises = [one for one in self.images.promises if one.phase == self.operator.phase]
        return Wires(promises, states, needs)


class _Run:
    """All nodes of an operator in a few rounds, for one choice of values."""

    def __init__(
        self, definitions: Sequence[Definition], roles: Mapping[int, Role], wires: Wires, size: Size, meets: bool
    ) -> None:
        self.wires = wires
        self.meets = meets
        self.size = size
        self.roles = roles
        self.definitions = definitions
        self.found: list[tuple[int | None, str, str]] = []
        self.plans = {node: self._plan(node) for node in roles}
        self.rounds = max((self._rounds(node) for node in roles), default=0)
        if wires.stages > 1:
            self.rounds = 1  # every round has a load function of its own
        self.read: dict[int, int] = {}
        """By instance of a collect, how many messages have been read."""

    def problems(self) -> list[tuple[int | None, str, str]]:
        """(node, what is wrong, what would be right) of each problem."""
        running = {node: self._node(node) for node in self.roles}
        awake = deque(running)
        while awake:
            node = awake.popleft()
            try:
                next(running[node])
            except StopIteration:
                del running[node]
            except NoMeaningError as error:
                return [(node, str(error), "a role that can be carried out")]
            awake.extend(other for other in self.wires.awake if other in running and other not in awake)
            self.wires.awake.clear()
            if len(self.found) > 8:
                return self.found
        if running:
            waiting = ", ".join(map(str, sorted(running)[:8]))
            self.found.append(
                (None, f"its functions never return at nodes {waiting}", "they return when all have called them")
            )
        elif self.wires.left():
            node, register = self.wires.left()[0]
            self.found.append(
                (node, f"a word is left at register {register}", "none, when all functions have returned")
            )
        return self.found

    def _plan(self, node: int) -> tuple[Definition, int, list[Call]]:
        """Of a node: its first instance, its position there, and what it calls in a round. A node of several instances may write
        in one and read in another."""
        own = [(one, one.nodes.index(node)) for one in self.definitions if node in one.nodes]
        (first, position), *others = own
        calls = first.calls(position)
        if first.operator.flow == "directional":
            for other, there in others:
                calls = [*calls, *other.calls(there)]
        return first, position, calls

    def _rounds(self, node: int) -> int:
        """Rounds after which a node's role has begun again."""
        calls = self.plans[node][2]
        names = [call.function for call in calls]
        return max((-(-self.roles[node].turns // names.count(name)) for name in set(names)), default=0) + 1

    def _node(self, node: int) -> Generator[None, None, None]:
        """A node's calls in all rounds."""
        definition, position, calls = self.plans[node]
        role = self.roles[node]
        processor = Processor(node, position, definition.ranks[position], role, self.wires, self.size)
        yield from self._meet(processor, definition)
        for turn in range(self.rounds):
            for call in calls:
                while not self._may_begin(definition, position, call, turn):
                    yield
                result = yield from processor.call(call.function, gives_none=isinstance(call.gives, Meeting))
                wrong = self._wrong(node, definition, call.gives, result, turn)
                if wrong is not None:
                    self.found.append((node, f"{call.function} in round {turn} gives {wrong}", _shown(call.gives)))

        if self.wires.stages > 1:
            yield from processor.go_on()

    def _may_begin(self, definition: Definition, position: int, call: Call, turn: int) -> bool:
        """May a node call now? Of the nodes that write in a collect one does at a time (A.1), here each when the message of the
        one before has been read."""
        if definition.operator.kind != "collect" or call.function != "write":
            return True
        return self.read.get(definition.instance, 0) == turn * len(definition.members) + definition.members.index(
            position
        )

    def _meet(self, processor: Processor, definition: Definition) -> Generator[None, None, None]:
        """The barrier in the load function, if the role has one."""
        if barrier_lanes(processor.role):
            known = yield from processor.meet()
            if known != (1 << definition.size) - 1:
                self.found.append((processor.node, "its load function does not wait for all nodes", "a barrier"))

    def _wrong(self, node: int, definition: Definition, gives: Gives, result: Result, turn: int) -> str | None:
        """What a call gives instead of what it should; None if it is right."""
        message = result.message
        if isinstance(gives, Meeting):
            if result.known == (1 << definition.size) - 1 or not self.meets:
                return None
            late = next(k for k in range(definition.size) if not result.known >> k & 1)
            return f"its answer before node {definition.nodes[late]} has called"
        if isinstance(gives, Nothing):
            return None if message is None else "a message"
        if message is None:
            return "no message"
        words = range(self.size.words)
        if isinstance(gives, Anyone):
            read = self.read.get(definition.instance, 0)
            self.read[definition.instance] = read + 1
            self.wires.awake.update(dict.fromkeys(definition.nodes))
            sender = definition.ranks[definition.members[read % len(definition.members)]]
            gives = Fold(sender, sender)
        if isinstance(gives, Zeros):
            wanted = [ZERO] * self.size.words
        else:
            call = turn * gives.each + gives.call
            wanted = [((gives.first, gives.last, call, k),) for k in words]
        wrong = next((k for k in words if message[k] != wanted[k]), None)
        return None if wrong is None else f"as word {wrong} {_term(definition, message[wrong])}"


def _shown(gives: Gives) -> str:
    match gives:
        case Fold(first, last) if first == last:
            return "the message of the operator's definition"
        case Fold():
            return "all messages of the operator's definition, in order"
        case Anyone():
            return "a message that has not been read, whole"
        case Zeros():
            return "zeros"
        case Meeting():
            return "an answer when all nodes have called"
        case _:
            return "no message"


def _term(definition: Definition, term: Term) -> str:
    """A word in words: whose it is, and of which call."""
    if term == ZERO:
        return "0, which nobody sent"
    if term == TOKEN:
        return "a word without contents"
    at = {rank: definition.nodes[position] for position, rank in definition.ranks.items()}
    parts = [
        f"word {word} of message {call} of node{'' if first == last else 's'} {at.get(first, first)}"
        + ("" if first == last else f" to {at.get(last, last)}")
        for first, last, call, word in term[:3]
    ]
    return ", then ".join(parts) + (", …" if len(term) > 3 else "")
