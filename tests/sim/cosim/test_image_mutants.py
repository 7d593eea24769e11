"""Changed images are refused, or run right; `image_mutants` makes more of them (`make soak-mutants`)."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from image_mutants import FAULTS, run_mutant

MUTANTS = 120
PROGRAMS = 4


def test_changed_images_are_refused_or_run_right() -> None:
    found = {number: outcome for number in range(MUTANTS) if (outcome := run_mutant(number, PROGRAMS)) is not None}
    assert {number: outcome for number, outcome in found.items() if outcome.kind in FAULTS} == {}
    counts = Counter(outcome.kind for outcome in found.values())
    assert counts["refused"] > MUTANTS // 3
    assert counts["unreadable"]
    assert counts["right"]
