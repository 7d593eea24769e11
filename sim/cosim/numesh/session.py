"""Runs an application on the mesh: images into a machine, a program on each node, its answer checked, a record kept."""

from __future__ import annotations

from dataclasses import dataclass

from cosim.record import Record
from cosim.session import run_nodes
from pointsman.artifacts.images.images import Images
from pointsman.artifacts.images.readmemh import memories_of
from pointsman.errors import PointsmanError
from pointsman.runtime import Application
from pointsman.runtime.api.application import answer_of

from .activities import ActivityWatch, Call, Span
from .machine import Machine
from .monitors import check_streams, raise_violations


@dataclass(frozen=True)
class Run:
    """A finished run.

    ``answer``: what the application checked if ``correct``, otherwise the error. ``spans``: activities of all nodes; ``calls``:
    their calls of functions of operators.
    """

    images: Images
    engine: str
    record: Record
    correct: bool
    answer: str
    seconds: dict[str, float]
    spans: list[Span]
    calls: list[Call]
    remarks: tuple[str, ...] = ()
    """What the nodes' run time has to say about the run, each line once."""


def run_application(
    images: Images,
    application: Application,
    machine: Machine,
    *,
    preload: bool = False,
    seconds: dict[str, float] | None = None,
    max_cycles: int | None = None,
    events: bool = False,
    monitors: bool = False,
) -> Run:
    """Run ``application`` with ``images`` on ``machine``.

    Parameters
    ----------
    preload : bool
        Fill the routers' memories through the back door instead of by the processors.
    events : bool
        Record every access.
    monitors : bool
        Check the contracts of links and streams (`monitors`); needs engine "verilated", and is slow.

    Raises
    ------
    PointsmanError
        If the program misuses an operator, deadlocks, or the images do not fit the machine.
    """
    if images.shape != machine.shape:
        raise PointsmanError(
            f"the images are for nodes of another shape: {_difference(images, machine)}",
            hint="compile for this machine",
        )
    if images.topology != machine.topology:
        raise PointsmanError(
            f"the images are for a {images.topology.described}, the machine is a {machine.topology.described}"
        )
    watched = [
        ActivityWatch(images, number, machine, preloaded=preload, functions=application.functions)
        for number in range(images.topology.nodes)
    ]
    if preload:
        machine.preload(memories_of(images))
    each_cycle = machine.link_monitors() if monitors else None
    record = run_nodes(
        [watch.node for watch in watched],
        application.main,
        machine,
        max_cycles=max_cycles,
        events=events or monitors,
        each_cycle=each_cycle,
    )
    if each_cycle is not None:
        raise_violations(each_cycle.violations + check_streams(images, record))
    for watch in watched:
        if watch.node.activity != "done":
            watch.close_span()
    answer, correct = answer_of(application, record.results)
    times = {**(seconds or {}), "run": record.wall_seconds}
    spans = [span for watch in watched for span in watch.spans]
    remarks = tuple(dict.fromkeys(remark for watch in watched for remark in watch.remarks))
    calls = [call for watch in watched for call in watch.calls]
    return Run(images, machine.engine, record, correct, answer, times, spans, calls, remarks)


def _difference(images: Images, machine: Machine) -> str:
    ours, theirs = images.shape.as_dict(), machine.shape.as_dict()
    return ", ".join(
        f"{name.replace('_', ' ')} {ours[name]} instead of {theirs[name]}"
        for name in ours
        if ours[name] != theirs[name]
    )
