"""The fast Fourier transform: by its meaning on every mesh, on the cycle model and on the RTL."""

from __future__ import annotations

import argparse
from math import prod
from pathlib import Path

import numpy as np
import pytest

from cosim.machine import Machine
from cosim.session import run_application
from numesh.shape import NodeShape
from pointsman.cop import compile_file
from pointsman.errors import PointsmanError
from pointsman.network import Topology, mesh
from pointsman.plan.build import make_plan
from pointsman.plan.plan import Plan
from pointsman.runtime import WrongAnswer
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


@pytest.mark.parametrize("by", ["transposition", "exchange"])
@pytest.mark.parametrize("size", [(1,), (2, 1), (4, 2), (2, 2, 2), (4, 4)], ids=str)
@pytest.mark.parametrize("points", [16, 32])
def test_spectrum_and_filtered_signal_are_those_of_numpy(size: tuple[int, ...], points: int, by: str) -> None:
    application, program = example(mesh(*size), "--points", str(points), "--by", by)
    results = ReferenceMachine(program, "fft", application.functions).run(application.main).results
    assert application.check(results).startswith(f"the spectrum of {application.n} points")


def test_exchange_needs_one_point_a_node() -> None:
    application, program = example(mesh(4, 2), "--points", "1", "--by", "exchange")
    results = ReferenceMachine(program, "fft", application.functions).run(application.main).results
    assert application.check(results).startswith("the spectrum of 8 points")


def test_blocks_in_the_wrong_places_are_seen() -> None:
    application, program = example(mesh(2, 2), "--points", "8")
    results = ReferenceMachine(program, "fft", application.functions).run(application.main).results
    (first, filtered), *rest = results
    with pytest.raises(WrongAnswer, match=r"^the spectrum differs from numpy's by"):
        application.check([(np.roll(first, 1), filtered), *rest])
    with pytest.raises(WrongAnswer, match=r"^the filtered signal differs from numpy's by"):
        application.check([(first, np.roll(filtered, 1)), *rest])


def run_on_routers(engine: str, by: str, *size: int) -> Plan:
    application, program = example(mesh(*size), "--points", "16", "--by", by)
    plan = make_plan(program, NodeShape(), name="fft", period=16)
    images = make_images(plan)
    report = check_images(images)
    assert report.ok, report.render()
    with Machine(NodeShape(), program.topology, engine=engine) as machine:  # type: ignore[arg-type]
        result = run_application(images, application, machine)
    assert result.correct, result.answer
    return plan


@pytest.mark.parametrize("size", [(2, 2), (4, 2), (4, 4)], ids=str)
def test_each_distance_is_a_subphase_that_the_application_chooses(size: tuple[int, ...]) -> None:
    plan = run_on_routers("model", "transposition", *size)
    nodes = prod(size)
    assert [phase.operators[0].implementation.name for phase in plan.phases] == ["sch_shift"] * (nodes - 1)
    assert [one.value for one in plan.structure.phases] == [(distance,) for distance in range(1, nodes)]


def test_two_nodes_have_one_distance() -> None:
    assert len(run_on_routers("model", "transposition", 2, 1).phases) == 1


def test_stages_are_phases_that_the_application_chooses() -> None:
    plan = run_on_routers("model", "exchange", 2, 2)
    assert [phase.name for phase in plan.phases] == ["x0", "x1", "order"]


@pytest.mark.slow
@pytest.mark.parametrize("size", [(2, 2), (4, 2), (4, 4)], ids=str)
def test_transposition_on_the_rtl(size: tuple[int, ...]) -> None:
    run_on_routers("verilated", "transposition", *size)


@pytest.mark.slow
def test_exchange_among_sixteen_nodes_on_the_rtl() -> None:
    run_on_routers("verilated", "exchange", 4, 4)


def test_other_numbers_of_nodes_are_refused() -> None:
    with pytest.raises(PointsmanError, match=r"^a mesh of so many nodes must be a power of two, not 6$"):
        example(mesh(3, 2))
    with pytest.raises(PointsmanError, match=r"^--points must be a power of two, not 12$"):
        example(mesh(2, 2), "--points", "12")
    message = r"^by transposition each node needs a point for each of the 16 nodes, not --points 8\n"
    with pytest.raises(PointsmanError, match=message):
        example(mesh(4, 4), "--points", "8")
