"""Every target fulfils the protocol that the commands know."""

from __future__ import annotations

import pytest

from pointsman.api.options import TARGETS
from pointsman.api.targets.by_name import target_named


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_is_the_one_that_is_named(name: str) -> None:
    target = target_named(name)
    assert target.name == name
    assert target.stages
    for what in ("refuse", "stage", "compile", "describe", "write", "read", "run"):
        assert callable(getattr(target, what))
