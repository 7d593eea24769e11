"""How many cycles a program will take on packet routers: it is played on their cycle model, see `cosim.playing`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cosim.playing import Played, play, predict
from cosim.replaying import replay
from cosim.spans import Call
from pointsman.program.program import Program
from pointsman.runtime import Node
from pointsman.runtime.packet import packet_node
from pointsman.targets.packet import PacketProgram

from .session import PacketMachine


def predicted(made: PacketProgram, program: Program) -> Played | None:
    """Cycles of ``program``, which ``made`` was compiled from, and of its operators, if nothing is computed; None if the play is
    too long."""

    def stage(most: int | None, rounds: int, seed: int, limit: int, *, in_turn: bool = False) -> tuple[Played, int]:
        shorter = made if most is None else _with_messages(made, most)
        with PacketMachine(made.shape, engine="model", progress=False) as machine:
            operators = {one.operator.label: one.operator for one in shorter.operators}
            nodes = _nodes(shorter, machine)
            found = play(
                program, operators, machine, nodes, rounds=rounds, seed=seed, max_cycles=limit, in_turn=in_turn
            )
            return found, machine.time

    return predict(program, stage)


def replayed(made: PacketProgram, calls: Sequence[Call]) -> Played | None:
    """Cycles of the ``calls`` of a run of ``made`` and of its operators, see `cosim.replaying.replay`."""
    with PacketMachine(made.shape, engine="model", progress=False) as machine:
        return replay((one.operator for one in made.operators), calls, machine, _nodes(made, machine))


def _nodes(made: PacketProgram, machine: PacketMachine) -> Callable[[Mapping[str, Any]], list[Node]]:
    """Makes the nodes, given the functions of the application."""

    def nodes(functions: Mapping[str, Any]) -> list[Node]:
        return [packet_node(made, k, machine, functions=functions) for k in range(made.topology.nodes)]

    return nodes


def _with_messages(made: PacketProgram, most: int) -> PacketProgram:
    """The same program with messages of ``most`` words at most."""
    operators = [replace(one, operator=replace(one.operator, m=min(one.operator.m, most))) for one in made.operators]
    return replace(made, operators=tuple(operators))
