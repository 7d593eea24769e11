"""Arrivals -> interface addresses: a greedy colouring, the busiest operators first (Metcalf 1997, §7.2.2 and §7.2.3).

Address 0 is for sending. Whether two arrivals may share an address is a matter of waiting, not of right or wrong: the tag in the
header of a message tells the arrivals at an address apart, and where they are more than there are tags, a virtual address in
a second header word does. So every arrival at a node has a name of its own, and no message is taken for another operator's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from packet_router.header import TAGS

from .arrivals import Arrival


@dataclass(frozen=True, order=True)
class Address:
    """Where the messages of an arrival come, unlike those of any other arrival at the node.

    ``number``: the interface address. ``tag``: in the header. ``virtual``: in a second header word, None: there is none. At
    an address at which some message has a second header word, exactly those with the last tag have it.
    """

    number: int
    tag: int = 0
    virtual: int | None = None


def allocate(
    arrivals: Mapping[Arrival, float], conflicts: Mapping[int, set[frozenset[Arrival]]] | None, addresses: int
) -> dict[Arrival, Address]:
    """Give arrivals addresses such that conflicting arrivals have different ones, as long as there are enough.

    Parameters
    ----------
    arrivals : mapping of Arrival to float
        Words of each arrival in a run of the program.
    conflicts : mapping of node to set of pairs, or None
        Arrivals that should not wait in the same queue. None: any two; they share addresses evenly.
    addresses : int
        Interface addresses of a node, with address 0; at least 2.
    """
    at_node: dict[int, list[Arrival]] = defaultdict(list)
    for arrival in sorted(arrivals, key=lambda a: (-arrivals[a], a)):
        at_node[arrival.node].append(arrival)
    found: dict[Arrival, Address] = {}
    for node, here in at_node.items():
        if conflicts is None:
            numbers = range(1, addresses)
            for number in numbers:
                found.update(_named(number, here[number - 1 :: len(numbers)]))
            continue
        enemies: dict[Arrival, set[Arrival]] = defaultdict(set)
        for pair in conflicts.get(node, ()):
            one, other = pair
            enemies[one].add(other)
            enemies[other].add(one)
        for number, those in _coloured(here, enemies, addresses - 1).items():
            found.update(_named(number, those))
    return found


def _coloured(here: Sequence[Arrival], enemies: Mapping[Arrival, set[Arrival]], last: int) -> dict[int, list[Arrival]]:
    """By interface address, 1 to ``last``: the arrivals that share it, the busiest first. No more share an address than there
    are tags, unless all addresses are full; what finds no address without enemies goes to the last that has room."""
    at: dict[int, list[Arrival]] = {number: [] for number in range(1, last + 1)}
    taken: dict[Arrival, int] = {}
    for arrival in here:
        bad = {taken[other] for other in enemies.get(arrival, ()) if other in taken}
        room = [number for number, those in at.items() if len(those) < TAGS]
        number = next((number for number in room if number not in bad), room[-1] if room else last)
        at[number].append(arrival)
        taken[arrival] = number
    return at


def _named(number: int, those: Sequence[Arrival]) -> dict[Arrival, Address]:
    """Tags, and virtual addresses for all that get no tag of their own; the last tag is theirs."""
    own = len(those) if len(those) <= TAGS else TAGS - 1
    found = {arrival: Address(number, tag) for tag, arrival in enumerate(those[:own])}
    found.update({arrival: Address(number, TAGS - 1, virtual) for virtual, arrival in enumerate(those[own:])})
    return found
