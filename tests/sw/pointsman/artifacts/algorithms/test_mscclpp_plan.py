"""The file of an execution plan: what is read, what is alike kept once, and operations of several thread blocks divided."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from pointsman.artifacts.algorithms.mscclpp_plan import ExecutionPlan, read_plan
from pointsman.errors import PointsmanError

EXAMPLE = Path(__file__).parents[5] / "examples/formats/pair_allreduce_plan.json"


def read(plan: Any) -> ExecutionPlan:
    return read_plan(StringIO(json.dumps(plan)))


def example() -> dict[str, Any]:
    return json.loads(EXAMPLE.read_text())


def test_a_plan_has_what_stands_in_its_file() -> None:
    plan, wanted = read(example()), example()
    assert (plan.name, plan.collective) == (wanted["name"], wanted["collective"])
    for gpu, given in zip(plan.gpus, wanted["gpus"], strict=True):
        assert (gpu.id, gpu.input_chunks, gpu.output_chunks) == (
            given["id"],
            given["input_chunks"],
            given["output_chunks"],
        )
        for block, other in zip(gpu.threadblocks, given["threadblocks"], strict=True):
            assert [one.name for one in block.ops] == [one["name"] for one in other["ops"]]
            assert block.pipelines == []


def test_operations_of_several_thread_blocks_take_their_parts_of_chunks() -> None:
    plan = example()
    block = plan["gpus"][0]["threadblocks"][0]
    copy = {"name": "copy", "src_buff": [{"type": "i", "index": 1}], "dst_buff": [{"type": "s", "index": 0}]}
    plan["gpus"][0]["threadblocks"] = [
        block | {"id": t, "ops": [copy | {"tbg_info": {"tb_id": t, "tbg_size": 3}}, copy]} for t in range(3)
    ]
    found = read(plan).gpus[0]
    assert found.input_chunks == 3 * plan["gpus"][0]["input_chunks"]
    assert [(one.ops[0].src_buff[0].index, one.ops[0].src_buff[0].size) for one in found.threadblocks] == [
        (3, 1),
        (4, 1),
        (5, 1),
    ]
    assert (found.threadblocks[0].ops[1].src_buff[0].index, found.threadblocks[0].ops[1].src_buff[0].size) == (3, 3)


def test_operations_of_a_pipeline_stand_in_their_block_and_it_is_known_where() -> None:
    plan = example()
    block = plan["gpus"][0]["threadblocks"][0]
    block["ops"] = [{"name": "nop"}, {"name": "pipeline", "ops": [{"name": "nop"}, {"name": "flush"}]}, {"name": "nop"}]
    found = read(plan).gpus[0].threadblocks[0]
    assert [one.name for one in found.ops] == ["nop", "nop", "flush", "nop"]
    assert found.pipelines == [(1, 2)]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"name": "frobnicate"}, "an operation frobnicate is not known"),
        ({"name": "nop", "tbg_info": {"tb_id": 2, "tbg_size": 2}}, "tb_id must be 0 to 1, not 2"),
        ({"name": "nop", "tbg_info": {"tb_id": 0, "tbg_size": 5003}}, "at most 4096 parts, not 5003"),
        ({"name": "pipeline", "ops": [{"name": "pipeline"}]}, "must not have a pipeline in it"),
    ],
)
def test_wrong_operations_are_refused_with_their_line(change: dict[str, Any], told: str) -> None:
    plan = example()
    plan["gpus"][0]["threadblocks"][0]["ops"][0] = change
    with pytest.raises(PointsmanError, match=told):
        read(plan)


def test_members_are_there_once_and_the_needed_ones_at_all() -> None:
    with pytest.raises(PointsmanError, match="a plan must have gpus"):
        read({"name": "a", "collective": "allreduce"})
    with pytest.raises(PointsmanError, match="a plan must have name once"):
        read_plan(StringIO('{"name": "a", "name": "b"}'))
