"""Accesses to memories, taken out of Verilator's statements before these become loops over lanes.

Each lane reads another row, which compilers do one lane after the other, together with all else that the statement does. So
what a statement reads from memories is read before it, into variables of its own, all lanes of a memory at once
(``lanes_read`` in lanes_memory.h); the rest then has no memory in it, and becomes vector instructions. A statement that does
nothing but write a word under a condition becomes ``lanes_write``, which is over at once where no lane writes.

A read stays where it is if the statement changes the memory, or what the row depends on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_ASSIGNED = re.compile(r"(?<![=!<>])=(?!=)")
_WRITE = re.compile(r"if \((?P<on>vlSelfRef\.\w+|\w+)\) \{\s*vlSelfRef\.(?P<memory>\w+)(?P<rest>\[.*)\}\s*$", re.S)


@dataclass(frozen=True)
class Read:
    """A word of a memory: ``name`` is the variable that it comes into, ``row`` an expression."""

    name: str
    memory: str
    row: str


@dataclass(frozen=True)
class Write:
    """``memory[row] = word`` where ``on`` is not 0; all are expressions."""

    memory: str
    on: str
    row: str
    word: str


def taken_out(statement: str, memories: Mapping[str, int]) -> tuple[list[Read], str]:
    """Reads to be made before a statement, in order, and the statement with their names in their places.

    Parameters
    ----------
    statement : str
        As Verilator wrote it.
    memories : mapping
        Rows of each memory that has one word in a row.
    """
    reads: list[Read] = []
    changed = assigned(statement)

    def without(text: str) -> str:
        parts: list[str] = []
        at = 0
        for match in re.finditer(r"\bvlSelfRef\.(\w+)\s*(?=\[)", text):
            if match.start() < at or match[1] not in memories or match[1] in changed:
                continue
            end = closing(text, match.end()) + 1
            row = without(text[match.end() + 1 : end - 1])
            if changed & set(re.findall(r"\w+", row)):
                continue
            known = next((read for read in reads if (read.memory, read.row) == (match[1], row)), None)
            if known is None:
                known = Read(f"__read_{len(reads)}", match[1], row)
                reads.append(known)
            parts += [text[at : match.start()], known.name]
            at = end
        return "".join([*parts, text[at:]])

    return reads, without(statement)


def write_of(statement: str, memories: Mapping[str, int]) -> Write | None:
    """The write that a statement consists of, if it does."""
    match = _WRITE.match(statement)
    if match is None or match["memory"] not in memories or "else" in statement:
        return None
    rest = match["rest"].strip()
    end = closing(rest, 0)
    word = re.fullmatch(r"\s*=(?!=)([^;]*);", rest[end + 1 :])
    return word and Write(match["memory"], match["on"], rest[1:end], word[1].strip())


def assigned(statement: str) -> set[str]:
    """Names of the variables that a statement assigns to."""
    found = set()
    for match in _ASSIGNED.finditer(statement):
        at = match.start() - 1
        while statement[at].isspace() or statement[at] == "]":
            at = _opening(statement, at) - 1 if statement[at] == "]" else at - 1
        name = re.search(r"\w+$", statement[: at + 1])
        if name is not None:
            found.add(name[0])
    return found


def closing(text: str, at: int) -> int:
    """Index of the bracket that closes the one at ``at``."""
    pairs = {"[": "]", "{": "}", "(": ")"}
    opening, end, depth = text[at], pairs[text[at]], 0
    while True:
        if text[at] == opening:
            depth += 1
        elif text[at] == end:
            depth -= 1
            if not depth:
                return at
        at += 1


def _opening(text: str, at: int) -> int:
    """Index of the square bracket that is closed at ``at``."""
    depth = 0
    while True:
        depth += (text[at] == "]") - (text[at] == "[")
        if not depth:
            return at
        at -= 1
