"""Whatever the memories say, legal or not, no word is lost and none is there twice."""

import itertools
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from numesh.codes import LOOKAHEAD, Annotation, Codes, MoveType, ScheduleEntry
from numesh.memories import NodeMemories
from numesh.node import Node
from numesh.shape import NodeShape
from numesh.trace import Sample, record

SHAPES = [
    NodeShape(pipelines=2, vfsms=4, schedule_depth=8, neighbours=4, registers=4, width=32),
    NodeShape(pipelines=1, vfsms=2, schedule_depth=2, neighbours=1, registers=1, width=32),
    NodeShape(pipelines=3, vfsms=4, schedule_depth=4, neighbours=7, registers=5, width=32),
]
CYCLES = 200


class Ledger:
    """Drives a node with words that are all different and counts where they went."""

    def __init__(self, shape: NodeShape, memories: NodeMemories, random_: random.Random) -> None:
        self.shape = shape
        self.random = random_
        self.node = Node(shape=shape, memories=memories)
        self.last = 0
        self.read_by_processor = set(range(1, shape.registers, 2))
        self.entered: list[int] = []
        self.left: list[int] = []
        watch: dict[str, Any] = {}
        for p, transfer in enumerate(self.node.transfers):
            for name in ("held", "write_valid", "write_word", "write_destination"):
                watch[f"{name}_{p}"] = getattr(transfer, name)
            for v in range(shape.vfsms):
                watch[f"buffer_{p}_{v}"] = transfer.buffers.data[v]
        for k, bank in enumerate(self.node.interface.banks):
            for r in range(shape.registers):
                watch[f"bank_{k}_{r}"] = bank.data[r]
        for k, full in enumerate(self.node.interface.full):
            watch[f"full_{k}"] = full
        samples = record(self.node, CYCLES, self.drive, watch=watch)
        self.count(samples[-1], samples[-2])
        self.kept = self.inside(samples[-1])

    def word(self) -> int:
        self.last += 1
        return self.last

    def drive(self, cycle: int, before: Sequence[Sample]) -> dict[str, int]:
        if before:
            self.count(before[-1], before[-2] if len(before) > 1 else None)
        inputs = {}
        for d in range(self.shape.neighbours):
            inputs[f"in_valid_{d}"] = int(self.random.random() < 0.7)
            inputs[f"in_data_{d}"] = self.word()
            inputs[f"out_accept_{d}"] = int(self.random.random() < 0.6)
        inputs["p_address"] = self.random.randrange(self.shape.registers)
        inputs[self.random.choice(("p_read", "p_write"))] = int(self.random.random() < 0.5)
        if inputs["p_address"] not in self.read_by_processor:
            inputs["p_read"] = 0  # pipelines read it
        if inputs.get("p_write") and before and self.may_be_full(before[-1], inputs["p_address"]):
            inputs["p_write"] = 0  # it would replace the word
        if cycle >= CYCLES - 1:  # the word of a read would be seen one cycle later
            inputs["p_read"] = 0
        inputs["p_write_data"] = self.word()
        return inputs

    @staticmethod
    def may_be_full(s: Sample, register: int) -> bool:
        """May the processor's place of a register be full in the cycle after ``s``?"""
        return bool(s["full_0"] >> register & 1 or (s["p_write"] and s["p_address"] == register))

    def count(self, s: Sample, before: Sample | None) -> None:
        """What enters and leaves in this cycle, and what the processor read in the cycle before."""
        for d in range(self.shape.neighbours):
            if s[f"in_valid_{d}"] and s[f"in_accept_{d}"]:
                self.entered.append(s[f"in_data_{d}"])
            if s[f"out_valid_{d}"] and s[f"out_accept_{d}"]:
                self.left.append(s[f"out_data_{d}"])
        if s["p_write"]:
            self.entered.append(s["p_write_data"])
        places = range(1, 1 + self.shape.pipelines)
        if (
            before is not None
            and before["p_read"]
            and any(before[f"full_{k}"] >> before["p_address"] & 1 for k in places)
        ):
            self.left.append(s["p_read_data"])
        for p in range(self.shape.pipelines):
            if s[f"write_valid_{p}"] and s[f"write_destination_{p}"] == Codes(self.shape).null:
                self.left.append(s[f"write_word_{p}"])

    def inside(self, s: Sample) -> list[int]:
        """Words in buffers, interface registers and write stages before the clock edge that ends ``s``.

        The last cycle moves nothing out but what ``count`` saw leave, so the words that leave in it are taken off.
        """
        words = []
        for p in range(self.shape.pipelines):
            held = [s[f"buffer_{p}_{v}"] for v in range(self.shape.vfsms) if s[f"held_{p}"] >> v & 1]
            words += held
            # A word that is tried again is in the write stage and still in its buffer.
            if s[f"write_valid_{p}"] and s[f"write_word_{p}"] not in held:
                words.append(s[f"write_word_{p}"])
        for k in range(1 + self.shape.pipelines):
            words += [s[f"bank_{k}_{r}"] for r in range(self.shape.registers) if s[f"full_{k}"] >> r & 1]
        return words


def anything(shape: NodeShape, random_: random.Random) -> NodeMemories:
    """Any schedule and any plain moves; but no commands, and no words out of nothing."""
    codes = Codes(shape)
    places = [
        *(codes.neighbour(d) for d in range(shape.neighbours)),
        *(codes.register(r) for r in range(shape.registers)),
        *(codes.buffer(v) for v in range(shape.vfsms)),
    ]

    def annotation() -> int:
        destination = random_.choice([*places, codes.null, codes.nop] if random_.random() < 0.2 else places)
        source = random_.choice(places)
        if codes.is_register(source) and (source - codes.first_register) % 2:
            source = codes.nop  # the processor reads it
        return codes.encode_annotation(Annotation(MoveType.MOVE, source, destination))

    def entry(address: int) -> int:
        vfsms = tuple(random_.randrange(shape.vfsms) for _ in range(shape.pipelines))
        return codes.encode_entry(ScheduleEntry(vfsms, (address + LOOKAHEAD) % shape.schedule_depth))

    return NodeMemories(
        tuple(entry(a) for a in range(shape.schedule_depth)),
        tuple(tuple(annotation() for _ in range(shape.vfsms)) for _ in range(shape.pipelines)),
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", SHAPES, ids=["two", "smallest", "three"])
def test_no_word_is_lost_or_doubled_by_any_plain_moves(shape: NodeShape, seed: int) -> None:
    random_ = random.Random(f"conservation {seed}")
    ledger = Ledger(shape, anything(shape, random_), random_)
    # Words that entered in the last cycle are not inside yet; those that left in it still are.
    entered, left, kept = Counter(ledger.entered), Counter(ledger.left), Counter(ledger.kept)
    if shape == SHAPES[0]:
        assert len(entered) > 10, "no traffic is seen"
        assert left
    assert max(entered.values(), default=1) == 1
    assert max(left.values(), default=1) == 1, "a word left twice"
    assert max(kept.values(), default=1) == 1, "a word is in two places"
    assert set(left) <= set(entered)
    assert set(kept) <= set(entered)
    missing = set(entered) - set(left) - set(kept)
    last_cycle = set(ledger.entered[-shape.neighbours - 1 :])
    assert missing <= last_cycle, f"seed {seed}: lost {sorted(missing - last_cycle)}"
    assert len(set(left) & set(kept)) <= shape.neighbours + shape.pipelines


@pytest.mark.parametrize("legs", [2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_all_legs_of_a_fork_see_the_same_words(
    legs: int, seed: int, run_node: Callable[..., Any], program: Callable[..., NodeMemories]
) -> None:
    shape = NodeShape(pipelines=1, vfsms=8, schedule_depth=8, neighbours=6, registers=1, width=32)
    codes = Codes(shape)
    random_ = random.Random(f"fork {seed}")
    annotations: Mapping[int, Annotation] = {
        2: Annotation(MoveType.MOVE, codes.neighbour(5), codes.neighbour(0)),
        **{
            2 + leg: Annotation(MoveType.FORK, codes.neighbour(leg - 1), codes.neighbour(leg)) for leg in range(1, legs)
        },
    }
    slots = [(2 + leg,) for leg in range(legs)] + [(0,)] * random_.randrange(1, 3)
    stalls = {d: [random_.random() < 0.6 for _ in range(CYCLES)] for d in range(legs)}
    calm = [random_.random() < 0.7 for _ in range(CYCLES)]
    bench = run_node(
        shape,
        program(shape, slots, [annotations]),
        CYCLES,
        offers={5: range(1, CYCLES)},
        offering=lambda c: calm[c],
        accepts={d: lambda c, d=d: stalls[d][c] for d in range(legs)},
    )
    seen = [[word for _, word in bench.sent(d)] for d in range(legs)]
    assert len(seen[-1]) > 5
    taken = [word for _, word in bench.taken(5)]
    for words in seen:
        assert words == taken[: len(words)]
    # A leg is at most one word behind the one before it.
    lengths = [len(taken), *(len(words) for words in seen)]
    assert all(0 <= a - b <= 1 for a, b in itertools.pairwise(lengths))
