"""Words more, one at a time: only into slots in which nothing is used."""

from __future__ import annotations

import numpy as np

from pointsman.routing.network_router.arrays import DELIVER, INJECT, LINK, NEVER
from pointsman.routing.network_router.augment import forbid_used
from pointsman.routing.network_router.packing import PackingArrays, PackingAttempt, PackingProblem, PackingStream
from pointsman.routing.network_router.rip_up import mark


def test_what_is_in_use_costs_more_than_anything_and_the_rest_nothing() -> None:
    problem = PackingProblem(2, 2, ((0, 1), (1, 0)), (0, 1), 30, 14, np.ones(2, np.bool_), (PackingStream(0, (1,)),))
    one = PackingAttempt(PackingArrays(problem), 4, [0], [1])
    ops = np.array([[0, 0, 0, INJECT, LINK, -1], [2, 1, -1, LINK, DELIVER, 0]], np.int32)
    mark(ops, np.array([3], np.int64), one.arrays.net, one.use, 7, 1)
    forbid_used(one.use)
    assert one.use.cell_cost[0].tolist() == [0, 0, 0, NEVER] * 2
    assert one.use.cell_cost[2].tolist() == [NEVER, 0, 0, 0] * 2
    assert one.use.wire_cost.tolist() == [[0, 0, 0, NEVER] * 2, [0] * 8]
    assert not one.use.cell_cost[[1, 3]].any()
