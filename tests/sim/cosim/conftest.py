"""Fixtures shared by runs of random programs."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from loading import module_at


@pytest.fixture(scope="session")
def trees() -> ModuleType:
    """Random programs and who walks through them (random_trees.py); it cannot be imported by name."""
    return module_at(Path(__file__).with_name("random_trees.py"))
