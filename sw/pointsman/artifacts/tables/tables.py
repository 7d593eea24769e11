"""Connection tables: the working sets of a program's phases as configurations of the switch (Ding et al. 2005, §2 to §4).

Every processor *enters* a working set when it loads an operator, and is in one set at a time. On entering it puts its
own row of each of the set's configurations into the switch. Nothing here depends on cycles.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from pointsman.network import Topology
from pointsman.program.order import Place, in_order
from pointsman.program.program import Operator
from tdm_switch.shape import SwitchShape

Pair = tuple[int, int]
"""A connection: input port, output port."""
Mode = Literal["preload", "dynamic", "hybrid"]
"""Who establishes connections: the tables; the scheduler on request; or the tables those that are certain, the
scheduler the rest."""
MODES: tuple[Mode, ...] = get_args(Mode)
TURN_REGISTER = 0
"""The register that takes the configurations of a set in turn (`WorkingSet.in_turn`)."""


@dataclass(frozen=True)
class WorkingSet:
    """The connections of one or several phases.

    Parameters
    ----------
    name : str
        Name of the set in reports.
    configurations : tuple of tuple of Pair
        Connections for each configuration register that the tables own, by its number; empty where the set needs none.
    dynamic : tuple of Pair
        Connections that are left to the scheduler.
    hold : tuple of Pair
        The dynamic connections whose requests are latched while a processor is in the set, whether words wait or not.
    flush : bool
        A processor that enters drops the latches and dynamic connections that earlier sets have left in its row.
    exclusive : bool
        No other set gives a destination of this set to another source in the same register: loading cannot be refused.
    in_turn : tuple of tuple of Pair
        Configurations of a set that needs more of them than there are registers. One register takes them in turn: a
        processor that sends to another destination than before has its own row of that register replaced first.
    """

    name: str
    configurations: tuple[tuple[Pair, ...], ...] = ()
    dynamic: tuple[Pair, ...] = ()
    hold: tuple[Pair, ...] = ()
    flush: bool = False
    exclusive: bool = True
    in_turn: tuple[tuple[Pair, ...], ...] = ()

    @property
    def degree(self) -> int:
        """Number of configurations that are not empty: the set's multiplexing degree k, at any time. Configurations in turn
        count as one."""
        return sum(bool(configuration) for configuration in self.configurations) + bool(self.in_turn)

    @cached_property
    def pairs(self) -> frozenset[Pair]:
        """All connections of the set, preloaded and dynamic."""
        return frozenset(pair for part in (*self.configurations, self.dynamic, *self.in_turn) for pair in part)

    @cached_property
    def taken_in_turn(self) -> frozenset[Pair]:
        """Connections of the configurations in turn."""
        return frozenset(pair for part in self.in_turn for pair in part)

    def row(self, port: int) -> tuple[int | None, ...]:
        """Destination of input ``port`` in each configuration; None where it has no connection."""
        rows = []
        for configuration in self.configurations:
            rows.append(next((v for u, v in configuration if u == port), None))
        return tuple(rows)


@dataclass(frozen=True)
class OperatorTable:
    """An operator, how it is done by messages (``way``), and which set its load function enters.

    ``values`` are the legal combinations of those run-time operands that are nodes or distances; ``sets[i]`` is the
    number of the working set for ``values[i]``.

    ``place``: the groups of the program around the operator, which tell with which operators it is in order. ``marked``:
    connections on which a message begins with a word that names the operator (its number in the tables), because messages of an
    operator in no order with this one use them too.
    """

    operator: Operator
    way: str
    phase: int
    values: tuple[tuple[int, ...], ...]
    sets: tuple[int, ...]
    bandwidth: float
    """Most words per cycle that a message gets, by the processor's accesses and by the slots."""
    place: Place = ()
    marked: tuple[Pair, ...] = ()
    agreement: int = -1
    """Number of the allreduce by which, in the load function, nodes agree on a ``:distributed`` value; -1: there is none."""

    @property
    def second_level(self) -> bool:
        """Whether run-time values choose the set."""
        return len(set(self.sets)) > 1


@dataclass(frozen=True)
class PhaseTable:
    """A phase of the program: its operators, its working set, the connections that it uses."""

    name: str
    operators: tuple[int, ...]
    sets: tuple[int, ...]
    degree: int
    """Multiplexing degree that the phase's connections need by themselves, for all run-time values together."""
    optional: bool = False


@dataclass(frozen=True)
class ConnectionTables:
    """Everything that the switch and its processors need to run a program.

    Parameters
    ----------
    registers : int
        Configuration registers 0 … ``registers`` - 1 belong to the tables, the others to the scheduler.
    timeout : int
        Cycles without use after which the predictor lets a connection go; 0: there is no predictor.
    """

    name: str
    parameters: tuple[tuple[str, int], ...]
    topology: Topology
    shape: SwitchShape
    mode: Mode
    registers: int
    timeout: int
    loops: tuple[str, ...]
    operators: tuple[OperatorTable, ...]
    phases: tuple[PhaseTable, ...]
    sets: tuple[WorkingSet, ...]
    notes: tuple[str, ...] = ()

    @cached_property
    def beside(self) -> tuple[frozenset[int], ...]:
        """For each operator, the operators that may be loaded and used in any order with it."""
        every = range(len(self.operators))
        return tuple(
            frozenset(b for b in every if not in_order(self.operators[a].place, self.operators[b].place)) for a in every
        )

    @cached_property
    def marked(self) -> tuple[frozenset[Pair], ...]:
        """For each operator, the connections on which its messages begin with a mark."""
        return tuple(frozenset(one.marked) for one in self.operators)

    @property
    def ports(self) -> int:
        return self.shape.ports

    @property
    def slots(self) -> int:
        return self.shape.slots
