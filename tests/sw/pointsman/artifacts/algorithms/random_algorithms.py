"""Random algorithms that do their collective, of random sizes."""

from __future__ import annotations

from random import Random

from pointsman.artifacts.algorithms.algorithm import Action, Algorithm, Buffers, Message, Place, check_algorithm


def random_algorithm(random: Random) -> Algorithm:
    """An all-gather on 2 to 7 ranks, in place: chunks go from ranks that have them to ranks that have not, one to three at a time
    if they stand next to each other, until all are everywhere."""
    ranks, inputs = random.randrange(2, 8), random.randrange(1, 4)
    have = [set(range(rank * inputs, (rank + 1) * inputs)) for rank in range(ranks)]
    messages: list[Message] = []
    actions: list[Action] = []
    while missing := [(rank, k) for rank in range(ranks) for k in range(ranks * inputs) if k not in have[rank]]:
        rank, first = random.choice(missing)
        source = random.choice([other for other in range(ranks) if first in have[other]])
        count = 1
        while count < random.randrange(1, 4) and first + count in have[source]:
            count += 1
        message: Place = ("m", len(messages))
        messages.append(Message(source, rank, count))
        actions.append(Action(source, (("o", first),), message, count, f"send {len(actions)}"))
        actions.append(Action(rank, (message,), ("o", first), count, f"receive {len(actions)}"))
        have[rank] |= set(range(first, first + count))
    found = Algorithm(
        "random", "allgather", ranks, Buffers(inputs, ranks * inputs, 0, True), tuple(messages), tuple(actions)
    )
    check_algorithm(found)
    return found
