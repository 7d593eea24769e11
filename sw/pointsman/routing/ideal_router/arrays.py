"""The arrays that the kernels work on, as named tuples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Net(NamedTuple):
    """The network: links sorted by the node they leave, and each node's entering links."""

    first: np.ndarray
    heads: np.ndarray
    tails: np.ndarray
    in_first: np.ndarray
    in_links: np.ndarray
    hops: np.ndarray
    """hops[v, u]: links on a shortest path from u to v; -1 if there is none."""


class Rows(NamedTuple):
    """Cell of each (resource, slot); resources are links, then injection ports, then ejection ports by node.

    The cell of resource r in slot t is row[r] · period + (t - shift[r]) mod period. If fold[r] is smaller than the
    period, symmetry makes each use of the resource repeat every fold[r] slots.
    """

    row: np.ndarray
    shift: np.ndarray
    fold: np.ndarray


class WordArrays(NamedTuple):
    """The words to be placed, a single word of each orbit of the symmetry, and their places.

    Word w has destinations ends[end_first[w]:end_first[w + 1]]. Its links are links[first[w]:first[w] + size[w]], parents first;
    ``depth`` has the slots from the start to each link's slot. Its cells are cells[cell_first[w]:cell_first[w] + cell_size[w]].
    start[w] is -1 while the word has no place.
    """

    source: np.ndarray
    end_first: np.ndarray
    ends: np.ndarray
    first: np.ndarray
    size: np.ndarray
    links: np.ndarray
    depth: np.ndarray
    start: np.ndarray
    cell_first: np.ndarray
    cell_size: np.ndarray
    cells: np.ndarray


class WordScratch(NamedTuple):
    """Work arrays for the search of a word's place."""

    best: np.ndarray
    state_of: np.ndarray
    level_first: np.ndarray
    state_node: np.ndarray
    over: np.ndarray
    """The cheapest ways by (links passed, last link) and start slot, and beside them owner and price of the last link's cell."""
    owners: np.ndarray
    cost: np.ndarray
    over_of: np.ndarray
    last_link: np.ndarray
    path: np.ndarray
    tree_depth: np.ndarray
    wanted: np.ndarray
    random: np.ndarray
