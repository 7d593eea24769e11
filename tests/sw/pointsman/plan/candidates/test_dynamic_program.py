"""Programs without threads: whatever the budget, the bound is below the best division and the answer is not."""

from __future__ import annotations

import random
from functools import partial
from math import inf

import pytest

from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.candidates.branch_and_bound import cost_of, every_division, search
from pointsman.plan.structure.extents import ProgramPart, disjoint_tree
from pointsman.plan.structure.phase_tree import Break, fold, leaves
from pointsman.program.program import Operator


def _ends(ends: frozenset[Break], part: ProgramPart, i: int) -> bool:
    return (part, i) in ends


class Crowded:
    """Operators of a phase slow each other down, some more than others; none can share one with too many."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        self.change = rng.choice([1.0, 20.0, 300.0])
        self.crowd = rng.choice([0.01, 0.1, 0.5])

    def alone(self, operator: Operator) -> float:
        return float(operator.m)

    def least(self, operators: tuple[Operator, ...], exits: float) -> float:
        if len(operators) > 12:
            return inf
        return sum(o.m for o in operators) * (1 + self.crowd * (len(operators) - 1)) + exits * self.change

    def phase(self, operators: tuple[Operator, ...], exits: float) -> float:
        return self.least(operators, exits)


def program(seed: int, most: int) -> ProgramPart:
    """Operators that all meet at node 0, in nested loops, beside others, in ``phase`` groups."""
    rng = random.Random(seed)
    count = 0

    def part(depth: int) -> str:
        nonlocal count
        count += 1
        if depth == 0 or count >= most:
            return f"(broadcast 'o{count} 0 :m {rng.randint(1, 40)})"
        number = count
        inside = " ".join(part(depth - 1) for _ in range(rng.randint(1, 4)))
        kind = rng.choice(["sequential", "sequential", f"loop 'l{number} {rng.randint(2, 9)}", "optional", "phase"])
        if rng.random() < 0.2:
            return f"(parallel (sequential {inside}) (broadcast 'c{number} 0 :m 3))"
        return f"({kind} {inside})"

    text = f"(sequential {part(3)} {part(3)} {part(2)})"
    return disjoint_tree(compile_text(text, topology=mesh(2, 2)))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("most", [None, 4])
def test_bounds_and_answers_lie_on_either_side_of_the_best(seed: int, most: int | None) -> None:
    root, costs = program(seed, 40), Crowded(seed)
    exact = search(root, costs, budget=100_000, most=most)
    assert exact.gap == 0
    for budget in (1, 10, 40, 150, 600):
        found = search(root, costs, budget=budget, most=most)
        assert found.bound <= exact.cost * (1 + 1e-9)
        assert found.cost >= exact.cost * (1 - 1e-9)
        assert found.nodes <= budget
        assert found.cost == pytest.approx(cost_of(found.phases, costs))


@pytest.mark.parametrize("seed", range(20))
def test_it_finds_what_trying_everything_finds(seed: int) -> None:
    root, costs = program(seed, 6), Crowded(seed)
    for most in (None, 3):
        folded = [fold(root, partial(_ends, ends)) for ends in every_division(root)]
        few = [phases for phases in folded if most is None or sum(1 for _ in leaves(phases)) <= most]
        found = search(root, costs, most=most)
        assert found.gap == 0
        assert found.cost == pytest.approx(min((cost_of(phases, costs) for phases in few), default=found.cost))


def test_a_small_budget_leaves_a_small_gap() -> None:
    operators = " ".join(f"(broadcast 'o{i} 0 :m {1 + i * 7 % 40})" for i in range(400))
    root = disjoint_tree(compile_text(f"(sequential {operators})", topology=mesh(2, 2)))

    class Alike(Crowded):
        def least(self, operators: tuple[Operator, ...], exits: float) -> float:
            return sum(o.m for o in operators) * (1 + 0.002 * len(operators)) + exits * 300.0

    gaps = [search(root, Alike(0), budget=budget).gap for budget in (100, 3000)]
    assert gaps[0] > gaps[1] > 0
    assert gaps[1] < 0.15
