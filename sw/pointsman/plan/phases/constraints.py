"""What the phases of a division have to regard of each other while they are planned.

A `Constraints` is never changed: who finds that two phases collide makes a new one, plans a phase again under it, and gives both
back (`phase_set`). Phases are told by their numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from pointsman.plan.conflicts.freed_links import Freed
from pointsman.plan.conflicts.link_slots import Link
from pointsman.plan.continuing.routes import ContinuingRoutes
from pointsman.routing.streams import Stream

Spans = list[set[int]]
"""Sets of nodes that words of a phase can join."""


@dataclass(frozen=True, eq=False)
class Constraints:
    """What each phase has to leave alone, whom its barrier joins, and why it needs one."""

    standing: ContinuingRoutes = field(default_factory=ContinuingRoutes)
    """What continues through phases."""
    reasons: Mapping[int, str] = field(default_factory=dict)
    """By phase, why it needs a barrier though it could end by messages."""
    taken: Mapping[int, Mapping[int, frozenset[Link]]] = field(default_factory=dict)
    """By phase and other phase, links and slots of the other that the phase has to leave alone."""
    freed: Mapping[int, Freed] = field(default_factory=dict)
    """By phase, which of these some of its operators may use all the same."""
    joined: Mapping[int, Mapping[int, Spans | None]] = field(default_factory=dict)
    """By phase and later phase whose wires collide with its own: which nodes hang together in the later one, so that the barrier
    of the earlier one has to join them; None if others come between, so that any barrier will do."""

    def off(self, phase: int) -> frozenset[Link]:
        """All links and slots that a phase has to leave alone."""
        continued = self.standing.continued.get(phase, frozenset())
        return continued.union(*self.taken.get(phase, {}).values())

    def freed_streams(self, phase: int, streams: Iterable[Stream]) -> tuple[tuple[str, frozenset[Link]], ...]:
        """By name of a stream of a phase, links and slots that it may use though the phase has to leave them alone."""
        by_source = self.freed.get(phase, {})
        named = ((stream.name, (stream.name.split("[")[0], stream.source)) for stream in streams)
        return tuple((name, by_source[key]) for name, key in named if key in by_source)

    def taking(self, phase: int, taken: Mapping[int, frozenset[Link]], freed: Freed | None = None) -> Constraints:
        """With what a phase has to leave alone, by the phase whose links and slots they are; ``freed`` None: as it is."""
        now = replace(self, taken={**self.taken, phase: taken})
        return now if freed is None else replace(now, freed={**self.freed, phase: freed})

    def free(self, phase: int) -> Constraints:
        """As if a phase had nothing of others to leave alone, but for what continues."""
        return replace(self, taken={p: taken for p, taken in self.taken.items() if p != phase})

    def joining(self, earlier: int, later: int, spans: Spans | None) -> Constraints:
        """With the nodes that the barrier of a phase has to join because of a later one."""
        return replace(self, joined={**self.joined, earlier: {**self.joined.get(earlier, {}), later: spans}})

    def parting(self, earlier: int, later: int) -> Constraints:
        """With a barrier that joins nobody because of a later phase, which keeps off its wires instead."""
        spans = {p: spans for p, spans in self.joined.get(earlier, {}).items() if p != later}
        return replace(self, joined={**self.joined, earlier: spans})

    def closing(self, phase: int, reason: str) -> Constraints:
        """With a reason for a barrier at the end of a phase, unless it has one."""
        return replace(self, reasons={phase: reason, **self.reasons})
