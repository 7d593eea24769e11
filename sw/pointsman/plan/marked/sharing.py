"""Who gets how much of what operators share: the compiled part of ``bandwidth``."""

from __future__ import annotations

import numpy as np

from pointsman.streams.compiled import kernel

ENOUGH = 1 + 1e-9


@kernel
def shared_out(usage: np.ndarray, traffic: np.ndarray, limits: np.ndarray, capacity: np.ndarray) -> np.ndarray:
    """`bandwidth.expected_bandwidth`. O(resources² × operators) at worst."""
    operators, resources = usage.shape
    bandwidth = limits.copy()
    load = np.zeros(resources)
    for operator in range(operators):
        for resource in range(resources):
            load[resource] += bandwidth[operator] * usage[operator, resource]
    left = np.zeros(operators, np.bool_)
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
        for operator in range(operators):
            left[operator] = usage[operator, worst] > 0
            if left[operator]:
                weight += traffic[operator] * usage[operator, worst]
        while True:
            some, all_of_them = False, True
            for operator in range(operators):
                slower[operator] = left[operator] and bandwidth[operator] <= room * traffic[operator] / weight * ENOUGH
                some = some or slower[operator]
                all_of_them = all_of_them and slower[operator] == left[operator]
            if not some or all_of_them:
                break
            taken = 0.0
            for operator in range(operators):
                if slower[operator]:
                    taken += bandwidth[operator] * usage[operator, worst]
                    left[operator] = False
            room -= taken
            weight = 0.0
            for operator in range(operators):
                if left[operator]:
                    weight += traffic[operator] * usage[operator, worst]
        for operator in range(operators):
            if not left[operator]:
                continue
            share = room * traffic[operator] / weight
            if share < bandwidth[operator]:
                for resource in range(resources):
                    load[resource] += (share - bandwidth[operator]) * usage[operator, resource]
                bandwidth[operator] = share
    return bandwidth
