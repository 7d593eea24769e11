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


def by_packets(*, share: bool = False) -> dict[str, Any]:
    """An allreduce of two chunks: each rank sends a chunk as packets, and sends back the sum of its own one."""
    plan = example()
    for g, gpu in enumerate(plan["gpus"]):
        gpu |= {"input_chunks": 2, "output_chunks": 2, "scratch_chunks": 2}
        gpu["remote_buffers"] = [{"rank": 1 - g, "type": "s"}]
        own, other = [{"type": "i", "index": g}], [{"type": "i", "index": 1 - g}]
        here, there, back = {"type": "s", "index": 0}, {"buffer_id": 0, "index": 0}, {"buffer_id": 0, "index": 1}
        ops = [
            {"name": "ppkt", "src_buff": other, "dst_buff": [there]},
            {"name": "respkt", "src_buff": [*own, here], "dst_buff": [*own, back]},
            {"name": "upkt", "src_buff": [here | {"index": 1}], "dst_buff": other},
        ]
        block = gpu["threadblocks"][0]
        shares = [{"tbg_info": {"tb_id": t, "tbg_size": 2}} for t in (0, 1)] if share else [{}]
        gpu["threadblocks"] = [
            block | {"id": t, "ops": [one | {"channel_type": "memory"} | of for one in ops]}
            for t, of in enumerate(shares)
        ]
    return plan


def test_readers_of_packets_wait_for_them_without_a_signal() -> None:
    algorithm = from_mscclpp(StringIO(json.dumps(by_packets())))
    assert sorted((one.source, one.destination) for one in algorithm.messages) == [(0, 1), (0, 1), (1, 0), (1, 0)]
    plan = by_packets()
    plan["gpus"][1]["threadblocks"][0]["ops"].pop(0)
    with pytest.raises(PointsmanError, match=r"rank 0, thread block 0, operation 1 \(respkt\) waits for ever"):
        from_mscclpp(StringIO(json.dumps(plan)))


def test_packets_that_are_read_go_on_to_several_gpus() -> None:
    plan = example() | {"collective": "broadcast"}
    first, second = plan["gpus"]
    for gpu in (first, second):
        gpu |= {"input_chunks": 1, "output_chunks": 1, "scratch_chunks": 1}
    i, s, far = {"type": "i", "index": 0}, {"type": "s", "index": 0}, {"buffer_id": 0, "index": 0}
    first["remote_buffers"] = [{"rank": 1, "type": "s"}]
    kept = {"name": "cpkt", "src_buff": [i], "dst_buff": [s]}
    sent = {"name": "rppkt", "src_buff": [s], "dst_buff": [far], "channel_type": "memory"}
    first["threadblocks"][0]["ops"] = [
        kept,
        sent,
        {"name": "upkt", "src_buff": [s], "dst_buff": [{"type": "o", "index": 0}]},
    ]
    second["threadblocks"][0]["ops"] = [{"name": "upkt", "src_buff": [s], "dst_buff": [{"type": "o", "index": 0}]}]
    algorithm = from_mscclpp(StringIO(json.dumps(plan)))
    assert [(one.source, one.destination) for one in algorithm.messages] == [(0, 1)]


def test_an_operation_of_a_group_is_shared_by_its_thread_blocks() -> None:
    algorithm = from_mscclpp(StringIO(json.dumps(by_packets(share=True))))
    assert (algorithm.buffers.inputs, [one.count for one in algorithm.messages]) == (4, [1] * 8)
    plan = by_packets(share=True)
    plan["gpus"][0]["threadblocks"].pop()
    with pytest.raises(PointsmanError, match=r"waits for ever|at the end"):
        from_mscclpp(StringIO(json.dumps(plan)))


def by_switch(*names: str, pipeline: bool = False) -> dict[str, Any]:
    """An allreduce of two chunks in place: each rank has the switch add up its own one, and store the sum at both, between
    barriers of its two thread blocks that the first of them keeps with the other rank."""
    plan = example()
    for g, gpu in enumerate(plan["gpus"]):
        switch = {"channel_type": "switch", "buffer_type": "i", "rank_groups": [{"size": 2, "ranks": [0, 1]}]}
        gpu |= {"channels": [switch, {"channel_type": "memory", "connected_to": [1 - g]}]}
        gpu |= {"semaphores": [{"init_value": 0}, {"init_value": 0}], "remote_buffers": []}
        at = [{"switch_channel_id": 0, "index": g, "size": 1}]
        there = {"name": "glres", "src_buff": at, "dst_buff": at, "channel_type": "switch", "reduce_op": "sum"}
        work: list[dict[str, Any]] = [{"name": "nop"}, there]
        if pipeline:
            work = [{"name": "pipeline", "iter_context": {"unit_size": 1024, "num_chunks": 1}, "ops": work}]
        meet, done = (
            [{"name": "barrier", "barrier_id": number, "num_threadblocks": 2}]
            if name == "barrier"
            else [{"name": name, "semaphore_ids": [number]}]
            for number, name in enumerate(names)
        )
        if names[0] == "sem_release":  # released by the first block, which acquires when the second is done
            first = [*SYNC, *meet, {"name": "sem_acquire", "semaphore_ids": [1]}, *SYNC]
            second = [{"name": "sem_acquire", "semaphore_ids": [0]}, *work, *done]
        else:
            first, second = [*SYNC, *meet, *done, *SYNC], [*meet, *work, *done]
        memory = {"channel_type": "memory", "channel_ids": [0]}
        gpu["threadblocks"] = [
            {"id": 0, "ops": first, "channels": [memory]},
            {"id": 1, "ops": second, "channels": [{"channel_type": "switch", "channel_ids": [0]}]},
        ]
    return json.loads(json.dumps(plan))  # so that nothing in it is the same object twice


@pytest.mark.parametrize("names", [("barrier", "barrier"), ("sem_release", "sem_release")])
@pytest.mark.parametrize("pipeline", [False, True])
def test_a_switch_adds_up_and_stores_at_all_gpus_of_its_group(names: tuple[str, str], pipeline: bool) -> None:
    algorithm = from_mscclpp(StringIO(json.dumps(by_switch(*names, pipeline=pipeline))))
    assert sorted((one.source, one.destination) for one in algorithm.messages) == [(0, 1), (0, 1), (1, 0), (1, 0)]
    step = "operation 1.1 (glres)" if pipeline else "operation 2 (glres)"
    assert {action.step for action in algorithm.actions} == {f"rank {g}, thread block 1, {step}" for g in (0, 1)}


def by_group_reduce() -> dict[str, Any]:
    """As `by_switch`, but the sum is kept in a scratch buffer before it is stored at both: MSCCL++'s language writes ``glre`` in
    a form of its own."""
    plan = by_switch("barrier", "barrier")
    for g, gpu in enumerate(plan["gpus"]):
        gpu["scratch_chunks"] = 1
        ops = gpu["threadblocks"][1]["ops"]
        kept = {"rank": g, "type": "s", "index": 0, "size": 1}
        there = ops[2]["dst_buff"]
        reduce = {
            "name": "glre",
            "buffer_type": "i",
            "buffer_offset": g,
            "size": 1,
            "dst_chunk": kept,
            "channel_ids": [0],
        }
        store = {"name": "gstore", "src_buff": [kept], "dst_buff": there, "channel_type": "switch"}
        ops[2:3] = [reduce | {"channel_type": "switch", "reduce_op": "sum"}, store]
    return plan


def test_a_sum_through_a_switch_is_left_at_the_gpu_that_reads_it() -> None:
    algorithm = from_mscclpp(StringIO(json.dumps(by_group_reduce())))
    assert sorted((one.source, one.destination) for one in algorithm.messages) == [(0, 1), (0, 1), (1, 0), (1, 0)]
    named = {action.step for action in algorithm.actions if action.into == ("s", 0)}
    assert named == {f"rank {g}, thread block 1, operation 2 (glre)" for g in (0, 1)}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            lambda one: one["dst_chunk"].update(rank=1),
            "the sum must be left at the gpu of the operation, not at 1, since",
        ),
        (lambda one: one.update(buffer_type="o"), "buffer_type is 'o', and that of the switch channel 'i'"),
        (lambda one: one.update(channel_ids=[]), "the thread block has no switch channel -1"),
        (lambda one: one.update(size=2), "sources and destinations must have as many chunks"),
        (lambda one: one.pop("dst_chunk"), "a reduction must have sources and destinations"),
    ],
)
def test_a_wrong_sum_through_a_switch_is_refused(change: Callable[[dict[str, Any]], Any], told: str) -> None:
    plan = by_group_reduce()
    change(plan["gpus"][0]["threadblocks"][1]["ops"][2])
    with pytest.raises(PointsmanError, match=rf"rank 0, thread block 1, operation 2 \(glre\): {told}"):
        from_mscclpp(StringIO(json.dumps(plan)))


def test_the_buffer_of_a_switch_has_another_name_in_older_files() -> None:
    plan = by_switch("barrier", "barrier")
    for gpu in plan["gpus"]:
        gpu["channels"][0]["buff"] = gpu["channels"][0].pop("buffer_type")
    assert len(from_mscclpp(StringIO(json.dumps(plan))).messages) == 4


def sendrecv(*distances: int) -> str:
    """A plan in which rank k puts its two chunks into the output of the rank that is ``distances[k]`` further."""
    ranks, gpus = len(distances), []
    for g, distance in enumerate(distances):
        puts = {
            "src_buff": [{"type": "i", "index": 0, "size": 2}],
            "dst_buff": [{"buffer_id": 0, "index": 0, "size": 2}],
        }
        refs = [{"access_channel_type": "port", "remote_buffer_ids": [0]}]
        block = {"id": 0, "ops": [{"name": "put", "channel_type": "port", **puts}], "remote_buffer_refs": refs}
        sizes = {"id": g, "input_chunks": 2, "output_chunks": 2, "scratch_chunks": 0}
        gpus.append(
            sizes | {"threadblocks": [block], "remote_buffers": [{"rank": (g + distance) % ranks, "type": "o"}]}
        )
    return json.dumps({"name": "x", "collective": "sendrecv", "gpus": gpus})


@pytest.mark.parametrize("distance", [1, 2, 3, 5])
def test_a_sendrecv_hands_the_input_of_each_rank_to_another(distance: int) -> None:
    algorithm = from_mscclpp(StringIO(sendrecv(*[distance] * 6)))
    assert (algorithm.collective, algorithm.distance) == ("sendrecv", distance)
    assert algorithm.wanted(0) == {("o", k): frozenset([2 * (6 - distance) + k]) for k in (0, 1)}


def test_a_sendrecv_of_ranks_that_do_not_send_as_far_is_refused() -> None:
    with pytest.raises(
        PointsmanError, match=r"rank 1: at the end o\[0\] is input 0 of rank 0, and must be input 0 of rank 2"
    ):
        from_mscclpp(StringIO(sendrecv(1, 3, 1, 3)))


@pytest.mark.parametrize("packets", [False, True])
def test_a_store_through_a_switch_goes_to_all_gpus(packets: bool) -> None:
    plan = by_switch("barrier", "barrier") | {"collective": "allgather", "inplace": False}
    for g, gpu in enumerate(plan["gpus"]):
        gpu |= {"input_chunks": 1, "output_chunks": 2, "scratch_chunks": 3 if packets else 0}
        gpu["channels"][0]["buffer_type"] = "s" if packets else "o"
        own, far = [{"type": "i", "index": 0}], [{"switch_channel_id": 0, "index": g}]
        kept = [{"type": "s", "index": 2}]
        ops = [{"name": "gstore", "src_buff": own, "dst_buff": far}]
        if packets:
            ops = [
                {"name": "cpkt", "src_buff": own, "dst_buff": kept},
                {"name": "gstorepkt", "src_buff": kept, "dst_buff": far},
                *(
                    {"name": "upkt", "src_buff": [{"type": "s", "index": k}], "dst_buff": [{"type": "o", "index": k}]}
                    for k in (0, 1)
                ),
            ]
        gpu["threadblocks"][1]["ops"][1:3] = ops
    algorithm = from_mscclpp(StringIO(json.dumps(plan)))
    assert sorted((one.source, one.destination) for one in algorithm.messages) == [(0, 1), (1, 0)]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            lambda ops, gpu: ops[0].update(num_threadblocks=3),
            r"operation 2 \(barrier\): a barrier must be of as many thread blocks everywhere, 1 or more, not of 2 here and 3",
        ),
        (lambda ops, gpu: ops[0].update(num_threadblocks=0), r"operation 0 \(barrier\): .* 1 or more, not of 0"),
        (lambda ops, gpu: ops.pop(0), r"operation 2 \(barrier\) waits for ever"),
        (
            lambda ops, gpu: ops[0].update(name="sem_acquire", semaphore_ids=[2]),
            r"operation 0 \(sem_acquire\): the gpu has 2 semaphores",
        ),
        (
            lambda ops, gpu: ops[0].update(name="sem_acquire", semaphore_ids=[1]),
            r"operation 2 \(barrier\) waits for ever",
        ),
        (lambda ops, gpu: ops[1].update(name="pipeline", ops=[{"name": "pipeline"}]), "must not have a pipeline in it"),
        (
            lambda ops, gpu: ops.__setitem__(1, {"name": "pipeline", "ops": [{"name": "jump"}]}),
            r"line 1: gpus\[0\].threadblocks\[1\].ops\[1\]: an operation jump is not known",
        ),
        (
            lambda ops, gpu: ops[2]["src_buff"][0].update(switch_channel_id=1),
            r"operation 2 \(glres\): the thread block has no switch channel 1",
        ),
        (
            lambda ops, gpu: gpu["channels"][0]["rank_groups"][0].update(ranks=[0, 2]),
            "must have a buffer_type, and ranks that are there",
        ),
    ],
)
def test_what_is_wrong_with_barriers_semaphores_and_switches_is_refused(
    change: Callable[[list[dict[str, Any]], dict[str, Any]], Any], told: str
) -> None:
    plan = by_switch("barrier", "barrier")
    change(plan["gpus"][0]["threadblocks"][1]["ops"], plan["gpus"][0])
    with pytest.raises(PointsmanError, match=told):
        from_mscclpp(StringIO(json.dumps(plan)))


def operation(plan: dict[str, Any], at: int = 2) -> dict[str, Any]:
    return plan["gpus"][0]["threadblocks"][0]["ops"][at]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            lambda plan: operation(plan).update(name="glmax"),
            r"line 1: gpus\[0\].threadblocks\[0\].ops\[2\]: an operation glmax is not known; known are barrier, copy,",
        ),
        (lambda plan: operation(plan).update(tbg_info={"tb_id": 2, "tbg_size": 2}), "tb_id must be 0 to 1, not 2"),
        (
            lambda plan: operation(plan).update(tbg_info={"tb_id": 0, "tbg_size": 4097}),
            "groups of thread blocks must divide a chunk into at most 4096 parts, not 4097",
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
