"""State of a node on its way through the sampled program, as far as later cycles depend on it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from pointsman.plan.plan import Plan
from pointsman.protocol.costs import can_rewrite, rewrites_soon
from pointsman.protocol.phase_change import LOADER
from pointsman.protocol.scheduling import Moves

from ..board import BoardNumbers, Row
from ..memories import PlannedMemories

Changed = dict[int, Row]
"""By number of a VFSM, the row that it is to have on the board."""
Passages = Mapping[tuple[int, int], tuple[int, ...]]
"""By (phase left, phase entered), the phases that a node goes through in between."""


class ProcessorState:
    """A node and its router, for `pointsman.protocol.phase_change.RouterState`. ``command_words``: words of a command to it."""

    def __init__(
        self,
        node: int,
        plan: Plan,
        network: BoardNumbers,
        memories: PlannedMemories,
        passages: Passages,
        command_words: int,
    ) -> None:
        self.node = node
        self.plan, self.network, self.memories = plan, network, memories
        self.command_words = command_words
        self.passages = passages
        self.chunks: list[int] = []
        self.current = LOADER
        self.unused = False
        self.standing: Changed = {}
        """VFSMs that were rewritten, with their present rows; all others are as in the first role that rewrites them."""
        self.value: dict[int, int] = {}
        """By operator, the index of the run-time value that was loaded last."""
        self.moves: dict[int, Moves] = {}
        """By operator that is scheduled at run time, who sends to whom in the schedule that was made last."""
        self.gates: dict[int, int] = {}
        """By operator, the number of calls so far that went through a gate."""
        self.weight = 1.0

    def way(self, left: int, entered: int) -> tuple[int, ...] | None:
        return self.passages.get((left, entered))

    def holds(self, phase: int) -> bool:
        return self.memories.marks(self.node).holds(phase)

    def can_rewrite(self, rewrites: Changed) -> bool:
        return self.current < 0 or can_rewrite(self.commands(rewrites).keys(), self._slots())

    def soon(self, rewrites: Changed) -> bool:
        return self.current < 0 or rewrites_soon(self.commands(rewrites), self._slots(), self.plan.period)

    def settling(self, left: int) -> Collection[int]:
        return self.memories.settles(self.node, left)

    def passes_messages(self, phase: int) -> bool:
        return self.plan.phases[phase].online is not None

    def commands(self, changed: Iterable[int]) -> dict[int, int]:
        """By pipeline, the number of command words that rewrite these VFSMs."""
        words: dict[int, int] = defaultdict(int)
        for vfsm in changed:
            words[self.network.pipeline(vfsm)] += self.command_words
        return words

    def _slots(self) -> list[int]:
        """By pipeline, the number of slots of the running phase in which commands are carried out."""
        return self.network.n_command_slots[self.current][self.node]
