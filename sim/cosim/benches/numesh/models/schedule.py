"""Model of the schedule stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from numesh.codes import Codes, unpack
from numesh.shape import NodeShape


class ScheduleModel:
    """A memory, the entries being read from it, and the next two addresses according to pointer commands.

    Attributes
    ----------
    reason : str
        Where this cycle's address comes from: "first", "set", "add" or "ahead".
    address : int
        This cycle's address.
    """

    def __init__(self, shape: NodeShape, contents: Sequence[int]) -> None:
        self.shape = shape
        self.layout = Codes(shape).entry_layout
        self.memory = list(contents)
        self._reset()

    def _reset(self) -> None:
        self.out: list[int | None] = [None, None]
        """The entry that is out, and that of the next cycle."""
        self.pending: list[tuple[str, int]] = [("first", 0), ("first", 1)]
        """How the next addresses come about."""

    @property
    def entry(self) -> int | None:
        return self.out[0]

    @property
    def started(self) -> bool:
        return self.entry is not None

    @property
    def ahead(self) -> int:
        assert self.entry is not None
        return unpack(self.layout, self.entry)["ahead"]

    @property
    def reason(self) -> str:
        return self.pending[0][0] if self.pending else "ahead"

    @property
    def address(self) -> int:
        match self.reason:
            case "first" | "set":
                return self.pending[0][1]
            case "add":
                # A delta that comes before there is an entry to add it to counts from 0.
                return (self.ahead + self.pending[0][1]) % self.shape.schedule_depth
        return self.ahead

    def outputs(self, inputs: Mapping[str, int]) -> dict[str, int | None]:
        return {"running": int(self.started), "entry": self.entry}

    def clock(self, inputs: Mapping[str, int]) -> None:
        address = self.address
        if inputs["w_enable"]:
            self.memory[inputs["w_address"]] = inputs["w_entry"]
        # An entry that is written in this cycle is read with its new contents.
        self.out = [self.out[1], self.memory[address]]
        if inputs["set_pointer"]:
            self.pending = [("set", inputs["pointer"]), ("set", inputs["second"])]
        elif inputs["add_pointer"]:
            self.pending = [("add", inputs["pointer"])] * 2
        else:
            self.pending = self.pending[1:]
        if inputs["rst"]:
            self._reset()
