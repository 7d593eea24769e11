"""A mesh of NuMesh nodes in one phase, cycle by cycle in plain Python: slow, and simple enough to be read.

Written from docs/hardware.md and from nothing else, so that what the judge says about images can be held against what
such nodes do with them. Processors have no limit on accesses here: each register is used with a given probability in
each cycle.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from numesh.codes import Annotation, Codes, MoveType
from pointsman.artifacts.images import Images, Promise, memories_of

Word = tuple[int, int]
"""Number of the promise and of the word."""


@dataclass
class Write:
    """What stands in the write stage of a pipeline."""

    word: Word
    vfsm: int
    type: MoveType
    destination: int
    from_buffer: bool
    forked: bool


@dataclass
class Pipeline:
    """State of a pipeline, and what it does in the present cycle."""

    annotations: list[Annotation]
    vfsm: int = 0
    active: bool = False
    stage: Write | None = None
    buffers: dict[int, Word] = field(default_factory=dict)
    retry: bool = False
    can_accept: bool = False
    forked: bool = False
    ok: bool = False
    taken: Write | None = None
    emptied: set[int] = field(default_factory=set)


class Node:
    """A node: its memories, pipelines and interface registers."""

    def __init__(
        self, schedule: list[tuple[tuple[int, ...], int]], annotations: list[list[Annotation]], start: int
    ) -> None:
        self.schedule = schedule
        self.pipelines = [Pipeline(words) for words in annotations]
        self.addresses = [start, start + 1]
        self.next_vfsms: tuple[int, ...] | None = None
        self.registers: dict[int, Word] = {}
        self.processor: set[int] = set()
        self.drives: dict[int, tuple[Pipeline, bool]] = {}


class Mesh:
    """All nodes of ``images`` in ``phase``, with the roles that ``choice`` (operator to value) gives."""

    def __init__(self, images: Images, phase: int, choice: Mapping[int, int]) -> None:
        self.codes = codes = Codes(images.shape)
        self.links = images.topology.at_port
        start = images.phases[phase].block * images.period
        self.nodes: list[Node | None] = []
        for image, memories in zip(images.nodes, memories_of(images), strict=True):
            if all(part.phase != phase for part in image.phases):
                self.nodes.append(None)
                continue
            annotations = [list(map(codes.decode_annotation, words)) for words in memories.annotations]
            for index, operator in image.operators:
                if images.operators[index].phase == phase:
                    for rewrite in operator.roles[operator.role_of[choice.get(index, 0)]].rewrites:
                        annotations[rewrite.pipeline][rewrite.vfsm] = rewrite.annotation
            entries = [codes.decode_entry(word) for word in memories.schedule]
            self.nodes.append(Node([(e.vfsms, e.ahead) for e in entries], annotations, start))

    def cycle(self) -> None:
        """One clock cycle; ``Node.processor`` holds the registers that processors use in it."""
        for node in filter(None, self.nodes):
            self._decide(node)
        for node in filter(None, self.nodes):
            self._drive(node)
        for number, node in enumerate(self.nodes):
            if node is not None:
                self._write(number, node)
        for number, node in enumerate(self.nodes):
            if node is not None:
                self._read(number, node)
        for node in filter(None, self.nodes):
            self._clock(node)

    def _decide(self, node: Node) -> None:
        codes = self.codes
        for pipe in node.pipelines:
            annotation, stage = pipe.annotations[pipe.vfsm], pipe.stage
            held = pipe.vfsm in pipe.buffers
            own = incoming = pipe.forked = False
            if stage is not None:
                refusable = stage.destination not in (codes.memadr, codes.null) and stage.type != MoveType.BLIND
                own = stage.vfsm == pipe.vfsm and refusable
                incoming = stage.destination == codes.buffer(pipe.vfsm)
                pipe.forked = (
                    pipe.active and annotation.type == MoveType.FORK and stage.destination == annotation.source
                )
            pipe.retry = pipe.active and held and not own
            pipe.can_accept = pipe.active and not held and not own and not incoming
            pipe.ok, pipe.taken, pipe.emptied = False, None, set()

    def _accepts(self, node: Node, port: int) -> bool:
        return any(
            pipe.can_accept
            and pipe.annotations[pipe.vfsm].source == port
            and pipe.annotations[pipe.vfsm].type != MoveType.FORK
            for pipe in node.pipelines
        )

    def _drive(self, node: Node) -> None:
        node.drives = {}
        for pipe in node.pipelines:
            if pipe.stage is not None and self.codes.is_neighbour(pipe.stage.destination):
                valid = pipe.can_accept if pipe.forked else not pipe.stage.forked
                node.drives.setdefault(pipe.stage.destination, (pipe, valid))

    def _write(self, number: int, node: Node) -> None:
        codes = self.codes
        written = set()
        for pipe in node.pipelines:
            stage = pipe.stage
            if stage is None:
                continue
            place, blind = stage.destination, stage.type == MoveType.BLIND
            if codes.is_neighbour(place):
                driver, valid = node.drives[place]
                far = self.links[number].get(place)
                other = self.nodes[far[0]] if far else None
                pipe.ok = driver is pipe and valid and other is not None and self._accepts(other, far[1])
            elif codes.is_register(place):
                pipe.ok = place not in written and place not in node.processor
                pipe.ok = pipe.ok and (place not in node.registers or blind)
                if pipe.ok:
                    written.add(place)
            elif codes.is_buffer(place):
                pipe.ok = place - codes.first_buffer not in pipe.buffers or blind
            else:
                pipe.ok = place in (codes.null, codes.memadr)

    def _read(self, number: int, node: Node) -> None:
        codes = self.codes
        taken_ports: set[int] = set()
        taken_registers: set[int] = set()
        for pipe in node.pipelines:
            annotation, stage = pipe.annotations[pipe.vfsm], pipe.stage
            source, word = annotation.source, None
            if pipe.retry:
                word = pipe.buffers[pipe.vfsm]
            elif not pipe.can_accept:
                continue
            elif codes.is_neighbour(source) and annotation.type == MoveType.FORK:
                word = stage.word if pipe.forked and pipe.ok and stage is not None else None
            elif codes.is_neighbour(source):
                far = self.links[number].get(source)
                other = self.nodes[far[0]] if far else None
                driver, valid = other.drives.get(far[1], (None, False)) if other and far else (None, False)
                if valid and source not in taken_ports and driver is not None and driver.stage is not None:
                    word = driver.stage.word
                    taken_ports.add(source)
            elif codes.is_register(source):
                busy = stage is not None and codes.is_register(stage.destination)
                if source in node.registers and not busy and source not in taken_registers | node.processor:
                    word = node.registers[source]
                    taken_registers.add(source)
                    if annotation.type != MoveType.COPY:
                        del node.registers[source]
            elif codes.is_buffer(source):
                buffer = source - codes.first_buffer
                sending = stage is not None and stage.from_buffer and stage.vfsm == buffer
                if buffer in pipe.buffers and not sending:
                    word = pipe.buffers[buffer]
                    if annotation.type != MoveType.COPY:
                        pipe.emptied.add(buffer)
            elif source == codes.null:
                word = (-1, 0)
            if word is not None:
                pipe.taken = Write(
                    word, pipe.vfsm, annotation.type, annotation.destination, pipe.retry, annotation.forked
                )

    def _clock(self, node: Node) -> None:
        codes = self.codes
        for pipe in node.pipelines:
            stage = pipe.stage
            filled: dict[int, Word] = {}
            if stage is not None:
                if pipe.ok and codes.is_register(stage.destination):
                    node.registers[stage.destination] = stage.word
                elif pipe.ok and codes.is_buffer(stage.destination):
                    filled[stage.destination - codes.first_buffer] = stage.word
                if stage.from_buffer and (pipe.ok or stage.type == MoveType.BLIND):
                    pipe.emptied.add(stage.vfsm)
                elif not pipe.ok and not stage.from_buffer and stage.type != MoveType.BLIND:
                    filled[stage.vfsm] = stage.word
            for buffer in pipe.emptied:
                pipe.buffers.pop(buffer, None)
            pipe.buffers.update(filled)
            pipe.stage = pipe.taken
            pipe.active = node.next_vfsms is not None
        if node.next_vfsms is not None:
            for pipe, vfsm in zip(node.pipelines, node.next_vfsms, strict=True):
                pipe.vfsm = vfsm
        node.next_vfsms, ahead = node.schedule[node.addresses[0]]
        node.addresses = [node.addresses[1], ahead]


@dataclass
class Outcome:
    """What came of a run: ``arrived[node, register]`` in order, and what is left in the routers."""

    sent: dict[int, int]
    arrived: dict[tuple[int, int], list[Word]]
    left: list[str]


def run(
    images: Images, phase: int, choice: Mapping[int, int], *, words: int, cycles: int, eager: float, seed: int = 0
) -> Outcome:
    """Let every promise of the phase that holds for ``choice`` send ``words`` words.

    ``eager`` is the probability that a processor uses a register in a cycle.
    """
    mesh, generator = Mesh(images, phase, choice), random.Random(seed)
    codes = mesh.codes
    held = promises_held(images, phase, choice)
    sent = dict.fromkeys(held, 0)
    arrived: dict[tuple[int, int], list[Word]] = {
        destination: [] for promise in held.values() for destination in promise.destinations
    }
    for _ in range(cycles):
        writes, reads = [], []
        for node in filter(None, mesh.nodes):
            node.processor = set()
        for number, promise in held.items():
            node, place = mesh.nodes[promise.source], codes.register(promise.register)
            if node and sent[number] < words and place not in node.registers and generator.random() < eager:
                node.processor.add(place)
                writes.append((node, place, (number, sent[number])))
                sent[number] += 1
        for destination, words_here in arrived.items():
            node, place = mesh.nodes[destination[0]], codes.register(destination[1])
            if node and place in node.registers and generator.random() < eager:
                node.processor.add(place)
                words_here.append(node.registers[place])
                reads.append((node, place))
        mesh.cycle()
        for node, place in reads:
            del node.registers[place]
        for node, place, word in writes:
            node.registers[place] = word
    left = []
    for number, node in enumerate(mesh.nodes):
        if node is not None:
            left += [f"node {number} {codes.name(place)}" for place in node.registers]
            left += [f"node {number} buffer {b}" for pipe in node.pipelines for b in pipe.buffers]
    return Outcome(sent, arrived, left)


def promises_held(images: Images, phase: int, choice: Mapping[int, int]) -> dict[int, Promise]:
    """Promises of a phase that hold for these values, by number."""
    return {
        number: promise
        for number, promise in enumerate(images.promises)
        if promise.phase == phase and choice.get(promise.operator, 0) in promise.values
    }


def broken_promises(images: Images, phase: int, choice: Mapping[int, int], *, seed: int = 0) -> list[str]:
    """What a run with patient, random and eager processors shows to be wrong."""
    held = promises_held(images, phase, choice)
    wrong = []
    words, rounds = 12, 12
    for eager in (1.0, 0.5, 0.05):
        cycles = int((rounds * images.period + 60) * (1 + 2 / eager))
        result = run(images, phase, choice, words=words, cycles=cycles, eager=eager, seed=seed)
        expected: dict[tuple[int, int], list[int]] = {}
        for number, promise in held.items():
            for destination in promise.destinations:
                expected.setdefault(destination, []).append(number)
        for destination, numbers in expected.items():
            for number in numbers:
                got = [word for sender, word in result.arrived[destination] if sender == number]
                if got != list(range(words)):
                    wrong.append(f"eager {eager}: promise {number} at {destination}: {got}")
            extra = [word for word in result.arrived[destination] if word[0] not in numbers]
            if extra:
                wrong.append(f"eager {eager}: at {destination} also {extra[:3]}")
        wrong += [f"eager {eager}: left in {place}" for place in result.left]
    return wrong


def rate(images: Images, phase: int, choice: Mapping[int, int], promise: int, *, periods: int = 8) -> float:
    """Words per period of one promise while all are busy and no processor blocks."""
    period = images.period
    cycles = period * periods
    short = run(images, phase, choice, words=10**9, cycles=4 * period, eager=1.0)
    long = run(images, phase, choice, words=10**9, cycles=4 * period + cycles, eager=1.0)
    destinations = images.promises[promise].destinations
    counts = [
        sum(word[0] == promise for word in long.arrived[d]) - sum(word[0] == promise for word in short.arrived[d])
        for d in destinations
    ]
    return min(counts, default=0) / periods
