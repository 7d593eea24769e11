"""The file of an execution plan of MSCCL++: JSON -> the thread blocks of each GPU with their operations.

Read piece by piece, so that plans of any size take little memory beside what is kept of them. Leaves alone: what the operations
do (`pointsman.artifacts.algorithms.mscclpp`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TextIO

import msgspec

from pointsman.artifacts.json_pieces import JsonPieces

from .msccl import MAX_STEPS

PACKET_SUMS = frozenset({"repkt", "recpkt", "respkt", "recspkt"})
"""Their first source and destination are plain words, all others packets in scratch buffers."""
PACKET_READS = PACKET_SUMS | {"rppkt", "upkt", "gstorepkt"}
PACKET_WRITES = PACKET_SUMS | {"cpkt", "ppkt", "rppkt", "gstorepkt"}
MOVES = frozenset({"copy", "put", "pws", "pwsf", "get", "cpkt", "ppkt", "upkt", "gstore", "gstorepkt"})
SUMS = frozenset({"re", "res", "rre", "rres", "rppkt", "glre", "glres"}) | PACKET_SUMS
"""All sources become one sum, which goes to all destinations; ``rppkt`` has one source."""
SIGNALS = frozenset({"signal", "rlxsignal", "pws", "pwsf"})
WAITS = frozenset({"wait", "rlxwait"})
MAX_PARTS = 4096
PIPELINE, SWITCH = "pipeline", "switch"
KNOWN = MOVES | SUMS | SIGNALS | WAITS | {"nop", "flush", "barrier", "sem_acquire", "sem_release", PIPELINE}


class PlanChunk(msgspec.Struct, frozen=True, gc=False):
    index: int
    size: int = 1
    type: Literal["i", "o", "s"] | None = None
    buffer_id: int | None = None
    switch_channel_id: int | None = None


class PlanShare(msgspec.Struct, frozen=True, gc=False):
    tb_id: int
    tbg_size: int


class PlanPlace(msgspec.Struct, frozen=True, gc=False):
    """Where ``glre`` leaves the sum."""

    rank: int
    type: Literal["i", "o", "s"]
    index: int
    size: int = 1


class PlanOperation(msgspec.Struct, frozen=True, gc=False):
    name: str
    src_buff: tuple[PlanChunk, ...] = ()
    dst_buff: tuple[PlanChunk, ...] = ()
    channel_ids: tuple[int, ...] = ()
    channel_type: str = ""
    reduce_op: str = "sum"
    tbg_info: PlanShare | None = None
    barrier_id: int = -1
    num_threadblocks: int = 0
    semaphore_ids: tuple[int, ...] = ()
    ops: tuple[PlanOperation, ...] = ()
    buffer_type: Literal["i", "o", "s"] | None = None
    buffer_offset: int = 0
    size: int = 1
    dst_chunk: PlanPlace | None = None


class PlanChannels(msgspec.Struct):
    channel_type: str
    channel_ids: list[int]


class PlanRefs(msgspec.Struct):
    access_channel_type: str
    remote_buffer_ids: list[int]


class PlanRemote(msgspec.Struct):
    rank: int
    type: Literal["i", "o", "s"]


class PlanGroup(msgspec.Struct):
    ranks: list[int]


class PlanLinks(msgspec.Struct):
    connected_to: list[int] = []
    type: str = ""
    channel_type: str = ""
    buffer_type: Literal["i", "o", "s"] | None = None
    buff: Literal["i", "o", "s"] | None = None
    """What older files call ``buffer_type``."""
    rank_groups: list[PlanGroup] = []


class PlanSemaphore(msgspec.Struct):
    init_value: int = 0


@dataclass
class PlanBlock:
    """A thread block. Its fields, and those of the others, have the names that they have in the file."""

    id: int = -1
    ops: list[PlanOperation] = field(default_factory=list)
    pipelines: list[tuple[int, int]] = field(default_factory=list)
    """Where the operations of each pipeline begin among ``ops``, and how many they are."""
    channels: list[PlanChannels] = field(default_factory=list)
    remote_buffer_refs: list[PlanRefs] = field(default_factory=list)


@dataclass
class PlanGpu:
    id: int = -1
    input_chunks: int = -1
    output_chunks: int = -1
    scratch_chunks: int = -1
    threadblocks: list[PlanBlock] = field(default_factory=list)
    channels: list[PlanLinks] = field(default_factory=list)
    remote_buffers: list[PlanRemote] = field(default_factory=list)
    semaphores: list[PlanSemaphore] = field(default_factory=list)


@dataclass
class ExecutionPlan:
    name: str = ""
    collective: str = ""
    gpus: list[PlanGpu] = field(default_factory=list)
    inplace: bool = False


class _Reader:
    """Reads a plan piece by piece. Of its operations, what is alike is kept once."""

    def __init__(self, file: TextIO) -> None:
        self.pieces = JsonPieces(file)
        self.kept: dict[Any, Any] = {}
        self.operations = 0
        self.parts = 1

    def plan(self) -> ExecutionPlan:
        plan = ExecutionPlan()
        for name in self._members("a plan", ("name", "collective", "gpus")):
            match name:
                case "name" | "collective":
                    setattr(plan, name, self.pieces.value(str))
                case "inplace":
                    plan.inplace = self.pieces.value(bool)
                case "gpus":
                    plan.gpus = [self._gpu() for _ in self.pieces.elements()]
        self.pieces.end()
        return plan

    def _gpu(self) -> PlanGpu:
        gpu = PlanGpu()
        sizes = ("id", "input_chunks", "output_chunks", "scratch_chunks")
        for name in self._members("a gpu", (*sizes, "threadblocks")):
            if name in sizes:
                setattr(gpu, name, self.pieces.value(int))
            elif name == "threadblocks":
                gpu.threadblocks = [self._block() for _ in self.pieces.elements()]
            elif name == "channels":
                gpu.channels = self.pieces.value(list[PlanLinks])
            elif name == "remote_buffers":
                gpu.remote_buffers = self.pieces.value(list[PlanRemote])
            elif name == "semaphores":
                gpu.semaphores = self.pieces.value(list[PlanSemaphore])
        return gpu

    def _block(self) -> PlanBlock:
        block = PlanBlock()
        for name in self._members("a thread block", ("id", "ops")):
            match name:
                case "id":
                    block.id = self.pieces.value(int)
                case "ops":
                    for _ in self.pieces.elements():
                        self._operations(block)
                case "channels":
                    block.channels = self.pieces.value(list[PlanChannels])
                case "remote_buffer_refs":
                    block.remote_buffer_refs = self.pieces.value(list[PlanRefs])
        return block

    def _operations(self, block: PlanBlock) -> None:
        """Add the next operation to a block, or those of the pipeline that it is."""
        one = self.pieces.value(PlanOperation)
        if one.name != PIPELINE:
            block.ops.append(self._operation(one))
            return
        if any(inner.name == PIPELINE for inner in one.ops):
            raise self.pieces.wrong("a pipeline must not have a pipeline in it")
        block.pipelines.append((len(block.ops), len(one.ops)))
        block.ops.extend(map(self._operation, one.ops))

    def _operation(self, one: PlanOperation) -> PlanOperation:
        self.operations += 1
        if self.operations > MAX_STEPS:
            raise self.pieces.wrong(f"a plan must have at most {MAX_STEPS} operations")
        if one.name not in KNOWN:
            raise self.pieces.wrong(f"an operation {one.name[:20]} is not known; known are {', '.join(sorted(KNOWN))}")

        share = one.tbg_info
        if share is not None:
            if not 0 <= share.tb_id < share.tbg_size:
                raise self.pieces.wrong(f"tb_id must be 0 to {share.tbg_size - 1}, not {share.tb_id}")
            self.parts = math.lcm(self.parts, share.tbg_size)
            if self.parts > MAX_PARTS:
                raise self.pieces.wrong(
                    f"groups of thread blocks must divide a chunk into at most {MAX_PARTS} parts, not {self.parts}"
                )

        def kept(value: Any) -> Any:
            return self.kept.setdefault(value, value)

        if one.name == "glre" and one.dst_chunk is not None:
            one = _of_group(one, one.dst_chunk)
        return PlanOperation(
            kept(one.name),
            kept(tuple(map(kept, one.src_buff))),
            kept(tuple(map(kept, one.dst_buff))),
            kept(one.channel_ids),
            kept(one.channel_type),
            kept(one.reduce_op),
            kept(share),
            one.barrier_id,
            one.num_threadblocks,
            kept(one.semaphore_ids),
            buffer_type=one.buffer_type,
            dst_chunk=kept(one.dst_chunk),
        )

    def _members(self, what: str, needed: tuple[str, ...]) -> Iterator[str]:
        """Names in an object, each of which may be there once, and the needed ones must."""
        seen = set[str]()
        for name in self.pieces.members():
            if name in seen:
                raise self.pieces.wrong(f"{what} must have {name[:40]} once")
            seen.add(name)
            yield name
        for name in needed:
            if name not in seen:
                raise self.pieces.wrong(f"{what} must have {name}")


def read_plan(file: TextIO) -> ExecutionPlan:
    """A plan whose operations belong to one thread block each: where several share an operation, chunks are counted in parts.

    Raises
    ------
    PointsmanError
        Naming the line.
    """
    reader = _Reader(file)
    plan = reader.plan()
    _divide(plan, reader.parts)
    return plan


def _of_group(one: PlanOperation, into: PlanPlace) -> PlanOperation:
    """The operation ``glre``, which is written in a form of its own, in that of others: a source through the switch, and where
    the sum is left."""
    channel = one.channel_ids[0] if one.channel_ids else -1
    return msgspec.structs.replace(
        one,
        src_buff=(PlanChunk(one.buffer_offset, one.size, switch_channel_id=channel),),
        dst_buff=(PlanChunk(into.index, into.size, into.type),),
    )


def _divide(plan: ExecutionPlan, parts: int) -> None:
    """Count all chunks in ``parts``, of which an operation of a group takes those of its thread block."""
    if parts == 1:
        return
    for gpu in plan.gpus:
        gpu.input_chunks *= parts
        gpu.output_chunks *= parts
        gpu.scratch_chunks *= parts
        for block in gpu.threadblocks:
            block.ops = [_shared(one, parts) for one in block.ops]


def _shared(one: PlanOperation, parts: int) -> PlanOperation:
    share = one.tbg_info or PlanShare(0, 1)

    def part(chunk: PlanChunk) -> PlanChunk:
        size = chunk.size * parts // share.tbg_size
        return msgspec.structs.replace(chunk, index=chunk.index * parts + share.tb_id * size, size=size)

    return msgspec.structs.replace(
        one, src_buff=tuple(map(part, one.src_buff)), dst_buff=tuple(map(part, one.dst_buff))
    )
