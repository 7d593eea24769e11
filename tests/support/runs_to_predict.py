"""Runs on the cycle model whose path is played again, for the tests of ``plan.timeline.path_taken``."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from cosim.numesh.activities import ActivityWatch, Call, cycles_by
from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import Topology
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import Plan
from pointsman.plan.timeline.path_taken import path_taken
from pointsman.plan.timeline.timeline import timeline
from pointsman.targets.numesh import make_images

COUNTED = ("write", "read", "psync", "router", "reprog", "online")


@cache
def plan_of(text: str, topology: Topology) -> Plan:
    return make_plan(compile_text(text, topology=topology), NodeShape(), name="test")


def run(plan: Plan, main: Callable[[Any], Any]) -> tuple[list[Call], list[float], int]:
    """Calls, mean cycles of a node in each phase, and all cycles of a run."""
    images, nodes = make_images(plan), plan.topology.nodes
    with Machine(plan.shape, plan.topology, engine="model", progress=False) as machine:
        watched = [ActivityWatch(images, number, machine) for number in range(nodes)]
        record = run_nodes([watch.node for watch in watched], main, machine)
    by_phase = cycles_by([span for watch in watched for span in watch.spans], "phase", nodes)
    phases = [sum(by_phase.get(p, {}).get(one, 0.0) for one in COUNTED) for p in range(len(plan.phases))]
    return [call for watch in watched for call in watch.calls], phases, record.total_cycles


async def called(node: Any, label: str, words: int, *values: int) -> None:
    await getattr(node.cop, f"{label}_load")(*values)
    await getattr(node.cop, f"{label}_func")(np.zeros(words, np.int32))


async def moved(node: Any, label: str, words: int, writes: bool) -> None:
    await (
        getattr(node.cop, f"{label}_write")(np.zeros(words, np.int32))
        if writes
        else getattr(node.cop, f"{label}_read")()
    )


def predicted_and_measured(plan: Plan, main: Callable[[Any], Any]) -> tuple[float, int]:
    """Cycles of the path that a run took, and those of the run."""
    calls, _, total = run(plan, main)
    ways = path_taken(plan, calls)
    assert ways is not None
    played = timeline(plan, ways)
    assert played is not None
    return played.total, total
