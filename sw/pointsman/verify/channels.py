"""The judge of phased connections and of message routes: works from the problem and the answer alone.

It walks every way, counts the channels of every node in every phase, and lays the transfers of every processor side by side.
For messages it looks for a circle among channels that wait for each other (Dally and Seitz 1987).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from pointsman.artifacts.channels.channels import ChannelRoute, PhasedConnections

Channel = tuple[int, int, int]
"""(node, next node, pool)"""


def check_phases(answer: PhasedConnections) -> list[str]:
    """Faults of an answer, a sentence for each; an empty list if it is right."""
    problem, findings = answer.problem, []
    when: dict[int, tuple[int, ChannelRoute]] = {}
    for number, routes in enumerate(answer.phases):
        if not routes:
            findings.append(f"phase {number} is empty")
        holders: dict[tuple[int, int], int] = {}
        on_link: dict[tuple[int, int], list[int]] = {}
        for route in routes:
            name = f"phase {number}, connection {route.connection}"
            if not 0 <= route.connection < len(problem.connections):
                findings.append(f"{name}: is no connection of the problem")
                continue
            if route.connection in when:
                findings.append(f"{name}: stands in phase {when[route.connection][0]} already")
            when[route.connection] = (number, route)
            findings += [f"{name}: {text}" for text in _wrong_way(answer, route)]
            for node, channel in zip(route.path, route.channels, strict=False):
                if not 0 <= channel < problem.channels:
                    findings.append(f"{name}: node {node} has no channel {channel} among {problem.channels}")
                if (node, channel) in holders:
                    findings.append(f"{name}: channel {channel} of node {node} belongs to {holders[node, channel]}")
                holders[node, channel] = route.connection
            for hop in pairwise(route.path):
                on_link.setdefault(hop, []).append(route.connection)
        for hop, users in on_link.items():
            for one in users:
                if problem.connections[one].bandwidth * len(users) > 1:
                    findings.append(
                        f"phase {number}: {len(users)} connections on {hop[0]} -> {hop[1]} leave {one} too little"
                    )
        findings += _overlaps(answer, number, routes)
    findings += [f"connection {c} stands in no phase" for c in range(len(problem.connections)) if c not in when]
    for before, later in problem.order:
        if before in when and later in when:
            first, second = when[before], when[later]
            if (first[0], first[1].end if first[0] == second[0] else 0) > (second[0], second[1].start):
                findings.append(f"connection {later} begins before {before} has ended")
    if problem.phases is not None and len(answer.phases) > problem.phases:
        findings.append(f"there are {len(answer.phases)} phases, and {problem.phases} at most are wanted")
    return findings


def circle_of(routes: Iterable[Sequence[Channel]]) -> list[Channel] | None:
    """Channels that wait for each other in a circle, or None: then messages on these routes cannot deadlock."""
    after: dict[Channel, set[Channel]] = {}
    for route in routes:
        for one, other in pairwise(route):
            after.setdefault(one, set()).add(other)
    done: set[Channel] = set()
    for start in sorted(after):
        if start in done:
            continue
        trail = [start]
        todo = [iter(sorted(after[start]))]
        while todo:
            following = next(todo[-1], None)
            if following is None:
                done.add(trail.pop())
                todo.pop()
            elif following in trail:
                return trail[trail.index(following) :]
            elif following not in done:
                trail.append(following)
                todo.append(iter(sorted(after.get(following, ()))))
    return None


def _wrong_way(answer: PhasedConnections, route: ChannelRoute) -> list[str]:
    problem = answer.problem
    demand, path = problem.connections[route.connection], route.path
    if len(path) < 2 or (path[0], path[-1]) != (demand.source, demand.destination):
        return [f"its way is {path}, not one from {demand.source} to {demand.destination}"]
    if len(set(path)) < len(path):
        return [f"its way {path} passes a node twice"]
    if len(route.channels) != len(path):
        return [f"it has {len(route.channels)} channels at {len(path)} nodes"]
    ports = problem.topology.at_port
    for u, v in pairwise(path):
        if all(other != v for other, _ in ports[u].values()):
            return [f"there is no link {u} -> {v}"]
    if demand.latency is not None and (len(path) - 1) * problem.costs.hop > demand.latency:
        return [f"its way has {len(path) - 1} links, too many for {demand.latency} clocks"]
    return []


def _overlaps(answer: PhasedConnections, number: int, routes: Sequence[ChannelRoute]) -> list[str]:
    """Transfers of one processor at the same time, or of a wrong length."""
    problem, findings = answer.problem, []
    table: dict[tuple[int, str], list[tuple[int, int, int]]] = {}
    for route in routes:
        if not 0 <= route.connection < len(problem.connections):
            continue
        demand = problem.connections[route.connection]
        costs = problem.costs
        clocks = demand.words * max(costs.word, costs.access or 0)
        if route.start < 0 or route.end - route.start != clocks:
            findings.append(
                f"phase {number}, connection {route.connection}: its transfer does not take {clocks} clocks"
            )
        sides = ("sends", "receives") if problem.costs.duplex else ("is busy", "is busy")
        for node, side in zip((demand.source, demand.destination), sides, strict=True):
            table.setdefault((node, side), []).append((route.start, route.end, route.connection))
    for (node, side), entries in sorted(table.items()):
        for one, other in pairwise(sorted(entries)):
            if other[0] < one[1]:
                findings.append(f"phase {number}: node {node} {side} with {one[2]} and {other[2]} at the same time")
    return findings
