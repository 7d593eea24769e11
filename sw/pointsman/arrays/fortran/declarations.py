"""Declarations of a Fortran unit: types, parameters with their values, arrays with their bounds, and arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fparser.two import Fortran2003
from fparser.two.utils import walk

from pointsman.arrays.tree.affine import Affine
from pointsman.arrays.tree.mapping import Array

from .expressions import Names, affine, known_value
from .text import FortranText, directive_of, line_of

F = Fortran2003
TYPES = ("integer", "real", "double precision", "logical", "character")
"""Types of declarations; what is of type CHARACTER can only be printed."""


class Declarations:
    """Enters into ``names`` what declarations say.

    Parameters
    ----------
    values : mapping of str to value
        Values of names that go before those of PARAMETER.
    """

    def __init__(self, text: FortranText, names: Names, values: Mapping[str, Any]) -> None:
        self.text, self.names, self.values = text, names, values

    def declare(self, node: Any, pending: list[tuple[str, int]], given: frozenset[str] = frozenset()) -> None:
        """Enter what a declaration says; a directive is appended to ``pending``, with its line. ``given``: arguments of a
        subroutine, which are what is passed."""
        line = line_of(node)
        if isinstance(node, F.Comment):
            directive = directive_of(node)
            if directive is not None:
                pending.append((directive, line))
        elif isinstance(node, F.Type_Declaration_Stmt):
            self.typed(node, line, given)
        elif isinstance(node, F.Parameter_Stmt):
            for one in walk(node, F.Named_Constant_Def):
                self.parameter(str(one.items[0]).lower(), one.items[1], line)
        elif isinstance(node, F.Data_Stmt):
            where = self.text.position(line)
            self.names.remarks[f"{where}: DATA is passed over; first values are those that a run is given"] = None
        elif isinstance(node, F.Dimension_Stmt):
            for name, shape in node.items[0]:
                self.array(str(name).lower(), shape, line)
        elif isinstance(node, F.Implicit_Stmt):
            self.implicit(node, line)
        elif not isinstance(node, F.Common_Stmt | F.Intrinsic_Stmt):
            raise self.text.error(
                line, f"the declaration {str(node).splitlines()[0]} is of a kind that is not known here"
            )

    def implicit(self, node: Any, line: int) -> None:
        """IMPLICIT NONE, or types by first letters, which have to be those that hold anyway: INTEGER for i to n."""
        if not isinstance(node.items[0], F.Implicit_Spec_List):
            self.names.strict = True
            return
        for one in node.items[0].children:
            kind, letters = one.items
            integer = str(kind).lower().startswith("integer")
            for part in letters.children:
                first, *others = (str(end).lower() for end in part.items if end is not None)
                codes = range(ord(first), ord(others[0] if others else first) + 1)
                if any(integer != (chr(code) in "ijklmn") for code in codes):
                    raise self.text.error(
                        line,
                        f"{node} is not built: names that are not declared are whole numbers if they begin with i to n",
                        hint="declare them",
                    )

    def typed(self, node: Any, line: int, given: frozenset[str]) -> None:
        kind, attributes, entities = node.items
        if not str(kind).lower().startswith(TYPES):
            raise self.text.error(
                line, f"the type {str(kind).lower()} is not built", hint=f"known are {', '.join(TYPES)}"
            )
        shape_for_all, parameter = None, False
        for one in walk(attributes, (F.Attr_Spec, F.Dimension_Attr_Spec)) if attributes is not None else ():
            if isinstance(one, F.Dimension_Attr_Spec):
                shape_for_all = one.items[1]
            parameter = parameter or str(one).lower() == "parameter"
        for entity in entities.children:
            name = str(entity.items[0]).lower()
            integer = str(kind).lower().startswith("integer")
            shape = entity.items[1] if entity.items[1] is not None else shape_for_all
            if name in given:
                self.argument(name, integer, shape, line)
                continue
            self.names.declared.add(name)
            if integer:
                self.names.integers.add(name)
            if parameter and entity.items[3] is None:
                raise self.text.error(line, f"the parameter {name} is given no value", part=name, hint=f"{name} = …")
            if parameter:
                self.parameter(name, entity.items[3].items[1], line)
            elif entity.items[3] is not None:
                raise self.text.error(line, f"{name} is given a first value in its declaration", hint="assign it")
            elif shape is not None:
                self.array(name, shape, line)

    def parameter(self, name: str, node: Any, line: int) -> None:
        value = self.values[name] if name in self.values else known_value(node, self.names)
        if value is None:
            raise self.text.error(line, f"the parameter {name} is no number that can be computed here", part=name)
        self.names.parameters[name] = int(value) if self.names.is_integer(name) else float(value)

    def array(self, name: str, shape: Any, line: int) -> None:
        bounds = self.bounds(name, shape, line)
        if name in self.names.arrays:
            raise self.text.error(line, f"{name} is declared twice", part=name)
        self.names.arrays[name] = Array(name, bounds, position=self.text.position(line, name))

    def bounds(self, name: str, shape: Any, line: int) -> tuple[tuple[int, int], ...]:
        bounds = []
        for one in shape.children if hasattr(shape, "children") else [shape]:
            if not isinstance(one, F.Explicit_Shape_Spec):
                raise self.text.error(line, f"{name} has no shape of numbers", part=name)
            low, high = (None if part is None else affine(part, self.names) for part in one.items)
            first = 1 if one.items[0] is None else None if low is None else low.known
            last = None if high is None else high.known
            if first is None or last is None:
                symbol = min((high or low or Affine.of("n")).names, default="n")
                raise self.text.error(
                    line,
                    f"the bounds {one} of {name} have no value here",
                    part=name,
                    hint=f"give one: --set {symbol}=…",
                )
            bounds.append((first, max(last, first - 1)))  # no elements where the last is before the first
        return tuple(bounds)

    def argument(self, name: str, integer: bool, shape: Any, line: int) -> None:
        """A dummy argument is what is passed, so its declaration has to say the same."""
        passed = self.names.arrays.get(name, Array(name, ()))
        if integer != self.names.is_integer(name):
            raise self.text.error(line, f"{name} is passed, and has another type there")
        parts = [] if shape is None else list(shape.children)
        assumed = bool(parts) and all(isinstance(one, F.Assumed_Shape_Spec) and one.items[1] is None for one in parts)
        if assumed:
            lows = [1 if one.items[0] is None else known_value(one.items[0], self.names) for one in parts]
            same = lows == [low for low, _ in passed.bounds]
        else:
            same = (() if shape is None else self.bounds(name, shape, line)) == passed.bounds
        if not same:
            there = ",".join(f"{low}:{high}" for low, high in passed.bounds) or "none"
            raise self.text.error(
                line,
                f"{name} is passed, and has the bounds {there} there, not those of this argument",
                hint="arrays are passed whole and keep their bounds",
            )


def declarations_of(part: Any) -> list[Any]:
    """The declarations in a specification part, those in its implicit parts included."""
    found: list[Any] = []
    for one in part.children:
        found += declarations_of(one) if isinstance(one, F.Implicit_Part) else [one]
    return found
