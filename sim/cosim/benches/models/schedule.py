"""What the schedule stage must do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from numesh.codes import Codes, unpack
from numesh.shape import NodeShape


class ScheduleModel:
    """A memory, its output, and the pointer command that waits for the next cycle.

    Attributes
    ----------
    reason : str
        Where this cycle's address comes from: "first", "set", "add" or "next".
    address : int
        This cycle's address.
    """

    def __init__(self, shape: NodeShape, contents: Sequence[int]) -> None:
        self.shape = shape
        self.layout = Codes(shape).entry_layout
        self.memory = list(contents)
        self.entry = self.memory[0]
        self.started = False
        self.pending: tuple[str, int] | None = None

    @property
    def next(self) -> int:
        return unpack(self.layout, self.entry)["next"]

    @property
    def reason(self) -> str:
        if not self.started:
            return "first"
        return "next" if self.pending is None else self.pending[0]

    @property
    def address(self) -> int:
        match self.reason:
            case "first":
                return 0
            case "set":
                assert self.pending is not None
                return self.pending[1]
            case "add":
                assert self.pending is not None
                return (self.next + self.pending[1]) % self.shape.schedule_depth
        return self.next

    def outputs(self, inputs: Mapping[str, int]) -> dict[str, int | None]:
        return {"running": int(self.started), "entry": self.entry if self.started else None}

    def clock(self, inputs: Mapping[str, int]) -> None:
        self.entry = self.memory[self.address]  # the old contents, if it is written in this cycle
        if inputs["w_enable"]:
            self.memory[inputs["w_address"]] = inputs["w_entry"]
        if inputs["set_pointer"]:
            self.pending = ("set", inputs["pointer"])
        elif inputs["add_pointer"]:
            self.pending = ("add", inputs["pointer"])
        else:
            self.pending = None
        self.started = True
        if inputs["rst"]:
            self.started = False
            self.pending = None
