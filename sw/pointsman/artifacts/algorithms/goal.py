"""An algorithm as GOAL text (Hoefler, Siebert and Lumsdaine 2009): sends and receives of every rank, and what each waits for."""

from __future__ import annotations

from .algorithm import Algorithm, Place


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
    """The schedule: a send waits for the receives whose chunks it sends on or adds up. The tag is the number of the message."""
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
