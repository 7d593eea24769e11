"""Programs of the examples."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def livermore() -> str:
    return (Path(__file__).parents[4] / "examples/arrays/livermore18.f90").read_text()
