"""Arrivals -> interface addresses: a greedy colouring, the busiest operators first (Metcalf 1997, §7.2.2 and §7.2.3).

Address 0 is for sending. If a node needs more addresses than it has, its busiest arrivals get addresses of their own, and all
others share its last address, the multiplex address, where a second header word holds a virtual address.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from .arrivals import Arrival


@dataclass(frozen=True)
class Address:
    """Interface address of an arrival; ``virtual`` is its number at the multiplex address, None elsewhere."""

    number: int
    virtual: int | None = None


def allocate(
    arrivals: Mapping[Arrival, float], conflicts: Mapping[int, set[frozenset[Arrival]]], addresses: int
) -> dict[Arrival, Address]:
    """Give arrivals addresses such that conflicting arrivals have different ones.

    Parameters
    ----------
    arrivals : mapping of Arrival to float
        Words of each arrival in a run of the program.
    conflicts : mapping of node to set of pairs
    addresses : int
        Interface addresses of a node, with address 0; at least 2.
    """
    at_node: dict[int, list[Arrival]] = defaultdict(list)
    for arrival in sorted(arrivals, key=lambda a: (-arrivals[a], a)):
        at_node[arrival.node].append(arrival)
    found: dict[Arrival, Address] = {}
    for node, here in sorted(at_node.items()):
        enemies: dict[Arrival, set[Arrival]] = defaultdict(set)
        for pair in conflicts.get(node, ()):
            one, other = pair
            enemies[one].add(other)
            enemies[other].add(one)
        colours: dict[Arrival, int] = {}
        for arrival in here:
            taken = {colours[other] for other in enemies[arrival] if other in colours}
            colours[arrival] = next(c for c in range(1, len(here) + 1) if c not in taken)
        multiplexed = max(colours.values()) > addresses - 1
        for arrival, colour in colours.items():
            shared = multiplexed and colour >= addresses - 1
            found[arrival] = Address(addresses - 1, colour) if shared else Address(colour)
    return found
