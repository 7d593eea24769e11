"""I-structures and M-structures: every element is empty or full, and a read of an empty one is deferred (von Eicken 1993,
§6.2.1.2).

An element of an I-structure is written once. One of an M-structure is emptied by each `mfetch`, and written again. A deferred
read takes a descriptor (processor, frame, inlet, link), of which many are allocated at a time.
"""

from __future__ import annotations

from typing import NamedTuple

from pointsman.errors import PointsmanError

from .frames import NODE_SHIFT
from .program import Value

MOST_ELEMENTS = 1 << 20
"""Elements of a structure."""
DESCRIPTORS = 256
"""Descriptors of deferred reads that are allocated at a time."""


class Deferred(NamedTuple):
    """A read that waits: who asked, and whether it takes the value away."""

    node: int
    frame: int
    inlet: int
    take: bool


class _Structure:
    __slots__ = ("deferred", "values")

    def __init__(self, size: int) -> None:
        self.values: list[Value | None] = [None] * size
        self.deferred: dict[int, list[Deferred]] = {}


class Heap:
    """The structures of a node. ``growths``: how often descriptors were allocated."""

    def __init__(self, node: int) -> None:
        self.node = node
        self.structures: dict[int, _Structure] = {}
        self.number = 0
        self.free_descriptors = 0
        self.growths = 0

    def allocate(self, size: Value) -> int:
        """An empty structure, as a value."""
        if not isinstance(size, int) or not 0 <= size <= MOST_ELEMENTS:
            raise PointsmanError(
                f"a structure on node {self.node} cannot have {size} elements", hint=f"0 to {MOST_ELEMENTS}"
            )
        self.number += 1
        self.structures[self.number] = _Structure(size)
        return self.node << NODE_SHIFT | self.number

    def free(self, pointer: Value) -> None:
        """Give a structure back."""
        structure = self._at(pointer, "freed")
        if any(structure.deferred.values()):
            raise PointsmanError(f"a structure on node {self.node} is freed, and reads of it are deferred")
        del self.structures[int(pointer) & (1 << NODE_SHIFT) - 1]

    def fetch(self, pointer: Value, index: Value, reader: Deferred) -> Value | None:
        """The element's value; None if it is empty, and the reader has to wait."""
        structure, place = self._element(pointer, index, "fetched")
        value = structure.values[place]
        if value is not None:
            if reader.take:
                structure.values[place] = None
            return value
        if not self.free_descriptors:
            self.free_descriptors = DESCRIPTORS
            self.growths += 1
        self.free_descriptors -= 1
        structure.deferred.setdefault(place, []).append(reader)
        return None

    def store(self, pointer: Value, index: Value, value: Value) -> list[Deferred]:
        """Write an element; gives the readers that get the value."""
        structure, place = self._element(pointer, index, "written")
        if structure.values[place] is not None:
            raise PointsmanError(
                f"element {place} of a structure on node {self.node} is written twice",
                hint="an I-structure is written once; mfetch empties an element",
            )
        structure.values[place] = value
        waiting, served = structure.deferred.get(place, []), 0
        for reader in waiting:
            served += 1
            if reader.take:
                structure.values[place] = None
                break
        answered = waiting[:served]
        del waiting[:served]
        self.free_descriptors += served
        return answered

    def _element(self, pointer: Value, index: Value, doing: str) -> tuple[_Structure, int]:
        structure = self._at(pointer, doing)
        if not isinstance(index, int) or not 0 <= index < len(structure.values):
            raise PointsmanError(
                f"element {index} of a structure on node {self.node} is {doing}; it has {len(structure.values)} elements"
            )
        return structure, index

    def _at(self, pointer: Value, doing: str) -> _Structure:
        found = self.structures.get(int(pointer) & (1 << NODE_SHIFT) - 1)
        if found is None:
            raise PointsmanError(
                f"a structure on node {self.node} is {doing} that is not there", hint="a structure is freed once"
            )
        return found
