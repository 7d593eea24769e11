"""Global message scheduling: communications of one pattern at one place become one message.

A communication may take place anywhere between its latest point, before the statement where it stands, and its earliest, behind
the last statement before it in the same list that writes some of it. Of each pattern as many are combined as meet in a point: the
greedy choice of the least latest point, which gives the fewest messages (Yuan 1998, §5.2.3, after Chakrabarti et al. 1996).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from pointsman.arrays.tree.affine import Affine, Scope
from pointsman.arrays.tree.statements import Branch, DoLoop, Statement

from .communications import Communications, Message, Owners
from .dependence import moved, touches, written
from .descriptors import Descriptor, apart


def scheduled(communications: Communications) -> Communications:
    """The same descriptors in as few messages as can be, each somewhere between its earliest and its latest point."""
    work = _Scheduling(communications)
    work.of_body(communications.program.body, Scope())
    return Communications(communications.program, {at: tuple(found) for at, found in work.before.items() if found})


class _Scheduling:
    def __init__(self, communications: Communications) -> None:
        self.program = communications.program
        self.old = communications.before
        self.owners = Owners(communications.program)
        self.before: dict[Statement, list[Message]] = {}

    def of_body(self, body: Sequence[Statement], scope: Scope) -> None:
        waiting: dict[Hashable, list[tuple[int, int, Descriptor]]] = {}
        for latest, statement in enumerate(body):
            for message in self.old.get(statement, ()):
                for one in message:
                    earliest = self.earliest(one, body, latest, scope)
                    waiting.setdefault(self.pattern(one), []).append((latest, earliest, one))
        placed: dict[int, list[Message]] = {}
        for found in waiting.values():
            while found:
                point = min(latest for latest, _, _ in found)
                placed.setdefault(point, []).append(tuple(one for _, earliest, one in found if earliest <= point))
                found[:] = [entry for entry in found if entry[1] > point]
        for point, messages in placed.items():
            self.before[body[point]] = messages
        for statement in body:
            if isinstance(statement, DoLoop):
                self.of_body(statement.body, scope.with_ranges([statement.range]))
            elif isinstance(statement, Branch):
                self.of_body(statement.then, scope)
                self.of_body(statement.otherwise, scope)

    def earliest(self, one: Descriptor, body: Sequence[Statement], latest: int, scope: Scope) -> int:
        """The first statement before which a descriptor may take place."""
        for place in reversed(range(latest)):
            over = [body[place]]
            if touches(self.program, one, moved(self.program, over)):
                return place + 1
            if not all(apart(one, box, scope) for box in written(self.program, over, one.array, ())):
                return place + 1
        return 0

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
