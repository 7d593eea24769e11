"""What the tests of the switch under programs share."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from loading import module_at


@pytest.fixture(scope="session")
def switch_programs() -> ModuleType:
    return module_at(Path(__file__).with_name("programs.py"), "switch_programs")
