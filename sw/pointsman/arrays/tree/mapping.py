"""Who owns which element: arrays aligned to templates, templates distributed over a grid of processors.

A point of a template is a virtual processor. Only the distributed dimensions of a template tell processors apart, so a virtual
processor is named by its coordinates in these alone (Yuan 1998, §5.1: e = M d + v, on processor (e mod p b) / b).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Literal

from pointsman.program.program import Position

from .affine import Affine

Kind = Literal["block", "cyclic", "*"]


@dataclass(frozen=True)
class Spread:
    """How a dimension of a template lies on the processors; ``block`` is the size of the blocks of ``cyclic``.

    Of ``block`` that size follows from the numbers of points and processors.
    """

    kind: Kind
    block: int = 1

    def __str__(self) -> str:
        return f"cyclic({self.block})" if self.kind == "cyclic" and self.block > 1 else self.kind


@dataclass(frozen=True)
class Grid:
    """Processors in a grid, numbered by rows."""

    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many there are."""
        return prod(self.shape)

    @property
    def plane(self) -> tuple[int, int]:
        """Sizes in x and y of a plane in which the same numbers run by rows; the first half of the axes lies along y."""
        half = len(self.shape) // 2
        return prod(self.shape[half:]), prod(self.shape[:half])

    def number(self, place: Sequence[int]) -> int:
        """Number of the processor at some coordinates."""
        number = 0
        for at, size in zip(place, self.shape, strict=True):
            number = number * size + at
        return number

    def place(self, number: int) -> tuple[int, ...]:
        """Coordinates of a processor."""
        at = []
        for size in reversed(self.shape):
            number, one = divmod(number, size)
            at.append(one)
        return tuple(reversed(at))


@dataclass(frozen=True)
class Template:
    """Virtual processors: least and greatest coordinate of each dimension, and its distribution over a grid.

    The distributed dimensions take those of a grid in turn: of the one that has as many, ``grid`` or one of ``others``, which are
    the same processors with the same numbers in other shapes.
    """

    name: str
    bounds: tuple[tuple[int, int], ...]
    spreads: tuple[Spread, ...]
    grid: Grid
    others: tuple[Grid, ...] = ()

    @property
    def on(self) -> Grid:
        """The grid over which it is distributed now."""
        count = len(self.distributed)
        return next((one for one in self.others if len(one.shape) == count), self.grid)

    @property
    def distributed(self) -> tuple[int, ...]:
        """Dimensions that tell processors apart."""
        return tuple(number for number, spread in enumerate(self.spreads) if spread.kind != "*")

    def axes(self) -> tuple[tuple[int, int, int], ...]:
        """Of each distributed dimension its least coordinate, number of processors and size of a block."""
        found = []
        for processors, dimension in zip(self.on.shape, self.distributed, strict=True):
            low, high = self.bounds[dimension]
            spread = self.spreads[dimension]
            block = spread.block if spread.kind == "cyclic" else -(-(high - low + 1) // processors)
            found.append((low, processors, block))
        return tuple(found)

    def processor(self, point: Sequence[int]) -> int:
        """The processor of a virtual processor, which is given by its coordinates in the distributed dimensions."""
        axes = self.axes()
        return self.on.number(
            [(at - low) // block % processors for at, (low, processors, block) in zip(point, axes, strict=True)]
        )


@dataclass(frozen=True)
class Aligned:
    """Where an array lies along a dimension of its template: at ``scale`` × subscript ``axis`` + ``offset``, or at ``offset``."""

    axis: int | None
    scale: int
    offset: int


@dataclass(frozen=True)
class Array:
    """An array: its bounds, and its alignment to each dimension of a template; ``template`` None is replicated.

    ``position`` is where a text declares it.
    """

    name: str
    bounds: tuple[tuple[int, int], ...]
    template: str | None = None
    alignment: tuple[Aligned, ...] = ()
    position: Position | None = field(default=None, compare=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of elements along each dimension."""
        return tuple(high - low + 1 for low, high in self.bounds)

    def owner(self, template: Template, element: Sequence[Affine]) -> tuple[Affine, ...]:
        """Coordinates of the virtual processor of an element, in the distributed dimensions of its template."""
        found = []
        for dimension in template.distributed:
            aligned = self.alignment[dimension]
            at = Affine() if aligned.axis is None else element[aligned.axis] * aligned.scale
            found.append(at + aligned.offset)
        return tuple(found)
