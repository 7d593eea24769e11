"""Reports of the switch: connection tables as text and as JSON, and a run on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pointsman.artifacts.tables import ConnectionTables
from pointsman.runtime.api.application import Reference

from .run import CATEGORIES, FinishedRun, means_json
from .table import short, table
from .time_table import time_text


def tables_json(tables: ConnectionTables) -> dict[str, Any]:
    """Connection tables as plain values, under the names of `pointsman.artifacts.tables`."""
    return {
        "name": tables.name,
        "ports": tables.ports,
        "slots": tables.slots,
        "mode": tables.mode,
        "registers": tables.registers,
        "timeout": tables.timeout,
        "network": {"kind": tables.topology.kind, "size": list(tables.topology.size)},
        "shape": tables.shape.as_dict(),
        "parameters": dict(tables.parameters),
        "operators": _operators(tables),
        "phases": _phases(tables),
        "sets": [
            {
                "name": one.name,
                "degree": one.degree,
                "configurations": [[list(pair) for pair in part] for part in one.configurations],
                "dynamic": [list(pair) for pair in one.dynamic],
                "hold": [list(pair) for pair in one.hold],
                "flush": one.flush,
                "exclusive": one.exclusive,
            }
            for one in tables.sets
        ],
        "notes": list(tables.notes),
    }


def _operators(tables: ConnectionTables) -> dict[str, Any]:
    return {
        one.operator.label: {
            "implementation": one.way,
            "phase": tables.phases[one.phase].name,
            "bandwidth": one.bandwidth,
            "sets": list(one.sets),
        }
        for one in tables.operators
    }


def _phases(tables: ConnectionTables) -> list[dict[str, Any]]:
    return [
        {
            "name": phase.name,
            "technique": "own rows",
            "reason": "a processor that enters another set has its own rows replaced when its words have left",
            "degree": phase.degree,
            "sets": list(phase.sets),
            "optional": phase.optional,
        }
        for phase in tables.phases
    ]


def tables_text(tables: ConnectionTables) -> str:
    """Connection tables as text: phases, then working sets, register by register."""
    rows = []
    for one in tables.operators:
        phase = tables.phases[one.phase]
        sets = ", ".join(map(str, phase.sets)) if len(phase.sets) <= 4 else f"{phase.sets[0]} … {phase.sets[-1]}"
        first = tables.operators[phase.operators[0]] is one
        rows.append(
            [
                short(phase.name) if first else "",
                one.operator.label,
                one.way,
                one.operator.m,
                f"{one.bandwidth:.3f}",
                sets,
            ]
        )
    lines = [
        f"{tables.name} on a switch of {tables.ports} ports and {tables.slots} slots, mode {tables.mode}: "
        f"{tables.registers} registers for the tables, {tables.slots - tables.registers} for the scheduler"
        + (f", time-out {tables.timeout} cycles" if tables.timeout else ""),
        table(["phase", "operator", "implementation", "words", "bandwidth", "set"], rows),
    ]
    for number, chosen in enumerate(tables.sets):
        extra = [text for text, is_so in (("flushes", chosen.flush), ("may be refused", not chosen.exclusive)) if is_so]
        lines.append(f"set {number} '{chosen.name}': degree {chosen.degree}{''.join(f', {text}' for text in extra)}")
        for register, configuration in enumerate(chosen.configurations):
            if configuration:
                lines.append(f"  register {register}: {_pairs(configuration)}")
        if chosen.dynamic:
            lines.append(f"  dynamic: {_pairs(chosen.dynamic)}")
        if chosen.hold:
            lines.append(f"  held: {'all of these' if chosen.hold == chosen.dynamic else _pairs(chosen.hold)}")
    return "\n".join([*lines, *(f"note: {note}" for note in tables.notes)])


def _pairs(pairs: tuple[tuple[int, int], ...], most: int = 64) -> str:
    shown = " ".join(f"{u}→{v}" for u, v in pairs[:most])
    return shown + (f" … {len(pairs) - most} more" if len(pairs) > most else "")


def tdm_json(tables: ConnectionTables, run: FinishedRun, *, refused: int) -> dict[str, Any]:
    """Results of a run under the same names as in `pointsman.report.run.run_json`; ports without a processor do not count.

    ``refused``: number of loads of a row that were refused because its destination was taken.
    """
    return {
        "correct": run.correct,
        "answer": run.answer,
        "target": "tdm",
        "engine": run.engine,
        "mode": tables.mode,
        "network": {"kind": tables.topology.kind, "size": list(tables.topology.size)},
        "shape": tables.shape.as_dict(),
        "period": tables.slots * tables.shape.slot_cycles,
        "seed": 0,
        "parameters": dict(tables.parameters),
        **means_json(run.record.cycles[: tables.topology.nodes], run.record.total_cycles),
        "operators": _operators(tables),
        "phases": _phases(tables),
        "refused_loads": refused,
        "node_cycles_per_second": run.record.node_cycles_per_second,
        "seconds": dict(run.seconds),
    }


def tdm_text(result: Mapping[str, Any], tables: ConnectionTables, reference: Reference | None) -> str:
    """The report of a run on the switch as text."""
    lines = [
        f"{tables.name} of a {tables.topology.described} on a switch of {tables.ports} ports and {tables.slots} slots, "
        f"mode {tables.mode}, engine {result['engine']}",
        f"  answer: {result['answer']}" if result["correct"] else f"  WRONG: {result['answer']}",
        "",
    ]
    rows = [
        [
            label,
            one["implementation"],
            one["phase"],
            ", ".join(map(str, sorted(set(one["sets"]))[:4])),
            f"{one['bandwidth']:.3f}",
        ]
        for label, one in result["operators"].items()
    ]
    lines += [table(["operator", "implementation", "phase", "set", "bandwidth"], rows), ""]
    shown = [name for name in CATEGORIES if name != "online"]  # messages of online routers, which a switch has not
    head = ["cycles, mean over the nodes", *shown, "I/O"]
    figures: list[list[object]] = [["this run", *_numbers(result["categories"], shown)]]
    if reference is not None and reference.categories is not None:
        figures.append(
            [f"{reference.source}, {reference.cycles_table} (a mesh)", *_numbers(reference.categories, shown)]
        )
    lines += [table(head, figures), "  I/O is write + read + psync", ""]
    if "waits" in result:
        lines += [time_text(result), ""]
    seconds = ", ".join(f"{what} {value:.1f} s" for what, value in result["seconds"].items())
    lines.append(
        f"{result['total_cycles']:,} cycles; {result['node_cycles_per_second'] / 1e6:.1f} M node-cycles/s; {seconds}"
    )
    return "\n".join(lines)


def _numbers(categories: Mapping[str, float], shown: Sequence[str]) -> list[str]:
    values = [categories[name] for name in shown]
    io = sum(categories[name] for name in ("write", "read", "psync"))
    return [f"{value:,.0f}" for value in (*values, io)]
