"""The naive simulators that lie beside the tests."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parent / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def reservation_by_hand() -> ModuleType:
    return load("reservation_by_hand")


@pytest.fixture(scope="session")
def hopping_by_hand() -> ModuleType:
    return load("hopping_by_hand")
