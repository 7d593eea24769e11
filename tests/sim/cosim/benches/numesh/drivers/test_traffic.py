"""The random traffic on the models alone: it reaches every bin, and it never destroys the loader phase."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from cosim.benches.coverage import Coverage
from cosim.benches.numesh import node
from cosim.benches.numesh.catalogue import ODD, STANDARD
from cosim.benches.numesh.drivers.traffic import RandomProgram, Words
from cosim.benches.numesh.moves import Goal
from numesh.codes import Codes, CommandKind
from numesh.shape import NodeShape


@pytest.mark.parametrize("shape", [STANDARD, ODD])
def test_no_traffic_rewrites_the_loader_phase(shape: NodeShape, run_bench: Callable[..., int]) -> None:
    coverage = Coverage()
    model = node.CoveredNode(shape, coverage)
    coverage.group("never", ["full"])  # so that the run goes on to its end
    run_bench(node.NodeDriver(shape, Random(5), model.counter.moves.goals), model, coverage, 6000)
    codes = Codes(shape)
    assert model.model.schedule[:2] == list(codes.reset_schedule()[:2])
    for p in range(shape.pipelines):
        assert model.model.annotations[p][1] == codes.reset_annotations(p)[1]
        assert model.model.annotations[p] != list(codes.reset_annotations(p)), "others were rewritten"


def test_harmless_words_are_those_that_leave_the_loader_phase_alone() -> None:
    codes = Codes(STANDARD)
    words = Words(codes, Random(1))
    entry, annotation = codes.reset_schedule()[1], codes.reset_annotations(0)[0]
    assert not words.harmless(codes.write_entry(0, entry)[0])
    assert not words.harmless(codes.write_entry(1, entry)[0])
    assert words.harmless(codes.write_entry(2, entry)[0])
    assert not words.harmless(codes.write_annotation(1, annotation)[0])
    assert words.harmless(codes.write_annotation(0, annotation)[0])
    assert words.harmless(codes.set_pointer(0, 1)[0])
    assert words.harmless(0)


def test_shape_whose_first_command_word_does_not_tell_its_target_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^the first word of a command must tell what the command writes$"):
        Words(Codes(NodeShape(width=4)), Random(1))


def test_program_for_a_goal_holds_a_vfsm_that_can_reach_it() -> None:
    codes = Codes(STANDARD)
    goal = Goal("special", "register", None, True)
    programs = [RandomProgram(codes, Words(codes, Random(i)), Random(i), [goal]) for i in range(20)]
    fitting = 0
    for program in programs:
        for legs in program.annotations:
            filled = {annotation.destination for annotation in legs.values()}
            for vfsm, annotation in legs.items():
                wanted = annotation.source == codes.special and codes.is_register(annotation.destination)
                fitting += wanted and codes.buffer(vfsm) in filled
    assert fitting >= 10


def test_commands_of_a_program_are_all_harmless_and_of_every_kind() -> None:
    codes = Codes(ODD)
    words = Words(codes, Random(2))
    program = RandomProgram(codes, words, Random(2))
    commands = [program.command(0) for _ in range(300)]
    assert all(words.harmless(word) for command in commands for word in command)
    kinds = {command[0] & 7 for command in commands}
    assert kinds == set(range(8)), f"{kinds} of {list(CommandKind)} and unknown ones"
