"""What an array program means: its statements carried out one after the other, element by element, on NumPy arrays.

Takes a program and the arrays' first values; gives their last. A `Watcher` is told of every statement, for whoever follows a
program on processors. Nothing here knows of communications.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from pointsman.arrays.errors import ArrayProgramError
from pointsman.errors import PointsmanError
from pointsman.program.program import Position

from .affine import Affine, Range
from .mapping import Array
from .statements import (
    Apply,
    ArrayProgram,
    Assign,
    Branch,
    DoLoop,
    Expression,
    Name,
    Number,
    Redistribute,
    Reference,
    Statement,
)

Values = dict[str, Any]
"""Scalars and loop indices by name."""
MOST_STEPS = 10**8
"""Elements and iterations that a statement may be certain to take; a million take some seconds."""


def _quotient(a: Any, b: Any) -> Any:
    """Fortran's: integers are cut towards zero."""
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return a / b


MEANING: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _quotient,
    "**": operator.pow,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "/=": operator.ne,
    ".and.": lambda a, b: bool(a) and bool(b),
    ".or.": lambda a, b: bool(a) or bool(b),
    ".not.": operator.not_,
    "neg": operator.neg,
    "abs": abs,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "min": min,
    "max": max,
    "mod": lambda a, b: a - _quotient(a, b) * b if isinstance(a, int) and isinstance(b, int) else math.fmod(a, b),
    "sign": lambda a, b: abs(a) if b >= 0 else -abs(a),
    "int": int,
    "real": float,
}


class Watcher(Protocol):
    """Is told what happens, before it happens. Does nothing; override what is wanted."""

    def before(self, statement: Statement, values: Mapping[str, Any]) -> None:
        """A statement begins (a loop once, not with each iteration)."""
        return

    def iteration(self, statement: DoLoop, values: Mapping[str, Any]) -> None:
        """An iteration of a loop begins."""
        return

    def read(self, reader: tuple[str, tuple[int, ...]] | None, array: str, element: tuple[int, ...]) -> None:
        """An element is read to compute ``reader``, an array's element; None where all processors need it."""
        return

    def write(self, array: str, element: tuple[int, ...]) -> None:
        """An element is written."""
        return


class _Silent(Watcher):
    """Does nothing."""


def run(
    program: ArrayProgram,
    first: Mapping[str, np.ndarray],
    watcher: Watcher | None = None,
    *,
    dtype: np.dtype[Any] | type = np.float64,
) -> dict[str, np.ndarray]:
    """The last values of all arrays; scalars are arrays without dimensions.

    Parameters
    ----------
    program : ArrayProgram
    first : mapping of str to ndarray
        First values, of each array's shape; arrays that are not named begin with zeros.
    watcher : Watcher or None
    dtype : dtype
        Of the elements in memory; expressions are computed with 64 bits in any case.

    Raises
    ------
    ArrayProgramError
        With its place, if a value is divided by zero or the like, a parameter has no value, an element is outside its array, or
        a statement takes more than `MOST_STEPS` steps.
    """
    for statement in program.body:
        if (least := least_steps([statement])) > MOST_STEPS:
            raise ArrayProgramError(
                f"{program.name} takes at least {least:,} steps here, and is carried out step by step: {MOST_STEPS:,} at most",
                position=statement.position,
                hint="make its loops shorter (--set)",
            )
    arrays = {}
    for name, array in program.arrays.items():
        value = np.array(first.get(name, np.zeros(array.shape)), dtype=dtype)
        if value.shape != array.shape:
            raise PointsmanError(
                f"the first values of {name} have the shape {value.shape}, and {name} has {array.shape}"
            )
        arrays[name] = value
    machine = _Machine(program, arrays, watcher or _Silent())
    try:
        with np.errstate(all="ignore"):
            machine.do(program.body, dict(program.parameters))
    except KeyError as error:
        what = error.args[0]
        raise ArrayProgramError(
            f"{what} has no value in {program.name}", position=machine.place, hint=f"give one: --set {what}=…"
        ) from None
    except (ArithmeticError, ValueError, TypeError) as error:
        raise ArrayProgramError(
            f"{program.name} cannot be carried out with these first values: {error}",
            position=machine.place,
            hint="give others (--data, --values)",
        ) from None
    return arrays


def least_steps(body: Sequence[Statement]) -> int:
    """Elements, and iterations without any, that are certain: loops of unknown length count once, branches not at all."""
    found = 0
    for statement in body:
        if isinstance(statement, Assign):
            found += math.prod(1 if one.count is None else one.count for one in statement.indices)
        elif isinstance(statement, DoLoop):
            count = statement.range.count
            found += (1 if count is None else count) * max(1, least_steps(statement.body))
    return found


def assigned_elements(ranges: Sequence[Range], values: Values) -> Iterator[Values]:
    """``values`` with every combination of the ranges' values, the last changing fastest."""
    if not ranges:
        yield values
        return
    for value in ranges[0].values(values):
        yield from assigned_elements(ranges[1:], {**values, ranges[0].name: value})


class _Machine:
    def __init__(self, program: ArrayProgram, arrays: dict[str, np.ndarray], watcher: Watcher) -> None:
        self.program = program
        self.arrays = arrays
        self.watcher = watcher
        self.place: Position | None = None
        """Of the statement that is being carried out."""

    def do(self, body: Sequence[Statement], values: Values) -> None:
        for statement in body:
            self.place = statement.position
            self.watcher.before(statement, values)
            if isinstance(statement, Assign):
                self.assign(statement, values)
            elif isinstance(statement, DoLoop):
                for value in statement.range.values(values):
                    inside = {**values, statement.range.name: value}
                    self.watcher.iteration(statement, inside)
                    self.do(statement.body, inside)
            elif isinstance(statement, Branch):
                chosen = self.of(statement.condition, values, None)
                self.do(statement.then if chosen else statement.otherwise, values)
            else:
                assert isinstance(statement, Redistribute)

    def assign(self, statement: Assign, values: Values) -> None:
        written = []
        target = self.program.arrays[statement.target.array]
        for inside in assigned_elements(statement.indices, values):
            # Subscripts of the target are read before its owner is known: by everyone.
            element = self.element(statement.target, inside, None)
            reader = None if target.template is None else (target.name, element)
            if statement.mask is None or self.of(statement.mask, inside, reader):
                written.append((element, self.of(statement.value, inside, reader)))
        for element, value in written:
            self.watcher.write(target.name, element)
            self.arrays[target.name][_index(target, element)] = value

    def element(self, reference: Reference, values: Values, reader: Any) -> tuple[int, ...]:
        array = self.program.arrays[reference.array]
        element = tuple(
            s.value(values) if isinstance(s, Affine) else int(self.of(s, values, reader)) for s in reference.subscripts
        )
        for at, (low, high) in zip(element, array.bounds, strict=True):
            if not low <= at <= high:
                where = f"{reference.position}: " if reference.position else ""
                raise PointsmanError(
                    f"{where}{reference} is element {element}, outside the bounds of {array.name}, "
                    + ",".join(f"{low}:{high}" for low, high in array.bounds)
                )
        return element

    def of(self, expression: Expression, values: Values, reader: Any) -> Any:
        if isinstance(expression, Number):
            return expression.value
        if isinstance(expression, Name):
            return values[expression.name]
        if isinstance(expression, Reference):
            element = self.element(expression, values, reader)
            self.watcher.read(reader, expression.array, element)
            array = self.program.arrays[expression.array]
            return float(self.arrays[array.name][_index(array, element)])
        assert isinstance(expression, Apply)
        return MEANING[expression.operator](*(self.of(operand, values, reader) for operand in expression.operands))


def _index(array: Array, element: Sequence[int]) -> tuple[int, ...]:
    return tuple(at - low for at, (low, _) in zip(element, array.bounds, strict=True))


def every_element(array: Array) -> Iterator[tuple[int, ...]]:
    """The subscripts of all elements, by rows."""
    return itertools.product(*(range(low, high + 1) for low, high in array.bounds))
