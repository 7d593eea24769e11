"""The judge of configurations: works from the problem and the answer alone and shares nothing with the schedulers.

It walks every way link by link, and checks that each connection stands in exactly one configuration, that ways are
those that the routing prescribes, and that no configuration uses a link, a sender or a receiver twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from pointsman.artifacts.configurations.configurations import Configurations, Timetable


def check_configurations(answer: Configurations) -> list[str]:
    """Faults of an answer, a sentence for each; an empty list if it is right."""
    problem, findings = answer.problem, []
    wanted = set(problem.connections)
    placed: dict[tuple[int, int], int] = {}
    if len(answer.paths) != len(answer.configurations):
        return [f"there are ways of {len(answer.paths)} configurations, not of {len(answer.configurations)}"]
    for number, (pairs, paths) in enumerate(zip(answer.configurations, answer.paths, strict=True)):
        where = f"configuration {number}"
        if not pairs:
            findings.append(f"{where} is empty")
        findings += _ports_once(pairs, where)
        if len(paths) != len(pairs):
            findings.append(f"{where} has {len(paths)} ways for {len(pairs)} connections")
        users: dict[tuple[int, int], tuple[int, int]] = {}
        for pair, path in zip(pairs, paths, strict=False):
            name = f"{where}, {pair[0]} -> {pair[1]}"
            if pair not in wanted:
                findings.append(f"{name}: is not a connection of the problem")
            if pair in placed:
                findings.append(f"{name}: stands in configuration {placed[pair]} already")
            placed[pair] = number
            if problem.network.kind == "crossbar":
                continue
            findings += [f"{name}: {text}" for text in _wrong_way(answer, pair, path)]
            for hop in pairwise(path):
                if hop in users:
                    findings.append(f"{name}: shares the link {hop[0]} -> {hop[1]} with {users[hop]}")
                users[hop] = pair
    findings += [f"the connection {s} -> {d} stands nowhere" for s, d in problem.connections if (s, d) not in placed]
    return findings


def check_timetable(answer: Timetable) -> list[str]:
    """Faults of configurations for a demand: ports used twice, or connections that stand for too short a time."""
    findings = []
    carried: dict[tuple[int, int], Fraction] = {}
    for number, entry in enumerate(answer.configurations):
        where = f"configuration {number}"
        findings += _ports_once(entry.connections, where)
        if not 0 <= entry.switch < answer.problem.switches:
            findings.append(f"{where} is on switch {entry.switch} of {answer.problem.switches}")
        if entry.duration <= 0:
            findings.append(f"{where} stands for {entry.duration}")
        for pair in entry.connections:
            carried[pair] = carried.get(pair, Fraction(0)) + entry.duration
    for u, row in enumerate(answer.problem.demand):
        for v, amount in enumerate(row):
            if carried.get((u, v), 0) < amount:
                findings.append(f"{u} -> {v} has {carried.get((u, v), 0)} of {amount}")
    return findings


def _ports_once(pairs: Sequence[tuple[int, int]], where: str) -> list[str]:
    findings = []
    for side, verb in ((0, "sends"), (1, "receives")):
        nodes = [pair[side] for pair in pairs]
        findings += [f"{where}: node {node} {verb} twice" for node in sorted({n for n in nodes if nodes.count(n) > 1})]
    return findings


def _wrong_way(answer: Configurations, pair: tuple[int, int], path: tuple[int, ...]) -> list[str]:
    network = answer.problem.network
    ports = network.topology.at_port
    if (path[0], path[-1]) != pair:
        return [f"its way leads from {path[0]} to {path[-1]}"]
    for u, v in pairwise(path):
        if all(other != v for other, _ in ports[u].values()):
            return [f"there is no link {u} -> {v}"]
    if answer.problem.routing == "xy" and list(path) != _expected(network.kind, network.size, *pair):
        return [f"its way is {path}, not the one of dimension order"]
    return []


def _expected(kind: str, size: tuple[int, ...], source: int, destination: int) -> list[int]:
    """Nodes of the way in dimension order, found by counting in the digit of the node number for each dimension."""
    path, stride = [source], 1
    for extent in size:
        start, end = source // stride % extent, destination // stride % extent
        ahead = (end - start) % extent
        if kind == "mesh":
            step = 1 if start < end else -1
        elif 2 * ahead == extent:
            step = (1, -1)[start % 2]
        else:
            step = 1 if 2 * ahead < extent else -1
        at = start
        while at != end:
            following = (at + step) % extent
            path.append(path[-1] + (following - at) * stride)
            at = following
        stride *= extent
    return path
