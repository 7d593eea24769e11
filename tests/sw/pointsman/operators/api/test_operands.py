"""What a call of an operator says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.operators import Context
from pointsman.operators.api.operands import (
    box,
    having_a_part,
    is_constant,
    is_partial,
    is_settled,
    item_by_item,
    keep_in,
    message_stream,
    operand,
    rounds_between_values,
    runtime_operands,
    runtime_values,
    taking_part,
    values_alike,
)
from pointsman.program.program import Instance


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("(broadcast 'o 1)", [()]),
        ("(broadcast 'o (runtime))", [(0,), (1,), (2,)]),
        ("(broadcast 'o (runtime :values (list 2 0)))", [(0,), (2,)]),
        ("(cshift 'o (runtime))", [(-2,), (-1,), (0,), (1,), (2,)]),
        ("(eoshift 'o (runtime))", [(-3,), (-2,), (-1,), (0,), (1,), (2,), (3,)]),
        ("(stream 'o (runtime :values (list 0 1)) (runtime :values (list 2)))", [(0, 2), (1, 2)]),
    ],
)
def test_run_time_values_are_all_legal_combinations(
    text: str, values: list[tuple[int, ...]], operator_of: Callable[..., Any]
) -> None:
    assert list(runtime_values(operator_of(text, mesh(3)))) == values


def test_too_many_combinations_are_refused(operator_of: Callable[..., Any]) -> None:
    with pytest.raises(PointsmanError, match="more than 65536 run-time choices"):
        runtime_values(operator_of("(stream 'o (runtime) (runtime))", mesh(17, 17)))


def test_an_operand_is_constant_partial_or_given(operator_of: Callable[..., Any]) -> None:
    operator = operator_of("(stream 'o 1 (runtime :dynamic t))", mesh(3))
    assert runtime_operands(operator) == ("destination",)
    assert is_constant(operator, "source")
    assert not is_partial(operator, "source")
    assert is_partial(operator, "destination")
    assert operand(operator, 0, "source", (2,)) == 1
    assert operand(operator, 0, "destination", (2,)) == 2


def test_an_operator_with_one_value_left_is_settled(operator_of: Callable[..., Any]) -> None:
    assert is_settled(operator_of("(broadcast 'o (runtime :values (list 2)))", mesh(3)))
    assert not is_settled(operator_of("(broadcast 'o (runtime))", mesh(3)))


@pytest.mark.parametrize(
    ("text", "alike"),
    [
        ("cshift 'o (runtime)", [[(1,), (-2,)], [(-1,), (2,)], [(0,)]]),
        ("eoshift 'o (runtime)", [[(3,), (-3,)], [(-2,)], [(-1,)], [(0,)], [(1,)], [(2,)]]),
        ("stream 'o (runtime) 0", [[(0,)], [(1,)], [(2,)]]),
    ],
)
def test_values_are_alike_that_move_the_same_words(
    operator_of: Callable[..., Any], text: str, alike: list[list[tuple[int, ...]]]
) -> None:
    operator = operator_of(f"({text} :m 2)", mesh(3))
    assert values_alike(operator, runtime_values(operator)) == alike


def test_distances_are_alike_only_if_they_are_in_every_instance(operator_of: Callable[..., Any]) -> None:
    operator = operator_of("(subset '((0 1) (2 3 4)) (cshift 'o (runtime) :m 2))", mesh(5))
    assert values_alike(operator, runtime_values(operator)) == [[(-1,)], [(0,)], [(1,)]]
    assert is_settled(operator_of("(cshift 'o (runtime :values '(1 -2)) :m 2)", mesh(3)))
    assert not is_settled(operator_of("(cshift 'o (runtime :values '(1 -1)) :m 2)", mesh(3)))


def test_the_block_says_how_seldom_a_value_changes(operator_of: Callable[..., Any]) -> None:
    assert rounds_between_values(operator_of("(broadcast 'o 0)", mesh(3))) == 1
    assert rounds_between_values(operator_of("(broadcast 'o (runtime :block 7))", mesh(3))) == 7


def test_functions_that_every_program_has_combine_item_by_item(operator_of: Callable[..., Any]) -> None:
    assert item_by_item(operator_of("(allreduce 'o 'sum :m 5)", mesh(3)))
    assert not item_by_item(operator_of("(allreduce 'o 'sum :m 1)", mesh(3)))
    assert not item_by_item(operator_of("(allreduce 'o 'mine :m 5)", mesh(3)))


def test_nodes_that_are_not_valid_take_no_part(operator_of: Callable[..., Any]) -> None:
    assert taking_part(operator_of("(collect 'o 0)", mesh(4)), 0) == (0, 1, 2, 3)
    assert taking_part(operator_of("(collect 'o 1 :valid (list 1 3))", mesh(4)), 0) == (1, 3)


def test_streams_keep_to_connected_nodes_or_to_the_box_around_others() -> None:
    context = Context(mesh(3, 3), NodeShape())
    assert keep_in(Instance((0, 1, 2), ()), context) == {0, 1, 2}
    assert keep_in(Instance((0, 4), ()), context) == {0, 1, 3, 4} == box((0, 4), context.topology)


def test_a_message_stream_shares_words_with_those_of_its_operator(operator_of: Callable[..., Any]) -> None:
    operator = operator_of("(stream 'o 0 2 :m 6)", mesh(3))
    stream = message_stream(operator, 0, Context(mesh(3), NodeShape()), 0, (2,), "up", chains=2)
    assert (stream.name, stream.source, stream.destinations) == ("o[0].up", 0, (2,))
    assert (stream.weight, stream.group, stream.keep_in, stream.chains) == (6.0, "o", {0, 1, 2}, 2)


def test_of_a_stream_between_known_nodes_only_these_have_a_part() -> None:
    for text, wanted in (
        ("(stream 'o 5 2)", [2, 5]),
        ("(stream 'o 3 3)", [3]),
        ("(subset '((4 1 3)) (stream 'o 2 0))", [3, 4]),
        ("(stream 'o 3 (runtime))", list(range(6))),
        ("(cshift 'o 1)", list(range(6))),
    ):
        (one,) = compile_text(text, topology=mesh(3, 2)).operators()
        assert list(having_a_part(one, 0)) == wanted, text
