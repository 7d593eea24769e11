"""Decoded annotations and commands of the cycle model, against the codes of the hardware."""

from __future__ import annotations

import random

import numpy as np
import pytest

from cosim.numesh.engines import model_tables as k
from cosim.numesh.engines.model import ModelEngine
from numesh.codes import Annotation, Codes, MoveType, ScheduleEntry
from numesh.shape import NodeShape
from pointsman.network import mesh

SMALL = NodeShape(pipelines=2, vfsms=8, schedule_depth=16, registers=5)
NARROW = NodeShape(pipelines=3, vfsms=8, schedule_depth=16, neighbours=3, registers=5, width=12)


def kind_and_number(codes: Codes, code: int) -> tuple[int, int]:
    if codes.is_neighbour(code):
        return k.NEIGHBOUR, code
    if codes.is_register(code):
        return k.REGISTER, code - codes.first_register
    if codes.is_buffer(code):
        return k.BUFFER, code - codes.first_buffer
    return {codes.null: k.NULL, codes.memadr: k.MEMADR}.get(code, k.NOTHING), 0


@pytest.mark.parametrize("shape", [SMALL, NARROW])
def test_every_annotation_is_decoded_to_its_parts(shape: NodeShape) -> None:
    codes, chance = Codes(shape), random.Random(1)
    places = ModelEngine(shape, mesh(1)).routers.places
    for _ in range(300):
        source, destination = (chance.randrange(1 << codes.place_bits) for _ in range(2))
        annotation = Annotation(chance.choice(list(MoveType)), source, destination, chance.random() < 0.5)
        vfsm = chance.randrange(shape.vfsms)
        packed = codes.encode_annotation(annotation)
        word = int(k.decode(packed, vfsm, codes.place_bits, places))
        own = codes.buffer(vfsm)  # found by itself as a source, and a word that goes there has but to stay
        kept = destination == own and annotation.type == MoveType.BLIND
        assert word & k.TYPE_MASK == (MoveType.MOVE if kept else annotation.type)
        assert (word >> k.SECOND_LEG) & 1 == annotation.forked
        assert (word >> k.VFSM) & k.NUMBER_MASK == vfsm
        assert (word >> k.PACKED) & k.PACKED_MASK == packed
        kind, number = kind_and_number(codes, source)
        if kind == k.MEMADR or source == own:
            kind = k.NOTHING  # no word comes from there
        assert (word >> k.SOURCE_KIND) & k.KIND_MASK == kind
        assert kind in (k.NOTHING, k.NULL) or (word >> k.SOURCE) & k.NUMBER_MASK == number
        kind, number = kind_and_number(codes, destination)
        kind = k.NOTHING if destination == own else kind
        assert (word >> k.DESTINATION_KIND) & k.KIND_MASK == kind
        assert kind in (k.NOTHING, k.NULL, k.MEMADR) or (word >> k.DESTINATION) & k.NUMBER_MASK == number


def carry_out(engine: ModelEngine, words: tuple[int, ...], p: int = 0) -> None:
    engine.routers.command[0, p, : len(words)] = words
    k.execute(engine.routers, 0, p, 10)


@pytest.mark.parametrize("shape", [SMALL, NARROW])
def test_commands_of_any_number_of_words_change_what_they_name(shape: NodeShape) -> None:
    codes, engine = Codes(shape), ModelEngine(shape, mesh(1))
    entry = ScheduleEntry(tuple(range(2, 2 + shape.pipelines)), 9)
    annotation = Annotation(MoveType.COPY, codes.register(3), 1, True)
    before = engine.memories()[0]
    carry_out(engine, codes.write_entry(5, entry))
    carry_out(engine, codes.write_annotation(6, annotation), p=1)
    after = engine.memories()[0]
    assert codes.decode_entry(after.schedule[5]) == entry
    assert codes.decode_annotation(after.annotations[1][6]) == annotation
    changed = [a for a, (old, new) in enumerate(zip(before.schedule, after.schedule, strict=True)) if old != new]
    assert changed == [5]
    assert after.annotations[0] == before.annotations[0]


def test_pointers_and_schedules_are_commands_of_the_first_pipeline_only() -> None:
    codes, engine = Codes(SMALL), ModelEngine(SMALL, mesh(1))
    before, node = engine.memories(), engine.routers.node.copy()
    for words in (codes.set_pointer(3, 4), codes.write_entry(2, ScheduleEntry((1, 1), 7))):
        carry_out(engine, words, p=1)
    assert engine.memories() == before
    assert np.array_equal(engine.routers.node, node)
    carry_out(engine, codes.set_pointer(3, 4))
    assert engine.routers.node[0, [k.POINTER, k.REST]].tolist() == [3, 4]


def test_fields_of_decoded_annotations_do_not_overlap() -> None:
    fields = [
        (0, k.TYPE_MASK), (k.SOURCE_KIND, k.KIND_MASK), (k.SOURCE, k.NUMBER_MASK), (k.DESTINATION_KIND, k.KIND_MASK),
        (k.DESTINATION, k.NUMBER_MASK), (k.SECOND_LEG, 1), (k.VFSM, k.NUMBER_MASK), (k.PACKED, k.PACKED_MASK),
    ]  # fmt: skip
    masks = [mask << at for at, mask in fields]
    assert sum(masks) == np.bitwise_or.reduce(np.array(masks, dtype=np.uint64))
    assert sum(masks) < 1 << 64
