"""Documents of programs for packet routers: messages from the processor that sends to the one that reads, and loads of links.

Takes a program for packet routers, and a run. A message begins with a header, which names its destination; its words are read
there in order. On a mesh or torus in dimension order the links of its way are known; nobody measured when it crossed them, so
that they count from the cycle in which it was sent.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence

import numpy as np

from packet_router.header import ADDRESS, source_of
from packet_router.node import LAST, WORD
from packet_router.shape import RouterShape
from pointsman.targets.packet import PacketProgram

from .document import Document, Operator, Phase, Step, Stream, Way, Word
from .measured import MOST_WORDS, SLICES, Activity, ShownRun, keep_some, run_of
from .network import net_of
from .switch import FUNCTION, Doing

Message = tuple[int, int, int, int, tuple[int, ...]]
"""(source, destination, address, cycle in which its header was written, words)."""


def packet_document(program: PacketProgram, *, source: Sequence[str] = ()) -> Document:
    """Document of a program for packet routers."""
    names = sorted({one.phase for one in program.operators})
    return Document(
        title=f"{program.name} on a {program.topology.described} of packet routers",
        target="packet",
        network=net_of(program.topology, program.shape.as_dict()),
        operators=[
            Operator(
                label=one.operator.label,
                kind=one.operator.kind,
                implementation=one.way.name,
                source=str(one.operator.position or ""),
                words=one.operator.m,
                instances=[list(instance.nodes) for instance in one.operator.instances],
            )
            for one in program.operators
        ],
        phases=[
            Phase(str(phase), [index for index, one in enumerate(program.operators) if one.phase == phase])
            for phase in names
        ],
        source=list(source),
        notes=list(program.notes),
    )


def add_packet_run(document: Document, program: PacketProgram, done: ShownRun, spans: Sequence[Activity]) -> None:
    """Put a run on packet routers into the document of its program."""
    run = document.run = run_of(done, spans)
    if done.record.events is None:
        return
    messages, reads = _messages(program.shape, done.record.events)
    doing = Doing(run)
    labels = {one.label: index for index, one in enumerate(document.operators)}
    phase_of = {index: number for number, phase in enumerate(document.phases) for index in phase.operators}
    streams: dict[tuple[int, int, int, int], int] = {}
    ways: dict[int, list[int]] = {}
    number_of = {pair: number for number, pair in enumerate(document.network.links)}
    slices = max(1, min(SLICES, run.cycles))
    run.slice_cycles = max(1, run.cycles) / slices
    load = np.zeros((len(document.network.links), slices), np.int64)
    words: list[Word] = []
    for (source, destination, address, time, sent), read in zip(messages, reads, strict=True):
        span = doing.at(source, time)
        match = FUNCTION.fullmatch(run.activities[run.spans[span][3]]) if span >= 0 else None
        key = source, destination, address, labels.get(match[1], -1) if match else -1
        number = streams.setdefault(key, len(streams))
        if number not in ways:
            way = route(program.shape, source, destination)
            ways[number] = [number_of[pair] for pair in way if pair in number_of]
        for hop, link in enumerate(ways[number]):
            load[link, min(slices - 1, int((time + hop) / run.slice_cycles))] += len(sent)
        words.append((number, time, [] if read is None else [(0, read, 0)]))
    counts: dict[int, int] = defaultdict(int)
    for number, _, _ in words:
        counts[number] += 1
    document.streams = [
        Stream(
            f"{u} → {v}, address {address}",
            operator,
            phase_of.get(operator, -1),
            u,
            WORD,
            [(v, address)],
            counts[number],
            [_drawn(ways[number])],
        )
        for (u, v, address, operator), number in streams.items()
    ]
    run.load = load.tolist()
    run.words_all = len(words)
    run.words = keep_some(sorted(words, key=lambda word: (word[1], word[0])), MOST_WORDS)


def _drawn(links: Sequence[int]) -> Way:
    steps: list[Step] = [(link, hop + 1, hop - 1) for hop, link in enumerate(links)]
    return Way(0, steps, [(0, len(links) + 2, len(links) - 1)])


def _messages(shape: RouterShape, events: np.ndarray) -> tuple[list[Message], list[int | None]]:
    """Messages in the order of their headers, and when each was read to its end (None: it was not)."""
    written: dict[int, int] = {}
    sent: list[tuple[int, int, int, int, list[int]]] = []
    ended: set[int] = set()
    reads: list[int | None] = []
    waiting: dict[tuple[int, int, int], deque[int]] = defaultdict(deque)
    reading: dict[tuple[int, int], tuple[int, int]] = {}
    places = {shape.pack(shape.place(node)): node for node in range(shape.nodes)}
    for time, node, register, write, word in events.tolist():
        if write and register in (WORD, LAST):
            # A message can be read, and passed on, while its last words have still to be written.
            if node not in written:
                destination, address = places[word & ((1 << ADDRESS) - 1)], word >> ADDRESS & 0xF
                waiting[destination, address, node].append(len(sent))
                written[node] = len(sent)
                sent.append((node, destination, address, time, []))
                reads.append(None)
            sent[written[node]][4].append(word)
            if register == LAST:
                ended.add(written.pop(node))
        elif not write:
            message, count = reading.pop((node, register), (-1, 0))
            if message < 0:
                queue = waiting[node, register, source_of(word)]
                if not queue:
                    continue
                message = queue.popleft()
            count += 1
            if message in ended and count == len(sent[message][4]):
                reads[message] = time
            else:
                reading[node, register] = message, count
    return [(u, v, address, time, tuple(words)) for u, v, address, time, words in sent], reads


def route(shape: RouterShape, source: int, destination: int) -> list[tuple[int, int]]:
    """Links of a way in dimension order, x first; empty where routers choose."""
    if shape.routing != "e-cube":
        return []
    here, goal = list(shape.place(source)), shape.place(destination)
    strides = [int(np.prod(shape.size[:axis], dtype=int)) for axis in range(len(shape.size))]
    way = []
    for axis, size in enumerate(shape.size):
        while here[axis] != goal[axis]:
            step = 1 if goal[axis] > here[axis] else -1
            if shape.torus and 2 * abs(goal[axis] - here[axis]) > size:
                step = -step
            node = sum(at * stride for at, stride in zip(here, strides, strict=True))
            here[axis] = (here[axis] + step) % size
            way.append((node, sum(at * stride for at, stride in zip(here, strides, strict=True))))
    return way
