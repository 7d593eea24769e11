"""Execution plans of MSCCL++: JSON, thread blocks of each GPU with operations on local and remote buffers, signals and waits.

An operation takes chunks from local buffers and through channels from remote ones, and leaves what it copies, or their sum, in
local and remote buffers. A remote access becomes a message. The k-th channel from a GPU to another is the k-th from there back;
a signal on it lets one wait at the other end go on. Who reads packets waits for them, without a signal. A switch channel stands
for the same buffer of all GPUs of its group: what is read is their sum, what is written goes to all. Barriers and semaphores
are among the thread blocks of a GPU. An operation of a group of thread blocks is shared among them, a part of each chunk for
each. A pipeline repeats its operations for pieces of a chunk; they are carried out once, as if a chunk were one piece.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TextIO

from pointsman.errors import PointsmanError

from .algorithm import (
    Action,
    Algorithm,
    Buffers,
    Collective,
    Message,
    Place,
    check_sizes,
    checked_both_ways,
    sizes_in_place,
    with_distance,
)
from .mscclpp_plan import (
    MOVES,
    PACKET_READS,
    PACKET_SUMS,
    PACKET_WRITES,
    SIGNALS,
    SUMS,
    SWITCH,
    WAITS,
    PlanBlock,
    PlanChunk,
    PlanGpu,
    PlanOperation,
    PlanPlace,
    read_plan,
)


def from_mscclpp(file: TextIO) -> Algorithm:
    """Read a plan, and check that it does its collective, as `pointsman.artifacts.algorithms.msccl.from_msccl` does.

    Raises
    ------
    PointsmanError
        Naming the line, or the operation that is wrong.
    """
    plan = read_plan(file)
    gpus = sorted(plan.gpus, key=lambda gpu: gpu.id)
    if [gpu.id for gpu in gpus] != list(range(len(gpus))) or not gpus:
        raise PointsmanError(f"gpus must be numbered from 0 to {max(len(gpus) - 1, 0)}, each once")
    inputs, outputs = max(gpu.input_chunks for gpu in gpus), max(gpu.output_chunks for gpu in gpus)
    if plan.inplace:
        inputs, outputs = sizes_in_place(plan.collective, len(gpus), inputs, outputs)
    buffers = Buffers(inputs, outputs, max(gpu.scratch_chunks for gpu in gpus), plan.inplace)
    collective = check_sizes(plan.collective, len(gpus), buffers)

    def play(last_first: bool) -> Algorithm:
        found = _Play(plan.name, collective, gpus, buffers, last_first=last_first).run()
        # A plan does not say to which rank the next group begins.
        return with_distance(found) if collective == "sendrecv" else found

    return checked_both_ways(play)


class _Play:
    def __init__(
        self, name: str, collective: Collective, gpus: list[PlanGpu], buffers: Buffers, *, last_first: bool
    ) -> None:
        self.name, self.collective, self.gpus, self.buffers = name, collective, gpus, buffers
        self.blocks = [(gpu, block) for gpu in gpus for block in gpu.threadblocks]
        if last_first:
            self.blocks.reverse()
        self.at = [0] * len(self.blocks)
        self.signals: Counter[tuple[int, str, int]] = Counter()
        self.semaphores = Counter(
            {(gpu.id, number): one.init_value for gpu in gpus for number, one in enumerate(gpu.semaphores)}
        )
        self.barriers: dict[tuple[int, int], tuple[int, int]] = {}
        """Thread blocks of each barrier of a rank, and how many have come to it."""
        self.until: dict[int, int] = {}
        """For each block that stands at a barrier, how many must have come there."""
        self.packets = set[tuple[int, int]]()
        """Rank and index of each chunk of a scratch buffer that has come as packets."""
        self.messages: list[Message] = []
        self.actions: list[Action] = []

    def run(self) -> Algorithm:
        going = True
        while going:
            going = False
            for index, (gpu, block) in enumerate(self.blocks):
                while self.at[index] < len(block.ops) and self._step(gpu, block, index):
                    self.at[index] += 1
                    going = True
        for index, (gpu, block) in enumerate(self.blocks):
            if self.at[index] < len(block.ops):
                raise PointsmanError(f"{_named(gpu, block, self.at[index])} waits for ever")
        return Algorithm(
            self.name, self.collective, len(self.gpus), self.buffers, tuple(self.messages), tuple(self.actions)
        )

    def _step(self, gpu: PlanGpu, block: PlanBlock, index: int) -> bool:
        """Carry out the next operation of the block with this index, if it does not have to wait."""
        at = self.at[index]
        one, name = block.ops[at], _named(gpu, block, at)
        if one.name in WAITS:
            ends = Counter((gpu.id, one.channel_type, channel) for channel in self._channels(gpu, block, one, name))
            if any(self.signals[end] < count for end, count in ends.items()):
                return False
            self.signals -= ends
        elif one.name in ("sem_acquire", "sem_release"):
            return self._semaphores(gpu, one, name)
        elif one.name == "barrier":
            return self._barrier(gpu, index, one, name)
        if one.name in PACKET_READS and not self._have_come(gpu, one):
            return False
        if one.name in SUMS:
            if one.reduce_op != "sum":
                raise PointsmanError(f"{name}: a reduction must be a sum, not {one.reduce_op[:20]!r}")
            if one.name == "glre" and one.dst_chunk is not None:
                self._check_group(gpu, block, one, one.dst_chunk, name)
            self._sum(gpu, block, one, name)
        elif one.name in MOVES:
            if len(one.src_buff) != len(one.dst_buff):
                raise PointsmanError(f"{name}: there must be as many sources as destinations")
            for source, destination in zip(one.src_buff, one.dst_buff, strict=True):
                self._leave(gpu, block, one, name, [source], [destination])
        if one.name in SIGNALS:
            for channel in self._channels(gpu, block, one, name):
                self.signals[self._other_end(gpu, one.channel_type, channel, name)] += 1
        return True

    def _semaphores(self, gpu: PlanGpu, one: PlanOperation, name: str) -> bool:
        """Add one to each semaphore of an operation, or take one from each, if all are above 0."""
        if not all(0 <= number < len(gpu.semaphores) for number in one.semaphore_ids):
            raise PointsmanError(f"{name}: the gpu has {len(gpu.semaphores)} semaphores")
        counts = Counter((gpu.id, number) for number in one.semaphore_ids)
        if one.name == "sem_release":
            self.semaphores.update(counts)
            return True
        if any(self.semaphores[key] < count for key, count in counts.items()):
            return False
        self.semaphores.subtract(counts)
        return True

    def _barrier(self, gpu: PlanGpu, index: int, one: PlanOperation, name: str) -> bool:
        """Come to a barrier, and go on when as many thread blocks as it has have come as often."""
        key, size = (gpu.id, one.barrier_id), one.num_threadblocks
        blocks, come = self.barriers.get(key, (size, 0))
        if size < 1 or size != blocks:
            raise PointsmanError(
                f"{name}: a barrier must be of as many thread blocks everywhere, 1 or more, not of {size}"
                + (f" here and {blocks} elsewhere" if size != blocks else "")
            )
        if index not in self.until:
            come += 1
            self.barriers[key] = blocks, come
            self.until[index] = -(-come // blocks) * blocks
        if come < self.until[index]:
            return False
        del self.until[index]
        return True

    def _have_come(self, gpu: PlanGpu, one: PlanOperation) -> bool:
        """Are all packets there that an operation reads?"""
        chunks = one.src_buff[1:] if one.name in PACKET_SUMS else one.src_buff
        return all(
            (gpu.id, index) in self.packets
            for chunk in chunks
            for index in range(chunk.index, chunk.index + chunk.size)
        )

    def _sum(self, gpu: PlanGpu, block: PlanBlock, one: PlanOperation, name: str) -> None:
        if not one.src_buff or not one.dst_buff:
            raise PointsmanError(f"{name}: a reduction must have sources and destinations")
        self._leave(gpu, block, one, name, one.src_buff, one.dst_buff)

    def _leave(
        self,
        gpu: PlanGpu,
        block: PlanBlock,
        one: PlanOperation,
        name: str,
        sources: Sequence[PlanChunk],
        destinations: Sequence[PlanChunk],
    ) -> None:
        """Add up the sources, which come by messages if they are remote, and leave the sum at every destination."""
        count = destinations[0].size
        if any(chunk.size != count or count < 1 or chunk.index < 0 for chunk in (*sources, *destinations)):
            raise PointsmanError(f"{name}: sources and destinations must have as many chunks, 1 or more, at 0 or later")
        operands: list[Place] = []
        for rank, place in self._places(gpu, block, one, sources, name):
            came = place if rank == gpu.id else self._send(rank, gpu.id, (place,), count, name)
            operands.append(came)
        ends = self._places(gpu, block, one, destinations, name)
        if one.name in PACKET_WRITES:
            for rank, (buffer, index) in ends[1:] if one.name in PACKET_SUMS else ends:
                if buffer == "s":
                    last = min(index + count, self.buffers.scratch)
                    self.packets.update((rank, each) for each in range(index, last))
        # A destination may be a source too: what is sent is added up before anything is left here.
        for rank, place in ends:
            if rank != gpu.id:
                came = self._send(gpu.id, rank, tuple(operands), count, name)
                self.actions.append(Action(rank, (came,), place, count, name))
        for place in (place for rank, place in ends if rank == gpu.id):
            self.actions.append(Action(gpu.id, tuple(operands), place, count, name))
            operands = [place]

    def _send(self, source: int, destination: int, operands: tuple[Place, ...], count: int, name: str) -> Place:
        place = ("m", len(self.messages))
        self.messages.append(Message(source, destination, count))
        self.actions.append(Action(source, operands, place, count, name))
        return place

    def _places(
        self, gpu: PlanGpu, block: PlanBlock, one: PlanOperation, chunks: Sequence[PlanChunk], name: str
    ) -> list[tuple[int, Place]]:
        """Ranks and places of chunks. Through a switch, one stands at the same place of each GPU of the group."""
        found: list[tuple[int, Place]] = []
        for chunk in chunks:
            if chunk.switch_channel_id is None:
                found.append(self._place(gpu, block, one, chunk, name))
            else:
                ranks, buffer = self._group(gpu, block, chunk.switch_channel_id, name)
                found.extend((rank, (buffer, chunk.index)) for rank in ranks)
        return found

    def _group(self, gpu: PlanGpu, block: PlanBlock, at: int, name: str) -> tuple[list[int], str]:
        """Ranks of a switch channel of a thread block, and their buffer."""
        own = [number for entry in block.channels if entry.channel_type == SWITCH for number in entry.channel_ids]
        groups = [
            (group.ranks, entry.buffer_type or entry.buff) for entry in gpu.channels for group in entry.rank_groups
        ]
        if not (0 <= at < len(own) and 0 <= own[at] < len(groups)):
            raise PointsmanError(f"{name}: the thread block has no switch channel {at}")
        ranks, buffer = groups[own[at]]
        if buffer is None or gpu.id not in ranks or len({*ranks} & {*range(len(self.gpus))}) < len(ranks):
            raise PointsmanError(
                f"{name}: a switch channel must have a buffer_type, and ranks that are there, with its own"
            )
        return ranks, buffer

    def _check_group(self, gpu: PlanGpu, block: PlanBlock, one: PlanOperation, into: PlanPlace, name: str) -> None:
        _, buffer = self._group(gpu, block, one.channel_ids[0] if one.channel_ids else -1, name)
        if one.buffer_type not in (None, buffer):
            raise PointsmanError(
                f"{name}: buffer_type is {one.buffer_type!r}, and that of the switch channel {buffer!r}"
            )
        if into.rank != gpu.id:
            raise PointsmanError(
                f"{name}: the sum must be left at the gpu of the operation, not at {into.rank}, since nothing sends it there"
            )

    def _place(
        self, gpu: PlanGpu, block: PlanBlock, one: PlanOperation, chunk: PlanChunk, name: str
    ) -> tuple[int, Place]:
        """Rank and place of a chunk: in a buffer of the GPU, or in a remote one."""
        if chunk.type is not None:
            return gpu.id, (chunk.type, chunk.index)
        refs = [
            number
            for ref in block.remote_buffer_refs
            if ref.access_channel_type == one.channel_type
            for number in ref.remote_buffer_ids
        ]
        at = -1 if chunk.buffer_id is None else chunk.buffer_id
        if not (0 <= at < len(refs) and 0 <= refs[at] < len(gpu.remote_buffers)):
            raise PointsmanError(
                f"{name}: there is no remote buffer {at} through channels of type {one.channel_type[:20]!r}"
            )
        remote = gpu.remote_buffers[refs[at]]
        if not (0 <= remote.rank < len(self.gpus) and remote.rank != gpu.id):
            raise PointsmanError(f"{name}: a remote buffer must be of another gpu, not of {remote.rank}")
        return remote.rank, (remote.type, chunk.index)

    def _channels(self, gpu: PlanGpu, block: PlanBlock, one: PlanOperation, name: str) -> list[int]:
        """Numbers of an operation's channels among those of its type of the GPU."""
        own = [
            number for entry in block.channels if entry.channel_type == one.channel_type for number in entry.channel_ids
        ]
        if not all(0 <= number < len(own) for number in one.channel_ids):
            raise PointsmanError(f"{name}: the thread block has {len(own)} channels of type {one.channel_type[:20]!r}")
        return [own[number] for number in one.channel_ids]

    def _peers(self, rank: int, kind: str) -> list[int]:
        return [
            peer
            for entry in self.gpus[rank].channels
            if kind in (entry.type, entry.channel_type)
            for peer in entry.connected_to
        ]

    def _other_end(self, gpu: PlanGpu, kind: str, channel: int, name: str) -> tuple[int, str, int]:
        peers = self._peers(gpu.id, kind)
        if not (0 <= channel < len(peers) and 0 <= peers[channel] < len(self.gpus)):
            raise PointsmanError(f"{name}: the gpu has no channel {channel} of type {kind[:20]!r}")
        peer = peers[channel]
        turn = peers[:channel].count(peer)
        back = [number for number, other in enumerate(self._peers(peer, kind)) if other == gpu.id]
        if turn >= len(back):
            raise PointsmanError(f"{name}: gpu {peer} has no channel back for channel {channel}")
        return peer, kind, back[turn]


def _named(gpu: PlanGpu, block: PlanBlock, at: int) -> str:
    name = block.ops[at].name[:20]
    for begin, count in block.pipelines:
        if begin <= at < begin + count:
            return f"rank {gpu.id}, thread block {block.id}, operation {_number(block, begin)}.{at - begin} ({name})"
    return f"rank {gpu.id}, thread block {block.id}, operation {_number(block, at)} ({name})"


def _number(block: PlanBlock, at: int) -> int:
    """The number in the file of an operation in no pipeline, or of a pipeline that begins at ``at``."""
    return at - sum(count - 1 for begin, count in block.pipelines if begin + count <= at and begin < at)
