"""DO loops: with affine bounds as they are, with others through all that the index can be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pointsman.arrays.tree.affine import Affine, Range
from pointsman.arrays.tree.sections import SectionReference, array_assignment
from pointsman.arrays.tree.statements import (
    Apply,
    Assign,
    Branch,
    DoLoop,
    Name,
    Number,
    Reference,
    Statement,
    references,
)

from .expressions import Names, affine, expression
from .text import FortranText


class Loops:
    """Loops of a program, with its names."""

    def __init__(self, text: FortranText, names: Names) -> None:
        self.text, self.names = text, names
        self.guards = 0

    def counted(self, name: str, bounds: Sequence[Any], line: int) -> Range:
        """First, last and step of a loop or of a FORALL."""
        low, high, step = (Affine(1) if one is None else affine(one, self.names) for one in bounds)
        if low is None or high is None or step is None:
            raise self.text.error(
                line, f"the bounds or the step of {name} are not affine in indices and parameters", part=name
            )
        if not step.known:
            said = "0" if step.known == 0 else f"{step}, which has no value here"
            hint = None if step.known == 0 else f"give it one: --set {step}=…"
            raise self.text.error(line, f"the step of {name} is {said}", part=name, hint=hint)
        return Range(name, low, high, step.known)

    def guarded(
        self, name: str, bounds: Sequence[Any], body: Callable[[], tuple[Statement, ...]], line: int
    ) -> list[Statement]:
        """A loop whose bounds or step are not affine: through all that its index can be, with an IF around its body."""
        position = self.text.position(line)
        self.guards += 1
        made: list[Statement] = []
        known: list[Any] = []
        for what, node in zip(("first", "last", "step"), bounds, strict=True):
            value = Number(1) if node is None else expression(node, self.names)
            if not isinstance(value, Number):
                scalar = f"{what}'{name}{self.guards}"
                self.names.declared.add(scalar)
                self.names.integers.add(scalar)
                self.names.changing.add(scalar)
                self.names.scalar(scalar)
                target = SectionReference(scalar, (), position)
                made.append(array_assignment(target, value, self.names.arrays, position=position))
                value = Reference(scalar, (), position)
            known.append(value)
        first, last, step = known
        if isinstance(step, Number) and step.value == 0:
            raise self.text.error(line, f"the step of {name} is 0", part=name)

        def through(sign: int) -> DoLoop:
            inside = body()
            low, high = self.reach(name, inside, line)
            ends = (low, high) if sign > 0 else (high, low)
            one, other = ("<=", ">=") if sign > 0 else (">=", "<=")
            index = Name(name)
            tests: Any = Apply(".and.", (Apply(one, (first, index)), Apply(other, (last, index))))
            if not (isinstance(step, Number) and abs(step.value) == 1):
                far = Apply("mod", (Apply("-", (index, first)), step))
                tests = Apply(".and.", (tests, Apply("==", (far, Number(0)))))
            range_ = Range(name, Affine(ends[0]), Affine(ends[1]), sign)
            return DoLoop(range_, (Branch(tests, inside, (), position),), position)

        if isinstance(step, Number):
            loop = through(1 if step.value > 0 else -1)
            made.append(loop)
        else:
            loop = through(1)
            made.append(Branch(Apply(">", (step, Number(0))), (loop,), (through(-1),), position))
        reached = sorted((loop.range.low.constant, loop.range.high.constant))
        self.names.remarks[
            f"{position}: the bounds or the step of {name} are not affine; all of {reached[0]}:{reached[1]} is gone through"
        ] = None
        return made

    def reach(self, name: str, body: Sequence[Statement], line: int) -> tuple[int, int]:
        """The least and greatest value of an index with which an element that the loop always uses is within its array."""
        low: int | None = None
        high: int | None = None
        for statement in body:
            if not isinstance(statement, Assign) or statement.indices or statement.mask is not None:
                continue
            for used in (statement.target, *references(statement.value)):
                for subscript, (least, most) in zip(used.subscripts, self.names.arrays[used.array].bounds, strict=True):
                    if not isinstance(subscript, Affine) or subscript.names != {name}:
                        continue
                    factor = subscript.factor(name)
                    ends = (least - subscript.constant, most - subscript.constant)
                    ends = ends if factor > 0 else (-ends[1], -ends[0])
                    start, stop = -(-ends[0] // abs(factor)), ends[1] // abs(factor)
                    low = start if low is None else max(low, start)
                    high = stop if high is None else min(high, stop)
        if low is None or high is None:
            raise self.text.error(
                line,
                f"the bounds or the step of {name} are not affine, and no element in the loop says how far it can go",
                part=name,
                hint="where the loop itself assigns to an element, such as a(i), its array bounds the index",
            )
        return low, high
