"""What happens in a clock, and the compiled engine for it.

A *flow* is a connection or a message; its channel 0 is at its source, channel i at the i-th node of its way. In clock t, judged
by what stands at the beginning of the clock:

- *receivers*: the receiving unit of a cell, if it is active and its last word was at least ``element`` clocks ago, takes a word
  from the last channel of its flow;
- *links*: a link whose last word was at least ``word`` clocks ago carries a word: of the flows that have a word at its beginning
  and room in the channel at its end, the next one in turn. The word arrives ``hop`` clocks later; until then it counts in the
  channel at the end;
- *senders*: the sending unit of a cell puts a word into channel 0 of its flow, where it is in the next clock;
- *gates*: the header of a message asks, when it has arrived, for a channel of its pool on the next link; whoever has waited
  longest gets a free one and may go on in the next clock. The channel is free again in the clock after the trailer has left it.

So a link is shared word by word, and a receiver that does not take its words holds up its own flow only, or, with messages, all
that wait for its channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.kernels import kernel

from .machine import ChannelMachine

NEVER = 1 << 62
MOST_NODES = 1 << 12
"""More than there are nodes on any way."""
SENDING, RECEIVING = 0, 1
MESSAGES = 1 << 20
"""Flows of messages have numbers from here on, those of connections from 0."""


class Flow(NamedTuple):
    """Nodes of a way and, for a message, the pool on each of its links; ``words`` of a message, 0 for a connection."""

    path: tuple[int, ...]
    pools: tuple[int, ...] = ()
    words: int = 0


class Advance(NamedTuple):
    """Until when the fabric went, and the units (cell, SENDING or RECEIVING) and messages (arrived headers) that something
    happened to in the clock before. ``stuck``: nothing will ever happen again by itself."""

    clock: int
    done: list[tuple[int, int]]
    arrived: list[int]
    stuck: bool


class Fabric(Protocol):
    """Links, channels and the units of processors; two engines have this interface."""

    def connect(self, flows: Sequence[Flow]) -> None:
        """Replace all connections; whatever words they still have are lost. Flows 0, 1, … are these. Messages stay."""

    def message(self, flow: Flow) -> int:
        """A message that is about to be sent; the number of its flow, `MESSAGES` or more."""

    def begin(self, cell: int, unit: int, flow: int, words: int, element: int, ready: int) -> None:
        """A unit moves ``words`` words of a flow, one each ``element`` clocks, from clock ``ready`` on."""

    def advance(self, clock: int, until: int) -> Advance:
        """Go on from ``clock`` until a unit is done, a header has arrived, or ``until``."""

    def in_flight(self) -> dict[int, int]:
        """Words in channels, by connection."""


class State(NamedTuple):
    """The engine's memory. Its first flows are the messages, so that they stay where they are when connections are replaced.
    Channel ``base[f] + i`` is channel i of flow f; ``turn[l]`` the place of link l that went last."""

    base: np.ndarray
    length: np.ndarray
    words: np.ndarray
    passed: np.ndarray
    link_of: np.ndarray
    gate_of: np.ndarray
    head: np.ndarray
    held: np.ndarray
    freed: np.ndarray
    arrival: np.ndarray
    places: np.ndarray
    place_from: np.ndarray
    place_free: np.ndarray
    place_pool: np.ndarray
    n_places: np.ndarray
    link_ready: np.ndarray
    turn: np.ndarray
    waiting: np.ndarray
    waiting_since: np.ndarray
    n_waiting: np.ndarray
    unit_flow: np.ndarray
    unit_left: np.ndarray
    unit_element: np.ndarray
    unit_ready: np.ndarray
    happened: np.ndarray
    coming: np.ndarray
    n_coming: np.ndarray


class CompiledFabric:
    """The fabric in a compiled loop over clocks; clocks in which nothing can move are passed over."""

    def __init__(self, machine: ChannelMachine, most_messages: int = 0, longest: int = 0) -> None:
        """``most_messages`` of at most ``longest`` nodes can be sent."""
        topology = machine.topology
        pairs = sorted({(node, other) for node, ports in enumerate(topology.at_port) for other, _ in ports.values()})
        self._link = {pair: index for index, pair in enumerate(pairs)}
        self._machine = machine
        self._most, self._longest = most_messages, longest
        self._messages = 0
        self._connections = 0
        links, cells = len(pairs), topology.nodes
        self._room = 2 * machine.pool_channels
        into = max((sum(v == node for _, v in pairs) for node in range(cells)), default=0)
        self._units = [np.full((cells, 2), value, np.int64) for value in (-1, 0, 1, 0)]
        self._link_ready = np.zeros(links, np.int64)
        self._queues = 1 + into * self._room
        self._state: State
        self.connect(())

    def connect(self, flows: Sequence[Flow]) -> None:
        links, machine, most, room = len(self._link), self._machine, self._most, self._room
        before: State | None = self._state if self._messages else None
        self._connections = len(flows)
        count, own = most + len(flows), most * self._longest
        total = own + sum(len(flow.path) for flow in flows)
        base = np.arange(count, dtype=np.int64) * self._longest
        length = np.zeros(count, np.int64)
        link_of = np.full(total, -1, np.int64)
        places: list[list[tuple[int, int]]] = [[] for _ in range(links)]
        at = own
        for f, flow in enumerate(flows, most):
            base[f], length[f] = at, len(flow.path)
            for i in range(len(flow.path) - 1):
                link = self._link[flow.path[i], flow.path[i + 1]]
                link_of[at + i] = link
                places[link].append((f, i))
            at += len(flow.path)
        width = room + max((len(entries) for entries in places), default=0)
        table = np.full((links, width, 2), -1, np.int64)
        pool = np.full((links, width), -1, np.int64)
        pool[:, :room] = np.arange(room) // machine.pool_channels
        for link, entries in enumerate(places):
            for place, entry in enumerate(entries, room):
                table[link, place] = entry
        gates = 2 * links if most else 0
        self._state = State(
            base,
            length,
            np.zeros(count, np.int64),
            np.zeros(total, np.int64),
            link_of,
            np.full(total, -1, np.int64),
            np.zeros(total, np.int64),
            np.zeros(total, np.int64),
            np.full(total, -1, np.int64),
            np.full((total, machine.buffer), NEVER, np.int64),
            table,
            np.zeros((links, width), np.int64),
            np.zeros((links, width), np.int64),
            pool,
            np.array([room + len(entries) for entries in places], np.int64),
            self._link_ready,
            np.full(links, -1, np.int64),
            np.full((gates, self._queues), -1, np.int64),
            np.zeros((gates, self._queues), np.int64),
            np.zeros(gates, np.int64),
            self._units[0],
            self._units[1],
            self._units[2],
            self._units[3],
            np.full(count, -1, np.int64),
            np.zeros(most, np.int64),
            np.zeros(1, np.int64),
        )
        if before is not None:
            self._keep_messages(before, own)

    def _keep_messages(self, before: State, own: int) -> None:
        """Take over what messages had; ``own``: their channels."""
        after, most, room = self._state, self._most, self._room
        for new, old, rows in (
            *((getattr(after, name), getattr(before, name), most) for name in ("length", "words", "happened")),
            *(
                (getattr(after, name), getattr(before, name), own)
                for name in ("passed", "link_of", "gate_of", "head", "held", "freed", "arrival")
            ),
        ):
            new[:rows] = old[:rows]
        for name in ("places", "place_from", "place_free"):
            getattr(after, name)[:, :room] = getattr(before, name)[:, :room]
        for name in ("waiting", "waiting_since", "n_waiting", "coming", "n_coming"):
            getattr(after, name)[...] = getattr(before, name)

    def message(self, flow: Flow) -> int:
        f = self._messages
        if f >= self._most:
            raise PointsmanError(f"more than {self._most} messages are sent", hint="ChannelSession(…, messages=MOST)")
        self._messages += 1
        state = self._state
        state.length[f], state.words[f] = len(flow.path), flow.words
        for i, pool in enumerate(flow.pools):
            link = self._link[flow.path[i], flow.path[i + 1]]
            state.link_of[state.base[f] + i] = link
            state.gate_of[state.base[f] + i] = 2 * link + pool
        return MESSAGES + f

    def begin(self, cell: int, unit: int, flow: int, words: int, element: int, ready: int) -> None:
        assert self._state.unit_left[cell, unit] == 0, "a unit does one thing at a time"
        inner = flow - MESSAGES if flow >= MESSAGES else self._most + flow
        for array, value in zip(self._units, (inner, words, element, ready), strict=True):
            array[cell, unit] = value

    def advance(self, clock: int, until: int) -> Advance:
        costs = self._machine.costs
        clock, happened = _advance(self._state, clock, until, costs.word, costs.hop)
        if happened != 1:
            return Advance(clock, [], [], happened == 2)
        cells, units = np.nonzero((self._state.unit_flow >= 0) & (self._state.unit_left == 0))
        self._state.unit_flow[cells, units] = -1
        arrived = (MESSAGES + np.flatnonzero(self._state.happened == clock - 1)).tolist()
        return Advance(clock, list(zip(cells.tolist(), units.tolist(), strict=True)), arrived, False)

    def in_flight(self) -> dict[int, int]:
        state, found = self._state, {}
        for f in range(self._connections):
            first = state.base[self._most + f]
            held = int(state.held[first : first + state.length[self._most + f]].sum())
            if held:
                found[f] = held
        return found


@kernel
def _advance(state: State, clock: int, until: int, word: int, hop: int) -> tuple[int, int]:
    """Clock at the end, and 0: ``until``, 1: something happened in the clock before, 2: nothing will."""
    links, size = len(state.link_ready), state.arrival.shape[1]
    cells = len(state.unit_left)
    while clock < until:
        following = NEVER
        moved = False
        happened = False
        for cell in range(cells):
            if state.unit_left[cell, 1] > 0:
                f = state.unit_flow[cell, 1]
                last = state.base[f] + state.length[f] - 1
                ready = state.unit_ready[cell, 1]
                if state.held[last] > 0:
                    ready = max(ready, state.arrival[last, state.head[last]])
                    if ready <= clock:
                        _remove(state, f, state.length[f] - 1, clock)
                        state.unit_left[cell, 1] -= 1
                        state.unit_ready[cell, 1] = clock + state.unit_element[cell, 1]
                        moved = True
                        happened |= state.unit_left[cell, 1] == 0
                    else:
                        following = min(following, ready)
        for link in range(links):
            n = state.n_places[link]
            if n == 0:
                continue
            if state.link_ready[link] > clock:
                following = min(following, state.link_ready[link])
                continue
            for step in range(1, n + 1):
                place = (state.turn[link] + step) % n
                f, i = state.places[link, place, 0], state.places[link, place, 1]
                if f < 0:
                    continue
                here = state.base[f] + i
                if state.held[here] == 0 or state.held[here + 1] + (state.freed[here + 1] == clock) >= size:
                    continue
                ready = max(state.arrival[here, state.head[here]], state.place_from[link, place])
                if ready > clock:
                    following = min(following, ready)
                    continue
                _remove(state, f, i, clock)
                _add(state, f, i + 1, clock + hop)
                state.link_ready[link] = clock + word
                state.turn[link] = place
                moved = True
                break
        for cell in range(cells):
            if state.unit_left[cell, 0] > 0:
                f = state.unit_flow[cell, 0]
                first = state.base[f]
                if state.held[first] + (state.freed[first] == clock) < size:
                    if state.unit_ready[cell, 0] <= clock:
                        _add(state, f, 0, clock + 1)
                        state.unit_left[cell, 0] -= 1
                        state.unit_ready[cell, 0] = clock + state.unit_element[cell, 0]
                        moved = True
                        happened |= state.unit_left[cell, 0] == 0
                    else:
                        following = min(following, state.unit_ready[cell, 0])
        for gate in range(len(state.n_waiting)):
            if state.n_waiting[gate] > 0:
                granted, later = _grant(state, gate, clock)
                moved |= granted
                following = min(following, later)
        kept = 0
        for k in range(state.n_coming[0]):
            f = state.coming[k]
            if state.happened[f] <= clock:  # it may have arrived while nothing was looked at
                state.happened[f] = clock
                happened = True
            else:
                following = min(following, state.happened[f])
                state.coming[kept] = f
                kept += 1
        state.n_coming[0] = kept
        clock += 1
        if happened:
            return clock, 1
        if not moved:
            if following == NEVER:
                return clock, 2
            clock = max(clock, min(following, until))
    return clock, 0


@kernel
def _remove(state: State, f: int, i: int, clock: int) -> None:
    """A word leaves channel i of flow f; with the trailer of a message the channel is given back."""
    channel = state.base[f] + i
    state.head[channel] = (state.head[channel] + 1) % state.arrival.shape[1]
    state.held[channel] -= 1
    state.freed[channel] = clock
    if i > 0 and state.words[f] > 0:
        state.passed[channel] += 1
        if state.passed[channel] == state.words[f]:
            link = state.link_of[channel - 1]
            for place in range(state.n_places[link]):
                if state.places[link, place, 0] == f and state.places[link, place, 1] == i - 1:
                    state.places[link, place, 0] = -1
                    state.place_free[link, place] = clock + 1


@kernel
def _add(state: State, f: int, i: int, arrival: int) -> None:
    """A word is on its way to channel i of flow f. The header of a message queues for what comes next; at the end of its way it
    has arrived."""
    channel = state.base[f] + i
    size = state.arrival.shape[1]
    state.arrival[channel, (state.head[channel] + state.held[channel]) % size] = arrival
    state.held[channel] += 1
    if state.words[f] == 0:
        return
    if i == 0:
        state.passed[channel] += 1
    if i > 0 and (state.held[channel] > 1 or state.passed[channel] > 0):
        return
    if i == 0 and state.passed[channel] > 1:
        return
    if i == state.length[f] - 1:
        state.happened[f] = arrival
        state.coming[state.n_coming[0]] = f
        state.n_coming[0] += 1
        return
    gate = state.gate_of[channel]
    n = state.n_waiting[gate]
    state.waiting[gate, n] = f * MOST_NODES + i
    state.waiting_since[gate, n] = arrival
    state.n_waiting[gate] = n + 1


@kernel
def _grant(state: State, gate: int, clock: int) -> tuple[bool, int]:
    """Give a free channel of a pool on a link to whoever has waited longest; whether, and when there may be more to do."""
    link, pool = gate // 2, gate % 2
    free, later = -1, NEVER
    for place in range(state.n_places[link]):
        if state.place_pool[link, place] == pool and state.places[link, place, 0] < 0:
            if state.place_free[link, place] > clock:
                later = min(later, state.place_free[link, place])
            elif free < 0:
                free = place
    best = -1
    for k in range(state.n_waiting[gate]):
        if state.waiting_since[gate, k] > clock:
            later = min(later, state.waiting_since[gate, k])
            continue
        if best < 0 or (state.waiting_since[gate, k], state.waiting[gate, k]) < (
            state.waiting_since[gate, best],
            state.waiting[gate, best],
        ):
            best = k
    if best < 0 or free < 0:
        return False, later
    state.places[link, free, 0] = state.waiting[gate, best] // MOST_NODES
    state.places[link, free, 1] = state.waiting[gate, best] % MOST_NODES
    state.place_from[link, free] = clock + 1
    n = state.n_waiting[gate] - 1
    state.waiting[gate, best] = state.waiting[gate, n]
    state.waiting_since[gate, best] = state.waiting_since[gate, n]
    state.n_waiting[gate] = n
    return True, later
