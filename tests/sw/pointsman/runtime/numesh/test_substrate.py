"""A node on the mesh of scheduled routers: its operators, and what it refuses when a phase is left."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from pointsman.errors import PointsmanError
from pointsman.runtime.numesh.substrate import NumeshSubstrate


class _Clock:
    time = 0


def _drain(coroutine: Any) -> int:
    return len(list(coroutine.__await__()))


def test_operators_are_shown_to_all_nodes_and_have_ports_where_they_are(by_hand: ModuleType) -> None:
    images = by_hand.delay_1x3()
    shown = [NumeshSubstrate(images, node, _Clock()).ports() for node in range(3)]
    assert [[signature.label for signature, _ in ports] for ports in shown] == [["s"]] * 3
    assert [ports[0][1] is not None for ports in shown] == [True, False, True]


def test_barriers_that_close_phases_are_not_shown(by_hand: ModuleType) -> None:
    images = by_hand.two_phases_2x2()
    labels = {signature.label for signature, _ in NumeshSubstrate(images, 0, _Clock()).ports()}
    inner = {images.operators[phase.barrier].label for phase in images.phases if phase.barrier is not None}
    assert inner
    assert not labels & inner


def test_a_node_is_in_the_loader_phase_at_first(by_hand: ModuleType) -> None:
    substrate = NumeshSubstrate(by_hand.stream_1x2(), 0, _Clock())
    assert substrate.where() == "in the loader phase"
    assert substrate.agent is None


def test_at_the_end_a_node_goes_through_phases_that_others_need_it_in(by_hand: ModuleType) -> None:
    middle = NumeshSubstrate(by_hand.delay_1x3(), 1, _Clock(), preloaded=True)
    assert _drain(middle.fini()) > 0
    assert middle.router.current == 0


def test_who_loads_an_operator_must_use_it_before_it_leaves(by_hand: ModuleType) -> None:
    images = by_hand.two_phases_2x2()
    substrate = NumeshSubstrate(images, 0, _Clock())
    substrate.router.due = {0: False}
    with pytest.raises(PointsmanError, match="node 0 leaves phase 'second' and has called s_load, but not used 's'"):
        substrate._refuse_unused(images.phases[1])
    substrate.router.due = {0: True}
    substrate._refuse_unused(images.phases[1])
