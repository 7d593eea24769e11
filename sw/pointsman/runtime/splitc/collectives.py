"""Collective operations: values up a binary tree of all processors, and down again, by stores (von Eicken 1993, §6.1.2).

The tree is rooted at processor 0 and numbered in preorder, so a subtree is a range of processors: values are combined in the
order of the processors, and a function need only be associative. Each processor has a slot for either child and one for its
parent. A child fills its slot again only after it has heard from the parent, which has emptied it by then; so one slot each
is enough.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.runtime.active.carrier import DATA_BYTES

from .accesses import Accesses
from .accessors import StoreCounter
from .bulk import BulkTransfers

SLOT_BYTES = 3072
Function = Callable[[Any, Any], Any]


class Tree:
    """A processor's place in the tree: ``parent`` (-1: none), ``children``, and ``side``: which child of its parent it is."""

    def __init__(self, number: int, procs: int) -> None:
        self.parent, self.side = -1, 0
        first, after = 0, procs
        while True:
            middle = first + 1 + (after - first) // 2
            starts = [one for one in (first + 1, middle) if one < after]
            if first == number:
                self.children = starts
                return
            self.parent = first
            self.side = int(number >= middle)
            first, after = (middle, after) if self.side else (first + 1, min(middle, after))


class Collectives:
    """Collective operations of a processor. Their slots begin with the stack segment, at the same addresses everywhere."""

    def __init__(self, accesses: Accesses, bulk: BulkTransfers) -> None:
        self.accesses = accesses
        self.bulk = bulk
        self.tree = Tree(accesses.own, accesses.procs)
        start = accesses.memory.stack_start
        self.up = [start, start + SLOT_BYTES]
        self.down = start + 2 * SLOT_BYTES
        self.lifted = start + 3 * SLOT_BYTES
        state = accesses.state
        self.rising, self.falling, self.lifting = state.store_counter(), state.store_counter(), state.store_counter()
        self.own = (self.rising, self.falling, self.lifting, accesses.uncounted)

    async def barrier(self) -> None:
        await self._rise(np.zeros(1, np.int32), np.maximum)
        await self._fall(np.zeros(1, np.int32), lambda value, place: value)

    async def broadcast(self, value: np.ndarray, root: int) -> np.ndarray:
        accesses = self.accesses
        if not 0 <= root < accesses.procs:
            raise PointsmanError(f"the root of a broadcast must be a processor 0 to {accesses.procs - 1}, not {root}")
        made = value.copy()
        for part in _parts(made):
            if root and root == accesses.own:
                await self._store(0, self.lifted, part, self.lifting)
            if root and accesses.own == 0:
                await accesses.store_sync(part.nbytes, self.lifting)
                part[:] = self._slot(self.lifted, part)
            await self._rise(np.zeros(1, np.int32), np.maximum)
            part[:] = await self._fall(part, lambda value, place: value)
        return made

    async def reduce(self, value: np.ndarray, function: Function) -> np.ndarray:
        made = value.copy()
        for part in _parts(made):
            total, _ = await self._rise(part, function)
            part[:] = await self._fall(total, lambda value, place: value)
        return made

    async def scan(self, value: np.ndarray, function: Function) -> np.ndarray:
        made = value.copy()
        for part in _parts(made):
            own = part.copy()
            _, subtrees = await self._rise(own, function)

            def before(given: np.ndarray | None, place: int, own: np.ndarray = own, all: Any = subtrees) -> np.ndarray:
                """What comes before a child: what came before this processor, its own value, and the children before."""
                made = own if given is None else function(given, own)
                for earlier in all[:place]:
                    made = function(made, earlier)
                return np.asarray(made, own.dtype)

            given = await self._fall(None, before, like=own)
            part[:] = own if given is None else function(given, own)
        return made

    # -- inside ----------------------------------------------------------------------------------------------

    async def _rise(self, own: np.ndarray, function: Function) -> tuple[np.ndarray, list[np.ndarray]]:
        """The values of this processor's subtree combined, and those of the children's subtrees."""
        accesses, tree = self.accesses, self.tree
        if tree.children:
            await accesses.store_sync(own.nbytes * len(tree.children), self.rising)
        subtrees = [self._slot(self.up[side], own) for side in range(len(tree.children))]
        total = own
        for part in subtrees:
            total = np.asarray(function(total, part), own.dtype)
            if total.shape != own.shape:
                raise PointsmanError(f"the function of a collective makes {total.shape} of {own.shape}")
        if tree.parent >= 0:
            await self._store(tree.parent, self.up[tree.side], total, self.rising)
        return total, subtrees

    async def _fall(
        self, value: np.ndarray | None, hand_on: Callable[[Any, int], np.ndarray], like: np.ndarray | None = None
    ) -> Any:
        """What comes down to this processor; ``value`` at the root. Child k gets ``hand_on(it, k)``."""
        tree = self.tree
        if tree.parent >= 0:
            shape = value if value is not None else like
            assert shape is not None
            await self.accesses.store_sync(shape.nbytes, self.falling)
            value = self._slot(self.down, shape)
        for place, child in enumerate(tree.children):
            await self._store(child, self.down, hand_on(value, place), self.falling)
        return value

    def _slot(self, addr: int, like: np.ndarray) -> np.ndarray:
        return self.accesses.memory.bytes[addr : addr + like.nbytes].view(like.dtype).copy()

    async def _store(self, to: int, addr: int, value: np.ndarray, counter: StoreCounter) -> None:
        data = np.ascontiguousarray(value).tobytes()
        if len(data) <= DATA_BYTES:
            await self.accesses.store_bytes(to, addr, data, counter)
        else:
            await self.bulk.store_bytes(to, addr, data, counter)


def _parts(value: np.ndarray) -> list[np.ndarray]:
    """The value in pieces that fit a slot; they are views of it."""
    if value.ndim != 1 or value.dtype.hasobject:
        raise PointsmanError("a collective takes a number or a one-dimensional array of numbers")
    step = SLOT_BYTES // value.dtype.itemsize
    return [value[at : at + step] for at in range(0, len(value), step)]
