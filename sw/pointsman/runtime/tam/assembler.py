"""TAM assembler text to a `TamProgram`.

::

    codeblock NAME                     the one called main runs first, on node 0
      slots a, b, table[8]             values of its frame; table[3] is one of them
      inlet NAME a, b                  a message's values go to these slots, then its code runs; of main, the first gets the
      arguments
        post THREAD
      thread NAME [COUNT]              COUNT forks and posts enable it, 1 where none is given
        INSTRUCTION operands           a slot, a register r0 … r15, a number, or me, nodes (numbers of this node, and of
        nodes), self (the frame)

A semicolon begins a comment. `INSTRUCTIONS` has the forms.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from pointsman.errors import PointsmanError

from .program import ARITHMETIC, CodeBlock, Inlet, Instruction, Operand, Place, TamProgram, Thread, Value
from .values import check_value

REGISTERS = 16
MOST_VALUES = 8
"""Values of a message."""
MOST_SLOTS = 1 << 16
"""Slots of a frame."""
SELF, ME, NODES = REGISTERS, REGISTERS + 1, REGISTERS + 2
"""Registers that hold the frame, the node's number, and how many nodes there are."""
NAMES = {"self": SELF, "me": ME, "nodes": NODES}

INSTRUCTIONS: Mapping[str, str] = {
    **dict.fromkeys(ARITHMETIC, "dvv"),
    **dict.fromkeys(("mov", "float", "int"), "dv"),
    "inletof": "dJ",
    "fork": "t",
    "cfork": "vt",
    "switch": "vtt",
    "init": "t",
    "stop": "",
    "swap": "",
    "poll": "",
    "post": "t",
    "send": "vI*",
    "sendto": "vv*",
    "halt": "*",
    "falloc": "Bvii",
    "ffree": "v",
    "ialloc": "vvi",
    "ifree": "v",
    "ifetch": "vvi",
    "istore": "vvv",
    "mfetch": "vvi",
    "mstore": "vvv",
}
"""Forms of operands: ``d`` a place to write to, ``v`` a value, ``*`` values, ``t`` a thread, ``i`` an inlet of this
code-block, ``I`` an inlet ``BLOCK.INLET`` that receives the values, ``J`` any such inlet, ``B`` a code-block."""
IN_INLETS = (*ARITHMETIC, "post")
_NAME = re.compile(r"[A-Za-z_]\w*")
_SLOT = re.compile(r"([A-Za-z_]\w*)(?:\[([0-9]{1,9})\])?")
_REGISTER = re.compile(r"r[0-9]{1,9}")


class TamError(PointsmanError):
    """An error in a TAM program, with its line."""


@dataclass
class _Body:
    """A thread or an inlet while it is read."""

    name: str
    line: int
    count: int = 1
    receive: list[str] = field(default_factory=list)
    lines: list[tuple[int, str, str]] = field(default_factory=list)


@dataclass
class _Block:
    name: str
    line: int
    slots: dict[str, tuple[int, int]] = field(default_factory=dict)
    size: int = 0
    threads: list[_Body] = field(default_factory=list)
    inlets: list[_Body] = field(default_factory=list)


class _Reader:
    """Reads a text in two passes: names first, then instructions."""

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self.blocks: list[_Block] = []
        body: _Body | None = None
        for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
            words = line.split(";")[0].split(maxsplit=1)
            if not words:
                continue
            word, rest = words[0], words[1].strip() if len(words) > 1 else ""
            if word == "codeblock":
                self._named(rest, [one.name for one in self.blocks], number, "code-block")
                self.blocks.append(_Block(rest, number))
                body = None
                continue
            if not self.blocks:
                raise self.wrong(number, "a program begins with a codeblock")
            block = self.blocks[-1]
            if word == "slots":
                self._slots(block, rest, number)
            elif word == "thread":
                body = self._thread(block, rest, number)
            elif word == "inlet":
                body = self._inlet(block, rest, number)
            elif body is None:
                raise self.wrong(number, f"'{word}' stands in no thread and no inlet")
            else:
                body.lines.append((number, word, rest))

    def wrong(self, line: int, message: str, hint: str | None = None) -> TamError:
        return TamError(f"{self.name}:{line}: {message}", hint=hint)

    def _named(self, name: str, known: list[str], line: int, what: str) -> None:
        if not _NAME.fullmatch(name):
            raise self.wrong(line, f"{name!r} is no name of a {what}")
        if name in known:
            raise self.wrong(line, f"there is a {what} '{name}' already")

    def _slots(self, block: _Block, rest: str, line: int) -> None:
        for word in rest.split(","):
            found = _SLOT.fullmatch(word.strip())
            if found is None:
                raise self.wrong(line, f"{word.strip()[:24]!r} is no slot", "a, b, table[8]")
            if found[1] in block.slots or found[1] in NAMES or _REGISTER.fullmatch(found[1]):
                raise self.wrong(line, f"the name '{found[1]}' of a slot is taken")
            count = int(found[2] or 1)
            block.slots[found[1]] = (block.size, count)
            block.size += count
            if block.size > MOST_SLOTS:
                raise self.wrong(line, f"a frame of '{block.name}' has {block.size} slots; it may have {MOST_SLOTS}")

    def _thread(self, block: _Block, rest: str, line: int) -> _Body:
        name, *counts = rest.split(maxsplit=1) or [""]
        self._named(name, [one.name for one in block.threads], line, "thread")
        count = counts[0] if counts else "1"
        if not re.fullmatch("0*[1-9][0-9]{,8}", count):
            raise self.wrong(line, f"the count of thread '{name}' must be 1 to 999999999, not {count!r}")
        made = _Body(name, line, int(count))
        block.threads.append(made)
        return made

    def _inlet(self, block: _Block, rest: str, line: int) -> _Body:
        name, *slots = rest.split(maxsplit=1) or [""]
        self._named(name, [one.name for one in block.inlets], line, "inlet")
        made = _Body(name, line, receive=[word.strip() for word in slots[0].split(",")] if slots else [])
        if len(made.receive) > MOST_VALUES:
            raise self.wrong(
                line, f"inlet '{name}' receives {len(made.receive)} values; a message has {MOST_VALUES} at most"
            )
        block.inlets.append(made)
        return made

    # -- second pass -----------------------------------------------------------------------------------------

    def program(self) -> TamProgram:
        names = [block.name for block in self.blocks]
        if "main" not in names:
            raise TamError(f"{self.name}: there is no code-block main, with which a program begins")
        made = tuple(self._block(block) for block in self.blocks)
        main = made[names.index("main")]
        if not main.inlets:
            raise self.wrong(self.blocks[names.index("main")].line, "code-block main has no inlet for its arguments")
        return TamProgram(made, names.index("main"), self.name)

    def _block(self, block: _Block) -> CodeBlock:
        threads = tuple(
            Thread(
                one.name,
                one.count,
                tuple(self._instruction(block, line, word, rest, False) for line, word, rest in one.lines),
            )
            for one in block.threads
        )
        inlets = tuple(
            Inlet(
                one.name,
                tuple(int(self._place(block, slot, one.line, written=True, slots=True).value) for slot in one.receive),
                tuple(self._instruction(block, line, word, rest, True) for line, word, rest in one.lines),
            )
            for one in block.inlets
        )
        for one, thread in zip(block.threads, threads, strict=True):
            for before in thread.code[:-1]:
                if before.name in ("stop", "swap"):
                    raise self.wrong(before.line, f"thread '{one.name}' goes on after {before.name}")
        return CodeBlock(block.name, block.size, threads, inlets, block.slots)

    def _instruction(self, block: _Block, line: int, word: str, rest: str, in_inlet: bool) -> Instruction:
        if word not in INSTRUCTIONS:
            raise self.wrong(line, f"there is no instruction '{word}'")
        if in_inlet and word not in IN_INLETS:
            raise self.wrong(
                line,
                f"'{word}' stands in an inlet, which must neither wait nor allocate nor send",
                "post a thread that does it",
            )
        if not in_inlet and word == "post":
            raise self.wrong(line, "'post' stands in a thread", "fork enables a thread of the frame that runs")
        form, words = INSTRUCTIONS[word], [one.strip() for one in rest.split(",")] if rest else []
        least = len(form.rstrip("*"))
        if len(words) < least or (len(words) > least and not form.endswith("*")) or len(words) - least > MOST_VALUES:
            raise self.wrong(
                line, f"'{word}' has {len(words)} operands, and takes {least}{' or more' if '*' in form else ''}"
            )
        operands: list[Operand] = []
        numbers: list[int] = []
        for kind, one in zip(form.rstrip("*") + "v" * (len(words) - least), words, strict=True):
            if kind in "dv":
                operands.append(self._place(block, one, line, written=kind == "d"))
            elif kind == "t":
                numbers.append(self._number(one, [thread.name for thread in block.threads], line, "thread"))
            elif kind == "i":
                numbers.append(self._number(one, [inlet.name for inlet in block.inlets], line, "inlet"))
            elif kind == "B":
                numbers.append(self._number(one, [other.name for other in self.blocks], line, "code-block"))
            else:
                first, _, second = one.partition(".")
                place = self._number(first, [other.name for other in self.blocks], line, "code-block")
                inlets = self.blocks[place].inlets
                inlet = self._number(second, [other.name for other in inlets], line, f"inlet of {first}")
                if kind == "I" and len(inlets[inlet].receive) != len(words) - least:
                    raise self.wrong(
                        line,
                        f"inlet '{one}' receives {len(inlets[inlet].receive)} values and is sent {len(words) - least}",
                    )
                numbers += [inlet, place]
        if word == "falloc":  # code-block, then the two inlets
            numbers = [numbers[0], numbers[1] | numbers[2] << 16]
        numbers += [0] * (2 - len(numbers))
        return Instruction(word, tuple(operands), numbers[0], numbers[1], line)

    def _number(self, name: str, known: list[str], line: int, what: str) -> int:
        if name not in known:
            raise self.wrong(line, f"there is no {what} '{name}'", f"there are {', '.join(known)}" if known else None)
        return known.index(name)

    def _place(self, block: _Block, text: str, line: int, *, written: bool, slots: bool = False) -> Operand:
        found = _SLOT.fullmatch(text)
        if found is None:
            return self._immediate(text, line, written=written)
        name = found[1]
        if name in block.slots:
            start, count = block.slots[name]
            offset = int(found[2] or 0)
            if offset >= count:
                raise self.wrong(line, f"slot {text} is beyond the {count} of '{name}'")
            return Operand(Place.SLOT, start + offset)
        register = NAMES.get(name, int(name[1:]) if _REGISTER.fullmatch(name) else -1)
        if slots or register < 0 or (register >= REGISTERS and name not in NAMES) or (written and name in NAMES):
            raise self.wrong(
                line,
                f"there is no {'slot' if slots else 'slot or register'} '{name[:24]}' to {'write to' if written else 'read'}",
            )
        return Operand(Place.REGISTER, register)

    def _immediate(self, text: str, line: int, *, written: bool) -> Operand:
        value: Value
        try:
            value = int(text, 0)
        except ValueError:
            try:
                value = float(text)
            except ValueError:
                raise self.wrong(line, f"{text[:24]!r} is no slot, register or number") from None
        if written:
            raise self.wrong(line, f"a number ({text}) cannot be written to")
        try:
            return Operand(Place.IMMEDIATE, check_value(value))
        except PointsmanError as error:
            raise self.wrong(line, f"{text[:24]}: {error.message}", error.hint) from None


def assemble(text: str, name: str = "program") -> TamProgram:
    """Read a program.

    Raises
    ------
    TamError
        With the line, if it is wrong.
    """
    return _Reader(text, name).program()
