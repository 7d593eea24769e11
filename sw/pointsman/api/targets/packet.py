"""The target *packet* of ``pointsman compile`` and ``run``: a network of packet routers, and interface addresses on it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packet_router.shape import GRAPH_NODES, RouterShape, ShapeError
from pointsman.api.options import option_of
from pointsman.api.progress import telling
from pointsman.api.showing import add_times_of_messages, refuse_lines, write_trace
from pointsman.errors import PointsmanError
from pointsman.files import write_whole
from pointsman.targets.packet import PacketProgram, make_packet_program, without_links
from pointsman.targets.target import TargetRun

if TYPE_CHECKING:
    from cosim.playing import Played
    from cosim.spans import Call
    from pointsman.network import Topology
    from pointsman.program.program import Program
    from pointsman.runtime import Application
    from pointsman.targets.target import Given

_NOT_HERE = (
    *("image", "preload", "period", "phases", "seed", "readmemh", "check", "plugins", "in_c"),
    *("monitors",),
    *("pipelines", "vfsms", "schedule_depth", "registers", "width"),
)
"""Options that apply to scheduled routers only."""


class PacketTarget:
    """Programs as messages that packet routers carry."""

    name = "packet"
    stages = ("plan",)
    plan = None

    def __init__(self) -> None:
        self._made: tuple[PacketProgram, Program] | None = None
        """What was compiled last, and of which program."""

    def refuse(self, given: Given) -> None:
        for name in _NOT_HERE:
            if name in given:
                raise PointsmanError(f"{option_of(name)} is for scheduled routers, not for --target packet")
        refuse_lines(given)
        engine = given.get("engine", "auto")
        if engine not in ("auto", "verilated", "model"):
            raise PointsmanError(f"packet routers run on the engines verilated and model, not on {engine}")
        if given.get("emit", "plan") != "plan":
            raise PointsmanError(
                f"--emit {given['emit']} is for scheduled routers",
                hint="the target packet has program, python and plan",
            )

    def stage(self, program: Program, name: str, emit: str, given: Given) -> str:
        return json.dumps(self.compile(program, name, given).as_json(), indent=1)

    def compile(self, program: Program, name: str, given: Given) -> PacketProgram:
        made = make_packet_program(program, packet_shape(program.topology), name=name, addresses=given["addresses"])
        self._made = made, program
        return made

    def predicted(self, program: Program, name: str, given: Given) -> float | None:
        from cosim.packet.prediction import predicted

        shape = packet_shape(program.topology)
        played = predicted(make_packet_program(program, shape, name=name, addresses=given["addresses"]), program)
        return None if played is None else played.cycles

    def describe(self, artifact: PacketProgram) -> str:
        return _table(artifact)

    def write(self, artifact: PacketProgram, given: Given) -> Iterator[str]:
        if given["output"] is not None:
            write_whole(given["output"], json.dumps(artifact.as_json(), indent=1) + "\n")
            yield f"wrote {given['output']}"

    def read(self, path: Path, topology: Topology, given: Given) -> PacketProgram:
        raise PointsmanError("--image is for scheduled routers, not for --target packet")

    def run(
        self, artifact: PacketProgram, application: Application, seconds: dict[str, float], given: Given
    ) -> TargetRun:
        from cosim.packet.session import packet_machine, run_packet_application
        from pointsman.report.run import means_json
        from pointsman.report.time_table import time_text
        from pointsman.report.timed import packet_timed

        started = time.perf_counter()
        with telling(f"building the simulation of {artifact.topology.nodes} packet routers (once)", has_bar=True):
            built = packet_machine(artifact, given["engine"], wave=given["wave"], wave_window=given["wave_window"])
        with built as machine, telling("running", has_bar=True):
            seconds["build"] = time.perf_counter() - started
            done = run_packet_application(
                artifact,
                application,
                machine,
                seconds=seconds,
                max_cycles=given["max_cycles"],
                events=given["events"] or given["trace"] is not None,
            )
        write_trace(given["trace"], artifact, done)
        record = done.record
        results = {
            "correct": done.correct,
            "answer": done.answer,
            "target": "packet",
            "engine": done.engine,
            "network": {"kind": artifact.topology.kind, "size": list(artifact.topology.size)},
            "shape": artifact.shape.as_dict(),
            "parameters": dict(artifact.parameters),
            **means_json(record.cycles, record.total_cycles),
            "operators": {
                one.operator.label: {"implementation": one.way.name, "phase": str(one.phase), "bandwidth": None}
                for one in artifact.operators
            },
            "phases": [{"name": str(number)} for number in sorted({one.phase for one in artifact.operators})],
            "node_cycles_per_second": record.node_cycles_per_second,
            "seconds": done.seconds,
        }
        if application.foreseen:
            add_times_of_messages(results, packet_timed(artifact, self._prediction(artifact, done.calls)), done)
        means = results["categories"]
        io = means["write"] + means["read"]
        lines = [
            f"{artifact.name} on a {artifact.topology.described} of packet routers, engine {done.engine}",
            f"  answer: {done.answer}" if done.correct else f"  WRONG: {done.answer}",
            "",
            _table(artifact),
            "",
            f"cycles, mean over the nodes: cpu {means['cpu']:,.0f}, write {means['write']:,.0f}, "
            f"read {means['read']:,.0f}, I/O {io:,.0f}",
            "",
            *([time_text(results), ""] if application.foreseen else []),
            f"{record.total_cycles:,} cycles; {record.node_cycles_per_second / 1e6:.1f} M node-cycles/s; "
            + ", ".join(f"{what} {value:.1f} s" for what, value in done.seconds.items()),
        ]
        return TargetRun(results, "\n".join(lines), done)

    def _prediction(self, artifact: PacketProgram, calls: Sequence[Call]) -> Played | None:
        """Of the way that a run took by these calls, else of the text that was compiled here; None if that cannot be played."""
        from cosim.packet.prediction import predicted, replayed

        with telling("predicting the cycles"):
            played = replayed(artifact, calls)
            if played is None and self._made is not None and self._made[0] is artifact:
                played = predicted(*self._made)
        return played


def packet_shape(topology: Topology, **sizes: Any) -> RouterShape:
    """The e-cube router for a mesh or torus without faults, the up-down router for any other network.

    ``sizes``: other fields of the `RouterShape`; on a mesh or torus without faults also its ``routing``.
    """
    try:
        if not topology.regular:
            if topology.nodes > GRAPH_NODES:
                raise PointsmanError(
                    f"packet routers go up-down on a {topology.described}, by tables for at most {GRAPH_NODES} nodes, "
                    f"not {topology.nodes}",
                    hint="a mesh or torus without faults may be larger",
                )
            return RouterShape(size=(topology.nodes,), graph=_links(topology), **{**sizes, "routing": "up-down"})
        return RouterShape(size=topology.size, torus=topology.kind == "torus", **sizes)
    except ShapeError as error:
        raise PointsmanError(str(error)) from None


def _links(topology: Topology) -> tuple[tuple[int, int], ...]:
    """The links of a graph of routers. All routers of a graph are joined, so a node without links hangs on a node that works: no
    way of a message leads over a node with a single link."""
    found = [(link.node, link.other) for link in topology.links]
    alone = without_links(topology)
    for node in sorted(alone):
        count = {one: sum(one in link for link in found) for one in range(topology.nodes) if one not in alone}
        if count:
            found.append((min(count, key=lambda one: (count[one], one)), node))
    return tuple(found)


def _table(made: PacketProgram) -> str:
    from pointsman.report.table import table

    rows: list[list[object]] = []
    for one in made.operators:
        numbers = sorted({address.number for address in one.addresses.values()})
        virtual = sum(address.virtual is not None for address in one.addresses.values())
        shown = ", ".join(map(str, numbers)) + (f" ({virtual} virtual)" if virtual else "")
        rows.append([one.phase, one.operator.label, one.way.name, one.operator.m, shown])
    lines = [table(["phase", "operator", "implementation", "words", "interface addresses"], rows)]
    return "\n".join([*lines, *(f"note: {note}" for note in made.notes)])
