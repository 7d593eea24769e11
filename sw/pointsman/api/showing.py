"""What was compiled or run, as the document and the page of ``pointsman show``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pointsman.errors import PointsmanError
from pointsman.files import write_whole

if TYPE_CHECKING:
    from pointsman.plan.plan import Plan
    from pointsman.report.show.document import Document
    from pointsman.report.timed import Timed


def document_of(
    artifact: Any, finished: Any = None, plan: Plan | None = None, *, time: Mapping[str, Any] | None = None
) -> Document:
    """The document of images, connection tables or a program for packet routers.

    Parameters
    ----------
    artifact : Images, ConnectionTables or PacketProgram
        What was compiled.
    finished : Run, TdmRun or PacketRun, optional
        A run of it; words are shown if it recorded its accesses (``events=True``).
    plan : Plan, optional
        The plan that images were made from, for the reasons.
    time : mapping, optional
        Where the time of the run went (`pointsman.report.time_table.times_of`).

    Raises
    ------
    PointsmanError
        If it is none of these.
    """
    from pointsman.artifacts.images.images import Images
    from pointsman.artifacts.tables import ConnectionTables
    from pointsman.targets.optical import OpticalProgram
    from pointsman.targets.packet import PacketProgram

    if isinstance(artifact, OpticalProgram):
        raise not_shown()
    if isinstance(artifact, Images):
        return _timed(_numesh(artifact, finished, plan), time)
    if isinstance(artifact, ConnectionTables):
        from pointsman.report.show.switch import add_switch_run, switch_document

        document = switch_document(artifact, source=_lines(artifact.operators))
        if finished is not None:
            add_switch_run(document, artifact, finished, finished.spans)
        return _timed(document, time)
    if isinstance(artifact, PacketProgram):
        from pointsman.report.show.packet import add_packet_run, packet_document

        document = packet_document(artifact, source=_lines(artifact.operators))
        if finished is not None:
            add_packet_run(document, artifact, finished, finished.spans)
        return _timed(document, time)
    raise PointsmanError("a dry run has no hardware to show", hint="run it on a target")


def not_shown() -> PointsmanError:
    """The error for programs on the target *optical*."""
    return PointsmanError(
        "programs on an optical network are not shown", hint="the results of `pointsman optical --json` are"
    )


def _timed(document: Document, time: Mapping[str, Any] | None) -> Document:
    if time is not None:
        from pointsman.report.show.numesh import finite

        document.why["time"] = finite(time)
    return document


def _numesh(images: Any, finished: Any, plan: Plan | None) -> Document:
    from pointsman.report.show.measured import add_run
    from pointsman.report.show.numesh import numesh_document

    lines = program_lines([one.source for one in images.operators])
    decision = None if plan is None else _decided(plan)
    document = numesh_document(images, decision=decision, source=lines)
    if finished is not None:
        from cosim.numesh.activities import cycles_by

        spans, nodes = finished.spans, finished.record.nodes
        by_operator, by_phase = cycles_by(spans, "operator", nodes), cycles_by(spans, "phase", nodes)
        add_run(document, finished, spans, by_operator=by_operator, by_phase=by_phase)
    return document


def _decided(plan: Plan) -> dict[str, Any]:
    from pointsman.operators import IMPLEMENTATIONS, Context
    from pointsman.plan.analysis import ProgramAnalysis
    from pointsman.report.decision import decision_json

    analysis = ProgramAnalysis(plan.program, Context(plan.topology, plan.shape), IMPLEMENTATIONS)
    return decision_json(plan, analysis)


def _lines(operators: Sequence[Any]) -> list[str]:
    return program_lines([str(one.operator.position or "") for one in operators])


def show_here(text: str, document: Callable[[], Document] | None) -> None:
    """In a notebook show the page of a document; elsewhere, and without a document, print ``text``."""
    shell = sys.modules.get("IPython")
    if document is None or shell is None or shell.get_ipython() is None:
        print(text)
        return
    from IPython.display import HTML, display

    from pointsman.report.show.page import page

    frame = f'<iframe srcdoc="{escape(page(document()))}" width="100%" height="800" style="border: 0"></iframe>'
    display(HTML(frame))


def program_lines(positions: Sequence[str]) -> list[str]:
    """Lines of the text that most of ``positions`` (file:line:column) point into; empty if there is none to be read."""
    names = [position.rsplit(":", 2)[0] for position in positions if position.count(":") >= 2]
    for name in sorted(set(names), key=lambda name: (-names.count(name), name))[:1]:
        try:
            return Path(name).read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError):
            return []
    return []


def refuse_lines(given: Mapping[str, Any]) -> None:
    """Refuse a trace as lines of JSON, which only runs on the mesh of scheduled routers have."""
    trace = given.get("trace")
    if trace is not None and Path(trace).suffix == ".jsonl":
        raise PointsmanError(
            "--trace writes lines of JSON for scheduled routers only", hint="name a .json for Perfetto"
        )


def add_times_of_messages(results: dict[str, Any], timed: Timed, finished: Any) -> None:
    """Put the time table of a run on the switch or on packet routers into its results."""
    from cosim.numesh.activities import cycles_by
    from pointsman.report.time_table import add_times, time_json
    from pointsman.report.timed import measured_phases

    by_operator = cycles_by(finished.spans, "operator", timed.cuts.topology.nodes)
    labels = {label: by_operator.get(label, {}) for label in timed.operators}
    add_times(results, time_json(timed, finished.calls, by_operator=labels, by_phase=measured_phases(timed, labels)))


def write_trace(path: Path | None, artifact: Any, finished: Any) -> None:
    """Write a run on the switch or on packet routers as a trace for Perfetto; nothing if there is no path."""
    if path is not None:
        from pointsman.report.show.exports import perfetto_text

        write_whole(path, perfetto_text(document_of(artifact, finished)))
