"""What is placed, read as chains."""

from __future__ import annotations

import numpy as np

from numesh.shape import NodeShape
from pointsman.network import mesh
from pointsman.routing.phase_router.arrays import PartArrays, nothing_used
from pointsman.routing.phase_router.placement import Placed
from pointsman.routing.phase_router.problem import NodeLimits, split
from pointsman.routing.streams import Stream

LIMITS = NodeLimits(2, 32, 16, phase_change=True)
((PART, _),) = split([Stream("s", 0, (1,), chains=2)], mesh(2), NodeShape(), ())
LINK = PART.links.index((0, 1))


def placed() -> Placed:
    """Two chains of one word, written as the kernels write them."""
    chains = PartArrays.of(PART).chains([2], [2])
    for chain, start in enumerate((3, 0)):
        visit, op = chains.first_visit[chain], chains.first_op[chain]
        chains.visits[visit] = 0, -1, -1, chain, 0, 0, 0, 0, 1
        chains.visits[visit + 1] = 1, 0, LINK, chain, 1, 0, 1, 1, 0
        chains.ops[op] = chain, 0, PART.wires[LINK], LINK, 1, 0
        chains.ops[op + 1] = 2 + chain, 1, -1, -1, 0, 1
        chains.n_visits[chain] = chains.n_ops[chain] = 2
        chains.starts[chains.first_start[chain]] = start
    return Placed.of(PART, 4, chains)


def test_visits_links_and_starts_are_read() -> None:
    first, second = placed().chains()
    assert first.starts == (3,)
    assert second.starts == (0,)
    assert second.route.cells == ((0, 1, 0), (1, 1, 1))
    assert second.route.writes == ((LINK, 0),)


def test_routes_are_written_for_a_multiple_of_the_slots_only_with_as_many_words() -> None:
    longer = PartArrays.of(PART).chains([4], [2])
    assert placed().write(longer, 8).tolist() == [True, True]
    assert longer.starts.tolist() == [3, 7, 0, 4]
    assert not placed().write(PartArrays.of(PART).chains([6], [2]), 8).any()


def test_registers_are_counted_at_both_ends() -> None:
    nowhere = np.zeros(1, np.bool_)
    assert placed().registers_over(nowhere, nowhere, LIMITS) == []
    assert placed().registers_over(nowhere, nowhere, NodeLimits(2, 32, 3, phase_change=True)) == [0, 1]
    assert placed().registers_over(nowhere, ~nowhere, NodeLimits(2, 32, 3, phase_change=True)) == [0]


def test_nothing_is_used_at_first() -> None:
    use = nothing_used(PART, LIMITS, 6)
    assert use.cells.shape == (4, 6)
    assert not any(table.any() for name, table in use._asdict().items() if name != "held")
    assert (use.held == -1).all()
