"""Steps of thread blocks, as MSCCL has them, to actions in an order in which they can be carried out.

Thread blocks of a rank run side by side, the steps of one in order. The k-th send from a rank to another on a channel is met by
the k-th receive there. A send does not wait for its receiver. A step may wait for a step of another thread block of its rank.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from pointsman.errors import PointsmanError

from .algorithm import Action, Message, Place

RECEIVES = frozenset({"r", "rcs", "rrs", "rrc", "rrcs"})
SENDS = frozenset({"s", "rcs", "rrs", "rrcs"})
KINDS = RECEIVES | SENDS | {"cpy", "re", "nop"}


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a thread block: ``kind`` is one of ``KINDS``; ``after``: (thread block, step) of its rank for which it waits."""

    kind: str
    source: Place
    destination: Place
    count: int
    after: tuple[int, int] | None
    line: int


@dataclass(frozen=True)
class ThreadBlock:
    """Steps of a rank in order. ``sends_to`` and ``receives_from`` are ranks, -1 for none."""

    rank: int
    number: int
    sends_to: int
    receives_from: int
    channel: int
    steps: tuple[Step, ...]

    def named(self, at: int) -> str:
        return f"line {self.steps[at].line}: rank {self.rank}, thread block {self.number}, step {at} ({self.steps[at].kind})"


def in_order(blocks: Sequence[ThreadBlock], *, last_first: bool = False) -> tuple[list[Message], list[Action]]:
    """Messages, and actions of all ranks in an order that respects every dependency. ``last_first``: thread blocks take their
    turns in the opposite order, so that steps which no dependency orders come in another one.

    Raises
    ------
    PointsmanError
        If steps wait for ever, a message is never received, or its two ends differ.
    """
    return _Play(blocks[::-1] if last_first else blocks).run()


class _Play:
    def __init__(self, blocks: Sequence[ThreadBlock]) -> None:
        self.blocks = blocks
        self.at = [0] * len(blocks)
        self.done = {(block.rank, block.number): 0 for block in blocks}
        self.channels: dict[tuple[int, int, int], deque[tuple[int, str]]] = {}
        self.messages: list[Message] = []
        self.actions: list[Action] = []

    def run(self) -> tuple[list[Message], list[Action]]:
        going = True
        while going:
            going = False
            for index, block in enumerate(self.blocks):
                while self.at[index] < len(block.steps) and self._step(index, block):
                    going = True
        for index, block in enumerate(self.blocks):
            if self.at[index] < len(block.steps):
                raise PointsmanError(f"{block.named(self.at[index])} waits for ever: {self._wait(index, block)}")
        for (source, destination, channel), waiting in self.channels.items():
            if waiting:
                raise PointsmanError(
                    f"{waiting[0][1]} sends to rank {destination} on channel {channel}, "
                    f"where nothing receives it from rank {source}"
                )
        return self.messages, self.actions

    def _wait(self, index: int, block: ThreadBlock) -> str:
        step = block.steps[self.at[index]]
        if step.after is not None and self.done[block.rank, step.after[0]] <= step.after[1]:
            return f"step {step.after[1]} of thread block {step.after[0]} is not done"
        return f"rank {block.receives_from} sends nothing more on channel {block.channel}"

    def _step(self, index: int, block: ThreadBlock) -> bool:
        """Carry out the next step of a thread block, if it does not have to wait."""
        at = self.at[index]
        step = block.steps[at]
        if step.after is not None and self.done[block.rank, step.after[0]] <= step.after[1]:
            return False
        came: Place | None = None
        if step.kind in RECEIVES:
            waiting = self.channels.get((block.receives_from, block.rank, block.channel))
            if not waiting:
                return False
            number, sender = waiting.popleft()
            if self.messages[number].count != step.count:
                raise PointsmanError(
                    f"{block.named(at)} receives {step.count} chunks, and {sender} sends {self.messages[number].count}"
                )
            came = ("m", number)
        self._act(block, step, came, block.named(at))
        self.at[index] += 1
        self.done[block.rank, block.number] += 1
        return True

    def _act(self, block: ThreadBlock, step: Step, came: Place | None, name: str) -> None:
        def keep(*operands: Place) -> None:
            self.actions.append(Action(block.rank, operands, step.destination, step.count, name))

        def send(*operands: Place) -> None:
            number = len(self.messages)
            self.messages.append(Message(block.rank, block.sends_to, step.count))
            self.actions.append(Action(block.rank, operands, ("m", number), step.count, name))
            channel = block.rank, block.sends_to, block.channel
            self.channels.setdefault(channel, deque()).append((number, name))

        match step.kind:
            case "s":
                send(step.source)
            case "cpy":
                keep(step.source)
            case "re":
                keep(step.destination, step.source)
            case "nop":
                pass
            case _:
                assert came is not None
                operands = (came, step.source) if step.kind.startswith("rr") else (came,)
                if step.kind != "rrs":
                    keep(*operands)
                if step.kind == "rrs":
                    send(*operands)
                elif step.kind in SENDS:
                    send(step.destination)
