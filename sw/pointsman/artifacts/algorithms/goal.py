"""An algorithm as GOAL text (Hoefler, Siebert and Lumsdaine 2009): sends and receives of every rank, and what each waits for."""

from __future__ import annotations

from pointsman.errors import PointsmanError

from .algorithm import Algorithm, Place

MOST_BYTES = 1 << 53
"""Most of a message: what our own reader of traces takes, and others with numbers of 64 bits do, too."""


def check_messages(algorithm: Algorithm, chunk_bytes: int) -> None:
    """Are there messages, none of which is too long for a schedule or a trace?

    Raises
    ------
    PointsmanError
        If not.
    """
    if not algorithm.messages:
        raise PointsmanError("the algorithm has no messages, so there is nothing to write")
    number, longest = max(enumerate(algorithm.messages), key=lambda one: one[1].count)
    if longest.count * chunk_bytes > MOST_BYTES:
        raise PointsmanError(
            f"messages[{number}] has {longest.count} chunks of {chunk_bytes} bytes, and a message has at most {MOST_BYTES}",
            hint="fewer --words",
        )


def receives_before(algorithm: Algorithm) -> list[frozenset[int]]:
    """For each message, the messages whose chunks it sends on or adds up."""
    # By rank and place, the messages whose words are in a chunk.
    made_of: list[dict[Place, frozenset[int]]] = [{} for _ in range(algorithm.ranks)]
    before = [frozenset[int]()] * len(algorithm.messages)
    for action in algorithm.actions:
        held, rank = made_of[action.rank], action.rank

        def home(name: str, at: int, rank: int = rank) -> Place:
            return algorithm.buffers.home(algorithm.collective, rank, (name, at))

        came = [
            frozenset().union(
                *(
                    frozenset([at]) if name == "m" else held.get(home(name, at + k), frozenset())
                    for name, at in action.operands
                )
            )
            for k in range(action.count)
        ]
        name, at = action.into
        if name == "m":
            before[at] = frozenset().union(*came)
        else:
            held.update({home(name, at + k): one for k, one in enumerate(came)})
    return before


def goal_text(algorithm: Algorithm, *, chunk_bytes: int) -> str:
    """The schedule: a send waits for the receives whose chunks it sends on or adds up. The tag is the number of the message.

    Raises
    ------
    PointsmanError
        If there are no messages.
    """
    check_messages(algorithm, chunk_bytes)
    ranks: list[list[str]] = [[] for _ in range(algorithm.ranks)]
    needs: list[list[str]] = [[] for _ in range(algorithm.ranks)]
    before = receives_before(algorithm)
    for action in algorithm.actions:
        name, at = action.into
        if name != "m":
            continue
        message, rank = algorithm.messages[at], action.rank
        size = message.count * chunk_bytes
        ranks[rank].append(f"s{at}: send {size}b to {message.destination} tag {at}")
        ranks[message.destination].append(f"r{at}: recv {size}b from {rank} tag {at}")
        needs[rank] += [f"s{at} requires r{one}" for one in sorted(before[at])]
    parts = [f"num_ranks {algorithm.ranks}\n"]
    parts += ["\n".join([f"rank {rank} {{", *lines, *needs[rank], "}"]) + "\n" for rank, lines in enumerate(ranks)]
    return "\n".join(parts)
