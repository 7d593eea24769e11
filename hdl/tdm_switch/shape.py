"""Sizes of a time-multiplexed switch: the one place where a size is written."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

ORDERS = ("plain", "wrapped")
"""In which order the scheduler array gives ports away; see ``array``."""
PRIORITIES = ("fixed", "round_robin", "random")
"""Where the array starts; see ``priority``."""
COMMAND_WIDTH = 24
"""Bits of a command, which has to fit into a word; see ``codes``."""


class ShapeError(ValueError):
    """A size that no switch can have."""


@dataclass(frozen=True, kw_only=True)
class SwitchShape:
    """What the user may choose of a switch (Ding et al. 2005, §4).

    Parameters
    ----------
    ports : int
        Processors, each with a network interface. 1 to 128.
    slots : int
        Configuration registers, the greatest multiplexing degree K. 1 to 64.
    width : int
        Bits of a word. At least 24, the length of a command, and at most 64.
    queue_depth : int
        Words in each logical queue of a network interface. A power of two, 2 to 1024.
    buffer_depth : int
        Words in the input buffer of a network interface for each source, one of which stays free for a word on its
        way. A power of two, 4 to 1024.
    slot_cycles : int
        Cycles of a time slot, guard band included. 1 to 1024.
    guard_cycles : int
        Cycles at the start of each slot in which there is no grant. Less than the slot.
    sl_cycles : int
        Cycles in which the scheduling logic decides a slot, its clock in the paper's words. With 1 a decision is made
        between two registers; with more its inputs are kept, and the array has one cycle less than these. 1 to 64.
    sl_units : int
        Copies of the scheduling logic. At most the slots.
    order : str
        One of `ORDERS`.
    priority : str
        One of `PRIORITIES`.
    reserve : bool
        With round robin: wait at a connection that is requested and not realised, and keep its ports free for it.
    age_bits : int
        Bits of the counter that each connection has for the predictor; the greatest time-out is all ones.
        0 to 16; with 0 there are no counters, and no predictor can be chosen that needs them.
    stored : int
        Configurations of the second level, which are kept aside. 0 to 64.
    """

    ports: int = 16
    slots: int = 4
    width: int = 32
    queue_depth: int = 16
    buffer_depth: int = 16
    slot_cycles: int = 8
    guard_cycles: int = 1
    sl_cycles: int = 1
    sl_units: int = 1
    order: str = "plain"
    priority: str = "round_robin"
    reserve: bool = True
    age_bits: int = 8
    stored: int = 4

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            name = field.name.replace("_", " ")
            if field.type == "bool":
                if not isinstance(value, bool):
                    raise ShapeError(f"{name} must be true or false, not {value!r}")
            elif field.type == "int" and (not isinstance(value, int) or isinstance(value, bool)):
                raise ShapeError(f"{name} must be an integer, not {value!r}")
        for name, least, most in (
            ("ports", 1, 128),
            ("slots", 1, 64),
            ("width", COMMAND_WIDTH, 64),
            ("slot_cycles", 1, 1024),
            ("sl_cycles", 1, 64),
            ("age_bits", 0, 16),
            ("stored", 0, 64),
        ):
            value = getattr(self, name)
            if not least <= value <= most:
                raise ShapeError(f"{name.replace('_', ' ')} must be {least} to {most}, not {value}")
        for name, least in (("queue_depth", 2), ("buffer_depth", 4)):
            value = getattr(self, name)
            if value & (value - 1) or not least <= value <= 1024:
                raise ShapeError(f"{name.replace('_', ' ')} must be a power of two from {least} to 1024, not {value}")
        if not 0 <= self.guard_cycles < self.slot_cycles:
            raise ShapeError(
                f"guard cycles must be 0 to {self.slot_cycles - 1}, less than the slot, not {self.guard_cycles}"
            )
        if not 1 <= self.sl_units <= self.slots:
            raise ShapeError(f"sl units must be 1 to {self.slots}, the slots, not {self.sl_units}")
        for name, known in (("order", ORDERS), ("priority", PRIORITIES)):
            value = getattr(self, name)
            if value not in known:
                raise ShapeError(f"{name} must be one of {', '.join(known)}, not {value!r}")

    @property
    def slot_words(self) -> int:
        """Words that a connection carries in a slot, at most."""
        return self.slot_cycles - self.guard_cycles

    @property
    def registers(self) -> int:
        """Addresses at the processor port of a network interface; see ``codes.Registers``."""
        return 2 * self.ports + 3

    @property
    def reserves(self) -> bool:
        """Ports are kept free for the connection at which round robin has arrived."""
        return self.reserve and self.priority == "round_robin"

    def as_dict(self) -> dict[str, int | bool | str]:
        """Plain values by name, for files and messages."""
        return asdict(self)


def bits_for(count: int) -> int:
    """Bits of a number below ``count``; at least one."""
    return max(1, (count - 1).bit_length())
