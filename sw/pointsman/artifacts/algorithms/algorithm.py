"""A collective algorithm as the actions of its ranks in an order in which they can be carried out, and what its ranks must end
with.

Buffers are "i" (input), "o" (output) and "s" (scratch), of chunks. In place, they are one buffer, or one is a part of the other
(`Buffers.home`). A message has the number of its place in the order; what arrives by it is the buffer "m" at that number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, get_args

import msgspec

from pointsman.errors import PointsmanError

Collective = Literal["allgather", "allreduce", "reducescatter", "alltoall", "broadcast", "reduce", "sendrecv"]
COLLECTIVES: tuple[Collective, ...] = get_args(Collective)
MAX_RANKS = 4096
MAX_CHUNKS = 1_000_000
"""Chunks of all buffers of all ranks together."""
Place = tuple[str, int]
"""Buffer and chunk; of "m" the number of a message."""
Chunk = frozenset[int]
"""What a chunk is made of: rank times chunks of its input, plus the input chunk, of each input that was added up."""


class Action(msgspec.Struct, frozen=True, array_like=True, gc=False, forbid_unknown_fields=True):
    """What a rank does: add up the ``count`` chunks from each of ``operands``, and keep them at ``into``, or send them if that is
    "m". ``step`` names the step in the file, for messages."""

    rank: int
    operands: tuple[Place, ...]
    into: Place
    count: int
    step: str


class Message(msgspec.Struct, frozen=True, array_like=True, gc=False, forbid_unknown_fields=True):
    """``count`` chunks from a rank to another."""

    source: int
    destination: int
    count: int


@dataclass(frozen=True)
class Buffers:
    """Chunks of each rank's input, output and scratch buffer. ``in_place``: see the module."""

    inputs: int
    outputs: int
    scratch: int
    in_place: bool = False

    def home(self, collective: Collective, rank: int, place: Place) -> Place:
        """Where a chunk stands: in place, the input is a part of the output of an allgather, and the output of a reducescatter
        a part of the input; otherwise the input is the output."""
        name, at = place
        if not self.in_place or name not in "io":
            return place
        if collective == "allgather":
            return ("o", at + rank * self.inputs) if name == "i" else place
        if collective == "reducescatter":
            return ("i", at + rank * self.outputs) if name == "o" else place
        return "o", at


@dataclass(frozen=True)
class Algorithm:
    """A collective on ``ranks`` ranks, as ``actions`` in an order that can be carried out.

    ``root`` is that of a broadcast or reduce; ``distance``: how many ranks on the input of each rank goes in a sendrecv.
    """

    name: str
    collective: Collective
    ranks: int
    buffers: Buffers
    messages: tuple[Message, ...]
    actions: tuple[Action, ...]
    root: int = 0
    distance: int = 1

    def inputs(self, rank: int) -> dict[Place, Chunk]:
        """What stands in the buffers of a rank at the beginning."""
        count = self.buffers.inputs
        if self.collective == "broadcast" and rank != self.root:
            return {}
        return {self.buffers.home(self.collective, rank, ("i", k)): frozenset([rank * count + k]) for k in range(count)}

    def wanted(self, rank: int) -> dict[Place, Chunk]:
        """What a rank must have at the end, by output chunk."""
        count, ranks = self.buffers.inputs, range(self.ranks)
        if self.collective == "reduce" and rank != self.root:
            return {}
        outputs: list[Chunk]
        match self.collective:
            case "allgather":
                outputs = [frozenset([k]) for k in range(self.ranks * count)]
            case "allreduce" | "reduce":
                outputs = [frozenset(q * count + k for q in ranks) for k in range(count)]
            case "broadcast":
                outputs = [frozenset([self.root * count + k]) for k in range(count)]
            case "reducescatter":
                part = count // self.ranks
                outputs = [frozenset(q * count + rank * part + k for q in ranks) for k in range(part)]
            case "sendrecv":
                q = (rank - self.distance) % self.ranks
                outputs = [frozenset([q * count + k]) for k in range(count)]
            case "alltoall":
                part = count // self.ranks
                outputs = [frozenset([q * count + rank * part + k]) for q in ranks for k in range(part)]
        return {self.buffers.home(self.collective, rank, ("o", k)): chunk for k, chunk in enumerate(outputs)}


def check_sizes(collective: str, ranks: int, buffers: Buffers) -> Collective:
    """The collective, if it is known and its buffers have the sizes that it needs.

    Raises
    ------
    PointsmanError
        Otherwise.
    """
    found = next((one for one in COLLECTIVES if one == collective.lower().replace("_", "").replace("-", "")), None)
    if found is None:
        raise PointsmanError(
            f"a collective must be {', '.join(COLLECTIVES[:-1])} or {COLLECTIVES[-1]}, not {collective[:40]!r}"
        )
    if not 1 <= ranks <= MAX_RANKS:
        raise PointsmanError(f"an algorithm must have 1 to {MAX_RANKS} ranks, not {ranks}")
    held = ranks * (buffers.inputs + buffers.outputs + buffers.scratch)
    if min(buffers.inputs, buffers.outputs) < 0 or held > MAX_CHUNKS:
        raise PointsmanError(f"all ranks together must have 0 to {MAX_CHUNKS} chunks, not {held}")
    outputs = {
        "allgather": ranks * buffers.inputs,
        "reducescatter": buffers.inputs // ranks,
    }.get(found, buffers.inputs)
    if found in ("reducescatter", "alltoall") and buffers.inputs % ranks:
        raise PointsmanError(f"the {buffers.inputs} input chunks of a {found} cannot be divided among {ranks} ranks")
    if buffers.outputs < outputs and not (buffers.in_place and found != "allgather"):
        raise PointsmanError(
            f"the output of a {found} with {buffers.inputs} input chunks on {ranks} ranks must have {outputs} chunks, "
            f"not {buffers.outputs}"
        )
    return found


def sizes_in_place(collective: str, ranks: int, inputs: int, outputs: int) -> tuple[int, int]:
    """Input and output chunks of an algorithm in place. Files differ in which of the two buffers they say to be there when they
    are the same."""
    name = collective.lower().replace("_", "").replace("-", "")
    if name == "allgather":
        part = inputs if inputs and inputs * ranks <= max(outputs, inputs) else max(inputs, outputs) // ranks
        return part, part * ranks
    if name == "reducescatter":
        return max(inputs, outputs), max(inputs, outputs) // ranks
    return max(inputs, outputs), max(inputs, outputs)


def checked_both_ways(play: Callable[[bool], Algorithm]) -> Algorithm:
    """What ``play(False)`` makes of thread blocks that run side by side, if that and ``play(True)``, in which they take their
    turns in the opposite order, both do their collective. Only one of the two is kept at a time.

    Raises
    ------
    PointsmanError
        Of the first order if both are wrong.
    """
    fault: PointsmanError | None = None
    try:
        check_algorithm(play(True))
    except PointsmanError as error:
        fault = error
    found = play(False)
    check_algorithm(found)
    if fault is not None:
        raise fault
    return found


def with_distance(algorithm: Algorithm) -> Algorithm:
    """A sendrecv with the distance that its chunks go, for files that do not say it: that of the first output chunk of rank 0.

    Raises
    ------
    PointsmanError
        As `check_algorithm`, but not for chunks that end wrong.
    """
    place = algorithm.buffers.home(algorithm.collective, 0, ("o", 0))
    chunk = _carried_out(algorithm)[0].get(place, frozenset([0]))
    source = min(chunk) // max(1, algorithm.buffers.inputs)
    return replace(algorithm, distance=-source % algorithm.ranks or 1)


def check_algorithm(algorithm: Algorithm) -> None:
    """Carry out an algorithm with what chunks are made of in place of their values.

    Raises
    ------
    PointsmanError
        With the step that reads what is not there or adds an input up twice, or with the rank and the chunk that end wrong and
        the step that wrote it last.
    """
    for rank, mine in enumerate(_carried_out(algorithm)):
        for place, chunk in algorithm.wanted(rank).items():
            if mine.get(place) != chunk:
                last = _last_writer(algorithm, rank, place)
                told = f"; {last} wrote it last" if last else "; no step writes it"
                found = "is not there" if place not in mine else f"is {_made_of(mine[place], algorithm)}"
                raise PointsmanError(
                    f"rank {rank}: at the end {place[0]}[{place[1]}] {found}, and must be {_made_of(chunk, algorithm)}{told}"
                )


def _carried_out(algorithm: Algorithm) -> list[dict[Place, Chunk]]:
    """What stands in the buffers of each rank at the end."""
    held = [algorithm.inputs(rank) for rank in range(algorithm.ranks)]
    under_way: dict[int, list[Chunk]] = {}
    reads = [0] * len(algorithm.messages)  # that are to come, so that chunks of messages are not kept longer
    for action in algorithm.actions:
        for name, at in action.operands:
            if name == "m":
                reads[at] += 1
    for action in algorithm.actions:
        mine, rank = held[action.rank], action.rank
        outcome = []
        for offset in range(action.count):
            total: Chunk = frozenset()
            for name, at in action.operands:
                if name == "m":
                    chunk: Chunk | None = under_way[at][offset] if at in under_way else None
                else:
                    chunk = mine.get(algorithm.buffers.home(algorithm.collective, rank, (name, at + offset)))
                if chunk is None:
                    raise PointsmanError(f"{action.step} reads {name}[{at + offset}], in which there is nothing yet")
                if twice := total & chunk:
                    q, k = divmod(min(twice), max(1, algorithm.buffers.inputs))
                    raise PointsmanError(f"{action.step} adds input chunk {k} of rank {q} twice")
                total |= chunk
            outcome.append(total)
        for name, at in action.operands:
            if name == "m":
                reads[at] -= 1
                if not reads[at]:
                    under_way.pop(at, None)
        if action.into[0] == "m":
            under_way[action.into[1]] = outcome
            continue
        for offset, chunk in enumerate(outcome):
            place = algorithm.buffers.home(algorithm.collective, rank, (action.into[0], action.into[1] + offset))
            mine[place] = chunk
    return held


def _last_writer(algorithm: Algorithm, rank: int, place: Place) -> str | None:
    """The step of a rank that wrote a place last."""
    for action in reversed(algorithm.actions):
        name, at = action.into
        if action.rank == rank and name != "m":
            for offset in range(action.count):
                if algorithm.buffers.home(algorithm.collective, rank, (name, at + offset)) == place:
                    return action.step
    return None


def _made_of(chunk: Chunk, algorithm: Algorithm) -> str:
    count = max(1, algorithm.buffers.inputs)
    named = [f"input {k % count} of rank {k // count}" for k in sorted(chunk)[:3]]
    return " + ".join(named) + (f" + {len(chunk) - 3} more" if len(chunk) > 3 else "")
