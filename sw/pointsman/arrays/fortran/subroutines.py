"""Subroutines of a program, put in place of their calls.

Takes a text with subroutines behind the program or inside of it; gives, for each call, the tree of the subroutine in which every
name is what it means at the call: arguments have the names of what is passed, all else names of its own. So the analysis sees
through calls, and a subroutine called twice is analysed twice.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fparser.two import Fortran2003
from fparser.two.utils import walk

from .text import FortranText, line_of

F = Fortran2003
MOST_CALLS = 200
"""Calls that are put in place at most."""


def units_of(tree: Any) -> list[Any]:
    """The program units of a text, without comments."""
    return [unit for unit in tree.children if not isinstance(unit, F.Comment)]


def main_of(text: FortranText, tree: Any) -> Any:
    """The unit that is carried out: the only program, or the only unit.

    Raises
    ------
    ArrayProgramError
        If there is none, or there are several.
    """
    units = units_of(tree)
    programs = [unit for unit in units if isinstance(unit, F.Main_Program | F.Main_Program0)]
    if len(programs) == 1:
        return programs[0]
    if programs or len(units) != 1:
        raise text.error(1, f"an array program has one PROGRAM, and this text has {len(programs)}")
    return units[0]


def parts_of(unit: Any) -> tuple[list[Any], list[Any], list[Any]]:
    """Of a unit: specification, statements, and units inside of it."""
    found: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    for part in unit.children:
        if isinstance(part, F.Specification_Part):
            found[0].append(part)
        elif isinstance(part, F.Execution_Part):
            found[1].extend(part.children)
        elif isinstance(part, F.Internal_Subprogram_Part):
            found[2].extend(one for one in part.children if not isinstance(one, F.Comment | F.Contains_Stmt))
        elif isinstance(part, F.Comment):
            found[0].append(part)
    return found


@dataclass(frozen=True)
class Subroutine:
    """A subroutine: its dummy arguments, the names that it declares, and its parts; ``inside`` the program or behind it."""

    name: str
    dummies: tuple[str, ...]
    declared: frozenset[str]
    specification: tuple[Any, ...]
    statements: tuple[Any, ...]
    inside: bool
    line: int

    @cached_property
    def assigned(self) -> frozenset[str]:
        """Names that it assigns, or passes to others, as it is written."""
        return frozenset(assigned_names(self.statements))


def assigned_names(statements: Sequence[Any]) -> Iterator[str]:
    """Scalars and arrays that statements assign, and names that they pass to subroutines."""
    for part in statements:
        for one in walk(part, (F.Assignment_Stmt, F.Call_Stmt)):
            if isinstance(one, F.Assignment_Stmt):
                target = one.items[0]
                yield str(target if isinstance(target, F.Name) else target.items[0]).lower()
            else:
                yield from (str(given).lower() for given in arguments_of(one) if isinstance(given, F.Name))


def arguments_of(call: Any) -> list[Any]:
    """What a CALL passes."""
    return [] if call.items[1] is None else list(call.items[1].children)


class Subroutines:
    """The subroutines of a text."""

    def __init__(self, text: FortranText, tree: Any) -> None:
        self.text = text
        self.known = {one.name: one for one in self._all(tree)}
        self._assigned = {
            name: one.assigned for name, one in self.known.items()
        }  # now, while names are those of the text
        self.calls = 0

    def _all(self, tree: Any) -> Iterator[Subroutine]:
        main = main_of(self.text, tree)
        for unit in units_of(tree):
            if unit is not main and not isinstance(unit, F.Function_Subprogram):
                yield self._made(unit, inside=False)
        for unit in parts_of(main)[2]:
            if not isinstance(unit, F.Function_Subprogram):
                yield self._made(unit, inside=True)

    def _made(self, unit: Any, *, inside: bool) -> Subroutine:
        line = line_of(unit)
        if not isinstance(unit, F.Subroutine_Subprogram):
            raise self.text.error(
                line,
                "besides the program there may be subroutines and functions only",
            )
        specification, statements, within = parts_of(unit)
        if within:
            raise self.text.error(line, "subroutines inside subroutines are not built", hint="put them behind it")
        head = unit.children[0] if isinstance(unit.children[0], F.Subroutine_Stmt) else walk(unit, F.Subroutine_Stmt)[0]
        dummies = () if head.items[2] is None else tuple(str(one).lower() for one in head.items[2].children)
        declared = {str(one.items[0]).lower() for one in walk(specification, F.Entity_Decl)}
        declared |= {str(one.items[0]).lower() for one in walk(specification, F.Named_Constant_Def)}
        for common in walk(specification, F.Common_Stmt):
            raise self.text.error(line_of(common), "COMMON in a subroutine is not built", hint="pass what it needs")
        return Subroutine(
            str(head.items[1]).lower(),
            dummies,
            frozenset(declared),
            tuple(specification),
            tuple(statements),
            inside,
            line_of(head),
        )

    def changed_by_calls(self, statements: Sequence[Any]) -> set[str]:
        """Names that calls among statements may assign."""
        found: set[str] = set()
        for part in statements:
            for call in walk(part, F.Call_Stmt):
                one = self.known.get(str(call.items[0]).lower())
                if one is None:
                    continue
                assigned = self._assigned[one.name]
                passed = zip(one.dummies, arguments_of(call), strict=False)
                found |= {
                    str(given).lower() for dummy, given in passed if dummy in assigned and isinstance(given, F.Name)
                }
        for one in self.known.values():
            if one.inside:
                found |= self._assigned[one.name] - one.declared - set(one.dummies)
        return found

    def at_call(self, call: Any, stack: Sequence[str]) -> Subroutine:
        """The subroutine that is called.

        Raises
        ------
        ArrayProgramError
            If there is no such subroutine, it calls itself, or it has another number of arguments.
        """
        line, name = line_of(call), str(call.items[0]).lower()
        if name not in self.known:
            raise self.text.error(line, f"there is no subroutine {name} in this text", part=name)
        if name in stack:
            way = " calls ".join((*stack[stack.index(name) :], name))
            raise self.text.error(
                line, f"recursion: {way}; subroutines are put in place of their calls", part=name, hint="write a loop"
            )
        self.calls += 1
        if self.calls > MOST_CALLS:
            raise self.text.error(line, f"more than {MOST_CALLS} calls, each of which is put in place", part=name)
        known = self.known[name]
        given = arguments_of(call)
        if len(given) != len(known.dummies) or any(isinstance(one, F.Actual_Arg_Spec) for one in given):
            raise self.text.error(
                line, f"{name} has {len(known.dummies)} arguments in their order, and is given {len(given)}", part=name
            )
        return known


@contextmanager
def names_at_call(
    one: Subroutine, meaning: Mapping[str, str], mark: str, functions: Container[str] = ()
) -> Iterator[None]:
    """Within, the names of a subroutine have their meaning at a call; those of its own have a mark behind them.

    Inside a program, names that it does not declare are the program's. A subroutine is never called within itself, so one tree
    serves all its calls, one after the other.
    """
    before: list[tuple[Any, str]] = []
    parts = [*one.specification, *one.statements]
    called = {id(call.items[0]) for call in walk(parts, F.Call_Stmt)}
    for part in parts:
        for node in walk(part, F.Name):
            name = str(node).lower()
            if id(node) in called or (name in functions and name not in meaning):
                continue
            if name in meaning:
                new = meaning[name]
            elif one.inside and name not in one.declared:
                continue
            else:
                new = name + mark
            before.append((node, node.string))
            node.string = new
    yield
    for node, old in before:
        node.string = old
