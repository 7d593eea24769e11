"""Array assignments: sections of arrays in an expression become elements with common indices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pointsman.arrays.errors import ArrayProgramError
from pointsman.program.program import Position

from .affine import Affine, Range
from .mapping import Array
from .statements import Apply, Assign, Expression, Reference


@dataclass(frozen=True, eq=False)
class Section:
    """A subscript ``low:high:step`` of an array assignment; ``high`` is included if a step falls on it."""

    low: Affine
    high: Affine
    step: int = 1


@dataclass(frozen=True, eq=False)
class SectionReference:
    """Part of an array: each subscript an affine expression, a section, or an expression that is not affine."""

    array: str
    subscripts: tuple[Affine | Section | Expression | SectionReference, ...]
    position: Position | None = None


def whole(array: Array, position: Position | None = None) -> SectionReference:
    """All of an array."""
    return SectionReference(
        array.name, tuple(Section(Affine(low), Affine(high)) for low, high in array.bounds), position
    )


def array_assignment(
    target: SectionReference,
    value: object,
    arrays: Mapping[str, Array],
    *,
    mask: object = None,
    indices: Sequence[Range] = (),
    position: Position | None = None,
) -> Assign:
    """An assignment of which target, value and mask may hold `SectionReference`; ``indices`` are those of a FORALL around it.

    Raises
    ------
    ArrayProgramError
        If an array on the right has another number of sections than the target, or another number of elements along one.
    """
    sections = [s for s in target.subscripts if isinstance(s, Section)]
    ranges = []
    for number, section in enumerate(sections):
        name = f"section'{number + 1}"
        count = Range(name, section.low, section.high, section.step).count
        if count is not None:
            last = Affine(count - 1)
        else:
            length = (section.high - section.low).divided(section.step)
            if length is None:
                raise ArrayProgramError(
                    f"the section {section.low}:{section.high}:{section.step} of {target.array} has an unknown length",
                    position=target.position or position,
                    hint="give the bounds numbers (--set), or the step 1",
                )
            last = length
        ranges.append(Range(name, Affine(), last))
    resolve = _Resolver(ranges, target, arrays)
    element = resolve.reference(target)
    return Assign(
        element,
        resolve.expression(value),
        (*indices, *ranges),
        None if mask is None else resolve.expression(mask),
        position,
    )


class _Resolver:
    def __init__(self, ranges: Sequence[Range], target: SectionReference, arrays: Mapping[str, Array]) -> None:
        self.ranges = ranges
        self.target = target
        self.arrays = arrays

    def expression(self, value: object) -> Expression:
        if isinstance(value, SectionReference):
            return self.reference(value)
        if isinstance(value, Apply):
            return Apply(value.operator, tuple(self.expression(operand) for operand in value.operands))
        return value  # type: ignore[return-value]

    def reference(self, part: SectionReference) -> Reference:
        subscripts: list[Affine | Expression] = []
        indices = iter(self.ranges)
        count = sum(isinstance(s, Section) for s in part.subscripts)
        if count not in (0, len(self.ranges)):
            raise ArrayProgramError(
                f"{part.array} has {count} sections and {self.target.array}, to which it is assigned, {len(self.ranges)}: "
                "arrays of one assignment have one rank",
                position=part.position,
            )
        for subscript in part.subscripts:
            if isinstance(subscript, Affine):
                subscripts.append(subscript)
            elif isinstance(subscript, Section):
                index = next(indices)
                own = Range("", subscript.low, subscript.high, subscript.step)
                if own.count is not None and index.count is not None and own.count != index.count:
                    raise ArrayProgramError(
                        f"a section of {part.array} has {own.count} elements and that of {self.target.array}, "
                        f"to which it is assigned, {index.count}",
                        position=part.position,
                    )
                subscripts.append(subscript.low + Affine.of(index.name) * subscript.step)
            else:
                subscripts.append(self.expression(subscript))
        return Reference(part.array, tuple(subscripts), part.position)
