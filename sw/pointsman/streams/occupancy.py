"""Who uses what in a part, counted by slot: VFSMs, wires, interface accesses, VFSM numbers; and past conflicts.

All numbers are whole, so results do not depend on the machine. The price of a resource is made in ``kernels`` of its
present users and of the history kept here (negotiated congestion, McMurchie and Ebeling 1995).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .kernels import UNIT, Kernels
from .problem import Part


class Noise:
    """Random numbers from a generator whose stream is fixed for ever."""

    def __init__(self, seed: int) -> None:
        self._bits = np.random.PCG64(seed)

    def below(self, limit: int, count: int) -> list[int]:
        """``count`` numbers 0..limit-1."""
        return ((self._bits.random_raw(count) >> np.uint64(11)) % np.uint64(limit)).tolist()

    def order(self, count: int) -> list[int]:
        """A permutation of 0..count-1."""
        return np.argsort(self._bits.random_raw(count), kind="stable").tolist()


@dataclass(frozen=True, eq=False)
class Strand:
    """A chain as the kernels know it: see ``kernels.cheapest`` for ``visits`` and ``ops``."""

    demand: int
    visits: np.ndarray
    ops: np.ndarray
    gap: int
    starts: np.ndarray


class Occupancy:
    """Use of one part over ``slots`` slots.

    Tables are indexed by (place, slot), those of interface accesses by condition first: ``readers`` counts the readers
    under a condition, ``readers_met`` those that a writer under this condition may meet, and the other way round.
    ``room`` is the number of VFSMs a pipeline has for streams. ``held`` are the slots of the reprogramming VFSM by place, -1
    where there is none.
    """

    def __init__(self, part: Part, pipelines: int, slots: int, room: int, kernels: Kernels) -> None:
        self.part, self.pipelines, self.slots, self.room, self.kernels = part, pipelines, slots, room, kernels
        places = part.nodes * pipelines
        self.wires = np.array(part.wires, np.int64)
        conditions = len(part.conditions)
        self.clash = np.zeros((conditions, conditions), np.int64)
        for condition, others in enumerate(part.clashes):
            self.clash[condition, list(others)] = 1
        self.use = np.zeros((places, slots), np.int64)
        self.wire_use = np.zeros((max(part.wires, default=0) + 1, slots), np.int64)
        self.readers, self.readers_met, self.writers, self.writers_met = np.zeros(
            (4, conditions, places, slots), np.int64
        )
        self.numbers = np.zeros(places, np.int64)
        self.held = np.full(places, -1)
        self.use_history = np.zeros_like(self.use)
        self.wire_history = np.zeros_like(self.wire_use)
        self.turn_history = np.zeros_like(self.use)
        """History of a delivery in this slot with an injection in the next."""
        self.blocked = np.zeros((len(part.links), slots), np.bool_)
        for link, slot in part.blocked:
            self.blocked[link, slot % slots] = True
        self.price = UNIT

    def mark(self, strand: Strand, sign: int) -> None:
        """Count ``strand`` in (1) or out (-1)."""
        demand = self.part.demands[strand.demand]
        self.kernels.mark(
            self.use,
            self.wire_use,
            self.readers,
            self.readers_met,
            self.writers,
            self.writers_met,
            self.numbers,
            self.clash,
            strand.ops,
            strand.starts,
            demand.reads,
            demand.delivers,
            sign,
        )

    def hold(self, places: Iterable[int]) -> None:
        """Give the reprogramming VFSM of each of ``places`` the slot that costs least, and of no other."""
        self._count_held(-1)
        self.held[:] = -1
        rows = np.array(sorted(places), np.intp)
        if not rows.size:
            return
        before = np.roll(self.writers.sum(0)[rows], 1, axis=1)
        history = np.roll(self.turn_history[rows], 1, axis=1) * (before > 0)
        cost = self.use_history[rows] + history + self.price * (self.use[rows] + before)
        self.held[rows] = cost.argmin(1)
        self._count_held(1)

    def _count_held(self, sign: int) -> None:
        rows = np.nonzero(self.held >= 0)[0]
        self.use[rows, self.held[rows]] += sign
        self.readers[0, rows, self.held[rows]] += sign
        self.readers_met[:, rows, self.held[rows]] += sign

    def contested(self, strand: Strand) -> bool:
        """Whether ``strand``, counted in, shares a resource."""
        demand = self.part.demands[strand.demand]
        return bool(
            self.kernels.contested(
                strand.ops,
                strand.starts,
                self.use,
                self.wire_use,
                self.writers_met[demand.reads],
                self.readers_met[demand.delivers],
                self.numbers,
                self.room,
            )
        )

    def conflicts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Users too many by (place, slot) and by (wire, slot), deliveries right before an injection by (place, slot),
        VFSM numbers too many by place."""
        turns = (self.writers * np.roll(self.readers_met, -1, axis=2)).sum(0)
        return (
            np.maximum(self.use - 1, 0),
            np.maximum(self.wire_use - 1, 0),
            turns,
            np.maximum(self.numbers - self.room, 0),
        )

    def learn(self) -> None:
        """Raise the history of what is in conflict, and the price of the present."""
        use, wire, turns, _ = self.conflicts()
        self.use_history += 2 * UNIT * use
        self.wire_history += 2 * UNIT * wire
        self.turn_history += 2 * UNIT * turns
        self.price = min(self.price + self.price // 10, 8 * UNIT)
