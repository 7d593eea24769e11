"""How calls are loaded: what the members imply, and what the built-in implementations say."""

from __future__ import annotations

import pytest

from pointsman.operators import IMPLEMENTATIONS, Loading
from pointsman.operators.scheduled.synchronised import Synchronised


def test_every_member_is_used_by_an_implementation() -> None:
    assert {one.loading for one in IMPLEMENTATIONS} == set(Loading)


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS, ids=lambda one: one.name)
def test_words_that_move_early_cannot_be_told_from_lanes(implementation: object) -> None:
    loading, traceable = implementation.loading, implementation.traceable  # type: ignore[attr-defined]
    assert not (loading.moves_early and traceable)


def test_synchronised_operators_move_early() -> None:
    assert [one for one in Loading if one.moves_early and not one.synchronised] == [Loading.GATED]


def test_implementations_with_a_barrier_of_their_own_are_synchronised() -> None:
    assert all(one.loading.synchronised for one in IMPLEMENTATIONS if isinstance(one, Synchronised))


def test_implementations_that_processors_pass_on_are_dyn() -> None:
    online = {one.name for one in IMPLEMENTATIONS if one.loading is Loading.ONLINE}
    assert online
    assert all(name.startswith("dyn_") for name in online)
