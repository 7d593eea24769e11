"""A problem of logical channels as arrays for the kernels, and the state of a search over them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pointsman.artifacts.channels.channels import MAX_DEMANDS, ChannelProblem


class Tables(NamedTuple):
    """A problem as arrays.

    Link l leads from node ``tail[l]`` to node ``head[l]``; the links from node v are ``first[v]:first[v + 1]``. Connection c
    leads from ``ends[c, 0]`` to ``ends[c, 1]`` over at most ``longest[c]`` links that at most ``sharers[c]`` connections use.
    It begins after ``before[before_first[c]:before_first[c + 1]]`` and before ``after[…]``.
    """

    first: np.ndarray
    tail: np.ndarray
    head: np.ndarray
    ends: np.ndarray
    longest: np.ndarray
    sharers: np.ndarray
    before_first: np.ndarray
    before: np.ndarray
    after_first: np.ndarray
    after: np.ndarray
    channels: int
    least_sharers: int


class Assignment(NamedTuple):
    """Where connections are: their phases (-1: nowhere), and the nodes that they pass, ``lengths[c]`` of them in a row."""

    phase: np.ndarray
    paths: np.ndarray
    lengths: np.ndarray

    def copy(self) -> Assignment:
        return Assignment(*(array.copy() for array in self))


class State(NamedTuple):
    """What a search knows: channels in use ``load[phase, node]``, connections on links, how many each link may have, what
    nodes cost; and room for a way while it is looked for."""

    load: np.ndarray
    link_load: np.ndarray
    link_most: np.ndarray
    cost: np.ndarray
    price: np.ndarray
    later: np.ndarray
    via: np.ndarray
    front: np.ndarray
    grown: np.ndarray
    way: np.ndarray
    found: np.ndarray


def tables_of(problem: ChannelProblem) -> Tables:
    """Arrays of a problem."""
    topology, count = problem.topology, len(problem.connections)
    links = sorted({(node, other) for node, table in enumerate(topology.at_port) for other, _ in table.values()})
    tail = np.array([u for u, _ in links], np.int64)
    first = np.searchsorted(tail, np.arange(topology.nodes + 1)).astype(np.int64)
    before_first, before = _rows(count, [(later, one) for one, later in problem.order])
    after_first, after = _rows(count, list(problem.order))
    return Tables(
        first,
        tail,
        np.array([v for _, v in links], np.int64),
        np.array([(one.source, one.destination) for one in problem.connections], np.int64).reshape(-1, 2),
        np.array([problem.longest(index) for index in range(count)], np.int64),
        np.array([problem.sharers(index) for index in range(count)], np.int64),
        before_first,
        before,
        after_first,
        after,
        problem.channels,
        min((problem.sharers(index) for index in range(count)), default=MAX_DEMANDS),
    )


def empty(tables: Tables) -> Assignment:
    """Nobody has a place."""
    count, nodes = len(tables.ends), len(tables.first) - 1
    return Assignment(np.full(count, -1, np.int64), np.zeros((count, nodes), np.int32), np.zeros(count, np.int64))


def state_of(tables: Tables, phases: int) -> State:
    """A search with so many phases in which nobody has a place."""
    nodes, links = len(tables.first) - 1, len(tables.head)
    return State(
        np.zeros((phases, nodes), np.int64),
        np.zeros((phases, links), np.int64),
        np.full((phases, links), len(tables.ends) + 1, np.int64),
        np.ones((phases, nodes)),
        np.empty(nodes),
        np.empty(nodes),
        np.full((nodes + 1, nodes), -1, np.int32),
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
        np.zeros(2, np.int64),
    )


def _rows(count: int, pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """The second items of pairs, gathered by the first."""
    ordered = sorted(pairs)
    first = np.searchsorted(np.array([one for one, _ in ordered], np.int64), np.arange(count + 1)).astype(np.int64)
    return first, np.array([other for _, other in ordered], np.int64)
