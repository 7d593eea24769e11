"""Broadcasts that are read back, go over a tree, or have a path for each source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("name", "text", "values"),
    [
        ("str_bcast_bind", "(broadcast 'o 2 :m 5)", ()),
        ("str_bcast_round", "(broadcast 'o 2 :m 5 :impl 'str_bcast_round)", ()),
        ("str_bcast_tree", "(broadcast 'o (runtime) :m 5)", (2,)),
        ("par_bcast", "(broadcast 'o (runtime :values (list 2 4)) :m 5)", (2,)),
        ("str_bcast_linear", "(broadcast 'o (runtime) :m 50)", (2,)),
        ("str_bcast_dense", "(broadcast 'o (runtime) :m 5)", (2,)),
    ],
)
def test_one_node_writes_and_all_others_read(
    name: str, text: str, values: tuple[int, ...], wired: Callable[..., Any]
) -> None:
    roles = wired(name, text).roles(values)
    assert [node for node, role in roles.items() if role.kind == "write"] == [2]
    for node, role in roles.items():
        assert any(lane.data == "in" and not lane.write for lane in role.lanes) == (node != 2)


def test_a_source_that_reads_back_takes_its_own_words_as_tokens(wired: Callable[..., Any]) -> None:
    role = wired("str_bcast_bind", "(broadcast 'o 2 :m 5)").roles()[2]
    assert [(lane.write, lane.data) for lane in role.lanes] == [(True, "out"), (False, "token")]


def test_nodes_that_are_not_valid_read_nothing(wired: Callable[..., Any]) -> None:
    roles = wired("str_bcast_bind", "(broadcast 'o 2 :m 5 :valid (list 1 2 3))").roles()
    assert {node for node, role in roles.items() if role.void} == {0, 4, 5}
