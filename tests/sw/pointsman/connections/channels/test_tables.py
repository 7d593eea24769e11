"""Problems as arrays."""

from __future__ import annotations

from fractions import Fraction

from pointsman.artifacts.channels.channels import ChannelProblem, Demand
from pointsman.connections.channels.tables import empty, state_of, tables_of
from pointsman.network import torus


def test_links_limits_and_order_stand_in_rows():
    demands = (Demand(0, 1), Demand(1, 2, 1, Fraction(1, 3), 8), Demand(2, 0))
    tables = tables_of(ChannelProblem(torus(3), 5, demands, order=((0, 2), (1, 2))))
    assert list(zip(tables.tail.tolist(), tables.head.tolist(), strict=True)) == [
        (u, v) for u in range(3) for v in range(3) if u != v
    ]
    assert tables.first.tolist() == [0, 2, 4, 6]
    assert tables.longest.tolist() == [2, 2, 2]
    assert tables.sharers[1] == tables.least_sharers == 3
    assert tables.before[tables.before_first[2] : tables.before_first[3]].tolist() == [0, 1]
    assert tables.after[tables.after_first[1] : tables.after_first[2]].tolist() == [2]
    assert empty(tables).phase.tolist() == [-1, -1, -1]
    assert state_of(tables, 4).load.shape == (4, 3)
