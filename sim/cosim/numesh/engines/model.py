"""Cycle model of a mesh: all architectural behaviour of the nodes, compiled by Numba. Needs no C++ compiler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cosim.engines.model.requests import TIME, no_requests
from cosim.engines.model.run import ModelRun, put_accesses, words_of, words_read
from cosim.engines.processors import Access, Outcome, Program, RunOptions
from cosim.hardware import PortShape
from cosim.record import State
from numesh.codes import FIRST_READ, LOOKAHEAD, Codes, CommandKind
from numesh.memories import NodeMemories
from numesh.shape import NodeShape
from pointsman.network import Topology

from . import model_tables as kernel
from .base import Engine
from .model_kernel import advance


class ModelEngine(Engine):
    """All nodes in NumPy arrays, clocked by a compiled loop."""

    name = "model"

    def __init__(self, shape: NodeShape, topology: Topology) -> None:
        super().__init__(shape, topology)
        self.routers = _routers(shape, topology, self.codes)
        self.requests = no_requests(self.nodes)
        self.preload([NodeMemories.at_reset(shape)] * self.nodes)

    @property
    def time(self) -> int:
        return int(self.requests.clock[TIME])

    # -- memories and state ----------------------------------------------------------------------------------

    def preload(self, memories: Sequence[NodeMemories]) -> None:
        cache: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        for node, contents in enumerate(memories):
            if id(contents) not in cache:
                cache[id(contents)] = self._unpack(contents)
            schedule, self.routers.annotation[node] = cache[id(contents)]
            self.routers.schedule[node, : self.shape.schedule_depth] = schedule

    def _unpack(self, contents: NodeMemories) -> tuple[np.ndarray, np.ndarray]:
        codes, shape = self.codes, self.shape
        entries = [codes.decode_entry(word) for word in contents.schedule]
        schedule = np.array([(*entry.vfsms, entry.ahead) for entry in entries], dtype=np.uint16)
        annotation = np.empty((shape.vfsms, shape.pipelines), dtype=np.int64)
        for p, words in enumerate(contents.annotations):
            for vfsm, word in enumerate(words):
                annotation[vfsm, p] = kernel.decode(word, vfsm, codes.place_bits, self.routers.places)
        return schedule, annotation

    def memories(self) -> list[NodeMemories]:
        schedules = self._packed_schedules().tolist()
        annotations = _packed(self.routers.annotation).swapaxes(1, 2).tolist()
        return [
            NodeMemories(tuple(schedule), tuple(map(tuple, words)))
            for schedule, words in zip(schedules, annotations, strict=True)
        ]

    def _packed_schedules(self) -> np.ndarray:
        """Schedule entries of all nodes as words, which may be longer than any integer of NumPy."""
        widths = list(self.codes.entry_layout.values())
        columns = self.routers.schedule[:, : self.shape.schedule_depth].astype(np.int64 if sum(widths) < 63 else object)
        words, offset = columns[:, :, 0] * 0, 0
        for column, width in enumerate(widths):
            words = words + (columns[:, :, column] << offset)
            offset += width
        return words.astype(object)

    def state(self) -> State:
        r, k, time = self.routers, kernel, self.time
        pipelines = self.shape.pipelines
        decode_valid, reading = time >= FIRST_READ - 3, time >= FIRST_READ

        def entry(age: int) -> np.ndarray:
            rows = r.node[:, k.ENTRIES + (time - age) % k.RECENT]
            return r.schedule.reshape(-1)[rows[:, None] + np.arange(pipelines + 1)].astype(np.int64)

        def looked(age: int) -> np.ndarray:
            return r.stage[:, :, k.LOOKED + (time - age) % k.RECENT_LOOKS]

        def vfsm(annotations: np.ndarray) -> np.ndarray:
            return (annotations >> k.VFSM) & k.NUMBER_MASK

        valid = ((r.stage[:, :, k.FLAGS] & k.VALID) != 0) + 0
        packed = _packed(r.stage[:, :, k.WRITING]) * valid
        pending = r.node[:, k.POINTER_KIND] != 0
        words = words_of(r.register * r.held)
        # That which a pipeline takes first.
        first = np.where(r.held[:, 1:].any(1), r.held[:, 1:].argmax(1) + 1, 0)
        return {
            "entry_vfsm": entry(2)[:, :pipelines] * (time >= LOOKAHEAD),
            "entry_ahead": entry(2)[:, pipelines] * (time >= LOOKAHEAD),
            "pointer_set": (r.node[:, k.POINTER_KIND] == int(CommandKind.SET_POINTER)) + 0,
            "pointer": r.node[:, k.POINTER] * pending,
            "decode_vfsm": vfsm(looked(1)) * decode_valid,
            "decode_annotation": _packed(looked(1)) * decode_valid,
            "read_vfsm": vfsm(looked(4)) * reading,
            "read_annotation": _packed(looked(4)) * reading,
            "write_valid": valid,
            "write_word": words_of(r.stage[:, :, k.WORD] * valid),
            "write_vfsm": vfsm(r.stage[:, :, k.WRITING]) * valid,
            "write_type": packed & k.TYPE_MASK,
            "write_destination": (packed >> (2 + self.codes.place_bits)) & ((1 << self.codes.place_bits) - 1),
            "write_forked": packed >> (2 + 2 * self.codes.place_bits),
            "write_from_buffer": ((r.stage[:, :, k.FLAGS] & k.FROM_BUFFER) != 0) * valid,
            "held": r.buffer_full.astype(np.int64),
            "buffer": words_of(r.buffer * r.buffer_full),
            "full": r.full.astype(np.int64),
            "register": np.take_along_axis(words, first[:, None], 1)[:, 0],
            "places": r.held.astype(np.int64),
            "words": words,
            "read_idle": (r.stage[:, :, k.HISTORY] >> 1) & 1,
            "collected": r.collected.copy(),
            "read_data": words_of(r.read_data),
            "schedule": self._packed_schedules(),
            "annotation": _packed(r.annotation).swapaxes(1, 2),
        }

    # -- single cycles, as the plain processors drive them ---------------------------------------------------

    def full(self, node: int) -> int:
        """Full bits of a node's interface registers."""
        return sum(1 << int(register) for register in np.flatnonzero(self.routers.full[node]))

    available = full

    def clock(self, accesses: Mapping[int, Access]) -> Mapping[int, int]:
        """Simulate a cycle in which nodes make these accesses. Gives the words read, by node."""
        put_accesses(self.requests, accesses, self.shape.registers)
        advance(self.routers, self.requests, self.time + 1, True)
        return words_read(accesses, self.routers.read_data)

    # -- programs --------------------------------------------------------------------------------------------

    def run(self, programs: Sequence[Program | None], options: RunOptions) -> Outcome:
        return ModelRun(self, programs, options).to_end()

    @property
    def port(self) -> PortShape:
        return self.shape

    def advance(self, stop: int) -> None:
        """Let cycles pass until ``stop``, or until a request in ``requests`` is complete."""
        advance(self.routers, self.requests, stop, False)

    def is_full(self, node: int, register: int) -> bool:
        """Whether an interface register holds a word."""
        return bool(self.routers.full[node, register])

    has_word = is_full


def _routers(shape: NodeShape, topology: Topology, codes: Codes) -> kernel.Routers:
    n, p, v, links = topology.nodes, shape.pipelines, shape.vfsms, topology.nodes * shape.neighbours
    peer = np.full(links, links, dtype=np.int64)
    for node, joined in enumerate(topology.at_port):
        for port, (other, other_port) in joined.items():
            peer[node * shape.neighbours + port] = other * shape.neighbours + other_port
    places = np.zeros(1 << codes.place_bits, dtype=np.int64)
    for kind, first, count in (
        (kernel.NEIGHBOUR, 0, shape.neighbours),
        (kernel.REGISTER, codes.first_register, shape.registers),
        (kernel.BUFFER, codes.first_buffer, shape.vfsms),
        (kernel.NULL, codes.null, 1),
        (kernel.MEMADR, codes.memadr, 1),
    ):
        places[first : first + count] = kind | np.arange(count) << 3
    layout = np.zeros(kernel.LAYOUT_FIELDS, dtype=np.int64)
    layout[kernel.WIDTH] = shape.width
    layout[kernel.POINTER_BITS] = codes.pointer_bits
    layout[kernel.VFSM_BITS] = codes.vfsm_bits
    layout[kernel.PLACE_BITS] = codes.place_bits
    layout[kernel.COMMAND_WORDS] = codes.command_words
    stage = _lines(n, p, kernel.STAGE_FIELDS)
    stage[:, :, kernel.HISTORY] = kernel.IDLE_MASK
    node_state = _lines(n, kernel.NODE_FIELDS)
    # Reset is a command to go to address 0, then to 1.
    node_state[:, kernel.POINTER_KIND] = node_state[:, kernel.REST_KIND] = int(CommandKind.SET_POINTER)
    node_state[:, kernel.REST] = 1
    first_entries = np.arange(n) * (shape.schedule_depth + kernel.SPARE_ROWS) * (p + 1)
    node_state[:, kernel.ENTRIES : kernel.ENTRIES + kernel.RECENT] = first_entries[:, None]
    return kernel.Routers(
        schedule=np.zeros((n, shape.schedule_depth + kernel.SPARE_ROWS, p + 1), dtype=np.uint16),
        annotation=_zeros(n, v, p),
        stage=stage,
        node=node_state,
        read_data=_zeros(n),
        buffer=_zeros(n, p, v),
        buffer_full=np.zeros((n, p, v), dtype=np.int8),
        register=_zeros(n, 1 + p, shape.registers),
        held=np.zeros((n, 1 + p, shape.registers), dtype=np.int8),
        full=np.zeros((n, shape.registers), dtype=np.int8),
        partial=_zeros(n, p, codes.command_words),
        collected=_zeros(n, p),
        command=_zeros(n, p, codes.command_words),
        complete=_zeros(n, p),
        offers=_zeros(2, links + 1) - 1,
        offered=_zeros(2, links + 1),
        accepts=_zeros(2, links + 1) - 1,
        peer=peer,
        places=places,
        layout=layout,
        scratch=_zeros(9, p),
    )


def _zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, dtype=np.int64)


def _lines(*shape: int) -> np.ndarray:
    """Zeros whose rows of 64 bytes are lines of the cache."""
    room = _zeros(8 + int(np.prod(shape)))
    return room[-(room.ctypes.data // 8) % 8 :][: int(np.prod(shape))].reshape(shape)


def _packed(annotations: np.ndarray) -> np.ndarray:
    """The packed words that decoded annotations come from."""
    return (annotations >> kernel.PACKED) & kernel.PACKED_MASK
