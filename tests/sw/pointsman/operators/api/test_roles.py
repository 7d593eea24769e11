"""VFSMs as load functions leave them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from numesh.codes import MoveType
from pointsman.operators import VfsmSetting
from pointsman.routing.streams import Place, RoutedVfsm


@pytest.fixture
def leg() -> VfsmSetting:
    """The leg of a fork that delivers."""
    vfsm = RoutedVfsm(3, 1, 2, MoveType.FORK, Place("link", 0), Place("deliver"), (2, 6), 0)
    return VfsmSetting(5, 0, vfsm)


@pytest.mark.parametrize(
    ("change", "source", "destination", "fork"),
    [
        (lambda s: s.read_interface(), Place("inject"), Place("deliver"), False),
        (lambda s: s.read_register(4), Place("register", 4), Place("deliver"), False),
        (lambda s: s.idle(), Place("nop"), Place("deliver"), False),
        (lambda s: s.off(), Place("nop"), Place("nop"), False),
        (lambda s: s.write_register(4), Place("link", 0), Place("register", 4), True),
        (lambda s: s.command(1), Place("link", 0), Place("command", 1), True),
        (lambda s: s.discard(), Place("link", 0), Place("null"), True),
    ],
)
def test_a_setting_changes_ends_and_stays_where_it_is(
    leg: VfsmSetting, change: Callable[[Any], Any], source: Place, destination: Place, fork: bool
) -> None:
    vfsm = change(leg).vfsm
    assert (vfsm.source, vfsm.destination, vfsm.type == MoveType.FORK) == (source, destination, fork)
    assert (vfsm.node, vfsm.pipeline, vfsm.slots) == (3, 1, (2, 6))
