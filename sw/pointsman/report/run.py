"""The report of a run: cycles by category, operators, phases, speed; as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from pointsman.artifacts.images.images import Images
from pointsman.runtime import Category
from pointsman.runtime.api.application import Reference

from .table import short, table
from .time_table import time_text

CATEGORIES = [category.name.lower() for category in Category]


class RunRecord(Protocol):
    """Cycles of a run: by node and category, in all, and simulated per second. Implemented by `cosim.record.Record`."""

    @property
    def cycles(self) -> np.ndarray: ...

    @property
    def total_cycles(self) -> int: ...

    @property
    def node_cycles_per_second(self) -> float: ...


class FinishedRun(Protocol):
    """Results of a run on any machine. ``answer``: what the application checked, or the error; ``seconds`` by stage."""

    @property
    def engine(self) -> str: ...

    @property
    def record(self) -> RunRecord: ...

    @property
    def correct(self) -> bool: ...

    @property
    def answer(self) -> str: ...

    @property
    def seconds(self) -> Mapping[str, float]: ...


def means_json(cycles: np.ndarray, total_cycles: int) -> dict[str, Any]:
    """Cycles of a run: in all, by category as means over the nodes, and of each node."""
    means = cycles.mean(axis=0)
    return {
        "total_cycles": total_cycles,
        "categories": {name: float(means[i]) for i, name in enumerate(CATEGORIES)},
        "per_node": {name: [int(c) for c in cycles[:, i]] for i, name in enumerate(CATEGORIES)},
    }


def run_json(
    images: Images,
    run: FinishedRun,
    *,
    seed: int,
    by_operator: Mapping[Any, Mapping[str, float]] | None = None,
    by_phase: Mapping[Any, Mapping[str, float]] | None = None,
    remarks: Sequence[str] = (),
) -> dict[str, Any]:
    """Results of a run on the mesh of scheduled routers, as plain values. ``remarks``: what the run time has to say.

    ``by_operator`` and ``by_phase``: cycles by category, means over all nodes, in functions of an operator (by label) and in a
    phase (by number, -1: the loader phase).
    """
    by_operator, by_phase = by_operator or {}, by_phase or {}
    return {
        "correct": run.correct,
        "answer": run.answer,
        "remarks": list(remarks),
        "target": "numesh",
        "engine": run.engine,
        "network": {"kind": images.topology.kind, "size": list(images.topology.size)},
        "shape": images.shape.as_dict(),
        "beyond_chip": list(images.shape.beyond_chip),
        "period": images.period,
        "seed": seed,
        "parameters": dict(images.parameters),
        **means_json(run.record.cycles, run.record.total_cycles),
        "operators": {
            operator.label: {
                "implementation": operator.implementation,
                "phase": images.phases[operator.phase].name,
                "continues": [images.phases[phase].name for phase in operator.continues],
                "bandwidth": operator.bandwidth,
                "shares": images.operators[images.shares[index]].label if index in images.shares else None,
                "cycles": dict(by_operator.get(operator.label, {})),
            }
            for index, operator in enumerate(images.operators)
            if all(index not in (phase.barrier, phase.online) for phase in images.phases)
        }
        | {
            one.program.label: {
                "implementation": one.implementation,
                "parts": [images.operators[index].label for index in one.parts],
                "cycles": dict(by_operator.get(one.program.label, {})),
            }
            for one in images.replaced
        },
        "phases": [
            {
                "name": phase.name,
                "technique": phase.technique,
                "reason": phase.reason,
                "cycles": dict(by_phase.get(number, {})),
            }
            for number, phase in enumerate(images.phases)
        ],
        "loader_phase": {"cycles": dict(by_phase.get(-1, {}))},
        "node_cycles_per_second": run.record.node_cycles_per_second,
        "seconds": dict(run.seconds),
    }


def phase_table(images: Images) -> str:
    """Table of phases with their operators and how they end."""

    def named(index: int) -> str:
        remarks = ["continues"] if images.operators[index].continues else []
        if index in images.shares:
            remarks.append(f"streams of {short(images.operators[images.shares[index]].label)}")
        return short(images.operators[index].label) + "".join(f" ({one})" for one in remarks)

    rows = []
    for phase in images.phases:
        for i, index in enumerate(phase.operators):
            operator = images.operators[index]
            first = i == 0
            rows.append(
                [
                    short(phase.name) if first else "",
                    phase.block if first else "",
                    named(index),
                    operator.implementation,
                    operator.m,
                    f"{operator.bandwidth:.3f}",
                    phase.technique if first else "",
                ]
            )
    return table(["phase", "block", "operator", "implementation", "words", "bandwidth", "ends by"], rows)


def beyond_chip_lines(images: Images) -> list[str]:
    """A line that marks images for nodes larger than the NuMesh chip's; none for others."""
    beyond = images.shape.beyond_chip
    return [f"  not executable on the NuMesh chip: {', '.join(beyond)}"] if beyond else []


def run_text(result: Mapping[str, Any], images: Images, reference: Reference | None) -> str:
    """The report of a run on the mesh as text."""
    lines = [
        f"{images.name} on a {images.topology.described}, {images.period} slots, engine {result['engine']}",
        f"  answer: {result['answer']}" if result["correct"] else f"  WRONG: {result['answer']}",
        *beyond_chip_lines(images),
        *(f"  note: {remark}" for remark in result.get("remarks", ())),
        "",
        phase_table(images),
        "",
    ]
    shown = [name for name in CATEGORIES if name != "online" or result["categories"][name]]
    head = ["cycles, mean over the nodes", *shown, "I/O"]
    rows: list[list[object]] = [["this run", *_numbers(result["categories"], shown)]]
    if reference is not None and reference.categories is not None:
        rows.append([f"{reference.source}, {reference.cycles_table}", *_numbers(reference.categories, shown)])
    lines += [table(head, rows), "  I/O is write + read + psync", ""]
    if reference is not None and reference.bandwidths:
        rows = [
            [label, f"{result['operators'][label]['bandwidth']:.3f}", f"{value:.3f}"]
            for label, value in reference.bandwidths.items()
            if label in result["operators"]
        ]
        lines += [
            table(["bandwidth, words a cycle", "this run", f"{reference.source}, {reference.bandwidth_table}"], rows),
            "",
        ]
    if "waits" in result:
        lines += [time_text(result), ""]
    seconds = ", ".join(f"{what} {value:.1f} s" for what, value in result["seconds"].items())
    lines.append(
        f"{result['total_cycles']:,} cycles; {result['node_cycles_per_second'] / 1e6:.1f} M node-cycles/s; {seconds}"
    )
    return "\n".join(lines)


def _numbers(categories: Mapping[str, float], shown: Sequence[str]) -> list[str]:
    values = [categories.get(name, 0.0) for name in shown]
    io = sum(categories[name] for name in ("write", "read", "psync"))
    return [f"{value:,.0f}" for value in (*values, io)]
