"""Global message scheduling: communications of one pattern at one place become one message.

A communication may take place anywhere between its latest point, before the statement where it stands, and its earliest, behind
the last statement before it in the same list that writes some of it. Of each pattern as many are combined as meet in a point: the
greedy choice of the least latest point, which gives the fewest messages (Yuan 1998, §5.2.3, after Chakrabarti et al. 1996).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Sequence

from pointsman.arrays.tree.affine import Affine, Scope
from pointsman.arrays.tree.statements import ArrayProgram, Branch, DoLoop, Statement, assignments

from .communications import Communications, Message, Owners
from .dependence import moved, touches, written
from .descriptors import Descriptor, Triple, apart


def scheduled(communications: Communications) -> Communications:
    """The same descriptors in as few messages as can be, each somewhere between its earliest and its latest point."""
    work = _Scheduling(communications)
    work.of_body(communications.program.body, Scope())
    return Communications(communications.program, {at: tuple(found) for at, found in work.before.items() if found})


class _Writes:
    """Which statements of a list write an array, and what; and which redistribute templates."""

    def __init__(self, program: ArrayProgram, body: Sequence[Statement]) -> None:
        self.of_array: dict[str, tuple[list[int], list[list[tuple[Triple, ...]]]]] = {}
        self.moving: list[int] = []
        self.moved: list[set[str]] = []
        for place, statement in enumerate(body):
            for array in {assign.target.array for assign, _ in assignments([statement])}:
                places, boxes = self.of_array.setdefault(array, ([], []))
                places.append(place)
                boxes.append(written(program, [statement], array, ()))
            if templates := moved(program, [statement]):
                self.moving.append(place)
                self.moved.append(templates)


class _Scheduling:
    def __init__(self, communications: Communications) -> None:
        self.program = communications.program
        self.old = communications.before
        self.owners = Owners(communications.program)
        self.before: dict[Statement, list[Message]] = {}

    def of_body(self, body: Sequence[Statement], scope: Scope) -> None:
        writes = _Writes(self.program, body)
        waiting: dict[Hashable, list[tuple[int, int, Message]]] = {}
        for latest, statement in enumerate(body):
            for message in self.old.get(statement, ()):
                earliest = max(self.earliest(one, writes, latest, scope) for one in message)
                between = frozenset(self.pattern(one) for one in message)
                waiting.setdefault(between, []).append((latest, earliest, message))
        placed: dict[int, list[Message]] = {}
        for found in waiting.values():
            while found:
                point = min(latest for latest, _, _ in found)
                ready = [message for _, earliest, message in found if earliest <= point]
                placed.setdefault(point, []).append(tuple(one for message in ready for one in message))
                found[:] = [entry for entry in found if entry[1] > point]
        for point, messages in placed.items():
            self.before[body[point]] = messages
        for statement in body:
            if isinstance(statement, DoLoop):
                self.of_body(statement.body, scope.with_ranges([statement.range]))
            elif isinstance(statement, Branch):
                self.of_body(statement.then, scope)
                self.of_body(statement.otherwise, scope)

    def earliest(self, one: Descriptor, writes: _Writes, latest: int, scope: Scope) -> int:
        """The first statement before which a descriptor may take place."""
        for place in reversed(range(bisect_left(writes.moving, latest))):
            if touches(self.program, one, writes.moved[place]):
                earliest = writes.moving[place] + 1
                break
        else:
            earliest = 0
        places, boxes = writes.of_array.get(one.array, ([], []))
        for at in reversed(range(bisect_left(places, latest))):
            if places[at] < earliest:
                break
            if not all(apart(one, box, scope) for box in boxes[at]):
                return places[at] + 1
        return earliest

    def pattern(self, one: Descriptor) -> Hashable:
        """Equal for descriptors that go between the same virtual processors: by the same shift, or by the same mapping."""
        template, source = self.owners.source(one)
        if template == one.template:
            shift = [to - start for to, start in zip(one.destination, source, strict=True)]
            if all(step.known is not None for step in shift):
                return (template, one.qualifier, *(step.known for step in shift))
        names = {range_.name: f"v{number}" for number, range_ in enumerate(one.bound)}
        values = {old: Affine.of(new) for old, new in names.items()}
        return (
            template,
            tuple(value.put(values) for value in source),
            one.template,
            tuple(value.put(values) for value in one.destination),
            tuple(range_.renamed(names) for range_ in one.bound),
            one.qualifier,
        )
