"""Constraints that phases of a division put on each other while they are planned: wires to avoid, barriers and whom they join.

A `Constraints` is immutable: where two phases collide, `phase_set` makes a new `Constraints` and plans a phase again
under it. Phases are named by their index.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from pointsman.plan.conflicts.freed_links import Freed
from pointsman.plan.conflicts.link_slots import Link
from pointsman.plan.continuing.routes import ContinuingRoutes
from pointsman.routing.streams import Stream

Spans = list[frozenset[int]]
"""Sets of nodes that words of a phase can join."""


@dataclass(frozen=True, eq=False)
class Constraints:
    """By phase, links and slots to leave alone, nodes that its barrier joins, and why it needs a barrier."""

    standing: ContinuingRoutes = field(default_factory=ContinuingRoutes)
    """Routes of operators that continue through phases."""
    reasons: Mapping[int, str] = field(default_factory=dict)
    """By phase, why it needs a barrier though it could end by messages."""
    taken: Mapping[int, Mapping[int, frozenset[Link]]] = field(default_factory=dict)
    """By phase and other phase, links and slots of the other that the phase has to leave alone."""
    freed: Mapping[int, Freed] = field(default_factory=dict)
    """By phase, which links and slots of ``taken`` some of its operators may use all the same."""
    joined: Mapping[int, Mapping[int, Spans | None]] = field(default_factory=dict)
    """By phase and later phase whose wires collide with it: sets of nodes that words of the later can join, each of
    which has to be in a barrier of the earlier; None if others come between, so that any barrier will do."""

    outside: Mapping[int, frozenset[Link]] = field(default_factory=dict)
    """By phase whose words must stay among the nodes of its operators, links and slots that lead out of them."""

    def off(self, phase: int) -> frozenset[Link]:
        """All links and slots that a phase has to leave alone."""
        continued = self.standing.continued.get(phase, frozenset())
        return continued.union(self.outside.get(phase, ()), *self.taken.get(phase, {}).values())

    def keeping_in(self, phase: int, links: frozenset[Link]) -> Constraints:
        """With links and slots that lead out of the nodes of the operators of ``phase``."""
        return replace(self, outside={**self.outside, phase: links})

    def freed_streams(self, phase: int, streams: Iterable[Stream]) -> tuple[tuple[str, frozenset[Link]], ...]:
        """By name of a stream of a phase, links and slots that it may use though the phase has to leave them alone."""
        by_source = self.freed.get(phase, {})
        named = ((stream.name, (stream.name.split("[")[0], stream.source)) for stream in streams)
        return tuple((name, by_source[key]) for name, key in named if key in by_source)

    def taking(self, phase: int, taken: Mapping[int, frozenset[Link]], freed: Freed | None = None) -> Constraints:
        """With links and slots, by the phase that uses them, for ``phase`` to leave alone; ``freed`` None: unchanged."""
        now = replace(self, taken={**self.taken, phase: taken})
        return now if freed is None else replace(now, freed={**self.freed, phase: freed})

    def free(self, phase: int) -> Constraints:
        """With nothing for ``phase`` to leave alone but the links and slots of continuing operators, and links that lead
        out of its nodes."""
        return replace(self, taken={p: taken for p, taken in self.taken.items() if p != phase})

    def joining(self, earlier: int, later: int, spans: Spans | None) -> Constraints:
        """With the sets of nodes that the barrier of ``earlier`` has to join because of ``later``."""
        return replace(self, joined={**self.joined, earlier: {**self.joined.get(earlier, {}), later: spans}})

    def parting(self, earlier: int, later: int) -> Constraints:
        """With no nodes for the barrier of ``earlier`` to join because of ``later``, which keeps off its wires instead."""
        spans = {p: spans for p, spans in self.joined.get(earlier, {}).items() if p != later}
        return replace(self, joined={**self.joined, earlier: spans})

    def closing(self, phase: int, reason: str) -> Constraints:
        """With a reason for a barrier at the end of ``phase``, unless it has a reason already."""
        return replace(self, reasons={phase: reason, **self.reasons})
