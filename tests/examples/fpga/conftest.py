"""The example's files import each other as they do when ``board.py`` is run: by their folder."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "examples" / "fpga"))
