"""docs/check.md has today's rules, each with its picture."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from loading import module_at
from pointsman.verify.report import RULES

ROOT = Path(__file__).parents[2]


def test_the_page_has_todays_rules() -> None:
    assert subprocess.run([sys.executable, "docs/make_check.py", "--check"], cwd=ROOT, check=False).returncode == 0


def test_each_rule_has_its_picture() -> None:
    folder = ROOT / "docs/pictures"
    maker = module_at(folder / "make_rules.py")
    assert set(maker.PICTURES) == set(RULES)
    assert {path.stem for path in (folder / "rules").iterdir()} == set(RULES)
    for name, picture in maker.PICTURES.items():
        assert (folder / "rules" / f"{name}.svg").read_text() == maker.drawn(picture), "run docs/pictures/make_rules.py"
