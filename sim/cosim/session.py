"""Runs the programs of an application's nodes on a machine, between cop_init and cop_fini."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pointsman.runtime import Node
from pointsman.runtime.api.claims import Claims
from pointsman.runtime.api.left_out import Loaded
from pointsman.runtime.api.node import carried_out

from .deadlock import deadlock_hint, deadlock_report, deadlock_waits
from .errors import DeadlockError, StuckError
from .machine import ProcessorMachine
from .record import Record


def run_nodes(
    nodes: Sequence[Node],
    main: Callable[[Node], Any],
    machine: ProcessorMachine,
    *,
    max_cycles: int | None = None,
    events: bool = False,
    each_cycle: Callable[[], None] | None = None,
) -> Record:
    """Run ``main`` on every node that works, between cop_init and cop_fini. Other processors of the machine do nothing."""

    latest = None if max_cycles is None else machine.time + max_cycles
    claims = Claims()
    for node in nodes:
        node.latest, node.claims = latest, claims
    try:
        idle = [None] * (machine.nodes - len(nodes))
        record = machine.run(
            [*(node.attended(carried_out(node, main)) if node.working else None for node in nodes), *idle],
            max_cycles=max_cycles,
            events=events,
            each_cycle=each_cycle,
        )
        return replace(record, moved={node.number: node.moved for node in nodes if node.working})
    except DeadlockError as error:
        raise StuckError(
            deadlock_report(nodes, error, machine.state()),
            waits=deadlock_waits(nodes, error),
            loaded={node.number: Loaded.of(node) for node in nodes if node.working},
            hint=deadlock_hint(nodes, error),
        ) from None
