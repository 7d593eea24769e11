"""Monitors: check contracts of every link in every cycle, and of every stream, while a program runs.

Contracts of a link: a word is offered only towards a neighbour; a word that is offered and accepted is in the neighbour's
write stage in the next cycle. Contract of a stream (a promise of the images): the processors at its ends read the words that
the processor at its source wrote, in order, none lost, doubled or invented.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from cosim.numesh.engines.verilated import VerilatedEngine
from cosim.record import Record
from pointsman.artifacts.images.images import Images
from pointsman.errors import PointsmanError

_KEPT = 20


@dataclass(frozen=True)
class Violation:
    """A contract was broken in cycle ``time``."""

    time: int
    where: str
    contract: str

    def __str__(self) -> str:
        return f"cycle {self.time}, {self.where}: {self.contract}"


class LinkMonitors:
    """Checks all links of a verilated mesh; to be called in every cycle.

    Parameters
    ----------
    engine : VerilatedEngine
        The mesh.
    """

    def __init__(self, engine: VerilatedEngine) -> None:
        self.violations: list[Violation] = []
        self.words = 0
        """Words that have crossed links so far."""
        self._engine = engine
        self._shape = engine.shape
        links = range(engine.shape.neighbours)
        self._peer = np.full((engine.nodes, engine.shape.neighbours, 2), -1)
        for node, joined in enumerate(engine.topology.at_port):
            for port, end in joined.items():
                self._peer[node, port] = end
        self._links = links
        self._crossed: list[tuple[int, int, int, int, int]] = []

    def __call__(self) -> None:
        engine, peek = self._engine, self._engine.compiled.peek
        time = engine.time
        if self._crossed:
            pipelines = range(self._shape.pipelines)
            valid = np.array([peek(f"transfer_{p}.write_valid") for p in pipelines])
            words = np.array([peek(f"transfer_{p}.out_data") for p in pipelines], dtype=np.uint64)
            for node, port, other, end, word in self._crossed:
                if not np.any(valid[:, other].astype(bool) & (words[:, other] == np.uint64(word))):
                    self._report(
                        time - 1,
                        f"link from node {node} (port {port}) to node {other} (port {end})",
                        f"the word {word:#x} was accepted, and is not in the neighbour's write stage a cycle later",
                    )
        self._crossed = []
        offered = np.array([peek(f"wire.out_valid_{d}") for d in self._links])
        if not offered.any():
            return
        accepted = np.array([peek(f"wire.in_accept_{d}") for d in self._links])
        for port, node in np.argwhere(offered).tolist():
            other, end = self._peer[node, port].tolist()
            if other < 0:
                self._report(time, f"node {node}, port {port}", "a word is offered where no neighbour is")
            elif accepted[end, other]:
                word = int(peek(f"wire.out_data_{port}")[node])
                self._crossed.append((node, port, other, end, word))
                self.words += 1

    def _report(self, time: int, where: str, contract: str) -> None:
        self.violations.append(Violation(time, where, contract))


def check_streams(images: Images, record: Record) -> list[Violation]:
    """Violations of the streams' contract in the events of a finished run."""
    assert record.events is not None
    ways: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for promise in images.promises:
        for end in promise.destinations:
            if (promise.source, promise.register) not in ways[end]:
                ways[end].append((promise.source, promise.register))
    written: dict[tuple[int, int], list[int]] = defaultdict(list)
    taken: dict[tuple[tuple[int, int], tuple[int, int]], int] = defaultdict(int)
    found: list[Violation] = []
    for time, node, register, write, word in record.events.tolist():
        place = (node, register)
        if write:
            written[place].append(word)
            continue
        if place not in ways:
            continue
        # A register may have several sources, by run-time values: take the source whose next word this is.
        source = next((s for s in ways[place] if written[s][taken[place, s] : taken[place, s] + 1] == [word]), None)
        if source is None:
            source = _later(ways[place], written, taken, place, word)
        if source is None:
            sources = ", ".join(f"node {n} (register {r})" for n, r in ways[place])
            found.append(
                Violation(
                    time, f"node {node}, register {register}", f"read {word:#x}, which is not next from {sources}"
                )
            )
        else:
            taken[place, source] += 1
    return found


def _later(
    sources: list[tuple[int, int]],
    written: dict[tuple[int, int], list[int]],
    taken: dict[tuple[tuple[int, int], tuple[int, int]], int],
    place: tuple[int, int],
    word: int,
) -> tuple[int, int] | None:
    """If a register has several sources: a source with this word later on, its words before having gone elsewhere."""
    if len(sources) < 2:
        return None
    for source in sources:
        words = written[source]
        for index in range(taken[place, source], len(words)):
            if words[index] == word:
                taken[place, source] = index
                return source
    return None


def raise_violations(violations: list[Violation]) -> None:
    """Report violations, if there are any.

    Raises
    ------
    PointsmanError
        With the first `_KEPT` violations.
    """
    if violations:
        lines = [f"monitors found {len(violations)} violations"]
        lines += [f"  {violation}" for violation in violations[:_KEPT]]
        raise PointsmanError("\n".join(lines), hint="look at the cycles before the first one with --wave")
