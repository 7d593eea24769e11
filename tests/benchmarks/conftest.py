"""Benchmarks as modules: they are scripts, in no package."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="session")
def load() -> Callable[[str], ModuleType]:
    """Runs a script, given as a path below ``benchmarks``, and gives its module."""

    def loaded(name: str) -> ModuleType:
        path = BENCHMARKS / name
        spec = importlib.util.spec_from_file_location(f"benchmark_{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        with patch.object(sys, "path", [str(path.parent), *sys.path]):  # scripts import from each other
            spec.loader.exec_module(module)
        return module

    return loaded
