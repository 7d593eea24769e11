"""The communications of an array program at their places, from step to step.

`initial` derives them by owner computes. ``vectorising`` hoists them out of loops, ``eliminating`` takes away what is
available already, and ``scheduling`` moves and combines them; each takes `Communications` and gives new ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pointsman.arrays.tree.affine import Affine, Range
from pointsman.arrays.tree.mapping import Template
from pointsman.arrays.tree.statements import (
    ArrayProgram,
    Assign,
    Branch,
    DoLoop,
    Redistribute,
    Reference,
    Statement,
    references,
)

from .descriptors import Descriptor

Message = tuple[Descriptor, ...]
"""Descriptors whose elements travel together."""


class Owners:
    """Owners of elements as virtual processors: coordinates in all dimensions that some distribution of the program uses."""

    def __init__(self, program: ArrayProgram) -> None:
        self.program = program
        self.templates = dict(program.templates)
        self.dimensions: dict[str, tuple[int, ...]] = {}
        changes = list(_redistributions(program.body))
        for name, template in self.templates.items():
            used = set(template.distributed)
            for change in changes:
                if change.template == name:
                    used |= {at for at, spread in enumerate(change.spreads) if spread.kind != "*"}
            self.dimensions[name] = tuple(sorted(used))

    def of(self, array: str, element: Sequence[Affine]) -> tuple[str | None, tuple[Affine, ...]]:
        """Template and coordinates of an element's owner; template None if every processor has it."""
        described = self.program.arrays[array]
        if described.template is None:
            return None, ()
        at = []
        for dimension in self.dimensions[described.template]:
            aligned = described.alignment[dimension]
            own = Affine() if aligned.axis is None else element[aligned.axis] * aligned.scale
            at.append(own + aligned.offset)
        return described.template, tuple(at)

    def point(self, array: str, element: Sequence[int]) -> tuple[str | None, tuple[int, ...]]:
        """The same for an element whose subscripts are numbers."""
        described = self.program.arrays[array]
        if described.template is None:
            return None, ()
        aligned = [described.alignment[dimension] for dimension in self.dimensions[described.template]]
        at = (one.offset if one.axis is None else element[one.axis] * one.scale + one.offset for one in aligned)
        return described.template, tuple(at)

    def processor(self, template: Template, coordinates: Sequence[int]) -> int:
        """The processor of a virtual processor under a distribution."""
        place = dict(zip(self.dimensions[template.name], coordinates, strict=True))
        return template.processor([place[dimension] for dimension in template.distributed])

    def source(self, one: Descriptor) -> tuple[str | None, tuple[Affine, ...]]:
        """Where a descriptor's elements come from."""
        return self.of(one.array, one.region)


@dataclass(frozen=True)
class Communications:
    """A program with, for statements that have any, the messages that take place before them."""

    program: ArrayProgram
    before: Mapping[Statement, tuple[Message, ...]]

    def descriptors(self) -> Iterator[tuple[Statement, Descriptor]]:
        """Every descriptor with the statement it stands before, in the order of the text."""
        for statement in every(self.program.body):
            for message in self.before.get(statement, ()):
                for one in message:
                    yield statement, one


def every(body: Sequence[Statement]) -> Iterator[Statement]:
    """All statements, those inside others after them."""
    for statement in body:
        yield statement
        if isinstance(statement, DoLoop):
            yield from every(statement.body)
        elif isinstance(statement, Branch):
            yield from every(statement.then)
            yield from every(statement.otherwise)


def _redistributions(body: Sequence[Statement]) -> Iterator[Redistribute]:
    return (statement for statement in every(body) if isinstance(statement, Redistribute))


def initial(program: ArrayProgram) -> Communications:
    """Communications before each statement, by owner computes: an element that is read goes to the owner of the one assigned.

    Conditions, and what is assigned to scalars and replicated arrays, are computed by everyone (Yuan 1998, §5.2.3).
    """
    owners = Owners(program)
    before: dict[Statement, tuple[Message, ...]] = {}
    for statement in every(program.body):
        found: list[Message] = []
        if isinstance(statement, Branch):
            found = [(one,) for read in references(statement.condition) for one in _needed(owners, read, None, (), ())]
        elif isinstance(statement, Assign):
            region, anywhere = statement.target.region(program.arrays)
            names = {one.name: f"to{one.name}" for one in anywhere}
            region = tuple(value.put({old: Affine.of(new) for old, new in names.items()}) for value in region)
            somewhere = tuple(one.renamed(names) for one in anywhere)
            template, point = owners.of(statement.target.array, region)
            for subscript in statement.target.subscripts:
                for read in references(subscript):
                    found += [(one,) for one in _needed(owners, read, None, (), statement.indices)]
            for part in (statement.mask, statement.value):
                for read in references(part):
                    ranges = (*statement.indices, *somewhere)
                    found += [(one,) for one in _needed(owners, read, template, point, ranges)]
        if found:
            before[statement] = tuple(found)
    return Communications(program, before)


def _needed(
    owners: Owners, read: Reference, template: str | None, point: tuple[Affine, ...], ranges: Sequence[Range]
) -> Iterator[Descriptor]:
    region, anywhere = read.region(owners.program.arrays)
    source, own = owners.of(read.array, region)
    if source is None or (source == template and own == point):
        return
    yield Descriptor(read.array, region, template, point, (*ranges, *anywhere))
