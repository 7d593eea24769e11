"""Program -> phases and the order in which they may follow each other.

Takes a Program. Gives ``Structure``: which operators share a phase, and the successors of each phase. Each operator gets
a phase of its own, except that the operators of a ``parallel`` or ``phase`` group share one (a sequential group inside
a parallel one is treated as parallel, which Metcalf 1997 §2.4.1 allows). Leaves alone: implementations, routes, ends.
Non-goals: merging sequential operators into one phase, operators that continue over several phases.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from pointsman.cop.program import Group, Operator, Program

START, END = -1, -2
"""Stand-ins for before the first and after the last phase."""


@dataclass(frozen=True)
class PhaseOutline:
    """Operators of one phase, and how often it runs."""

    operators: tuple[Operator, ...]
    loops: int
    """Product of the counts of the loops around it."""

    @cached_property
    def nodes(self) -> frozenset[int]:
        return frozenset(node for operator in self.operators for node in operator.nodes)


@dataclass(frozen=True)
class Structure:
    """Phases in program order and the edges between them."""

    phases: tuple[PhaseOutline, ...]
    successors: dict[int, frozenset[int]]
    """By phase, START included; END is a member where the program may end."""
    loops: tuple[str, ...]
    """Labels of all loops."""

    def next_for(self, phase: int, members: Iterable[int]) -> dict[int, tuple[int, ...]]:
        """Phases of ``members`` (or END) that may come next after ``phase`` for a node that only has a part in
        ``members``, with the phases passed on the way (none of them in ``members``); the shortest way for each."""
        inside = frozenset(members)
        found: dict[int, tuple[int, ...]] = {}
        queue: list[tuple[int, tuple[int, ...]]] = [(s, ()) for s in sorted(self.successors[phase])]
        seen = set()
        for place, way in queue:
            if place in seen:
                continue
            seen.add(place)
            if place == END or place in inside:
                found[place] = way
            else:
                queue += [(s, (*way, place)) for s in sorted(self.successors[place])]
        return found

    def reachable(self, phase: int) -> frozenset[int]:
        """Phases that may run at any time after ``phase``; itself too if a loop leads back."""
        found: set[int] = set()
        stack = list(self.successors[phase])
        while stack:
            place = stack.pop()
            if place >= 0 and place not in found:
                found.add(place)
                stack += self.successors[place]
        return frozenset(found)


def outline(program: Program) -> Structure:
    """Divide a program into phases."""
    phases: list[PhaseOutline] = []
    edges: dict[int, set[int]] = {START: set()}
    loops: list[str] = []

    def walk(part: Group | Operator, before: frozenset[int], rounds: int) -> frozenset[int]:
        """Add ``part`` after the phases ``before``; give the phases that may be last."""
        if isinstance(part, Operator):
            return add((part,), before, rounds)
        if part.kind == "loop":
            loops.append(part.label or "")
            rounds *= max(1, part.count)
        if part.kind in ("parallel", "phase"):
            operators: list[Operator] = []
            flatten(part, operators)
            return add(tuple(operators), before, rounds) if operators else before
        first_new = len(phases)
        after = before
        for child in part.children:
            after = walk(child, after, rounds)
        if part.kind == "loop":
            # Round again: what may be last may be followed by what may be first.
            firsts = {p for p in range(first_new, len(phases)) if any(p in edges[b] for b in before)}
            for last in after:
                if last >= first_new:
                    edges[last] |= firsts
        if part.kind == "optional":
            after = after | before
        return after

    def flatten(part: Group | Operator, into: list[Operator]) -> None:
        if isinstance(part, Operator):
            into.append(part)
            return
        if part.kind == "loop":
            loops.append(part.label or "")
        for child in part.children:
            flatten(child, into)

    def add(operators: tuple[Operator, ...], before: frozenset[int], rounds: int) -> frozenset[int]:
        index = len(phases)
        phases.append(PhaseOutline(operators, rounds))
        edges[index] = set()
        for b in before:
            edges[b].add(index)
        return frozenset([index])

    last = walk(program.root, frozenset([START]), 1)
    for phase in last:
        edges[phase].add(END)
    return Structure(tuple(phases), {phase: frozenset(after) for phase, after in edges.items()}, tuple(loops))
