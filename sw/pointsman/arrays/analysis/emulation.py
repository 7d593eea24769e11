"""What communications cost when a program runs: elements and messages between processors (Yuan 1998, §5.2.4).

The program is carried out by its meaning, and each communication is taken apart into elements when it takes place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pointsman.arrays.tree.meaning import Watcher, assigned_elements, run
from pointsman.arrays.tree.statements import Redistribute, Statement

from .communications import Communications, Owners
from .descriptors import Descriptor


@dataclass(frozen=True)
class Cost:
    """Elements sent to other processors, once a descriptor and processor; and messages: pairs of processors of each."""

    elements: int
    messages: int


def count(communications: Communications, first: Mapping[str, np.ndarray] | None = None) -> Cost:
    """Elements and messages of a run from some first values."""
    counter = _Counter(communications)
    run(communications.program, first or {}, counter)
    return Cost(counter.elements, counter.messages)


def delivered(one: Descriptor, values: Mapping[str, Any]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Every element and the point it goes to, at values of the loop indices around; possibly several times."""
    if one.qualifier is not None and values[one.qualifier.name] not in one.qualifier.values(dict(values)):
        return
    for inside in assigned_elements(one.bound, dict(values)):
        yield tuple(v.value(inside) for v in one.region), tuple(v.value(inside) for v in one.destination)


class _Counter(Watcher):
    def __init__(self, communications: Communications) -> None:
        self.before_ = communications.before
        self.owners = Owners(communications.program)
        self.templates = dict(communications.program.templates)
        self.everyone = range(communications.program.grid.size)
        self.elements = self.messages = 0

    def before(self, statement: Statement, values: Mapping[str, Any]) -> None:
        for message in self.before_.get(statement, ()):
            pairs: set[tuple[int, int]] = set()
            for one in message:
                pairs |= self.sent(one, values)
            self.messages += len(pairs)
        if isinstance(statement, Redistribute):
            old = self.templates[statement.template]
            self.templates[statement.template] = replace(old, spreads=statement.spreads)

    def sent(self, one: Descriptor, values: Mapping[str, Any]) -> set[tuple[int, int]]:
        """Count a descriptor's elements and give the pairs of processors between which they go."""
        pairs: set[tuple[int, int]] = set()
        seen: set[tuple[tuple[int, ...], int]] = set()
        for element, point in set(delivered(one, values)):
            template, own = self.owners.point(one.array, element)
            assert template is not None
            start = self.owners.processor(self.templates[template], own)
            ends = (
                self.everyone if one.template is None else [self.owners.processor(self.templates[one.template], point)]
            )
            for end in ends:
                if end != start and (element, end) not in seen:
                    seen.add((element, end))
                    pairs.add((start, end))
        self.elements += len(seen)
        return pairs
