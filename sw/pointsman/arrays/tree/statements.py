"""Statements and expressions of an array program; both front ends make them, and everything else reads them.

A tree is never changed. Nodes are compared by identity, so that two statements of the same text stay two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from pointsman.program.program import Position

from .affine import Affine, Range
from .mapping import Array, Grid, Spread, Template


@dataclass(frozen=True, eq=False)
class Number:
    """A constant."""

    value: float | int | bool


@dataclass(frozen=True, eq=False)
class Name:
    """A scalar variable, a loop index or a parameter."""

    name: str


@dataclass(frozen=True, eq=False)
class Apply:
    """An operator or intrinsic function of some operands; ``operator`` is in `OPERATORS`."""

    operator: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True, eq=False)
class Reference:
    """An element of an array. A subscript that is not affine in loop indices stays an expression."""

    array: str
    subscripts: tuple[Affine | Expression, ...]
    position: Position | None = None

    def region(self, arrays: Mapping[str, Array]) -> tuple[tuple[Affine, ...], tuple[Range, ...]]:
        """Its subscripts as affine expressions; where one is not, a new name that runs over the whole dimension."""
        region: list[Affine] = []
        anywhere: list[Range] = []
        for dimension, subscript in enumerate(self.subscripts):
            if not isinstance(subscript, Affine):
                low, high = arrays[self.array].bounds[dimension]
                anywhere.append(Range(f"any'{dimension + 1}", Affine(low), Affine(high)))
                subscript = Affine.of(anywhere[-1].name)
            region.append(subscript)
        return tuple(region), tuple(anywhere)

    def __str__(self) -> str:
        inside = ",".join(str(s) if isinstance(s, Affine) else "?" for s in self.subscripts)
        return f"{self.array}({inside})"


Expression: TypeAlias = Number | Name | Apply | Reference

ARITHMETIC = ("+", "-", "*", "/", "**", "neg")
RELATIONS = ("<", "<=", ">", ">=", "==", "/=", ".and.", ".or.", ".not.")
INTRINSICS = ("abs", "sqrt", "exp", "log", "sin", "cos", "tan", "min", "max", "mod", "sign", "int", "real")
OPERATORS = frozenset(ARITHMETIC + RELATIONS + INTRINSICS)


@dataclass(frozen=True, eq=False)
class Assign:
    """``target = value`` for all values of ``indices`` (an array assignment or FORALL) where ``mask`` holds.

    Everything on the right and in the mask is read before anything is written. A target without subscripts is a scalar.
    """

    target: Reference
    value: Expression
    indices: tuple[Range, ...] = ()
    mask: Expression | None = None
    position: Position | None = None


@dataclass(frozen=True, eq=False)
class DoLoop:
    """A DO loop."""

    range: Range
    body: tuple[Statement, ...]
    position: Position | None = None


@dataclass(frozen=True, eq=False)
class Branch:
    """An IF with its two branches."""

    condition: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()
    position: Position | None = None


@dataclass(frozen=True, eq=False)
class Redistribute:
    """The template gets a new distribution, and its arrays move."""

    template: str
    spreads: tuple[Spread, ...]
    position: Position | None = None


Statement: TypeAlias = Assign | DoLoop | Branch | Redistribute


@dataclass(frozen=True, eq=False)
class ArrayProgram:
    """A program: its processors, templates (as they are at first), arrays, statements, and remarks for its author.

    ``remarks`` name what lies outside the affine subset and is treated conservatively.
    """

    name: str
    grid: Grid
    templates: Mapping[str, Template]
    arrays: Mapping[str, Array]
    body: tuple[Statement, ...]
    parameters: Mapping[str, int] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    integers: frozenset[str] = frozenset()
    """Arrays and scalars of whole numbers."""

    @property
    def grids(self) -> tuple[Grid, ...]:
        """Its processors in all shapes in which arrays are distributed over them, ``grid`` first."""
        others = (other for template in self.templates.values() for other in template.others)
        return tuple(dict.fromkeys((self.grid, *others)))


def references(expression: Expression | Affine | None) -> Iterator[Reference]:
    """Every element of an array that an expression reads, in the order of the text, those in subscripts included."""
    if isinstance(expression, Reference):
        for subscript in expression.subscripts:
            yield from references(subscript)
        yield expression
    elif isinstance(expression, Apply):
        for operand in expression.operands:
            yield from references(operand)


def reads(statement: Statement) -> tuple[Reference, ...]:
    """What a statement itself reads (a loop or branch without its body)."""
    if isinstance(statement, Branch):
        return tuple(references(statement.condition))
    if isinstance(statement, Assign):
        of_target = [r for subscript in statement.target.subscripts for r in references(subscript)]
        return (*references(statement.mask), *of_target, *references(statement.value))
    return ()


def assignments(body: Sequence[Statement], outer: tuple[Range, ...] = ()) -> Iterator[tuple[Assign, tuple[Range, ...]]]:
    """Every assignment in a list of statements, with the ranges of the loops around it, in the order of the text."""
    for statement in body:
        if isinstance(statement, Assign):
            yield statement, outer
        elif isinstance(statement, DoLoop):
            yield from assignments(statement.body, (*outer, statement.range))
        elif isinstance(statement, Branch):
            yield from assignments(statement.then, outer)
            yield from assignments(statement.otherwise, outer)
