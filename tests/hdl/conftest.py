"""Descriptions in SystemRDL, as other people's compiler reads them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from systemrdl import RDLCompiler
from systemrdl.node import AddrmapNode


@pytest.fixture
def elaborated(tmp_path: Path) -> Callable[[str], AddrmapNode]:
    """Gives the address map of a text."""

    def read(text: str) -> AddrmapNode:
        path = tmp_path / "described.rdl"
        path.write_text(text)
        compiler = RDLCompiler()
        compiler.compile_file(str(path))
        return compiler.elaborate().top

    return read
