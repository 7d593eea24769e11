"""Memories as files for ``$readmemh``: the preload beside real loading.

Takes ``Images`` and gives what the memories of every node hold as if loaded through MEMADR: the loader phase in block
0, each phase in its block, and annotations as before any load function. Of phases that share a block or VFSM the first
is there; everything else is as after reset. Leaves registers, buffers and the schedule pointer alone.
"""

from __future__ import annotations

import os
from pathlib import Path

from numesh.codes import LOOKAHEAD, REPROGRAM_VFSM, SHORTEST_LOOP, Codes, ScheduleEntry
from numesh.memories import NodeMemories
from numesh.shape import ShapeError
from pointsman.artifacts.container import ImageError
from pointsman.files import write_whole

from .images import Images, NodeImage


def memories_of(images: Images) -> list[NodeMemories]:
    """Contents of the memories of each node.

    Raises
    ------
    ImageError
        If a phase lies outside the memories or a code does not fit.
    """
    codes = Codes(images.shape)
    reset = NodeMemories.at_reset(images.shape)
    if not SHORTEST_LOOP <= images.period <= images.shape.schedule_depth:
        raise ImageError(
            f"a period must be {SHORTEST_LOOP} to {images.shape.schedule_depth} slots, not {images.period}"
        )
    memories = []
    for node, image in enumerate(images.nodes):
        try:
            memories.append(_node_memories(images, image, codes, reset))
        except (ValueError, IndexError, ShapeError) as error:
            raise ImageError(str(error), section=f"memories of node {node}") from error
    return memories


def write_readmemh(images: Images, folder: str | os.PathLike[str]) -> list[Path]:
    """Write the memories of each node as hexadecimal text into ``folder``, which is made if it is not there.

    Node i has ``node<i>_schedule.hex`` and for each pipeline p ``node<i>_annotations<p>.hex``: a word a line, with
    its address and meaning as comment. No file is left half-written.

    Returns
    -------
    list of Path
        The files, node by node.
    """
    codes = Codes(images.shape)
    entry_digits = -(-sum(codes.entry_layout.values()) // 4)
    annotation_digits = -(-sum(codes.annotation_layout.values()) // 4)
    files = {}
    for node, memories in enumerate(memories_of(images)):
        lines = []
        for address, word in enumerate(memories.schedule):
            entry = codes.decode_entry(word)
            block, slot = divmod(address, images.period)
            vfsms = " ".join(map(str, entry.vfsms))
            lines.append(
                f"{word:0{entry_digits}x} // {address}: block {block} slot {slot}, VFSM {vfsms}, ahead {entry.ahead}"
            )
        files[f"node{node}_schedule.hex"] = _text(lines)
        for pipeline, words in enumerate(memories.annotations):
            lines = []
            for vfsm, word in enumerate(words):
                annotation = codes.decode_annotation(word)
                source, destination = codes.name(annotation.source), codes.name(annotation.destination)
                lines.append(
                    f"{word:0{annotation_digits}x} // {vfsm}: {annotation.type.name} {source} -> {destination}"
                )
            files[f"node{node}_annotations{pipeline}.hex"] = _text(lines)
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise ImageError(f"cannot be made: {error.strerror}", file=os.fspath(folder)) from None
    paths = [Path(folder, name) for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        write_whole(path, text)
    return paths


def _text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _node_memories(images: Images, image: NodeImage, codes: Codes, reset: NodeMemories) -> NodeMemories:
    shape, period = images.shape, images.period
    schedule = list(reset.schedule)
    for slot in range(period):
        loader = ScheduleEntry((REPROGRAM_VFSM,) * shape.pipelines, (slot + LOOKAHEAD) % period)
        schedule[slot] = codes.encode_entry(loader)
    annotations = [list(words) for words in reset.annotations]
    taken: set[int] = set()
    written: set[tuple[int, int]] = set()
    for part in sorted(image.phases, key=lambda part: part.phase):
        block = images.phases[part.phase].block
        start = block * period
        if block <= Images.LOADER_BLOCK or start + period > shape.schedule_depth:
            raise ValueError(
                f"block {block} of phase {part.phase} must lie after the loader block and within "
                f"{shape.schedule_depth} schedule entries"
            )
        if len(part.schedule) != period:
            raise ValueError(f"a schedule must have {period} slots, not {len(part.schedule)}")
        schedules = [(start, part.schedule)]
        if part.second:
            other = images.phases[part.phase].second * period
            if other <= 0 or other + period > shape.schedule_depth or len(part.second) != period:
                raise ValueError(f"the second schedule of phase {part.phase} must lie within the memory")
            schedules.append((other, part.second))
        for start, slot, row in ((start, slot, row) for start, rows in schedules for slot, row in enumerate(rows)):
            if len(row) != shape.pipelines:
                raise ValueError(f"a slot must have {shape.pipelines} VFSMs, not {len(row)}")
            if start not in taken:  # of phases that share a block, the first stays
                schedule[start + slot] = codes.encode_entry(ScheduleEntry(row, start + (slot + LOOKAHEAD) % period))
        taken |= {start for start, _ in schedules}
        for rewrite in part.annotations:
            if not 0 <= rewrite.pipeline < shape.pipelines or not 0 <= rewrite.vfsm < shape.vfsms:
                raise ValueError(f"pipeline {rewrite.pipeline} has no VFSM {rewrite.vfsm}")
            if (rewrite.pipeline, rewrite.vfsm) not in written:  # of phases that share a VFSM, the first stays
                annotations[rewrite.pipeline][rewrite.vfsm] = codes.encode_annotation(rewrite.annotation)
            written.add((rewrite.pipeline, rewrite.vfsm))
    return NodeMemories(tuple(schedule), tuple(map(tuple, annotations)))
