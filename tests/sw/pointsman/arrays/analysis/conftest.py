"""The judge of the analysis, and programs that lie beside the tests."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[5]


@pytest.fixture(scope="session")
def enumeration() -> ModuleType:
    spec = importlib.util.spec_from_file_location("arrays_enumeration", Path(__file__).with_name("enumeration.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["arrays_enumeration"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def livermore18() -> str:
    return (ROOT / "examples/arrays/livermore18.f90").read_text()
