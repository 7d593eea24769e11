"""Tree of parts and phases -> which phase may follow which on some node, and which operators may be the last in each
phase (Metcalf 1997, §5.2.2, §5.4.1).

Takes a `ProgramPart` and phases folded out of it. Gives successors by index of a phase: an operator may be followed by
the first operators of the next part in its sequence, of a loop that it ends, and of the part after an optional group
or a loop that may be passed over. Children of parallel and disjoint groups are not ordered. Where two threads part, the first
phases of both are successors of the phase before; which of them a node takes shows in the phases that it has a part in.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import overload

from .extents import ProgramPart
from .phase_graph import END, START
from .phase_tree import Phases, leaves


@dataclass(frozen=True)
class _Ends:
    """Operators, by index in the text, that may be first and last in a part, and whether the part may be left out."""

    first: frozenset[int]
    last: frozenset[int]
    may_skip: bool


@dataclass(frozen=True)
class Control:
    """Ways through the phases of a program; phases by their index in the order of `leaves`."""

    successors: dict[int, frozenset[int]]
    """By phase, START included; END is a member where the program may end."""
    last: tuple[frozenset[str], ...]
    """By phase, labels of its terminating operators after which a node may leave it at once."""
    terminating: tuple[frozenset[str], ...]
    """By phase, labels of the operators that are in no later phase."""
    again: frozenset[int]
    """Phases that run several uses of operators, of the same or of different ones, without being left in between."""
    before: Sequence[Mapping[str, frozenset[str]]] = ()
    """By phase and label of an operator, labels of operators that come before it on every way since the phase was
    entered ("always", §5.3.4); a node uses those of them that it has a part in."""


@dataclass(frozen=True)
class _Before(Sequence[Mapping[str, frozenset[str]]]):
    """`Control.before`, worked out for a phase when it is asked for: most divisions are dropped before that."""

    inside: Sequence[Collection[int]]
    """Operators of each phase."""
    first: Collection[int]
    """Operators with which the program may begin."""
    follows: Mapping[int, Collection[int]]
    labels: Sequence[str]
    _known: dict[int, Mapping[str, frozenset[str]]] = field(default_factory=dict, compare=False, repr=False)

    @overload
    def __getitem__(self, index: int) -> Mapping[str, frozenset[str]]: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Mapping[str, frozenset[str]]]: ...

    def __getitem__(self, index: int | slice) -> Mapping[str, frozenset[str]] | Sequence[Mapping[str, frozenset[str]]]:
        if isinstance(index, slice):
            return [self[p] for p in range(*index.indices(len(self)))]
        if index not in self._known:
            self._known[index] = _before(self.inside[index], self.first, self.follows, self.labels)
        return self._known[index]

    def __len__(self) -> int:
        return len(self.inside)


def control(
    root: ProgramPart,
    phases: Phases,
    node: int | None = None,
    passed: Collection[ProgramPart] = frozenset(),
    *,
    once: bool = False,
) -> Control:
    """Ways through the phases of a program.

    Operators that continue over several phases are used beside others, so they decide no order; in the phase where they
    terminate they may be the last.

    Parameters
    ----------
    node : int or None
        Only the ways of this node, which of each disjoint group takes the child whose extent it is in, or none; None:
        the ways of all nodes together.
    passed : collection of ProgramPart
        Loops and optional groups that nobody passes over.
    once : bool
        The loops of ``passed`` go round once.
    """

    def children(part: ProgramPart) -> list[ProgramPart]:
        apart = part.kind == "disjoint" and node is not None
        return [child for child in part.children if not apart or child.extent >> (node or 0) & 1]

    of: dict[str, list[int]] = {}
    for number, leaf in enumerate(leaves(phases)):
        for operator in leaf.operators:
            of.setdefault(operator.label, []).append(number)
    operators = root.operators()
    place = {part: i for i, part in enumerate(part for part in root.walk() if part.operator is not None)}
    labels = [operator.label for operator in operators]
    through = {i for i, operator in enumerate(operators) if len(of[operator.label]) > 1}
    follows: dict[int, set[int]] = {}
    done: dict[ProgramPart, _Ends] = {}
    stack: list[tuple[ProgramPart, bool]] = [(root, False)]
    while stack:
        part, ready = stack.pop()
        if part.operator is not None:
            number = place[part]
            only = frozenset() if number in through else frozenset([number])
            done[part] = _Ends(only, only, number in through)
        elif not ready:
            stack.append((part, True))
            stack.extend((child, False) for child in children(part))
        else:
            joined = _joined(part, [done.pop(child) for child in children(part)], follows)
            if part.kind == "loop" and not (once and part in passed):
                for before in joined.last:
                    follows.setdefault(before, set()).update(joined.first)
            done[part] = replace(joined, may_skip=joined.may_skip or (part.may_be_passed and part not in passed))
    ends = done[root]
    count = len(list(leaves(phases)))
    edges: dict[int, set[int]] = {START: set(), **{number: set() for number in range(count)}}
    last: list[set[str]] = [set() for _ in range(count)]
    terminating: list[set[str]] = [set() for _ in range(count)]

    home = [of[label][-1] for label in labels]
    inside: list[list[int]] = [[] for _ in range(count)]
    again: set[int] = set()
    edges[START] |= {home[number] for number in ends.first}
    if ends.may_skip:
        edges[START].add(END)
    for before, after in follows.items():
        leaving = {home[number] for number in after}
        if home[before] in leaving:
            again.add(home[before])
            leaving.discard(home[before])
        edges[home[before]] |= leaving
        if leaving:
            last[home[before]].add(operators[before].label)
    for final in ends.last:
        edges[home[final]].add(END)
        last[home[final]].add(operators[final].label)
    for i, operator in enumerate(operators):
        terminating[home[i]].add(operator.label)
        if i in through:
            last[home[i]].add(operator.label)
        else:
            inside[home[i]].append(i)
    return Control(
        {number: frozenset(after) for number, after in edges.items()},
        tuple(map(frozenset, last)),
        tuple(map(frozenset, terminating)),
        frozenset(again),
        _Before(inside, ends.first, follows, labels),
    )


def _before(
    inside: Collection[int], first: Collection[int], follows: Mapping[int, Collection[int]], labels: Sequence[str]
) -> dict[str, frozenset[str]]:
    """By operator of a phase, the operators on every way to it from where the phase is entered (its dominators).

    Parameters
    ----------
    inside : collection of int
        Operators of the phase; ``first``: operators with which the program may begin; ``follows``: by operator, those
        that may come next.
    """
    before: dict[int, set[int]] = {number: set() for number in inside}
    entered = {number for number in inside if number in first}
    for one, after in follows.items():
        for other in after:
            if other in before:
                if one in before:
                    before[other].add(one)
                else:
                    entered.add(other)
    # Sets as integers whose bit i stands for operator i: a phase may have hundreds of operators.
    every = sum(1 << number for number in inside)
    known = {number: 0 if number in entered else every for number in inside}
    changed = True
    while changed:
        changed = False
        for number in inside:
            if number in entered:
                continue
            common = every
            for one in before[number]:
                common &= known[one] | 1 << one
            if common != known[number]:
                known[number], changed = common, True
    return {
        labels[number]: frozenset(labels[one] for one in inside if one != number and known[number] >> one & 1)
        for number in sorted(inside)
    }


def _joined(part: ProgramPart, children: list[_Ends], follows: dict[int, set[int]]) -> _Ends:
    """The ends of a part if it is run, once."""
    if part.kind in ("parallel", "disjoint", "phase"):
        # All operators of a phase group are in the same phase, so their order does not matter here.
        first = frozenset().union(*(child.first for child in children))
        last = frozenset().union(*(child.last for child in children))
        return _Ends(first, last, all(child.may_skip for child in children))
    first, last, may_skip = frozenset[int](), frozenset[int](), True
    for child in children:
        for before in last:
            follows.setdefault(before, set()).update(child.first)
        if may_skip:
            first |= child.first
        last = last | child.last if child.may_skip else child.last
        may_skip = may_skip and child.may_skip
    return _Ends(first, last, may_skip)
