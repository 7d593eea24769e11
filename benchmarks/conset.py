"""Phased connections and messages on a machine with logical channels: the experiments of Feldmann, Stricker and Warfel 1993.

    python benchmarks/conset.py > benchmarks/results/conset.json

Patterns of Tables 1 to 3 on a torus of 64 cells, predicted and on the cycle model, and finite-element meshes of the sizes of
Table 4. Their meshes are not published; ours are generated (docs/fem.md) with about as many
nodes and elements. Five minutes of processor time.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from cosim.iwarp.exchanges import measured, measured_messages, problem_of
from pointsman.artifacts.channels.channels import ChannelCosts, ChannelProblem
from pointsman.connections.channels import divide
from pointsman.connections.channels.messages import predicted_messages
from pointsman.connections.channels.patterns import NAMES, pattern
from pointsman.fem.exchange import exchange_of
from pointsman.fem.generators import generated
from pointsman.fem.poisson import poisson
from pointsman.network import mesh, torus

SIZE = (8, 8)
WORDS = (32, 256, 2048, 16384)
MOST_APR = 2048
"""Words up to which their own algorithm's phases and timetables run, too."""
MESHES = {"m11k": "random:11000:1", "c10k": "crack:10240:1", "c100k": "crack:105000:1", "q20k": "basin:50x20x20"}
"""In place of theirs; 20,000 elements with 22,451 nodes, as q20k has, are hexahedra."""
ROUNDS = (8, 10, 13, 16, 20)
"""Hexahedra along each side of basins on which rounds of conjugate gradients are counted."""


def patterns() -> list[dict[str, Any]]:
    """Rows of Tables 1 to 3."""
    network, rows = torus(*SIZE), []
    for name in NAMES:
        for words in WORDS:
            demands = pattern(name, SIZE, words)
            answer = divide(problem_of(network, demands))
            row: dict[str, Any] = {
                "pattern": name,
                "words": words,
                "phases": len(answer.phases),
                "bound": answer.bound,
                "transfers": answer.predicted - 528 * len(answer.phases),
                "connections_predicted": answer.predicted,
                "messages_predicted": predicted_messages(demands, ChannelCosts()),
            }
            print(f"{name}, {words} words …", file=sys.stderr)
            # All-to-all in random order, as theirs; the others in the steps that butterflies and neighbours take.
            steps = name != "all-to-all"
            row["connections"] = measured(network, answer).clocks
            if words <= MOST_APR:
                row["connections_apr"] = measured(network, divide(problem_of(network, demands), algorithm="apr")).clocks
            row["messages"] = measured_messages(
                network, demands, ChannelCosts(), None if steps else 0, steps=steps
            ).clocks
            rows.append(row)
    return rows


def others() -> dict[str, Any]:
    """Phases as published, with 16 channels, and without back loops."""
    network = torus(*SIZE)
    found: dict[str, Any] = {}
    for name, channels in (("torus", 12), ("hypercube", 12), ("hypercube", 16), ("all-to-all", 12)):
        problem = ChannelProblem(network, channels, pattern(name, SIZE, 1))
        found[f"{name}, {channels} channels"] = {
            "apr": len(divide(problem, algorithm="apr").phases),
            "best": len(divide(problem).phases),
        }
    around = pattern("all-to-all", SIZE, 128)
    closed, surface = (measured(one, divide(problem_of(one, around))).clocks for one in (network, mesh(*SIZE)))
    return {"phases": found, "surface": {"torus": closed, "mesh": surface}}


def meshes() -> list[dict[str, Any]]:
    """Rows of Tables 4 and 6."""
    rows = []
    for name, text in MESHES.items():
        print(f"{name} …", file=sys.stderr)
        exchange = exchange_of(generated(text), 64, torus(*SIZE))
        words, sizes = exchange.halo.words(), np.bincount(exchange.part_of)
        answer = divide(exchange.problem)
        demands, costs = exchange.problem.connections, exchange.problem.costs
        rows.append(
            {
                "mesh": name,
                "generator": text,
                "nodes": len(exchange.mesh.points),
                "elements": len(exchange.mesh.elements),
                "elements_per_part": [int(sizes.min()), int(sizes.max())],
                "words_per_part": [int(words.sum(axis=1).min()), int(words.sum(axis=1).max())],
                "spread": int(words.max() // words[words > 0].min()),
                "degree": int((words > 0).sum(axis=1).max()),
                "phases": len(answer.phases),
                "phases_apr": len(divide(exchange.problem, algorithm="apr").phases),
                "bound": answer.bound,
                "placement": [exchange.before, exchange.after],
                "connections_predicted": answer.predicted,
                "connections": measured(exchange.topology, answer).clocks,
                "messages_predicted": predicted_messages(demands, costs),
                "messages": measured_messages(exchange.topology, demands, costs).clocks,
            }
        )
    return rows


def rounds() -> dict[str, int]:
    """Rounds of conjugate gradients by mesh nodes, to a residual of 1e-6."""
    systems = [poisson(exchange_of(generated(f"basin:{n}x{n}x{n}"), 1, mesh(1, 1))) for n in ROUNDS]
    return {str(len(system.load)): system.rounds(1e-6) for system in systems}


if __name__ == "__main__":
    print(json.dumps({"patterns": patterns(), **others(), "meshes": meshes(), "rounds": rounds()}, indent=1))
