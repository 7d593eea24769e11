"""Traces of connections: messages that were recorded somewhere, as traffic.

Two forms. A text, a message a line: when it is ready, source, destination, packets, with commas or blanks between; lines that
begin with # and a first line of names do not count. Or the document that ``pointsman show APP --target tdm --json`` writes: the
bursts of words that each processor sent to a port of the switch, in cycles; ``slot_words`` words, a cycle each, are a slot.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pointsman.errors import PointsmanError
from pointsman.files import read_text

Message = tuple[int, int, int, int]
MOST_WORDS = 1 << 20
_LARGEST = 10**18


def read_trace(path: Path, *, slot_words: int = 1) -> list[Message]:
    """Messages of a trace as (ready, source, destination, packets), in the order of the file.

    Raises
    ------
    PointsmanError
        With file and line, if it is none of the two forms, or a number is none.
    """
    if not 1 <= slot_words <= MOST_WORDS:
        raise PointsmanError(f"traffic.slot_words: a slot must carry 1 to {MOST_WORDS} words, not {slot_words}")
    text = read_text(path, "trace")
    found = _of_document(path, text) if text.lstrip()[:1] in ("{", "[") else _of_lines(path, text)
    return [
        (ready // slot_words, source, destination, -(-words // slot_words))
        for ready, source, destination, words in found
    ]


def _of_lines(path: Path, text: str) -> list[Message]:
    found: list[Message] = []
    named = False
    for number, line in enumerate(text.splitlines(), 1):
        parts = line.partition("#")[0].replace(",", " ").split()
        if not parts:
            continue
        if not found and not named and all(part.isidentifier() for part in parts):
            named = True
            continue
        values = [_whole(part) for part in parts]
        if len(values) != 4 or None in values:
            raise PointsmanError(
                f"{path}:{number}: a line of a trace must have four numbers: ready, source, destination, packets",
                hint="0,3,7,16",
            )
        found.append(tuple(values))  # type: ignore[arg-type]
    return found


def _whole(part: str) -> int | None:
    """A whole number of at most 18 digits; None if it is none."""
    digits = part.removeprefix("-")
    return int(part) if digits.isascii() and digits.isdigit() and len(digits) <= 18 else None


def _of_document(path: Path, text: str) -> list[Message]:
    try:
        plain: Any = json.loads(text)
        rows = plain["run"]["bursts"] if plain["format"] == "pointsman-show" else None
    except (ValueError, RecursionError, KeyError, TypeError):
        rows = None
    hint = "pointsman show APP.py --target tdm --json FILE"
    if not isinstance(rows, list) or not rows:
        raise PointsmanError(f"{path}: this is no document of a run on the switch, with its bursts", hint=hint)
    found: list[Message] = []
    for row in rows:
        if not (
            isinstance(row, list)
            and len(row) == 8
            and all(type(value) is int and abs(value) < _LARGEST for value in row)
        ):
            raise PointsmanError(f"{path}: a burst must be a list of eight numbers, not {str(row)[:60]}", hint=hint)
        source, destination, wrote, _, _, words, _, _ = row
        if source != destination:  # words to a node itself do not cross the network
            found.append((wrote, source, destination, words))
    return found
