"""Phases of a program with their configurations on an optical network, beside those of a crossbar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pointsman.artifacts.configurations.configurations import Configurations, ConnectionProblem, Kind, Network
from pointsman.artifacts.tables.tables import WorkingSet
from pointsman.connections import configure
from pointsman.errors import PointsmanError
from pointsman.operators.messages.crossbar import use_of, ways
from pointsman.plan.structure.structure import outline
from pointsman.program.program import Program
from pointsman.targets.tdm import make_tables
from tdm_switch.shape import SwitchShape


@dataclass(frozen=True)
class ConfiguredPhase:
    """A phase of the program.

    Parameters
    ----------
    name : str
    operators : tuple of (str, str)
        Labels, and how each is done.
    sets : tuple of int
        The sets of connections that it uses, one for each run-time value if these have sets of their own.
    slots : float
        Slots that its messages take in all its calls, as predicted: a word a slot, each connection once in a frame.
    """

    name: str
    operators: tuple[tuple[str, str], ...]
    sets: tuple[int, ...]
    slots: float


@dataclass(frozen=True)
class OpticalProgram:
    """A program for an optical network.

    Parameters
    ----------
    sets : tuple of Configurations
        For each set of connections its configurations.
    crossbar : tuple of int
        For each set, configurations that it takes on a crossbar.
    """

    name: str
    parameters: tuple[tuple[str, int], ...]
    network: Network
    phases: tuple[ConfiguredPhase, ...]
    sets: tuple[Configurations, ...]
    crossbar: tuple[int, ...]

    @property
    def degree(self) -> int:
        """Channels that the network must have: those of the largest set."""
        return max((one.degree for one in self.sets), default=0)

    @property
    def slots(self) -> float:
        """Predicted slots of all phases."""
        return sum(phase.slots for phase in self.phases)

    def as_dict(self) -> dict[str, Any]:
        """As ``pointsman compile --target optical -o`` writes it."""
        return {
            "name": self.name,
            "parameters": dict(self.parameters),
            "network": {"kind": self.network.kind, "size": list(self.network.size)},
            "degree": self.degree,
            "slots": round(self.slots, 6),
            "phases": [
                {
                    "name": phase.name,
                    "operators": dict(phase.operators),
                    "sets": list(phase.sets),
                    "slots": round(phase.slots, 6),
                }
                for phase in self.phases
            ],
            "sets": [
                {
                    "configurations": [[list(pair) for pair in part] for part in one.configurations],
                    "degree": one.degree,
                    "bound": one.bound,
                    "crossbar": crossbar,
                }
                for one, crossbar in zip(self.sets, self.crossbar, strict=True)
            ],
        }


def make_optical(program: Program, *, name: str = "program", seed: int = 0) -> OpticalProgram:
    """Compile a program for the optical network that its topology is.

    Raises
    ------
    PointsmanError
        If the network is no mesh or torus, or has faults.
    """
    topology = program.topology
    if not topology.regular:
        raise PointsmanError(
            f"target optical is for meshes and tori, not for a {topology.described}",
            hint="--mesh 4x4 or --topology torus:4x4",
        )
    kind: Kind = "torus" if topology.kind == "torus" else "mesh"
    network = Network(kind, topology.size)
    tables = make_tables(program, SwitchShape(ports=topology.nodes), name=name)
    sets = tuple(
        configure(ConnectionProblem(network, tuple(sorted((u, v) for u, v in one.pairs if u != v))), seed=seed)
        for one in tables.sets
    )
    phases = []
    for number, (table, outlined) in enumerate(zip(tables.phases, outline(program).phases, strict=True)):
        degree = max((sets[one].degree for one in table.sets), default=0)
        operators = [one for one in tables.operators if one.phase == number]
        slots = 0.0
        for one in operators:
            use = use_of(
                next(way for way in ways(one.operator, topology) if way.decomposition.name == one.way), topology
            )
            once = max(use.words.values(), default=0.0) * degree + use.depth * (degree + 1) / 2
            slots += once * one.operator.c * outlined.loops
        phases.append(
            ConfiguredPhase(table.name, tuple((one.operator.label, one.way) for one in operators), table.sets, slots)
        )
    return OpticalProgram(
        name, program.parameters, network, tuple(phases), sets, tuple(_ports(one) for one in tables.sets)
    )


def _ports(one: WorkingSet) -> int:
    """Configurations of a set on a crossbar: connections of the busiest port."""
    sent: dict[int, int] = {}
    received: dict[int, int] = {}
    for u, v in one.pairs:
        if u != v:
            sent[u] = sent.get(u, 0) + 1
            received[v] = received.get(v, 0) + 1
    return max((*sent.values(), *received.values()), default=0)
