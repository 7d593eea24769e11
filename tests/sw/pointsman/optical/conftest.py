"""The naive simulators that lie beside the tests."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from loading import module_at


def load(name: str) -> ModuleType:
    return module_at(Path(__file__).parent / f"{name}.py")


@pytest.fixture(scope="session")
def reservation_by_hand() -> ModuleType:
    return load("reservation_by_hand")


@pytest.fixture(scope="session")
def hopping_by_hand() -> ModuleType:
    return load("hopping_by_hand")
