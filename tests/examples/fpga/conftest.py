"""The example's files import each other as they do when ``board.py`` is run: by their folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "examples" / "fpga"))

if TYPE_CHECKING:
    from exchange import Exchange
    from tape import Tape

    from pointsman.artifacts.images.images import Images


@pytest.fixture(scope="session")
def exchange() -> tuple[Images, Exchange, list[Tape]]:
    """The program with blocks of two words: images, application, tapes."""
    from board import compile_exchange
    from tape import record

    images, application = compile_exchange(block=2)
    return images, application, record(images, application)
