"""Collective algorithms of others as applications: rounds of messages, and every rank's actions before them.

Messages are carried out in rounds (`pointsman.artifacts.algorithms.rounds`), by streams, or by permutations where each rank
sends and takes one. Rounds that follow each other with the same operators are a loop. All nodes load the operators one after
the other, in the same order, write what they send and read what is for them, so nobody waits for a message that comes later.
Which chunks a message brings is worked out while it runs, and what every rank ends with is compared with the collective,
computed by NumPy.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from pointsman.artifacts.algorithms.algorithm import Action, Algorithm, Place
from pointsman.artifacts.algorithms.file import algorithm_from
from pointsman.artifacts.algorithms.rounds import Handover, Round, Transfer, rounds_of
from pointsman.cop import Network, Parts, cshift, loop, permute, sequential, stream
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
        self.rounds = labelled(rounds_of(self.made))

    def program(self, network: Network) -> Parts:
        return sequential(*operators_of(self.rounds, self.words, self.topology.nodes))

    def chunks(self, rank: int) -> np.ndarray:
        """The input of a rank: a row of words a chunk."""
        rng = np.random.default_rng(1 + rank)
        return rng.integers(0, 1 << 20, (self.made.buffers.inputs, self.words)).astype(np.int32)

    async def main(self, node: Node) -> Any:
        chunks = self.chunks(node.number) if node.number < self.made.ranks else np.zeros((0, self.words), np.int32)
        return await carried_out(self.made, self.rounds, node, chunks)

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


Labelled = list[tuple[Round, list[str]]]
"""Rounds, each with the labels of the operators of its handovers."""


def labelled(rounds: Sequence[Round]) -> Labelled:
    """Rounds that have the same handovers as the one before them have its operators."""
    found: Labelled = []
    count = 0
    for one in rounds:
        labels = [f"m{count + number}" for number in range(len(one.handovers))]
        if found and _ways(found[-1][0]) == _ways(one):
            labels = found[-1][1]
        else:
            count += len(labels)
        found.append((one, labels))
    return found


def _ways(one: Round) -> list[Any]:
    return [handover.way for handover in one.handovers]


def operators_of(rounds: Labelled, words: int, nodes: int) -> list[Any]:
    """The operators of rounds in their order, in a loop where several rounds have the same."""
    parts: list[Any] = []
    for labels, same in groupby(rounds, key=lambda one: one[1]):
        repeated = list(same)
        handovers = repeated[0][0].handovers
        own = [_operator(label, one, words, nodes) for label, one in zip(labels, handovers, strict=True)]
        if own and len(repeated) > 1:
            own = [loop(f"rounds_{labels[0]}", len(repeated), *own)]
        parts += own
    return parts


def _operator(label: str, handover: Handover, words: int, nodes: int) -> Any:
    """Nodes that are no ranks send to themselves."""
    m = handover.chunks * words
    if len(handover.transfers) == 1:
        return stream(label, handover.transfers[0].source, handover.transfers[0].destination, m=m)
    to = {one.source: one.destination for one in handover.transfers}
    distance = to[0]
    if all(to.get(node) == (node + distance) % nodes for node in range(nodes)):
        return cshift(label, distance, m=m)
    return permute(label, [to.get(node, node) for node in range(nodes)], m=m)


async def carried_out(algorithm: Algorithm, rounds: Labelled, node: Node, chunks: np.ndarray) -> dict[Place, list[int]]:
    """The rounds at a node, which need not be a rank; gives what stands in its buffers at the end."""
    rank, words = node.number, chunks.shape[1]
    inputs = algorithm.inputs(rank) if len(chunks) else {}
    held = {place: chunks[next(iter(made)) % len(chunks)] for place, made in inputs.items()}
    inbox: dict[int, np.ndarray] = {}

    def home(name: str, at: int) -> Place:
        return algorithm.buffers.home(algorithm.collective, rank, (name, at))

    def outcome(action: Action) -> np.ndarray:
        total = np.zeros((action.count, words), np.int32)
        for name, at in action.operands:
            total += inbox[at] if name == "m" else np.array([held[home(name, at + k)] for k in range(action.count)])
        return total

    for one, labels in rounds:
        outbox: dict[int, np.ndarray] = {}
        for action in one.work.get(rank, ()):
            name, at = action.into
            if name == "m":
                outbox[at] = outcome(action)
                continue
            for k, chunk in enumerate(outcome(action)):
                held[home(name, at + k)] = chunk
        for label, handover in zip(labels, one.handovers, strict=True):
            # Of all nodes: some pass the words on, and all have to leave the phase before.
            await getattr(node.cop, f"{label}_load")()
            size = handover.chunks, words
            mine = next((one for one in handover.transfers if one.source == rank), None)
            news = next((one for one in handover.transfers if one.destination == rank), None)
            message = np.zeros(size, np.int32) if mine is None else _together(outbox, mine)
            if len(handover.transfers) > 1:
                came = np.array(await getattr(node.cop, f"{label}_func")(message.reshape(-1))).reshape(size)
            elif mine is not None:
                await getattr(node.cop, f"{label}_write")(message.reshape(-1))
            elif news is not None:
                came = np.array(await getattr(node.cop, f"{label}_read")()).reshape(size)
            for number in () if news is None else news.messages:
                count = algorithm.messages[number].count
                inbox[number], came = came[:count], came[count:]
    return {place: chunk.tolist() for place, chunk in held.items()}


def _together(outbox: Mapping[int, np.ndarray], transfer: Transfer) -> np.ndarray:
    return np.concatenate([outbox[number] for number in transfer.messages])
