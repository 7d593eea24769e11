"""Divisions by structure."""

from __future__ import annotations

import numpy as np

from pointsman.artifacts.channels.channels import ChannelProblem, Demand
from pointsman.connections.channels.divide import count
from pointsman.connections.channels.patterns import pattern
from pointsman.connections.channels.starts import by_offset, matchings
from pointsman.connections.channels.tables import tables_of
from pointsman.network import graph, torus


def test_all_to_all_is_packed_by_offsets_into_as_many_phases_as_the_bound():
    problem = ChannelProblem(torus(8, 8), 12, pattern("all-to-all", (8, 8), 1))
    packed = by_offset(problem, tables_of(problem))
    assert packed is not None
    assert count(packed) == 27
    for p in range(27):
        rows = np.flatnonzero(packed.phase == p).tolist()
        load = np.bincount([v for c in rows for v in packed.paths[c, : packed.lengths[c]].tolist()], minlength=64)
        assert load.max() <= 12


def test_offsets_are_for_networks_with_coordinates_and_enough_channels():
    network = graph(3, [(0, 1), (1, 2)])
    problem = ChannelProblem(network, 4, (Demand(0, 2),))
    assert by_offset(problem, tables_of(problem)) is None
    tight = ChannelProblem(torus(8), 1, pattern("torus", (8,), 1))
    assert by_offset(tight, tables_of(tight)) is None


def test_matchings_give_every_processor_equally_much_to_do_in_each_phase():
    problem = ChannelProblem(torus(8, 8), 12, pattern("hypercube", (8, 8), 1))
    phases = matchings(problem, 2, 0)
    for p in range(2):
        sources = [one.source for one, mine in zip(problem.connections, phases.tolist(), strict=True) if mine == p]
        assert np.bincount(sources).tolist() == [3] * 64
