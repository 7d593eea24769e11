"""A trace has every message between nodes once at either end, quanta that do not overlap, and counters that end at 0."""

from __future__ import annotations

import argparse
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pointsman
from pointsman.network import mesh
from pointsman.runtime.active.trace import ActiveTrace
from pointsman.runtime.splitc import SplitC, SplitCApplication
from pointsman.runtime.tam import TamApplication, assemble

EXAMPLES = Path(__file__).parents[5] / "examples"


class Stores(SplitCApplication):
    async def splitc_main(self, s: SplitC) -> Any:
        base = await s.all_spread_allocate(8 * s.PROCS, np.int32)
        await s.store_many(base, np.arange(8 * s.PROCS), np.arange(8 * s.PROCS, dtype=np.int32))
        there = s.allocate(100, np.int32)
        await s.bulk_read(there, s.pointer((s.MYPROC + 1) % s.PROCS, base.addr, np.int32), 8)
        await s.all_store_sync()


def _pairs(events: list[tuple[int, int, int, int]], turned: bool) -> Counter[tuple[int, int]]:
    found: Counter[tuple[int, int]] = Counter()
    for _, node, other, count in events:
        found[(other, node) if turned else (node, other)] += count
    return found


@pytest.mark.parametrize("target", ["logp", "packet"])
def test_what_is_sent_is_handled(target: str) -> None:
    options: dict[str, Any] = {} if target == "logp" else {"engine": "model"}
    done = pointsman.run(Stores(argparse.Namespace(), mesh(3)), target=target, events=True, **options)
    trace = done.active
    assert trace is not None
    assert len(trace.sent) > 20
    assert _pairs(trace.sent, False) == _pairs(trace.handled, True)
    assert all(node != other for _, node, other, _ in trace.sent)
    last = {node: value for _, node, value in sorted(trace.counters["replies awaited"], key=lambda one: one[0])}
    assert set(last.values()) == {0}
    if target == "logp":
        assert sum(count for *_, count in trace.sent) == done.values["messages"]


def test_quanta_of_a_node_follow_each_other() -> None:
    application = TamApplication(assemble((EXAMPLES / "tam/fib.tam").read_text()), [7], mesh(3))
    done = pointsman.run(application, target="logp", events=True)
    trace = done.active
    assert trace is not None
    assert len(trace.quanta) == sum(one.quanta for one in done.finished.record.results)
    assert {what for *_, what in trace.quanta} == {"main", "fib"}
    for node in range(3):
        mine = sorted((start, end) for one, start, end, _ in trace.quanta if one == node)
        assert all(start <= end for start, end in mine)
        assert all(before[1] <= after[0] for before, after in pairwise(mine))
    assert "frames" in trace.counters


def test_nothing_is_kept_unless_it_is_asked_for() -> None:
    application = Stores(argparse.Namespace(), mesh(2))
    assert pointsman.run(application, target="logp").active is None
    assert application.trace is None
    assert ActiveTrace().sent == []
