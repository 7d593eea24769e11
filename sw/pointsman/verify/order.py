"""Do nodes come from operator to operator as the text says? The order of groups, proven of images that name their program.

Takes images and the program; gives sentences. For each node the operators that it may use one directly after the other are read
from the text: neighbours in a sequence, the ends of a loop, and what comes behind groups that may be passed over. The node must
be able to go from the phase of the one to the phase of the other; and where a phase says that one operator is used before
another, no way of the text may lead round the first. Where the program begins and ends stands in the text alone, so it is here
that the passages are looked at through which a node goes before its first operator and after its last.
Children of parallel and phase groups are in no order, and operators that continue over several phases are beside all others.

Shares nothing with the planner's reading of the text (``pointsman.plan.structure``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations, pairwise

from pointsman.artifacts.images.images import SYNC, Images
from pointsman.program.program import Group, Operator, Program

from .node.phase_view import made_operators
from .phases.succession import Succession
from .structure.programs import sequences_of_parts

BEGIN = ""
"""Stands for what comes before the first operator of a program."""
Follows = dict[str, dict[str, None]]
"""By label, the labels of operators that a node may use next, in order."""


@dataclass
class Ends:
    """Operators that may be the first and the last of a part that a node uses, and whether it may use none."""

    first: dict[str, None] = field(default_factory=dict)
    last: dict[str, None] = field(default_factory=dict)
    passed: bool = True


def follows(program: Program, mine: Collection[str]) -> Follows:
    """What a node that has a part in the operators ``mine`` may use after each of them; after `BEGIN`: first."""
    return read(program, mine)[0]


def read(program: Program, mine: Collection[str], *, in_turn: bool = False) -> tuple[Follows, Ends]:
    """What ``follows`` gives, and the ends of the whole. ``in_turn``: children of parallel groups in the order of the text."""
    found: Follows = {}
    walked = list(program.root.walk())
    open_parts: list[tuple[int, list[Ends]]] = []
    # Backwards through the tree in order: when a part comes, all of its children have been there.
    for part, depth in reversed(walked):
        inside: list[Ends] = []
        if open_parts and open_parts[-1][0] == depth + 1:
            inside = open_parts.pop()[1][::-1]
        ends = _of_operator(part, mine) if isinstance(part, Operator) else _of_group(part, inside, found, in_turn)
        if not open_parts or open_parts[-1][0] != depth:
            open_parts.append((depth, []))
        open_parts[-1][1].append(ends)
    (_, (whole,)) = open_parts.pop()
    found[BEGIN] = whole.first
    return found, whole


def _of_operator(operator: Operator, mine: Collection[str]) -> Ends:
    if operator.label not in mine:
        return Ends()
    return Ends({operator.label: None}, {operator.label: None}, passed=False)


def _of_group(group: Group, inside: list[Ends], found: Follows, in_turn: bool) -> Ends:
    ends = Ends()
    if not in_turn and group.kind in ("parallel", "phase"):
        for one in inside:
            ends.first |= one.first
            ends.last |= one.last
            ends.passed &= one.passed
    else:
        for one in inside:
            _join(ends.last, one.first, found)
            if ends.passed:
                ends.first |= one.first
            ends.last = ends.last | one.last if one.passed else dict(one.last)
            ends.passed &= one.passed
        if group.kind == "loop":
            _join(ends.last, ends.first, found)
    ends.passed |= group.may_be_passed
    return ends


def _join(before: Collection[str], after: Mapping[str, None], found: Follows) -> None:
    for one in before:
        found.setdefault(one, {}).update(after)


def _around(program: Program) -> dict[str, list[tuple[Group, int]]]:
    """By label of an operator, the groups around it, from the outermost on, each with the number of the child that it is in. Read
    anew: the planner takes it from `pointsman.program.order`."""
    found: dict[str, list[tuple[Group, int]]] = {}
    open_groups: list[tuple[Group, int]] = []
    for part, depth in program.root.walk():
        del open_groups[depth:]
        if open_groups:
            group, child = open_groups[-1]
            open_groups[-1] = group, child + 1
        if isinstance(part, Group):
            open_groups.append((part, -1))
        else:
            found[part.label] = list(open_groups)
    return found


def _parts_in_any_order(one: list[tuple[Group, int]], other: list[tuple[Group, int]]) -> bool:
    """Do two operators part in a group whose children are in no order? ``one``, ``other``: from `_around`."""
    for (group, child), (same, another) in zip(one, other, strict=False):
        if group is not same or child != another:
            return group.kind in ("parallel", "phase")
    return False


def order_differences(images: Images, program: Program) -> Iterator[str]:
    """Where the ways of nodes through the phases are not those of the text, as sentences."""
    yield from _Order(images, program).differences()


class _Order:
    """The phases of images beside a text."""

    def __init__(self, images: Images, program: Program) -> None:
        self.images, self.program = images, program
        self.at: dict[str, list[tuple[int, ...]]] = {}
        """By label, the operators of the images that do its work: several where values have operators of their own, each a
        sequence of several where it is replaced."""
        replaced = list(sequences_of_parts(images))
        parts = {index for _, several in replaced for index in several}
        made = {index for phase in images.phases for index in made_operators(phase)}
        for index, image in enumerate(images.operators):
            if image.program is not None and index not in parts | made and not image.continues:
                self.at.setdefault(image.program.label, []).append((index,))
        for operator, several in replaced:
            if not any(images.operators[index].continues for index in several):
                self.at.setdefault(operator.label, []).append(several)
        self.known: dict[frozenset[str], tuple[Follows, Ends]] = {}
        """By labels of a node's operators: what it may use after each, and the ends of the whole."""
        self.graph = Succession.of_program(images)
        self.made = made
        whole, ends = read(program, self.at)
        self.first = {p for label in whole[BEGIN] for p in self._phases(self.at, label, 0)}
        self.last = {p for label in ends.last for p in self._phases(self.at, label, -1)}
        """Phases in which the program may begin and end."""
        self.graphs: dict[frozenset[int], Succession] = {}
        self.passages: dict[int, set[tuple[int, int]]] = {}
        for node, left, entered, _ in images.passages:
            self.passages.setdefault(node, set()).add((left, entered))

    def differences(self) -> Iterator[str]:
        yield from self._common()
        said = set()
        for node in range(len(self.images.nodes)):
            for line in self._node(node):
                if line not in said:
                    said.add(line)
                    yield line

    def _common(self) -> Iterator[str]:
        """Note operators with a stream in common that the text lets nodes use in any order: a reader could not tell whose words
        come."""
        users: dict[tuple[int, int, int], dict[str, None]] = {}
        labels = {index: label for label, several in self.at.items() for one in several for index in one}
        for promise in self.images.promises:
            if promise.operator in labels:
                key = self.images.operators[promise.operator].phase, promise.source, promise.register
                users.setdefault(key, {})[labels[promise.operator]] = None
        around = _around(self.program)
        pairs = dict.fromkeys(pair for several in users.values() for pair in combinations(several, 2))
        for one, other in pairs:
            if _parts_in_any_order(around[one], around[other]):
                yield f"'{one}' and '{other}' have a stream in common, and may be used in any order in the program"

    def _node(self, node: int) -> Iterator[str]:
        image = self.images.nodes[node]
        held = {index for index, _ in image.operators}
        at = {
            label: mine
            for label, several in self.at.items()
            if (mine := [one for one in several if held.issuperset(one)])
        }
        labels = frozenset(at)
        if labels not in self.known:
            self.known[labels] = read(self.program, labels)
        ways, ends = self.known[labels]
        steps: dict[tuple[int, int], tuple[str, str]] = {}
        for label, several in at.items():
            for one in several:
                phases = [self.images.operators[index].phase for index in one]
                for left, entered in pairwise(phases):
                    steps.setdefault((left, entered), (label, label))
        for before, after in ways.items():
            for left in self._phases(at, before, -1):
                for other in after:
                    for entered in self._phases(at, other, 0):
                        steps.setdefault((left, entered), (before, other))
        for (left, entered), (before, other) in steps.items():
            if not self._leads(node, left, entered):
                whence = f"'{before}'" if before else "the beginning"
                yield f"node {node} does not come from {whence} to '{other}', which may follow in the program"
        yield from self._orders(node, held, at, ways)
        yield from self._stays(node, at, ways)
        if not image.ways:
            yield from self._outer_passages(node, at, ways[BEGIN], ends.last)

    def _phases(self, at: Mapping[str, list[tuple[int, ...]]], label: str, end: int) -> list[int]:
        """Phases in which an operator begins or ends."""
        return [self.images.operators[one[end]].phase for one in at[label]] if label else [-1]

    def _leads(self, node: int, left: int, entered: int) -> bool:
        """Does a way of the node lead from one phase to another?"""
        image = self.images.nodes[node]
        if left == entered or (left, entered) in self.passages.get(node, ()):
            return True
        if image.ways:
            return (left, entered) in image.ways
        return left == -1 or entered in self._graph(node)[left]

    def _graph(self, node: int) -> Succession:
        parts = frozenset(part.phase for part in self.images.nodes[node].phases)
        if parts not in self.graphs:
            self.graphs[parts] = Succession.of_node(self.images, node, self.graph)
        return self.graphs[parts]

    def _outer_passages(
        self, node: int, at: Mapping[str, list[tuple[int, ...]]], first: Collection[str], last: Collection[str]
    ) -> Iterator[str]:
        """Note phases in which the node only serves others, before its first operator or after its last, and through which no
        passage leads. Where a program begins and ends stands in the text alone."""
        image, phases = self.images.nodes[node], self.images.phases
        called = {self._phase(node, index) for index, _ in image.operators if index not in self.made}
        silent = {part.phase for part in image.phases} - called
        if not silent:
            return
        outside = set(range(len(phases))) - called
        ways = {(left, entered): way for one, left, entered, way in self.images.passages if one == node}
        for entered in {p for label in first for p in self._phases(at, label, 0)} or {-1}:
            ends = {p for p in outside if entered in self.graph[p]} if entered >= 0 else self.last
            needed = self._between(self.first & outside, ends & outside, outside)
            for phase in sorted(needed & silent - set(ways.get((-1, entered), ()))):
                name = phases[phase].name
                yield f"node {node} serves others in phase '{name}' at the beginning, and no passage leads through it"
        for left in {p for label in last for p in self._phases(at, label, -1)}:
            needed = self._between(set(self.graph[left]) & outside, self.last & outside, outside)
            for phase in sorted(needed & silent - set(ways.get((left, -1), ()))):
                name = phases[phase].name
                yield f"node {node} serves others in phase '{name}' at the end, and no passage leads through it"

    def _phase(self, node: int, index: int) -> int:
        """Phase that the load function of an operator enters."""
        here, image = self.images.members[index][node], self.images.operators[index]
        return here.enters if image.continues else image.phase

    def _between(self, starts: set[int], ends: set[int], among: set[int]) -> set[int]:
        """Phases on ways from ``starts`` to ``ends``, these included, that stay ``among`` phases."""
        reached: set[int] = set()
        more = starts
        while more:
            reached |= more
            more = {q for p in more for q in self.graph[p]} & among - reached
        found: set[int] = set()
        more = reached & ends
        while more:
            found |= more
            more = {p for p in reached - found if not more.isdisjoint(self.graph[p])}
        return found

    def _stays(self, node: int, at: Mapping[str, list[tuple[int, ...]]], ways: Follows) -> Iterator[str]:
        """Note operators that are rewritten before their phase is entered (`phases.preload`), and that the text lets a node use
        twice while it stays there."""
        for label in at:
            for one in at[label] if label in ways.get(label, ()) else ():
                phases = {self.images.operators[index].phase for index in one}
                (phase,) = phases if len(phases) == 1 else (None,)
                left = phase is None or (phase, phase) in self.passages.get(node, ())
                if not left and any(self._rewritten_alone(node, index) for index in one):
                    yield f"node {node} may use '{label}' twice in the program, and does not leave its phase in between"

    def _rewritten_alone(self, node: int, index: int) -> bool:
        """Does a node rewrite an operator for another value with all others, and meets them when it leaves the phase only?"""
        image, members = self.images.operators[index], self.images.members[index]
        if not image.synchronised or image.states < 2 or members[node].nodes == 1:
            return False
        lanes = (lane for here in members.values() for role in here.roles for lane in role.lanes)
        return all(lane.turn != SYNC for lane in lanes)

    def _orders(
        self, node: int, held: Collection[int], at: Mapping[str, list[tuple[int, ...]]], ways: Follows
    ) -> Iterator[str]:
        """Note pairs that a phase says to be in order, and which the text lets come in another."""
        labels = {index: label for label, several in at.items() for one in several for index in one}
        # Each use of a replaced operator is one of all its parts, in their order.
        parts = {pair for several in at.values() for one in several for pair in combinations(one, 2)}
        for phase in self.images.phases:
            pairs = [(a, b) for a, b in phase.order if a in held and b in held and a in labels and b in labels]
            inside = {labels[index] for index in phase.operators if index in labels} if pairs else set()
            for first, then in pairs:
                if (first, then) not in parts and _leads_round(ways, inside, labels[first], labels[then]):
                    yield (
                        f"node {node} may use '{labels[then]}' before '{labels[first]}' in the program, and not in phase "
                        f"'{phase.name}' of the images"
                    )


def _leads_round(ways: Follows, inside: Collection[str], first: str, then: str) -> bool:
    """Can a node come into a phase (the operators ``inside``) and to ``then`` without ``first``?"""
    waiting = [other for one, after in ways.items() if one not in inside for other in after if other in inside]
    seen = set()
    while waiting:
        one = waiting.pop()
        if one == then:
            return True
        if one != first and one not in seen:
            seen.add(one)
            waiting += [other for other in ways.get(one, ()) if other in inside]
    return False
