"""Runs an application on the time-multiplexed switch: a program on each processor, its answer checked, a record kept."""

from __future__ import annotations

from dataclasses import dataclass

from cosim.record import Record
from cosim.session import run_nodes
from cosim.spans import Call, NodeWatch, Span
from cosim.tdm.model import SwitchMachine
from pointsman.artifacts.tables import ConnectionTables
from pointsman.errors import PointsmanError
from pointsman.runtime import Application
from pointsman.runtime.api.application import answer_of
from pointsman.runtime.tdm import TdmSubstrate, tdm_node


@dataclass(frozen=True)
class TdmRun:
    """A finished run. ``answer``: what the application checked if ``correct``, otherwise the error.

    ``refused`` counts loads of rows whose port was still taken by a processor that is behind.
    """

    tables: ConnectionTables
    engine: str
    record: Record
    correct: bool
    answer: str
    refused: int
    seconds: dict[str, float]
    spans: list[Span]
    calls: list[Call]


def run_tdm_application(
    tables: ConnectionTables,
    application: Application,
    machine: SwitchMachine,
    *,
    seconds: dict[str, float] | None = None,
    max_cycles: int | None = None,
    events: bool = False,
) -> TdmRun:
    """Run ``application`` with ``tables`` on ``machine``. ``events``: record every access.

    Raises
    ------
    PointsmanError
        If the program misuses an operator, deadlocks, or the tables do not fit the machine.
    """
    ours, theirs = tables.shape.as_dict(), machine.switch.as_dict()
    if ours != theirs:
        wrong = ", ".join(
            f"{name.replace('_', ' ')} {ours[name]}, not {theirs[name]}" for name in ours if ours[name] != theirs[name]
        )
        raise PointsmanError(f"the tables are for a switch with {wrong}", hint="compile for this switch")
    nodes = [
        tdm_node(tables, number, machine, functions=application.functions) for number in range(tables.topology.nodes)
    ]
    watches = [NodeWatch(node, machine) for node in nodes]
    record = run_nodes(nodes, application.main, machine, max_cycles=max_cycles, events=events)
    for node, watch in zip(nodes, watches, strict=True):
        if node.activity != "done":
            watch.close_span()
    spans = [span for watch in watches for span in watch.spans]
    calls = [call for watch in watches for call in watch.calls]
    answer, correct = answer_of(application, record.results[: tables.topology.nodes])
    refused = sum(node.substrate.interface.refused for node in nodes if isinstance(node.substrate, TdmSubstrate))
    times = {**(seconds or {}), "run": record.wall_seconds}
    return TdmRun(tables, machine.engine, record, correct, answer, refused, times, spans, calls)
