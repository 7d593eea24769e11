"""Variables of Verilator's class, and the arrays that stand for them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

TYPES = {"CData": "uint8_t", "SData": "uint16_t", "IData": "uint32_t", "QData": "uint64_t"}
BYTES = {"uint8_t": 1, "uint16_t": 2, "uint32_t": 4, "uint64_t": 8}
_PORT_TYPES = {"8": "uint8_t", "16": "uint16_t", "": "uint32_t", "64": "uint64_t"}


class LanesError(ValueError):
    """Verilator wrote something that is not known here."""


@dataclass(frozen=True)
class Variable:
    """A member of Verilator's class: its bits, ``rows`` words of a memory, ``words`` pieces of a wide value, 0 for neither."""

    name: str
    type: str
    bits: int = 0
    rows: int = 0
    words: int = 0
    cut: str = ""
    """Mask of values that are assigned, where Verilator leaves the cutting to the variable's type. (A cast would let compilers do
    all of the value in 16 bits, between packing and unpacking.)"""
    form: Literal["plain", "halves", "bits"] = "plain"
    """"halves": Verilator has one value of 64 bits where two ``words`` stand here. "bits": Verilator has a memory of
    ``rows`` bits where one value stands here, bit r for row r."""

    @property
    def dimensions(self) -> int:
        return bool(self.memory_rows) + bool(self.words)

    @property
    def memory_rows(self) -> int:
        """Rows of a memory that stands here as one."""
        return 0 if self.form == "bits" else self.rows

    @property
    def declaration(self) -> str:
        sizes = "".join(f"[{size}]" for size in (self.memory_rows, self.words) if size)
        return f"    {self.type} {self.name}{sizes}[LANES];"

    @property
    def field(self) -> str:
        """A row of the table of fields."""
        bytes_ = BYTES[self.type]
        return f'{{"{self.name}", offsetof(Lanes, {self.name}), {bytes_}, {self.memory_rows}, {self.words}}}'

    @property
    def load(self) -> str:
        """A statement that takes the variable over from Verilator's object."""
        if self.form == "bits":
            bit = f"S.{self.name}[l] |= uint32_t(root.{self.name}[i] & 1U) << i"
            return f"S.{self.name}[l] = 0; for (int i = 0; i < {self.rows}; ++i) {bit};"
        if self.form == "halves":
            return f"for (int j = 0; j < 2; ++j) S.{self.name}[j][l] = uint32_t(root.{self.name} >> 32 * j);"
        loops, index = self._loops()
        return f"{loops}S.{self.name}{index}[l] = root.{self.name}{index};"

    @property
    def store(self) -> str:
        """A statement that puts the variable into Verilator's object."""
        if self.form == "bits":
            return f"for (int i = 0; i < {self.rows}; ++i) root.{self.name}[i] = S.{self.name}[l] >> i & 1U;"
        if self.form == "halves":
            return f"root.{self.name} = uint64_t(S.{self.name}[1][l]) << 32 | S.{self.name}[0][l];"
        loops, index = self._loops()
        return f"{loops}root.{self.name}{index} = S.{self.name}{index}[l];"

    def _loops(self) -> tuple[str, str]:
        loops = index = ""
        for name, size in (("i", self.rows), ("j", self.words)):
            if size:
                loops += f"for (int {name} = 0; {name} < {size}; ++{name}) "
                index += f"[{name}]"
        return loops, index


def variables_of(header: str) -> list[Variable]:
    """Variables of the class in Verilator's header."""
    begin, end = header.find("// DESIGN SPECIFIC STATE"), header.find("// INTERNAL VARIABLES")
    if begin < 0 or end < 0:
        raise LanesError("the class has no state")
    found = []
    for line in header[begin:end].splitlines():
        text = line.strip()
        if port := re.fullmatch(r"VL_(?:IN|OUT)(8|16|64|)\((\w+),(\d+),\d+\);", text):
            found.append(Variable(port[2], _PORT_TYPES[port[1]], bits=int(port[3]) + 1))
        elif scalar := re.fullmatch(r"(CData|SData|IData|QData)/\*(\d+):0\*/ (\w+);", text):
            found.append(Variable(scalar[3], TYPES[scalar[1]], bits=int(scalar[2]) + 1))
        elif wide := re.fullmatch(r"VlWide<(\d+)>/\*[^*]*\*/ (\w+);", text):
            found.append(Variable(wide[2], "uint32_t", words=int(wide[1])))
        elif memory := re.fullmatch(r"VlUnpacked<(CData|SData|IData|QData)/\*(\d+):0\*/, (\d+)> (\w+);", text):
            found.append(Variable(memory[4], TYPES[memory[1]], bits=int(memory[2]) + 1, rows=int(memory[3])))
        elif both := re.fullmatch(r"VlUnpacked<VlWide<(\d+)>/\*[^*]*\*/, (\d+)> (\w+);", text):
            found.append(Variable(both[3], "uint32_t", rows=int(both[2]), words=int(both[1])))
        elif text.endswith(";") and not re.match(
            r"(?:struct|\};|VlTriggerVec|VlUnpacked<QData/\*63:0\*/, 1> __V)", text
        ):
            raise LanesError(f"a member of unknown kind: {text}")
    # What belongs to the scheduling of events stays behind.
    return [
        variable for variable in found if not re.match(r"__V(?:trig|act|ico|stl|nba|first|phase|dpi)", variable.name)
    ]


def in_32_bits(variable: Variable) -> Variable:
    """A variable in 32 bits, if it has fewer."""
    if BYTES[variable.type] >= 4:
        return variable
    full = variable.bits == 8 * BYTES[variable.type]
    return replace(variable, type="uint32_t", cut=f"0x{(1 << variable.bits) - 1:x}U" if full else "")
