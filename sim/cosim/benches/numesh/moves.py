"""Coverage of moves of words by VFSMs, for a pipeline or a whole node.

A move is a word in the write stage. Its *source* is that of its VFSM's annotation, also when the word came from the buffer;
"fork" is a separate kind of source.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from cosim.benches.coverage import Coverage
from cosim.benches.numesh.models.places import KINDS, kind_of
from numesh.codes import Annotation, Codes, MoveType

SOURCES = ("link", "fork", *KINDS[1:])
DESTINATIONS = KINDS
OUTCOMES = ("accepted", "refused")
ORIGINS = ("buffer empty", "buffer full")
"""Whether the word was taken from the source or had waited in the VFSM's own buffer."""

GIVING = ("link", "fork", "register", "buffer", "NULL")
"""Sources from which a word can come."""
ALL_TAKING = ("NULL", "MEMADR")
NONE_TAKING = ("NOP", "special", "invalid")

MOVES = "source > destination, outcome, buffer"
TYPES = "type > destination, outcome, buffer"
TAKES = "type < source"
LINKS = "link > link, outcome, buffer"


@dataclass(frozen=True)
class Goal:
    """A move that has not been seen yet. None: any."""

    source: str | None
    destination: str
    type: MoveType | None
    from_buffer: bool


def source_kind(codes: Codes, annotation: Annotation) -> str:
    """Which of ``SOURCES`` an annotation reads."""
    kind = kind_of(codes, annotation.source)
    return "fork" if kind == "link" and annotation.type == MoveType.FORK else kind


class MoveCoverage:
    """Groups of bins on moves, and the way to hit them."""

    def __init__(self, coverage: Coverage, codes: Codes) -> None:
        self.coverage = coverage
        self.codes = codes
        self._goals: dict[str, dict[str, Goal]] = {MOVES: {}, TYPES: {}}
        moves: dict[str, str] = {}
        for source, destination, outcome, origin in product(SOURCES, DESTINATIONS, OUTCOMES, ORIGINS):
            name = _move(source, destination, outcome, origin)
            moves[name] = _why_never(source, destination, outcome, origin)
            self._goals[MOVES][name] = Goal(source, destination, None, origin == ORIGINS[1])
        coverage.group(MOVES, moves, {name: why for name, why in moves.items() if why})
        types = []
        for kind, destination, outcome, origin in product(MoveType, KINDS[:3], OUTCOMES, ORIGINS):
            types.append(_move(kind.name, destination, outcome, origin))
            self._goals[TYPES][types[-1]] = Goal(None, destination, kind, origin == ORIGINS[1])
        overwrites = "a BLIND move overwrites the word in its pipeline's place of the register"
        coverage.group(TYPES, types, {f"BLIND > register, refused, {origin}": overwrites for origin in ORIGINS})
        links = range(codes.shape.neighbours)
        coverage.group(LINKS, [_link_move(*which) for which in product(links, links, OUTCOMES, ORIGINS)])
        coverage.group(TAKES, [f"{kind.name} < {place}" for kind, place in product(MoveType, KINDS[:4])])

    def goals(self) -> list[Goal]:
        """Moves whose bins are still empty."""
        return [self._goals[group][name] for group in (MOVES, TYPES) for name in self.coverage.groups[group].missing]

    def written(self, annotation: Annotation, *, ok: bool, from_buffer: bool) -> None:
        """A word was in the write stage."""
        source = source_kind(self.codes, annotation)
        destination = kind_of(self.codes, annotation.destination)
        outcome, origin = OUTCOMES[not ok], ORIGINS[from_buffer]
        self.coverage.hit(MOVES, _move(source, destination, outcome, origin))
        if source == destination == "link":
            self.coverage.hit(LINKS, _link_move(annotation.source, annotation.destination, outcome, origin))
        if destination in KINDS[:3]:
            self.coverage.hit(TYPES, _move(annotation.type.name, destination, outcome, origin))

    def taken(self, annotation: Annotation) -> None:
        """A word was taken from its source."""
        self.coverage.hit(TAKES, f"{annotation.type.name} < {kind_of(self.codes, annotation.source)}")


def _move(source: str, destination: str, outcome: str, origin: str) -> str:
    return f"{source} > {destination}, {outcome}, {origin}"


def _link_move(source: int, destination: int, outcome: str, origin: str) -> str:
    return f"{source} > {destination}, {outcome}, {origin}"


def _why_never(source: str, destination: str, outcome: str, origin: str) -> str:
    if destination in ALL_TAKING and outcome == "refused":
        return f"{' and '.join(ALL_TAKING)} take every word"
    if destination in NONE_TAKING and outcome == "accepted":
        return f"{', '.join(NONE_TAKING)} take no word"
    if source not in GIVING and origin == "buffer empty":
        return f"{', '.join(s for s in SOURCES if s not in GIVING)} give no word"
    return ""
