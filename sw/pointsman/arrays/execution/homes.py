"""Which processor has each element of each array, and where the element is in a processor's memory.

Every processor has one buffer for the elements of all arrays, its own and copies of others', so an element has the same number on
all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np

from pointsman.arrays.tree.mapping import Array, Spread, Template
from pointsman.arrays.tree.statements import ArrayProgram

Distributed = tuple[tuple[str, tuple[Spread, ...]], ...]
"""Each template with its distribution, in the order of the program."""


def first_distribution(program: ArrayProgram) -> Distributed:
    """The distributions with which a program begins."""
    return tuple((name, template.spreads) for name, template in program.templates.items())


def redistributed(state: Distributed, template: str, spreads: tuple[Spread, ...]) -> Distributed:
    """The distributions after one template has got another."""
    return tuple((name, spreads if name == template else old) for name, old in state)


@dataclass(frozen=True, eq=False)
class Homes:
    """Elements of a program in memory and on processors."""

    program: ArrayProgram

    @cached_property
    def start(self) -> Mapping[str, int]:
        """Number of the first element of each array; its elements follow by rows."""
        found, at = {}, 0
        for name, array in self.program.arrays.items():
            found[name] = at
            at += int(np.prod(array.shape, dtype=np.int64))
        return found

    @cached_property
    def size(self) -> int:
        """Elements of all arrays."""
        return sum(prod(array.shape) for array in self.program.arrays.values())

    @cached_property
    def _owners(self) -> dict[tuple[str, tuple[Spread, ...]], np.ndarray]:
        return {}

    def part(self, array: str) -> slice:
        """Where an array is in the buffer."""
        start = self.start[array]
        return slice(start, start + int(np.prod(self.program.arrays[array].shape, dtype=np.int64)))

    def template(self, name: str, state: Distributed) -> Template:
        """A template as it is distributed."""
        return replace(self.program.templates[name], spreads=dict(state)[name])

    def owners(self, name: str, state: Distributed) -> np.ndarray | None:
        """Processor of each element of an array, by rows; None if every processor has all of it."""
        array = self.program.arrays[name]
        if array.template is None:
            return None
        template = self.template(array.template, state)
        key = (name, template.spreads)
        if key not in self._owners:
            self._owners[key] = _owners(array, template)
        return self._owners[key]

    def own(self, processor: int, state: Distributed) -> np.ndarray:
        """Which elements a processor has for its own, those that all have included: a truth for each element."""
        mine = np.zeros(self.size, bool)
        for name in self.program.arrays:
            owners = self.owners(name, state)
            mine[self.part(name)] = True if owners is None else owners == processor
        return mine


def processors_of(
    template: Template, coordinates: Mapping[int, np.ndarray | int], shape: tuple[int, ...]
) -> np.ndarray:
    """Processors of points, whose coordinates are given by dimension of the template."""
    number = np.zeros(shape, np.int64)
    for size, dimension, (low, processors, block) in zip(
        template.on.shape, template.distributed, template.axes(), strict=True
    ):
        number = number * size + (np.asarray(coordinates[dimension]) - low) // block % processors
    return number


def _owners(array: Array, template: Template) -> np.ndarray:
    rank = len(array.bounds)
    coordinates: dict[int, np.ndarray | int] = {}
    for dimension in template.distributed:
        aligned = array.alignment[dimension]
        if aligned.axis is None:
            coordinates[dimension] = aligned.offset
            continue
        low, high = array.bounds[aligned.axis]
        along = np.arange(low, high + 1) * aligned.scale + aligned.offset
        coordinates[dimension] = along.reshape([-1 if axis == aligned.axis else 1 for axis in range(rank)])
    return np.broadcast_to(processors_of(template, coordinates, array.shape), array.shape).reshape(-1)
