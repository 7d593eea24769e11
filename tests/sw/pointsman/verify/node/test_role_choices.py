"""Combinations of roles that nodes can have together."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

from pointsman.artifacts.images import Images
from pointsman.verify.images import check_images

Judge = Callable[[str, str, Images], None]


def test_roles_beyond_the_limit_are_named(by_hand: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pointsman.verify.node.role_choices.MOST_KEYS", 2)
    report = check_images(by_hand.crossing(3))
    assert report.ok
    assert report.unchecked == ("in phase p combinations of roles of a node or link beyond 2",)
