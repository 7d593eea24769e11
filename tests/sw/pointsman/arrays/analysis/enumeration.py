"""The judge of the analysis: random array programs, carried out element by element with remote copies that can be stale.

Nothing here uses the operations on descriptors. Copies are kept by virtual processor, with the number of times the element had
been written when it was sent; a copy that was never sent, or is older than the element, fails.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from pointsman.arrays.analysis import derive
from pointsman.arrays.analysis.communications import Communications, Owners
from pointsman.arrays.analysis.emulation import count, delivered
from pointsman.arrays.building import DistributedArray, ProgramBuilder
from pointsman.arrays.tree.affine import Affine
from pointsman.arrays.tree.meaning import Watcher, run
from pointsman.arrays.tree.statements import ArrayProgram, Redistribute, Statement


class Copies(Watcher):
    """Follows copies; ``needed`` and ``sent`` are (array, element, version, where) of all that was read remotely, and sent."""

    def __init__(self, communications: Communications) -> None:
        self.program = communications.program
        self.messages = communications.before
        self.owners = Owners(self.program)
        self.versions: dict[tuple[str, tuple[int, ...]], int] = {}
        self.copies: dict[tuple[Any, ...], int] = {}
        self.needed: set[tuple[Any, ...]] = set()
        self.sent: set[tuple[Any, ...]] = set()

    def point(self, array: str, element: tuple[int, ...]) -> tuple[Any, ...]:
        return self.owners.point(array, element)

    def before(self, statement: Statement, values: Mapping[str, Any]) -> None:
        for message in self.messages.get(statement, ()):
            for one in message:
                for element, point in delivered(one, values):
                    where = (one.template, point)
                    if where == self.point(one.array, element):
                        continue
                    version = self.versions.get((one.array, element), 0)
                    self.copies[one.array, element, where] = version
                    self.sent.add((one.array, element, version, where))
        if isinstance(statement, Redistribute):
            mine = {name for name, array in self.program.arrays.items() if array.template == statement.template}
            self.copies = {
                key: version
                for key, version in self.copies.items()
                if key[0] not in mine and key[2][0] != statement.template
            }

    def read(self, reader: tuple[str, tuple[int, ...]] | None, array: str, element: tuple[int, ...]) -> None:
        home = self.point(array, element)
        where = (None, ()) if reader is None else self.point(*reader)
        if home[0] is None or where == home:
            return
        version = self.versions.get((array, element), 0)
        self.needed.add((array, element, version, where))
        have = max(self.copies.get((array, element, place), -1) for place in (where, (None, ())))
        assert have == version, (
            f"{array}{element} is read at {where} in version {version}, and the copy there is {have}"
        )

    def write(self, array: str, element: tuple[int, ...]) -> None:
        self.versions[array, element] = self.versions.get((array, element), 0) + 1


def judged(communications: Communications) -> Copies:
    """Carry a program out; AssertionError if a processor reads what it does not have."""
    copies = Copies(communications)
    run(communications.program, {}, copies)
    return copies


def steps(seed: int, *, several: bool = False) -> list[Communications]:
    """What is communicated in a random program after each step of the analysis."""
    return list(derive(random_program(seed, several=several)).values())


def judge(seed: int, *, several: bool = False) -> None:
    """Every step of the analysis of a random program; AssertionError if one sends too little, or hoisting another element."""
    found = steps(seed, several=several)
    first, hoisted, *_ = carried = [judged(step) for step in found]
    assert first.needed <= first.sent
    assert all(one.needed == first.needed for one in carried)
    # Hoisting neither adds an element nor loses one.
    assert first.sent == hoisted.sent
    if seed % 5:
        return
    costs = [count(step) for step in found]
    assert all(later.elements <= earlier.elements for earlier, later in pairwise(costs))
    assert costs[-1].messages <= costs[1].messages <= costs[0].messages


SIZE = 6


def random_program(seed: int, *, several: bool = False) -> ArrayProgram:
    """Loops to depth 3, arrays to rank 3, every distribution, negative steps, empty ranges, branches, array assignments.

    ``several``: over grids of one, two and three dimensions, between which redistributions go.
    """
    return _Random(random.Random(seed), several=several).program()


class _Random:
    def __init__(self, chance: random.Random, *, several: bool) -> None:
        self.chance = chance
        grid = chance.choice([(2, 3), (4, 1)] if several else [(2,), (3,), (2, 2)])
        self.regular = chance.random() < 0.5
        """Stencil-like: one template, identical alignments, small offsets; more can be hoisted and eliminated."""
        self.build = ProgramBuilder("random", grid)
        if several:
            self.build.processors(grid[0] * grid[1])
            self.build.processors(1, *grid)
        self.arrays: list[DistributedArray] = []
        self.templates = []
        for number in range(1 if self.regular else chance.choice([1, 1, 2])):
            rank = chance.randint(len(grid), 3)
            self.templates.append((self.build.template(f"t{number}", [SIZE * 2 + 4] * rank, self.spreads(rank)), rank))
        for number in range(chance.randint(2, 4)):
            template, rank = chance.choice(self.templates)
            own = rank if self.regular else chance.randint(1, rank)
            if chance.random() < 0.08:
                self.arrays.append(self.build.array(f"a{number}", [SIZE] * own))
                continue
            axes: list[int | None] = [*range(own), *[None] * (rank - own)]
            if not self.regular and chance.random() < 0.4:
                chance.shuffle(axes)
            align = []
            for axis in axes:
                scale = chance.choice([1, 1, 1, 2, -1]) if chance.random() < 0.4 else 1
                align.append((axis, scale, chance.randint(0, 3) + (SIZE if scale < 0 else 0)))
            if self.regular or chance.random() < 0.5:
                align = [(axis, 1, 2) for axis in axes]
            self.arrays.append(self.build.array(f"a{number}", [SIZE] * own, template, align))
        self.indices: list[tuple[Affine, int, int]] = []

    def spreads(self, rank: int) -> list[str]:
        ranks = [len(one.shape) for one in (self.build.grid, *self.build.others) if len(one.shape) <= rank]
        count = ranks[0] if len(ranks) == 1 else self.chance.choice(ranks)
        kinds = [self.chance.choice(["block", "cyclic", "cyclic(2)", "cyclic(3)"]) for _ in range(count)]
        spreads = [*kinds, *["*"] * (rank - count)]
        self.chance.shuffle(spreads)
        return spreads

    def program(self) -> ArrayProgram:
        self.body(3, self.chance.randint(1, 4))
        return self.build.program()

    def body(self, depth: int, statements: int) -> None:
        for _ in range(statements):
            kind = self.chance.random()
            if depth and kind < 0.55:
                self.loop(depth)
            elif depth and kind < 0.65:
                with self.build.when(self.element() > -0.5 + self.chance.random()):
                    self.body(depth - 1, 1)
                if self.chance.random() < 0.5:
                    with self.build.otherwise():
                        self.body(depth - 1, 1)
            elif kind < 0.68:
                template, rank = self.chance.choice(self.templates)
                self.build.redistribute(template, self.spreads(rank))
            elif kind < 0.76:
                self.array_assignment()
            else:
                target = self.chance.choice(self.arrays)
                value = self.element() + 1
                for _ in range(self.chance.randint(0, 2)):
                    value = value - self.element()
                target[self.subscripts(target)] = value

    def loop(self, depth: int) -> None:
        low, high = sorted((self.chance.randint(0, SIZE - 1), self.chance.randint(0, SIZE - 1)))
        step = self.chance.choice([1, 1, 1, 2, 3, -1, -2])
        if self.chance.random() < 0.05:
            low, high = high + 1, low  # most of these are empty
        name = "ijk"[len(self.indices)]
        start: Affine | int = low
        if self.indices and self.chance.random() < 0.2 and step > 0:
            start, low, step = self.indices[-1][0], 0, 1
            low, high = self.indices[-1][1], SIZE - 1
        stop = high + 1
        if step < 0:
            start, stop = high, low - 1
        with self.build.loop(name, start, stop, step) as index:
            self.indices.append((index, min(low, high), max(low, high)))
            self.body(depth - 1, self.chance.randint(1, 2))
            self.indices.pop()

    def subscripts(self, array: DistributedArray) -> Any:
        if self.regular and len(self.indices) >= len(array.array.bounds) and self.chance.random() < 0.9:
            return tuple(self.near(*index) for index in self.indices[: len(array.array.bounds)])
        return tuple(self.subscript() for _ in array.array.bounds)

    def near(self, index: Affine, low: int, high: int) -> Affine:
        offset = self.chance.choice([0, 0, 0, 1, -1])
        return index + offset if low + offset >= 0 and high + offset < SIZE else index

    def subscript(self) -> Any:
        if self.chance.random() < 0.03:
            other = self.chance.choice(self.arrays)
            # Every value is kept within the bounds by being 0: the smallest fraction of something small.
            return abs(other[tuple(0 for _ in other.array.bounds)]) * 0
        for _ in range(8):
            if not self.indices or self.chance.random() < 0.15:
                return self.chance.randint(0, SIZE - 1)
            index, low, high = self.chance.choice(self.indices)
            scale = self.chance.choice([1, 1, 1, 1, 2, -1])
            offset = self.chance.choice([0, 0, 1, -1, 2, -2, SIZE - 1])
            ends = (scale * low + offset, scale * high + offset)
            if min(ends) >= 0 and max(ends) < SIZE:
                return index * scale + offset
        return self.chance.randint(0, SIZE - 1)

    def element(self) -> Any:
        array = self.chance.choice(self.arrays)
        return array[self.subscripts(array)]

    def array_assignment(self) -> None:
        target, other = self.chance.choice(self.arrays), self.chance.choice(self.arrays)
        count = self.chance.randint(0, 3)
        step = self.chance.choice([1, 1, 2])
        keys = []
        for array in (target, other):
            key: list[Any] = list(self.subscripts(array))
            start = self.chance.randint(0, SIZE - 1 - max(0, count - 1) * step)
            key[self.chance.randrange(len(key))] = slice(
                start, start + (count - 1) * step + 1 if count else start, step
            )
            keys.append(tuple(key))
        target[keys[0]] = other[keys[1]] + self.element()
