"""An attempt to place all chains of a part: words and chains of each demand, a number of slots -> chains without conflict.

The negotiation itself is in ``rip_up``; this module makes its arrays and reads its answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from .arrays import PartArrays, count_in, nothing_used
from .placement import Placed
from .problem import NodeLimits, RoutingPart
from .rip_up import negotiate, unbegun


@dataclass
class Budget:
    """Work that may be spent, counted in prices looked up, so that it is the same on every machine."""

    left: float
    whole: Budget | None = None
    """Budget of which this is a share; work is taken from both."""

    def spend(self, work: float) -> None:
        self.left -= work
        if self.whole is not None:
            self.whole.spend(work)

    @property
    def most(self) -> float:
        """Work that may be spent now, here and in ``whole``."""
        return self.left if self.whole is None else min(self.left, self.whole.most)

    @property
    def empty(self) -> bool:
        return self.left <= 0 or (self.whole is not None and self.whole.empty)

    def share(self, part: float) -> Budget:
        """A share: a budget of ``part`` (0 to 1) times the work left."""
        return Budget(self.left * part, self)


@dataclass(frozen=True)
class RoutingTask:
    """Chains to be placed: ``words`` per ``slots`` slots and number of ``chains``, for each demand of the part.

    ``reserve``: keep slots for the reprogramming VFSM.
    """

    part: RoutingPart
    slots: int
    words: tuple[int, ...]
    chains: tuple[int, ...]
    reserve: bool


@dataclass
class AttemptOutcome:
    """``placed``: all chains without conflict; None: failed, ``contested`` demands and ``nodes`` stayed in conflict. ``final``:
    more rounds, patience or budget would come to the same."""

    placed: Placed | None
    contested: list[int] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    final: bool = False


@lru_cache(maxsize=1024)
def _noise(seed: int, count: int) -> np.ndarray:
    return np.random.PCG64(seed).random_raw(count)


class Negotiation:
    """An attempt at a task. ``totals``: least VFSM slots of a word of each demand (`necessary.Loads`); those that need most are
    routed first."""

    def __init__(
        self, task: RoutingTask, totals: np.ndarray, limits: NodeLimits, tables: PartArrays, seed: int
    ) -> None:
        self.task, self.totals, self.limits, self.tables, self.seed = task, totals, limits, tables, seed
        self.part = task.part
        self.chains = tables.chains(task.words, task.chains)
        self.kept = np.zeros(len(self.chains.demand), np.bool_)
        """Chains that begin with a route."""
        self.use = nothing_used(self.part, limits, task.slots)
        count_in(self.part.fixed, self.use, limits.pipelines, task.slots)
        self.queue = np.zeros(0, np.int64)
        self.stand = unbegun()

    def keep(self, placed: Placed) -> bool:
        """Begin with the routes of demands whose words are unchanged; False if there are none, or if slots do not divide."""
        if self.task.slots % placed.slots == 0:
            self.kept = placed.write(self.chains, self.task.slots)
        return bool(self.kept.any())

    def run(self, rounds: int, patience: int, budget: Budget) -> AttemptOutcome:
        """Negotiate for at most ``rounds``; give up after ``patience`` rounds without fewer conflicts. Called again after an
        outcome that is not final, it goes on from there, and comes to what it would have come to at once."""
        if not len(self.queue):
            queue = self._longest_first()
            # Chains with a route come last: they are routed again only if in conflict.
            self.queue = queue[np.argsort(self.kept[queue], kind="stable")]
        queue, use = self.queue, self.use
        left, work, final = negotiate(
            rounds,
            patience,
            float(budget.most),
            self.limits.pipelines,
            self.limits.vfsms - 2,
            self.task.reserve,
            self.limits.phase_change,
            self.seed,
            self.tables.blocked(self.part, self.task.slots),
            self.tables.demands,
            self.chains,
            use,
            queue,
            int((~self.kept).sum()),
            self.stand,
        )
        budget.spend(work)
        if not left:
            return self._settled()
        contested = sorted({int(self.chains.demand[chain]) for chain in queue[: max(1, left)]})
        if left < 0:
            return AttemptOutcome(None, contested, final=final)
        over = (use.cells > 1).any(1) | (use.numbers > self.limits.vfsms - 2)
        over |= ((use.writers * np.roll(use.readers_met, -1, axis=2)).sum(0) > 0).any(1)
        nodes = sorted({int(place) // self.limits.pipelines for place in np.nonzero(over)[0]})
        return AttemptOutcome(None, contested, nodes, final)

    def _longest_first(self) -> np.ndarray:
        total = self.totals[self.chains.demand]
        return np.lexsort((_noise(self.seed, len(total)), -total)).astype(np.int64)

    def _settled(self) -> AttemptOutcome:
        """The placed chains, or a failed outcome if a node has too few interface registers for them."""
        placed = Placed.of(self.part, self.task.slots, self.chains)
        over = placed.registers_over(self.tables.demands.anywhere, self.tables.demands.joins, self.limits)
        if over:
            return AttemptOutcome(None, sorted({int(demand) for demand in self.chains.demand}), over, final=True)
        return AttemptOutcome(placed, final=True)
