"""Who gets how much of what operators share: the compiled part of ``bandwidth``."""

from __future__ import annotations

import numpy as np

from pointsman.kernels import kernel

ENOUGH = 1 + 1e-9


@kernel
def shared_out(usage: np.ndarray, traffic: np.ndarray, limits: np.ndarray, capacity: np.ndarray) -> np.ndarray:
    """`bandwidth.expected_bandwidth`. O(resources² × operators) at worst."""
    return _shared_out(np.arange(usage.shape[0]), usage, traffic, limits, capacity)


@kernel
def _shared_out(
    rows: np.ndarray, usage: np.ndarray, traffic: np.ndarray, limits: np.ndarray, capacity: np.ndarray
) -> np.ndarray:
    """The same where operators are ``rows`` of ``usage``."""
    operators, resources = rows.shape[0], usage.shape[1]
    bandwidth = limits.copy()
    load = np.zeros(resources)
    for operator in range(operators):
        for resource in range(resources):
            load[resource] += bandwidth[operator] * usage[rows[operator], resource]
    users = np.zeros(operators, np.int64)
    slower = np.zeros(operators, np.bool_)
    # Each turn brings one resource down to its capacity for good, because bandwidths only fall.
    for _ in range(resources):
        worst, most = 0, -1.0
        for resource in range(resources):
            over = load[resource] / capacity[resource]
            if over > most:
                worst, most = resource, over
        if most <= ENOUGH:
            break
        # Those that are slower than their share of it already leave the rest to the others.
        room = capacity[worst]
        weight = 0.0
        left = 0
        for operator in range(operators):
            if usage[rows[operator], worst] > 0:
                users[left] = operator
                left += 1
                weight += traffic[operator] * usage[rows[operator], worst]
        while True:
            taken, kept = 0.0, 0
            for i in range(left):
                operator = users[i]
                slower[i] = bandwidth[operator] <= room * traffic[operator] / weight * ENOUGH
                if slower[i]:
                    taken += bandwidth[operator] * usage[rows[operator], worst]
                else:
                    kept += 1
            if kept in (0, left):
                break
            room -= taken
            weight = 0.0
            kept = 0
            for i in range(left):
                if not slower[i]:
                    operator = users[i]
                    users[kept] = operator
                    kept += 1
                    weight += traffic[operator] * usage[rows[operator], worst]
            left = kept
        for i in range(left):
            operator = users[i]
            share = room * traffic[operator] / weight
            if share < bandwidth[operator]:
                for resource in range(resources):
                    load[resource] += (share - bandwidth[operator]) * usage[rows[operator], resource]
                bandwidth[operator] = share
    return bandwidth


@kernel
def together(
    rows: np.ndarray,
    usage: np.ndarray,
    ends: np.ndarray,
    limits: np.ndarray,
    fixed: np.ndarray,
    per_word_cycle: np.ndarray,
    carried: np.ndarray,
    traffic: np.ndarray,
    capacity: np.ndarray,
    period: int,
    most_ends: float,
    most_moves: float,
) -> tuple[float, bool]:
    """Cycles of operators in one phase, done in the ways ``rows`` (of the other arrays but ``traffic``), and whether they hinder
    each other; infinite if a node has more than ``most_ends`` ends of streams or ``most_moves`` moves of a word each."""
    if _excess(rows, usage, ends, most_ends, most_moves) > 0.0:
        return np.inf, True
    count = rows.shape[0]
    limit = limits[rows]
    found = _shared_out(rows, usage, traffic * carried[rows], limit, capacity)
    cycles, slowed = 0.0, False
    for operator in range(count):
        slowed = slowed or found[operator] < limit[operator]
        row = rows[operator]
        cycles += _cycles(fixed[row], per_word_cycle[row], found[operator], limits[row], period)
    return cycles, slowed


RELIEVED = 5
"""Operators of a phase, at most, for which other ways are looked for where the best need too much together: trees of so many
reductions of all nodes are what the standard node has registers for. With more they share no phase, so that the search through
the divisions of long programs has less to choose from."""


@kernel
def _excess(rows: np.ndarray, usage: np.ndarray, ends: np.ndarray, most_ends: float, most_moves: float) -> float:
    """Ends of streams, or moves, that the node with most of them has too many."""
    # Row by row, as rows lie in one piece.
    nodes = ends.shape[1]
    here, moves = np.zeros(nodes), np.zeros(nodes)
    for row in rows:
        for node in range(nodes):
            here[node] += ends[row, node]
            moves[node] += usage[row, node]
    found = 0.0
    for node in range(nodes):
        found = max(found, here[node] - most_ends, moves[node] - most_moves)
    return found


@kernel
def _relieve(
    first: np.ndarray,
    choices: np.ndarray,
    chosen: np.ndarray,
    usage: np.ndarray,
    ends: np.ndarray,
    most_ends: float,
    most_moves: float,
) -> None:
    """Change ways in ``chosen`` one at a time, that which helps most first, as long as some node has too much to do."""
    left = _excess(chosen, usage, ends, most_ends, most_moves)
    while left > 0.0:
        operator, way = -1, -1
        for i in range(chosen.shape[0]):
            before = chosen[i]
            for k in range(first[i], first[i + 1]):
                chosen[i] = choices[k]
                found = _excess(chosen, usage, ends, most_ends, most_moves)
                if found < left:
                    left, operator, way = found, i, choices[k]
            chosen[i] = before
        if operator < 0:
            break
        chosen[operator] = way


@kernel
def _cycles(fixed: float, per_word_cycle: float, bandwidth: float, limit: float, period: int) -> float:
    # A schedule has whole words; half of the time the router finds one more than the share. That does not make those quicker
    # that use less than a word a period, since they wait for processors.
    words = max(np.floor(bandwidth * period + 0.5), 1.0)
    return fixed + per_word_cycle / (limit if limit * period < 1.0 else words / period)


@kernel
def best_ways(
    first: np.ndarray,
    choices: np.ndarray,
    usage: np.ndarray,
    ends: np.ndarray,
    limits: np.ndarray,
    fixed: np.ndarray,
    per_word_cycle: np.ndarray,
    carried: np.ndarray,
    traffic: np.ndarray,
    capacity: np.ndarray,
    period: int,
    most_ends: float,
    most_moves: float,
) -> tuple[float, np.ndarray]:
    """The best of ``choices[first[i] : first[i + 1]]`` for each operator i by itself, others where these need too much together,
    then changes of one of them as long as they pay: (cycles, rows)."""
    count = traffic.shape[0]
    chosen = np.zeros(count, np.int64)
    alone = np.zeros(choices.shape[0])
    now = np.zeros(count)
    for i in range(count):
        chosen[i] = choices[first[i]]
        for k in range(first[i], first[i + 1]):
            row = choices[k]
            alone[k] = _cycles(fixed[row], per_word_cycle[row], limits[row], limits[row], period)
        now[i] = alone[first[i]]
    if count <= RELIEVED and _excess(chosen, usage, ends, most_ends, most_moves) > 0.0:
        _relieve(first, choices, chosen, usage, ends, most_ends, most_moves)
        for i in range(count):
            for k in range(first[i], first[i + 1]):
                if choices[k] == chosen[i]:
                    now[i] = alone[k]
    best, better = together(
        chosen, usage, ends, limits, fixed, per_word_cycle, carried, traffic, capacity, period, most_ends, most_moves
    )
    while better:
        better = False
        for i in range(count):
            for k in range(first[i], first[i + 1]):
                before, before_alone = chosen[i], now[i]
                if choices[k] == before:
                    continue
                chosen[i], now[i] = choices[k], alone[k]
                # Others only make them slower.
                least = 0.0
                for j in range(count):
                    least += now[j]
                if least >= best:
                    chosen[i], now[i] = before, before_alone
                    continue
                cycles, _ = together(
                    chosen,
                    usage,
                    ends,
                    limits,
                    fixed,
                    per_word_cycle,
                    carried,
                    traffic,
                    capacity,
                    period,
                    most_ends,
                    most_moves,
                )
                if cycles < best:
                    best, better = cycles, True
                else:
                    chosen[i], now[i] = before, before_alone
    return best, chosen
