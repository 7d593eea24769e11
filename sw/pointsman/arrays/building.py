"""Array programs from Python: distributed arrays that are indexed and assigned like NumPy's, in loops written with ``with``.

Subscripts begin with 0, slices end before their stop, as in NumPy. ``ProgramBuilder.program`` gives the tree that the Fortran
front end gives, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import index
from typing import Any, TypeAlias

import numpy as np

from .errors import ArrayProgramError
from .tree.affine import Affine, Range
from .tree.mapping import Aligned, Array, Grid, Spread, Template
from .tree.reach import outside
from .tree.sections import Section, SectionReference, array_assignment
from .tree.statements import Apply, ArrayProgram, Branch, DoLoop, Name, Number, Redistribute, Reference, Statement

Value: TypeAlias = "Term | Affine | int | float"


def spread(text: str) -> Spread:
    """``"block"``, ``"cyclic"``, ``"cyclic(3)"`` or ``"*"`` as a distribution of a dimension."""
    found = re.fullmatch(r"(block|cyclic|\*)(?:\((\d+)\))?", text.replace(" ", "").lower())
    if found is None or (found[2] and (found[1] != "cyclic" or int(found[2]) < 1)):
        raise ArrayProgramError(f"a dimension is distributed block, cyclic, cyclic(b) with b ≥ 1, or *, not {text}")
    kind: Any = found[1]
    return Spread(kind, int(found[2] or 1))


class Term:
    """An expression; operators of Python make larger ones."""

    def __init__(self, expression: object) -> None:
        self.expression = expression

    def _with(self, operator: str, other: Value, *, turned: bool = False) -> Term:
        operands = [self.expression, as_expression(other)]
        return Term(Apply(operator, tuple(reversed(operands) if turned else operands)))

    def __add__(self, other: Value) -> Term:
        return self._with("+", other)

    def __radd__(self, other: Value) -> Term:
        return self._with("+", other, turned=True)

    def __sub__(self, other: Value) -> Term:
        return self._with("-", other)

    def __rsub__(self, other: Value) -> Term:
        return self._with("-", other, turned=True)

    def __mul__(self, other: Value) -> Term:
        return self._with("*", other)

    def __rmul__(self, other: Value) -> Term:
        return self._with("*", other, turned=True)

    def __truediv__(self, other: Value) -> Term:
        return self._with("/", other)

    def __rtruediv__(self, other: Value) -> Term:
        return self._with("/", other, turned=True)

    def __pow__(self, other: Value) -> Term:
        return self._with("**", other)

    def __rpow__(self, other: Value) -> Term:
        return self._with("**", other, turned=True)

    def __lt__(self, other: Value) -> Term:
        return self._with("<", other)

    def __le__(self, other: Value) -> Term:
        return self._with("<=", other)

    def __gt__(self, other: Value) -> Term:
        return self._with(">", other)

    def __ge__(self, other: Value) -> Term:
        return self._with(">=", other)

    def __eq__(self, other: Value) -> Term:  # type: ignore[override]
        return self._with("==", other)

    def __ne__(self, other: Value) -> Term:  # type: ignore[override]
        return self._with("/=", other)

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise ArrayProgramError(
            "an expression of elements or indices has a value only when the program runs; Python's if, and, or, max and "
            "1 < i < 3 want it now",
            hint="with build.when(a[i] > 3): … is an IF of the program",
        )

    def __iter__(self) -> Iterator[Term]:
        raise ArrayProgramError("an array has elements only when the program runs", hint="with build.loop(…) as i: …")

    def __neg__(self) -> Term:
        return Term(Apply("neg", (self.expression,)))  # type: ignore[arg-type]

    def __abs__(self) -> Term:
        return Term(Apply("abs", (self.expression,)))  # type: ignore[arg-type]


class Index(Term):
    """The index of a loop, or an affine expression of such: a subscript, a bound, or a number in a larger expression."""

    def __init__(self, affine: Affine) -> None:
        self.affine = affine

    @property
    def expression(self) -> Any:  # type: ignore[override]
        """Its value as a number."""
        return as_expression(self.affine)

    def __add__(self, other: Value) -> Term:
        whole = affine_of(other)
        return super().__add__(other) if whole is None else Index(self.affine + whole)

    def __radd__(self, other: Value) -> Term:
        whole = affine_of(other)
        return super().__radd__(other) if whole is None else Index(whole + self.affine)

    def __sub__(self, other: Value) -> Term:
        whole = affine_of(other)
        return super().__sub__(other) if whole is None else Index(self.affine - whole)

    def __rsub__(self, other: Value) -> Term:
        whole = affine_of(other)
        return super().__rsub__(other) if whole is None else Index(whole - self.affine)

    def __mul__(self, other: Value) -> Term:
        factor = affine_of(other)
        return super().__mul__(other) if factor is None or factor.known is None else Index(self.affine * factor.known)

    def __rmul__(self, other: Value) -> Term:
        factor = affine_of(other)
        return super().__rmul__(other) if factor is None or factor.known is None else Index(self.affine * factor.known)

    def __neg__(self) -> Term:
        return Index(-self.affine)


def affine_of(value: object) -> Affine | None:
    """A whole number or an index as an affine expression; None for what is neither."""
    if isinstance(value, Index):
        return value.affine
    if isinstance(value, Affine):
        return value
    try:
        return Affine(index(value))  # type: ignore[arg-type]
    except TypeError:
        return None


def whole_number(value: object, what: str) -> Affine:
    """As `affine_of`; raises ArrayProgramError for what is neither."""
    found = affine_of(value)
    if found is None:
        given = "an expression of elements" if isinstance(value, Term) else repr(value)
        raise ArrayProgramError(f"{what} must be a whole number or an index, not {given}")
    return found


def as_expression(value: Value) -> Any:
    """A number, index or term as an expression of the tree."""
    if isinstance(value, Term):
        return value.expression
    if not isinstance(value, Affine | int | float | np.number | np.bool_):
        raise ArrayProgramError(f"a value is a number, an index or an expression of elements, not {value!r:.60}")
    if isinstance(value, Affine):
        sum_: Any = Number(value.constant)
        for name, factor in value.terms:
            sum_ = Apply("+", (sum_, Apply("*", (Number(factor), Name(name)))))
        return sum_
    return Number(value)


class DistributedArray(Term):
    """An array of a `ProgramBuilder`: ``a[i + 1, 2:8]`` reads, and an assignment to it is a statement of the program."""

    def __init__(self, builder: ProgramBuilder, array: Array) -> None:
        self.builder = builder
        self.array = array

    @property
    def expression(self) -> Any:  # type: ignore[override]
        """The whole array."""
        return self._part((slice(None),) * len(self.array.bounds))

    def _part(self, key: Any) -> SectionReference | Reference:
        keys = key if isinstance(key, tuple) else (key,)
        if len(keys) != len(self.array.bounds):
            raise ArrayProgramError(
                f"{self.array.name} has {len(self.array.bounds)} dimensions and is given {len(keys)} subscripts"
            )
        subscripts: list[Any] = []
        for one, (low, high) in zip(keys, self.array.bounds, strict=True):
            if isinstance(one, slice):
                start, stop, step = (
                    Affine(usual)
                    if part is None
                    else whole_number(part, f"a bound or step of a slice of {self.array.name}")
                    for part, usual in ((one.start, low), (one.stop, high + 1), (one.step, 1))
                )
                if step.known is None or step.known < 1:
                    raise ArrayProgramError(f"a slice of {self.array.name} has the step {step}; it must be positive")
                subscripts.append(Section(start, stop - 1, step.known))
            elif isinstance(one, Term) and not isinstance(one, Index):
                subscripts.append(one.expression)
            else:
                subscripts.append(whole_number(one, f"a subscript of {self.array.name}"))
        return SectionReference(self.array.name, tuple(subscripts))

    def __getitem__(self, key: Any) -> Term:
        return Term(self._part(key))

    def __setitem__(self, key: Any, value: Value) -> None:
        part = self._part(key)
        assert isinstance(part, SectionReference)
        self.builder.add(array_assignment(part, as_expression(value), self.builder.arrays))

    def _all(self, value: Term) -> DistributedArray:
        self[(slice(None),) * len(self.array.bounds)] = value
        return self

    def __iadd__(self, other: Value) -> DistributedArray:
        return self._all(self + other)

    def __isub__(self, other: Value) -> DistributedArray:
        return self._all(self - other)

    def __imul__(self, other: Value) -> DistributedArray:
        return self._all(self * other)

    def __itruediv__(self, other: Value) -> DistributedArray:
        return self._all(self / other)


class ProgramBuilder:
    """Gathers the statements of an array program.

    >>> build = ProgramBuilder("shift", (4,))
    >>> line = build.template("line", (16,), ("block",))
    >>> a, b = build.array("a", (16,), line), build.array("b", (16,), line)
    >>> with build.loop("i", 1, 16) as i:
    ...     a[i] = b[i - 1] + 1
    >>> program = build.program()
    """

    def __init__(self, name: str, processors: Sequence[int]) -> None:
        if not processors or min(processors) < 1:
            raise ArrayProgramError(
                f"a grid of processors has at least one along each dimension, not {tuple(processors)}"
            )
        self.name = name
        self.grid = Grid(tuple(processors))
        self.others: tuple[Grid, ...] = ()
        self.templates: dict[str, Template] = {}
        self.arrays: dict[str, Array] = {}
        self._bodies: list[list[Statement]] = [[]]
        self._indices: list[str] = []

    def processors(self, *shape: int) -> None:
        """The same processors in another shape, for templates with as many distributed dimensions."""
        made = Grid(shape)
        check_grid(made, (self.grid, *self.others))
        if self.templates:
            raise ArrayProgramError("all grids of processors come before the first template")
        self.others += (made,)

    def template(self, name: str, shape: Sequence[int], distribution: Sequence[str]) -> str:
        """A template of a shape; its distributed dimensions take those of the grid in turn. Gives its name back."""
        spreads = tuple(map(spread, distribution))
        self._check_spreads(name, len(shape), spreads)
        self.templates[name] = Template(name, tuple((0, size - 1) for size in shape), spreads, self.grid, self.others)
        return name

    def _check_spreads(self, name: str, rank: int, spreads: Sequence[Spread]) -> None:
        distributed = sum(one.kind != "*" for one in spreads)
        ranks = [len(one.shape) for one in (self.grid, *self.others)]
        if len(spreads) != rank or distributed not in ranks:
            raise ArrayProgramError(
                f"the template {name} has {rank} dimensions and is given {len(spreads)} distributions, {distributed} of them "
                f"over the processors, whose grid has {' or '.join(map(str, ranks))} dimensions"
            )

    def array(
        self,
        name: str,
        shape: Sequence[int],
        template: str | None = None,
        align: Sequence[tuple[int | None, int, int]] | None = None,
    ) -> DistributedArray:
        """An array on a template, dimension by dimension, or as ``align`` says: (axis or None, scale, offset) a dimension of the
        template. Without a template every processor holds all of it."""
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{,39}", name):
            raise ArrayProgramError(
                "an array has a name of up to 40 ASCII letters, digits and _, that does not begin with a digit, "
                f"not {name!r:.60}",
                hint="labels of its communications are made of it",
            )
        bounds = tuple((0, size - 1) for size in shape)
        if name in self.arrays:
            raise ArrayProgramError(f"there is an array {name} already")
        alignment = tuple(Aligned(*one) for one in align or [(axis, 1, 0) for axis in range(len(shape))])
        array = Array(name, bounds, template, alignment if template else ())
        check_alignment(array, self.templates)
        self.arrays[name] = array
        return DistributedArray(self, array)

    def add(self, statement: Statement) -> None:
        """Add a statement where the program is being written."""
        self._bodies[-1].append(statement)

    @contextmanager
    def loop(self, name: str, start: Index | int, stop: Index | int, step: int = 1) -> Iterator[Index]:
        """A loop over ``range(start, stop, step)``; gives its index."""
        if step == 0 or name in self._indices:
            raise ArrayProgramError(
                f"the loop over {name} has the step 0"
                if step == 0
                else f"{name} is the index of a loop around this one"
            )
        first = whole_number(start, f"the start of the loop over {name}")
        last = whole_number(stop, f"the stop of the loop over {name}") - (1 if step > 0 else -1)
        self._bodies.append([])
        self._indices.append(name)
        yield Index(Affine.of(name))
        self._indices.pop()
        body = self._bodies.pop()
        self.add(DoLoop(Range(name, first, last, step), tuple(body)))

    @contextmanager
    def when(self, condition: Term) -> Iterator[None]:
        """The statements inside are carried out where a condition holds."""
        self._bodies.append([])
        yield
        body = self._bodies.pop()
        self.add(Branch(array_free(condition), tuple(body)))

    @contextmanager
    def otherwise(self) -> Iterator[None]:
        """The other branch of the `when` just before."""
        before = self._bodies[-1].pop() if self._bodies[-1] else None
        if not isinstance(before, Branch) or before.otherwise:
            raise ArrayProgramError("otherwise() stands right behind when(), once")
        self._bodies.append([])
        yield
        body = self._bodies.pop()
        self.add(Branch(before.condition, before.then, tuple(body)))

    def redistribute(self, template: str, distribution: Sequence[str]) -> None:
        """Give a template another distribution from here on."""
        spreads = tuple(map(spread, distribution))
        self._check_spreads(template, len(self.templates[template].bounds), spreads)
        self.add(Redistribute(template, spreads))

    def program(self) -> ArrayProgram:
        """The program so far.

        Raises
        ------
        ArrayProgramError
            If a subscript is surely beyond its array.
        """
        for one, dimension, value in outside(self._bodies[0], self.arrays):
            low, high = self.arrays[one.array].bounds[dimension]
            raise ArrayProgramError(
                f"a subscript of {one.array} comes to {value}, outside {low}:{high}: such elements have no owner",
                hint="subscripts begin with 0 and do not count from the end",
            )
        return ArrayProgram(self.name, self.grid, dict(self.templates), dict(self.arrays), tuple(self._bodies[0]))


def array_free(condition: Term) -> Any:
    """A condition as an expression of elements; sections have no single truth."""
    one = SectionReference("condition", ())
    return array_assignment(one, as_expression(condition), {}).value


def check_grid(made: Grid, before: Sequence[Grid]) -> None:
    """Raise ArrayProgramError unless a grid has the processors of those before, in another number of dimensions."""
    if min(made.shape, default=0) < 1:
        raise ArrayProgramError(f"a grid of processors has at least one along each dimension, not {made.shape}")
    for other in before:
        if other.size != made.size:
            raise ArrayProgramError(
                f"a grid of {made.size} processors beside one of {other.size}: grids are the same processors in other shapes"
            )
        if len(other.shape) == len(made.shape):
            raise ArrayProgramError(
                f"there is a grid of {len(made.shape)} dimensions already, {other.shape}: it is by the number of distributed "
                "dimensions that a template finds its grid"
            )


def check_alignment(array: Array, templates: Mapping[str, Template]) -> None:
    """Raise ArrayProgramError unless each element of an array has one place on its template, and that within it."""
    if array.template is None:
        return
    template = templates.get(array.template)
    if template is None:
        raise ArrayProgramError(f"there is no template {array.template}, to which {array.name} is aligned")
    if len(array.alignment) != len(template.bounds):
        raise ArrayProgramError(
            f"{array.name} is aligned to {len(array.alignment)} dimensions of {template.name}, which has {len(template.bounds)}"
        )
    used = [aligned.axis for aligned in array.alignment if aligned.axis is not None]
    if len(set(used)) < len(used):
        raise ArrayProgramError(f"a dimension of {array.name} is aligned to two dimensions of {template.name}")
    for aligned, (low, high) in zip(array.alignment, template.bounds, strict=True):
        ends = (0, 0) if aligned.axis is None else array.bounds[aligned.axis]
        if aligned.axis is not None and aligned.scale == 0:
            raise ArrayProgramError(f"{array.name} is aligned with the scale 0")
        places = (
            [aligned.scale * end + aligned.offset for end in ends] if aligned.axis is not None else [aligned.offset]
        )
        if ends[0] <= ends[1] and not low <= min(places) <= max(places) <= high:
            raise ArrayProgramError(
                f"{array.name} lies on {min(places)}:{max(places)} of a dimension of {template.name} that has {low}:{high}: "
                "elements would have no owner",
                hint=f"make the template larger, or change the alignment of {array.name}",
            )
