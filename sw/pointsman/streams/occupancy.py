"""Who uses what in a part: VFSM slots, wires, interface accesses, VFSM numbers; and what using it costs.

Costs are whole numbers held in float64, so every sum is exact and results do not depend on the machine. The cost of a
resource is ``UNIT`` plus a history of past conflicts plus a present price for every other user (negotiated congestion,
McMurchie and Ebeling 1995).
"""

from __future__ import annotations

import numpy as np

from .problem import Demand, Part
from .route import Chain, Footprint, Route

UNIT = 16.0
"""Cost of a free resource."""
NEVER = float(1 << 40)
"""Cost of what may not be used at all."""


class Noise:
    """Small random whole numbers that break ties, from a generator whose stream is fixed for ever."""

    def __init__(self, seed: int) -> None:
        self._bits = np.random.PCG64(seed)

    def numbers(self, count: int, below: int) -> np.ndarray:
        """``count`` numbers 0..below-1."""
        return (self._bits.random_raw(count) >> np.uint64(11)) % np.uint64(below)

    def order(self, count: int) -> list[int]:
        """A permutation of 0..count-1."""
        return np.argsort(self._bits.random_raw(count), kind="stable").tolist()


class Occupancy:
    """Use of one part over ``slots`` slots, counted, with the costs that follow from it.

    ``reserve``: every node in use needs a slot for the reprogramming VFSM in pipeline 0; ``rewritten`` chains ask for
    one in each pipeline that they use. ``held`` is that slot by (node, pipeline), -1 where there is none.
    """

    def __init__(
        self, part: Part, pipelines: int, slots: int, vfsms: int, *, reserve: bool, phase_change: bool
    ) -> None:
        self.part, self.pipelines, self.slots, self.vfsms = part, pipelines, slots, vfsms
        self.reserve, self.phase_change = reserve, phase_change
        shape = (part.nodes, pipelines, slots)
        wires = max(part.wires, default=-1) + 1
        self.use = np.zeros(shape)
        self.wire = np.zeros((wires, slots))
        self.readers = np.zeros((len(part.conditions), *shape))
        self.writers = np.zeros((len(part.conditions), *shape))
        self.numbers = np.zeros((part.nodes, pipelines))
        self.rewriting = np.zeros((part.nodes, pipelines))
        self.held = np.full((part.nodes, pipelines), -1)
        self.use_history = np.zeros(shape)
        self.wire_history = np.zeros((wires, slots))
        self.turn_history = np.zeros(shape)
        """History of a delivery in this slot with an injection in the next."""
        self.blocked = np.zeros((len(part.links), slots), bool)
        for link, slot in part.blocked:
            self.blocked[link, slot % slots] = True
        self.price = UNIT
        self._footprints: dict[Route, Footprint] = {}

    def footprint(self, route: Route) -> Footprint:
        found = self._footprints.get(route)
        if found is None:
            if len(self._footprints) > 4096:
                self._footprints.clear()
            found = self._footprints[route] = Footprint(self.part, route, self.pipelines, self.slots)
        return found

    def add(self, chain: Chain, sign: int = 1) -> None:
        """Count the resources of ``chain`` in, or with ``sign`` -1 out."""
        mark = self.footprint(chain.route)
        demand = chain.route.demand
        starts = list(chain.starts)
        np.add.at(self.use.reshape(-1), mark.cells[starts], sign)
        np.add.at(self.wire.reshape(-1), mark.wires[starts], sign)
        np.add.at(self.readers[demand.reads].reshape(-1), mark.reads[starts], sign)
        np.add.at(self.writers[demand.delivers].reshape(-1), mark.delivers[starts], sign)
        np.add.at(self.numbers.reshape(-1), mark.counts, sign)
        if demand.rewritten:
            np.add.at(self.rewriting.reshape(-1), mark.counts, sign)

    # Costs ------------------------------------------------------------------------------------------------------

    def vfsm_cost(self, nodes: np.ndarray) -> np.ndarray:
        """Cost of a VFSM by (node, pipeline, slot) at ``nodes``."""
        crowd = np.maximum(self.numbers[nodes] - (self.vfsms - 3), 0) * self.price
        return UNIT + self.use_history[nodes] + self.price * self.use[nodes] + crowd[:, :, None]

    def wire_cost(self, links: np.ndarray, wires: np.ndarray) -> np.ndarray:
        """Cost of a write by (link, slot)."""
        return self.wire_history[wires] + self.price * self.wire[wires] + NEVER * self.blocked[links]

    def inject_cost(self, demand: Demand, nodes: np.ndarray) -> np.ndarray:
        """Cost of reading the interface in a slot: deliveries in the slot before."""
        before = sum(self.writers[c][nodes] for c in self.part.clashes[demand.reads])
        return np.roll(self.turn_history[nodes] * (before > 0) + self.price * before, 1, axis=-1)

    def deliver_cost(self, demand: Demand, nodes: np.ndarray) -> np.ndarray:
        """Cost of writing the interface in a slot: injections in the slot after."""
        after = sum(self.readers[c][nodes] for c in self.part.clashes[demand.delivers])
        after = np.roll(after, -1, axis=-1)
        return self.turn_history[nodes] * (after > 0) + self.price * after

    def starts_cost(self, route: Route) -> np.ndarray:
        """Cost of a word of ``route`` by its start slot."""
        mark = self.footprint(route)
        demand = route.demand
        crowd = np.maximum(self.numbers - (self.vfsms - 3), 0) * self.price
        cost = (
            UNIT * len(route.cells)
            + crowd.reshape(-1)[mark.counts].sum()
            + (self.use_history + self.price * self.use).reshape(-1)[mark.cells].sum(1)
            + (self.wire_history + self.price * self.wire).reshape(-1)[mark.wires].sum(1)
            + NEVER * self.blocked.reshape(-1)[mark.links].sum(1)
        )
        for turns, met, condition, table in (
            (mark.before_reads, mark.before_reads, demand.reads, self.writers),
            (mark.delivers, mark.after_delivers, demand.delivers, self.readers),
        ):
            count = sum(table[c].reshape(-1)[met] for c in self.part.clashes[condition])
            history = self.turn_history.reshape(-1)[turns]
            cost = cost + (self.price * count + history * (count > 0)).sum(1)
        return cost

    # The reprogramming VFSM ---------------------------------------------------------------------------------------

    def needs_held(self) -> np.ndarray:
        """(node, pipeline) that must keep a slot for the reprogramming VFSM."""
        need = self.rewriting > 0
        if self.phase_change:
            need = need.copy()
            need[:, 0] |= self.numbers.any(1)
        return need

    def hold(self) -> None:
        """Put every reprogramming VFSM that is needed where it costs least."""
        if not self.reserve:
            return
        self.release()
        writers = np.roll(self.writers.sum(0), 1, axis=-1)
        cost = (
            self.use_history
            + self.price * self.use
            + self.price * writers
            + np.roll(self.turn_history, 1, axis=-1) * (writers > 0)
        )
        self.held = np.where(self.needs_held(), cost.argmin(-1), -1)
        self._count_held(1)

    def release(self) -> None:
        """Take all reprogramming VFSMs out."""
        self._count_held(-1)
        self.held[:] = -1

    def _count_held(self, sign: int) -> None:
        nodes, pipelines = np.nonzero(self.held >= 0)
        slots = self.held[nodes, pipelines]
        self.use[nodes, pipelines, slots] += sign
        self.readers[0][nodes, pipelines, slots] += sign

    # Conflicts ----------------------------------------------------------------------------------------------------

    def conflicts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Users too many by (node, pipeline, slot), by (wire, slot); deliveries before an injection by (node,
        pipeline, slot of the delivery); VFSM numbers too many by (node, pipeline)."""
        turns = np.zeros_like(self.use)
        for first, others in enumerate(self.part.clashes):
            after = sum(self.readers[c] for c in others)
            turns += self.writers[first] * np.roll(after, -1, axis=-1)
        return (
            np.maximum(self.use - 1, 0),
            np.maximum(self.wire - 1, 0),
            turns,
            np.maximum(self.numbers - (self.vfsms - 2), 0),
        )

    def in_conflict(self, chain: Chain, conflicts: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]) -> bool:
        """Whether ``chain`` takes part in one of ``conflicts``."""
        use, wire, turns, numbers = conflicts
        mark = self.footprint(chain.route)
        starts = list(chain.starts)
        return bool(
            use.reshape(-1)[mark.cells[starts]].any()
            or wire.reshape(-1)[mark.wires[starts]].any()
            or turns.reshape(-1)[mark.delivers[starts]].any()
            or turns.reshape(-1)[mark.before_reads[starts]].any()
            or numbers.reshape(-1)[mark.counts].any()
            or self.blocked.reshape(-1)[mark.links[starts]].any()
        )

    def learn(self, conflicts: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], rate: float) -> None:
        """Raise the history of what is in conflict."""
        use, wire, turns, _ = conflicts
        self.use_history += rate * use
        self.wire_history += rate * wire
        self.turn_history += rate * turns


def best_starts(cost: np.ndarray, words: int, gap: int) -> tuple[int, ...] | None:
    """``words`` starts of least total cost that keep ``gap`` round the period; None if there are none.

    Either no start lies below ``gap`` - 1, or the first one does: each case is a choice on a line. O(slots × words ×
    gap).
    """
    slots = len(cost)
    if words * gap > slots:
        return None
    if words == 1:
        return (int(cost.argmin()),)
    total, starts = _on_a_line(cost[gap - 1 :], words, gap)
    best = total, tuple(start + gap - 1 for start in starts)
    for first in range(gap - 1):
        total, starts = _on_a_line(cost[first + gap : first + slots - gap + 1], words - 1, gap)
        if total + cost[first] < best[0]:
            best = total + cost[first], (first, *(start + first + gap for start in starts))
    return best[1] if best[0] < np.inf else None


def _on_a_line(cost: np.ndarray, words: int, gap: int) -> tuple[float, tuple[int, ...]]:
    """The same without the wrap: (total, starts), the total infinite where it cannot be done."""
    slots = len(cost)
    if (words - 1) * gap >= slots:
        return np.inf, ()
    chosen = []
    least = np.zeros(slots)
    for word in range(words):
        taking = cost.copy() if word == 0 else np.full(slots, np.inf)
        if word:
            taking[gap:] = cost[gap:] + least[:-gap]
        chosen.append(taking)
        least = np.minimum.accumulate(taking)
    starts = []
    end = slots
    for taking in reversed(chosen):
        starts.append(int(taking[:end].argmin()))
        end = starts[-1] - gap + 1
    return float(least[-1]), tuple(reversed(starts))
