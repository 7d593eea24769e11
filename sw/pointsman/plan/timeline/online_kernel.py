"""The compiled game of online messages: processors that pass them on, beside whatever their programs do.

The other end of a coupling: `pointsman.runtime.numesh.online_agent` does this; `pointsman.protocol.costs.AgentCosts` are the
cycles of everything but accesses.
A word has no contents here, so who a header is for is known by its place in the order of its channel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pointsman.kernels import kernel

BUSY, SERVING, MOVED, HEADER, GOT, OWN, FIRST, LAST, SINCE, TIMED = range(10)
"""Columns of nodes: cycle from which on the agent goes on; it serves channels while the program wants something else; cycle of
its last access; channel whose header is being looked up (-1: none); message that the program has taken up; sendings of the
program that are not through; messages that have come, first and last; cycle in which serving began; the program waits for a
time (1), or for one so short that it is not interrupted (2)."""
COPY, BEGUN, NEXT, AFTER, MINE, ORIGIN, TO, INTO = range(8)
"""Columns of sendings: message; has its header gone; words that have; the next one of its channel; whose it is: the program's
(1), the agent's, of a message that goes on as it comes (2), or another node's (0); the header: whose message, for whom, into
which queue."""
HAVE, TOTAL, SOURCE, QUEUE, LATER = range(5)
"""Columns of messages, once for each node on their way: words that are here; of these; where from; the next one here."""
CURRENT, LATEST, RECEIVED, ARRIVING, TURN_OUT, TURN_IN, FIRST_OF = range(7)
"""Columns of channels: the sending that is on, and the last; the last whose header was taken; the message that comes in; words
that went into the registers before this one's header, and out of them; the first sending of all."""
INTERRUPT, POLL, LOOKUP, BUFFER, TURN, PATIENCE = range(6)
"""Fields of `pointsman.protocol.costs.AgentCosts`."""


class Post(NamedTuple):
    """Channels, tables and what is under way. Rows are by phase and node."""

    mails: np.ndarray
    """(destination, queue, words) of what programs send."""
    outputs: np.ndarray
    first_output: np.ndarray
    """By row, channels that begin here, one after the other's."""
    inputs: np.ndarray
    first_input: np.ndarray
    onward: np.ndarray
    """By row and destination, the channel on which a message goes on; -1: none."""
    ends: np.ndarray
    """By channel, where its registers begin and how many there are, at its source and at its target."""
    registers: np.ndarray
    costs: np.ndarray
    nodes: np.ndarray
    sendings: np.ndarray
    copies: np.ndarray
    channels: np.ndarray
    used: np.ndarray
    """Sendings and copies so far."""
    passed: np.ndarray
    """(source, mail) of messages that a node passes on as they come in, one queue and node after the other."""
    first_passed: np.ndarray
    """By queue times nodes + node, where these begin."""


@kernel(error_model="numpy", forceinline=True)
def put(post: Post, row: int, node: int, copy: int, origin: int, to: int, queue: int, mine: int) -> bool:
    """Put a message into the queue of its channel; false if there is none."""
    channel = post.onward[row, to]
    if channel < 0:
        return False
    s = post.used[0]
    post.used[0] += 1
    post.sendings[s] = copy, 0, 0, -1, mine, origin, to, queue
    if mine == 1:
        post.nodes[node, OWN] += 1
    last = post.channels[channel, LATEST]
    if last >= 0:
        post.sendings[last, AFTER] = s
    else:
        post.channels[channel, FIRST_OF] = s
    post.channels[channel, LATEST] = s
    if post.channels[channel, CURRENT] < 0:
        post.channels[channel, CURRENT] = s
    return True


@kernel(error_model="numpy", forceinline=True)
def copied(post: Post, source: int, queue: int, have: int, total: int) -> int:
    """A message at one node."""
    c = post.used[1]
    post.used[1] += 1
    post.copies[c] = have, total, source, queue, -1
    return int(c)


@kernel(error_model="numpy", forceinline=True)
def send(post: Post, row: int, node: int, mail: int) -> bool:
    """The program sends a message of its own."""
    to, queue, words = post.mails[mail, 0], post.mails[mail, 1], post.mails[mail, 2]
    return put(post, row, node, copied(post, node, queue, words, words), node, to, queue, 1)


@kernel(error_model="numpy", forceinline=True)
def forward(post: Post, row: int, node: int, mail: int) -> bool:
    """The program passes on the message that it has taken up, as its own."""
    return put(post, row, node, post.nodes[node, GOT], node, post.mails[mail, 0], post.mails[mail, 1], 1)


@kernel(error_model="numpy", forceinline=True)
def find(post: Post, node: int, source: int, queue: int) -> int:
    """The first message that has come from a node (-1: any) into a queue; -1: none."""
    c = post.nodes[node, FIRST]
    while c >= 0:
        if post.copies[c, QUEUE] == queue and source in (-1, post.copies[c, SOURCE]):
            return int(c)
        c = post.copies[c, LATER]
    return -1


@kernel(error_model="numpy", forceinline=True)
def take(post: Post, node: int, copy: int) -> None:
    """The program takes a message out of its queue."""
    before, c = -1, post.nodes[node, FIRST]
    while c >= 0 and c != copy:
        before, c = c, post.copies[c, LATER]
    after = post.copies[copy, LATER]
    if before < 0:
        post.nodes[node, FIRST] = after
    else:
        post.copies[before, LATER] = after
    if post.nodes[node, LAST] == copy:
        post.nodes[node, LAST] = before


@kernel(error_model="numpy", forceinline=True)
def met(post: Post, node: int, step: int, a: int, b: int) -> bool:
    """Has come what the program waits for: a message from a (-1: any) in queue b (``step`` 0), all of it (1), or are all own
    sendings through (2)?"""
    if step == 0:
        found = find(post, node, a, b)
        if found >= 0:
            post.nodes[node, GOT] = found
        return found >= 0
    if step == 2:
        return bool(post.nodes[node, OWN] == 0)
    got = post.nodes[node, GOT]
    if post.copies[got, HAVE] < post.copies[got, TOTAL]:
        return False
    take(post, node, got)
    return True


@kernel(error_model="numpy", forceinline=True)
def _register(post: Post, channel: int, end: int, turn: int) -> int:
    first, count = post.ends[channel, end, 0], post.ends[channel, end, 1]
    # Divisions take long, and nearly all channels have one register or two.
    return int(post.registers[first + (turn & count - 1 if count <= 2 else turn % count)])


@kernel(error_model="numpy", forceinline=True)
def _ready(post: Post, row: int, full: np.ndarray) -> tuple[int, int]:
    """What can be done next: header taken (2), word sent (0) or read (1), and the channel; -1: nothing. Headers come first, since
    they break off whatever is going on."""
    for k in range(post.first_input[row], post.first_input[row + 1]):
        c = post.inputs[k]
        if post.channels[c, ARRIVING] < 0 and full[_register(post, c, 1, post.channels[c, TURN_IN])] != 0:
            return 2, int(c)
    for k in range(post.first_output[row], post.first_output[row + 1]):
        c = post.outputs[k]
        s = post.channels[c, CURRENT]
        if s < 0:
            continue
        sent = post.sendings[s, NEXT] + post.sendings[s, BEGUN]
        there = post.sendings[s, BEGUN] == 0 or post.sendings[s, NEXT] < post.copies[post.sendings[s, COPY], HAVE]
        if there and full[_register(post, c, 0, post.channels[c, TURN_OUT] + sent)] == 0:
            return 0, int(c)
    for k in range(post.first_input[row], post.first_input[row + 1]):
        c = post.inputs[k]
        m = post.channels[c, ARRIVING]
        if m >= 0 and full[_register(post, c, 1, post.channels[c, TURN_IN] + 1 + post.copies[m, HAVE])] != 0:
            return 1, int(c)
    return -1, -1


@kernel(error_model="numpy", forceinline=True)
def _open(post: Post, row: int) -> bool:
    """Is a message half in, or on its way out?"""
    found = False
    for k in range(post.first_output[row], post.first_output[row + 1]):
        found = found or post.channels[post.outputs[k], CURRENT] >= 0
    for k in range(post.first_input[row], post.first_input[row + 1]):
        found = found or post.channels[post.inputs[k], ARRIVING] >= 0
    return found


@kernel(error_model="numpy", forceinline=True)
def _sent(post: Post, node: int, channel: int, time: int) -> None:
    """A word of the sending that is on has gone."""
    s = post.channels[channel, CURRENT]
    if post.sendings[s, BEGUN] == 0:
        post.sendings[s, BEGUN] = 1
    else:
        post.sendings[s, NEXT] += 1
    total = post.copies[post.sendings[s, COPY], TOTAL]
    if post.sendings[s, NEXT] < total:
        return
    post.channels[channel, CURRENT] = post.sendings[s, AFTER]
    post.channels[channel, TURN_OUT] += 1 + total
    if post.sendings[s, MINE] == 1:
        post.nodes[node, OWN] -= 1
    elif post.sendings[s, MINE] == 0:
        post.nodes[node, BUSY] = time + 1 + post.costs[TURN]


@kernel(error_model="numpy", forceinline=True)
def _look_up(post: Post, row: int, node: int, time: int, full: np.ndarray) -> int:
    """The header of a message is understood: the message is for this node, or goes on. Gives the register of the header that
    goes on in this cycle; -1: none."""
    channel = post.nodes[node, HEADER]
    post.nodes[node, HEADER] = -1
    s = post.sendings[post.channels[channel, RECEIVED]]
    to, total = s[TO], post.copies[s[COPY], TOTAL]
    copy = copied(post, s[ORIGIN], s[INTO], 0, total)
    if total == 0:
        post.channels[channel, TURN_IN] += 1
    else:
        post.channels[channel, ARRIVING] = copy
    post.nodes[node, BUSY] = time + post.costs[BUFFER]
    if to == node:
        last = post.nodes[node, LAST]
        if last >= 0:
            post.copies[last, LATER] = copy
        else:
            post.nodes[node, FIRST] = copy
        post.nodes[node, LAST] = copy
        at = s[INTO] * len(post.nodes) + node
        for k in range(post.first_passed[at], post.first_passed[at + 1]):
            if post.passed[k, 0] == s[ORIGIN]:
                mail = post.passed[k, 1]
                put(post, row, node, copy, node, post.mails[mail, 0], post.mails[mail, 1], 2)
        return -1
    if not put(post, row, node, copy, s[ORIGIN], to, s[INTO], 0):
        return -1
    onward = post.onward[row, to]
    if post.sendings[post.channels[onward, CURRENT], COPY] != copy:
        return -1
    # The header is tried for a cycle.
    post.nodes[node, BUSY] = time + 1 + post.costs[BUFFER]
    register = _register(post, onward, 0, post.channels[onward, TURN_OUT])
    if full[register] != 0:
        return -1
    _sent(post, node, onward, time)
    post.nodes[node, BUSY] = max(post.nodes[node, BUSY], time + 1 + post.costs[BUFFER])
    return register


@kernel(error_model="numpy", forceinline=True)
def attend(post: Post, row: int, node: int, time: int, waits: bool, full: np.ndarray) -> int:
    """One cycle of a node's agent; ``waits``: the program waits for messages, so the processor has nothing else to do. Gives the
    register that is accessed; -1: none."""
    state = post.nodes[node]
    if state[BUSY] > time:
        return -1
    if state[HEADER] >= 0:
        return _look_up(post, row, node, time, full)
    what, channel = _ready(post, row, full)
    if not waits and state[SERVING] == 0:
        if what >= 0 and state[TIMED] != 2:
            state[SERVING], state[SINCE], state[MOVED] = 1, time, time
            state[BUSY] = time + (post.costs[INTERRUPT] if state[TIMED] != 0 else post.costs[POLL])
        return -1
    if what < 0:
        patience = post.costs[INTERRUPT] if state[TIMED] != 0 else post.costs[PATIENCE]
        if state[SERVING] != 0 and (time >= state[MOVED] + patience or not _open(post, row)):
            state[SERVING] = 0
        return -1
    state[MOVED] = time + 1
    if what == 0:
        s = post.channels[channel, CURRENT]
        register = _register(
            post, channel, 0, post.channels[channel, TURN_OUT] + post.sendings[s, NEXT] + post.sendings[s, BEGUN]
        )
        _sent(post, node, channel, time)
        return register
    if what == 1:
        m = post.channels[channel, ARRIVING]
        register = _register(post, channel, 1, post.channels[channel, TURN_IN] + 1 + post.copies[m, HAVE])
        post.copies[m, HAVE] += 1
        if post.copies[m, HAVE] == post.copies[m, TOTAL]:
            post.channels[channel, ARRIVING] = -1
            post.channels[channel, TURN_IN] += 1 + post.copies[m, TOTAL]
        return register
    before = post.channels[channel, RECEIVED]
    following = post.sendings[before, AFTER] if before >= 0 else post.channels[channel, FIRST_OF]
    post.channels[channel, RECEIVED] = following
    state[HEADER] = channel
    state[BUSY] = time + 1 + post.costs[LOOKUP]
    return _register(post, channel, 1, post.channels[channel, TURN_IN])
