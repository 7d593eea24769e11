"""Patterns of the evaluation."""

from __future__ import annotations

import numpy as np

from cosim.tdm.traffic import hybrid, mesh_neighbours, ordered_mesh, random_mesh, scatter, traffic_of, two_phase


def test_neighbours_are_four_permutations():
    table = np.array(mesh_neighbours(128))
    for way in table.T:
        assert sorted(way.tolist()) == list(range(128))
    assert table[0].tolist() == [1, 15, 16, 112]
    assert all(len(set(row)) == 4 for row in table.tolist())


def test_loads_and_the_least_time():
    traffic = traffic_of([[(1, 3), (2, 4)], [(2, 5)], []])
    sends, receives = traffic.loads()
    assert sends.tolist() == [7, 5, 0]
    assert receives.tolist() == [0, 3, 9]
    assert traffic.least_cycles == 9


def test_counts_of_messages():
    assert len(scatter(128, 1).words) == 127
    assert len(random_mesh(128, 2, 64, seed=1).words) == 128 * 64
    assert len(ordered_mesh(128, 2, 16).words) == 128 * 64
    assert len(two_phase(128, 1, 16, seed=1).words) == 128 * (127 + 16)


def test_determinism_is_the_share_of_known_destinations():
    known = [[(u + 1) % 16 for u in range(16)], [(u + 2) % 16 for u in range(16)]]
    for share in (0.0, 0.5, 1.0):
        traffic = hybrid(16, 1, 400, share, known, seed=1)
        senders = np.repeat(np.arange(16), 400)
        steps = (traffic.destinations - senders) % 16
        assert 0 not in steps
        expected = share + (1 - share) * 2 / 15
        assert abs(np.isin(steps, [1, 2]).mean() - expected) < 0.03
