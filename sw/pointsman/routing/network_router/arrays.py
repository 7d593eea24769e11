"""Arrays of the kernels as named tuples, by which Python and compiled code share names."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numesh.codes import SHORTEST_STAY

INJECT, LINK, BUFFER, FORK, DELIVER = 0, 1, 2, 3, 4
"""Sources and destinations of an operation."""
OPERATION = 6
"""Number of fields of an operation."""
ROUNDS_DONE, BUDGET_DONE, CONFLICTS_FEWEST = 0, 1, 2
"""Indices of ``progress``."""
GAIN_PRICE, GAIN_HISTORY, GAIN_HIGHEST, GAIN_LOAD = 0, 1, 2, 3
"""Indices of ``gains``: price growth per round (percent), history of a conflict, highest price, price of a node's excess."""


NEVER = 1 << 28
"""Cost of slots and links that may not be used at all."""
WAIT_COST = 2
"""Cost of each slot of a wait, besides its VFSM."""
FEWEST_WAIT, LONGEST_WAIT = SHORTEST_STAY, SHORTEST_STAY + 3
"""Slots from a word's reading from a link to its reading from a buffer."""
TRIES = 4
"""Patterns of starts that are tried for a chain of several words."""


class PackingLinks(NamedTuple):
    """Directed links; ``first_out``/``links_out`` list those that leave a node, ``first_in``/``links_in`` those that enter it."""

    writer: np.ndarray
    reader: np.ndarray
    wire: np.ndarray
    first_out: np.ndarray
    links_out: np.ndarray
    first_in: np.ndarray
    links_in: np.ndarray


class PackingChains(NamedTuple):
    """Chains, and the streams they belong to.

    ``ops`` (chains, operations, 6) with ``n_ops`` of them, ``starts`` (chains, words) with ``words`` of them, ascending;
    ``frozen`` chains stay as they are. By stream: ``source``, ``ends`` from ``first_end``, and the row ``hops_row`` of
    distances to its end.
    """

    stream: np.ndarray
    words: np.ndarray
    frozen: np.ndarray
    n_ops: np.ndarray
    ops: np.ndarray
    starts: np.ndarray
    source: np.ndarray
    first_end: np.ndarray
    ends: np.ndarray
    hops_row: np.ndarray


class PackingUse(NamedTuple):
    """Users of each (place, slot) and (wire, slot), past conflicts (``history``), given prices (``fixed``), and the price of
    another word (``cost``). ``hold``: places that need a slot for the reprogramming VFSM; ``held``: that slot, or -1.
    """

    cells: np.ndarray
    cell_history: np.ndarray
    cell_fixed: np.ndarray
    cell_cost: np.ndarray
    wires: np.ndarray
    wire_history: np.ndarray
    wire_fixed: np.ndarray
    wire_cost: np.ndarray
    reads: np.ndarray
    writes: np.ndarray
    turn_history: np.ndarray
    numbers: np.ndarray
    node_cost: np.ndarray
    hold: np.ndarray
    held: np.ndarray


class PackingScratch(NamedTuple):
    """Work arrays for the search of a route, kept from call to call."""

    node: np.ndarray
    rest: np.ndarray
    first: np.ndarray
    links: np.ndarray
    links_of: np.ndarray
    ends: np.ndarray
    tree: np.ndarray
    stamp: np.ndarray
    place: np.ndarray
    down: np.ndarray
    onset: np.ndarray
    waiting: np.ndarray
    waits_for: np.ndarray
    choice: np.ndarray
    ahead: np.ndarray
    cost: np.ndarray
    one: np.ndarray


def make_scratch(nodes: int, links: int, most_hops: int, pipelines: int, slots: int) -> PackingScratch:
    """Work arrays for paths of at most ``most_hops``: at most a state for each node and number of hops left."""
    states = min(nodes * (most_hops + 1), MOST_STATES) + 2
    onward = min(links * (most_hops + 1), 8 * MOST_STATES) + 2
    whole, long = np.int32, slots + 16

    def room(*shape: int) -> np.ndarray:
        return np.zeros(shape, whole)

    return PackingScratch(
        node=room(states),
        rest=room(states),
        first=room(states + 1),
        links=room(onward),
        links_of=room(onward),
        ends=room(onward),
        tree=room(nodes + 1),
        stamp=room(nodes),
        place=room(max(states, nodes + 1)),
        down=room(states, slots + 1),
        onset=room(states, pipelines, long),
        waiting=room(states, pipelines, slots),
        waits_for=room(states, pipelines, slots),
        choice=room(states, slots),
        ahead=room(slots),
        cost=room(slots),
        one=room(slots),
    )


MOST_STATES = 200_000
