"""Program -> its connection tables in the mode that is predicted to be the quickest, and the prediction.

The program is played on the model of the switch, see `cosim.playing`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cosim.playing import Played, predict
from cosim.playing import play as play_program
from cosim.replaying import replay
from cosim.spans import Call
from pointsman.artifacts.tables import ConnectionTables, Mode
from pointsman.artifacts.tables.tables import MODES
from pointsman.program.program import Program
from pointsman.runtime import Node
from pointsman.runtime.tdm import tdm_node
from pointsman.targets.tdm import make_tables
from tdm_switch.shape import SwitchShape

from .model import SwitchMachine, switch_machine


@dataclass(frozen=True)
class Prediction:
    """``cycles`` that tables are predicted to take; None if even the shortest play was too long."""

    mode: Mode
    cycles: float | None


def best_tables(program: Program, shape: SwitchShape, *, name: str = "program") -> ConnectionTables:
    """Compile ``program`` for a switch in the mode with the least predicted cycles; the notes say what each would take.

    Raises
    ------
    PointsmanError
        If the switch has too few ports, or cannot do an operator.
    """
    return best_predicted(program, shape, name=name)[0]


def best_predicted(
    program: Program, shape: SwitchShape, *, name: str = "program"
) -> tuple[ConnectionTables, Played | None]:
    """As `best_tables`, with what was predicted for these tables."""
    made = [make_tables(program, shape, mode=mode, name=name) for mode in MODES if mode != "hybrid" or shape.slots > 1]
    played = [predicted(tables, program) for tables in made]
    found = [
        Prediction(tables.mode, None if one is None else one.cycles) for tables, one in zip(made, played, strict=True)
    ]
    best = min(range(len(made)), key=lambda k: (found[k].cycles is None, found[k].cycles or 0, k))
    said = ", ".join(f"{one.mode} {'too long' if one.cycles is None else f'{one.cycles:,.0f}'}" for one in found)
    note = f"mode {made[best].mode} by prediction, in cycles: {said}"
    return replace(made[best], notes=(note, *made[best].notes)), played[best]


def predicted_cycles(tables: ConnectionTables, program: Program) -> float | None:
    """Cycles until the last processor has ended ``program``, if nothing is computed; None if the play is too long."""
    found = predicted(tables, program)
    return None if found is None else found.cycles


def predicted(tables: ConnectionTables, program: Program) -> Played | None:
    """Cycles of a program and of its operators, if nothing is computed; None if the play is too long."""

    def stage(most: int | None, rounds: int, seed: int, limit: int, *, in_turn: bool = False) -> tuple[Played, int]:
        with switch_machine(tables.shape, "model", progress=False) as machine:
            shorter = tables if most is None else _with_messages(tables, most)
            found = _play(shorter, program, machine, rounds=rounds, seed=seed, max_cycles=limit, in_turn=in_turn)
            return found, machine.time

    return predict(program, stage)


def _with_messages(tables: ConnectionTables, most: int) -> ConnectionTables:
    """The same tables with messages of ``most`` words at most. Those by which nodes agree on a value stay: a permutation has a
    word for each node."""
    agreements = {one.agreement for one in tables.operators}
    operators = [
        one if number in agreements else replace(one, operator=replace(one.operator, m=min(one.operator.m, most)))
        for number, one in enumerate(tables.operators)
    ]
    return replace(tables, operators=tuple(operators))


def play(tables: ConnectionTables, program: Program, machine: SwitchMachine, **options: Any) -> float:
    """Cycles until the last processor has ended ``program`` on ``machine``; options are those of `cosim.playing.play`."""
    return _play(tables, program, machine, **options).cycles


def replayed(tables: ConnectionTables, calls: Sequence[Call]) -> Played | None:
    """Cycles of the ``calls`` of a run of these tables and of its operators, see `cosim.replaying.replay`."""
    with switch_machine(tables.shape, "model", progress=False) as machine:
        return replay((one.operator for one in tables.operators), calls, machine, _nodes(tables, machine))


def _play(tables: ConnectionTables, program: Program, machine: SwitchMachine, **options: Any) -> Played:
    made = {table.operator.label: table.operator for table in tables.operators}
    return play_program(program, made, machine, _nodes(tables, machine), **options)


def _nodes(tables: ConnectionTables, machine: SwitchMachine) -> Callable[[Mapping[str, Any]], list[Node]]:
    """Makes the nodes, given the functions of the application."""

    def nodes(functions: Mapping[str, Any]) -> list[Node]:
        return [tdm_node(tables, k, machine, functions=functions) for k in range(tables.topology.nodes)]

    return nodes
