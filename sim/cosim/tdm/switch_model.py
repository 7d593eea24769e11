"""Model of the whole switch: the scheduler's model, and for each processor queues, an input buffer and a command."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from tdm_switch.shape import SwitchShape

from .scheduler_model import Connections, SchedulerModel, bits_of


class NicModel:
    """A network interface."""

    def __init__(self, shape: SwitchShape) -> None:
        ports = range(shape.ports)
        self.shape = shape
        self.queues: list[deque[int]] = [deque() for _ in ports]
        self.buffers: list[deque[int]] = [deque() for _ in ports]
        self.outgoing: int | None = None
        self.command: int | None = None
        self.answer: int | None = None
        self.read_data = 0

    @property
    def full(self) -> int:
        """Full bits."""
        shape = self.shape
        bits = [len(queue) == shape.queue_depth for queue in self.queues]
        bits += [bool(buffer) for buffer in self.buffers]
        bits += [self.command is not None, self.answer is not None]
        bits += [any(self.queues) or self.outgoing is not None]
        return sum(bit << i for i, bit in enumerate(bits))

    def access(self, address: int, write: int, read: int, word: int) -> None:
        """Note the processor's access of this cycle, decided on the state at the cycle's start."""
        n = self.shape.ports
        if write:
            if address < n and len(self.queues[address]) < self.shape.queue_depth:
                self.queues[address].append(word)
            elif address == 2 * n and self.command is None:
                self.command = word & 0xFFFFFF
        if read:
            if n <= address < 2 * n and self.buffers[address - n]:
                self.read_data = self.buffers[address - n].popleft()
            elif address == 2 * n + 1 and self.answer is not None:
                self.read_data, self.answer = self.answer, None


class SwitchModel:
    """The whole switch, cycle by cycle. Inputs and outputs have the names of the hardware's ports.

    Attributes
    ----------
    moved : set of (source, destination)
        Connections on which a word was sent in the last cycle.
    withdrawn : set of (source, destination)
        Requests hidden from the scheduler even if words wait in their queues; set from outside, see ``station_model``.
    """

    def __init__(self, shape: SwitchShape) -> None:
        self.shape = shape
        self.scheduler = SchedulerModel(shape)
        self.nics: list[NicModel] = []
        self.moved: Connections = set()
        self.withdrawn: Connections = set()
        self.reset()

    def reset(self) -> None:
        self.scheduler.reset()
        self.nics = [NicModel(self.shape) for _ in range(self.shape.ports)]
        self.moved = set()

    def outputs(self, inputs: Mapping[str, int]) -> dict[str, int | None]:
        found: dict[str, int | None] = {}
        for i, nic in enumerate(self.nics):
            found |= {f"p_full_{i}": nic.full, f"p_read_data_{i}": nic.read_data}
        return found

    def clock(self, inputs: Mapping[str, int]) -> None:
        if inputs.get("rst"):
            self.reset()
            return
        shape, nics, scheduler = self.shape, self.nics, self.scheduler
        n = shape.ports
        request = {(u, v) for u in range(n) for v in range(n) if nics[u].queues[v]}
        used = {(u, v) for u, v in scheduler.fabric if nics[u].outgoing is not None}
        seen = {
            "request": bits_of(request - self.withdrawn, n),
            "used": bits_of(used, n),
            "command_valid": sum(
                1 << i for i, nic in enumerate(nics) if nic.command is not None and nic.answer is None
            ),
        }
        seen |= {f"command_{i}": nic.command or 0 for i, nic in enumerate(nics)}
        told = scheduler.outputs(seen)
        room = {(u, v) for u, v in scheduler.grant if len(nics[v].buffers[u]) < shape.buffer_depth - 1}
        arriving = [(u, v, nics[u].outgoing) for u, v in used]
        sending = {(u, v): nics[u].queues[v][0] for u, v in room & request}
        scheduler.clock(seen)

        # Accesses look at the state of the start of the cycle: queues and buffers change after.
        for i, nic in enumerate(nics):
            nic.access(*(inputs[f"p_{name}_{i}"] for name in ("address", "write", "read", "write_data")))
        for i, nic in enumerate(nics):
            nic.outgoing = None
            if told["done"] == 1 << i:
                nic.command = None
                if told["answers"]:
                    nic.answer = told["answer"]
        for u, v, word in arriving:
            assert word is not None
            assert len(nics[v].buffers[u]) < shape.buffer_depth
            nics[v].buffers[u].append(word)
        for (u, v), word in sending.items():
            nics[u].outgoing = word
            nics[u].queues[v].popleft()
        self.moved = set(sending)
