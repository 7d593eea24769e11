"""Program -> phases and the order in which they may follow each other.

Takes a Program, and optionally phases that the search has folded out of it. Gives ``Structure``: which operators share
a phase, and the successors of each phase. Without a search each operator gets a phase of its own, but the operators of
a ``parallel`` or ``phase`` group share a phase (a sequential group inside a parallel group is treated as parallel,
which Metcalf 1997 §2.4.1 allows). Operators that continue over several phases are in none of them but in
``Structure.through``. Leaves alone: implementations, routes, how phases end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pointsman.program.program import Group, Operator, Program

from .control_flow import control
from .extents import ProgramPart
from .phase_graph import END, START, PhaseGraph
from .phase_tree import Phases, leaves
from .threads import Threads


@dataclass(frozen=True)
class PhaseOutline:
    """Operators of one phase, and how often it runs."""

    operators: tuple[Operator, ...]
    rounds: tuple[float, ...]
    """By operator, the product of the counts of the loops around it."""
    exits: float
    """How often a node leaves the phase, about."""
    value: tuple[int, ...] | None = None
    """Run-time values that the phase is for, if its operators have a schedule for each value; else None."""

    @property
    def loops(self) -> float:
        """Rounds of the operator that runs most often."""
        return max(self.rounds, default=1)

    @cached_property
    def nodes(self) -> frozenset[int]:
        return frozenset(node for operator in self.operators for node in operator.nodes)


@dataclass(frozen=True)
class Through:
    """An operator that continues over several phases, in the order of their numbers (Metcalf 1997, §5.1)."""

    operator: Operator
    rounds: float
    phases: tuple[int, ...]


@dataclass(frozen=True)
class Structure:
    """Phases in program order and the edges between them."""

    phases: tuple[PhaseOutline, ...]
    successors: dict[int, frozenset[int]]
    """By phase, START included; END is a member where the program may end."""
    loops: tuple[str, ...]
    """Labels of all loops."""
    again: frozenset[int] = frozenset()
    """Phases that run several uses of operators, of the same or of different ones, without being left in between."""
    threads: Threads | None = None
    """Disjoint groups whose children have phases of their own, if there are any."""
    last: tuple[frozenset[str], ...] = ()
    """By phase, labels of the operators after which a node may leave it; empty if not known."""
    through: tuple[Through, ...] = ()
    """Operators that continue over several phases; ``phases`` do not list them."""
    before: Sequence[Mapping[str, frozenset[str]]] = ()
    """By phase and label of an operator, labels of operators of the phase that are always used before it
    (`pointsman.plan.structure.control_flow.Control.before`); empty if not known."""
    passed: frozenset[int] = frozenset()
    """Loops and optional groups whose phases every node goes through, also when they have no round or are not taken; by
    their numbers (`groups_around`)."""
    repeated: bool = True
    """Whether the loops of ``passed`` may go round more than once."""
    source: tuple[Program, ProgramPart | None, Phases] | None = field(default=None, compare=False, repr=False)
    """Program, tree and phases that it was made from (no tree: by `outline`); None if it cannot be made again."""

    def passing(self, labels: Collection[str]) -> Iterator[Structure]:
        """The same division, in which all nodes go through the innermost loop or optional group around each of the operators
        ``labels`` (the next one, if they do so already) even when it has no round or is not taken, so that a node that only
        lends its router need not know: without those that are in others of them, if there are any, and with them."""
        if self.source is None or any(phase.value is not None for phase in self.phases):
            return
        program, root, phases = self.source
        each = [self.around[label] - self.passed for label in labels if label in self.around]
        every = frozenset(max(numbers) for numbers in each if numbers)  # inner groups have greater numbers
        inner = frozenset(
            one for numbers in self.around.values() for one in numbers & every if one > min(numbers & every)
        )
        for more in dict.fromkeys((every - inner, every)):
            if more:
                passed = self.passed | more
                yield outline(program, passed) if root is None else divided(program, root, phases, passed)

    @cached_property
    def once(self) -> Structure | None:
        """The same, in which the loops of ``passed`` go round once, as nodes that pass over them do; None if ``passed`` is
        empty, or one of its groups is in another."""
        if self.source is None or not self.passed or not self.repeated:
            return None
        program, root, phases = self.source
        if any(len(around & self.passed) > 1 for around in self.around.values()):
            return None
        if root is None:
            return outline(program, self.passed, repeated=False)
        return divided(program, root, phases, self.passed, repeated=False)

    @cached_property
    def unsure(self) -> frozenset[str]:
        """Labels of operators in the groups ``passed``: nodes may go through their phases without using them."""
        return frozenset(label for label, numbers in self.around.items() if numbers & self.passed)

    @cached_property
    def around(self) -> Mapping[str, frozenset[int]]:
        """By label of an operator, the loops and optional groups around it (`groups_around`)."""
        return {} if self.source is None else groups_around(self.source[0])

    @cached_property
    def graph(self) -> PhaseGraph:
        """Which phase may follow which, for all nodes together."""
        optional = set() if self.source is None else _optional(self.source[0])
        seldom = (i for i, phase in enumerate(self.phases) if all(one.label in optional for one in phase.operators))
        return PhaseGraph(self.successors, frozenset(seldom))

    def graph_of(self, node: int) -> PhaseGraph:
        """Which phase may follow which at ``node``; nodes that go the same ways share a graph."""
        return self.graph if self.threads is None else self.threads.graph_of(node)


def _optional(program: Program) -> set[str]:
    """Labels of the operators in optional groups."""
    groups = (part for part, _ in program.root.walk() if isinstance(part, Group) and part.kind == "optional")
    return {one.label for group in groups for one, _ in group.walk() if isinstance(one, Operator)}


def _groups(program: Program, numbers: Collection[int]) -> list[Group]:
    """The groups with these numbers (`groups_around`)."""
    parts = enumerate(program.root.walk()) if numbers else ()
    return [part for number, (part, _) in parts if number in numbers and isinstance(part, Group)]


def _parts(program: Program, root: ProgramPart, numbers: Collection[int]) -> frozenset[ProgramPart]:
    """The parts of the tree that come from the groups with these numbers."""
    groups = {id(group) for group in _groups(program, numbers)}
    return frozenset(part for part in root.walk() if part.may_be_passed and id(part.group) in groups)


def divided(
    program: Program,
    root: ProgramPart,
    phases: Phases,
    passed: frozenset[int] = frozenset(),
    *,
    repeated: bool = True,
) -> Structure:
    """The structure of a program whose tree of extents was folded into ``phases``. ``passed``, ``repeated``: see `Structure`."""
    rounds = program.rounds()
    inside: dict[str, list[int]] = {}
    known: dict[str, Operator] = {}
    for number, leaf in enumerate(leaves(phases)):
        for operator in leaf.operators:
            known[operator.label] = operator
            inside.setdefault(operator.label, []).append(number)
    through = tuple(
        Through(known[label], rounds[label], tuple(numbers)) for label, numbers in inside.items() if len(numbers) > 1
    )
    outlines = []
    for leaf in leaves(phases):
        own = tuple(operator for operator in leaf.operators if len(inside[operator.label]) == 1)
        outlines.append(PhaseOutline(own, tuple(rounds[operator.label] for operator in own), leaf.exits))
    loops = tuple(
        part.label or "" for part, _ in program.root.walk() if isinstance(part, Group) and part.kind == "loop"
    )
    ways = control(root, phases)
    entered = _parts(program, root, passed)
    threads = Threads(root, phases, entered, not repeated)
    successors = control(root, phases, None, entered, once=not repeated).successors if passed else ways.successors
    if threads.groups:
        # A node may pass over a loop of its own thread while the other threads of the group go through theirs.
        graphs = {threads.graph_of(node) for node in range(program.topology.nodes)}
        successors = {p: after.union(*(g.successors[p] for g in graphs)) for p, after in successors.items()}
    return Structure(
        tuple(outlines),
        successors,
        loops,
        ways.again,
        threads if threads.groups else None,
        ways.last,
        through,
        ways.before,
        passed,
        repeated,
        (program, root, phases),
    )


def groups_around(program: Program) -> dict[str, frozenset[int]]:
    """By label of an operator, the loops and optional groups around it; groups are numbered in the order of the text."""
    found: dict[str, frozenset[int]] = {}
    around: list[frozenset[int]] = [frozenset()]
    for number, (part, depth) in enumerate(program.root.walk()):
        del around[depth + 1 :]
        if isinstance(part, Operator):
            found[part.label] = around[depth]
        else:
            around.append(around[depth] | {number} if part.may_be_passed else around[depth])
    return found


def outline(program: Program, passed: frozenset[int] = frozenset(), *, repeated: bool = True) -> Structure:
    """Divide a program into phases. Programs may be deep, so the walk keeps its own stack.

    ``passed``, ``repeated``: see `Structure`.
    """
    entered = {id(group) for group in _groups(program, passed)}
    phases: list[PhaseOutline] = []
    edges: dict[int, set[int]] = {START: set()}
    loops: list[str] = []
    after = frozenset([START])  # phases that may be last, so far
    rounds = 1
    times = program.rounds()
    stack: list[Group | Operator | _Leave] = [program.root]
    while stack:
        part = stack.pop()
        if isinstance(part, _Leave):
            if part.group.kind == "loop" and (repeated or id(part.group) not in entered):
                # The next round: each phase that may be last may be followed by each that may be first.
                firsts = {p for p in range(part.first, len(phases)) if any(p in edges[b] for b in part.before)}
                for last in after:
                    if last >= part.first:
                        edges[last] |= firsts
            if part.group.may_be_passed and id(part.group) not in entered:
                after |= part.before
            rounds = part.rounds
        elif isinstance(part, Group) and part.kind not in ("parallel", "phase"):
            stack.append(_Leave(part, after, len(phases), rounds))
            stack += reversed(part.children)
            if part.kind == "loop":
                loops.append(part.label or "")
                rounds *= max(1, part.count)
        else:
            operators = (part,) if isinstance(part, Operator) else _flatten(part, loops)
            if not operators:
                continue
            index = len(phases)
            phases.append(PhaseOutline(operators, tuple(times[o.label] for o in operators), float(rounds)))
            edges[index] = set()
            for b in after:
                edges[b].add(index)
            after = after | {index} if _may_skip(part, entered) else frozenset([index])
    for phase in after:
        edges[phase].add(END)
    again = {i for i, phase in enumerate(phases) if i in edges[i] or len(phase.operators) > 1}
    successors = {phase: frozenset(after) for phase, after in edges.items()}
    source = program, None, ()
    return Structure(
        tuple(phases), successors, tuple(loops), frozenset(again), passed=passed, repeated=repeated, source=source
    )


@dataclass(frozen=True)
class _Leave:
    """Marks on the walk's stack the end of a group, with the walk's state at the group's beginning."""

    group: Group
    before: frozenset[int]
    first: int
    rounds: int


def _may_skip(part: Group | Operator, entered: Collection[int]) -> bool:
    """May a program pass over all operators of a part? ``entered``: identities of groups that it does not pass over."""
    stack = [part]
    while stack:
        one = stack.pop()
        if isinstance(one, Operator):
            return False
        if not one.may_be_passed or id(one) in entered:
            stack += one.children
    return True


def _flatten(group: Group, loops: list[str]) -> tuple[Operator, ...]:
    """All operators of a group; the labels of the loops in it are added to ``loops``."""
    loops += [part.label or "" for part, _ in group.walk() if isinstance(part, Group) and part.kind == "loop"]
    return tuple(part for part, _ in group.walk() if isinstance(part, Operator))
