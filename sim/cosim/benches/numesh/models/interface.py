"""Model of the interface registers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from numesh.shape import NodeShape


@dataclass
class Cycle:
    """What there was at the start of a cycle, and what happened in it."""

    full: list[list[bool]]
    """Places by writer, the processor first, and register."""
    writes: int | None = None
    """Register to which the processor writes."""
    reads: int | None = None
    emptied: set[int] = field(default_factory=set)
    """Registers of which a pipeline took a word."""
    found: set[int] = field(default_factory=set)
    puts: set[tuple[int, int]] = field(default_factory=set)
    """Pipelines that put a word into registers."""


class InterfaceModel:
    """Registers with a place for each writer.

    A cycle is looked at from two cycles later: what a pipeline finds follows from the places as they were then, and what the
    processor has done since.
    """

    def __init__(self, shape: NodeShape) -> None:
        self.shape = shape
        self.words: list[list[int | None]] = [[None] * shape.registers for _ in range(1 + shape.pipelines)]
        self.full = self._empty()
        self.read_data: int | None = None
        """Undefined until the first read after a reset, and after a read of a register that was never written."""
        self.numbers = [dict.fromkeys(self._names(), 0) for _ in range(3)]
        """Registers that the pipelines ask for in this cycle, the next, and the one after."""
        self.before = Cycle(self._empty())
        self.found: list[int | None] = [None] * shape.pipelines
        """Place in which each pipeline finds a word in this cycle."""
        self.caught: list[int | None] = [0] * shape.pipelines
        """Word of a place of a pipeline, 0 if it is another's, None if it is not known."""
        self.keeps = [False] * shape.pipelines
        self.named = [False] * shape.pipelines
        """A register was named in the cycle before by each pipeline."""
        self.age = 0
        """Cycles since power-up, until registers are known that were named before."""

    def _empty(self) -> list[list[bool]]:
        return [[False] * self.shape.registers for _ in range(1 + self.shape.pipelines)]

    def _names(self) -> list[str]:
        return [f"{side}_{p}" for side in ("read", "write") for p in range(self.shape.pipelines)]

    def access(self, inputs: Mapping[str, int], what: str) -> int | None:
        """Register that the processor accesses, to ``what``: "read" or "write", in vain perhaps."""
        r = inputs["p_address"]
        return r if inputs[f"p_{what}"] and r < self.shape.registers else None

    def puts(self, inputs: Mapping[str, int]) -> set[tuple[int, int]]:
        """Pipelines that put a word into a register, with the register."""
        puts = {p: self.numbers[0][f"write_{p}"] for p in range(self.shape.pipelines) if inputs[f"write_{p}__put"]}
        return {(p, r) for p, r in puts.items() if r < self.shape.registers}

    def processor_takes(self, inputs: Mapping[str, int]) -> tuple[int, int] | None:
        """Place and register of the word that the processor takes in this cycle."""
        r = self.access(inputs, "read")
        if r is None:
            return None
        return next(((k, r) for k in range(1, 1 + self.shape.pipelines) if self.full[k][r]), None)

    def will_be_full(self, p: int) -> bool:
        """Pipeline ``p`` is told that its place in the register of the next cycle has a word, unless it is emptied now."""
        r, before = self.numbers[1][f"write_{p}"], self.before
        if r >= self.shape.registers:
            return False
        lower = any(before.full[1 + q][r] for q in range(p))
        return (before.full[1 + p][r] and not (before.reads == r and not lower)) or (p, r) in before.puts

    def is_emptied(self, p: int, inputs: Mapping[str, int]) -> bool:
        """The processor takes the word of this place, if there is one, in this cycle; no lower pipeline's comes first."""
        r, before = self.numbers[1][f"write_{p}"], self.before
        lower = any(before.full[1 + q][r] or (q, r) in before.puts for q in range(p))
        return self.access(inputs, "read") == r and not lower

    def will_find(self, p: int, inputs: Mapping[str, int]) -> int | None:
        """Place in which pipeline ``p`` finds the word that it asks for in the next cycle."""
        r, before = self.numbers[1][f"read_{p}"], self.before
        if r >= self.shape.registers or r in self.found_in():
            return None
        if r not in before.emptied:
            for k in range(1, 1 + self.shape.pipelines):
                if before.full[k][r]:
                    return k
            if before.full[0][r]:
                return 0
        return 0 if r in (before.writes, self.access(inputs, "write")) else None

    def found_in(self) -> set[int]:
        """Registers in which a pipeline finds a word in this cycle."""
        return {self.numbers[0][f"read_{p}"] for p, place in enumerate(self.found) if place is not None}

    def outputs(self, inputs: Mapping[str, int]) -> dict[str, int | None]:
        expected: dict[str, int | None] = {
            "p_full": sum(1 << r for r in range(self.shape.registers) if any(full[r] for full in self.full)),
            "p_read_data": self.read_data,
        }
        for p, place in enumerate(self.found):
            expected[f"read_{p}__found"] = int(place is not None)
            word = None if place is None else self.caught[p]
            expected[f"read_{p}__data"] = self.words[0][self.numbers[0][f"read_{p}"]] if place == 0 else word
            if not self.named[p]:
                expected[f"read_{p}__data"] = 0
            now, coming = (numbers[f"write_{p}"] for numbers in self.numbers[:2])
            told = self.age >= len(self.numbers) and coming < self.shape.registers
            expected[f"write_{p}__full"] = int(self.will_be_full(p)) if told else None
            expected[f"write_{p}__emptied"] = int(self.is_emptied(p, inputs)) if told else None
            expected[f"write_{p}__same"] = int(now == coming) if told else None
        return expected

    def clock(self, inputs: Mapping[str, int]) -> None:
        shape = self.shape
        pipelines = range(shape.pipelines)
        now = Cycle([list(row) for row in self.full], self.access(inputs, "write"), self.access(inputs, "read"))
        now.found, now.puts = self.found_in(), self.puts(inputs)
        cleared: list[tuple[int, int]] = []
        for p, place in enumerate(self.found):
            if place is not None and inputs[f"read_{p}__take"] and not self.keeps[p]:
                cleared.append((place, self.numbers[0][f"read_{p}"]))
        now.emptied = {r for _, r in cleared}
        found = [self.will_find(p, inputs) if inputs[f"read_{p}__asks"] else None for p in pipelines]
        caught = [0 if k is None else self.words[k][self.numbers[1][f"read_{p}"]] for p, k in enumerate(found)]
        takes = self.processor_takes(inputs)
        if now.reads is not None:
            self.read_data = self.words[shape.pipelines if takes is None else takes[0]][now.reads]
        if takes is not None:
            cleared.append(takes)
        for k, r in cleared:
            self.full[k][r] = False
        if now.writes is not None:
            self.words[0][now.writes] = inputs["p_write_data"]
            self.full[0][now.writes] = True
        for p, r in now.puts:
            self.words[1 + p][r] = inputs[f"write_{p}__data"]
            self.full[1 + p][r] = True
        self.before, self.found, self.caught = now, found, caught
        self.keeps, self.named = ([bool(inputs[f"read_{p}__{what}"]) for p in pipelines] for what in ("keep", "names"))
        self.age = min(self.age + 1, len(self.numbers))
        self.numbers = [*self.numbers[1:], {name: inputs[f"{name}__number"] for name in self._names()}]
        if inputs["rst"]:
            self.full, self.before = self._empty(), Cycle(self._empty())
            self.found = [None] * shape.pipelines
            self.read_data = None
