"""Run an application of active messages on a LogP machine."""

from __future__ import annotations

from dataclasses import dataclass

from cosim.record import Record
from pointsman.errors import PointsmanError
from pointsman.network import Topology
from pointsman.runtime import Application, Node
from pointsman.runtime.api.application import answer_of
from pointsman.runtime.api.claims import Claims

from .carrier import LogpSubstrate
from .machine import LogpMachine
from .parameters import LogpParameters


@dataclass(frozen=True)
class LogpRun:
    """A finished run. ``answer``: what the application checked if ``correct``, otherwise the error. ``messages``: those sent."""

    name: str
    parameters: LogpParameters
    record: Record
    correct: bool
    answer: str
    messages: int


def run_logp_application(
    application: Application,
    topology: Topology,
    parameters: LogpParameters,
    *,
    name: str = "program",
    max_cycles: int | None = None,
) -> LogpRun:
    """Run ``application``, which must use active messages only, on as many processors as the network has nodes.

    Raises
    ------
    PointsmanError
        If the application fails or deadlocks, or the network has faults, which an abstract machine cannot have.
    """
    if topology.dead or (topology.has_coordinates and not topology.regular):
        raise PointsmanError(
            "a LogP machine has no network whose nodes and links could be faulty",
            hint="leave --faults out; --mesh with fewer nodes has fewer processors",
        )
    machine = LogpMachine(parameters, topology.nodes)
    nodes = [
        Node(LogpSubstrate(name, machine, number), topology, number, machine, application.functions)
        for number in range(topology.nodes)
    ]
    claims = Claims()
    for node in nodes:
        node.claims = claims
    programs = [application.main(node) if node.working else None for node in nodes]
    record = machine.run(programs, max_cycles=max_cycles, what=lambda number: nodes[number].activity)
    answer, correct = answer_of(application, record.results)
    return LogpRun(name, parameters, record, correct, answer, machine.messages)
