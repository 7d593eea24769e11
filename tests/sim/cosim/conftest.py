"""Fixtures shared by runs of random programs."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def trees() -> ModuleType:
    """Random programs and who walks through them (random_trees.py); it cannot be imported by name."""
    spec = importlib.util.spec_from_file_location("random_trees", Path(__file__).with_name("random_trees.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["random_trees"] = module
    spec.loader.exec_module(module)
    return module
