"""Message vectorisation: communications leave the loops in which nothing that they carry is written before it is read.

Backward exposed communication, Yuan 1998, §5.2.3 and Figure 5.4 (b). A communication that is partly written in its loop is
divided: what is not leaves the loop, the rest stays for the iterations that need it.
"""

from __future__ import annotations

from dataclasses import replace

from pointsman.arrays.tree.affine import Range, Scope
from pointsman.arrays.tree.statements import ArrayProgram, Branch, DoLoop, Statement, assignments

from .communications import Communications, Message
from .dependence import may_flow, moved, touches
from .descriptors import Descriptor, hull, without_elements


def vectorised(communications: Communications) -> Communications:
    """The same communications, each outside of as many loops as may be."""
    work = _Vectorising(communications)
    work.of_body(communications.program.body, Scope())
    return Communications(communications.program, {at: tuple(found) for at, found in work.before.items() if found})


class _Vectorising:
    def __init__(self, communications: Communications) -> None:
        self.program: ArrayProgram = communications.program
        self.before: dict[Statement, list[Message]] = {at: list(found) for at, found in communications.before.items()}

    def of_body(self, body: tuple[Statement, ...], scope: Scope) -> None:
        """Inner loops first: what leaves them may leave this one, too."""
        for statement in body:
            if isinstance(statement, Branch):
                self.of_body(statement.then, scope)
                self.of_body(statement.otherwise, scope)
            elif isinstance(statement, DoLoop):
                self.of_body(statement.body, scope.with_ranges([statement.range]))
                self.of_loop(statement, scope)

    def of_loop(self, loop: DoLoop, scope: Scope) -> None:
        """Hoist what stands in a loop's own list of statements to before the loop."""
        changed = moved(self.program, loop.body)
        out = self.before.setdefault(loop, [])
        for place, statement in enumerate(loop.body):
            stay: list[Message] = []
            for message in self.before.get(statement, ()):
                for one in message:
                    if one.qualifier is not None or touches(self.program, one, changed):
                        stay.append((one,))
                        continue
                    inside, outside = self.divided(one, loop, place, scope)
                    stay += [(part,) for part in inside]
                    out += [(part,) for part in outside]
            self.before[statement] = stay

    def divided(
        self, one: Descriptor, loop: DoLoop, place: int, scope: Scope
    ) -> tuple[list[Descriptor], list[Descriptor]]:
        """What stays in a loop and what leaves it."""
        whole = one.expanded(loop.range, scope)
        boxes = []
        for at, statement in enumerate(loop.body):
            for definition in assignments([statement]):
                if may_flow(self.program, one, definition, loop.range, scope, same=at < place):
                    assign, between = definition
                    region, anywhere = assign.target.region(self.program.arrays)
                    boxes.append(hull(region, (loop.range, *between, *assign.indices, *anywhere)))
        if not boxes:
            return [], [whole]
        outside = [whole]
        for box in boxes:
            outside = [piece for part in outside for piece in without_elements(part, box, scope)]
        if not outside:
            return [one], []
        stays = _rest(loop.range, whole, outside)
        # Where the rest is not a run of iterations, nothing leaves (the thesis's "conversion not successful").
        return ([one], []) if stays is None else ([replace(one, qualifier=stays)], outside)


def _rest(loop: Range, whole: Descriptor, outside: list[Descriptor]) -> Range | None:
    """The iterations of a loop that some pieces leave out, if the pieces are whole iterations and these a run."""
    count = loop.count
    if count is None:
        return None
    runs = []
    for piece in outside:
        own = next((one for one in piece.bound if one.name == loop.name), None)
        if own is None or own.count is None or piece.limited(loop.name, loop) != whole:
            return None
        start = (own.low - loop.low).known
        assert start is not None
        if own.count:
            runs.append((start // loop.step, start // loop.step + own.count))
    # What lies between the pieces, which may overlap.
    first, left = 0, []
    for begin, end in (*sorted(runs), (count, count)):
        if begin > first:
            left.append((first, begin - 1))
        first = max(first, end)
    if len(left) != 1:
        return None
    begin, end = left[0]
    return Range(loop.name, loop.low + begin * loop.step, loop.low + end * loop.step, loop.step)
