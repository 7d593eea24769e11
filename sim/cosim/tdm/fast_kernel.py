"""The cycles of the quick model: one loop over arrays, compiled. ``fast`` says what the arrays are, and runs it."""

from __future__ import annotations

import numpy as np

from pointsman.kernels import kernel

NOBODY = -1
"""In place of a port: none."""


@kernel
def run_cycles(
    first: np.ndarray,
    destinations: np.ndarray,
    lengths: np.ndarray,
    realised: np.ndarray,
    preloaded: np.ndarray,
    dynamic: np.ndarray,
    copy: np.ndarray,
    scalars: np.ndarray,
    predictor: np.ndarray,
    options: np.ndarray,
    lists: np.ndarray,
    until: np.ndarray,
    holds: np.ndarray,
    sent: np.ndarray,
    grants: np.ndarray,
    words: np.ndarray,
) -> int:
    slot_cycles, guard, sl_cycles, wrapped, reserves = options[0], options[1], options[2], options[3], options[4]
    priority, depth, d_request, d_grant, d_word = options[5], options[6], options[7], options[8], options[9]
    rate, window, limit, load, registers = options[10], options[11], options[12], options[13], options[14]
    tick, place, phase, row, column = scalars[0], scalars[1], scalars[2], scalars[3], scalars[4]
    slot, opened, random = scalars[5], scalars[6], scalars[7]
    kind, threshold = predictor[0], predictor[1]
    k, n = realised.shape

    queue = np.zeros((n, n), np.int64)
    asked = np.zeros((n, n), np.bool_)  # as the scheduler sees it
    heard = np.full((n, n), -1, np.int64)  # last cycle with a request, or a word while that was latched, if it is over
    uses = np.full((n, n), -1, np.int64)  # cycles with any word until then
    any_use = 0
    where = np.zeros((n, n), np.int64)  # slots that realise it
    for s in range(k):
        for u in range(n):
            if realised[s, u] >= 0:
                where[u, realised[s, u]] += 1
    # Changes of requests, and grants, that are under way.
    ring = np.zeros((d_request + 1, n, n), np.int8)
    riding = np.zeros(d_request + 1, np.int64)
    touched = np.zeros((n, 2), np.int64)
    shown = np.zeros((n, n), np.bool_)  # requests as they left the processors
    granted = np.full((d_grant + 1, n), -1, np.int64)
    # Where each processor is in its program.
    message = first[:-1].copy()
    written = np.zeros(n, np.int64)
    total = 0
    for at in range(len(lengths)):
        total += lengths[at]
    ahead = first[:-1].copy()  # oldest message that may not be sent yet, for the window
    end_of = np.zeros(len(lengths), np.int64)  # words on its connection up to and with this message
    for u in range(n):
        line = np.zeros(n, np.int64)
        for at in range(first[u], first[u + 1]):
            line[destinations[at]] += lengths[at]
            end_of[at] = line[destinations[at]]
    change = np.zeros((n, n), np.bool_)
    was = np.full(n, -1, np.int64)
    busy_out = np.zeros(n, np.bool_)
    blocked_row, blocked_column = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    late = np.zeros(n, np.bool_)  # rows whose connection at the start was not waiting when the start came
    loading = np.full(k, -1, np.int64)
    next_list = registers
    outgoing = np.full(n, -1, np.int64)
    moved = 0
    last_arrival = 0
    mask = 1
    while mask < n:
        mask *= 2
    mask = max(1, mask - 1)

    for cycle in range(limit):
        if moved == total:
            return last_arrival
        # Requests that changed in the last cycle set out; those that have arrived are seen.
        now_at = cycle % (d_request + 1)
        there = (cycle + d_request) % (d_request + 1)
        for u in range(n):
            for side in range(2):
                v = touched[u, side] - 1
                if v >= 0 and (queue[u, v] > 0) != shown[u, v]:
                    shown[u, v] = queue[u, v] > 0
                    ring[there, u, v] = 1 if shown[u, v] else 2
                    riding[there] += 1
                touched[u, side] = 0
        if riding[now_at]:
            riding[now_at] = 0
            for u in range(n):
                for v in range(n):
                    event = ring[now_at, u, v]
                    if event:
                        asked[u, v] = event == 1
                        ring[now_at, u, v] = 0
                        if event == 2:
                            heard[u, v] = cycle - 1
                            uses[u, v] = any_use
        # What the scheduler sees in this cycle.
        used_now = False
        for u in range(n):
            used_now |= outgoing[u] >= 0
        if used_now:
            any_use += 1
        active = np.zeros(k, np.bool_)
        for s in range(k):
            for u in range(n):
                active[s] |= realised[s, u] >= 0
        # Grants of this cycle, and those that arrive in it.
        g_there = (cycle + d_grant) % (d_grant + 1)
        for u in range(n):
            granted[g_there, u] = copy[u] if tick >= guard else -1
        grant = granted[cycle % (d_grant + 1)]
        if cycle < d_grant:
            grant = np.full(n, -1, np.int64)

        # Scheduling logic: capture.
        last = phase == sl_cycles - 1
        unmet_any = False
        first_unmet = False
        if phase == 0 or last:
            s = slot
            blocked_row[:] = False
            blocked_column[:] = False
            for u in range(n):
                for v in range(n):
                    wanted = asked[u, v]
                    if not wanted and kind > 0 and heard[u, v] >= 0:
                        if kind == 1:
                            wanted = True
                        elif kind == 2:
                            wanted = cycle - 1 - heard[u, v] < threshold
                        else:
                            before = any_use - (1 if used_now else 0)
                            wanted = before - uses[u, v] < threshold
                    unmet = wanted and where[u, v] == 0
                    unmet_any |= unmet
                    if unmet and reserves:
                        in_first = (u + v) % n == column if wrapped else (u == row and v == column)
                        if in_first and not late[u]:
                            first_unmet = True
                            blocked_row[u] = True
                            blocked_column[v] = True
                    if phase == 0:
                        here = realised[s, u] == v
                        fixed = preloaded[s, u] == v
                        if here:
                            change[u, v] = not wanted and not fixed
                        else:
                            change[u, v] = (unmet and dynamic[s]) or fixed
            if phase == 0:
                if reserves and first_unmet:
                    for u in range(n):
                        for v in range(n):
                            if change[u, v] and realised[s, u] != v and preloaded[s, u] != v:
                                in_first = (u + v) % n == column if wrapped else (u == row and v == column)
                                if not in_first and (blocked_row[u] or blocked_column[v]):
                                    change[u, v] = False
                for u in range(n):
                    was[u] = realised[s, u]

        # Time slots.
        if tick != slot_cycles - 1:
            tick += 1
        else:
            chosen = -1
            for step in range(1, k + 1):
                if active[(place + step) % k]:
                    chosen = (place + step) % k
                    break
            for u in range(n):
                copy[u] = realised[chosen, u] if chosen >= 0 else -1
            if chosen >= 0:
                place, tick = chosen, 0

        # Requests that are latched.
        if kind > 0:
            for u in range(n):
                v = outgoing[u]
                if v >= 0 and not asked[u, v] and heard[u, v] >= 0:
                    before = any_use - 1
                    alive = kind == 1 or (
                        cycle - 1 - heard[u, v] < threshold if kind == 2 else before - uses[u, v] < threshold
                    )
                    if alive:
                        heard[u, v] = cycle
                        uses[u, v] = any_use

        # Scheduling logic: decide.
        if last:
            s = slot
            occupied = np.zeros(k, np.bool_)
            for t in range(k):
                for u in range(n):
                    occupied[t] |= realised[t, u] >= 0 or preloaded[t, u] >= 0
            r0, c0 = (row, column) if priority != 0 else (0, 0)
            busy_out[:] = False
            for u in range(n):
                if was[u] >= 0:
                    busy_out[was[u]] = True
            result = was.copy()
            if loading[s] != cycle:
                for i in range(n):
                    for j in range(n):
                        if wrapped:
                            u, v = j, (c0 + i - j) % n
                        else:
                            u, v = (r0 + i) % n, (c0 + j) % n
                        if not change[u, v]:
                            continue
                        if was[u] == v:
                            if result[u] == v:
                                result[u] = -1
                                busy_out[v] = False
                        elif result[u] < 0 and not busy_out[v]:
                            result[u] = v
                            busy_out[v] = True
                for u in range(n):
                    if realised[s, u] != result[u]:
                        if realised[s, u] >= 0:
                            where[u, realised[s, u]] -= 1
                        if result[u] >= 0:
                            where[u, result[u]] += 1
                        realised[s, u] = result[u]
            # The slot that is next.
            later, used_slot, empty = -1, -1, -1
            for t in range(k):
                if occupied[t]:
                    if used_slot < 0:
                        used_slot = t
                    if later < 0 and t > s and not opened:
                        later = t
                elif dynamic[t] and empty < 0:
                    empty = t
            if later >= 0:
                slot = later
            elif unmet_any and empty >= 0 and not (opened and used_slot >= 0):
                slot, opened = empty, 1
            elif used_slot >= 0:
                slot, opened = used_slot, 0
            # Where the array starts next.
            if priority == 2:
                bit = (random ^ random >> 2 ^ random >> 3 ^ random >> 5) & 1
                random = random >> 1 | bit << 15
                row, column = (random & mask) % n, (random >> 8 & mask) % n
            elif priority == 1:
                if reserves and first_unmet:
                    for u in range(n):
                        late[u] |= not blocked_row[u]
                else:
                    late[:] = False
                    column += 1
                    if column == n:
                        column = 0
                        if not wrapped:
                            row = (row + 1) % n
            phase = 0
        else:
            phase += 1

        # Processors send and write.
        if cycle < len(grants):
            for u in range(n):
                grants[cycle, u] = grant[u]
        for u in range(n):
            for side in range(2):
                touched[u, side] = 0
            v = grant[u]
            sends = v >= 0 and queue[u, v] > 0
            # Writing looks at the queue as it was at the start of the cycle.
            while message[u] < first[u + 1]:
                at = message[u]
                to = destinations[at]
                if written[u] == 0:
                    while ahead[u] < at and sent[u, destinations[ahead[u]]] >= end_of[ahead[u]]:
                        ahead[u] += 1
                    unsent = 0
                    for other in range(ahead[u], at):
                        if sent[u, destinations[other]] < end_of[other]:
                            unsent += 1
                    if unsent >= window:
                        break
                room = depth - queue[u, to]
                count = min(rate, lengths[at] - written[u], room)
                if count > 0:
                    queue[u, to] += count
                    written[u] += count
                    touched[u, 1] = to + 1
                if written[u] == lengths[at]:
                    message[u] += 1
                    written[u] = 0
                break
            if sends:
                queue[u, v] -= 1
                sent[u, v] += 1
                moved += 1
                outgoing[u] = v
                touched[u, 0] = v + 1
                last_arrival = cycle + 1 + d_word
                if cycle < len(words):
                    words[cycle, u] = v
            else:
                outgoing[u] = -1

        # Preloaded registers whose messages are sent.
        for s in range(registers):
            if holds[s] < 0 or next_list >= len(lists):
                continue
            if loading[s] < 0:
                ready = True
                for u in range(n):
                    v = lists[holds[s], u]
                    if v >= 0 and sent[u, v] < until[holds[s], u]:
                        ready = False
                        break
                if ready:
                    loading[s] = cycle + load
            if 0 <= loading[s] <= cycle:
                holds[s] = next_list
                next_list += 1
                loading[s] = -1
                for u in range(n):
                    if realised[s, u] >= 0:
                        where[u, realised[s, u]] -= 1
                    realised[s, u] = preloaded[s, u] = lists[holds[s], u]
                    if realised[s, u] >= 0:
                        where[u, realised[s, u]] += 1
                    was[u] = realised[s, u] if slot == s else was[u]
        scalars[0], scalars[1], scalars[2], scalars[3], scalars[4] = tick, place, phase, row, column
        scalars[5], scalars[6], scalars[7] = slot, opened, random
    return -1
