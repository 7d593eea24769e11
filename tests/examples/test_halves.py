"""Two computations on the halves of a mesh: by their meaning, and as threads on the cycle model and on the RTL."""

from __future__ import annotations

import argparse
import io
from pathlib import Path

import pytest

from cosim.machine import Machine
from cosim.session import Run, run_application
from numesh.shape import NodeShape
from pointsman.cop import compile_file
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.plan.build import make_plan
from pointsman.runtime.application import load_application, parse_options
from pointsman.runtime.reference import ReferenceMachine
from pointsman.streams.check import check_images
from pointsman.targets.numesh import make_images

EXAMPLE = Path(__file__).parents[2] / "examples/halves/halves.py"


def example(width: int, height: int, *arguments: str):
    topology = mesh(width, height)
    kind = load_application(EXAMPLE)
    options = parse_options(kind, EXAMPLE, arguments)
    assert isinstance(options, argparse.Namespace)
    application = kind(options, topology)
    program = compile_file(
        EXAMPLE.parent / application.program, topology=topology, parameters=dict(application.parameters())
    )
    return application, program


def run(engine: str, *arguments: str) -> Run:
    application, program = example(4, 2, *arguments)
    images = make_images(make_plan(program, NodeShape(), name="halves", period=16))
    report = check_images(images)
    assert report.ok, report.render()
    with Machine(NodeShape(), program.topology, engine=engine) as machine:  # type: ignore[arg-type]
        return run_application(images, application, machine)


@pytest.mark.parametrize(("width", "height"), [(2, 1), (4, 2), (6, 3)])
def test_it_is_right_by_its_meaning(width: int, height: int) -> None:
    application, program = example(width, height, "--words", "9", "--numbers", "7 11")
    machine = ReferenceMachine(program, "halves", application.functions)
    results = machine.run(application.main).results
    assert application.check(results).startswith(f"all {width * height} blocks are right")


def test_the_halves_go_through_phases_of_their_own() -> None:
    result = run("model")
    assert result.correct, result.answer
    images = result.images
    names = [phase.name for phase in images.phases]
    assert names == ["input", "lb+rb", "lu", "ru", "ld+rd", "result"]
    nodes = [
        {n for n, node in enumerate(images.nodes) if phase in {part.phase for part in node.phases}}
        for phase in range(len(names))
    ]
    assert nodes[names.index("lu")] == {0, 1, 4, 5}
    assert nodes[names.index("ru")] == {2, 3, 6, 7}


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [("6", "4"), ("1", "9"), ("9", "1")])
def test_it_runs_on_the_rtl(rounds: tuple[str, str]) -> None:
    result = run("verilated", "--rounds", *rounds)
    assert result.correct, result.answer


def test_numbers_come_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("8 9\n"))
    application, _ = example(4, 2, "--numbers", "-")
    assert application.numbers == [8, 9]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--numbers", "8"), "two whole numbers are needed"),
        (("--numbers", "a b"), "two whole numbers are needed"),
        (("--words", "0"), "--words must be 1 to 4096"),
        (("--rounds", "0", "1"), "--rounds must be 1 to 1000"),
    ],
)
def test_wrong_options_are_named(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(PointsmanError, match=message):
        example(4, 2, *arguments)


def test_an_odd_mesh_has_no_halves() -> None:
    with pytest.raises(PointsmanError, match="an even number of columns"):
        example(3, 2)
