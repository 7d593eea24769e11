"""Trees of fixed shape put into slots: each word may start in any slot, and no two may use a link or port at once.

Words are placed one after the other in a slot that is free of conflicts. If there is none, a word takes the slot with the
fewest, weighted by how
often their owners have been thrown out, and throws the owners out (ejection). Work is counted, and periods are tried upwards.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pointsman.routing.errors import RoutingError

Cells = np.ndarray
"""Of a word: resources (column 0), and slots after its start in which it uses them (column 1)."""


STEP = 20_000
"""Cells that might be looked at while a word is chosen and put down."""


def pack(
    words: Sequence[Cells],
    resources: int,
    least: int,
    *,
    most: int | None = None,
    seed: int = 0,
    work: int = 30_000_000,
) -> tuple[int, list[int]] | None:
    """A period of at least ``least`` slots, and a start for each word; None if ``most`` slots are too few.

    ``work``: cells to be looked at in each period before the next longer one is tried.
    """
    total = sum(len(cells) for cells in words)
    period, step = least, 1
    while period <= (2 * least + total if most is None else most):
        starts = _try(words, resources, period, np.random.default_rng([seed, period]), work)
        if starts is not None:
            return period, starts
        period += step
        step = max(1, (period - least) // 4)
    if most is None:
        raise RoutingError("no schedule was found")
    return None


def _try(
    words: Sequence[Cells], resources: int, period: int, chance: np.random.Generator, work: int
) -> list[int] | None:
    for cells in words:
        if len(np.unique(cells[:, 0] * period + cells[:, 1] % period)) < len(cells):
            return None  # a word would meet itself
    owner = np.full((resources, period), -1, np.int32)
    weight = np.ones(len(words) + 1)
    weight[-1] = 0.0  # of a free cell
    starts = [-1] * len(words)
    slots = np.arange(period)
    waiting = sorted(range(len(words)), key=lambda word: (-len(words[word]), word))
    while waiting:
        word = waiting.pop(0)
        cells = words[word]
        work -= len(cells) * period + STEP
        if work < 0:
            return None
        times = (cells[:, 1:2] + slots[None, :]) % period
        users = owner[cells[:, :1], times]
        price = weight[users].sum(axis=0)
        best = np.flatnonzero(price == price.min())
        start = int(best[0] if price.min() == 0.0 else best[int(chance.integers(len(best)))])
        for other in np.unique(users[:, start]).tolist():
            if other >= 0:
                mine = words[other]
                owner[mine[:, 0], (mine[:, 1] + starts[other]) % period] = -1
                starts[other] = -1
                weight[other] += 1.0
                waiting.append(other)
        owner[cells[:, 0], (cells[:, 1] + start) % period] = word
        starts[word] = start
    return starts
