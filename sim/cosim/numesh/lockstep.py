"""Engines side by side: random memories and random accesses, all state compared in every cycle.

The contents are no sensible programs: schedules loop or leave their entries, annotations name places that do not exist,
VFSMs follow themselves, random words are carried out as commands. The engines must agree even so.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from cosim.engines.processors import Access
from cosim.record import State
from numesh.codes import LOOKAHEAD, REPROGRAM_VFSM, Annotation, Codes, MoveType, ScheduleEntry
from numesh.memories import NodeMemories
from numesh.shape import NodeShape
from pointsman.network import Topology


class Clocked(Protocol):
    """An engine that is driven cycle by cycle."""

    name: str
    shape: NodeShape
    nodes: int

    @property
    def time(self) -> int: ...

    def preload(self, memories: Sequence[NodeMemories]) -> None: ...

    def state(self) -> State: ...

    def full(self, node: int) -> int: ...

    def clock(self, accesses: Mapping[int, Access]) -> Mapping[int, int]: ...


def random_memories(shape: NodeShape, topology: Topology, rng: random.Random) -> list[NodeMemories]:
    """Random memories of all nodes, in which contents that are rare in real memories are frequent."""
    return [_random_memories(shape, sorted(joined), rng) for joined in topology.at_port]


def _random_memories(shape: NodeShape, ports: Sequence[int], rng: random.Random) -> NodeMemories:
    codes = Codes(shape)
    length = rng.randint(1, min(8, shape.schedule_depth))
    vfsms = rng.sample(range(shape.vfsms), min(shape.vfsms, rng.randint(1, 8)))
    lost = rng.random() < 0.2
    reprogrammed = rng.random() < 0.4
    if reprogrammed and REPROGRAM_VFSM not in vfsms:
        vfsms[0] = REPROGRAM_VFSM
    schedule: list[ScheduleEntry] = []
    for address in range(shape.schedule_depth):
        after = rng.randrange(shape.schedule_depth) if lost and rng.random() < 0.1 else (address + LOOKAHEAD) % length
        row = tuple(rng.choice(vfsms) for _ in range(shape.pipelines))
        if address and rng.random() < 0.3:
            row = (schedule[-1].vfsms[0], *row[1:])
        schedule.append(ScheduleEntry(row, after))
    annotations: list[tuple[int, ...]] = []
    for _ in range(shape.pipelines):
        kept = [_random_annotation(codes, ports, vfsms, rng) for _ in range(shape.vfsms)]
        # A fork's second leg has an effect only in the slot after the first leg.
        for address in range(length - 1):
            if ports and rng.random() < 0.5:
                first, second = (schedule[address + k].vfsms[len(annotations)] for k in (0, 1))
                port = rng.choice(ports)
                kept[first] = Annotation(MoveType.MOVE, kept[first].source, port, rng.random() < 0.7)
                kept[second] = Annotation(MoveType.FORK, port, kept[second].destination)
        if reprogrammed:
            register = codes.register(len(annotations))
            kept[REPROGRAM_VFSM] = Annotation(MoveType.MOVE, register, codes.memadr)
        annotations.append(tuple(map(codes.encode_annotation, kept)))
    return NodeMemories(tuple(map(codes.encode_entry, schedule)), tuple(annotations))


def _random_annotation(codes: Codes, ports: Sequence[int], vfsms: Sequence[int], rng: random.Random) -> Annotation:
    def place() -> int:
        choice = rng.random()
        if choice < 0.4 and ports:
            return codes.neighbour(rng.choice(ports))
        if choice < 0.7:
            return codes.register(rng.randrange(min(3, codes.shape.registers)))
        if choice < 0.85:
            return codes.buffer(rng.choice(vfsms))
        if choice < 0.9:
            return rng.choice((codes.null, codes.memadr))
        return rng.randrange(1 << codes.place_bits)

    kind = rng.choice((MoveType.MOVE, MoveType.MOVE, *MoveType))
    return Annotation(kind, place(), place(), rng.random() < 0.1)


def random_accesses(shape: NodeShape, nodes: int, rng: random.Random, eagerness: float) -> dict[int, Access]:
    """Random accesses of a cycle; a node makes an access with probability ``eagerness``. Many are refused."""
    codes = Codes(shape)
    accesses = {}
    for node in range(nodes):
        if rng.random() < eagerness:
            register = rng.randrange(min(4, shape.registers) if rng.random() < 0.8 else shape.registers)
            word = rng.getrandbits(shape.width)
            if rng.random() < 0.3:
                # A word of a legal command.
                entry = ScheduleEntry(
                    tuple(rng.randrange(shape.vfsms) for _ in range(shape.pipelines)),
                    rng.randrange(shape.schedule_depth),
                )
                word = rng.choice(
                    codes.write_entry(rng.randrange(shape.schedule_depth), entry)
                    + codes.write_annotation(rng.randrange(shape.vfsms), _random_annotation(codes, (0,), (0,), rng))
                    + codes.set_pointer(*(rng.randrange(shape.schedule_depth) for _ in range(LOOKAHEAD)))
                    + codes.add_pointer(rng.randrange(shape.schedule_depth))
                )
            accesses[node] = Access(register, rng.random() < 0.5, word)
    return accesses


class DifferenceError(AssertionError):
    """Two engines disagree."""


def compare(engines: Sequence[Clocked], cycles: int, rng: random.Random) -> int:
    """Drive the engines through the same cycles. Gives the number of words that were read.

    Raises
    ------
    DifferenceError
        If two engines differ in state or in words read; names cycle, node and state.
    """
    first, *others = engines
    words_read = 0
    eagerness = rng.choice((0.1, 0.5, 1.0))
    for _ in range(cycles):
        state = first.state()
        for other in others:
            _compare_states(first, other, state, other.state())
        accesses = random_accesses(first.shape, first.nodes, rng, eagerness)
        full = {node: first.full(node) for node in accesses}
        read = {node: word for node, word in first.clock(accesses).items() if full[node] >> accesses[node].register & 1}
        words_read += len(read)
        for other in others:
            words = other.clock(accesses)
            for node, word in read.items():
                if words[node] != word:
                    raise DifferenceError(
                        f"cycle {other.time - 1}: the processor of node {node} reads {words[node]:#x} in "
                        f"{other.name}, {word:#x} in {first.name}"
                    )
    return words_read


def _compare_states(first: Clocked, other: Clocked, one: State, two: State) -> None:
    if first.time != other.time:
        raise DifferenceError(f"{other.name} is in cycle {other.time}, {first.name} in {first.time}")
    for name in one.keys() & two.keys():
        if not np.array_equal(one[name], two[name]):
            where = tuple(int(index) for index in np.argwhere(one[name] != two[name])[0])
            raise DifferenceError(
                f"cycle {other.time}: {name}{list(where)} is {two[name][where]:#x} in {other.name}, "
                f"{one[name][where]:#x} in {first.name}"
            )
