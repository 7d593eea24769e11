"""Functions of a program, put in place of their calls: expressions of their arguments.

A function here has assignments to scalars of its own, one after the other, and reads scalars. What it gives is then an expression
of its arguments, so that the analysis sees through it; an argument that is an array, or part of one, is taken element by element.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fparser.two import Fortran2003
from fparser.two.utils import walk

from pointsman.arrays.tree.sections import SectionReference
from pointsman.arrays.tree.statements import Apply

from .expressions import Names, expression, of_integers
from .text import FortranText, line_of

F = Fortran2003
MOST_PARTS = 10_000
"""Parts of the expression that a call becomes."""


@dataclass(frozen=True)
class Function:
    """A function: its dummy arguments, the name of its result, types of its names (True: INTEGER), and its assignments.

    ``inside``: whether it is the program's, whose names it reads then.
    """

    name: str
    dummies: tuple[str, ...]
    result: str
    integers: Mapping[str, bool]
    statements: tuple[Any, ...]
    inside: bool

    def is_integer(self, name: str) -> bool:
        """Is one of its names of type INTEGER?"""
        return self.integers.get(name, name[0] in "ijklmn")


class Functions:
    """The functions of a text, by their names."""

    def __init__(self, text: FortranText, tree: Any) -> None:
        self.text = text
        self.known = {one.name: one for one in map(self._made, walk(tree, F.Function_Subprogram))}
        self.stack: list[str] = []

    def _made(self, unit: Any) -> Function:
        head = walk(unit, F.Function_Stmt)[0]
        prefix, name, dummies, suffix = head.items
        own = str(name).lower()
        result = own if suffix is None or suffix.items[0] is None else str(suffix.items[0]).lower()
        integers: dict[str, bool] = {}
        for one in walk(prefix, F.Intrinsic_Type_Spec) if prefix is not None else ():
            integers[result] = str(one).lower().startswith("integer")
        statements: list[Any] = []
        for part in unit.children:
            if isinstance(part, F.Specification_Part):
                for declaration in walk(part, F.Type_Declaration_Stmt):
                    integers |= self._types(declaration)
            elif isinstance(part, F.Execution_Part):
                statements += [one for one in part.children if not isinstance(one, F.Comment)]
            elif isinstance(part, F.Internal_Subprogram_Part):
                raise self.text.error(line_of(head), f"{own} has functions or subroutines inside; that is not built")
        names = () if dummies is None else tuple(str(one).lower() for one in dummies.children)
        inside = isinstance(unit.parent, F.Internal_Subprogram_Part)
        return Function(own, names, result, integers, tuple(statements), inside)

    def _types(self, node: Any) -> dict[str, bool]:
        kind, attributes, entities = node.items
        for entity in entities.children:
            if entity.items[1] is not None or (attributes is not None and walk(attributes, F.Dimension_Attr_Spec)):
                raise self.text.error(
                    line_of(node),
                    f"{entity.items[0]} is an array; functions have scalars only, here",
                    hint="write a subroutine with one argument more",
                )
            if entity.items[3] is not None:
                raise self.text.error(line_of(node), f"{entity.items[0]} is given a value in its declaration")
        integer = str(kind).lower().startswith("integer")
        return {str(entity.items[0]).lower(): integer for entity in entities.children}

    def __contains__(self, name: object) -> bool:
        return name in self.known

    def call(self, node: Any, names: Names) -> Any:
        """The expression of a call, with ``SectionReference`` where an argument has one.

        Raises
        ------
        ArrayProgramError
            If the function calls itself, has other arguments, or has other statements than assignments to scalars of its own.
        """
        line = line_of(node)
        name = str(node.items[0]).lower()
        one = self.known[name]
        if name in self.stack:
            way = " calls ".join((*self.stack[self.stack.index(name) :], name))
            raise self.text.error(
                line, f"recursion: {way}; functions are put in place of their calls", part=name, hint="write a loop"
            )
        arguments = [] if node.items[1] is None else list(node.items[1].children)
        if len(arguments) != len(one.dummies) or any(
            isinstance(given, F.Subscript_Triplet | F.Component_Spec | F.Actual_Arg_Spec) for given in arguments
        ):
            raise self.text.error(
                line,
                f"{name} has {len(one.dummies)} arguments in their order, and is given {len(arguments)}",
                part=name,
            )
        known: dict[str, Any] = {}
        for dummy, given in zip(one.dummies, arguments, strict=True):
            known[dummy] = expression(given, names)
            if of_integers(known[dummy], names) != one.is_integer(dummy):
                raise self.text.error(line, f"the argument {dummy} of {name} has another type", part=name)
        self.stack.append(name)
        for statement in one.statements:
            self._assign(statement, one, known, names)
        self.stack.pop()
        if one.result not in known:
            raise self.text.error(line, f"{name} is never given a value", part=name)
        if sum(1 for _ in _parts(known[one.result])) > MOST_PARTS:
            raise self.text.error(line, f"{name} becomes an expression of more than {MOST_PARTS} parts", part=name)
        return known[one.result]

    def _assign(self, node: Any, one: Function, known: dict[str, Any], names: Names) -> None:
        line = line_of(node)
        if not isinstance(node, F.Assignment_Stmt):
            raise self.text.error(
                line,
                f"the function {one.name} has a statement that is no assignment; that is not built",
                hint="write a subroutine with one argument more",
            )
        target = str(node.items[0]).lower()
        own = target in one.integers or target in one.dummies or target == one.result
        if not isinstance(node.items[0], F.Name) or not own:
            raise self.text.error(line, f"the function {one.name} assigns {target}, which it does not declare")
        before = {name: (name in names.declared, name in names.integers) for name in (*one.integers, *one.dummies)}
        within = Names(
            self.text,
            {name: value for name, value in names.parameters.items() if name not in before},
            {name: array for name, array in names.arrays.items() if name not in before},
            (names.integers - before.keys()) | {name for name in before if one.is_integer(name)},
            names.declared | before.keys(),
            names.changing | before.keys(),
            looped=names.looped - before.keys() - set(names.indices),
            strict=names.strict,
            functions=names.functions,
        )
        value = self._put(expression(node.items[2], within), known, one, names, line)
        if one.is_integer(target) != of_integers(value, names):
            value = Apply("int" if one.is_integer(target) else "real", (value,))
        known[target] = value
        names.remarks |= within.remarks
        for name, array in within.arrays.items():
            if name not in before:
                names.arrays.setdefault(name, array)

    def _put(self, value: Any, known: Mapping[str, Any], one: Function, names: Names, line: int) -> Any:
        """An expression with what is known of a function's names in their places."""
        if isinstance(value, Apply):
            return Apply(value.operator, tuple(self._put(part, known, one, names, line) for part in value.operands))
        if not isinstance(value, SectionReference):
            return value
        if value.subscripts:
            raise self.text.error(
                line, f"the function {one.name} reads the array {value.array}", hint="pass the element to it"
            )
        if value.array in known:
            return known[value.array]
        own = value.array in one.integers or value.array in one.dummies or value.array == one.result
        if own or not one.inside:
            raise self.text.error(line, f"the function {one.name} reads {value.array} before it has a value")
        if value.array in names.indices:
            raise self.text.error(
                line, f"the function {one.name} reads the index {value.array} of a loop", hint="pass it as an argument"
            )
        return value


def _parts(value: Any) -> Iterator[Any]:
    yield value
    if isinstance(value, Apply):
        for operand in value.operands:
            yield from _parts(operand)
