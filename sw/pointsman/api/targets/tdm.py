"""The target *tdm* of ``pointsman compile`` and ``run``: a time-multiplexed switch, and connection tables for it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pointsman.api.options import NODE_SIZES, option_of, refuse_addresses, refuse_engine
from pointsman.api.progress import telling
from pointsman.api.showing import add_times_of_messages, refuse_lines, write_trace
from pointsman.errors import PointsmanError
from pointsman.targets.target import TargetRun

if TYPE_CHECKING:
    from cosim.playing import Played
    from cosim.spans import Call
    from pointsman.artifacts.tables import ConnectionTables, Mode
    from pointsman.network import Topology
    from pointsman.program.program import Program
    from pointsman.runtime import Application
    from pointsman.targets.target import Given
    from tdm_switch.shape import SwitchShape

SIZES = ("slots", "slot_cycles", "sl_cycles")
_ROUTERS_ONLY = ("preload", "period", "phases", "readmemh", "plugins", "in_c", "monitors", *NODE_SIZES)
"""Options that mean something to scheduled routers only."""


class SwitchTarget:
    """Programs as sets of connections that a switch makes in turn."""

    name = "tdm"
    stages = ("tables",)
    plan = None

    def __init__(self) -> None:
        self._predicted: tuple[ConnectionTables, Program, Played | None] | None = None
        """Tables as last compiled, the program that they were made of, and its cycles if they are known already."""

    def refuse(self, given: Given) -> None:
        refuse_addresses(given)
        refuse_engine(given)
        refuse_lines(given)
        if given.get("wave") or given.get("wave_window"):
            raise PointsmanError(
                "--wave is for routers: the switch has parts between its ports, of which no waveform is written",
                hint="--trace works; for a waveform run the Verilog of `pointsman verilog tdm-switch` in a simulator of your own",
            )
        for name in _ROUTERS_ONLY:
            if given.get(name):
                raise PointsmanError(
                    f"{option_of(name)} is for the mesh of scheduled routers, not for target tdm",
                    hint="see docs/tdm_target.md for what the switch takes",
                )
        if given.get("emit", "tables") != "tables":
            raise PointsmanError(f"--emit {given['emit']} is a stage of target numesh", hint="--emit tables")

    def stage(self, program: Program, name: str, emit: str, given: Given) -> str:
        from pointsman.report.tdm import tables_json

        return json.dumps(tables_json(self.compile(program, name, given)), indent=1)

    def compile(self, program: Program, name: str, given: Given) -> ConnectionTables:
        from cosim.tdm.prediction import best_predicted
        from pointsman.targets.tdm import make_tables
        from pointsman.verify.tables import check_tables

        shape = switch_shape(given, program.topology)
        mode: Mode | None = _mode(given)
        played = None
        if mode:
            tables = make_tables(program, shape, mode=mode, name=name)
        else:
            with telling(f"choosing a mode for {name}"):
                tables, played = best_predicted(program, shape, name=name)
        findings = check_tables(tables)
        if findings:
            lines = "\n".join(findings)
            raise PointsmanError(
                f"the compiled tables break rules of the switch:\n{lines}",
                hint="this is a fault of the compiler: please report it with the program",
            )
        self._predicted = tables, program, played
        return tables

    def predicted(self, program: Program, name: str, given: Given) -> float | None:
        from cosim.tdm.prediction import best_predicted, predicted_cycles
        from pointsman.targets.tdm import make_tables

        shape, mode = switch_shape(given, program.topology), _mode(given)
        if mode:
            return predicted_cycles(make_tables(program, shape, mode=mode, name=name), program)
        played = best_predicted(program, shape, name=name)[1]
        return None if played is None else played.cycles

    def describe(self, artifact: ConnectionTables) -> str:
        from pointsman.report.tdm import tables_text

        return tables_text(artifact)

    def write(self, artifact: ConnectionTables, given: Given) -> Iterator[str]:
        if given["output"] is not None:
            from pointsman.artifacts.tables import write_tables

            write_tables(artifact, given["output"])
            yield f"wrote {given['output']}"

    def read(self, path: Path, topology: Topology, given: Given) -> ConnectionTables:
        from pointsman.artifacts.tables import read_tables

        sized = any(given[name] is not None for name in ("ports", *SIZES))
        tables = read_tables(path, shape=switch_shape(given, topology) if sized else None)
        if tables.topology != topology:
            raise PointsmanError(
                f"{path}: the tables are for a {tables.topology.described}, not for a {topology.described}",
                hint="compile for this size",
            )
        if (_mode(given) or tables.mode) != tables.mode:
            raise PointsmanError(f"{path}: the tables are for mode {tables.mode}, not {given['mode']}")
        return tables

    def run(
        self, artifact: ConnectionTables, application: Application, seconds: dict[str, float], given: Given
    ) -> TargetRun:
        from cosim.tdm.model import switch_machine
        from cosim.tdm.session import run_tdm_application
        from pointsman.report.tdm import tdm_json, tdm_text
        from pointsman.report.timed import tdm_timed

        started = time.perf_counter()
        with telling(f"building the simulation of a switch of {artifact.shape.ports} ports (once)", has_bar=True):
            built = switch_machine(artifact.shape, given["engine"])
        with built as machine, telling("running", has_bar=True):
            seconds["build"] = time.perf_counter() - started
            done = run_tdm_application(
                artifact,
                application,
                machine,
                seconds=seconds,
                max_cycles=given["max_cycles"],
                events=given["events"] or given["trace"] is not None,
            )
        write_trace(given["trace"], artifact, done)
        results = tdm_json(artifact, done, refused=done.refused)
        if application.foreseen:
            add_times_of_messages(results, tdm_timed(artifact, self._prediction(artifact, done.calls)), done)
        return TargetRun(results, tdm_text(results, artifact, application.reference()), done)

    def _prediction(self, artifact: ConnectionTables, calls: Sequence[Call]) -> Played | None:
        """Of the way that a run took by these calls, else of the text that was compiled here; None if that cannot be played."""
        from cosim.tdm.prediction import predicted, replayed

        with telling("predicting the cycles"):
            found = replayed(artifact, calls)
            if found is None and self._predicted is not None and self._predicted[0] is artifact:
                _, program, played = self._predicted
                found = predicted(artifact, program) if played is None else played
        return found


def _mode(given: Given) -> Mode | None:
    """The mode that was asked for; None if it is to be chosen."""
    mode: Mode | Literal["auto"] | None = given["mode"]
    return None if mode == "auto" else mode


def switch_shape(given: Given, topology: Topology) -> SwitchShape:
    """The switch that the options describe, with a port for each node if they do not say how many."""
    from pointsman.artifacts.network_files import sized
    from pointsman.network.faults import with_faults
    from tdm_switch.shape import ShapeError, SwitchShape

    if topology.has_coordinates and not topology.regular:
        whole = sized(topology.kind, topology.size)
        if topology.links != with_faults(whole, topology.dead, apart=True).links:
            raise PointsmanError(
                "a switch has no links between nodes that could be faulty", hint="leave the links out of --faults"
            )
    sizes = {name: given[name] for name in SIZES if given[name] is not None}
    ports = topology.nodes if given["ports"] is None else given["ports"]
    try:
        return SwitchShape(ports=ports, **sizes)
    except ShapeError as error:
        raise PointsmanError(str(error)) from None
