"""Blocks of the schedule memory."""

from __future__ import annotations

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.memory.schedule_blocks import schedule_blocks
from pointsman.plan.structure.structure import Structure, outline


def phases(count: int) -> Structure:
    return outline(compile_text(" ".join(f"(barrier 'b{i})" for i in range(count)), topology=mesh(2, 1)))


def test_every_phase_has_a_block_of_its_own_while_there_are_enough() -> None:
    assert schedule_blocks(phases(3), 16, NodeShape(schedule_depth=64)) == {0: 1, 1: 2, 2: 3}, "block 0 is the loader's"


def test_phases_that_come_long_after_each_other_share_a_block() -> None:
    blocks = schedule_blocks(phases(6), 16, NodeShape(schedule_depth=64))
    assert set(blocks.values()) == {1, 2, 3}
    assert all(blocks[p] != blocks[p + 1] for p in range(5))
    assert blocks[0] == blocks[3]
