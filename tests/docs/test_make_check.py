"""docs/check.md has today's rules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_has_todays_rules() -> None:
    assert subprocess.run([sys.executable, "docs/make_check.py", "--check"], cwd=ROOT, check=False).returncode == 0
