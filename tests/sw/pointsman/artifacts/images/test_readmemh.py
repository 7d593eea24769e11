"""Memory files hold what the hardware's memories hold when all phases are loaded."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from numesh.codes import Annotation, Codes, MoveType, ScheduleEntry
from numesh.memories import NodeMemories
from numesh.shape import NodeShape
from pointsman.artifacts.images import ImageError, Images, Rewrite, memories_of, write_readmemh
from pointsman.errors import PointsmanError

NAMES = ("stream_1x2", "delay_1x3", "two_phases_2x2", "runtime_broadcast_1x3")


def read_hex(path: Path) -> tuple[int, ...]:
    """What $readmemh makes of a file: words in order, comments left out."""
    return tuple(int(word, 16) for line in path.read_text().splitlines() for word in line.split("//")[0].split())


@pytest.mark.parametrize("name", NAMES)
def test_memories_fit_the_shape(by_hand: ModuleType, name: str) -> None:
    images = by_hand.SMALL[name]()
    memories = memories_of(images)
    assert len(memories) == images.topology.nodes
    for node in memories:
        node.check(images.shape)


def test_a_node_holds_loader_phases_and_the_rest_as_after_reset(by_hand: ModuleType) -> None:
    images = by_hand.two_phases_2x2()
    codes, reset = Codes(images.shape), NodeMemories.at_reset(images.shape)
    node = memories_of(images)[3]
    for slot in range(8):
        assert codes.decode_entry(node.schedule[slot]) == ScheduleEntry((1, 1), (slot + 2) % 8)
    for block, part in ((1, 0), (2, 1)):
        for slot, row in enumerate(images.nodes[3].phases[part].schedule):
            entry = codes.decode_entry(node.schedule[8 * block + slot])
            assert entry == ScheduleEntry(row, 8 * block + (slot + 2) % 8)
    assert node.schedule[24:] == reset.schedule[24:]
    given = {(r.pipeline, r.vfsm): r.annotation for part in images.nodes[3].phases for r in part.annotations}
    assert len(given) == 4
    for pipeline in range(2):
        for vfsm in range(32):
            word = node.annotations[pipeline][vfsm]
            if (pipeline, vfsm) in given:
                assert codes.decode_annotation(word) == given[pipeline, vfsm]
            else:
                assert word == reset.annotations[pipeline][vfsm]


def test_a_node_without_a_part_holds_the_loader_phase_only(by_hand: ModuleType) -> None:
    images = by_hand.two_phases_2x2()
    images = replace(images, nodes=(*images.nodes[:3], replace(images.nodes[3], phases=())))
    reset = NodeMemories.at_reset(images.shape)
    node = memories_of(images)[3]
    assert node.schedule[8:] == reset.schedule[8:]
    assert node.annotations == reset.annotations


@pytest.mark.parametrize("name", NAMES)
def test_files_hold_the_memories(by_hand: ModuleType, tmp_path: Path, name: str) -> None:
    images = by_hand.SMALL[name]()
    folder = tmp_path / "new" / "memories"
    paths = write_readmemh(images, folder)
    for node, memories in enumerate(memories_of(images)):
        assert read_hex(folder / f"node{node}_schedule.hex") == memories.schedule
        for pipeline, words in enumerate(memories.annotations):
            assert read_hex(folder / f"node{node}_annotations{pipeline}.hex") == words
    assert sorted(os.listdir(folder)) == sorted(path.name for path in paths)
    assert len(paths) == images.topology.nodes * (1 + images.shape.pipelines)
    assert [path.read_bytes() for path in write_readmemh(images, tmp_path)] == [path.read_bytes() for path in paths]


def test_a_line_is_a_word_and_what_it_means(by_hand: ModuleType, tmp_path: Path) -> None:
    write_readmemh(by_hand.stream_1x2(), tmp_path)
    schedule = (tmp_path / "node1_schedule.hex").read_text().splitlines()
    assert schedule[7] == "00421 // 7: block 0 slot 7, VFSM 1 1, ahead 1"
    assert schedule[9] == "02c22 // 9: block 1 slot 1, VFSM 2 1, ahead 11"
    assert schedule[127] == "00000 // 127: block 15 slot 7, VFSM 0 0, ahead 0"
    annotations = (tmp_path / "node1_annotations0.hex").read_text().splitlines()
    assert annotations[1] == "0640 // 1: MOVE register 0 -> MEMADR"
    assert annotations[2] == "1300 // 2: MOVE -x -> register 3"


def test_words_wider_than_64_bits_are_written(by_hand: ModuleType, tmp_path: Path) -> None:
    shape = NodeShape(pipelines=16, vfsms=1024, schedule_depth=128, registers=40)
    by = by_hand.ByHand(by_hand.stream_1x2().topology, period=8, shape=shape)
    phase = by.phase("p")
    by.vfsm(phase, 1, 1023, "r20", "nop", (3,), pipeline=15)
    images = by.images()
    write_readmemh(images, tmp_path)
    words = read_hex(tmp_path / "node1_schedule.hex")
    assert Codes(shape).decode_entry(words[11]).vfsms == (1,) * 15 + (1023,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m, i: m.with_phase(i, 0, block=0), "block 0 of phase 0 must lie after the loader block"),
        (lambda m, i: m.with_phase(i, 0, block=16), "block 16 of phase 0 must lie after the loader block"),
        (lambda m, i: m.with_part(i, 0, 0, schedule=()), "a schedule must have 8 slots, not 0"),
        (
            lambda m, i: m.with_part(i, 0, 0, schedule=m.put(i.nodes[0].phases[0].schedule, 2, (1, 1, 1))),
            "a slot must have 2 VFSMs, not 3",
        ),
        (lambda m, i: m.with_entry(i, 0, 0, 2, 1, 32), "vfsm1 must be 0 to 31, not 32"),
        (lambda m, i: m.with_annotation(i, 0, 0, 0, source=99), "source must be 0 to 63, not 99"),
        (
            lambda m, i: m.with_part(i, 0, 0, annotations=(Rewrite(2, 2, Annotation(MoveType.MOVE, 8, 8)),)),
            "pipeline 2 has no VFSM 2",
        ),
    ],
)
def test_what_does_not_fit_the_memories_is_refused(
    by_hand: ModuleType, mutations_by_hand: ModuleType, change: Callable[..., Images], message: str
) -> None:
    with pytest.raises(ImageError) as caught:
        memories_of(change(mutations_by_hand, by_hand.stream_1x2()))
    assert caught.value.message.startswith(f"memories of node 0: {message}")


@pytest.mark.parametrize("period", [1, 129])
def test_a_period_that_no_loop_of_the_schedule_can_have_is_refused(by_hand: ModuleType, period: int) -> None:
    with pytest.raises(ImageError, match=f"a period must be 2 to 128 slots, not {period}"):
        memories_of(replace(by_hand.stream_1x2(), period=period))


def test_a_folder_that_cannot_be_made_is_named(by_hand: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PointsmanError, match="file/memories: cannot be made"):
        write_readmemh(by_hand.stream_1x2(), tmp_path / "file" / "memories")
