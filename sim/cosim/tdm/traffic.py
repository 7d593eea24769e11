"""Traffic of processors: the patterns of the evaluation (Ding et al. 2005, §5), as lists of messages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Message = tuple[int, int]
"""(destination, words)"""


@dataclass(frozen=True)
class SwitchTraffic:
    """Messages of every processor, in the order in which it sends them.

    Processor u has messages ``first[u]`` up to ``first[u + 1]`` of ``destinations`` and ``words``.
    """

    first: np.ndarray
    destinations: np.ndarray
    words: np.ndarray

    @property
    def ports(self) -> int:
        return len(self.first) - 1

    def loads(self) -> tuple[np.ndarray, np.ndarray]:
        """Words that each processor sends, and that each receives."""
        senders = np.repeat(np.arange(self.ports), np.diff(self.first))
        return (
            np.bincount(senders, self.words, self.ports).astype(np.int64),
            np.bincount(self.destinations, self.words, self.ports).astype(np.int64),
        )

    @property
    def least_cycles(self) -> int:
        """Cycles that the busiest link needs, at a word a cycle."""
        return int(max(load.max(initial=0) for load in self.loads()))


def traffic_of(programs: Sequence[Sequence[Message]]) -> SwitchTraffic:
    """Traffic from a list of messages for each processor."""
    flat = np.array([message for program in programs for message in program], np.int64).reshape(-1, 2)
    first = np.concatenate([[0], np.cumsum([len(program) for program in programs])]).astype(np.int64)
    return SwitchTraffic(first, flat[:, 0].copy(), flat[:, 1].copy())


def mesh_neighbours(ports: int) -> list[list[int]]:
    """East, west, south and north of every processor of the flattest two-dimensional mesh.

    The mesh wraps around at its edges, so that every processor has four destinations, as in the paper's text. The four
    columns of the table are permutations.
    """
    width = next(w for w in range(math.isqrt(ports), 0, -1) if ports % w == 0)
    width, height = ports // width, width
    table = []
    for node in range(ports):
        x, y = node % width, node // width
        steps = ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1))
        table.append([a % width + width * (b % height) for a, b in steps])
    return table


def scatter(ports: int, words: int) -> SwitchTraffic:
    """Processor 0 sends a message to every other processor."""
    return traffic_of([[(v, words) for v in range(1, ports)], *[[] for _ in range(ports - 1)]])


def random_mesh(ports: int, words: int, messages: int, seed: int) -> SwitchTraffic:
    """Every processor sends ``messages`` messages to neighbours drawn at random."""
    random = np.random.default_rng([seed, ports])
    programs = []
    for row in mesh_neighbours(ports):
        programs.append([(row[int(random.integers(4))], words) for _ in range(messages)])
    return traffic_of(programs)


def ordered_mesh(ports: int, words: int, rounds: int) -> SwitchTraffic:
    """Every processor sends to its neighbours in the same order, ``rounds`` times."""
    return traffic_of([[(v, words) for v in row] * rounds for row in mesh_neighbours(ports)])


def two_phase(ports: int, words: int, messages: int, seed: int) -> SwitchTraffic:
    """An all-to-all, each to the next first, then messages to neighbours drawn at random."""
    after = random_mesh(ports, words, messages, seed)
    programs = []
    for u in range(ports):
        mine = slice(after.first[u], after.first[u + 1])
        tail = list(zip(after.destinations[mine].tolist(), after.words[mine].tolist(), strict=True))
        programs.append([((u + step) % ports, words) for step in range(1, ports)] + tail)
    return traffic_of(programs)


def hybrid(
    ports: int, words: int, messages: int, determinism: float, patterns: Sequence[Sequence[int]], seed: int
) -> SwitchTraffic:
    """A share ``determinism`` of the messages goes to destinations of ``patterns`` in turn, the others to random destinations."""
    random = np.random.default_rng([seed, ports])
    programs = []
    for u in range(ports):
        program, turn = [], 0
        for _ in range(messages):
            if random.random() < determinism:
                program.append((patterns[turn % len(patterns)][u], words))
                turn += 1
            else:
                other = int(random.integers(ports - 1))
                program.append((other + (other >= u), words))
        programs.append(program)
    return traffic_of(programs)
