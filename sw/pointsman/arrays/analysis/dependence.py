"""What a loop overwrites, and whether an element read in one of its iterations may have been written in an earlier one."""

from __future__ import annotations

from collections.abc import Sequence

from pointsman.arrays.tree.affine import Affine, Range, Scope
from pointsman.arrays.tree.statements import ArrayProgram, Assign, Redistribute, Statement, assignments

from .communications import every
from .descriptors import Descriptor, Triple, hull


def written(
    program: ArrayProgram, body: Sequence[Statement], array: str, outer: Sequence[Range]
) -> list[tuple[Triple, ...]]:
    """Boxes that hold every element of an array that a list of statements writes; ``outer`` ranges are expanded, too."""
    boxes = []
    for assign, inner in assignments(body):
        if assign.target.array == array:
            region, anywhere = assign.target.region(program.arrays)
            boxes.append(hull(region, (*outer, *inner, *assign.indices, *anywhere)))
    return boxes


def moved(program: ArrayProgram, body: Sequence[Statement]) -> set[str]:
    """Templates that a list of statements may redistribute."""
    return {statement.template for statement in every(body) if isinstance(statement, Redistribute)}


def touches(program: ArrayProgram, one: Descriptor, templates: set[str]) -> bool:
    """Does a descriptor begin or end on one of some templates?"""
    return program.arrays[one.array].template in templates or one.template in templates


def may_flow(
    program: ArrayProgram,
    one: Descriptor,
    definition: tuple[Assign, tuple[Range, ...]],
    loop: Range,
    scope: Scope,
    *,
    same: bool,
) -> bool:
    """May an element of a descriptor have been written by a definition in an earlier iteration of a loop?

    Parameters
    ----------
    program : ArrayProgram
    one : Descriptor
        Communication for an iteration of the loop, whose index is free in it.
    definition : tuple of Assign and ranges
        An assignment in the loop, with the ranges of the loops between.
    loop : Range
    scope : Scope
        Ranges of the loops around ``loop``.
    same : bool
        Whether the definition also precedes the communication within an iteration.
    """
    assign, between = definition
    if assign.target.array != one.array:
        return False
    region, anywhere = assign.target.region(program.arrays)
    inner = (*between, *assign.indices, *anywhere)
    names = {range_.name: f"{range_.name}'def" for range_ in inner}
    # The definition's iteration is ``loop`` minus ``back`` steps.
    earlier = Affine.of(loop.name) - Affine.of("back'") * loop.step
    values: dict[str, Affine | int] = {old: Affine.of(new) for old, new in names.items()}
    values[loop.name] = earlier
    region = tuple(value.put(values) for value in region)
    ranges = [_put_name(range_.renamed(names), loop.name, earlier) for range_ in inner]
    least = 0 if same else 1
    if loop.step in (1, -1):
        most = (Affine.of(loop.name) - loop.low) * loop.step
    else:
        most = Affine(loop.count - 1) if loop.count else Affine.of("unknown'")
    back = Range("back'", Affine(least), most)
    inside = scope.with_ranges([loop, back])
    # At ``most``, the loop's index cancels: the range is empty if even its greatest value is below the least.
    greatest = scope.with_ranges([loop]).most(most)
    if greatest is not None and greatest < least:
        return False
    inside = inside.with_ranges([*one.bound, *ranges])
    differences = [own - theirs for own, theirs in zip(one.region, region, strict=True)]
    for difference in differences:
        if difference.names == {"back'"}:
            steps = (difference - difference.factor("back'") * Affine.of("back'")).divided(-difference.factor("back'"))
            if steps is None or steps.constant < least or (greatest is not None and steps.constant > greatest):
                return False
            differences = [other.put({"back'": steps}) for other in differences]
            # With the number of steps known, the ranges that held it must hold it still.
            inside = Scope(range_.put({"back'": steps}) for range_ in inside if range_.name != "back'")
            break
    return all(inside.may_vanish(difference) for difference in differences)


def _put_name(one: Range, name: str, value: Affine) -> Range:
    return one.put({name: value})
