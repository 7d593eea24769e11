"""Bins of a node: what is counted of single cycles."""

from __future__ import annotations

import pytest

from cosim.benches.coverage import Coverage
from cosim.benches.numesh.catalogue import ODD, STANDARD
from cosim.benches.numesh.models.node import NodeModel
from cosim.benches.numesh.node_coverage import COMMANDS, MISSES, REFUSALS, STATES, NodeCoverage
from numesh.codes import CommandKind
from numesh.shape import NodeShape

QUIET = {"rst": 0, "p_address": 0, "p_write": 0, "p_read": 0, "p_write_data": 0}


def made(shape: NodeShape = STANDARD) -> tuple[Coverage, NodeCoverage]:
    coverage = Coverage()
    return coverage, NodeCoverage(coverage, NodeModel(shape))


def hits(coverage: Coverage, group: str) -> set[str]:
    return {name for name, count in coverage.groups[group].hits.items() if count}


def test_every_code_of_a_command_has_a_bin_of_its_own() -> None:
    assert len(set(COMMANDS)) == 8
    assert [COMMANDS[kind] for kind in CommandKind] == [kind.name for kind in CommandKind]


@pytest.mark.parametrize("shape", [STANDARD, ODD])
def test_only_the_first_pipeline_is_without_what_a_lower_one_does(shape: NodeShape) -> None:
    coverage, _ = made(shape)
    for p in range(shape.pipelines):
        assert set(coverage.groups[f"refused in pipeline {p}"].hits) == set(REFUSALS)
        assert set(coverage.groups[f"not taken in pipeline {p}"].hits) == set(MISSES)
        for group, meets in (
            (f"read stage of pipeline {p}", "meets"),
            (f"fork in pipeline {p}", "second leg is meets"),
        ):
            assert set(coverage.groups[group].unreachable) == ({meets} if p == 0 else set())
        assert set(coverage.groups[f"read stage of pipeline {p}"].hits) == set(STATES) - (
            {"meets"} if p == 0 else set()
        )


@pytest.mark.parametrize(
    ("writers", "told"),
    [
        ((0,), set()),
        ((0, 2), {"of the processor and of pipelines"}),
        ((1, 2), {"of several pipelines"}),
    ],
)
def test_words_of_several_writers_in_one_register_are_counted(writers: tuple[int, ...], told: set[str]) -> None:
    coverage, counter = made()
    for k in writers:
        counter.model.places[k][3] = True
    counter.before(QUIET)
    assert hits(coverage, "words in one register") == told


def test_part_of_a_command_is_within_reach_where_commands_have_several_words() -> None:
    one, several = (made(shape)[0].groups["reset with"] for shape in (STANDARD, ODD))
    assert "part of a command" in one.unreachable
    assert "part of a command" in several.hits


@pytest.mark.parametrize(
    ("inputs", "full", "told"),
    [
        ({}, False, "idle"),
        ({"p_read": 1, "p_address": 3}, False, "reads empty"),
        ({"p_read": 1, "p_address": 3}, True, "reads full"),
        ({"p_write": 1, "p_address": 3}, False, "writes empty"),
        ({"p_write": 1, "p_address": 3}, True, "writes full"),
        ({"p_write": 1, "p_address": 200}, False, "idle"),
    ],
)
def test_accesses_of_the_processor_are_counted_by_the_register_they_find(
    inputs: dict[str, int], full: bool, told: str
) -> None:
    coverage, counter = made()
    counter.model.places[1][3] = full
    counter.before(QUIET | inputs)
    assert hits(coverage, "processor") == {told}


def test_a_reset_is_counted_by_what_it_ends_and_the_processor_is_not() -> None:
    coverage, counter = made()
    counter.model.places[0][3] = counter.model.places[1][3] = True
    counter.model.held[1][2] = True
    counter.before(QUIET | {"rst": 1, "p_read": 1, "p_address": 3})
    assert hits(coverage, "reset with") == {"words in buffers", "words in registers"}
    assert hits(coverage, "processor") == set()
    assert hits(coverage, "words in one register") == set()


def test_addresses_are_first_those_of_reset_then_those_of_entries() -> None:
    coverage, counter = made()
    for _ in range(2):
        assert hits(coverage, "address") <= {"first"}
        counter.before(QUIET)
        counter.model.clock(QUIET | {f"{n}_{d}": 0 for n in ("in_valid", "in_data", "out_accept") for d in range(4)})
        counter.after()
    counter.before(QUIET)
    assert hits(coverage, "address") == {"first", "ahead"}
