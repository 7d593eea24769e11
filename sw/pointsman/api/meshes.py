"""``fem`` and ``solve``: a mesh over processors, the phases of its exchange, and conjugate gradients on machines; the command
``fem`` is this."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pointsman.errors import PointsmanError
from pointsman.files import is_file

from .judged import judge_phases
from .options import network_from

if TYPE_CHECKING:
    import networkx

    from pointsman.artifacts.channels.channels import PhasedConnections
    from pointsman.fem.exchange import HaloExchange
    from pointsman.fem.poisson import Poisson
    from pointsman.network import Topology

MACHINES = ("numesh", "tdm", "packet", "optical", "iwarp")
"""What conjugate gradients run on; an optical torus is played by a switch (`pointsman.api.targets.optical`)."""
PERIOD = 32
"""Slots of the schedule on scheduled routers unless told: with a division into phases from outside there is little to choose."""
EFFORT = 0.05


class Fem:
    """A mesh over processors: exchange, phases, and runs so far."""

    def __init__(self, exchange: HaloExchange, answer: PhasedConnections) -> None:
        self.exchange, self.answer = exchange, answer
        self.runs: dict[str, dict[str, Any]] = {}

    def as_dict(self) -> dict[str, Any]:
        """What ``pointsman fem --json`` writes: the phases as of ``pointsman channels``, with the parts."""
        import numpy as np

        exchange, words = self.exchange, self.exchange.halo.words()
        degree = (words > 0).sum(axis=1)
        sizes = np.bincount(exchange.part_of)
        return {
            "mesh": {
                "nodes": len(exchange.mesh.points),
                "elements": len(exchange.mesh.elements),
                "points": exchange.mesh.points.tolist(),
                "corners": exchange.mesh.elements.tolist(),
            },
            "network": {"kind": exchange.topology.kind, "size": list(exchange.topology.size)},
            "parts": {
                "count": exchange.halo.parts,
                "elements": [int(sizes.min()), int(sizes.max())],
                "words": [int(words.sum(axis=1).min()), int(words.sum(axis=1).max())],
                "degree": int(degree.max()),
                "node_of": exchange.node_of.tolist(),
                "part_of": exchange.part_of.tolist(),
            },
            "placement": {"before": exchange.before, "after": exchange.after},
            "exchange": self.answer.as_dict(),
            "runs": self.runs,
        }


def fem(
    mesh: Path | str,
    parts: int,
    topology: Topology | networkx.Graph | str,
    *,
    channels: int = 12,
    method: str = "metis",
    seed: int = 0,
) -> Fem:
    """Cut a mesh into parts, place them on a network, and find phases for the exchange of their halos; the phases are judged.

    Parameters
    ----------
    mesh : path or str
        A mesh file, or a generator such as "plate:20x20" (`pointsman.fem.generators`).
    channels : int
        Logical channels of a node.
    method : str
        "metis" or "bisection".

    Raises
    ------
    PointsmanError
        If the mesh or an argument is wrong, or the parts do not fit.
    """
    from pointsman.connections.channels import divide
    from pointsman.fem.exchange import exchange_of
    from pointsman.fem.generators import GENERATORS, generated
    from pointsman.fem.mesh import read_mesh

    topology = network_from(topology)
    if not 0 <= seed < 1 << 32:
        raise PointsmanError(f"a seed must be 0 to 2^32 - 1, not {seed}")
    text = str(mesh)
    kind, colon, _ = text.partition(":")
    made = generated(text) if colon and kind in GENERATORS and not is_file(Path(text)) else read_mesh(Path(text))
    exchange = exchange_of(made, parts, topology, channels=channels, words=2, method=method, seed=seed)
    answer = divide(exchange.problem, seed=seed)
    judge_phases(answer)
    return Fem(exchange, answer)


def solve(
    work: Fem,
    machines: Sequence[str] = MACHINES[:1],
    *,
    tolerance: float = 1e-10,
    rounds: int | None = None,
    **options: Any,
) -> None:
    """Solve Poisson's equation by conjugate gradients on each machine, into ``work.runs``.

    Parameters
    ----------
    tolerance : float
        Of the residual; says how many rounds there are unless ``rounds`` does.
    options
        Of `pointsman.run` on scheduled routers.

    Raises
    ------
    PointsmanError
        If there is no such machine, or a run fails.
    """
    from pointsman.fem.poisson import poisson

    for machine in machines:
        if machine not in MACHINES:
            raise PointsmanError(f"there is no machine '{machine}'", hint=f"known are {', '.join(MACHINES)}")
    if rounds is not None and not 1 <= rounds <= 100_000:
        raise PointsmanError(f"there must be 1 to 100000 rounds, not {rounds}")
    system = poisson(work.exchange)
    turns = system.rounds(tolerance) if rounds is None else rounds
    for machine in machines:
        if machine == "iwarp":
            work.runs[machine] = _on_channels(work, system, turns)
        else:
            work.runs[machine] = _on_target(work, system, turns, machine, options)


def _on_target(work: Fem, system: Poisson, rounds: int, target: str, options: dict[str, Any]) -> dict[str, Any]:
    from pointsman.fem.gradients import GradientsApplication

    from .running import run

    application = GradientsApplication(work.exchange, work.answer, system, rounds)
    chosen = {"period": PERIOD, "effort": EFFORT, **options} if target == "numesh" else {}
    done = run(application, target=target, **chosen)
    taken = sorted(application.exchange_cycles)
    return {
        "correct": done.correct,
        "answer": done.values["answer"],
        "rounds": rounds,
        "cycles": done.total_cycles,
        "exchange_cycles": taken[len(taken) // 2],
    }


def _on_channels(work: Fem, system: Poisson, rounds: int) -> dict[str, Any]:
    """On the machine with logical channels, whose words are whole numbers of 64 bits: half as many."""
    from collections import Counter
    from dataclasses import replace

    from cosim.iwarp.exchanges import measured
    from cosim.iwarp.machine import ChannelMachine
    from cosim.iwarp.session import ChannelSession
    from pointsman.connections.channels import divide
    from pointsman.fem.gradients import cell_program, compared
    from pointsman.runtime.api.application import WrongAnswer

    exchange = work.exchange
    demands = tuple(replace(one, words=one.words // 2) for one in exchange.problem.connections)
    answer = divide(replace(exchange.problem, connections=demands))
    judge_phases(answer)
    program, phases = cell_program(exchange, answer, system, rounds)
    used = Counter(node for path in phases["sum"].values() for node in path)
    channels = max(exchange.problem.channels, *used.values(), 1)
    machine = ChannelMachine(exchange.topology, channels=channels, costs=answer.problem.costs)
    done = ChannelSession(machine, phases).run(program)
    try:
        text, correct = compared(exchange, system, [done.returned[int(n)] for n in exchange.node_of], rounds), True
    except WrongAnswer as error:
        text, correct = str(error), False
    return {
        "correct": correct,
        "answer": text,
        "rounds": rounds,
        "cycles": done.clocks,
        "predicted_exchange": answer.predicted,
        "exchange_cycles": measured(exchange.topology, answer).clocks,
    }


def picture(work: Fem, path: Path) -> None:
    """Draw parts and phases into a file: .svg, .png or .pdf.

    Raises
    ------
    PointsmanError
        If the file has another ending or cannot be written.
    """
    from pointsman.report.figures.parts_plot import plot_parts

    mesh = work.exchange.mesh
    plot_parts(mesh.points, mesh.elements, work.exchange.part_of, work.exchange.node_of, work.answer, path)


def fem_text(work: Fem) -> str:
    """OUT.json as text."""
    return json.dumps(work.as_dict()) + "\n"
