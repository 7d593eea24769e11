"""What faults in the compiler are tried on (`source_mutants`): programs, the lines of the compiler that they come to, and what is
written of them. Imports the compiler, which may have a fault by then."""

from __future__ import annotations

import hashlib
import sys
import traceback
from collections.abc import Collection, Sequence
from functools import cache
from types import CodeType, FrameType
from typing import Any

from image_mutants import run_images
from mutant_programs import SUBJECTS, Subject, compiled

from pointsman.api.judged import judged
from pointsman.artifacts.images import images_to_bytes
from pointsman.artifacts.images.images import Images
from pointsman.cop import CopError
from pointsman.errors import PointsmanError
from pointsman.operators.messages.online import carried
from pointsman.program.program import Program
from pointsman.verify.meaning.messages import values_of
from pointsman.verify.programs import program_differences

TEXTS = (
    ("2x2", "(loop 'l 3 (broadcast 'a (runtime) :m 4) (cshift 'b 1 :m 3) (allreduce 'c 'add :m 2)) (barrier 'd)"),
    (
        "3x2",
        "(parallel (stream 's 0 5 :m 9) (gather 'g 2 :m 2)) (prefix 'p 'max :m 3) (permute 'q '(1 0 3 2 5 4) :m 2)",
    ),
    ("3x1", "(loop 'l 2 (optional (reduce 'r 'add 1 :m 2)) (spread 's 0 :m 3) (collect 'c 2)) (broadcast 'b 2 :m 30)"),
    (
        "3x1",
        "(loop 'l 2 (collect 'c (runtime) :m 3 :impl 'str_collect_tree) (cshift 'd (runtime) :m 2 :impl 'dyn_shift))",
    ),
    ("4x1", "(loop 'l 3 (broadcast 'a 0 :m 1) (stream 's (runtime) 2 :m 2) (broadcast 'b 3 :m 2))"),
)
SUBJECTS_STEP = 3
"""Of `mutant_programs.SUBJECTS` every third is a program, too."""
MOST_VALUES = 4
"""Run-time values of an operator for which its messages are looked at."""
MOST_LOOKS = 200
"""Calls of a function that are watched while a program is compiled."""


@cache
def programs() -> tuple[Subject, ...]:
    """Programs that are compiled."""
    return (*(Subject(network, text) for network, text in TEXTS), *SUBJECTS[::SUBJECTS_STEP])


def compiled_digest(number: int) -> tuple[str, Program | None, Images | None]:
    """What is written of a program: a digest of its images and of what processors make of them when messages are passed on, or
    "refused"; with the program and its images."""
    try:
        program, images = compiled(programs()[number])
    except (CopError, PointsmanError):
        return "refused", None, None
    digest = hashlib.sha256(images_to_bytes(images))
    for one in images.operators:
        if one.online is not None and one.program is not None:
            for values in values_of(one.program)[:MOST_VALUES]:
                scripts = carried(one.program, one.way, images.topology, values)
                digest.update(repr(sorted(scripts.items())).encode())
    return digest.hexdigest(), program, images


def covered(number: int, files: Collection[str]) -> tuple[str, dict[str, list[int]]]:
    """What is written of a program, and by file the lines that its compilation comes to."""
    seen: dict[CodeType, set[int]] = {}
    looks: dict[CodeType, int] = {}

    def line(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            seen[frame.f_code].add(frame.f_lineno)
        return line

    def call(frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if code.co_filename not in files:
            return None
        seen.setdefault(code, {code.co_firstlineno})
        looks[code] = looks.get(code, 0) + 1
        return line if looks[code] <= MOST_LOOKS else None

    sys.settrace(call)
    try:
        digest, _, _ = compiled_digest(number)
    finally:
        sys.settrace(None)
    lines: dict[str, set[int]] = {}
    for code, own in seen.items():
        lines.setdefault(code.co_filename, set()).update(own)
    return digest, {file: sorted(own) for file, own in lines.items()}


def tried(numbers: Sequence[int], right: Sequence[str]) -> tuple[str, str]:
    """(outcome, what was said) of the programs with these numbers; ``right``: what the right compiler writes of each."""
    differs = False
    for number, wanted in zip(numbers, right, strict=True):
        try:
            digest, program, images = compiled_digest(number)
        except Exception:
            return "crash", traceback.format_exc(limit=-1)
        if digest == wanted:
            continue
        if program is None or images is None:
            return "refused", programs()[number].text[:60]
        differs = True
        report = judged(images)
        differences = program_differences(images, program)
        kind, said = run_images(program, images, number)
        if not report.ok or differences:
            return "judge", f"{', '.join(report.rules) or differences[0]}; it runs {kind}"
        if kind != "right":
            return "accepted", said
    return ("other" if differs else "same" if numbers else "unreached"), ""
