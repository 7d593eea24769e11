"""What a processor computes between communications: statements as functions of Python, made from the tree.

A function runs through the iterations whose elements the processor owns; where all that is assigned in a loop asks for the same
owner along an axis, whole iterations are left out. It reads from the processor's buffer, and an element that the processor
neither owns nor was sent is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pointsman.arrays.tree.affine import Affine, Range
from pointsman.arrays.tree.meaning import MEANING
from pointsman.arrays.tree.statements import (
    Apply,
    Assign,
    Branch,
    DoLoop,
    Expression,
    Name,
    Number,
    Reference,
    Statement,
)
from pointsman.errors import PointsmanError

from .homes import Distributed, Homes

CYCLES = {"+": 2, "-": 2, "*": 3, "/": 12, "**": 30, "neg": 1, "sqrt": 20}
"""Cycles of operations on a processor, so that a multiplication with its addition takes 5 (Metcalf 1997, Table 8.3)."""
OTHER_CYCLES = {"abs": 1, "min": 1, "max": 1, "int": 1, "real": 1, "sign": 2, "mod": 12}
RELATION_CYCLES, FUNCTION_CYCLES = 1, 40

LEFT = ({"+", "-"}, {"*"})
"""Operators that Python, too, applies from the left to the right."""

Condition = tuple[str, frozenset[str]]
"""Who owns an element along an axis, as text, and the indices in it."""
Work = Callable[[Any, Any, int, Mapping[str, Any]], int]
"""Computes with a buffer and its valid elements, at values of the indices around; gives cycles."""


@dataclass(eq=False)
class Memory:
    """The buffer of a processor, and which of its elements are valid; all others are poison."""

    data: np.ndarray
    valid: np.ndarray

    def __post_init__(self) -> None:
        self.words = memoryview(self.data)  # type: ignore[arg-type]
        self.truths = memoryview(self.valid.view(np.uint8))  # type: ignore[arg-type]

    def keep(self, mine: np.ndarray) -> None:
        """Poison all elements but these."""
        self.valid &= mine
        self.data[~self.valid] = np.nan


class LocalWork:
    """Makes the functions of statements, each once for a distribution."""

    def __init__(self, homes: Homes) -> None:
        self.homes = homes
        self._made: dict[tuple[Statement, Distributed], Work] = {}
        self._conditions: dict[Statement, Callable[..., Any]] = {}

    def work(self, statement: Statement, state: Distributed) -> Work:
        """The function of a statement in which nothing is sent."""
        key = (statement, state)
        if key not in self._made:
            self._made[key] = _Writer(self.homes, state).function(statement)
        return self._made[key]

    def truth(self, branch: Branch) -> Callable[[Any, Any, Mapping[str, Any]], Any]:
        """The condition of an IF."""
        if branch not in self._conditions:
            self._conditions[branch] = _Writer(self.homes, ()).condition(branch)
        return self._conditions[branch]


def cycles_of(expression: Expression | Affine | None) -> int:
    """Cycles to compute an expression; subscripts that are affine cost nothing, as a compiler has them in registers."""
    if isinstance(expression, Reference):
        return sum(cycles_of(subscript) for subscript in expression.subscripts)
    if not isinstance(expression, Apply):
        return 0
    own = CYCLES.get(expression.operator) or OTHER_CYCLES.get(expression.operator)
    if own is None:
        own = FUNCTION_CYCLES if expression.operator.isalpha() else RELATION_CYCLES
    return own + sum(map(cycles_of, expression.operands))


@dataclass
class _Writer:
    homes: Homes
    state: Distributed
    lines: list[str] = field(default_factory=list)
    costs: list[int] = field(default_factory=list)
    scope: set[str] = field(default_factory=set)
    outside: set[str] = field(default_factory=set)
    constants: dict[str, Any] = field(default_factory=dict)
    names: int = 0

    def function(self, statement: Statement) -> Work:
        self.statement(statement, 1, frozenset())
        head = ["def work(A, H, me, V):"]
        for grid in self.homes.program.grids:
            stride = grid.size
            for axis, size in enumerate(grid.shape):
                stride //= size
                head.append(f"  me{len(grid.shape)}_{axis} = me // {stride} % {size}")
        head += [f"  {_name(name)} = V[{name!r}]" for name in sorted(self.outside)]
        head += [f"  n{number} = 0" for number in range(len(self.costs))]
        total = " + ".join(f"{cost} * n{number}" for number, cost in enumerate(self.costs)) or "0"
        made: Work = self._compiled([*head, *self.lines, f"  return {total}"], "work")
        return made

    def condition(self, branch: Branch) -> Callable[..., Any]:
        value = self.expression(branch.condition)
        head = ["def truth(A, H, V):", *(f"  {_name(name)} = V[{name!r}]" for name in sorted(self.outside))]
        made: Callable[..., Any] = self._compiled([*head, f"  return {value}"], "truth")
        return made

    def _compiled(self, lines: Sequence[str], name: str) -> Any:
        space: dict[str, Any] = {"F": MEANING, "Q": MEANING["/"], "M": self._missing, **self.constants}
        try:
            made = compile("\n".join(lines), f"<{self.homes.program.name}>", "exec")
        except (SyntaxError, RecursionError, MemoryError):  # Python bounds the nesting of loops and expressions
            raise PointsmanError(
                f"loops or an expression of {self.homes.program.name} are nested too deeply to be carried out",
                hint="assign part of it first",
            ) from None
        exec(made, space)  # of our own tree: names and numbers only
        return space[name]

    def _missing(self, array: str, number: int) -> None:
        place = np.unravel_index(number - self.homes.start[array], self.homes.program.arrays[array].shape)
        bounds = self.homes.program.arrays[array].bounds
        element = ",".join(str(int(at) + low) for at, (low, _) in zip(place, bounds, strict=True))
        raise PointsmanError(f"a processor reads {array}({element}), which it neither owns nor was sent")

    # Statements

    def line(self, depth: int, text: str) -> None:
        self.lines.append("  " * depth + text)

    def counted(self, depth: int, cost: int) -> None:
        if cost:
            self.line(depth, f"n{len(self.costs)} += 1")
            self.costs.append(cost)

    def statement(self, statement: Statement, depth: int, known: frozenset[Condition]) -> None:
        """``known``: conditions that are false wherever the statement is reached."""
        if isinstance(statement, Assign):
            self.assign(statement, depth, known)
        elif isinstance(statement, DoLoop):
            self.loop(statement.range, depth)
            # What all assignments inside share has no index of a loop further in, so it can be tested here.
            ready = self.shared(statement.body) - known
            self.tests(ready, depth + 1)
            for part in statement.body:
                self.statement(part, depth + 1, known | ready)
            self.line(depth + 1, "pass")
            self.scope.discard(statement.range.name)
        elif isinstance(statement, Branch):
            self.counted(depth, cycles_of(statement.condition))
            self.line(depth, f"if {self.expression(statement.condition)}:")
            for part in statement.then:
                self.statement(part, depth + 1, known)
            self.line(depth + 1, "pass")
            self.line(depth, "else:")
            for part in statement.otherwise:
                self.statement(part, depth + 1, known)
            self.line(depth + 1, "pass")
        else:
            raise AssertionError("a redistribution is no local work")

    def tests(self, conditions: frozenset[Condition] | set[Condition], depth: int) -> None:
        """Leave out an iteration whose elements are another processor's."""
        for text, names in sorted(conditions, key=lambda one: one[0]):
            self.uses(names)
            self.line(depth, f"if {text}: continue")

    def loop(self, one: Range, depth: int) -> None:
        low, high = self.affine(one.low), self.affine(one.high)
        end = f"{high} + 1" if one.step > 0 else f"{high} - 1"
        self.line(depth, f"for {_name(one.name)} in range({low}, {end}, {one.step}):")
        self.scope.add(one.name)

    def shared(self, body: Sequence[Statement]) -> frozenset[Condition]:
        """The conditions on the owner that all assignments in a list of statements have."""
        found: frozenset[Condition] | None = None
        for statement in body:
            if isinstance(statement, Assign):
                free = {one.name for one in statement.indices}
                of_it = frozenset(one for one in self.conditions(statement.target) if not one[1] & free)
            elif isinstance(statement, DoLoop):
                of_it = frozenset(one for one in self.shared(statement.body) if statement.range.name not in one[1])
            elif isinstance(statement, Branch):
                of_it = self.shared((*statement.then, *statement.otherwise))
            else:
                of_it = frozenset()
            found = of_it if found is None else found & of_it
        return found or frozenset()

    def conditions(self, target: Reference) -> frozenset[Condition]:
        """Texts that are true where an element is another processor's, axis by axis; none if a subscript is not affine."""
        array = self.homes.program.arrays[target.array]
        if array.template is None or not all(isinstance(s, Affine) for s in target.subscripts):
            return frozenset()
        template = self.homes.template(array.template, self.state)
        found = set()
        for axis, (value, (low, processors, block)) in enumerate(
            zip(array.owner(template, target.subscripts), template.axes(), strict=True)  # type: ignore[arg-type]
        ):
            if processors > 1:
                text = self.text(value - low)
                found.add((f"({text}) // {block} % {processors} != me{len(template.distributed)}_{axis}", value.names))
        return frozenset(found)

    def assign(self, statement: Assign, depth: int, known: frozenset[Condition]) -> None:
        array = self.homes.program.arrays[statement.target.array]
        reads_itself = any(
            part is not None and _reads(part, array.name)
            for part in (statement.value, statement.mask, *statement.target.subscripts)
        )
        together = bool(statement.indices) and reads_itself
        if together:
            self.line(depth, "W = []")
        inside = depth
        left = set(self.conditions(statement.target) - known)
        for one in statement.indices:
            self.loop(one, inside)
            inside += 1
            ready = {condition for condition in left if not condition[1] & _later(statement, one)}
            self.tests(ready, inside)
            left -= ready
        for text, names in sorted(left, key=lambda one: one[0]):
            self.uses(names)
            self.line(inside, f"if not ({text}):")
            inside += 1
        self.line(inside, f"t = {self.number(statement.target)}")
        if array.template is not None and not all(isinstance(s, Affine) for s in statement.target.subscripts):
            owners = self.homes.owners(array.name, self.state)
            self.constants[f"O_{array.name}"] = owners
            self.line(inside, f"if O_{array.name}[t - {self.homes.start[array.name]}] == me:")
            inside += 1
        if statement.mask is not None:
            self.counted(inside, cycles_of(statement.mask))
            self.line(inside, f"if {self.expression(statement.mask)}:")
            inside += 1
        self.counted(inside, cycles_of(statement.value) + sum(cycles_of(s) for s in statement.target.subscripts) or 1)
        value = self.expression(statement.value)
        self.line(inside, f"W.append((t, {value}))" if together else f"A[t] = {value}; H[t] = 1")
        for one in statement.indices:
            self.scope.discard(one.name)
        if together:
            self.line(depth, "for t, w in W: A[t] = w; H[t] = 1")

    # Expressions

    def uses(self, names: frozenset[str] | set[str]) -> None:
        self.outside |= set(names) - self.scope

    def text(self, value: Affine) -> str:
        terms = "".join(
            f" + {factor} * {_name(name)}" if factor != 1 else f" + {_name(name)}" for name, factor in value.terms
        )
        return f"{value.constant}{terms}"

    def affine(self, value: Affine) -> str:
        self.uses(value.names)
        return self.text(value)

    def number(self, reference: Reference) -> str:
        """An element's number in the buffer."""
        array = self.homes.program.arrays[reference.array]
        whole = Affine(self.homes.start[array.name])
        more = ""
        stride = self.homes.part(array.name).stop - self.homes.start[array.name]
        for subscript, (low, high) in zip(reference.subscripts, array.bounds, strict=True):
            stride //= max(high - low + 1, 1)
            if isinstance(subscript, Affine):
                whole += (subscript - low) * stride
            else:
                more += f" + (int({self.expression(subscript)}) - {low}) * {stride}"
        return self.affine(whole) + more

    def expression(self, expression: Expression) -> str:
        if isinstance(expression, Number):
            return f"({expression.value!r})"
        if isinstance(expression, Name):
            self.uses({expression.name})
            return _name(expression.name)
        if isinstance(expression, Reference):
            at = self.number(expression)
            self.names += 1
            name = f"k{self.names}"
            return f"(A[{name}] if H[({name} := {at})] else M({expression.array!r}, {name}))"
        operands = [self.expression(operand) for operand in expression.operands]
        operator = expression.operator
        first = expression.operands[0]
        if isinstance(first, Apply) and any({operator, first.operator} <= alike for alike in LEFT):
            operands[0] = operands[0][1:-1]  # without parentheses, of which Python nests some hundred at most
        if operator in ("+", "-", "*", "**", "<", "<=", ">", ">=", "=="):
            return f"({operands[0]} {operator} {operands[1]})"
        if operator == "neg":
            return f"(-{operands[0]})"
        if operator == "/":
            return f"Q({operands[0]}, {operands[1]})"
        return f"F[{operator!r}]({', '.join(operands)})"


def _name(name: str) -> str:
    return "v_" + name.replace("'", "_q")


def _reads(part: Expression | Affine, array: str) -> bool:
    if isinstance(part, Reference):
        return part.array == array or any(_reads(s, array) for s in part.subscripts)
    return isinstance(part, Apply) and any(_reads(operand, array) for operand in part.operands)


def _later(statement: Assign, one: Range) -> set[str]:
    names = [range_.name for range_ in statement.indices]
    return set(names[names.index(one.name) + 1 :])
