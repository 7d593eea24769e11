"""The benches of the node: contents that fit, shapes that are odd."""

from __future__ import annotations

import pytest

from cosim.benches.numesh.catalogue import (
    BENCHES,
    NARROW,
    ODD,
    STANDARD,
    annotation_contents,
    random_words,
    schedule_contents,
)
from numesh.codes import Codes


@pytest.mark.parametrize("shape", [STANDARD, ODD, NARROW])
def test_contents_of_memories_fill_them_and_fit_their_words(shape) -> None:
    codes = Codes(shape)
    for contents, count, bits in (
        (schedule_contents(shape), shape.schedule_depth, sum(codes.entry_layout.values())),
        (annotation_contents(shape), shape.vfsms, sum(codes.annotation_layout.values())),
    ):
        assert len(contents) == count
        assert 0 <= min(contents) < max(contents) < 1 << bits


def test_random_words_are_the_same_in_every_run_and_others_under_another_name() -> None:
    assert random_words(8, 20, "a") == random_words(8, 20, "a")
    assert random_words(8, 20, "a") != random_words(8, 20, "b")
    assert random_words(8, 20, "a")[:3] == random_words(3, 20, "a")


def test_the_odd_shapes_are_odd() -> None:
    assert ODD.registers & (ODD.registers - 1), "registers are no power of two"
    assert ODD.pipelines == 3
    assert all(Codes(shape).command_words > 1 for shape in (ODD, NARROW))
    assert Codes(STANDARD).command_words == 1


def test_a_mesh_bench_has_ports_for_its_network() -> None:
    meshes = [bench for bench in BENCHES if bench.topology is not None]
    assert len(meshes) == 3
    for bench in meshes:
        assert bench.topology.ports <= bench.shape.neighbours
        assert str(bench.topology) in bench.name


def test_only_compiled_programs_need_files() -> None:
    assert [bench.name for bench in BENCHES if bench.prepare is not None] == ["image_2x2"]
