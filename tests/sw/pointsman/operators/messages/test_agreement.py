"""Nodes agree on a value that not all of them know."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.operators.messages.agreement import (
    agreed_operands,
    agreed_values,
    agreement_of,
    known_words,
    plain_operator,
)


def together(operator, said):
    """The largest of what all nodes know, as the allreduce gives it."""
    words = agreement_of(operator).m
    return np.max([known_words(operator, own, values, words) for own, values in enumerate(said)], axis=0)


def test_what_one_node_knows_all_know_afterwards(machine):
    operator = machine.one("(broadcast 'b (runtime :distributed t) :m 2)", mesh(3))
    assert agreed_operands(operator) == ("source",)
    words = together(operator, [(-1,), (1,), (-1,)])
    assert [agreed_values(operator, 0, own, (1 if own == 1 else -1,), words) for own in range(3)] == [(1,)] * 3
    assert agreed_operands(plain_operator(operator)) == ()


def test_a_permutation_is_put_together_from_the_entries_of_all(machine):
    operator = machine.one("(permute 'p (runtime :distributed t) :m 2)", mesh(3))
    words = together(operator, [(2,), (0,), (1,)])
    assert agreed_values(operator, 0, 1, (0,), words) == ([2, 0, 1],)


@pytest.mark.parametrize(
    ("text", "said", "own", "message"),
    [
        (
            "(broadcast 'b (runtime :distributed t))",
            [-1, -1, -1],
            0,
            "no node of the subset said which node is the source",
        ),
        (
            "(broadcast 'b (runtime :distributed t))",
            [1, 2, -1],
            0,
            "node 0 of the subset gives 1 as source, another one 2",
        ),
        ("(permute 'p (runtime :distributed t))", [0, 0, 1], 0, "in which not every node stands once"),
    ],
)
def test_nodes_that_cannot_agree_are_told(machine, text, said, own, message):
    operator = machine.one(text, mesh(3))
    words = together(operator, [(value,) for value in said])
    with pytest.raises(PointsmanError, match=message):
        agreed_values(operator, 0, own, (said[own],), words)
