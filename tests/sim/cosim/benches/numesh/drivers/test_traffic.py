"""The random traffic on the models alone: it reaches every bin, and it never destroys the loader phase."""

from __future__ import annotations

from random import Random

import pytest

from cosim.benches.bench import FOUR_NODES
from cosim.benches.coverage import Coverage
from cosim.benches.harness import Driver, Model
from cosim.benches.numesh import mesh, node, transfer
from cosim.benches.numesh.catalogue import ODD, STANDARD
from cosim.benches.numesh.drivers.timetable import Timetable
from cosim.benches.numesh.drivers.traffic import RandomProgram, Words
from cosim.benches.numesh.moves import MOVES, Goal
from numesh.codes import Annotation, Codes, CommandKind, MoveType
from numesh.shape import NodeShape


def run(driver: Driver, model: Model, coverage: Coverage, most: int) -> int:
    """Run a driver against its model, as if the hardware did what the model does. Gives the cycles."""
    inputs: dict[str, int] = {f"p_{name}": 0 for name in ("address", "write", "read", "write_data")}
    inputs |= {f"{name}_{i}": 0 for name in inputs for i in range(FOUR_NODES.nodes)}
    for cycle in range(most):
        if coverage.full:
            return cycle
        inputs |= driver.early(cycle)
        settled = {name: value or 0 for name, value in model.outputs(inputs).items()}
        inputs |= driver.late(settled)
        model.clock(inputs)
    return most


@pytest.mark.parametrize("seed", range(3))
def test_traffic_of_the_transfer_bench_reaches_every_bin(seed: int) -> None:
    coverage = Coverage()
    model = transfer.CoveredTransfer(ODD, coverage)
    run(transfer.TransferDriver(ODD, Random(seed), model.moves.goals), model, coverage, 120000)
    assert {name: group.missing for name, group in coverage.groups.items() if group.missing} == {}


@pytest.mark.parametrize(("shape", "seed"), [(STANDARD, 0), (STANDARD, 1), (ODD, 0)])
def test_traffic_of_the_node_bench_reaches_every_bin(shape: NodeShape, seed: int) -> None:
    coverage = Coverage()
    model = node.CoveredNode(shape, coverage)
    run(node.NodeDriver(shape, Random(seed), model.counter.moves.goals), model, coverage, 120000)
    assert {name: group.missing for name, group in coverage.groups.items() if group.missing} == {}
    assert len(coverage.groups[MOVES].hits) == 154, "the bins of moves that are within reach"


def test_traffic_of_the_mesh_bench_reaches_every_bin() -> None:
    coverage = Coverage()
    model = mesh.CoveredMesh(STANDARD, FOUR_NODES, coverage)
    run(mesh.MeshDriver(STANDARD, FOUR_NODES, Random(0)), model, coverage, 30000)
    assert {name: group.missing for name, group in coverage.groups.items() if group.missing} == {}


@pytest.mark.parametrize("shape", [STANDARD, ODD])
def test_no_traffic_rewrites_the_loader_phase(shape: NodeShape) -> None:
    coverage = Coverage()
    model = node.CoveredNode(shape, coverage)
    coverage.group("never", ["full"])  # so that the run goes on to its end
    run(node.NodeDriver(shape, Random(5), model.counter.moves.goals), model, coverage, 6000)
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


def test_commands_of_a_program_are_all_harmless_and_of_every_kind() -> None:
    codes = Codes(ODD)
    words = Words(codes, Random(2))
    program = RandomProgram(codes, words, Random(2))
    commands = [program.command(0) for _ in range(300)]
    assert all(words.harmless(word) for command in commands for word in command)
    kinds = {command[0] & 7 for command in commands}
    assert kinds == set(range(8)), f"{kinds} of {list(CommandKind)} and unknown ones"
