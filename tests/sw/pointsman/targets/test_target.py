"""Every kind of hardware gives what ``compile`` and ``run`` ask for."""

from __future__ import annotations

import inspect

import pytest

from pointsman.api.options import TARGETS
from pointsman.api.targets.by_name import target_named
from pointsman.targets.target import Target

METHODS = [name for name, value in vars(Target).items() if inspect.isfunction(value) and not name.startswith("_")]


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_has_each_method_with_the_same_parameters(name: str) -> None:
    target = target_named(name)
    assert target.name == name
    assert "run" in METHODS
    for method in METHODS:
        own = inspect.signature(getattr(type(target), method))
        assert list(own.parameters) == list(inspect.signature(getattr(Target, method)).parameters), method


@pytest.mark.parametrize("name", TARGETS)
def test_stages_are_further_than_those_that_all_targets_have(name: str) -> None:
    stages = target_named(name).stages
    assert stages
    assert not {"program", "python"} & set(stages)
