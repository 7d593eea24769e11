"""Which parts of a network belong together at the end of a phase (Metcalf 1997, §5.2.3)."""

from __future__ import annotations

from collections.abc import Iterable

from pointsman.network import Topology


def partitions(groups: Iterable[set[int]]) -> list[set[int]]:
    """Unite groups that overlap; in the order of their lowest nodes."""
    parts: list[set[int]] = []
    for group in groups:
        united = set(group)
        rest = []
        for part in parts:
            if part & united:
                united |= part
            else:
                rest.append(part)
        parts = [*rest, united]
    return sorted(parts, key=min)


def connected(part: set[int], topology: Topology) -> bool:
    """Can the nodes of ``part`` reach each other without leaving it?"""
    start = min(part)
    reached, stack = {start}, [start]
    while stack:
        for other, _ in topology.at_port[stack.pop()].values():
            if other in part and other not in reached:
                reached.add(other)
                stack.append(other)
    return reached == part
