"""Where a text that is no Fortran is wrong, as near as its words tell: the parser names no more than a line."""

from __future__ import annotations

import re
from collections.abc import Sequence

OPENING = (
    ("DO", re.compile(r"(?:\w+\s*:\s*)?do\s*(?:$|,?\s*while\b|[a-z]\w*\s*=)"), re.compile(r"end\s*do\b")),
    ("IF", re.compile(r"(?:\w+\s*:\s*)?if\s*\(.*\)\s*then\s*$"), re.compile(r"end\s*if\b")),
    ("FORALL", re.compile(r"forall\s*\([^=]*=.*\)\s*$"), re.compile(r"end\s*forall\b")),
    ("WHERE", re.compile(r"where\s*\((?:[^()]|\([^()]*\))*\)\s*$"), re.compile(r"end\s*where\b")),
)
"""Constructs, as they begin and as they end; a labelled DO ends on its label, not here."""

ARITHMETIC = ("**", "*", "/", "+", "-")
OPERATORS = (*ARITHMETIC, "==", "/=", "<=", ">=", "<", ">", "=")
TOKENS = re.compile(r"\*\*|==|/=|<=|>=|[-+*/=<>(),:]|[^-+*/=<>(),:\s]+")


def unclosed(lines: Sequence[str], number: int) -> tuple[int, str] | None:
    """The construct that is open before an END on a line (from 1) that does not end it: its line, and what it is."""
    if re.match(r"\s*end", _bare(lines[number - 1])) is None:
        return None
    stack: list[tuple[int, str]] = []
    for at, line in enumerate(lines[:number], start=1):
        said = _bare(line)
        for what, opens, closes in OPENING:
            if opens.match(said):
                stack.append((at, what))
            elif closes.match(said) and stack:
                if stack[-1][1] != what:
                    return stack[-1]
                stack.pop()
    return stack[-1] if stack else None


def suspect(line: str) -> tuple[int, str] | None:
    """What cannot be right within a line: its column (from 1), and what it is; None if that is not so simple."""
    said = _bare(line, strip=False)
    opened: list[int] = []
    for at, letter in enumerate(said):
        if letter == "(":
            opened.append(at)
        elif letter == ")":
            if not opened:
                return at + 1, "no parenthesis is open for this one"
            opened.pop()
    if opened and not said.rstrip().endswith("&"):
        return opened[-1] + 1, "this parenthesis is not closed"
    if said.rstrip().endswith("&"):
        return None
    last, before = "", ("", 0)
    for token in (*((one[0], one.start()) for one in TOKENS.finditer(said)), ("", len(said.rstrip()))):
        if before[0] in OPERATORS and token[0] in (*OPERATORS, ",", ")", ""):
            sign = token[0] in ("+", "-") and before[0] not in ARITHMETIC
            star = before[0] == "*" and last in ("(", ",", "print")  # as in "write (*, *)"
            if not sign and not star:
                return (before[1] if token[0] == "" else token[1]) + 1, "an operand is missing here"
        last, before = before[0], token
    return None


def _bare(line: str, *, strip: bool = True) -> str:
    """A line in lower case, without comment, label and what is between quotation marks, every character in its place."""
    said = re.sub(r"'[^']*'|\"[^\"]*\"", lambda found: "x" * len(found[0]), line.lower())
    said = said.partition("!")[0]
    return re.sub(r"^\s*\d+\s+", "", said).strip() if strip else said
