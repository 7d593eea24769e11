"""Collective algorithms of others as applications: every message a stream, and every rank's actions in the order of the
algorithm.

The streams are in the order in which the algorithm sends. A node loads them one after the other, writes what it sends and
reads what is for it, so nobody waits for a message that comes later. Which chunk a message brings is worked out while
it runs, and what every rank ends with is compared with the collective, computed by NumPy.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np

from pointsman.artifacts.algorithms.algorithm import Action, Algorithm, Place
from pointsman.artifacts.algorithms.file import algorithm_from
from pointsman.cop import Network, Parts, sequential, stream
from pointsman.errors import PointsmanError
from pointsman.network import Topology

from .api.application import Application, WrongAnswer
from .api.node import Node

MAX_WORDS = 65_536


class AlgorithmApplication(Application):
    """Runs ``algorithm``, the text of a file that ``pointsman import msccl`` writes; rank k is node k."""

    algorithm: str

    @classmethod
    def options(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--words", type=int, default=4, help="words of a chunk (default 4)")

    def __init__(self, options: argparse.Namespace, topology: Topology) -> None:
        super().__init__(options, topology)
        self.made: Algorithm = algorithm_from(self.algorithm)
        if topology.nodes < self.made.ranks:
            raise PointsmanError(
                f"{self.made.ranks} ranks need {self.made.ranks} nodes, not the {topology.nodes} of {topology}"
            )
        if not 1 <= options.words <= MAX_WORDS:
            raise PointsmanError(f"--words must be 1 to {MAX_WORDS}, not {options.words}")
        self.words = options.words

    def program(self, network: Network) -> Parts:
        return sequential(*messages_of(self.made, self.words))

    def chunks(self, rank: int) -> np.ndarray:
        """The input of a rank: a row of words a chunk."""
        rng = np.random.default_rng(1 + rank)
        return rng.integers(0, 1 << 20, (self.made.buffers.inputs, self.words)).astype(np.int32)

    async def main(self, node: Node) -> Any:
        if node.number >= self.made.ranks:
            for number in range(len(self.made.messages)):
                await getattr(node.cop, f"m{number}_load")()
            return {}
        return await carried_out(self.made, node, self.chunks(node.number))

    def check(self, results: Sequence[Any]) -> str:
        inputs = [self.chunks(rank) for rank in range(self.made.ranks)]
        count = max(1, self.made.buffers.inputs)
        checked = 0
        for rank in range(self.made.ranks):
            for place, parts in self.made.wanted(rank).items():
                right = np.sum([inputs[k // count][k % count] for k in sorted(parts)], axis=0, dtype=np.int64)
                found = results[rank].get(place)
                if found is None or found != right.tolist():
                    raise WrongAnswer(f"rank {rank}: {place[0]}[{place[1]}] is {found}, and must be {right.tolist()}")
                checked += 1
        return f"{checked} chunks of {self.words} words of the {self.made.collective} are right"


def messages_of(algorithm: Algorithm, words: int) -> list[Any]:
    """A stream for each message, in their order."""
    return [
        stream(f"m{number}", one.source, one.destination, m=one.count * words)
        for number, one in enumerate(algorithm.messages)
    ]


async def carried_out(algorithm: Algorithm, node: Node, chunks: np.ndarray) -> dict[Place, list[int]]:
    """The actions of a rank; gives what stands in its buffers at the end."""
    rank, words = node.number, chunks.shape[1]
    held: dict[Place, np.ndarray] = {}

    def home(name: str, at: int) -> Place:
        return algorithm.buffers.home(algorithm.collective, rank, (name, at))

    held = {place: chunks[next(iter(made)) % len(chunks)] for place, made in algorithm.inputs(rank).items()}
    inbox: dict[int, np.ndarray] = {}

    def outcome(action: Action) -> np.ndarray:
        total = np.zeros((action.count, words), np.int32)
        for name, at in action.operands:
            total += inbox[at] if name == "m" else np.array([held[home(name, at + k)] for k in range(action.count)])
        return total

    for action in algorithm.actions:
        name, at = action.into
        if name != "m":
            if action.rank == rank:
                for k, chunk in enumerate(outcome(action)):
                    held[home(name, at + k)] = chunk
            continue
        message = algorithm.messages[at]
        # Of all nodes: some pass the words on, and all have to leave the phase before.
        await getattr(node.cop, f"m{at}_load")()
        if rank == message.source:
            await getattr(node.cop, f"m{at}_write")(outcome(action).reshape(-1))
        elif rank == message.destination:
            inbox[at] = np.array(await getattr(node.cop, f"m{at}_read")()).reshape(message.count, words)
    return {place: chunk.tolist() for place, chunk in held.items()}
