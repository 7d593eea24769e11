"""The judge of the analysis, and programs that lie beside the tests."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from loading import module_at

ROOT = Path(__file__).parents[5]


@pytest.fixture(scope="session")
def enumeration() -> ModuleType:
    return module_at(Path(__file__).with_name("enumeration.py"), "arrays_enumeration")


@pytest.fixture(scope="session")
def livermore18() -> str:
    return (ROOT / "examples/arrays/livermore18.f90").read_text()
