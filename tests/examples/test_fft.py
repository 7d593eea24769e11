"""The fast Fourier transform: by its meaning on every mesh, on the cycle model and on the RTL."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from cosim.machine import Machine
from cosim.session import run_application
from numesh.shape import NodeShape
from pointsman.cop import compile_file
from pointsman.errors import PointsmanError
from pointsman.network import Topology, mesh
from pointsman.plan.build import make_plan
from pointsman.runtime.application import load_application, parse_options
from pointsman.runtime.reference import ReferenceMachine
from pointsman.streams.check import check_images
from pointsman.targets.numesh import make_images

EXAMPLE = Path(__file__).parents[2] / "examples/fft/fft.py"


def example(topology: Topology, *arguments: str):
    kind = load_application(EXAMPLE)
    options = parse_options(kind, EXAMPLE, arguments)
    assert isinstance(options, argparse.Namespace)
    application = kind(options, topology)
    program = compile_file(
        EXAMPLE.parent / application.program, topology=topology, parameters=dict(application.parameters())
    )
    return application, program


@pytest.mark.parametrize("size", [(1,), (2, 1), (4, 2), (2, 2, 2), (4, 4)], ids=str)
@pytest.mark.parametrize("points", [1, 8])
def test_spectrum_and_filtered_signal_are_those_of_numpy(size: tuple[int, ...], points: int) -> None:
    application, program = example(mesh(*size), "--points", str(points))
    results = ReferenceMachine(program, "fft", application.functions).run(application.main).results
    assert application.check(results).startswith(f"the spectrum of {application.n} points")


def run_on_routers(engine: str, *size: int) -> None:
    application, program = example(mesh(*size), "--points", "16")
    images = make_images(make_plan(program, NodeShape(), name="fft", period=16))
    report = check_images(images)
    assert report.ok, report.render()
    assert len(images.phases) > 1
    with Machine(NodeShape(), program.topology, engine=engine) as machine:  # type: ignore[arg-type]
        result = run_application(images, application, machine)
    assert result.correct, result.answer


def test_stages_are_phases_that_the_application_chooses() -> None:
    run_on_routers("model", 2, 2)


@pytest.mark.slow
def test_sixteen_nodes_on_the_rtl() -> None:
    run_on_routers("verilated", 4, 4)


def test_other_numbers_of_nodes_are_refused() -> None:
    with pytest.raises(PointsmanError, match=r"^a mesh of so many nodes must be a power of two, not 6$"):
        example(mesh(3, 2))
    with pytest.raises(PointsmanError, match=r"^--points must be a power of two, not 12$"):
        example(mesh(2, 2), "--points", "12")
