"""Sizes of a NuMesh node: the one place where a size is written."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

CHIP = {"pipelines": 2, "vfsms": 32, "schedule_depth": 128, "neighbours": 6, "registers": 16, "width": 32}
"""The most of each that the NuMesh chip has. A mesh in two dimensions uses four of its six links (Metcalf 1997, Table 7.1)."""


class ShapeError(ValueError):
    """A size that no NuMesh node can have."""


@dataclass(frozen=True, kw_only=True)
class NodeShape:
    """What the user may choose of a node (Metcalf 1997, §7.1.1; the defaults are the chip's).

    Parameters
    ----------
    pipelines : int
        Physical finite state machines that run side by side, each with VFSMs, buffers and an interface port
        of its own. At least 1.
    vfsms : int
        Virtual finite state machines per pipeline, with one buffer word each. A power of two, at least 2:
        number 0 is the NOP and number 1 reprograms the router (§7.1.5).
    schedule_depth : int
        Entries of the schedule memory. A power of two, at least 2, so that a pointer plus a delta always
        lands inside.
    neighbours : int
        Links to other nodes: 2 for a line, 4 for a mesh in two dimensions, 6 in three. At least 1.
    registers : int
        Interface registers between processor and router. At least one per pipeline, which then carries
        reprogramming commands (§7.1.1, "Reprogramming").
    width : int
        Bits of a word, 1 to 64.
    aliased_handshake : bool
        The chip drives *valid* and *accept* of a neighbour pair on one wire (§7.1.1). The RTL has a wire
        each; with this set, compiler and checker treat the pair as the chip does (Table 5.2, dagger).
    """

    pipelines: int = 2
    vfsms: int = 32
    schedule_depth: int = 128
    neighbours: int = 4
    registers: int = 16
    width: int = 32
    aliased_handshake: bool = False

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "aliased_handshake":
                if not isinstance(value, bool):
                    raise ShapeError(f"aliased handshake must be true or false, not {value!r}")
            elif not isinstance(value, int) or isinstance(value, bool):
                raise ShapeError(f"{field.name.replace('_', ' ')} must be an integer, not {value!r}")
        if not 1 <= self.pipelines <= 16:
            raise ShapeError(f"pipelines must be 1 to 16, not {self.pipelines}")
        if not _power_of_two(self.vfsms) or not 2 <= self.vfsms <= 1024:
            raise ShapeError(f"vfsms must be a power of two from 2 to 1024, not {self.vfsms}")
        if not _power_of_two(self.schedule_depth) or not 2 <= self.schedule_depth <= 65536:
            raise ShapeError(f"schedule depth must be a power of two from 2 to 65536, not {self.schedule_depth}")
        if not 1 <= self.neighbours <= 64:
            raise ShapeError(f"neighbours must be 1 to 64, not {self.neighbours}")
        if not self.pipelines <= self.registers <= 256:
            raise ShapeError(
                f"registers must be at least the pipelines ({self.pipelines}) and at most 256, not {self.registers}"
            )
        if not 1 <= self.width <= 64:
            raise ShapeError(f"width must be 1 to 64 bits, not {self.width}")

    @property
    def word_mask(self) -> int:
        """All ones in a word."""
        return (1 << self.width) - 1

    @property
    def reset_cycles(self) -> int:
        """Cycles that a reset must last to empty all buffers, one a cycle. At power-up they are empty."""
        return self.vfsms

    @property
    def beyond_chip(self) -> tuple[str, ...]:
        """Sizes that exceed the NuMesh chip's, such as "pipelines 4 of 2". A program for such nodes runs on nodes that are
        built in these sizes, in simulation or from the Verilog here, and not on the chip (Metcalf 1997, §7.1).
        """
        return tuple(
            f"{name.replace('_', ' ')} {getattr(self, name)} of {most}"
            for name, most in CHIP.items()
            if getattr(self, name) > most
        )

    def as_dict(self) -> dict[str, int | bool]:
        """Plain values by name, for files and messages."""
        return asdict(self)


def _power_of_two(value: int) -> bool:
    return value > 0 and value & (value - 1) == 0
