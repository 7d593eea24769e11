"""A program on an optical network as connection tables of a crossbar with the same slots, so that its processors can be played.

In slot t of a frame an optical network makes the connections of configuration t. To the processors that is a crossbar whose
registers hold these configurations, a word a slot: what differs is inside the network, and decided when it is configured. All
connections of the program stand for ever, in a single set, so nobody waits until links have been set anew for another phase.
Non-goals: sets that take turns.
"""

from __future__ import annotations

from dataclasses import replace

from pointsman.artifacts.configurations.configurations import Configurations, ConnectionProblem
from pointsman.artifacts.tables import ConnectionTables
from pointsman.artifacts.tables.tables import WorkingSet
from pointsman.connections import configure
from pointsman.program.program import Program
from pointsman.targets.tdm import make_tables
from tdm_switch.shape import SwitchShape

from .configured import OpticalProgram

MOST_SLOTS = 64
"""Registers of a switch at most."""
MOST_PORTS = 128


def switch_tables(
    program: Program, made: OpticalProgram, *, seed: int = 0
) -> tuple[ConnectionTables, Configurations] | None:
    """Tables whose registers are the configurations of all connections of a program, and these configurations; None if there
    are more than a switch has registers or ports for.

    Raises
    ------
    PointsmanError
        If an operator cannot be done by messages.
    """
    ports = program.topology.nodes
    pairs = sorted({pair for one in made.sets for pair in one.problem.connections})
    if ports > MOST_PORTS or any(bound > MOST_SLOTS for bound in made.crossbar):
        return None
    found = configure(ConnectionProblem(made.network, tuple(pairs)), seed=seed)
    slots = max(1, found.degree)
    if slots > MOST_SLOTS:
        return None
    # Ports that send to themselves need no link: they do so in the first slot in which they neither send nor receive.
    shape = SwitchShape(ports=ports, slots=slots, slot_cycles=1, guard_cycles=0)
    tables = make_tables(program, shape, mode="preload", name=made.name)
    rows = [list(part) for part in found.configurations] or [[]]
    for own in sorted({pair for one in tables.sets for pair in one.pairs if pair[0] == pair[1]}):
        row = next((row for row in rows if all(own[0] not in pair for pair in row)), None)
        if row is None:
            return None
        row.append(own)
    everything = WorkingSet("all connections", tuple(map(tuple, rows)))
    return (
        replace(
            tables,
            sets=(everything,),
            operators=tuple(replace(one, sets=(0,) * len(one.sets)) for one in tables.operators),
            phases=tuple(replace(one, sets=(0,)) for one in tables.phases),
            registers=slots,
        ),
        found,
    )
