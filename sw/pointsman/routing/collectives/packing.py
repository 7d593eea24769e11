"""Trees of fixed shape put into slots: each word may start in any slot, and no two may use a link or port at once.

Words are placed one after the other in a slot that is free of conflicts. If there is none, a word takes the slot with the
fewest owners, weighted by how often they have been thrown out, and throws these out (ejection); an owner is counted once however
many cells it is met in, because words round the same cycle meet everywhere or nowhere. Work is counted. Periods are tried upwards
in growing steps until one will do, and from there down.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pointsman.kernels import kernel
from pointsman.routing.errors import RoutingError
from pointsman.routing.ideal_router.kernels import random_below

Cells = np.ndarray
"""Of a word: resources (column 0), and slots after its start in which it uses them (column 1)."""


STEP = 500
"""Cells that might be looked at while a word is chosen and put down."""


def pack(
    words: Sequence[Cells],
    resources: int,
    least: int,
    *,
    most: int | None = None,
    seed: int = 0,
    work: int = 60_000_000,
) -> tuple[int, list[int]] | None:
    """A period of at least ``least`` slots, and a start for each word; None if ``most`` slots are too few.

    ``work``: cells to be looked at in each period before the next longer one is tried.
    """
    limit = 2 * least + sum(len(cells) for cells in words) if most is None else most
    failed, period, starts = least - 1, least, None
    while starts is None:
        if failed >= limit or least > limit:
            if most is None:
                raise RoutingError("no schedule was found")
            return None
        starts = _try(words, resources, period, np.random.default_rng([seed, period]), work)
        if starts is None:
            failed = period
            period = min(limit, period + max(1, (period - least) // 4))
    while period - 1 > failed:
        fewer = _try(words, resources, period - 1, np.random.default_rng([seed, period - 1]), work)
        if fewer is None:
            break
        period, starts = period - 1, fewer
    return period, starts


def _try(
    words: Sequence[Cells], resources: int, period: int, chance: np.random.Generator, work: int
) -> list[int] | None:
    for cells in words:
        if len(np.unique(cells[:, 0] * period + cells[:, 1] % period)) < len(cells):
            return None  # a word would meet itself
    sizes = np.array([len(cells) for cells in words], np.int64)
    first = np.concatenate([[0], np.cumsum(sizes)])
    cells = np.concatenate(words).astype(np.int64)
    order = np.argsort(-sizes, kind="stable")
    state = chance.integers(1, 1 << 63, 1).astype(np.uint64)
    starts = np.full(len(words), -1, np.int64)
    placed = _place_all(
        cells[:, 0] * period, cells[:, 1] % period, first, order, resources, period, state, work, starts
    )
    return starts.tolist() if placed else None


@kernel
def _place_all(
    rows: np.ndarray,
    slots: np.ndarray,
    first: np.ndarray,
    order: np.ndarray,
    resources: int,
    period: int,
    state: np.ndarray,
    work: int,
    starts: np.ndarray,
) -> bool:
    """Put a start for each word into ``starts``; false if the work is used up before.

    Cell k is in row ``rows[k]``, ``slots[k]`` after the start; word w has those from first[w] to first[w + 1].
    """
    n_words = order.size
    owner = np.full(resources * period, -1, np.int64)
    weight = np.ones(n_words, np.int64)
    seen = np.full(n_words, -1, np.int64)
    # A ring: no word waits twice.
    queue = order.copy()
    head, waiting, looks = 0, n_words, np.int64(0)
    while waiting:
        word = queue[head]
        head = (head + 1) % n_words
        waiting -= 1
        begin, end = first[word], first[word + 1]
        least, ties, start = np.int64(1) << 60, 0, 0
        for at in range(period):
            looks += 1
            price = np.int64(0)
            for k in range(begin, end):
                other = owner[rows[k] + (slots[k] + at) % period]
                # An owner that is met many times is thrown out once.
                if other >= 0 and seen[other] != looks:
                    seen[other] = looks
                    price += weight[other]
                    if price > least:
                        break
            work -= end - begin
            if price > least:
                continue
            ties = ties + 1 if price == least else 1
            least = price
            if price == 0:
                start = at
                break
            if random_below(state, ties) == 0:
                start = at
        work -= STEP
        if work < 0:
            return False
        for k in range(begin, end):
            cell = rows[k] + (slots[k] + start) % period
            other = owner[cell]
            if other >= 0 and other != word:
                for mine in range(first[other], first[other + 1]):
                    owner[rows[mine] + (slots[mine] + starts[other]) % period] = -1
                starts[other] = -1
                weight[other] += 1
                queue[(head + waiting) % n_words] = other
                waiting += 1
            owner[cell] = word
        starts[word] = start
    return True
