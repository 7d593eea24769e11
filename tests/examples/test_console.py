"""A broadcast that continues while halves of a mesh change their phases: by its meaning, on the cycle model and on the RTL."""

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

EXAMPLE = Path(__file__).parents[2] / "examples/console/console.py"


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
    images = make_images(make_plan(program, NodeShape(), name="console", period=16))
    report = check_images(images)
    assert report.ok, report.render()
    with Machine(NodeShape(), program.topology, engine=engine) as machine:  # type: ignore[arg-type]
        return run_application(images, application, machine)


@pytest.mark.parametrize(("width", "height"), [(2, 1), (4, 2), (6, 3)])
def test_it_is_right_by_its_meaning(width: int, height: int) -> None:
    application, program = example(width, height, "--words", "9")
    machine = ReferenceMachine(program, "console", application.functions)
    results = machine.run(application.main).results
    assert application.check(results).startswith(f"all {width * height} blocks are right")


def test_the_broadcast_continues_through_all_phases_of_both_halves() -> None:
    result = run("model")
    assert result.correct, result.answer
    images = result.images
    assert [phase.name for phase in images.phases] == ["setup", "lu+rb", "ld+ru", "finish"]
    (stdin,) = [operator for operator in images.operators if operator.label == "stdin"]
    assert stdin.continues == (0, 1, 2, 3)


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [("6", "4"), ("1", "9"), ("9", "1")])
def test_it_runs_on_the_rtl(rounds: tuple[str, str]) -> None:
    result = run("verilated", "--rounds", *rounds)
    assert result.correct, result.answer


def test_lines_come_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("8 9\n1 2\n"))
    application, _ = example(4, 2, "--lines", "-", "--rounds", "1", "2")
    assert application.lines == [(8, 9), (1, 2)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--lines", "8 9"), "6 lines of two whole numbers are needed"),
        (("--lines", "8; 9", "--rounds", "1", "2"), "2 lines of two whole numbers are needed"),
        (("--lines", "a b", "--rounds", "1", "1"), "1 lines of two whole numbers are needed"),
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
