"""A second simulator of packets that hop, event by event on SimPy. It shares the assignment and the routes with the first."""

from __future__ import annotations

from collections import deque
from typing import Any

import simpy

from pointsman.optical.logical import Logical
from pointsman.optical.traffic import Traffic

ROUTED, ARRIVE, INJECT, SERVE, SEND = range(5)
"""Order of what happens in a slot."""


class Hopping:
    """``started`` and ``done`` by message."""

    def __init__(self, logical: Logical, switch: int, traffic: Traffic) -> None:
        self.env = simpy.Environment()
        self.logical, self.switch, self.traffic = logical, switch, traffic
        nodes = logical.fabric.nodes
        self.buffers: list[deque[int]] = [deque() for _ in range(nodes)]
        self.paths: list[deque[int]] = [deque() for _ in logical.paths]
        self.busy = [False] * nodes
        self.sources: list[deque[list[int]]] = [deque() for _ in range(nodes)]
        self.arrived: dict[int, int] = {}
        self.started: dict[int, int] = {}
        self.done: dict[int, int] = {}
        for message in range(len(traffic)):
            self.at(int(traffic.ready[message]), INJECT, lambda m=message: self.ready(m))

    def at(self, delay: int, phase: int, action: Any) -> None:
        event = self.env.event()
        event._ok, event._value = True, None
        event.callbacks.append(lambda _: action())
        self.env.schedule(event, priority=phase, delay=delay)

    def ready(self, message: int) -> None:
        source = int(self.traffic.source[message])
        self.sources[source].append([message, int(self.traffic.slots[message])])
        if len(self.sources[source]) == 1:
            self.at(0, INJECT + 0.5, lambda: self.inject(source))  # after all that are ready in this slot

    def inject(self, source: int) -> None:
        queue = self.sources[source]
        queue[0][1] -= 1
        self.buffers[source].append(queue[0][0])
        if not queue[0][1]:
            queue.popleft()
        self.at(0, SERVE, lambda: self.serve(source))
        if queue:
            self.at(1, INJECT + 0.5, lambda: self.inject(source))

    def serve(self, node: int) -> None:
        if not self.busy[node] and self.buffers[node]:
            self.busy[node] = True
            message = self.buffers[node].popleft()
            self.at(self.switch, ROUTED, lambda: self.routed(node, message))

    def routed(self, node: int, message: int) -> None:
        self.busy[node] = False
        self.at(0, SERVE, lambda: self.serve(node))
        destination = int(self.traffic.destination[message])
        if node == destination:
            self.arrived[message] = self.arrived.get(message, 0) + 1
            if self.arrived[message] == self.traffic.slots[message]:
                self.done[message] = int(self.env.now)
            return
        path = int(self.logical.next_path[node, destination])
        self.paths[path].append(message)
        if len(self.paths[path]) == 1:
            self.at(
                (int(self.logical.slots[path]) - int(self.env.now)) % self.logical.degree, SEND, lambda: self.send(path)
            )

    def send(self, path: int) -> None:
        message = self.paths[path].popleft()
        self.started.setdefault(message, int(self.env.now))
        end = self.logical.paths[path][1]
        # No two connections to a node have the same slot, so arrivals need no order.
        self.at(1, ARRIVE, lambda: (self.buffers[end].append(message), self.at(0, SERVE, lambda: self.serve(end))))
        if self.paths[path]:
            self.at(self.logical.degree, SEND, lambda: self.send(path))

    def run(self, until: int) -> Hopping:
        self.env.run(until)
        return self
