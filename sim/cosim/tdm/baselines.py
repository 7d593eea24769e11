"""Wormhole and circuit switching through a crossbar, with the times of the paper's evaluation (Ding et al. 2005, §5).

Event by event, in nanoseconds. Processors send their messages in order, without overlap; an output serves its inputs in turn.
Assumptions that the paper leaves open are stated where they are made.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

from .traffic import SwitchTraffic


@dataclass(frozen=True, kw_only=True)
class Times:
    """Nanoseconds."""

    interface: int = 10
    """Network interface, to send or to receive."""
    serialise: int = 30
    wire: int = 20
    """Ten feet, from an interface to the switch."""
    deserialise: int = 30
    crossbar: int = 10
    """Digital crossbar; a passive crossbar takes no time."""
    schedule: int = 80
    word: int = 10
    """Eight bytes at 6.4 Gb/s."""
    worm_words: int = 16
    """128 bytes, the longest worm."""

    @property
    def cable(self) -> int:
        """From an interface to the digital switch or scheduler, or back."""
        return self.serialise + self.wire + self.deserialise

    @property
    def through(self) -> int:
        """From interface to interface through a passive switch."""
        return self.serialise + 2 * self.wire + self.deserialise


def wormhole(traffic: SwitchTraffic, times: Times | None = None) -> int:
    """Nanoseconds until the last word arrived, with wormhole switching.

    The head of a worm takes the scheduler's time once its output is free, each other flit a word's time; input and output are
    busy until the tail has left the switch. Only then is the scheduler asked for the input's next worm (no overlap).
    Inputs of the switch have room for all words that come, so cables delay only the first worm.
    """
    times = times or Times()
    jobs = []
    for program in _programs(traffic):
        worms, arrived = [], times.interface + times.cable
        for destination, words in program:
            for begin in range(0, words, times.worm_words):
                size = min(times.worm_words, words - begin)
                worms.append((arrived, destination, times.schedule + (size - 1) * times.word))
                arrived += size * times.word
        jobs.append(worms)
    end = _serve(jobs, wait=0, after=0)
    return end + times.crossbar + times.cable + times.interface if end else 0


def circuit(traffic: SwitchTraffic, times: Times | None = None) -> int:
    """Nanoseconds until the last word arrived, with circuit switching.

    A processor sends a request, the scheduler answers when the output is free, and the message follows; the processor's next
    request goes out when the last word has left. The output is busy from the decision until that word has passed the switch.
    """
    times = times or Times()
    jobs = []
    for program in _programs(traffic):
        jobs.append(
            [
                (times.interface, destination, times.schedule + times.cable + words * times.word)
                for destination, words in program
            ]
        )
    end = _serve(jobs, wait=times.cable, after=times.serialise + times.wire)
    return end - times.serialise - times.wire + times.through + times.interface if end else 0


def _programs(traffic: SwitchTraffic) -> Iterator[list[tuple[int, int]]]:
    for u in range(traffic.ports):
        mine = slice(traffic.first[u], traffic.first[u + 1])
        yield list(zip(traffic.destinations[mine].tolist(), traffic.words[mine].tolist(), strict=True))


def _serve(jobs: list[list[tuple[int, int, int]]], wait: int, after: int) -> int:
    """Time at which the last output becomes free again.

    ``jobs[u]`` are the (earliest time, output, time of service) of input u, in order. An input asks for a job when its previous
    job has been served; the request is heard ``wait`` later. An output is free again ``after`` later than its service's end,
    and then serves the waiting inputs in turn.
    """
    ports = len(jobs)
    at = [0] * ports
    free = [0] * ports  # when each output is free
    turn = [0] * ports
    waiting: list[list[int]] = [[] for _ in range(ports)]
    events: list[tuple[int, int, int]] = []  # (time, 0: an output becomes free or 1: an input asks, which)
    for u, mine in enumerate(jobs):
        if mine:
            heapq.heappush(events, (mine[0][0] + wait, 1, u))
    end = 0
    while events:
        now = events[0][0]
        outputs = set()
        while events and events[0][0] == now:
            _, kind, which = heapq.heappop(events)
            if kind:
                output = jobs[which][at[which]][1]
                waiting[output].append(which)
                outputs.add(output)
            else:
                outputs.add(which)
        for output in sorted(outputs):
            if not waiting[output] or free[output] > now:
                continue
            u = min(waiting[output], key=lambda i: (i - turn[output]) % ports)
            waiting[output].remove(u)
            turn[output] = (u + 1) % ports
            served = now + jobs[u][at[u]][2]
            free[output] = served + after
            end = max(end, free[output])
            heapq.heappush(events, (free[output], 0, output))
            at[u] += 1
            if at[u] < len(jobs[u]):
                heapq.heappush(events, (max(served, jobs[u][at[u]][0]) + wait, 1, u))
    return end
