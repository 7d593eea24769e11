"""What each kind of operator means, written once more for the judge alone (Metcalf 1997, A.1 and appendix B).

Takes an operator of the program, an instance of it, and run-time values; says for each position of the instance which
functions it calls in a round, and which messages these give. Nothing here is shared with the compiler or with the reference
machine, which is what tests compare it with.

A *round* is what makes the operator begin again: a call of each function, or of ``label_write`` for each destination of a spread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from pointsman.program.program import Operator, Runtime

Function = Literal["write", "read", "func"]


@dataclass(frozen=True)
class Fold:
    """The messages of the positions with these ranks (`Definition.ranks`), combined in order: number ``call`` of the ``each``
    that they send in a round."""

    first: int
    last: int
    call: int = 0
    each: int = 1


@dataclass(frozen=True)
class Anyone:
    """The message of whichever position writes; one at a time does."""


@dataclass(frozen=True)
class Zeros:
    """Words that nobody sends, which are 0."""


@dataclass(frozen=True)
class Nothing:
    """No message; the function gives None."""


@dataclass(frozen=True)
class Meeting:
    """No message, but nobody gets on before every position has called the function."""


Gives = Fold | Anyone | Zeros | Nothing | Meeting


@dataclass(frozen=True)
class Call:
    """A call of a function, and what it gives."""

    function: Function
    gives: Gives


@dataclass(frozen=True)
class Definition:
    """An operator's meaning in one instance, for run-time values.

    Parameters
    ----------
    operator : Operator
        The operator of the program.
    instance : int
        Index of the instance.
    numbers : tuple of int
        Values of the nodes and distances that are given at run time, in order.
    """

    operator: Operator
    instance: int
    numbers: tuple[int, ...] = ()

    @property
    def nodes(self) -> tuple[int, ...]:
        """Nodes of the instance by position."""
        return self.operator.instances[self.instance].nodes

    @cached_property
    def size(self) -> int:
        """Nodes of the instance."""
        return len(self.operator.instances[self.instance].nodes)

    @cached_property
    def members(self) -> tuple[int, ...]:
        """Positions that have a message of their own (``:valid``), in order."""
        valid = range(self.size) if self.operator.valid is None else set(self.operator.valid)
        return tuple(k for k in range(self.size) if k in valid)

    @cached_property
    def ranks(self) -> dict[int, int]:
        """By position the name of its messages. Where messages are combined: members in order, the others behind them; else the
        node, which may write in one instance and read in another."""
        if self.operator.flow == "directional":
            return dict(enumerate(self.nodes))
        rest = [k for k in range(self.size) if k not in set(self.members)]
        return {k: rank for rank, k in enumerate((*self.members, *rest))}

    def number(self, name: str) -> int:
        """Value of a node or distance, known at compile time or not."""
        value = self.operator.instances[self.instance].operand(name)
        if isinstance(value, Runtime):
            return self.numbers[self.operator.chosen.index(name)]
        assert isinstance(value, int)
        return value

    @property
    def calling(self) -> Sequence[int]:
        """Positions that may have `calls`: the ends of a stream, whose instance may name a whole mesh; else all."""
        if self.operator.kind == "stream":
            return sorted({self.number("source"), self.number("destination")})
        return range(self.size)

    def writes(self, position: int) -> int:
        """Messages that a position sends in a round."""
        match self.operator.kind:
            case "spread" | "seqwrite" if position == self.number("source"):
                return len(self._chain)
            case "broadcast" | "stream" if position == self.number("source"):
                return 1
            case "gather" | "seqread":
                return int(position in self._chain)
            case "collect":
                return int(position in self.members)
            case _:
                return 0

    def one_end(self, position: int) -> frozenset[Function]:
        """What the one end from which all messages go out, or at which all arrive, may call though there may be no message."""
        kind, found = self.operator.kind, set[Function]()
        if kind in ("spread", "seqwrite", "broadcast", "stream") and position == self.number("source"):
            found.add("write")
        if kind in ("gather", "seqread", "collect", "stream") and position == self.number("destination"):
            found.add("read")
        return frozenset(found)

    def calls(self, position: int) -> list[Call]:
        """What a position calls in a round, and what it gets."""
        if self.operator.kind in ("reduce", "allreduce", "prefix", "barrier", "cshift", "eoshift", "permute"):
            return [Call("func", self._functional(position))]
        there = position in self.members
        own = [Call("write", Nothing())] * (self.writes(position) if there else self._in_vain(position))
        reads = [Call("read", gives) for gives in self._reads(position)]
        if self.operator.kind == "collect" and reads and there:
            # Members write in turn, each when the message of the one before has been read.
            before = self.members.index(position)
            return [*reads[:before], *own, *reads[before:]]
        return own + reads

    def _in_vain(self, position: int) -> int:
        """Calls of write in a round by a position that takes no part (``:valid``): its messages go nowhere."""
        if self.operator.overlaps:
            return 0  # it may take part in another instance
        match self.operator.kind:
            case "broadcast" | "stream" | "spread" | "seqwrite":
                return int(position == self.number("source"))
            case "gather" | "collect":
                return int(position != self.number("destination"))
            case _:
                return int(position in self._named)

    @cached_property
    def _named(self) -> tuple[int, ...]:
        """The many ends of a sequence as the program names them, whether or not they take part."""
        name = "sources" if self.operator.kind == "seqread" else "destinations"
        named = self.operator.instances[self.instance].operand(name)
        assert isinstance(named, tuple)
        return named

    @cached_property
    def _chain(self) -> list[int]:
        """The many ends of an operator with one end, in order."""
        match self.operator.kind:
            case "spread":
                return [k for k in self.members if k != self.number("source")]
            case "gather":
                return [k for k in self.members if k != self.number("destination")]
            case "seqread" | "seqwrite":
                return [k for k in self._named if k in self.members]
            case _:
                return []

    def _reads(self, position: int) -> list[Gives]:
        kind, source = self.operator.kind, None
        if kind in ("broadcast", "spread", "stream", "seqwrite"):
            source = self.number("source")
            sent = source in self.members
        match kind:
            case "broadcast" if position != source and sent:
                return [self._of(source) if position in self.members else Nothing()]
            case "stream" if position == self.number("destination") and sent:
                return [self._of(source) if position in self.members else Nothing()]
            case "spread" | "seqwrite" if sent and position not in self.members:
                reads = position != source if kind == "spread" else position in self._named
                return [Nothing()] if reads and not self.operator.overlaps else []
            case "spread" | "seqwrite" if sent:
                return [self._of(source, k) for k, other in enumerate(self._chain) if other == position]
            case "gather" | "seqread" if position == self.number("destination"):
                there = position in self.members
                return [self._of(k) if there else Nothing() for k in self._chain]
            case "collect" if position == self.number("destination"):
                return [Anyone() if position in self.members else Nothing()] * len(self.members)
            case _:
                return []

    def _of(self, position: int | None, call: int = 0) -> Fold:
        assert position is not None
        rank = self.ranks[position]
        return Fold(rank, rank, call, max(1, self.writes(position)))

    def _functional(self, position: int) -> Gives:
        kind, there = self.operator.kind, position in self.members
        if kind == "barrier":
            return Meeting()
        if not there or (kind == "reduce" and position != self.number("destination")):
            return Nothing()
        if kind in ("reduce", "allreduce"):
            return Fold(0, len(self.members) - 1)
        if kind == "prefix":
            return Fold(0, self.ranks[position])
        origin = self.origin(position)
        if not 0 <= origin < self.size:
            return Zeros()
        return self._of(origin) if origin in self.members else Nothing()

    def origin(self, position: int) -> int:
        """Position whose message a shift or a permutation brings."""
        if self.operator.kind == "permute":
            permutation = self.operator.instances[self.instance].operand("permutation")
            assert isinstance(permutation, tuple)
            return permutation.index(position)
        origin = position - self.number("distance")
        return origin % self.size if self.operator.kind == "cshift" else origin
