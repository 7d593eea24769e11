"""Ways for a crossbar, and the connections that they take."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.operators.messages import crossbar
from pointsman.operators.messages.crossbar import Way, use_of, way_named, ways
from pointsman.operators.messages.replay import replay


def pairs(machine, text, name=None):
    operator = machine.one(text, mesh(4))
    way = Way(way_named(name, operator.kind), operator) if name else ways(operator, mesh(4))[0]
    return use_of(way, mesh(4))


def test_a_shift_takes_one_connection_from_each_port(machine):
    use = pairs(machine, "(cshift 's 1 :m 3)")
    assert use.words == {(k, (k + 1) % 4): 3 for k in range(4)}
    assert use.accesses == 6
    assert use.depth == 1


def test_round_a_ring_the_connections_are_the_same_for_every_source(machine):
    use = pairs(machine, "(broadcast 'b (runtime) :m 3)", "ring_bcast")
    assert set(use.by_value) == {frozenset((k, (k + 1) % 4) for k in range(4))}


def test_each_value_of_a_chain_leaves_out_the_way_back_to_its_source(machine):
    use = pairs(machine, "(broadcast 'b (runtime) :m 3)", "chain_bcast")
    ring = frozenset((k, (k + 1) % 4) for k in range(4))
    assert [ring - own for own in use.by_value] == [{((source - 1) % 4, source)} for source in range(4)]
    assert use.share[0, 1] == 3 / 4


@pytest.mark.parametrize("name", ["chain_bcast", "ring_bcast"])
def test_all_read_what_the_source_writes(machine, name):
    operator = machine.one("(broadcast 'b (runtime) :m 2)", mesh(4))
    for source in range(4):
        scripts = machine.scripts(operator, mesh(4), way_named(name, "broadcast"), (source,))
        calls = {n: [("write", np.array([7, 8]))] if n == source else [("read", None)] for n in range(4)}
        results = replay(scripts, calls, 2, np.add)
        assert all(results[n][0].tolist() == [7, 8] for n in range(4) if n != source)


def test_an_operand_that_no_way_takes_is_refused(machine, monkeypatch):
    monkeypatch.setattr(crossbar, "WAYS", (crossbar.ChainBcast(),))
    with pytest.raises(PointsmanError, match="the switch cannot do this collect"):
        ways(machine.one("(collect 'c 0 :m 2)", mesh(4)), mesh(4))


def test_a_way_that_there_is_not_is_refused():
    with pytest.raises(PointsmanError, match="there is no way 'wave' to do a broadcast on the switch"):
        way_named("wave", "broadcast")
