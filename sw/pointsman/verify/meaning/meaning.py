"""Rule "meaning": what each node's functions return is what the operator's definition says.

Takes each operator of the images and its definition, the operator of the program; notes findings. The roles of all nodes are
carried out for every run-time value, with words that say where they come from (`processor`), over the streams that other rules
prove (`wires`). Each call must give the message of the definition (`definitions`), word by word, and when all are through no
word may be left. Instances that words join are carried out together, the others each for itself, and of those that do the same
at other nodes and registers only the first. As the wires have the least room that a router can have, calls that end here end on
the hardware.

Leaves to `made` and `messages` what only the run time makes: schedules, and messages that processors pass on.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter

from pointsman.artifacts.images.images import Images, NodeOperator, OperatorImage, Promise, Role
from pointsman.program.catalogue import OPERATORS
from pointsman.program.program import Operator
from pointsman.verify.node.groups import groups_of, nodes_of
from pointsman.verify.report import Notebook
from pointsman.verify.stall_game.board import moves_of

from .definitions import Definition
from .processor import Size, message_size
from .rounds import Run
from .wires import Wires

MOST_WORDS = 4_000_000
"""Words times nodes times values that are looked at in an operator; of more values only some are."""

_calls = attrgetter(*(one.name for one in fields(Role) if one.name not in ("lanes", "rewrites", "delay", "commands")))
"""All of a role but its lanes, and what is in the router and how long words take: that is not carried out here."""


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
class _Part:
    """Instances between which words go."""

    number: int
    """Its number among the parts."""
    instances: tuple[int, ...]
    """Numbers of the instances."""
    nodes: dict[int, int]
    """Each node and its number within the part: instances that do the same number their nodes the same way."""
    promises: list[Promise] = field(default_factory=list)
    """Its streams."""
    used: dict[int, list[int]] = field(default_factory=dict)
    """By state, which of the streams there are."""


@dataclass(frozen=True)
class _Meaning:
    """An operator beside its definition."""

    images: Images
    index: int
    operator: OperatorImage
    program: Operator
    promises: Sequence[Promise]
    notebook: Notebook
    right: set[Hashable] = field(default_factory=set)
    """What has been carried out and is right (`_likeness`)."""
    known: dict[Hashable, int] = field(default_factory=dict)
    """Numbers of things that are compared often."""
    named: dict[int, int] = field(default_factory=dict)
    """By part, a number for its instances, the same for those with the same operands."""
    shapes: dict[tuple[int, int, int], tuple[int, dict[int, int]]] = field(default_factory=dict)
    """By node and numbers of its roles: `_shape`."""

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
        if operator.instances or any(sorts[name] == "permutation" for name in self.program.runtime_names):
            return  # `made`
        nodes = {node for one in self.program.instances for node in one.nodes}
        if nodes != set(self.views) or operator.runtime != self.program.runtime_names:
            return  # noted with the structure
        lanes = [lane for view in self.views.values() for role in view.roles for lane in role.lanes]
        size = message_size(self.program, lanes)
        values = range(len(operator.values))
        work = max(1, 2 * size.words * len(self.views))
        if work * len(values) > MOST_WORDS:
            step = -(-work * len(values) // MOST_WORDS)
            values = range(0, len(values), step)
            self.notebook.leave_out(f"what '{operator.label}' means for all of its values: one in {step} is looked at")
        parts = self._parts()
        for value in values:
            self.notebook.counts["meanings"] += 1
            for part in parts:
                self._check_part(part, value, size)

    def _parts(self) -> list[_Part]:
        """The instances, those together between which words go."""
        promises = self.promises
        if self._hijacks and not promises:
            # Words that close the phase go over the streams of the others in it (§5.2.3).
            promises = [one for one in self.images.promises if one.phase == self.operator.phase]
        groups = [frozenset(one.nodes) for one in self.program.instances]
        root = groups_of([*groups, *map(nodes_of, promises)])
        members: dict[int, list[int]] = {}
        for number, instance in enumerate(self.program.instances):
            members.setdefault(root[instance.nodes[0]], []).append(number)
        parts: dict[int, _Part] = {}
        for at, instances in members.items():
            nodes = dict.fromkeys(node for number in instances for node in self.program.instances[number].nodes)
            parts[at] = _Part(len(parts), tuple(instances), {node: k for k, node in enumerate(nodes)})
        for promise in promises:
            if root[promise.source] in parts:
                part = parts[root[promise.source]]
                for state in promise.values:
                    part.used.setdefault(state, []).append(len(part.promises))
                part.promises.append(promise)
        return list(parts.values())

    def _check_part(self, part: _Part, value: int, size: Size) -> None:
        operator = self.operator
        state = value * operator.stages
        stages = operator.stages if operator.gated else 1
        for at in range(state + 1, state + stages) if stages > 1 else (state,):
            states = range(at, at + (1 if operator.gated else operator.stages))
            numbers = sorted({number for one in states for number in part.used.get(one, ())})
            promises = [part.promises[number] for number in numbers]
            likeness = self._likeness(part, value, states, promises)
            if likeness not in self.right and self._is_right(part, value, states, promises, size):
                self.right.add(likeness)

    def _is_right(self, part: _Part, value: int, states: range, promises: Sequence[Promise], size: Size) -> bool:
        operator = self.operator
        numbers = operator.values[value]
        said = ", ".join(f"{name} {number}" for name, number in zip(operator.runtime, numbers, strict=False))
        definitions = [Definition(self.program, i, numbers) for i in part.instances]
        roles = {node: self._role(node, states[0]) for node in part.nodes}
        own = {node: self.views[node].role_of for node in part.nodes}
        # Of an operator whose later stages serve other nodes, the streams of all its stages.
        needs = [{node for node, of in own.items() if of[one] != of[states[0]]} for one in states]
        # That no word of a gated barrier passes a node that has not called is proven by the rule "gates", and whom the words
        # that close a phase tell of by "message-ends".
        meets = not operator.gated and not self._hijacks
        guessing = {node for node in part.nodes if self._is_told(self.views[node])}
        problems = Run(definitions, roles, Wires(promises, states, needs), size, meets, guessing=guessing).problems()
        for node, message, right in problems:
            values = (said,) if said else ()
            self.notebook.note("meaning", message, right, operator, values=values, node=node)
        return not problems

    def _likeness(self, part: _Part, value: int, states: range, promises: Iterable[Promise]) -> Hashable:
        """Everything that decides what the instances of a part do for a value, without the numbers of nodes and registers: parts
        with equal ones do the same."""
        nodes, name = part.nodes, self._name
        if part.number not in self.named:
            instances = [self.program.instances[i] for i in part.instances]
            self.named[part.number] = name(
                tuple((one.operands, tuple(nodes[node] for node in one.nodes)) for one in instances)
            )
        shapes = {node: self._shape(node, states[0]) for node in nodes}
        roles = tuple([number for number, _ in shapes.values()])
        later: tuple[bool, ...] = ()
        if len(states) > 1:
            own = [self.views[node].role_of for node in nodes]
            later = tuple(of[one] != of[states[0]] for of in own for one in states[1:])
        ways = tuple(
            (tuple(one in promise.values for one in states[1:]), *self._ends(promise, nodes, shapes))
            for promise in promises
        )
        return self.operator.values[value], self.named[part.number], name((roles, later)), name(ways)

    @staticmethod
    def _ends(
        promise: Promise, nodes: Mapping[int, int], shapes: Mapping[int, tuple[int, dict[int, int]]]
    ) -> tuple[tuple[int, int], ...]:
        """Ends of a stream within a part: nodes, and registers as the node's role comes to them."""
        ends = ((promise.source, promise.register), *promise.destinations)
        return tuple(
            (nodes[node], shapes[node][1].get(register, -1 - register)) if node in nodes else (-1 - node, register)
            for node, register in ends
        )

    def _name(self, thing: Hashable) -> int:
        """A number for a thing, the same for equal things."""
        return self.known.setdefault(thing, len(self.known))

    def _shape(self, node: int, state: int) -> tuple[int, dict[int, int]]:
        """A number for what a node's role does, whatever its registers; and its registers, in the order in which they come."""
        key = node, *self._indices(node, state)
        if key not in self.shapes:
            role = self._role(node, state)
            registers = {r: k for k, r in enumerate(dict.fromkeys(r for lane in role.lanes for r in lane.registers))}
            lanes = tuple((moves_of(lane), *(registers[r] for r in lane.registers)) for lane in role.lanes)
            self.shapes[key] = self._name((_calls(role), lanes)), registers
        return self.shapes[key]

    def _role(self, node: int, state: int) -> Role:
        roles = self.views[node].roles
        first, here = (roles[index] for index in self._indices(node, state))
        if not self.operator.gated:
            return here
        # Of the role of a gate only the lanes count, which all move together; what may be called stands in that of stage 0.
        lanes = tuple(replace(lane, turn=0, step=0) for lane in here.lanes)
        return replace(first, lanes=lanes, combines=(), by_item=False, turns=1)

    def _indices(self, node: int, state: int) -> tuple[int, int]:
        """Numbers of a node's roles in the first stage of a state's value, and in the state."""
        view, stages = self.views[node], self.operator.stages
        here = view.role_of[self._state_at(view, state)]
        return view.role_of[state - state % stages] if self.operator.gated else here, here

    def _state_at(self, view: NodeOperator, state: int) -> int:
        """The state whose role a node takes: of a value that another node brings it knows only whether it names itself."""
        operator = self.operator
        if not self._is_told(view):
            return state
        return operator.values.index((view.position,)) if (view.position,) in operator.values else 0

    def _is_told(self, view: NodeOperator) -> bool:
        """Do other nodes bring this one the value?"""
        return self.operator.remote and not any(role.commands for role in view.roles)
