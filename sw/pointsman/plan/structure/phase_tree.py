"""Tree of extents and places to break it -> tree of phases (Metcalf 1997, §6.2.2).

Takes a `ProgramPart` and says where phases may end (`breaks`); given where they do end, folds the parts into phases:

* between two children of a sequence a phase ends, or the last phase of the first child and the first phase of the second merge;
* the first phases of the children of a disjoint group merge into a phase before it, their last phases into a phase after it;
  the phases between run as threads, each child's on its own;
* operators of a parallel group that has phases in it continue through all of them. Only one child may have such phases, the
  last that has a place to break; its siblings are each in one piece (§6.1.4).

Leaves alone: which places are best (``candidates``), implementations, how phases end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from pointsman.program.program import Operator

from .extents import ProgramPart

Break = tuple[ProgramPart, int]
"""A sequence and i: the place between its children i and i + 1."""


@dataclass(frozen=True)
class Leaf:
    """A phase: its operators in the order of the text, those that continue included.

    ``exits``: how often a node leaves it in the program, about (L_ext of §6.2.5, counted where phases are left). For
    example, a phase in a loop of 9 rounds with a second phase is left 9 times; the second 8 times back to the first. Of
    threads that leave the same phase the most frequent counts.
    """

    operators: tuple[Operator, ...]
    exits: float = 0.0

    def labels(self) -> str:
        return ",".join(operator.label for operator in self.operators)


@dataclass(frozen=True)
class ThreadPhases:
    """Sequences of phases on disjoint extents, which run independently."""

    branches: tuple[tuple[Leaf | ThreadPhases, ...], ...]


Phases = tuple[Leaf | ThreadPhases, ...]
"""Phases in sequence. The first and the last are always a `Leaf`, unless the sequence is empty."""


@dataclass(frozen=True)
class _Folded:
    phases: Phases
    sealed: bool
    """Must the last phase end here (it is a ``phase`` of the program)?"""


def breaks(root: ProgramPart) -> list[Break]:
    """Places where a phase may end, in the order of the text: between children of sequences that need not be in one phase."""
    found: list[Break] = []
    stack: list[tuple[ProgramPart, bool]] = [(root, True)]
    while stack:
        part, free = stack.pop()
        if part.kind == "phase":
            continue
        if part.kind == "parallel":
            last = breakable(part)
            stack.extend((child, free and i == last) for i, child in reversed(list(enumerate(part.children))))
            continue
        if free and part.kind != "disjoint":
            found += [(part, i) for i in range(len(part.children) - 1)]
        stack.extend((child, free) for child in reversed(part.children))
    return found


def fold(root: ProgramPart, ends: Callable[[ProgramPart, int], bool]) -> Phases:
    """The phases of a program; ``ends`` tells for each place of `breaks` whether a phase ends there."""
    times = rounds(root)
    done: dict[ProgramPart, _Folded] = {}
    stack: list[tuple[ProgramPart, bool, bool]] = [(root, True, False)]
    while stack:
        part, free, ready = stack.pop()
        if part.kind == "operator":
            assert part.operator is not None
            done[part] = _Folded((Leaf((part.operator,)),), False)
        elif not ready:
            stack.append((part, free, True))
            inside = free and part.kind != "phase"
            last = breakable(part) if part.kind == "parallel" else -1
            for i, child in enumerate(part.children):
                stack.append((child, inside and last in (-1, i), False))
        else:
            children = [done.pop(child) for child in part.children]
            folded = _group(part, children, ends if free else _never, times[part])
            # A part beside a sequence of phases continues through all of them, so it cannot end a phase.
            done[part] = folded if free else _Folded(folded.phases, False)
    return done[root].phases


def rounds(root: ProgramPart) -> dict[ProgramPart, int]:
    """By group, how often its children run: the product of the counts of the loops around them."""
    times = {root: _count(root)}
    for part in root.walk():
        for child in part.children:
            times[child] = times[part] * _count(child)
    return times


def _count(part: ProgramPart) -> int:
    return max(1, part.group.count) if part.kind == "loop" and part.group is not None else 1


def leaves(phases: Phases) -> Iterator[Leaf]:
    """All phases, in the order in which they begin."""
    stack: list[Leaf | ThreadPhases] = list(reversed(phases))
    while stack:
        part = stack.pop()
        if isinstance(part, Leaf):
            yield part
        else:
            stack.extend(one for branch in reversed(part.branches) for one in reversed(branch))


def _never(_: ProgramPart, __: int) -> bool:
    return False


def breakable(part: ProgramPart) -> int:
    """Index of the child of a parallel group in which phases may end: the last that has a sequence in it; -1 if none has."""
    for i in range(len(part.children) - 1, -1, -1):
        if any(one.kind not in ("operator", "parallel", "disjoint") for one in part.children[i].walk()):
            return i
    return -1


def _group(part: ProgramPart, children: list[_Folded], ends: Callable[[ProgramPart, int], bool], times: int) -> _Folded:
    if part.kind == "phase":
        return _Folded((_merge([leaf for child in children for leaf in leaves(child.phases)]),), part.sealed)
    if part.kind == "disjoint":
        return _disjoint(children)
    if part.kind == "parallel":
        return _parallel(children)
    folded = _sequence(part, children, ends, times)
    if part.kind == "loop" and len(folded.phases) > 1:
        phases = (*folded.phases[:-1], _left(folded.phases[-1], times - times / _count(part)))
        folded = _Folded(phases, folded.sealed)
    return folded


def _sequence(
    part: ProgramPart, children: list[_Folded], ends: Callable[[ProgramPart, int], bool], times: int
) -> _Folded:
    phases = list(children[0].phases[:-1])
    last = [children[0].phases[-1]]  # parts of the last phase so far, merged all at once where it ends
    sealed = children[0].sealed
    for i, child in enumerate(children[1:]):
        if sealed or ends(part, i):
            phases += [_left(_joined(last), times), *child.phases[:-1]]
            last = [child.phases[-1]]
        elif len(child.phases) > 1:
            phases += [_joined([*last, child.phases[0]]), *child.phases[1:-1]]
            last = [child.phases[-1]]
        else:
            last.append(child.phases[0])
        sealed = child.sealed
    return _Folded((*phases, _joined(last)), sealed)


def _joined(parts: list[Leaf | ThreadPhases]) -> Leaf | ThreadPhases:
    """Phases that follow each other as one."""
    if len(parts) == 1:
        return parts[0]
    leaves = [part for part in parts if isinstance(part, Leaf)]
    assert len(leaves) == len(parts), "phases of threads end before what follows them"
    return _merge(leaves, sum)


def _left(part: Leaf | ThreadPhases, times: float) -> Leaf:
    """The phase, left ``times`` times more."""
    assert isinstance(part, Leaf)
    return replace(part, exits=part.exits + times)


def _disjoint(children: list[_Folded]) -> _Folded:
    firsts = [child.phases[0] for child in children]
    first = _merge([leaf for leaf in firsts if isinstance(leaf, Leaf)])
    longer = [child for child in children if len(child.phases) > 1]
    if not longer:
        return _Folded((first,), any(child.sealed for child in children))
    lasts = [child.phases[-1] for child in longer]
    last = _merge([leaf for leaf in lasts if isinstance(leaf, Leaf)])
    between = tuple(child.phases[1:-1] for child in longer if len(child.phases) > 2)
    middle = (ThreadPhases(between),) if len(between) > 1 else between[0] if between else ()
    return _Folded((first, *middle, last), any(child.sealed for child in longer))


def _parallel(children: list[_Folded]) -> _Folded:
    several = [i for i, child in enumerate(children) if len(child.phases) > 1]
    assert len(several) <= 1
    through = several[0] if several else len(children) - 1
    context = [leaf for i, child in enumerate(children) if i != through for leaf in leaves(child.phases)]
    phases = tuple(_within(context, part) for part in children[through].phases)
    return _Folded(phases, any(child.sealed for child in children))


def _within(context: list[Leaf], part: Leaf | ThreadPhases) -> Leaf | ThreadPhases:
    """A phase, or threads of phases, with the operators of ``context`` continuing through."""
    if isinstance(part, Leaf):
        return _merge([*context, part], sum)
    return ThreadPhases(tuple(tuple(_within(context, one) for one in branch) for branch in part.branches))


def _merge(parts: list[Leaf], exits: Callable[[list[float]], float] = max) -> Leaf:
    """Merge phases, each operator once; ``exits`` combines how often they are left."""
    operators = {operator.label: operator for leaf in parts for operator in leaf.operators}
    return Leaf(tuple(operators.values()), exits([leaf.exits for leaf in parts]))
