"""The target *numesh* of ``pointsman compile`` and ``run``: a mesh of scheduled routers, and images for them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pointsman.api.judged import prove, refuse_malformed
from pointsman.api.options import implementations_of, refuse_addresses, shape_of
from pointsman.api.progress import telling
from pointsman.errors import PointsmanError
from pointsman.files import write_whole
from pointsman.targets.target import TargetRun

if TYPE_CHECKING:
    from pointsman.artifacts.images.images import Images
    from pointsman.network import Topology
    from pointsman.plan.plan import Plan
    from pointsman.program.program import Program
    from pointsman.runtime import Application
    from pointsman.targets.target import Given


class NumeshTarget:
    """Programs as schedules in the memories of routers."""

    name = "numesh"
    stages = ("plan", "routes", "images")

    def __init__(self) -> None:
        self.plan: Plan | None = None
        """The plan that was compiled last."""
        self._made: tuple[Images, Program] | None = None
        """Images as last compiled, and the program that they were made of, for the report of a run."""

    def refuse(self, given: Given) -> None:
        refuse_addresses(given)
        if given.get("emit") == "tables":
            raise PointsmanError("--emit tables is a stage of target tdm", hint="add --target tdm")

    def stage(self, program: Program, name: str, emit: str, given: Given) -> str:
        from pointsman.report.stages import images_json, plan_json, routes_json
        from pointsman.targets.numesh import make_images

        plan = _plan(program, name, given)
        if emit == "images":
            return json.dumps(images_json(make_images(plan)), indent=1)
        return json.dumps(plan_json(plan) if emit == "plan" else routes_json(plan), indent=1)

    def compile(self, program: Program, name: str, given: Given) -> Images:
        from pointsman.targets.numesh import make_images

        self.plan = _plan(program, name, given)
        images = make_images(self.plan)
        if given.get("check", True):
            with telling(f"proving the images of {name}"):
                prove(images, program)
        self._made = images, program
        return images

    def predicted(self, program: Program, name: str, given: Given) -> float:
        return _plan(program, name, given, quiet=True).cycles

    def describe(self, artifact: Images) -> str:
        from pointsman.report.run import beyond_chip_lines, phase_table

        head = f"{artifact.name} on a {artifact.topology.described}, {artifact.period} slots"
        return "\n".join([head, *beyond_chip_lines(artifact), phase_table(artifact)])

    def write(self, artifact: Images, given: Given) -> Iterator[str]:
        if given["output"] is not None:
            from pointsman.artifacts.images.file import write_images

            write_images(artifact, given["output"])
            yield f"wrote {given['output']}"
        if given["readmemh"] is not None:
            from pointsman.artifacts.images.readmemh import write_readmemh

            count = len(write_readmemh(artifact, given["readmemh"]))
            yield f"wrote {count} files into {given['readmemh']}"

    def read(self, path: Path, topology: Topology, given: Given) -> Images:
        from pointsman.artifacts.images.file import read_images

        images = read_images(path)
        refuse_malformed(images)
        if images.topology != topology:
            raise PointsmanError(
                f"{path}: the image is for a {images.topology.described}, not for a {topology.described}",
                hint="give the network that it was compiled for",
            )
        return images

    def run(self, artifact: Images, application: Application, seconds: dict[str, float], given: Given) -> TargetRun:
        from cosim.numesh.activities import cycles_by
        from cosim.numesh.machine import Machine
        from cosim.numesh.session import run_application
        from pointsman.report.run import run_json, run_text

        topology, trace = artifact.topology, given["trace"]
        started = time.perf_counter()
        with telling("building the simulation of the mesh (once)", has_bar=True):
            built = Machine(
                shape_of(topology, given),
                topology,
                engine=given["engine"],
                wave=given["wave"],
                wave_window=given["wave_window"],
            )
        with built as machine, telling("running", has_bar=True):
            seconds["build"] = time.perf_counter() - started
            done = run_application(
                artifact,
                application,
                machine,
                preload=given["preload"],
                seconds=seconds,
                max_cycles=given["max_cycles"],
                events=trace is not None or given["events"],
                monitors=given["monitors"],
            )
        by_operator = cycles_by(done.spans, "operator", done.record.nodes)
        by_phase = cycles_by(done.spans, "phase", done.record.nodes)
        results = run_json(
            artifact, done, seed=given["seed"], by_operator=by_operator, by_phase=by_phase, remarks=done.remarks
        )
        if application.foreseen and self.plan is not None and self._made is not None and self._made[0] is artifact:
            from pointsman.report.time_table import add_times, time_json
            from pointsman.report.timed import numesh_timed

            timed = numesh_timed(self._made[1], self.plan, artifact, done.calls, application.functions)
            add_times(results, time_json(timed, done.calls, by_operator=by_operator, by_phase=by_phase))
        if trace is not None:
            from cosim.numesh.trace import trace_text

            write_whole(trace, trace_text(artifact, done.record, done.spans, lines=trace.suffix == ".jsonl"))
        return TargetRun(results, run_text(results, artifact, application.reference()), done)


def _plan(program: Program, name: str, given: Given, *, quiet: bool = False) -> Plan:
    """``quiet``: somebody else tells what is done, and need not know what hardware would do."""
    from pointsman.operators import Context
    from pointsman.plan.fitting import fitted_plan
    from pointsman.plan.make_plan import make_plan
    from pointsman.plan.options import PlanOptions
    from pointsman.targets.c.implementations import implementations_in_c, refused_in_c

    shape = shape_of(program.topology, given)
    implementations = every = implementations_of(given["plugins"])
    if given.get("in_c"):
        implementations = implementations_in_c(program, Context(program.topology, shape), every)
    with nullcontext() if quiet else telling(f"planning {name}") as say:
        planned = partial(
            make_plan if quiet else fitted_plan,
            program,
            shape,
            name=name,
            period=given["period"],
            effort=given["effort"],
        )
        options = PlanOptions(seed=given.get("seed", 0), most_phases=given["phases"], progress=say)
        try:
            return planned(implementations=implementations, options=options)
        except PointsmanError as error:
            if not given.get("in_c"):
                raise
            failure = error
        try:
            other = planned(implementations=every, options=replace(options, first=True))
        except PointsmanError:
            raise failure from None
        raise refused_in_c(other, failure) from failure
