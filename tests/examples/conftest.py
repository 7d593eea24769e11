"""The example that a test file is named after: made, planned and run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pytest

from cosim.numesh.machine import EngineName, Machine
from cosim.numesh.session import Run, run_application
from numesh.shape import NodeShape
from pointsman.network import Topology
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import Plan
from pointsman.program.program import Program
from pointsman.runtime.api.application import compile_application, load_application, parse_options
from pointsman.runtime.reference import ReferenceMachine
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

EXAMPLES = Path(__file__).parents[2] / "examples"


class Example:
    """An example under ``examples/``; ``arguments`` are those of its command line."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.path = EXAMPLES / name / f"{name}.py"

    def made(self, topology: Topology, *arguments: str) -> tuple[Any, Program]:
        """The application and its program."""
        kind = load_application(self.path)
        options = parse_options(kind, self.path, arguments)
        assert isinstance(options, argparse.Namespace)
        application = kind(options, topology)
        program, _ = compile_application(application, self.path, topology, parameters=dict(application.parameters()))
        return application, program

    def meant(self, topology: Topology, *arguments: str) -> tuple[Any, Any]:
        """The application, and its results by the meaning of its program."""
        application, program = self.made(topology, *arguments)
        return application, ReferenceMachine(program, self.name, application.functions).run(application.main).results

    def run(self, topology: Topology, engine: EngineName, *arguments: str, period: int | None = None) -> Run:
        """The application on the routers; the judge has passed the images, the answer is for the caller to look at."""
        return self.planned(topology, engine, *arguments, period=period)[1]

    def planned(
        self, topology: Topology, engine: EngineName, *arguments: str, period: int | None = None
    ) -> tuple[Plan, Run]:
        """The same, and the plan."""
        application, program = self.made(topology, *arguments)
        plan = make_plan(program, NodeShape(), name=self.name, period=period)
        images = make_images(plan)
        report = check_images(images)
        assert report.ok, report.render()
        with Machine(NodeShape(), topology, engine=engine) as machine:
            return plan, run_application(images, application, machine)


@pytest.fixture(scope="module")
def example(request: pytest.FixtureRequest) -> Example:
    return Example(request.path.stem.removeprefix("test_"))
