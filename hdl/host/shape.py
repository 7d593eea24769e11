"""Sizes of a bridge, and what follows from them: where each register is for the host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LEAST_REGISTERS = 4
"""Registers of a page at least, so that its flags and masks have words of their own."""
VERSION = 0x504D_0001
"""What the word ``VERSION`` of the control page reads: "PM", and the version of this map."""
CONTROL = ("CYCLES_LOW", "CYCLES_HIGH", "ERRORS", "DONE", "ENABLE", "PENDING", "VERSION", "SHAPE")
"""Words of the control page, in their order."""


class HostShapeError(ValueError):
    """Sizes that cannot be built."""


@dataclass(frozen=True)
class HostShape:
    """Sizes of a bridge.

    Parameters
    ----------
    nodes : int
        Nodes behind the bridge, 1 to 4,096.
    registers : int
        Interface registers of a node, 1 to 256.
    width : int
        Bits of a word, of the bus and of the nodes: 32 or 64.
    blocked : {"stall", "error"}
        What happens to a write to a full register and a read of an empty one: it waits, or it ends with an error at once.

    Raises
    ------
    HostShapeError
        If a size is out of range.
    """

    nodes: int = 1
    registers: int = 16
    width: int = 32
    blocked: Literal["stall", "error"] = "stall"

    def __post_init__(self) -> None:
        for name, least, most in (("nodes", 1, 4096), ("registers", 1, 256)):
            value = getattr(self, name)
            if not least <= value <= most:
                raise HostShapeError(f"{name} must be {least} to {most}, not {value}")
        if self.width not in (32, 64):
            raise HostShapeError(f"width must be 32 or 64, as the bus has it, not {self.width}")
        if self.blocked not in ("stall", "error"):
            raise HostShapeError(f"blocked must be stall or error, not {self.blocked!r}")

    @property
    def register_bits(self) -> int:
        """Bits that number the registers of a node, at least one, as its processor port has them."""
        return max(1, (self.registers - 1).bit_length())

    @property
    def room(self) -> int:
        """Words that a page has for registers, a power of two. As many follow: flags in their first half, masks in the second."""
        return max(LEAST_REGISTERS, 1 << (self.registers - 1).bit_length())

    @property
    def page(self) -> int:
        """Words of a page. There is one for each node, and one behind them for control."""
        return 2 * self.room

    @property
    def flag_words(self) -> int:
        """Words that hold a bit for each register of a node."""
        return -(-self.registers // self.width)

    @property
    def address_bits(self) -> int:
        """Bits of a byte's address."""
        return ((self.nodes + 1) * self.page * self.bytes - 1).bit_length()

    @property
    def bytes(self) -> int:
        """Bytes of a word."""
        return self.width // 8

    def register(self, node: int, register: int) -> int:
        """Byte address of a register: a write fills it, a read takes its word."""
        return (node * self.page + register) * self.bytes

    def full(self, node: int, word: int = 0) -> int:
        """Byte address of the full bits of a node's registers, lowest first."""
        return (node * self.page + self.room + word) * self.bytes

    def mask(self, node: int, word: int = 0) -> int:
        """Byte address of the bits that say which full registers of a node interrupt the host."""
        return (node * self.page + self.room + self.room // 2 + word) * self.bytes

    def control(self, name: str) -> int:
        """Byte address of a word of the control page, by its name in `CONTROL`."""
        return (self.nodes * self.page + CONTROL.index(name)) * self.bytes
