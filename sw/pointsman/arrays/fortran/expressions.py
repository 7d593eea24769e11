"""Expressions of fparser's tree as expressions of an array program, with affine subscripts where they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Protocol

from fparser.two import Fortran2003
from fparser.two.utils import walk

from pointsman.arrays.tree.affine import Affine
from pointsman.arrays.tree.mapping import Array
from pointsman.arrays.tree.meaning import MEANING
from pointsman.arrays.tree.sections import Section, SectionReference, whole
from pointsman.arrays.tree.statements import INTRINSICS, Apply, Name, Number

from .text import FortranText, line_of

CALLS = (Fortran2003.Part_Ref, Fortran2003.Structure_Constructor, Fortran2003.Function_Reference)
"""What fparser may take the call of a function for."""
WORDS = {".lt.": "<", ".le.": "<=", ".gt.": ">", ".ge.": ">=", ".eq.": "==", ".ne.": "/="}
MOST_DIGITS = 1000
"""Of a whole number; Python reads up to 4300."""
KINDS_OF_REAL = {"dble": "real", "float": "real", "dabs": "abs", "dsqrt": "sqrt", "dmax1": "max", "dmin1": "min"}


class Calls(Protocol):
    """Functions of the user."""

    def __contains__(self, name: object) -> bool: ...

    def call(self, node: Any, names: Names) -> Any:
        """The expression that a call stands for."""


@dataclass
class Names:
    """What the names of a program mean.

    ``integers`` are those of type INTEGER; ``changing`` are scalars that some statement assigns; ``looped`` are the indices of
    loops that have ended; ``strict``: IMPLICIT NONE holds.
    """

    text: FortranText
    parameters: dict[str, int | float] = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)
    integers: set[str] = field(default_factory=set)
    declared: set[str] = field(default_factory=set)
    changing: set[str] = field(default_factory=set)
    indices: list[str] = field(default_factory=list)
    looped: set[str] = field(default_factory=set)
    strict: bool = False
    remarks: dict[str, None] = field(default_factory=dict)
    functions: Calls | None = None

    def is_integer(self, name: str) -> bool:
        """Is it of type INTEGER, by declaration or by its first letter?"""
        return name in self.integers if name in self.declared else name[0] in "ijklmn"

    def scalar(self, name: str) -> Array:
        """The array without dimensions for a scalar that is not an index."""
        return self.arrays.setdefault(name, Array(name, ()))


def affine(node: Any, names: Names) -> Affine | None:
    """An expression of parameters, indices and integers that nothing assigns, if it is affine; else None."""
    if isinstance(node, Fortran2003.Int_Literal_Constant):
        return Affine(int(node.items[0])) if len(node.items[0]) <= MOST_DIGITS else None
    if isinstance(node, Fortran2003.Name):
        name = str(node).lower()
        if name in names.indices:
            return Affine.of(name)
        value = names.parameters.get(name)
        if value is not None:
            return Affine(value) if isinstance(value, int) else None
        if (name in names.arrays and names.arrays[name].bounds) or name in names.changing or not names.is_integer(name):
            return None
        if name in names.looped:
            return None  # `reference` refuses it
        return Affine.of(name)
    if isinstance(node, Fortran2003.Parenthesis):
        return affine(node.items[1], names)
    if isinstance(node, Fortran2003.Level_2_Unary_Expr):
        inner = affine(node.items[1], names)
        return None if inner is None else -inner if node.items[0] == "-" else inner
    if isinstance(node, Fortran2003.Level_2_Expr | Fortran2003.Add_Operand | Fortran2003.Mult_Operand):
        left, operator, right = node.items
        one, other = affine(left, names), affine(right, names)
        if one is None or other is None:
            return None
        if operator in "+-":
            return one + other if operator == "+" else one - other
        if operator == "*" and (one.known is not None or other.known is not None):
            return one * other.known if other.known is not None else other * (one.known or 0)
        if one.known is None or other.known is None:
            return None
        if operator == "/" and other.known:
            quotient = abs(one.known) // abs(other.known)
            return Affine(quotient if (one.known < 0) == (other.known < 0) else -quotient)
        if operator == "**" and 0 <= other.known <= 62 and abs(one.known) < 1 << 16:
            return Affine(one.known**other.known)
    return None


def reference(node: Any, names: Names) -> SectionReference:
    """An element, a section or the whole of an array (or a scalar) that a name or ``name(…)`` stands for."""
    text, line = names.text, line_of(node)
    name = str(node.items[0] if isinstance(node, Fortran2003.Part_Ref) else node).lower()
    position = text.position(line, name)
    if isinstance(node, Fortran2003.Name):
        own = name.partition("'")[0]  # as the text has it, also in a subroutine
        if name in names.looped:
            raise text.error(
                line,
                f"{own} is read outside the loop whose index it is",
                part=own,
                hint="assign it to another name inside the loop, or write its value",
            )
        if names.strict and name not in names.arrays and name not in names.declared:
            raise text.error(line, f"{own} is not declared, and IMPLICIT NONE holds", part=own)
        array = names.arrays.get(name) or names.scalar(name)
        return whole(array, position) if array.bounds else SectionReference(name, (), position)
    array = names.arrays.get(name, Array(name, ()))
    if not array.bounds:
        raise text.error(line, f"{name} is not an array, and there is no function of this name", part=name)
    given = list(node.items[1].children)
    if len(given) != len(array.bounds):
        raise text.error(
            line, f"{name} has {len(array.bounds)} dimensions and is given {len(given)} subscripts", part=name
        )
    subscripts: list[Any] = []
    for one, (low, high) in zip(given, array.bounds, strict=True):
        if isinstance(one, Fortran2003.Subscript_Triplet):
            start, stop, step = (
                default if part is None else affine(part, names)
                for part, default in zip(one.items, (Affine(low), Affine(high), Affine(1)), strict=True)
            )
            if start is None or stop is None or step is None or not step.known:
                for part in filter(None, one.items):
                    expression(part, names)  # which may say more of what is wrong
                raise text.error(
                    line,
                    f"the section {one} of {name} is not affine, or its step is no number but 0",
                    part=name,
                    hint="write a loop",
                )
            subscripts.append(Section(start, stop, step.known))
            continue
        at = affine(one, names)
        if at is None:
            names.remarks[
                f"{position}: the subscript {one} of {name} is not affine; the whole dimension is communicated"
            ] = None
        subscripts.append(expression(one, names) if at is None else at)
    return SectionReference(name, tuple(subscripts), position)


def expression(node: Any, names: Names) -> Any:
    """An expression; sections of arrays in it stay `SectionReference` for ``array_assignment``.

    Raises
    ------
    ArrayProgramError
        For what has no meaning here: functions of the user, transformational intrinsics, characters.
    """
    if isinstance(node, Fortran2003.Parenthesis):
        return expression(node.items[1], names)
    if isinstance(node, Fortran2003.Int_Literal_Constant):
        return Number(_integer(node, names))
    if isinstance(node, Fortran2003.Real_Literal_Constant):
        return Number(_real(node, names))
    if isinstance(node, Fortran2003.Logical_Literal_Constant):
        return Number(str(node.items[0]).lower() == ".true.")
    if isinstance(node, Fortran2003.Name):
        name = str(node).lower()
        if name in names.indices:
            return Name(name)
        if name in names.parameters:
            return Number(names.parameters[name])
        return reference(node, names)
    if isinstance(node, CALLS) and names.functions is not None:
        name = str(node.items[0]).lower()
        if name in names.functions and not names.arrays.get(name, Array(name, ())).bounds:
            return names.functions.call(node, names)
        if not isinstance(node, Fortran2003.Part_Ref):
            raise names.text.error(
                line_of(node), f"{name} is not an array, and there is no function of this name", part=name
            )
    if isinstance(node, Fortran2003.Part_Ref):
        return reference(node, names)
    if isinstance(node, Fortran2003.Intrinsic_Function_Reference):
        name = str(node.items[0]).lower()
        name = KINDS_OF_REAL.get(name, name)
        if name not in INTRINSICS:
            raise names.text.error(
                line_of(node),
                f"the function {name} is not known here",
                part=name,
                hint=f"known are {', '.join(INTRINSICS)}",
            )
        return Apply(name, tuple(expression(one, names) for one in node.items[1].children))
    items: Any = getattr(node, "items", ())
    if len(items) == 2 and isinstance(items[0], str):
        operator = items[0].lower()
        if operator in ("+", "-", ".not."):
            inner = expression(items[1], names)
            return inner if operator == "+" else Apply("neg" if operator == "-" else operator, (inner,))
    if len(items) == 3 and isinstance(items[1], str):
        operator = WORDS.get(items[1].lower(), items[1].lower())
        if operator in ("+", "-", "*", "/", "**", "<", "<=", ">", ">=", "==", "/=", ".and.", ".or."):
            made = Apply(operator, (expression(items[0], names), expression(items[2], names)))
            return Apply("int", (made,)) if _is_cut(made) and of_integers(made, names) else made
    raise names.text.error(
        line_of(node), f"the expression {node} is of a kind that is not known here", part=str(node)[:8]
    )


def _is_cut(made: Apply) -> bool:
    """May an operation on whole numbers give a fraction, which Fortran cuts? A quotient may, and a power such as 2**(-1)."""
    exponent = made.operands[-1]
    return made.operator == "/" or (
        made.operator == "**" and not (isinstance(exponent, Number) and not exponent.value < 0)
    )


def of_integers(value: object, names: Names) -> bool:
    """Is an expression of type INTEGER?"""
    if isinstance(value, Number):
        return isinstance(value.value, int) and not isinstance(value.value, bool)
    if isinstance(value, Name):
        return True
    if isinstance(value, SectionReference):
        return names.is_integer(value.array)
    if isinstance(value, Apply):
        if value.operator in ("int", "real"):
            return value.operator == "int"
        return value.operator in ("+", "-", "*", "/", "**", "neg", "abs", "min", "max", "mod", "sign") and all(
            of_integers(operand, names) for operand in value.operands
        )
    return False


def known_value(node: Any, names: Names) -> int | float | None:
    """The value of a constant expression, for PARAMETER."""
    exact = affine(node, names)
    if exact is not None:
        return exact.known
    if any(name not in names.parameters for name in (str(one).lower() for one in walk(node, Fortran2003.Name))) or walk(
        node, Fortran2003.Char_Literal_Constant
    ):
        return None
    try:
        value = _folded(expression(node, names))
    except (ArithmeticError, ValueError, TypeError):
        return None
    return value if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) else None


def _folded(value: Any) -> Any:
    """The value of an expression of numbers."""
    return MEANING[value.operator](*map(_folded, value.operands)) if isinstance(value, Apply) else value.value


def _integer(node: Any, names: Names) -> int:
    """A literal constant of type INTEGER."""
    if len(node.items[0]) > MOST_DIGITS:
        raise names.text.error(line_of(node), f"a whole number has at most {MOST_DIGITS} digits")
    return int(node.items[0])


def _real(node: Any, names: Names) -> float:
    """A literal constant of type REAL or DOUBLE PRECISION."""
    value = float(str(node.items[0]).lower().replace("d", "e"))
    if not isfinite(value):
        raise names.text.error(
            line_of(node), f"{node} is greater than any number of 64 bits, about 1.8e308", part=str(node)
        )
    return value


def mapping_of(pairs: Mapping[str, int]) -> dict[str, int | float]:
    """Values given by the user, by names in lower case."""
    return {name.lower(): value for name, value in pairs.items()}
