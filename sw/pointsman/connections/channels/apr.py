"""The published partitioner and router (APR of Feldmann et al. 1993, §4.4.1): shortest ways one after the other.

Connections are ordered, longest shortest way first; all nodes cost 1, and 1 more for each way through them; each connection takes
the shortest way over the copies of the network of all phases; then some of the ways are ripped up and all are routed again, k
times. What the paper leaves open is decided here: a quarter of the ways is ripped up in each round, drawn at random; a round
that leaves more connections without a way is taken back; with one left over after all rounds there is one phase more.
"""

from __future__ import annotations

import numpy as np

from pointsman.artifacts.channels.channels import ChannelProblem

from .kernel import leave, place_strictly, take_all
from .tables import Assignment, Tables, empty, state_of

ROUNDS = 8
"""Rounds of rip-up (k)."""
SHARE = 0.25


def apr(
    problem: ChannelProblem, tables: Tables, least: int, most: int, *, rounds: int = ROUNDS, seed: int = 0
) -> Assignment | None:
    """Connections in ``least`` phases, or in the first larger number in which all find a way; None if ``most`` are too few."""
    for phases in range(least, most + 1):
        found = one_number(problem, tables, phases, rounds=rounds, seed=seed)
        if found is not None:
            return found
    return None


def one_number(problem: ChannelProblem, tables: Tables, phases: int, *, rounds: int, seed: int) -> Assignment | None:
    """Connections in so many phases, by APR; None if some are left over."""
    random = np.random.default_rng([seed, phases])
    order = ranked(problem)
    free = np.full(len(order), -1, np.int64)
    best, state = empty(tables), state_of(tables, phases)
    left = place_strictly(tables, state, best, order, phases, free)
    for _ in range(rounds):
        if not left:
            return best
        given = best.copy()
        state = state_of(tables, phases)
        take_all(tables, state, given)
        ripped = random.random(len(order)) < SHARE
        lost = given.phase < 0
        for c in np.flatnonzero(ripped & ~lost).tolist():
            leave(tables, state, given, c)
        again = np.concatenate([order[lost[order]], order[(ripped & ~lost)[order]]])
        if problem.order:
            again = order[(ripped | lost)[order]]
        still = place_strictly(tables, state, given, again, phases, free)
        if still <= left:
            best, left = given, still
    return None if left else best


def ranked(problem: ChannelProblem) -> np.ndarray:
    """Connections by rank: whoever others wait for first, then by the length of the shortest way, longest first."""
    depth = [0] * len(problem.connections)
    for _ in range(len(problem.connections)):
        deeper = False
        for before, later in problem.order:
            if depth[later] <= depth[before]:
                depth[later], deeper = depth[before] + 1, True
        if not deeper:
            break
    keys = [(depth[c], -problem.distances[c], c) for c in range(len(depth))]
    return np.array([c for *_, c in sorted(keys)], np.int64)
