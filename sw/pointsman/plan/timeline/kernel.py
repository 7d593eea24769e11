"""The compiled game of a timeline: words without contents, cycle by cycle, on the routes of a plan.

Every VFSM and leg of a fork has room for one word, an interface register for one of each writer: the processor's (bit 0) and
each pipeline's (bits from 1 on). A VFSM takes a word in one of its slots and passes
it on in the cycle after; a word that is refused stays with it until its next slot. A processor makes one access a cycle, of
the first of its lanes that can. Chunks of steps, shared by nodes and rounds, say what processors do.

This is none of the engines: it knows plans and nothing of images, commands, addresses or data, so that a plan can be timed
before it is kept. ``cosim.numesh.engines.model`` is what it is measured against (``benchmarks/prediction.py``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numesh.codes import ANNOTATION_LATENCY, POINTER_LATENCY, SHORTEST_REFILL
from pointsman.kernels import kernel

from .lanes import FIRST, REGISTERS, WORDS, accessed, choose, found_in, note, told
from .online_kernel import BUSY, HEADER, INTERRUPT, SERVING, SINCE, TIMED, Post, attend, forward, met, send
from .repetition import (
    MovingWords,
    copied_post,
    copied_words,
    go_on,
    is_repeated,
    message_rounds,
    messages_go_on,
    processor_rounds,
)

NOTHING, LINK, LEG, REGISTER, BUFFER, VOID = range(6)
"""Sources and destinations of VFSMs. ``LEG``: the second way of a fork, which takes its word with the first. ``VOID`` always
holds a word, and takes any."""
KIND_FROM, FROM, KIND_TO, TO, KEEPS, BLIND = range(6)
"""Columns of the table of VFSMs."""
END, WAIT, MOVE, EMPTY, PHASE, SET, UNTIL, DUE, COUNT, WEIGH, LATER, SETTLED = range(12)
AT, PASS, SWITCH, SEND, FORWARD, RECEIVE, WHOLE, FLUSH = range(12, 20)
"""Steps: wait so many cycles; move lanes from a to b; until a register is empty; the phase runs; settings from a to b
stand; until deadline a; deadline b is so many cycles on, if it is not later; cycles count for a phase; with a weight; settings
stand when the command registers have been emptied and an annotation has taken effect; until these registers are empty; until
cycle a, which is still to come; since the weight was set weight a times as many cycles have gone by, and deadlines are nearer;
schedule a runs as soon as the command registers are empty and a pointer takes effect. Of messages that processors pass on: send
a; pass on what was taken up, as a; take up one from a (-1: any) out of queue b; until all of it is here; until all own ones have
gone. Deadline 0 is that of words, the others of phases."""
NEVER = 1 << 60
CALM = 4
"""Periods without a step of any processor, after which what is repeated is looked for."""
FAR = 64
"""Most periods after which what is repeated begins again."""


class TimelineBoard(NamedTuple):
    """What does not change while a plan is played, but for ``vfsms``."""

    vfsms: np.ndarray
    children: np.ndarray
    """VFSMs that take what another writes to its link, one after the other's."""
    first_child: np.ndarray
    slots: np.ndarray
    """VFSMs by phase (the loader's last), slot and node, one after the other's."""
    first_slot: np.ndarray
    owner: np.ndarray
    """By register, its node."""
    home: np.ndarray
    """By VFSM, its node."""
    pipeline: np.ndarray
    """By VFSM, its pipeline."""
    registers: int
    pipelines: int
    period: int


class StepTable(NamedTuple):
    """What the processors do."""

    chunks: np.ndarray
    """By node, its chunks in their order."""
    first_chunk: np.ndarray
    steps: np.ndarray
    """(step, a, b)."""
    first_step: np.ndarray
    lanes: np.ndarray
    turns: np.ndarray
    """Registers of lanes."""
    settings: np.ndarray
    """(VFSM, columns of the table of VFSMs)."""
    weights: np.ndarray


@kernel(error_model="numpy", forceinline=True)
def _set(vfsms: np.ndarray, book: StepTable, first: int, end: int) -> None:
    """Let settings from ``first`` to ``end`` stand."""
    for k in range(first, end):
        vfsms[book.settings[k, 0]] = book.settings[k, 1:]


@kernel(error_model="numpy")
def play(
    board: TimelineBoard,
    book: StepTable,
    post: Post,
    nodes: int,
    phases: int,
    purposes: int,
    most_lanes: int,
    limit: int,
    calm: int,
) -> tuple[np.ndarray, int, int, bool]:
    """Play to the end. Gives cycles by node and what they count for (phases, the loader, then ``purposes`` more), weighted; in
    which cycle it ended; how many cycles were played; and whether all came to their end within ``limit`` played ones. Once no
    processor has begun a step for ``calm`` periods, what is repeated is played once (`pointsman.plan.timeline.repetition`)."""
    vfsms, period = board.vfsms, board.period
    count = vfsms.shape[0]
    held = np.zeros(count, np.uint8)
    flying_at = np.full(count, -1, np.int64)
    from_buffer = np.zeros(count, np.uint8)
    accepts = np.full(count, -1, np.int64)
    flying = np.zeros(count, np.int64)
    landing = np.zeros(count, np.int64)
    aloft = 0
    full = np.zeros(board.registers, np.int64)
    shown = np.full((board.registers, board.pipelines), -1, np.int64)
    written = np.full(board.registers, -1, np.int64)
    found = np.full(board.registers, -3, np.int64)
    taken = np.full((board.registers, board.pipelines), -3, np.int64)
    drawn = np.full((board.registers, board.pipelines), -3, np.int64)
    last_taken = np.full(board.registers, -3, np.int64)
    changed = np.zeros(board.registers * (board.pipelines + 2), np.int64)
    flips = np.zeros(board.registers * (board.pipelines + 2), np.int64)
    """Registers that change in the cycle, and the bits that do."""
    spent = np.zeros((nodes, phases + 1 + purposes))
    phase = np.full(nodes, phases, np.int64)
    bucket = np.full(nodes, phases, np.int64)
    weight = np.ones(nodes)
    since = np.zeros(nodes, np.int64)
    due = np.zeros((nodes, phases + 1), np.int64)
    until = np.zeros(nodes, np.int64)
    """Cycle in which the node goes on; NEVER: it waits for something else."""
    chunk = book.first_chunk[:-1].copy()
    step = np.zeros(nodes, np.int64)
    later = np.full((nodes, 2), -1, np.int64)
    """Settings of posted commands that have not been taken yet."""
    coming = np.full((nodes, 3), -1, np.int64)
    """Settings of posted commands that have been taken, and the cycle from which they stand."""
    moved = np.zeros((nodes, most_lanes), np.int64)
    moving = np.full((nodes, 2), -1, np.int64)
    emptying = np.full(nodes, -1, np.int64)
    settling = np.zeros(nodes, np.uint8)
    switching = np.full((nodes, 2), -1, np.int64)
    """Schedule that is to run, and the cycle from which it does, when that is known."""
    expecting = np.zeros((nodes, 3), np.int64)
    """A step that waits for messages, with its a and b."""
    stirred = np.ones(nodes, np.uint8)
    wakes = np.zeros(nodes, np.int64)
    """Has anything happened to the node since it found nothing to do, and the cycle from which on it goes on all the same."""
    online = post.inputs.shape[0] > 0
    words = np.zeros(nodes, np.int64)
    """By node, words in registers and held by VFSMs; one more for each VFSM that always has one, now or later."""
    for v in range(count):
        words[board.home[v]] += vfsms[v, KIND_FROM] == VOID
    for k in range(book.settings.shape[0]):
        words[board.home[book.settings[k, 0]]] += book.settings[k, 1 + KIND_FROM] == VOID
    reached = np.full(nodes, -1, np.int64)
    """Cycle in which a VFSM of the node may take a word from a link."""
    for i in range(nodes):
        if chunk[i] < book.first_chunk[i + 1]:
            step[i] = book.first_step[book.chunks[chunk[i]]]
    live = nodes
    done = np.zeros(nodes, np.uint8)
    now = MovingWords(full, held, from_buffer, flying, until, shown, written, found, taken, drawn, last_taken, moved)
    old, old_post = copied_words(now), copied_post(post)
    marked, span = -1, period
    """When ``old`` was so, and how long it is looked for that again."""
    time = quiet = stepped = skipped = 0
    while live > 0 and time - skipped < limit:
        # Processors: steps that take no time, up to one that does; then accesses, on the registers as they are at the beginning
        # of the cycle. A node to which nothing has happened since it found nothing to do is left alone.
        changes = 0
        for i in range(nodes):
            if stirred[i] == 0 and wakes[i] > time:
                continue
            acting = False
            if later[i, 0] >= 0:
                empty = True
                for p in range(board.pipelines):
                    empty = empty and full[i * board.pipelines + p] == 0
                if empty:
                    if coming[i, 2] >= 0:
                        _set(vfsms, book, coming[i, 0], coming[i, 1])
                    coming[i] = later[i, 0], later[i, 1], time + ANNOTATION_LATENCY
                    quiet = time
                    later[i, 0] = -1
            if 0 <= coming[i, 2] <= time:
                _set(vfsms, book, coming[i, 0], coming[i, 1])
                coming[i, 2] = -1
                quiet = time
            if switching[i, 0] >= 0:
                if switching[i, 1] < 0 and later[i, 0] < 0:
                    switching[i, 1] = time + POINTER_LATENCY - 1
                if 0 <= switching[i, 1] <= time:
                    phase[i], switching[i, 0] = switching[i, 0], -1
            going = False
            if done[i] != 0 or (
                online and (post.nodes[i, SERVING] != 0 or post.nodes[i, BUSY] > time or post.nodes[i, HEADER] >= 0)
            ):
                pass
            elif expecting[i, 0] != 0:
                going = met(post, i, expecting[i, 0] - RECEIVE, expecting[i, 1], expecting[i, 2])
                if going:
                    expecting[i, 0] = 0
            elif moving[i, 0] >= 0:
                going = True
                for k in range(moving[i, 0], moving[i, 1]):
                    going = going and moved[i, k - moving[i, 0]] == book.lanes[k, WORDS]
                if going:
                    moving[i, 0] = -1
            elif emptying[i] >= 0:
                going = full[emptying[i]] == 0
                if going:
                    emptying[i] = -1
            elif settling[i] != 0:
                going = later[i, 0] < 0
                if going:
                    settling[i] = 0
            else:
                going = until[i] <= time
            while going:
                acting = True
                stepped = time
                post.nodes[i, TIMED] = 0
                while chunk[i] < book.first_chunk[i + 1] and step[i] == book.first_step[book.chunks[chunk[i]] + 1]:
                    chunk[i] += 1
                    if chunk[i] < book.first_chunk[i + 1]:
                        step[i] = book.first_step[book.chunks[chunk[i]]]
                if chunk[i] == book.first_chunk[i + 1]:
                    spent[i, bucket[i]] += weight[i] * (time - since[i])
                    done[i] = 1
                    live -= 1
                    break
                kind, a, b = book.steps[step[i], 0], book.steps[step[i], 1], book.steps[step[i], 2]
                step[i] += 1
                quiet = time
                if kind == WAIT:
                    until[i] = time + a
                    going = a == 0
                    post.nodes[i, TIMED] = 1 if 2 * a > post.costs[INTERRUPT] else 2
                elif kind == MOVE:
                    if b > a:
                        moving[i, 0], moving[i, 1] = a, b
                        for k in range(b - a):
                            moved[i, k] = 0
                        going = False
                elif kind == EMPTY:
                    if full[a] != 0:
                        emptying[i] = a
                        going = False
                elif kind == PHASE:
                    phase[i], switching[i, 0] = a, -1
                elif kind == SET:
                    _set(vfsms, book, a, b)
                elif kind == UNTIL:
                    until[i] = due[i, a]
                    going = due[i, a] <= time
                elif kind == DUE:
                    due[i, b] = max(due[i, b], time + a)
                elif kind == COUNT:
                    spent[i, bucket[i]] += weight[i] * (time - since[i])
                    bucket[i], since[i] = a, time
                elif kind == WEIGH:
                    spent[i, bucket[i]] += weight[i] * (time - since[i])
                    weight[i], since[i] = book.weights[a], time
                elif kind == LATER:
                    later[i, 0], later[i, 1] = a, b
                elif kind == SETTLED:
                    if later[i, 0] >= 0:
                        settling[i] = 1
                        going = False
                elif kind == PASS:
                    gone = int((book.weights[a] - 1) * (time - since[i]))
                    for k in range(1, phases + 1):
                        due[i, k] -= gone
                elif kind == SWITCH:
                    if switching[i, 0] >= 0:
                        phase[i] = switching[i, 0]
                    later[i] = 0, 0
                    switching[i] = a, -1
                elif kind == AT:
                    if a < time:
                        return spent, time, time - skipped, False
                    until[i] = a
                    going = a == time
                elif kind == SEND:
                    if not send(post, phase[i] * nodes + i, i, a):
                        return spent, time, time - skipped, False
                elif kind == FORWARD:
                    if not forward(post, phase[i] * nodes + i, i, a):
                        return spent, time, time - skipped, False
                elif kind >= RECEIVE:
                    going = met(post, i, kind - RECEIVE, a, b)
                    if not going:
                        expecting[i] = kind, a, b
            row = phase[i] * nodes + i
            if (
                online
                and post.first_input[row] + post.first_output[row]
                < post.first_input[row + 1] + post.first_output[row + 1]
            ):
                before = post.nodes[i, SERVING]
                acting = acting or before != 0 or post.nodes[i, HEADER] >= 0
                register = attend(post, row, i, time, expecting[i, 0] != 0, full)
                if register >= 0:
                    changed[changes], flips[changes] = register, accessed(full[register])
                    changes += 1
                if post.nodes[i, SERVING] != 0 or post.nodes[i, BUSY] > time:
                    quiet = time
                    acting = True
                acting = acting or register >= 0
                if before != 0 and post.nodes[i, SERVING] == 0 and post.nodes[i, TIMED] != 0:
                    until[i] += time - post.nodes[i, SINCE]
            k = -1
            if moving[i, 0] >= 0 and not (online and post.nodes[i, SERVING] != 0):
                k = choose(book.lanes, book.turns, moved[i], full, moving[i, 0], moving[i, 1])
            if k >= 0:
                n = moved[i, k - moving[i, 0]]
                register = book.turns[book.lanes[k, FIRST] + n % book.lanes[k, REGISTERS]]
                moved[i, k - moving[i, 0]] = n + 1
                changed[changes], flips[changes] = register, accessed(full[register])
                changes += 1
            if acting or k >= 0:
                stirred[i] = 1
                continue
            stirred[i] = 0
            wakes[i] = until[i] if until[i] > time else NEVER
            if switching[i, 0] >= 0 and switching[i, 1] >= 0:
                wakes[i] = min(wakes[i], switching[i, 1])
            if coming[i, 2] >= 0:
                wakes[i] = min(wakes[i], coming[i, 2])

        accesses = changes

        # VFSMs in their slots take words; those on links only offer to. Nodes without words that none can reach are left out.
        for f in range(aloft):
            v = flying[f]
            if vfsms[v, KIND_TO] == LINK:
                for c in range(board.first_child[v], board.first_child[v + 1]):
                    reached[board.home[board.children[c]]] = time
        slot = time % period
        landed = 0
        for i in range(nodes):
            if words[i] == 0 and reached[i] != time:
                continue
            row = (phase[i] * period + slot) * nodes + i
            for k in range(board.first_slot[row], board.first_slot[row + 1]):
                v = board.slots[k]
                kind = vfsms[v, KIND_FROM]
                if kind == NOTHING and held[v] == 0:
                    continue
                if flying_at[v] == time and (vfsms[v, KIND_TO] != VOID or from_buffer[v] != 0):
                    continue
                took = False
                retried = 0
                source = vfsms[v, FROM]
                if held[v] != 0:
                    took = True
                    retried = 1
                elif kind in (LINK, LEG):
                    accepts[v] = time
                elif kind == REGISTER:
                    bit = found_in(
                        full[source], shown, source, written[source], found[source], last_taken[source], time
                    )
                    if bit != 0:
                        took = True
                        found[source] = time
                        if vfsms[v, KEEPS] == 0:
                            changed[changes], flips[changes] = source, bit
                            changes += 1
                            last_taken[source] = time
                            note(taken, source, bit, time)
                elif kind == BUFFER:
                    if held[source] != 0 and flying_at[source] != time:
                        took = True
                        if vfsms[v, KEEPS] == 0:
                            held[source] = 0
                            words[i] -= 1
                elif kind == VOID:
                    took = True
                if took:
                    landing[landed] = v
                    from_buffer[v] = retried
                    landed += 1

        # Words that were taken in the cycle before are passed on.
        progress = False
        for k in range(aloft):
            v = flying[k]
            kind, to = vfsms[v, KIND_TO], vfsms[v, TO]
            blind = vfsms[v, BLIND] != 0
            passed = False
            if kind == LINK:
                legs = True
                for c in range(board.first_child[v], board.first_child[v + 1]):
                    child = board.children[c]
                    source = vfsms[child, KIND_FROM]
                    if source == LINK and accepts[child] == time:
                        passed = True
                    elif source == LEG and accepts[child] != time:
                        legs = False
                passed = passed and legs
                if passed:
                    for c in range(board.first_child[v], board.first_child[v + 1]):
                        child = board.children[c]
                        if vfsms[child, KIND_FROM] == LINK or vfsms[child, KIND_FROM] == LEG:
                            landing[landed] = child
                            from_buffer[child] = 0
                            landed += 1
            elif kind == REGISTER:
                p = board.pipeline[v]
                empty = full[to] & 2 << p == 0
                passed = blind or (empty and taken[to, p] < time - SHORTEST_REFILL and told(drawn, to, p, time))
                if passed and empty:
                    changed[changes], flips[changes] = to, 2 << p
                    changes += 1
                    shown[to, p] = time + 1
            elif kind == BUFFER:
                passed = held[to] == 0
                words[board.home[to]] += 1 - held[to]
                held[to] = 1
            elif kind == VOID:
                passed = True
            progress = progress or passed
            if from_buffer[v] != 0:
                if passed or blind:
                    words[board.home[v]] -= held[v]
                    held[v] = 0
            elif not passed and not blind:
                words[board.home[v]] += 1 - held[v]
                held[v] = 1
        for k in range(landed):
            flying[k] = landing[k]
            flying_at[landing[k]] = time + 1
        if progress or changes > 0:
            quiet = time
        aloft = landed
        for k in range(changes):
            register = changed[k]
            node = board.owner[register]
            full[register] ^= flips[k]
            if k < accesses:
                # Only now: VFSMs of this cycle asked when the processor drew words before it.
                note(drawn, register, flips[k], time)
            words[node] += 1 if full[register] & flips[k] else -1
            stirred[node] = 1
            if flips[k] == 1:
                written[register] = time + 1
        time += 1
        if time % period == 0 and time - stepped > calm * period and time - quiet < period:
            flying[aloft:] = -1
            cycles = time - marked
            if marked <= stepped or cycles > span:
                span = period if marked <= stepped else min(2 * span, FAR * period)
                marked, old = time, copied_words(now)
                if online:
                    old_post = copied_post(post)
            elif is_repeated(now, old, time, marked):
                rounds = processor_rounds(book.lanes, moving, done, now, old, time, cycles)
                if online:
                    rounds = min(rounds, message_rounds(post, old_post, time, marked))
                if switching[:, 0].max() >= 0 or later[:, 0].max() >= 0 or coming[:, 2].max() >= 0:
                    rounds = 0  # schedules are about to change
                if 0 < rounds < NEVER:
                    go_on(now, old, rounds, cycles)
                    if online:
                        messages_go_on(post, old_post, rounds, cycles)
                    for k in range(aloft):
                        flying_at[flying[k]] += rounds * cycles
                    time += rounds * cycles
                    quiet += rounds * cycles
                    skipped += rounds * cycles
                    marked = -1
        if time - quiet > 2 * period:
            # Nothing moves before somebody's time has come.
            soonest = NEVER
            for i in range(nodes):
                if done[i] == 0 and moving[i, 0] < 0 and emptying[i] < 0 and settling[i] == 0 and expecting[i, 0] == 0:
                    soonest = min(soonest, until[i])
            if soonest == NEVER:
                break
            time = max(time, soonest)
            quiet = time
    return spent, time, time - skipped, live == 0
