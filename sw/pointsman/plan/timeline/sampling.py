"""Program -> visits of its operators in the order of the text, with loops cut down to sampled rounds that stand for all.

The first round of a loop stands for itself, because phases are loaded in it; each other one for its share of the rest. An
optional group is taken, but of several next to each other only one at a time, each in its turn: a program that has several in a
row chooses among them (how often, it does not say). Run-time values are taken from all legal ones alike: by a sequence that
fills the list evenly, so that few rounds are a fair sample, and the same plan has the same prediction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import gcd
from zlib import crc32

from pointsman.program.program import Group, Operator, Program

VISITS = 80
"""Most visits of operators, about."""
NODE_VISITS = 3000
"""Most visits of nodes to them, about: what a timeline costs goes with these."""
ROUNDS = 12
"""Most rounds of a loop, where all of them would be too many visits."""
FEWEST = 3
"""Rounds of a loop that are sampled at least: one that loads, and two."""
GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True)
class SampledVisit:
    """All nodes of an operator come to it; what they do counts ``weight`` times."""

    operator: Operator
    number: int
    """How many visits of this operator were before."""
    weight: float


def visits(program: Program) -> Iterator[SampledVisit]:
    """All of them. Programs may be deep, so the walk keeps its own stack."""
    rounds = _sampled(program)
    comes = _times(program)
    seen: dict[str, int] = {}
    taken: dict[int, int] = {}
    stack: list[tuple[Group | Operator, float]] = [(program.root, 1.0)]

    def push(group: Group, weight: float) -> None:
        turn = taken.get(id(group), 0)
        taken[id(group)] = turn + 1
        stack.extend((child, weight) for child in reversed(_taken(group, turn, comes[id(group)])))

    while stack:
        part, weight = stack.pop()
        if isinstance(part, Operator):
            yield SampledVisit(part, seen.get(part.label, 0), weight)
            seen[part.label] = seen.get(part.label, 0) + 1
        elif part.kind == "loop":
            count = rounds[id(part)]
            for k in reversed(range(count)):
                share = weight if k == 0 else weight * (max(1, part.count) - 1) / (count - 1)
                push(part, share)
        else:
            push(part, weight)


def _times(program: Program) -> dict[int, int]:
    """How often a program comes to each of its groups, by their identity."""
    found: dict[int, int] = {}
    around = [1]
    for part, depth in program.root.walk():
        del around[depth + 1 :]
        if isinstance(part, Group):
            found[id(part)] = around[depth] * (max(1, part.count) if part.kind == "loop" else 1)
            around.append(found[id(part)])
    return found


def _taken(group: Group, turn: int, times: int) -> list[Group | Operator]:
    """The children of a group that are visited when it is for the ``turn``-th time, of ``times`` in the program."""
    found: list[Group | Operator] = []
    row: list[Group | Operator] = []
    for child in (*group.children, None):
        if isinstance(child, Group) and child.kind == "optional" and group.kind != "parallel":
            row.append(child)
            continue
        found += row if times < len(row) else row[turn % len(row) :][:1] if row else []
        row = []
        if child is not None:
            found.append(child)
    return found


def _sampled(program: Program) -> dict[int, int]:
    """Rounds of each loop, by its identity."""
    loops = [part for part, _ in program.root.walk() if isinstance(part, Group) and part.kind == "loop"]
    most_visits = min(VISITS, NODE_VISITS // program.topology.nodes)
    rounds = {id(loop): max(1, loop.count) for loop in loops}
    if _visits(program, rounds) <= most_visits:
        return rounds
    rounds = {loop: min(count, ROUNDS) for loop, count in rounds.items()}
    while _visits(program, rounds) > most_visits:
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
    return (int(crc32(label.encode()) / 2**32 * count) + number * _stride(count)) % count


@cache
def _stride(count: int) -> int:
    """Step through a list that comes to each place once before any again: the one that is nearest to the golden section of it."""
    middle = max(1, int(GOLDEN * count))
    near = (step for away in range(count) for step in (middle + away, middle - away))
    return next(step for step in near if step > 0 and gcd(step, count) == 1)
