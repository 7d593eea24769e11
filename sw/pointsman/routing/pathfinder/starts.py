"""When the words of a chain start, given what each start costs."""

from __future__ import annotations

import numpy as np

from pointsman.kernels import kernel


@kernel
def choose_starts(cost: np.ndarray, words: int, gap: int, never: int, starts: np.ndarray) -> int:
    """The ``words`` starts of least total cost that keep ``gap`` round the period, ascending; their cost, or ``never``.

    ``cost`` is that of a word, by the slot in which it starts; what costs ``never`` is not taken. Either no start lies below
    ``gap`` - 1 or the first one does: each case is a choice on a line. O(slots × words × gap).
    """
    slots = cost.shape[0]
    best_total = never
    if words * gap > slots:
        return best_total
    if words == 1:
        for slot in range(slots):
            if cost[slot] < best_total:
                best_total = cost[slot]
                starts[0] = slot
        return best_total
    taking = np.zeros((words, slots), np.int64)
    least = np.zeros(slots, np.int64)
    for case in range(gap):
        # Slots begin..end-1 are free to choose from for ``left`` words; in all cases but the last one word is fixed.
        fixed = case < gap - 1
        begin = case + gap if fixed else gap - 1
        end = case + slots - gap + 1 if fixed else slots
        left = words - 1 if fixed else words
        total = cost[case] if fixed else 0
        if left and (left - 1) * gap >= end - begin:
            continue
        for word in range(left):
            for slot in range(begin, end):
                value = never
                if word == 0:
                    value = cost[slot]
                elif slot - gap >= begin:
                    value = min(cost[slot] + least[slot - gap], never)
                taking[word, slot] = value
            # ``least`` is read gap slots back, so it may be written only after the row is complete.
            lowest = never
            for slot in range(begin, end):
                lowest = min(lowest, taking[word, slot])
                least[slot] = lowest
        if left:
            total += least[end - 1]
        if total < best_total:
            best_total = total
            if fixed:
                starts[0] = case
            until = end
            for word in range(left - 1, -1, -1):
                chosen = begin
                for slot in range(begin, until):
                    if taking[word, slot] < taking[word, chosen]:
                        chosen = slot
                starts[words - left + word] = chosen
                until = chosen - gap + 1
    return best_total
