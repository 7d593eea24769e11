"""Activation frames, and their allocator: bins of frames by size, refused when the memory is full (von Eicken 1993, §6.2.2.3)."""

from __future__ import annotations

from enum import IntEnum

from pointsman.errors import PointsmanError

from .program import CodeBlock, TamProgram, Value

NODE_SHIFT = 32
"""A frame or a structure is its number and its node, shifted by so much."""


class FrameState(IntEnum):
    """Whether a frame runs, waits in the queue, or has no thread that is enabled."""

    IDLE = 0
    READY = 1
    RUNNING = 2


class Frame:
    """An activation of a code-block.

    Attributes
    ----------
    slots : list
        Its locals; None where nothing has been written.
    counters : list of int
        Forks and posts that each thread still waits for.
    remote : list of int
        The remote continuation vector (RCV): threads that inlets have enabled while the frame did not run.
    """

    __slots__ = ("block", "counters", "live", "number", "remote", "slots", "state")

    def __init__(self, number: int) -> None:
        self.number = number
        self.live = False
        self.slots: list[Value | None] = []

    def begin(self, block: CodeBlock) -> None:
        """Make it an activation of a code-block; nothing of what it was before is left."""
        self.block = block
        self.slots[:] = [None] * block.slots
        self.counters = [thread.count for thread in block.threads]
        self.remote: list[int] = []
        self.state = FrameState.IDLE
        self.live = True


class Frames:
    """The frames of a node. ``most``: frames that it has room for."""

    def __init__(self, node: int, program: TamProgram, most: int) -> None:
        self.node = node
        self.program = program
        self.most = most
        self.all: list[Frame] = []
        self.bins: dict[int, list[Frame]] = {}
        """Frames that are free, by their slots."""
        self.live = 0
        self.peak = 0

    def allocate(self, block: int) -> int | None:
        """A frame, as a value; None if there is no room."""
        kind = self.program.blocks[block]
        same = self.bins.get(kind.slots)
        if same:
            frame = same.pop()
        elif len(self.all) < self.most:
            frame = Frame(len(self.all))
            self.all.append(frame)
        else:
            return None
        frame.begin(kind)
        self.live += 1
        self.peak = max(self.peak, self.live)
        return self.node << NODE_SHIFT | frame.number

    def free(self, pointer: Value) -> None:
        """Give a frame back."""
        frame = self.at(pointer, "freed")
        if frame.state == FrameState.READY or frame.remote:
            raise PointsmanError(
                f"a frame of {frame.block.name} on node {self.node} is freed with threads that are enabled"
            )
        frame.live = False
        self.live -= 1
        self.bins.setdefault(frame.block.slots, []).append(frame)

    def at(self, pointer: Value, doing: str) -> Frame:
        """The frame of a value."""
        number = int(pointer) & (1 << NODE_SHIFT) - 1
        if number >= len(self.all) or not self.all[number].live:
            what = "twice" if doing == "freed" and number < len(self.all) else ", and there is none"
            raise PointsmanError(f"frame {number} on node {self.node} is {doing} {what}".replace(" ,", ","))
        return self.all[number]
