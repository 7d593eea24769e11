"""Programs on the cycle model of packet routers: a second engine, which needs no C++ compiler and no build for a size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cosim.engines.model.requests import TIME, no_requests
from cosim.engines.model.run import ModelRun, put_accesses, words_read
from cosim.engines.processors import Access, Outcome, Program, RunOptions
from packet_router.shape import RouterShape

from .model_kernel import advance
from .model_tables import stations


class PacketPortShape:
    """Sizes of a processor port of a packet router, as a program sees it; see `cosim.hardware.PortShape`."""

    def __init__(self, shape: RouterShape) -> None:
        self.registers = shape.registers
        self.width = shape.width
        self.word_mask = (1 << shape.width) - 1


class PacketModelEngine:
    """All stations in NumPy arrays, clocked by a compiled loop.

    Parameters
    ----------
    shape : RouterShape
        The network. A message to a place that no node has goes where the RTL would send it on meshes and graphs, but not on tori.
    """

    name = "model"

    def __init__(self, shape: RouterShape) -> None:
        self.shape = shape
        self.nodes = shape.nodes
        self.port = PacketPortShape(shape)
        self.stations = stations(shape)
        self.requests = no_requests(shape.nodes)

    @property
    def time(self) -> int:
        return int(self.requests.clock[TIME])

    def close(self) -> None:
        """Nothing is held."""

    def full(self, node: int) -> int:
        """Bits of the registers of a node that take no word."""
        return _bits(self.stations.closed[node])

    def available(self, node: int) -> int:
        """Bits of the registers of a node with a word to read."""
        return _bits(self.stations.waiting[node])

    def is_full(self, node: int, register: int) -> bool:
        """Whether a register takes no word."""
        return bool(self.stations.closed[node, register])

    def has_word(self, node: int, register: int) -> bool:
        """Whether a word waits in a register."""
        return bool(self.stations.waiting[node, register])

    def clock(self, accesses: Mapping[int, Access]) -> Mapping[int, int]:
        """Simulate a cycle in which nodes make these accesses. Gives the words read, by node."""
        put_accesses(self.requests, accesses, self.shape.registers)
        advance(self.stations, self.requests, self.time + 1, True)
        return words_read(accesses, self.stations.read_data)

    def advance(self, stop: int) -> None:
        """Let cycles pass until ``stop``, or until a request in ``requests`` is complete."""
        advance(self.stations, self.requests, stop, False)

    def run(self, programs: Sequence[Program | None], options: RunOptions) -> Outcome:
        """Run the programs to their ends."""
        return ModelRun(self, programs, options).to_end()


def _bits(flags: np.ndarray) -> int:
    return sum(1 << int(register) for register in np.flatnonzero(flags))
