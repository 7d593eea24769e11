"""Changed images are refused, or run right; `image_mutants` makes more of them (`make soak-mutants`)."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from image_mutants import FAULTS, HARMLESS, run_mutant
from mutant_programs import IMPLEMENTATIONS, SUBJECTS

from pointsman.operators import IMPLEMENTATIONS as ALL
from pointsman.program.catalogue import OPERATORS

MUTANTS = 200
PROGRAMS = tuple(
    number
    for number, one in enumerate(SUBJECTS)
    if any(
        part in one.text for part in ("str_collect_tree", "(broadcast 'a 0 :m 1) (broadcast 'b 3 :m 2)", "dyn_shift")
    )
)
"""One with load functions that meet, one with phases that end by other streams, one whose messages processors pass on."""


def test_changed_images_are_refused_or_run_right() -> None:
    assert len(PROGRAMS) == 3
    found = {number: outcome for number in range(MUTANTS) if (outcome := run_mutant(number, PROGRAMS)) is not None}
    assert {number: outcome for number, outcome in found.items() if outcome.kind in FAULTS} == {}
    assert {outcome.field for outcome in found.values() if outcome.kind == "right"} <= HARMLESS.keys()
    counts = Counter(outcome.kind for outcome in found.values())
    assert counts["refused"] > MUTANTS // 3
    assert counts["unreadable"]
    assert counts["right"]


def test_programs_have_all_kinds_and_implementations() -> None:
    assert {one.name for one in ALL} == IMPLEMENTATIONS
    assert all(any(f":impl '{name}" in one.text for one in SUBJECTS) for name in IMPLEMENTATIONS)
    assert all(any(f"({kind} " in one.text for one in SUBJECTS) for kind in OPERATORS)
