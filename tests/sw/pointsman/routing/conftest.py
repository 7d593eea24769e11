"""What the tests of routes share."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def replay() -> ModuleType:
    """The replay of routes, ``replay.py`` beside this file."""
    spec = importlib.util.spec_from_file_location("router_replay", Path(__file__).with_name("replay.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
