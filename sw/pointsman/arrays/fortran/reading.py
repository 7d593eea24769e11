"""Fortran text to an array program: declarations, directives and statements, one after the other.

Takes a text, values for its parameters and processors; gives an `ArrayProgram`. What lies outside the affine subset but can be
treated conservatively becomes a remark; everything else is an error with its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fparser.two import Fortran2003
from fparser.two.utils import walk

from pointsman.arrays.errors import ArrayProgramError
from pointsman.arrays.tree.affine import Affine, Range
from pointsman.arrays.tree.reach import outside
from pointsman.arrays.tree.sections import Section, SectionReference, array_assignment
from pointsman.arrays.tree.statements import (
    Apply,
    ArrayProgram,
    Assign,
    Branch,
    DoLoop,
    Number,
    Reference,
    Statement,
    references,
)

from .declarations import Declarations, declarations_of
from .directives import IGNORED, Directives
from .expressions import Names, affine, expression, known_value, mapping_of, of_integers, reference
from .functions import Functions
from .loops import Loops
from .subroutines import Subroutines, arguments_of, main_of, names_at_call
from .text import FortranText, directive_of, line_of

F = Fortran2003
LOOPS = (F.Block_Nonlabel_Do_Construct, F.Block_Label_Do_Construct, F.Action_Term_Do_Construct)
SILENT = (F.Continue_Stmt, F.Print_Stmt, F.Write_Stmt, F.Comment)


def read_program(
    text: str,
    file: str = "<program>",
    *,
    values: Mapping[str, int] | None = None,
    processors: Sequence[int] | None = None,
    fixed: bool | None = None,
) -> ArrayProgram:
    """The array program of a Fortran text.

    Parameters
    ----------
    text : str
    file : str
        Its name, for messages; ``.f`` and ``.for`` say fixed form.
    values : mapping of str to int or None
        Values of names that go before those of PARAMETER, such as ``{"n": 64}``.
    processors : sequence of int or None
        The grid of processors, before that of the text.
    fixed : bool or None
        Fixed form; None: by the file's name.

    Raises
    ------
    ArrayProgramError
    """
    source = FortranText(text, file, fixed)
    tree = source.tree()
    return _Reader(source, dict(values or {}), tuple(processors) if processors else None, tree).program(
        main_of(source, tree)
    )


class _Reader:
    def __init__(
        self, text: FortranText, values: dict[str, int], processors: tuple[int, ...] | None, tree: Any
    ) -> None:
        self.text = text
        self.subroutines = Subroutines(text, tree)
        self.stack: list[str] = []
        self.given: frozenset[str] = frozenset()
        self.values = mapping_of(values)
        self.functions = Functions(text, tree)
        self.names = Names(text, dict(self.values), functions=self.functions)
        self.directives = Directives(self.names, processors)
        self.declarations = Declarations(text, self.names, self.values)
        self.loops = Loops(text, self.names)

    def program(self, unit: Any) -> ArrayProgram:
        name = self.text.file.rpartition("/")[2].partition(".")[0]
        statements: list[Any] = []
        pending: list[tuple[str, int]] = []
        for part in unit.children:
            if isinstance(part, F.Program_Stmt | F.Subroutine_Stmt):
                name = str(part.items[1]).lower()
            elif isinstance(part, F.Specification_Part):
                for one in declarations_of(part):
                    self.declarations.declare(one, pending)
            elif isinstance(part, F.Execution_Part):
                statements += part.children
            elif directive_of(part) is not None:
                pending.append((directive_of(part) or "", line_of(part)))
        # Directives that stand between the declarations and the first statement belong to either part.
        while statements and isinstance(statements[0], F.Comment):
            first = statements.pop(0)
            pending += [(directive, line_of(first)) for directive in [directive_of(first)] if directive is not None]
        changes = [one for one in pending if one[0].lower().startswith("redistribute")]
        for directive, line in pending:
            if (directive, line) not in changes:
                self.directives.declare(directive, line)
        self.directives.finish()
        self.names.changing = self.changing(statements) | self.subroutines.changed_by_calls(statements)
        at_once = [self.directives.redistribute(*one) for one in changes]
        body = (*filter(None, at_once), *self.statements(self.without_end(statements)))
        free = self.names
        self.check_values()
        for one, dimension, value in outside(body, free.arrays):
            low, high = free.arrays[one.array].bounds[dimension]
            line = one.position.line if one.position is not None else 1
            raise self.text.error(
                line,
                f"{one} comes to {value}, outside the bounds {low}:{high} of {one.array}: such elements have no owner",
                part=one.array,
                hint="change the bounds of the loop, or of the array",
            )
        return ArrayProgram(
            name,
            next(iter(self.directives.grids.values())),
            self.directives.templates,
            free.arrays,
            body,
            {name: value for name, value in free.parameters.items() if isinstance(value, int)},
            tuple(free.remarks),
            frozenset(filter(free.is_integer, free.arrays)),
        )

    def check_values(self) -> None:
        """A value that is given to a name that the program has not, or to an array, would change nothing."""
        known = self.text.names() - {*self.names.arrays, *self.directives.templates, *self.directives.grids}
        for name in self.values:
            if name not in known:
                parameters = ", ".join(sorted(self.names.parameters.keys() & known)) or "none"
                raise self.text.error(
                    1,
                    f"{name} is given a value, and is no parameter of the program",
                    hint=f"parameters with values are: {parameters}",
                )

    @staticmethod
    def changing(statements: Sequence[Any]) -> set[str]:
        """Names that statements assign as a whole."""
        return {
            str(one.items[0]).lower()
            for part in statements
            for one in walk(part, F.Assignment_Stmt)
            if isinstance(one.items[0], F.Name)
        }

    def statements(self, nodes: Sequence[Any]) -> tuple[Statement, ...]:
        made: list[Statement] = []
        for node in nodes:
            directive = directive_of(node)
            if directive is not None:
                if self.stack and not directive.lower().startswith(IGNORED):
                    raise self.text.error(
                        line_of(node),
                        "a directive in a subroutine is not built: its arrays lie as what is passed does",
                        hint="redistribute before and behind the call",
                    )
                change = self.directives.redistribute(directive, line_of(node))
                made += [change] if change is not None else []
            elif not isinstance(node, SILENT):
                made += self.statements(_comments_before(node))
                if isinstance(node, F.Call_Stmt):
                    made += self.call(node)
                elif isinstance(node, LOOPS):
                    made += self.loop(list(node.children))
                else:
                    made.append(self.statement(node))
        return tuple(made)

    def call(self, node: Any) -> list[Statement]:
        """A subroutine's statements in place of its call; arguments that are no names are assigned before, and perhaps behind."""
        line = line_of(node)
        one = self.subroutines.at_call(node, self.stack)
        mark = f"'{one.name}{self.subroutines.calls}"
        assigned = one.assigned
        meaning: dict[str, str] = {}
        before: list[Statement] = []
        behind: list[Statement] = []
        for dummy, given in zip(one.dummies, arguments_of(node), strict=True):
            if isinstance(given, F.Name):
                meaning[dummy] = str(given).lower()
                continue
            meaning[dummy] = name = dummy + mark
            self.names.declared.add(name)
            value = known_value(given, self.names)
            self.names.integers |= {name} if self.integer(given) else set()
            if value is not None and dummy not in assigned:
                self.names.parameters[name] = value
                continue
            target = SectionReference(name, (), self.text.position(line))
            self.names.scalar(name)
            self.names.changing.add(name)
            before.append(self.passed(target, expression(given, self.names), line))
            if dummy in assigned:
                if not isinstance(given, F.Part_Ref):
                    raise self.text.error(
                        line, f"{one.name} assigns its argument {dummy}, and what is passed is no variable"
                    )
                behind.append(self.passed(self.kept(reference(given, self.names), name, before, line), target, line))
        if repeated := [
            name for name in meaning.values() if list(meaning.values()).count(name) > 1 and assigned & set(meaning)
        ]:
            raise self.text.error(line, f"{repeated[0]} is passed twice to {one.name}, which assigns its arguments")
        outer, self.given = self.given, frozenset(meaning.values())
        strict, self.names.strict = self.names.strict, one.inside and self.names.strict
        self.stack.append(one.name)
        with names_at_call(one, meaning, mark, self.functions):
            for part in one.specification:
                for declared in declarations_of(part) if isinstance(part, F.Specification_Part) else [part]:
                    if isinstance(declared, F.Comment):
                        self.statements([declared])
                    else:
                        self.declarations.declare(declared, [], self.given)
            statements = list(one.statements)
            self.names.changing |= self.changing(statements) | self.subroutines.changed_by_calls(statements)
            body = self.statements(self.without_end(statements))
        self.stack.pop()
        self.given, self.names.strict = outer, strict
        return [*before, *body, *behind]

    def kept(self, element: SectionReference, name: str, before: list[Statement], line: int) -> SectionReference:
        """An element that is passed, with the subscripts that it has before the call: what they read may be assigned there."""
        subscripts: list[Any] = []
        for axis, one in enumerate(element.subscripts):
            if isinstance(one, Affine | Section):
                subscripts.append(one)
                continue
            own = f"{name}'{axis}"
            self.names.scalar(own)
            self.names.changing.add(own)
            self.names.declared.add(own)
            self.names.integers.add(own)
            before.append(self.passed(SectionReference(own, (), self.text.position(line)), one, line))
            subscripts.append(Reference(own, (), self.text.position(line)))
        return replace(element, subscripts=tuple(subscripts))

    def integer(self, node: Any) -> bool:
        """Is an expression that is passed of type INTEGER?"""
        return of_integers(expression(node, self.names), self.names)

    def passed(self, target: SectionReference, value: Any, line: int) -> Assign:
        if any(isinstance(one, Section) for one in target.subscripts):
            raise self.text.error(line, "a section is passed", hint="pass the whole array, and its bounds")
        try:
            return array_assignment(target, value, self.names.arrays, position=self.text.position(line))
        except ArrayProgramError:
            raise self.text.error(
                line,
                "a section is passed, or an expression of arrays; that is not built",
                hint="pass a whole array by its name",
            ) from None

    def without_end(self, statements: list[Any]) -> list[Any]:
        """Statements of a unit without the RETURN or STOP at their end.

        Raises
        ------
        ArrayProgramError
            For one that stands elsewhere: it would leave statements out.
        """
        body = [one for one in statements if not isinstance(one, F.Comment) or directive_of(one) is not None]
        last = body[-1] if body and isinstance(body[-1], F.Return_Stmt | F.Stop_Stmt) else None
        for one in walk(statements, (F.Return_Stmt, F.Stop_Stmt)):
            if one is not last:
                raise self.text.error(
                    line_of(one), f"{str(one).split()[0]} before the end is not built", hint="write an IF"
                )
        return [one for one in statements if one is not last]

    def statement(self, node: Any) -> Statement:
        line = line_of(node)
        if isinstance(node, F.Assignment_Stmt):
            return self.assignment(node, line)
        if isinstance(node, F.If_Stmt):
            return Branch(
                self.condition(node.items[0], line), self.statements([node.items[1]]), (), self.text.position(line)
            )
        if isinstance(node, F.If_Construct):
            return self.branch(list(node.children))
        if isinstance(node, F.Forall_Stmt):
            return self.forall(node.items[0], [node.items[1]], line)[0]
        if isinstance(node, F.Forall_Construct):
            head, *inside = (one for one in node.children if not isinstance(one, F.Comment))
            return self.together(self.forall(head.items[1], inside[:-1], line))
        if isinstance(node, F.Where_Construct):
            return self.together(self.where(node))
        if isinstance(node, F.Where_Stmt):
            return self.assignment(node.items[1], line, mask=expression(node.items[0], self.names))
        raise self.text.error(
            line,
            f"a statement of a kind that is not known here: {str(node).splitlines()[0]}",
            hint="known are assignments, DO with bounds, IF, FORALL, WHERE and CALL",
        )

    def together(self, made: Sequence[Assign]) -> Statement:
        """Assignments each of which is complete before the next: a branch that is always taken holds several."""
        if len(made) == 1:
            return made[0]
        return Branch(expression(F.Logical_Literal_Constant(".true."), self.names), tuple(made))

    def where(self, node: Any) -> list[Assign]:
        """A WHERE construct; its masks are those that hold before it, so no assignment may change what they read."""
        made: list[Assign] = []
        mask: Any = None
        others: list[Any] = []
        for one in node.children:
            line = line_of(one)
            if isinstance(one, F.Where_Construct_Stmt | F.Masked_Elsewhere_Stmt | F.Elsewhere_Stmt):
                others += [] if mask is None else [Apply(".not.", (mask,))]
                mask = Number(True) if isinstance(one, F.Elsewhere_Stmt) else expression(one.items[0], self.names)
            elif isinstance(one, F.Assignment_Stmt):
                whole = mask
                for other in others:
                    whole = Apply(".and.", (other, whole))
                changed = {before.target.array for before in made}
                made.append(self.assignment(one, line, mask=whole))
                if lost := sorted(changed & {read.array for read in references(made[-1].mask)}):
                    raise self.text.error(
                        line,
                        f"this WHERE assigns {lost[0]}, which its mask reads, before this assignment",
                        hint="assign the mask to an array first",
                    )
            elif not isinstance(one, F.Comment | F.End_Where_Stmt):
                raise self.text.error(line, "a WHERE holds assignments only, here")
        if not made:
            raise self.text.error(line_of(node), "a WHERE without an assignment")
        return made

    def assignment(self, node: Any, line: int, *, mask: object = None, indices: Sequence[Range] = ()) -> Assign:
        target = (
            reference(node.items[0], self.names) if not isinstance(node.items[0], F.Name) else self.named(node, line)
        )
        value = expression(node.items[2], self.names)
        if self.names.is_integer(target.array) and not of_integers(value, self.names):
            value = Apply("int", (value,))
        try:
            made = array_assignment(
                target, value, self.names.arrays, mask=mask, indices=indices, position=self.text.position(line)
            )
        except ArrayProgramError as error:
            raise self.text.error(line, error.message, part=target.array, hint=error.hint) from None
        return made

    def named(self, node: Any, line: int) -> SectionReference:
        name = str(node.items[0]).lower()
        if name in self.names.indices or name in self.names.parameters:
            raise self.text.error(line, f"{name} is assigned and is the index of a loop, or a parameter", part=name)
        return reference(node.items[0], self.names)

    def condition(self, node: Any, line: int) -> Any:
        try:
            return array_assignment(SectionReference("", ()), expression(node, self.names), self.names.arrays).value
        except ArrayProgramError as error:
            if error.position is not None and error.line:
                raise
            raise self.text.error(line, "the condition of an IF is of arrays: it has no single truth") from None

    def loop(self, nodes: list[Any]) -> list[Statement]:
        head, inner = nodes[0], nodes[1:]
        while isinstance(head, F.Comment):  # fparser puts comments before a labelled DO inside it
            head, inner = inner[0], inner[1:]
        line = line_of(head)
        control = next(iter(walk(head, F.Loop_Control)), None)
        if control is None or control.items[1] is None:
            raise self.text.error(
                line, "a loop that is not counted is not built", hint="write DO index = first, last, step"
            )
        index, bounds = control.items[1]
        name = str(index).lower()
        if name in self.names.indices:
            raise self.text.error(line, f"{name} is the index of a loop around this one", part=name)
        if name in self.names.changing:
            raise self.text.error(line, f"{name} is assigned somewhere and is the index of a loop", part=name)
        if name in self.names.parameters:
            raise self.text.error(line, f"{name} is given a value and is the index of a loop", part=name)
        if inner and isinstance(inner[-1], F.End_Do_Stmt):
            inner = inner[:-1]

        def body() -> tuple[Statement, ...]:
            self.names.indices.append(name)
            several = inner and isinstance(inner[0], F.Label_Do_Stmt)  # loops that end on one statement
            made = tuple(self.loop(inner)) if several else self.statements(inner)
            self.names.indices.remove(name)
            self.names.looped.add(name)
            return made

        bounds = [*bounds, None][:3]
        if all(one is None or affine(one, self.names) is not None for one in bounds):
            return [DoLoop(self.loops.counted(name, bounds, line), body(), self.text.position(line))]
        return self.loops.guarded(name, bounds, body, line)

    def branch(self, nodes: list[Any]) -> Branch:
        parts: list[tuple[Any, list[Any]]] = []
        for node in nodes:
            if isinstance(node, F.If_Then_Stmt | F.Else_If_Stmt | F.Else_Stmt):
                parts.append((node, []))
            elif not isinstance(node, F.End_If_Stmt) and parts:
                parts[-1][1].append(node)
        otherwise: tuple[Statement, ...] = ()
        made = None
        for head, inside in reversed(parts):
            body = self.statements(inside)
            if isinstance(head, F.Else_Stmt):
                otherwise = body
                continue
            line = line_of(head)
            made = Branch(self.condition(head.items[0], line), body, otherwise, self.text.position(line))
            otherwise = (made,)
        assert made is not None
        return made

    def forall(self, header: Any, inside: Sequence[Any], line: int) -> list[Assign]:
        ranges: list[Range] = []
        for one in walk(header, F.Forall_Triplet_Spec):
            name = str(one.items[0]).lower()
            if name in self.names.indices or name in [range_.name for range_ in ranges]:
                raise self.text.error(line, f"{name} is an index already", part=name)
            if name in self.values:
                raise self.text.error(line, f"{name} is given a value and is the index of a loop", part=name)
            ranges.append(self.loops.counted(name, one.items[1:], line))
        own = [one.name for one in ranges]
        self.names.indices.extend(own)
        mask = None if header.items[1] is None else expression(header.items[1], self.names)
        made: list[Assign] = []
        for node in inside:
            if made and any(True for _ in references(made[0].mask)):
                raise self.text.error(line, "a FORALL whose mask reads arrays has one assignment only, here")
            if isinstance(node, F.Comment):
                continue
            if not isinstance(node, F.Assignment_Stmt):
                raise self.text.error(line_of(node), "a FORALL holds assignments only, here")
            made.append(self.assignment(node, line_of(node), mask=mask, indices=ranges))
        del self.names.indices[len(self.names.indices) - len(own) :]
        return made


def _comments_before(node: Any) -> list[Any]:
    """Comments, with any directives, that stand before a construct: fparser puts them inside, before its first statement."""
    if not isinstance(node, F.BlockBase):
        return []
    found = []
    for part in node.children:
        if not isinstance(part, F.Comment):
            break
        found.append(part)
    return found
