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


def check_size(size: Value, node: Value) -> int:
    """The elements of a structure to allocate; anything else is refused."""
    if not isinstance(size, int) or not 0 <= size <= MOST_ELEMENTS:
        raise PointsmanError(f"a structure on node {node} cannot have {size} elements", hint=f"0 to {MOST_ELEMENTS}")
    return size


def check_place(index: Value, node: int, doing: str, elements: int | None = None) -> int:
    """The place of an element in a structure; one that no structure has is refused, or, with ``elements``, that this has not."""
    if not isinstance(index, int) or not 0 <= index < (MOST_ELEMENTS if elements is None else elements):
        has = f"one has {MOST_ELEMENTS} at most" if elements is None else f"it has {elements} elements"
        raise PointsmanError(f"element {index} of a structure on node {node} is {doing}; {has}")
    return index


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
        self.number += 1
        self.structures[self.number] = _Structure(check_size(size, self.node))
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
        return structure, check_place(index, self.node, doing, len(structure.values))

    def waited_for(self) -> list[int]:
        """Places of the elements of which reads are deferred."""
        return [place for one in self.structures.values() for place, readers in one.deferred.items() if readers]

    def _at(self, pointer: Value, doing: str) -> _Structure:
        found = self.structures.get(int(pointer) & (1 << NODE_SHIFT) - 1)
        if found is None:
            raise PointsmanError(
                f"a structure on node {self.node} is {doing} that is not there", hint="a structure is freed once"
            )
        return found
