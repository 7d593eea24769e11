"""Processors on a mesh's ports: serve the requests of programs, as `pointsman.runtime.api.requests` describes them.

Written for clearness and used with cocotb only; the engines have their own.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pointsman.runtime.api.requests import Lane, Request, Transfer, Wait, WaitEmpty, WaitUntil

Program = Coroutine[Any, None, Any]


@dataclass(frozen=True)
class Delivery:
    """A word that a processor has read. ``wanted``: the program asked for the word and not for a mere token."""

    register: int
    word: int
    wanted: bool


class Clock:
    """Cycles since reset."""

    def __init__(self) -> None:
        self.time = 0


class Processor:
    """A processor with its program.

    Attributes
    ----------
    result : object
        Return value of the program.
    deliveries : list of Delivery
        Every word that was read, in order.
    injections : list of (int, int)
        Every register that was written, with the word.
    """

    def __init__(self, program: Program, clock: Clock) -> None:
        self.program = program
        self.clock = clock
        self.done = False
        self.result: Any = None
        self.request: Request | None = None
        self.since = 0
        self.moved: list[int] = []
        self.deliveries: list[Delivery] = []
        self.injections: list[tuple[int, int]] = []
        self._reading: tuple[int, int] | None = None
        """Lane and register of the read of the last cycle, whose word has not come yet."""

    def cycle(self, full: int, read_data: int) -> dict[str, int]:
        """A cycle: the word read in the last cycle comes in, the program goes on, an access is chosen.

        Parameters
        ----------
        full, read_data : int
            Outputs of the processor port in this cycle.

        Returns
        -------
        dict
            Inputs of the port.
        """
        self._receive(read_data)
        while not self.done and self._complete(full):
            try:
                self.request = self.program.send(None)
            except StopIteration as end:
                self.done = True
                self.request = None
                self.result = end.value
                break
            self.since = self.clock.time
            self.moved = [0] * len(self.request.lanes) if isinstance(self.request, Transfer) else []
        idle = {"p_address": 0, "p_write": 0, "p_read": 0, "p_write_data": 0}
        if not isinstance(self.request, Transfer):
            return idle
        number = self._choose(self.request.lanes, full)
        return idle if number is None else self._access(self.request.lanes[number], number)

    def _receive(self, read_data: int) -> None:
        if self._reading is None:
            return
        number, register = self._reading
        self._reading = None
        assert isinstance(self.request, Transfer)
        lane = self.request.lanes[number]
        if lane.data is not None:
            lane.data[self.moved[number] - 1] = read_data
        self.deliveries.append(Delivery(register, read_data, lane.data is not None))

    def _complete(self, full: int) -> bool:
        request = self.request
        if isinstance(request, Transfer):
            return all(moved == lane.words for moved, lane in zip(self.moved, request.lanes, strict=True))
        if isinstance(request, WaitEmpty):
            return not full >> request.register & 1
        if isinstance(request, Wait):
            return self.clock.time >= self.since + request.cycles
        if isinstance(request, WaitUntil):
            return self.clock.time >= request.time
        return True  # the program has not started

    def _choose(self, lanes: Sequence[Lane], full: int) -> int | None:
        """The first lane that may move a word and finds its register ready."""
        for number, lane in enumerate(lanes):
            done = self.moved[number]
            if done == lane.words:
                continue
            if lane.after is not None:
                needed = lanes[lane.after].words if lane.after_all else done + 1
                if self.moved[lane.after] < needed:
                    continue
            if lane.pair is not None and lane.window is not None and done - self.moved[lane.pair] >= lane.window:
                continue
            register = lane.registers[done % len(lane.registers)]
            if bool(full >> register & 1) != lane.write:
                return number
        return None

    def _access(self, lane: Lane, number: int) -> dict[str, int]:
        done = self.moved[number]
        register = lane.registers[done % len(lane.registers)]
        self.moved[number] += 1
        if lane.write:
            word = 0 if lane.data is None else int(lane.data[done])
            self.injections.append((register, word))
            return {"p_address": register, "p_write": 1, "p_read": 0, "p_write_data": word}
        self._reading = (number, register)
        return {"p_address": register, "p_write": 0, "p_read": 1, "p_write_data": 0}

    def __str__(self) -> str:
        return "done" if self.done else f"{self.request!r} since cycle {self.since}, moved {self.moved}"


def by_node(processors: Sequence[Processor], outputs: Mapping[str, int]) -> dict[str, int]:
    """Inputs of the mesh in this cycle."""
    values: dict[str, int] = {}
    for i, processor in enumerate(processors):
        for name, value in processor.cycle(outputs[f"p_full_{i}"], outputs[f"p_read_data_{i}"]).items():
            values[f"{name}_{i}"] = value
    return values
