"""Program -> visits of its operators in the order of the text, with loops cut down to sampled rounds that stand for all.

The first round of a loop counts once, because phases are loaded in it; each other sampled round stands for an equal share of
the rest. Of optional groups next to each other one is taken at a time, in turn, since a program that has several in a row
chooses among them (how often, it does not say); a single optional group is always taken. Run-time values go through the legal
values by a fixed sequence that covers them evenly, so that few rounds are a fair sample and predictions repeat.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import gcd
from typing import Literal
from zlib import crc32

from pointsman.operators.api.operands import rounds_between_values, taking_part
from pointsman.plan.structure.together import called_together
from pointsman.program.program import Group, Operator, Program, Runtime

VISITS = 80
"""Most visits of operators, about."""
NODE_VISITS = 3000
"""Most visits of operators times nodes of the network, about; the work of a timeline is proportional to this."""
ROUNDS = 12
"""Most sampled rounds of a loop, where all rounds would be too many visits."""
FEWEST = 3
"""Least sampled rounds of a loop that is cut down: the first, in which phases are loaded, and two more."""
DEEP, DEEP_EACH = 1500, 4
"""Most visits, or visits of each operator, with FEWEST rounds of each loop: loops within loops have more than can be played."""
VALUES = 8
"""Least visits, over all times that the program is played, of an operator whose cycles depend on what applications give it."""
SEVERAL = 5
"""A program with more than VALUES times so many visits is played once."""
GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True)
class SampledVisit:
    """A visit of all nodes of an operator to it; its cycles count ``weight`` times."""

    operator: Operator
    number: int
    """Number of earlier visits of this operator."""
    weight: float
    messages: int | None = None
    """Messages that it moves, with a call of the I/O functions for each; None: as many as ``:c`` says."""
    phase: int | None = None
    """Phase in which it is done, of an operator with a phase for each value; None: that of the sampled value."""
    values: tuple[int, ...] | None = None
    """Its run-time values; sampled ones if None, or if the plan does not tell these from others."""
    together: tuple[int, ...] = ()
    """Of the first of several visits whose messages move at the same time: which one's calls come first, second, …, as distances
    from this visit. All are loaded before."""
    at_once: bool = False
    """Does a node that writes and reads do both at the same time? Else it writes first."""
    own: bool = False
    """Are ``messages`` the calls of one node in a run? They are all played, and who calls is known."""
    calls: tuple[tuple[tuple[int, str], ...], ...] = ()
    """Of the first of several visits whose calls a node made in an order of its own: those made at the same time, each as which
    visit, as the distance from this one, and which function, "load", "write", "read" or "func"."""
    permutation: tuple[int, ...] | None = None
    """Its permutation in a run; a sampled one if None."""

    @property
    def count(self) -> int:
        """Messages that it moves."""
        return self.operator.c if self.messages is None else self.messages


def samples(program: Program) -> int:
    """How often a program should be played, each time with other run-time values, so that its cycles are a fair mean: several
    times if an operator with such values is visited seldom; once where a single time exceeds NODE_VISITS by far, as it does on
    a thousand nodes (matrix multiplication on 32×32 nodes: other values change the cycles by half a per cent)."""
    rounds = _sampled(program)
    visited = [count for operator, count in _visited(program, rounds) if asks(operator)]
    all_visits = _visits(program, rounds)
    if not visited or all_visits > SEVERAL * VALUES or all_visits * program.topology.nodes > 2 * NODE_VISITS:
        return 1
    return -(-VALUES // max(1, min(visited)))


def asks(operator: Operator) -> bool:
    """Do the cycles of an operator depend on what the application gives its functions: run-time values, or who writes?"""
    return operator.kind == "collect" or any(isinstance(v, Runtime) for _, v in operator.instances[0].operands)


def visits(
    program: Program, sample: int = 0, optional: Literal["some", "none", "all"] = "some"
) -> Iterator[SampledVisit]:
    """The sampled visits of a program; ``sample``: see `samples`; ``optional``: which optional groups are taken, "some" as
    expected. Programs may be deep, so the walk keeps its own stack."""
    rounds = _sampled(program)
    comes = _times(program)
    seen: dict[str, int] = {}
    if sample:
        # As if the program had been run that often before.
        for operator, count in _visited(program, rounds):
            block = rounds_between_values(operator)
            seen[operator.label] = sample * -(-count // block) * block
    taken: dict[int, int] = {}
    stack: list[tuple[Group | Operator, float]] = [(program.root, 1.0)]
    rounds_of: dict[int, int] = {}

    def push(group: Group, weight: float) -> None:
        turn = taken.get(id(group), 0)
        taken[id(group)] = turn + 1
        children = _taken(group, turn, comes[id(group)]) if optional == "some" else group.children
        stack.extend((child, weight) for child in reversed(children))

    while stack:
        part, weight = stack.pop()
        if isinstance(part, Operator):
            order = tuple(range(rounds_of.pop(id(part), 0)))
            yield SampledVisit(part, seen.get(part.label, 0), weight, together=order)
            seen[part.label] = seen.get(part.label, 0) + 1
        elif part.kind == "optional" and optional == "none":
            continue
        elif part.kind == "loop":
            count = rounds[id(part)]
            for k in reversed(range(count)):
                if count == 1:
                    share = weight * max(1, part.count)
                else:
                    share = weight if k == 0 else weight * (max(1, part.count) - 1) / (count - 1)
                push(part, share)
        else:
            if called_together(part):
                rounds_of[id(part.children[0])] = len(part.children)
            push(part, weight)


def _times(program: Program) -> dict[int, int]:
    """By ``id`` of a group, how often the program runs the group's children."""
    found: dict[int, int] = {}
    around = [1]
    for part, depth in program.root.walk():
        del around[depth + 1 :]
        if isinstance(part, Group):
            found[id(part)] = around[depth] * (max(1, part.count) if part.kind == "loop" else 1)
            around.append(found[id(part)])
    return found


def _taken(group: Group, turn: int, times: int) -> list[Group | Operator]:
    """The children that are visited when the group runs for the ``turn``-th time, from 0; ``times``: its runs in the program."""
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
    """By ``id`` of a loop, its number of sampled rounds."""
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
    # Twelve loops of two rounds, each within the other, have thousands of visits; of forty no play would come to an end.
    deepest = max(DEEP, DEEP_EACH * sum(1 for _ in program.operators()))
    for loop in loops:
        if _visits(program, rounds) <= deepest:
            break
        rounds[id(loop)] = 1
    return rounds


def _visits(program: Program, rounds: dict[int, int]) -> int:
    return sum(count for _, count in _visited(program, rounds))


def _visited(program: Program, rounds: dict[int, int]) -> Iterator[tuple[Operator, int]]:
    """Every operator with the number of its visits."""
    around = [1]
    for part, depth in program.root.walk():
        del around[depth + 1 :]
        if isinstance(part, Operator):
            yield part, around[depth]
        else:
            around.append(around[depth] * (rounds[id(part)] if part.kind == "loop" else 1))


def writer_of(operator: Operator, instance: int, visit: int, destination: int | None) -> int:
    """The node that writes in a collect at a visit: one at a time may, and words that the destination sends to itself do not
    travel. ``destination``: its position in the instance; None: any node may be it."""
    nodes = operator.instances[instance].nodes
    may = [k for k in taking_part(operator, instance) if k != destination] or list(taking_part(operator, instance))
    return nodes[may[choice(f"{operator.label} writes", visit, len(may))]]


def choice(label: str, number: int, count: int) -> int:
    """Index, below ``count``, of the run-time value that the operator ``label`` has at its visit ``number``."""
    return (int(crc32(label.encode()) / 2**32 * count) + number * _stride(count)) % count


@cache
def _stride(count: int) -> int:
    """Step, nearest to the golden section of ``count``, that visits each place of a list before any place again."""
    middle = max(1, int(GOLDEN * count))
    near = (step for away in range(count) for step in (middle + away, middle - away))
    return next(step for step in near if step > 0 and gcd(step, count) == 1)
