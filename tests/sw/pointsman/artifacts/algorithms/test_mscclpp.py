"""Execution plans of MSCCL++."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from pointsman.artifacts.algorithms.mscclpp import from_mscclpp
from pointsman.errors import PointsmanError

EXAMPLE = Path(__file__).parents[5] / "examples/formats/pair_allreduce_plan.json"
SYNC = [{"name": name, "channel_ids": [0], "channel_type": "memory"} for name in ("signal", "wait")]


def example() -> dict[str, Any]:
    return json.loads(EXAMPLE.read_text())


def test_the_example_is_an_allreduce_whose_ranks_read_and_write_each_other() -> None:
    algorithm = from_mscclpp(StringIO(EXAMPLE.read_text()))
    assert (algorithm.collective, algorithm.ranks) == ("allreduce", 2)
    assert sorted((one.source, one.destination) for one in algorithm.messages) == [(0, 1), (0, 1), (1, 0), (1, 0)]


@pytest.mark.parametrize("way", ["put", "get"])
def test_an_allgather_by_puts_or_gets(way: str) -> None:
    plan = example() | {"collective": "allgather"}
    for g, gpu in enumerate(plan["gpus"]):
        gpu |= {"input_chunks": 1, "remote_buffers": [{"rank": 1 - g, "type": "o"}]}
        at = g if way == "put" else 1 - g
        near, far = {"type": "o", "index": at, "size": 1}, {"buffer_id": 0, "index": at, "size": 1}
        ends = {"src_buff": [near], "dst_buff": [far]} if way == "put" else {"src_buff": [far], "dst_buff": [near]}
        gpu["threadblocks"][0]["ops"] = [*SYNC, {"name": way, "channel_type": "memory", **ends}, *SYNC]
    algorithm = from_mscclpp(StringIO(json.dumps(plan)))
    assert sorted((one.source, one.destination) for one in algorithm.messages) == [(0, 1), (1, 0)]


def operation(plan: dict[str, Any], at: int = 2) -> dict[str, Any]:
    return plan["gpus"][0]["threadblocks"][0]["ops"][at]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            lambda plan: operation(plan).update(name="glres"),
            r"line 1: gpus\[0\].threadblocks\[0\].ops\[2\]: an operation glres is not known; known are copy,",
        ),
        (lambda plan: operation(plan).update(reduce_op="min"), "a reduction must be a sum, not 'min'"),
        (lambda plan: operation(plan).update(src_buff=[]), "a reduction must have sources and destinations"),
        (lambda plan: operation(plan)["src_buff"][0].update(size=2), "must have as many chunks"),
        (lambda plan: operation(plan)["src_buff"][1].update(buffer_id=3), "there is no remote buffer 3"),
        (lambda plan: operation(plan, 0).update(name="nop"), r"operation 4 \(wait\) waits for ever"),
        (lambda plan: operation(plan, 0).update(channel_ids=[4]), "the thread block has 1 channels of type 'memory'"),
        (lambda plan: plan["gpus"][1]["channels"].clear(), "gpu 1 has no channel back for channel 0"),
        (lambda plan: plan["gpus"][0]["remote_buffers"][0].update(rank=0), "must be of another gpu, not of 0"),
        (lambda plan: operation(plan).update(name="nop"), r"at the end o\[0\] is input 0 of rank"),
        (lambda plan: plan["gpus"].pop(0), "gpus must be numbered from 0 to 0"),
        (lambda plan: plan.pop("gpus"), "line 1: a plan must have gpus"),
        (lambda plan: plan["gpus"][0].pop("id"), r"line 1: gpus\[0\]: a gpu must have id"),
        (lambda plan: plan["gpus"][1]["threadblocks"][0].pop("ops"), r"a thread block must have ops"),
        (lambda plan: operation(plan).update(src_buff=5), r"ops\[2\]: Expected `array`, got `int` - at `\$.src_buff`"),
        (lambda plan: plan.update(inplace=1), "inplace: Expected `bool`, got `int`"),
    ],
)
def test_a_wrong_plan_is_refused_with_its_operation(change: Callable[[dict[str, Any]], Any], told: str) -> None:
    plan = example()
    change(plan)
    with pytest.raises(PointsmanError, match=told):
        from_mscclpp(StringIO(json.dumps(plan)))
