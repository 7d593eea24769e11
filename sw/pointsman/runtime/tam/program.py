"""A TAM program: code-blocks with threads and inlets, as the assembler gives it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

Value = int | float


class Place(IntEnum):
    """Where an operand is."""

    IMMEDIATE = 0
    SLOT = 1
    REGISTER = 2


class Operand(NamedTuple):
    """``value``: of an immediate; otherwise the number of the slot or register."""

    place: Place
    value: Value


class Instruction(NamedTuple):
    """``target``, ``other``: numbers of the thread or inlet, and for `switch`, `falloc` and `send` of the second or of the
    code-block."""

    name: str
    operands: tuple[Operand, ...]
    target: int
    other: int
    line: int


@dataclass(frozen=True)
class Thread:
    """``count``: forks and posts that enable it; 1: it does not synchronise."""

    name: str
    count: int
    code: tuple[Instruction, ...]


@dataclass(frozen=True)
class Inlet:
    """``receive``: slots of the values of a message; ``code``: what it does then, which posts threads."""

    name: str
    receive: tuple[int, ...]
    code: tuple[Instruction, ...]


@dataclass(frozen=True)
class CodeBlock:
    """``slots``: values in its frame; ``arrays``: by name, the first of its slots, and how many it has."""

    name: str
    slots: int
    threads: tuple[Thread, ...]
    inlets: tuple[Inlet, ...]
    arrays: Mapping[str, tuple[int, int]]

    def slot_name(self, slot: int) -> str:
        """A slot as the text has it: ``a``, or ``table[3]``."""
        name, (first, count) = next(one for one in self.arrays.items() if one[1][0] <= slot < sum(one[1]))
        return name if count == 1 else f"{name}[{slot - first}]"


@dataclass(frozen=True)
class TamProgram:
    """``main``: number of the code-block that runs first, on node 0; its inlet 0 gets the arguments of the program. ``name``:
    where it is from, for errors."""

    blocks: tuple[CodeBlock, ...]
    main: int
    name: str = "program"


ARITHMETIC = (
    "mov",
    "add",
    "sub",
    "mul",
    "div",
    "mod",
    "and",
    "or",
    "xor",
    "shl",
    "shr",
    "lt",
    "le",
    "eq",
    "ne",
    "min",
    "max",
    "float",
    "int",
    "inletof",
)
CONTROL = ("fork", "cfork", "switch", "init", "stop", "swap", "poll", "post")
MESSAGES = ("send", "sendto", "halt", "falloc", "ffree")
HEAP = ("ialloc", "ifree", "ifetch", "istore", "mfetch", "mstore")
CATEGORIES = {
    **dict.fromkeys(ARITHMETIC, "alu"),
    **dict.fromkeys(CONTROL, "control"),
    **dict.fromkeys(MESSAGES, "messages"),
    **dict.fromkeys(HEAP, "heap"),
}
"""By instruction, its category in Figure 6-12 of von Eicken 1993."""
