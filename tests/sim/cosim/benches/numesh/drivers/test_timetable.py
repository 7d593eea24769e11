"""Timetables of a mesh: chains over its links fit together."""

from __future__ import annotations

from random import Random

import pytest

from cosim.benches.bench import FOUR_NODES
from cosim.benches.numesh.catalogue import STANDARD
from cosim.benches.numesh.drivers.timetable import Timetable
from cosim.benches.numesh.drivers.traffic import Words
from numesh.codes import FIRST_FREE_VFSM, Annotation, Codes, MoveType
from numesh.shape import NodeShape


@pytest.mark.parametrize("seed", range(8))
def test_timetable_uses_no_place_twice_and_every_link_write_is_met(seed: int) -> None:
    codes = Codes(STANDARD)
    table = Timetable(codes, FOUR_NODES, Random(seed))
    words = Words(codes, Random(seed))
    programs = [table.program(i, words) for i in range(FOUR_NODES.nodes)]
    period = table.period

    def annotation(i: int, slot: int, p: int) -> Annotation | None:
        return programs[i].annotations[p].get(programs[i].schedule[2 + slot % period].vfsms[p])

    met = 0
    for i, program in enumerate(programs):
        assert [entry.ahead for entry in program.schedule.values()] == [*range(4, period + 2), 2, 3]
        for slot in range(period):
            written = []
            for p in range(codes.shape.pipelines):
                leg = annotation(i, slot, p)
                if leg is None or leg.destination not in FOUR_NODES.at_port[i]:
                    continue
                written.append(leg.destination)
                other, port = FOUR_NODES.at_port[i][leg.destination]
                readers = [annotation(other, slot + 1, q) for q in range(codes.shape.pipelines)]
                sources = [r.source for r in readers if r is not None and r.type != MoveType.FORK]
                assert sources.count(port) == 1
                met += 1
            assert len(written) == len(set(written))
    assert met > 0


@pytest.mark.parametrize("seed", range(4))
def test_rows_name_vfsms_that_have_annotations_and_no_annotation_is_left_out(seed: int) -> None:
    shape = NodeShape(vfsms=8, schedule_depth=16)
    table = Timetable(Codes(shape), FOUR_NODES, Random(seed))
    for rows, legs_of in zip(table.rows, table.annotations, strict=True):
        for row, legs in zip(rows, legs_of, strict=True):
            assert len(row) == table.period
            named = [vfsm for vfsm in row if vfsm >= FIRST_FREE_VFSM]
            assert sorted(named) == sorted(legs), "each VFSM once"
            assert all(vfsm < shape.vfsms for vfsm in legs)
            assert all(vfsm >= 0 for vfsm in row)


def test_a_second_leg_of_a_fork_reads_where_the_leg_before_it_writes() -> None:
    forks = 0
    for seed in range(30):
        table = Timetable(Codes(STANDARD), FOUR_NODES, Random(seed))
        for rows, legs_of in zip(table.rows, table.annotations, strict=True):
            for row, legs in zip(rows, legs_of, strict=True):
                for slot, vfsm in enumerate(row):
                    leg = legs.get(vfsm)
                    if leg is not None and leg.type == MoveType.FORK:
                        assert legs[row[slot - 1]].destination == leg.source
                        forks += 1
    assert forks > 10
