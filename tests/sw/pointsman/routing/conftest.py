"""What the tests of routes share."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from loading import module_at


@pytest.fixture(scope="session")
def replay() -> ModuleType:
    """The replay of routes, ``replay.py`` beside this file."""
    return module_at(Path(__file__).with_name("replay.py"), "router_replay")
