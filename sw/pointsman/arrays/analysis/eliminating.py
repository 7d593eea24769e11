"""Redundant communication elimination: what a processor has already, and nobody has written since, is not sent again.

Communications available before each statement are carried forward (Yuan 1998, §5.2.3). A communication that is available in part
is sent in part.
"""

from __future__ import annotations

from collections.abc import Sequence

from pointsman.arrays.tree.affine import Range, Scope
from pointsman.arrays.tree.statements import Assign, Branch, DoLoop, Redistribute, Statement

from .communications import Communications, Message
from .dependence import moved, touches, written
from .descriptors import Descriptor, covers, without_copies, without_elements

Available = dict[str, list[Descriptor]]
"""Descriptors whose copies are valid, by array."""


def eliminated(communications: Communications) -> Communications:
    """The communications without those parts that are available."""
    work = _Eliminating(communications)
    work.of_body(communications.program.body, {}, Scope())
    return Communications(communications.program, {at: tuple(found) for at, found in work.before.items() if found})


class _Eliminating:
    def __init__(self, communications: Communications) -> None:
        self.program = communications.program
        self.old = communications.before
        self.before: dict[Statement, list[Message]] = {}

    def of_body(self, body: Sequence[Statement], available: Available, scope: Scope) -> Available:
        """What is available after a list of statements."""
        available = {array: list(found) for array, found in available.items()}
        for statement in body:
            self.sent(statement, available, scope)
            if isinstance(statement, Branch):
                one = self.of_body(statement.then, available, scope)
                other = self.of_body(statement.otherwise, available, scope)
                available = _both(one, other, scope)
            elif isinstance(statement, DoLoop):
                available = self.of_loop(statement, available, scope)
            elif isinstance(statement, Assign | Redistribute):
                available = self.left(available, [statement], (), scope)
        return available

    def sent(self, statement: Statement, available: Available, scope: Scope) -> None:
        """Reduce what is sent before a statement, and make it available."""
        kept: list[Message] = []
        for message in self.old.get(statement, ()):
            left: list[Descriptor] = []
            for one in message:
                have = available.setdefault(one.array, [])
                parts = [one]
                for other in have:
                    parts = [piece for part in parts for piece in without_copies(part, other, scope)]
                left += parts
                if parts and one.qualifier is None:
                    have.append(one)
            if left:
                kept.append(tuple(left))  # parts of a message travel together: never more messages than before
        self.before[statement] = kept

    def of_loop(self, loop: DoLoop, available: Available, scope: Scope) -> Available:
        """What is available after a loop: what was before it and what its iterations send, if the loop writes none of it."""
        lasting = self.left(available, loop.body, (loop.range,), scope)
        inside = scope.with_ranges([loop.range])
        ended = self.of_body(loop.body, lasting, inside)
        exposed: Available = {}
        for array, found in ended.items():
            known = lasting.get(array, [])
            exposed[array] = [one.expanded(loop.range, scope) for one in found if one not in known]
        for array, found in self.left(exposed, loop.body, (loop.range,), scope).items():
            lasting.setdefault(array, []).extend(found)
        return lasting

    def left(
        self, available: Available, body: Sequence[Statement], outer: tuple[Range, ...], scope: Scope
    ) -> Available:
        """What some statements leave valid."""
        changed = moved(self.program, body)
        result: Available = {}
        for array, found in available.items():
            parts = [one for one in found if not touches(self.program, one, changed)]
            for box in written(self.program, body, array, outer):
                parts = [piece for part in parts for piece in without_elements(part, box, scope)]
            result[array] = list(dict.fromkeys(parts))
        return result


def _both(one: Available, other: Available, scope: Scope) -> Available:
    """What is available after both branches."""
    result: Available = {}
    for array in one.keys() & other.keys():
        first = [a for a in one[array] if any(covers(b, a, scope) for b in other[array])]
        second = [b for b in other[array] if b not in first and any(covers(a, b, scope) for a in one[array])]
        result[array] = first + second
    return result
