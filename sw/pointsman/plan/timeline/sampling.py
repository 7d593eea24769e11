"""Program -> visits of its operators in the order of the text, with loops cut down to sampled rounds that stand for all.

The first round of a loop stands for itself, because phases are loaded in it; each other one for its share of the rest. Every
optional group is taken. Run-time values are taken from all legal ones alike: by a sequence that fills the list evenly, so that
few rounds are a fair sample, and the same plan has the same prediction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from zlib import crc32

from pointsman.cop.program import Group, Operator, Program

VISITS = 100
"""Most visits of operators, about."""
ROUNDS = 16
"""Most rounds of a loop, where that is few enough visits."""
FEWEST = 3
"""Rounds of a loop that are sampled at least: one that loads, and two."""
GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True)
class Visit:
    """All nodes of an operator come to it; what they do counts ``weight`` times."""

    operator: Operator
    number: int
    """How many visits of this operator were before."""
    round: int
    """Number of the round of its innermost loop."""
    weight: float


def visits(program: Program) -> Iterator[Visit]:
    """All of them. Programs may be deep, so the walk keeps its own stack."""
    rounds = _sampled(program)
    seen: dict[str, int] = {}
    stack: list[tuple[Group | Operator, int, float]] = [(program.root, 0, 1.0)]
    while stack:
        part, number, weight = stack.pop()
        if isinstance(part, Operator):
            yield Visit(part, seen.get(part.label, 0), number, weight)
            seen[part.label] = seen.get(part.label, 0) + 1
        elif part.kind == "loop":
            count = rounds[id(part)]
            for k in reversed(range(count)):
                share = weight if k == 0 else weight * (max(1, part.count) - 1) / (count - 1)
                stack += [(child, k, share) for child in reversed(part.children)]
        else:
            stack += [(child, number, weight) for child in reversed(part.children)]


def _sampled(program: Program) -> dict[int, int]:
    """Rounds of each loop, by its identity."""
    loops = [part for part, _ in program.root.walk() if isinstance(part, Group) and part.kind == "loop"]
    rounds = {id(loop): min(max(1, loop.count), ROUNDS) for loop in loops}
    while _visits(program, rounds) > VISITS:
        most = max(rounds.values(), default=0)
        if most <= FEWEST:
            break
        rounds |= {loop: most - 1 for loop, count in rounds.items() if count == most}
    return rounds


def _visits(program: Program, rounds: dict[int, int]) -> int:
    total = 0
    around = [1]
    for part, depth in program.root.walk():
        del around[depth + 1 :]
        if isinstance(part, Operator):
            total += around[depth]
        else:
            around.append(around[depth] * (rounds[id(part)] if part.kind == "loop" else 1))
    return total


def choice(label: str, number: int, count: int) -> int:
    """Which of ``count`` values comes at a visit."""
    start = crc32(label.encode()) / 2**32
    return int((start + number * GOLDEN) % 1.0 * count)
