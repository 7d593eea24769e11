"""The search for phases against every division there is."""

from __future__ import annotations

import random
from math import inf

import pytest

from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.candidates.branch_and_bound import cost_of, every_division, search
from pointsman.plan.structure.extents import ProgramPart, disjoint_tree
from pointsman.plan.structure.phase_tree import breaks, fold, leaves
from pointsman.program.program import Operator


class Random:
    """Costs of phases out of nothing, but the same for the same operators."""

    def __init__(self, seed: int, change: float) -> None:
        self.seed = seed
        self.change = change

    def alone(self, operator: Operator) -> float:
        return float(random.Random(f"{self.seed} {operator.label}").randint(1, 20))

    def least(self, operators: tuple[Operator, ...], exits: float) -> float:
        return sum(map(self.alone, operators)) + exits * self.change

    def phase(self, operators: tuple[Operator, ...], exits: float) -> float:
        rng = random.Random(f"{self.seed} {sorted(o.label for o in operators)}")
        if len(operators) > 5 and rng.random() < 0.3:
            return inf
        crowd = sum(self.alone(o) for o in operators) * (1 + rng.random() * (len(operators) - 1))
        return crowd + exits * self.change


def random_tree(seed: int, depth: int = 3) -> ProgramPart:
    rng = random.Random(seed)
    count = 0

    def part(depth: int) -> str:
        nonlocal count
        count += 1
        if depth == 0 or rng.random() < 0.35:
            nodes = rng.choice(["0 1", "2 3", "0 2", "0 1 2 3"])
            return f"(subset '({nodes}) (barrier 'o{count}))"
        kind = rng.choice(["sequential", "sequential", "parallel", "optional", "phase", f"loop 'l{count} 3"])
        return f"({kind} {' '.join(part(depth - 1) for _ in range(rng.randint(1, 3)))})"

    text = f"(sequential {part(depth)} {part(depth)} {part(depth - 1)})"
    return disjoint_tree(compile_text(text, topology=mesh(2, 2)))


def small_tree(seed: int) -> ProgramPart:
    """One with at most 512 divisions."""
    return next(root for depth in (3, 2, 1) if len(breaks(root := random_tree(seed, depth))) <= 9)


@pytest.mark.parametrize("seed", range(100))
def test_the_search_finds_what_trying_everything_finds(seed: int) -> None:
    root = small_tree(seed)
    costs = Random(seed, change=random.Random(seed).choice([0, 1, 5, 30]))
    found = search(root, costs)
    best = min(cost_of(fold(root, lambda p, i, e=ends: (p, i) in e), costs) for ends in every_division(root))
    assert found.cost == pytest.approx(best)
    assert cost_of(found.phases, costs) == pytest.approx(best)
    assert found.gap == 0


def test_many_of_the_random_trees_have_a_choice() -> None:
    assert sum(len(breaks(small_tree(seed))) >= 3 for seed in range(100)) > 50


class Equal:
    """Every operator takes ten cycles, twice as many with every other one in its phase; a change takes ``change``."""

    def __init__(self, change: float) -> None:
        self.change = change

    def alone(self, operator: Operator) -> float:
        return 10.0

    def least(self, operators: tuple[Operator, ...], exits: float) -> float:
        return self.phase(operators, exits)

    def phase(self, operators: tuple[Operator, ...], exits: float) -> float:
        return 10.0 * len(operators) ** 2 + exits * self.change


def chain(length: int) -> ProgramPart:
    text = " ".join(f"(barrier 'o{i})" for i in range(length))
    return disjoint_tree(compile_text(f"(sequential {text})", topology=mesh(2, 2)))


def test_dear_changes_make_few_phases_and_cheap_ones_many() -> None:
    root = chain(12)
    sizes = [len(list(leaves(search(root, Equal(change)).phases))) for change in (0, 20, 100, 1000, 1e6)]
    assert sizes[0] == 12
    assert sizes[-1] == 1
    assert sizes == sorted(sizes, reverse=True)


def test_two_hundred_operators_are_divided_exactly() -> None:
    found = search(chain(200), Equal(45))
    assert found.gap == 0
    # Phases of two take 42.5 cycles an operator, of one 55, of three 45.
    assert found.cost == 100 * (10 * 4) + 99 * 45
    assert {len(leaf.operators) for leaf in leaves(found.phases)} == {2}


def test_a_search_that_is_cut_short_tells_how_far_off_it_may_be() -> None:
    found = search(chain(60), Equal(45), budget=5)
    exact = search(chain(60), Equal(45))
    assert found.nodes == 5
    assert found.cost >= exact.cost >= found.bound
    assert 0 < found.gap < 1


def test_a_place_that_is_not_allowed_is_not_used() -> None:
    root = chain(4)
    found = search(root, Equal(0), places=[place for place in breaks(root) if place[1] != 1])
    assert [leaf.labels() for leaf in leaves(found.phases)] == ["o0", "o1,o2", "o3"]


@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_no_more_phases_than_there_may_be_and_the_best_of_those(most: int) -> None:
    operators = " ".join(f"(broadcast 'b{i} {i} :m {3 + 5 * i})" for i in range(6))
    program = compile_text(f"(sequential {operators})", topology=mesh(3, 2))
    root = disjoint_tree(program)

    class Counted:
        """Phases of few operators are cheap."""

        def phase(self, operators, exits):
            return float(sum(o.m for o in operators) * len(operators))

        def alone(self, operator):
            return float(operator.m)

        def least(self, operators, exits):
            return self.phase(operators, exits)

    costs = Counted()
    found = search(root, costs, most=most)
    folded = [fold(root, lambda part, i, ends=ends: (part, i) in ends) for ends in every_division(root)]
    allowed = [cost_of(one, costs) for one in folded if sum(1 for _ in leaves(one)) <= most]
    assert sum(1 for _ in leaves(found.phases)) <= most
    assert found.gap == 0
    assert found.cost == pytest.approx(min(allowed))
