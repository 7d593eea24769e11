"""A second simulator of reservations: event by event, on SimPy, with a dictionary entry for every channel of every link.

It shares with the kernel what a message is, the ways and the function that random numbers are drawn with (written anew here).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import simpy

from pointsman.optical.fabric import Fabric
from pointsman.optical.reservation import Scheme
from pointsman.optical.traffic import Traffic

COMPLETE, HOLD, READY, ARRIVE, SERVE = range(5)
"""Order of what happens in a slot, as priorities of events."""
KINDS = ("RES", "PROB", "ACK", "NACK", "FAIL", "REL")
MASK = (1 << 64) - 1


def scrambled(value: int) -> int:
    value = (value + 0x9E3779B97F4A7C15) & MASK
    value = ((value ^ value >> 30) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ value >> 27) * 0x94D049BB133111EB) & MASK
    return value ^ value >> 31


def drawn(seed: int, message: int, attempt: int, purpose: int, below: int) -> int:
    return scrambled(scrambled(scrambled(seed ^ message) ^ attempt) ^ purpose) % below


@dataclass
class Try:
    """An attempt: its message, its number, and the nodes of its way."""

    message: int
    number: int
    nodes: tuple[int, ...] = ()


@dataclass
class Packet:
    kind: str
    attempt: Try
    place: int
    channels: list[int] = field(default_factory=list)

    @property
    def key(self) -> tuple[int, int, int]:
        return self.attempt.message, self.attempt.number, KINDS.index(self.kind)


class Simulation:
    """All messages' fates: ``established``, ``started``, ``done``, ``channel`` by message; ``retries``, ``hops``, ``settings``"""

    def __init__(self, fabric: Fabric, degree: int, protocol: Scheme, traffic: Traffic, seed: int) -> None:
        self.env = simpy.Environment()
        self.fabric, self.degree, self.protocol, self.traffic, self.seed = fabric, degree, protocol, traffic, seed
        self.owner: dict[tuple[Any, int], tuple[str, int, int]] = {}
        """(link or port, channel) → state LOCK or BUSY, message and number of the attempt; none: AVAIL."""
        self.queue: list[deque[Packet]] = [deque() for _ in range(fabric.nodes)]
        self.coming: list[list[Packet]] = [[] for _ in range(fabric.nodes)]
        self.idle = [True] * fabric.nodes
        self.held: list[list[tuple[int, Packet]]] = [[] for _ in range(fabric.nodes)]
        self.established: dict[int, int] = {}
        self.started: dict[int, int] = {}
        self.done: dict[int, int] = {}
        self.channel: dict[int, int] = {}
        self.retries = self.hops = self.settings = 0
        self.asking = [0] * fabric.nodes
        self.waiting: list[deque[int]] = [deque() for _ in range(fabric.nodes)]
        for message in range(len(traffic)):
            self.later(int(traffic.ready[message]), READY, lambda m=message: self.ask(m))

    # Messages

    def ask(self, message: int) -> None:
        node = int(self.traffic.source[message])
        self.waiting[node].append(message)
        self.ask_next(node)

    def ask_next(self, node: int) -> None:
        limit = self.protocol.requests
        while self.waiting[node] and (limit is None or self.asking[node] < limit):
            self.asking[node] += 1
            first = "RES" if self.protocol.direction == "forward" else "PROB"
            self.at(int(self.env.now), Packet(first, Try(self.waiting[node].popleft(), 0), 0))

    # Events

    def later(self, delay: int, phase: int, action: Any) -> None:
        event = self.env.event()
        event._ok, event._value = True, None
        event.callbacks.append(lambda _: action())
        self.env.schedule(event, priority=phase, delay=delay)

    def at(self, time: int, packet: Packet) -> None:
        node = self.node(packet)
        self.later(time - int(self.env.now), ARRIVE, lambda: self.arrive(node, packet))

    def send(self, packet: Packet) -> None:
        self.at(int(self.env.now) + self.protocol.control_slots[1], packet)

    def node(self, packet: Packet) -> int:
        return packet.attempt.nodes[packet.place] if packet.place else int(self.traffic.source[packet.attempt.message])

    def arrive(self, node: int, packet: Packet) -> None:
        self.coming[node].append(packet)
        self.later(0, SERVE, lambda: self.serve(node))

    def serve(self, node: int) -> None:
        self.queue[node].extend(sorted(self.coming[node], key=lambda packet: packet.key))
        self.coming[node].clear()
        if self.idle[node] and self.queue[node]:
            self.idle[node] = False
            packet = self.queue[node].popleft()
            self.later(self.protocol.control_slots[0], COMPLETE, lambda: self.complete(node, packet))

    def complete(self, node: int, packet: Packet) -> None:
        self.hops += 1
        self.idle[node] = True
        self.later(0, SERVE, lambda: self.serve(node))
        actions = {
            "RES": self.res,
            "PROB": self.prob,
            "ACK": self.ack,
            "NACK": self.nack,
            "FAIL": self.rel,
            "REL": self.rel,
        }
        actions[packet.kind](packet)

    # Channels

    def here(self, packet: Packet) -> list[Any]:
        nodes, place = packet.attempt.nodes, packet.place
        found: list[Any] = [("sender", nodes[0])] if place == 0 else []
        return [*found, ("receiver", nodes[-1]) if place == len(nodes) - 1 else nodes[place : place + 2]]

    def available(self, packet: Packet) -> list[int]:
        return [c for c in range(self.degree) if all((one, c) not in self.owner for one in self.here(packet))]

    def take(self, packet: Packet, channels: list[int], state: str) -> None:
        who = (state, packet.attempt.message, packet.attempt.number)
        for one in self.here(packet):
            for channel in channels:
                assert self.owner.get((one, channel), who)[1:] == who[1:], "somebody else's channel"
                self.owner[one, channel] = who

    def give_back(self, packet: Packet, but: list[int]) -> None:
        who = (packet.attempt.message, packet.attempt.number)
        for one in self.here(packet):
            for channel in range(self.degree):
                if channel not in but and self.owner.get((one, channel), ("", -1, -1))[1:] == who:
                    del self.owner[one, channel]

    # What routers do

    def begin(self, packet: Packet) -> None:
        message, number = packet.attempt.message, packet.attempt.number
        source, destination = int(self.traffic.source[message]), int(self.traffic.destination[message])
        channels = list(range(self.degree))
        size = self.protocol.cset or self.degree
        if self.protocol.direction == "forward" and size < self.degree:
            m = drawn(self.seed, message, number, 1, self.degree)
            channels = sorted((m + i) % self.degree for i in range(size))
        packet.channels = channels
        ways = [self.fabric.way(source, destination, way) for way in range(len(self.fabric.next_link))]
        if len(ways) > 1:
            turn = drawn(self.seed, message, number, 3, len(ways))
            ways = ways[turn:] + ways[:turn]
            room = [sum((way[:2], c) not in self.owner for c in channels) for way in ways]
            ways = [ways[room.index(max(room))]]
        packet.attempt.nodes = ways[0]

    def prob(self, packet: Packet) -> None:
        if not packet.attempt.nodes:
            self.begin(packet)
        hops = len(packet.attempt.nodes) - 1
        if self.protocol.probe is None or hops - packet.place <= self.protocol.probe:
            packet.channels = [c for c in packet.channels if c in self.available(packet)]
        if not packet.channels:
            self.fail(packet)
        elif packet.place < hops:
            self.send(Packet("PROB", packet.attempt, packet.place + 1, packet.channels))
        else:
            count, size = len(packet.channels), self.protocol.cset or self.degree
            if size < count:
                m = drawn(self.seed, packet.attempt.message, packet.attempt.number, 1, count)
                packet.channels = sorted(packet.channels[(m + i) % count] for i in range(size))
            self.res(Packet("RES", packet.attempt, packet.place, packet.channels))

    def res(self, packet: Packet) -> None:
        if not packet.attempt.nodes:
            self.begin(packet)
        if self.lock(packet):
            return
        if not self.protocol.hold:
            self.fail(packet)
            return
        node, since = self.node(packet), int(self.env.now)
        self.held[node].append((since, packet))
        for delay in range(1, self.protocol.hold + 1):
            self.later(delay, HOLD, lambda: self.try_held(node, since, packet))

    def try_held(self, node: int, since: int, packet: Packet) -> None:
        # A router's held packets are tried in the order of their events, which is the order in which they came: the
        # events of a packet that came earlier were scheduled earlier.
        if not any(one is packet for _, one in self.held[node]):
            return
        if self.lock(packet):
            self.held[node] = [entry for entry in self.held[node] if entry[1] is not packet]
        elif int(self.env.now) - since == self.protocol.hold:
            self.held[node] = [entry for entry in self.held[node] if entry[1] is not packet]
            self.fail(packet)

    def lock(self, packet: Packet) -> bool:
        channels = [c for c in packet.channels if c in self.available(packet)]
        if not channels:
            return False
        forward = self.protocol.direction == "forward"
        attempt, place = packet.attempt, packet.place
        if place == (len(attempt.nodes) - 1 if forward else 0):
            self.take(packet, channels[:1], "BUSY")
            self.settings += 1
            if forward:
                self.send(Packet("ACK", attempt, place - 1, channels[:1]))
            else:
                self.establish(attempt, channels[0])
                if not self.protocol.conservative:
                    self.send(Packet("ACK", attempt, 1, channels[:1]))
        else:
            self.take(packet, channels, "LOCK")
            self.settings += len(channels) if self.protocol.set_at == "res" else 0
            self.send(Packet("RES", attempt, place + (1 if forward else -1), channels))
        return True

    def fail(self, packet: Packet) -> None:
        if self.protocol.direction == "backward" and packet.kind == "RES":
            self.send(Packet("FAIL", packet.attempt, packet.place + 1))
        if packet.place:
            self.send(Packet("NACK", packet.attempt, packet.place - 1))
        else:
            self.again(packet.attempt)

    def again(self, attempt: Try) -> None:
        self.retries += 1
        wait = drawn(self.seed, attempt.message, attempt.number, 2, self.protocol.retry)
        first = "RES" if self.protocol.direction == "forward" else "PROB"
        self.at(int(self.env.now) + wait, Packet(first, Try(attempt.message, attempt.number + 1), 0))

    def nack(self, packet: Packet) -> None:
        self.give_back(packet, [])
        if packet.place:
            self.send(Packet("NACK", packet.attempt, packet.place - 1))
        else:
            self.again(packet.attempt)

    def ack(self, packet: Packet) -> None:
        self.give_back(packet, packet.channels)
        self.take(packet, packet.channels, "BUSY")
        self.settings += self.protocol.set_at == "ack"
        if self.protocol.direction == "forward":
            if packet.place:
                self.send(Packet("ACK", packet.attempt, packet.place - 1, packet.channels))
            else:
                self.establish(packet.attempt, packet.channels[0])
        elif packet.place < len(packet.attempt.nodes) - 1:
            self.send(Packet("ACK", packet.attempt, packet.place + 1, packet.channels))

    def establish(self, attempt: Try, channel: int) -> None:
        message, now = attempt.message, int(self.env.now)
        assert message not in self.established, "established twice"
        self.established[message], self.channel[message] = now, channel
        slot, sent = now, 0
        while True:
            if slot % self.degree == channel:
                self.started.setdefault(message, slot)
                sent += 1
                if sent == self.traffic.slots[message]:
                    break
            slot += 1
        self.done[message] = slot + 1
        self.at(slot + 1, Packet("REL", attempt, 0))
        node = attempt.nodes[0]
        self.asking[node] -= 1
        self.ask_next(node)

    def rel(self, packet: Packet) -> None:
        self.give_back(packet, [])
        if packet.place < len(packet.attempt.nodes) - 1:
            self.send(Packet(packet.kind, packet.attempt, packet.place + 1))

    def run(self, until: int | None = None) -> Simulation:
        self.env.run(until)
        return self
