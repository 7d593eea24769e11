"""How a run on a machine fails: errors of programs, deadlocks and limits. The same on every engine."""

import gc
import traceback
import weakref
from collections.abc import Iterator

import numpy as np
import pytest

from cosim.errors import DeadlockError
from cosim.numesh.machine import Machine
from numesh.shape import NodeShape
from pointsman.errors import PointsmanError
from pointsman.network import graph, mesh
from pointsman.runtime.api.requests import Lane, Transfer, Wait, WaitEmpty
from ring_machine import (
    CPU,
    NODES,
    PREVIOUS,
    PSYNC,
    SHAPE,
    TOPOLOGY,
    alone,
    write,
)


def test_an_error_in_a_program_keeps_its_traceback_and_names_the_node(machine: Machine):
    closed: list[int] = []

    async def deep() -> None:
        await Wait(3, CPU)
        raise ZeroDivisionError("my own")

    async def bad() -> None:
        await Wait(2, CPU)
        await deep()

    async def good(node: int) -> None:
        try:
            await Wait(100, CPU)
        finally:
            closed.append(node)

    with pytest.raises(ZeroDivisionError, match="my own") as caught:
        machine.run([good(0), good(1), bad(), good(3)])
    assert caught.value.__notes__ == ["raised by the program of node 2 in cycle 5"]
    frames = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert frames[-2:] == ["bad", "deep"]
    assert closed == [0, 1, 3]


def test_an_error_before_the_first_cycle_leaves_no_program_behind(fast_machine: Machine):
    async def bad() -> None:
        raise KeyError("at once")

    async def never() -> None:
        await Wait(1, CPU)

    with pytest.raises(KeyError) as caught:
        fast_machine.run([bad(), never(), never(), never()])
    assert caught.value.__notes__ == ["raised by the program of node 0 in cycle 0"]
    gc.collect()  # would warn of coroutines that were never awaited


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (WaitEmpty(16, CPU), "an interface register must be 0 to 15 in this node, not 16"),
        (Transfer(Lane(True, (0, 99), 1)), "an interface register must be 0 to 15 in this node, not 99"),
        (None, "a program must await a request, not NoneType"),
        (7, "a program must await a request, not int"),
        (Lane(True, 0, 1), "a program must await a request, not Lane"),
    ],
    ids=["wait empty", "lane", "nothing", "number", "bare lane"],
)
def test_what_a_node_cannot_do_is_raised_where_it_was_asked_for(fast_machine: Machine, request_, message: str):
    def program():
        yield Wait(2, CPU)
        yield request_

    with pytest.raises(PointsmanError) as caught:
        alone(fast_machine, program())
    assert caught.value.message == message
    assert caught.value.__notes__ == ["raised by the program of node 0 in cycle 2"]
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "program"


def test_a_program_may_catch_a_refusal_and_go_on(machine: Machine):
    def program():
        try:
            yield WaitEmpty(16, CPU)
        except PointsmanError:
            yield Wait(2, CPU)
        try:
            yield "nonsense"
        except PointsmanError:
            return machine.time

    assert alone(machine, program()).results[0] == 2


def test_requests_may_come_again_in_any_number_and_order(fast_machine: Machine):
    """More of them than an engine remembers, between others that come only once and must not outlive that."""
    alive: list[weakref.ref[np.ndarray]] = []

    def program(node: int) -> Iterator[object]:
        sent = [np.full(2, 100 * node + k, dtype=np.uint32) for k in range(12)]
        kept = [Transfer(Lane(True, 2, 1, data)) for data in sent]
        pause = Wait(3, CPU)
        got = []
        for k in [*range(12), *reversed(range(12)), 0, 0, 5, 0]:
            yield kept[k]
            room = np.zeros(1, dtype=np.uint32)
            yield Transfer(Lane(False, 3, 1, room))
            got.append(int(room[0]))
            alive.append(weakref.ref(room))
            del room
            yield pause
        return got

    record = fast_machine.run([program(node) for node in range(NODES)])
    order = [*range(12), *reversed(range(12)), 0, 0, 5, 0]
    assert record.results == [[100 * PREVIOUS[node] + k for k in order] for node in range(NODES)]
    assert record.cycles[:, CPU].tolist() == [3 * len(order)] * NODES
    assert not any(ref() is not None for ref in alive)


def test_an_array_that_shrinks_after_the_request_was_made_is_refused(fast_machine: Machine):
    data = np.zeros(100_000, dtype=np.uint32)
    lane = Lane(False, 3, 100_000, data)
    lane.data = data[:10]

    def program():
        yield Transfer(lane)

    with pytest.raises(PointsmanError, match="data of a lane must hold its 100000 words, not 10"):
        alone(fast_machine, program())


def test_a_deadlock_is_reported_with_what_each_node_waits_for(machine: Machine):
    into = np.zeros(3, dtype=np.uint32)

    async def reader() -> None:
        await Wait(10, CPU)
        await Transfer([Lane(False, 3, 3, into), Lane(True, 4, 1), Lane(True, 5, 1, after=1)])

    async def waiter() -> None:
        await write(1, register=6)
        await WaitEmpty(6, PSYNC)

    async def done() -> None:
        await Wait(1, CPU)

    async def circle() -> None:
        lanes = [Lane(True, 4, 1, after=1, after_all=True), Lane(True, 5, 2, window=1, pair=0)]
        await Transfer(lanes)

    with pytest.raises(DeadlockError) as caught:
        machine.run([reader(), waiter(), done(), circle()], quiet_cycles=100)
    error = caught.value
    assert error.time == 112
    assert [(w.node, w.writes, w.reads, w.since) for w in error.waiting] == [
        (0, (), (3,), 12),
        (1, (6,), (), 1),
        (3, (), (), 1),
    ]
    assert str(error) == (
        "deadlock: in cycle 112 no processor has read or written for 100 cycles; 3 wait\n"
        "  node 0 has waited since cycle 12 for a word in register 3\n"
        "  node 1 has waited since cycle 1 for register 6 to be emptied by the router\n"
        "  node 3 has waited since cycle 1 for another of its own lanes"
    )


def test_whoever_waits_for_time_is_no_deadlock(machine: Machine):
    async def sleeper() -> None:
        await Wait(500, CPU)
        await write(1)

    async def reader() -> None:
        await Transfer(Lane(False, 3, 1))

    programs = [None] * NODES
    programs[PREVIOUS[0]], programs[0] = sleeper(), reader()
    assert machine.run(programs, quiet_cycles=20).total_cycles > 500


def test_a_limit_of_cycles_stops_the_run(machine: Machine):
    async def program(cycles: int) -> None:
        await Wait(cycles, CPU)

    machine.run([program(50) for _ in range(NODES)], max_cycles=50)
    with pytest.raises(PointsmanError, match=r"^2 programs are unfinished after 50 cycles\n  hint: allow more"):
        machine.run([program(50), program(51), program(50), program(99)], max_cycles=50)
    assert machine.time == 100


def test_after_a_failed_run_the_machine_can_run_again(fast_machine: Machine):
    async def bad() -> None:
        await Transfer(Lane(False, 3, 1))

    with pytest.raises(DeadlockError):
        alone(fast_machine, bad(), quiet_cycles=10)

    async def good() -> int:
        await write(1)
        return fast_machine.time

    before = fast_machine.time
    assert alone(fast_machine, good()).results[0] == before + 1


def test_a_machine_runs_one_set_of_programs_at_a_time(fast_machine: Machine):
    async def inner() -> None:
        await Wait(1, CPU)

    async def outer() -> str:
        program = inner()
        try:
            alone(fast_machine, program)
        except PointsmanError as error:
            return error.message
        finally:
            program.close()
        return "ran"

    assert alone(fast_machine, outer()).results[0] == "a machine can run one set of programs at a time"


@pytest.mark.parametrize(
    ("programs", "message"),
    [
        ([None] * 3, "programs must be given for 4 nodes, not 3"),
        ([None, None, None, 5], "the program of node 3 must be a coroutine or a generator, not int"),
        ([None, alone, None, None], "the program of node 1 must be a coroutine or"),
    ],
)
def test_programs_must_fit_the_machine(fast_machine: Machine, programs, message: str):
    with pytest.raises(PointsmanError) as caught:
        fast_machine.run(programs)
    assert caught.value.message.startswith(message)


def test_a_program_belongs_to_one_node(fast_machine: Machine):
    program = (Wait(1, CPU) for _ in range(1))
    with pytest.raises(PointsmanError, match="the program of node 2 is that of another node too"):
        fast_machine.run([None, program, program, None])
    program.close()


def test_a_function_in_place_of_a_program_gets_a_hint():
    with Machine(SHAPE, mesh(1), engine="model") as machine, pytest.raises(PointsmanError, match="hint: call the"):
        machine.run([test_a_function_in_place_of_a_program_gets_a_hint])


@pytest.mark.parametrize("name", ["max_cycles", "quiet_cycles"])
def test_limits_are_at_least_one(fast_machine: Machine, name: str):
    with pytest.raises(PointsmanError, match=f"^{name} must be at least 1, not 0$"):
        fast_machine.run([None] * NODES, **{name: 0})


def test_a_closed_machine_says_so(machine: Machine):
    machine.close()
    machine.close()
    for use in (machine.state, machine.memories, lambda: machine.time, lambda: machine.run([None] * NODES)):
        with pytest.raises(PointsmanError, match=r"^the machine is closed$"):
            use()


def test_a_program_may_close_the_machine_that_it_runs_on(fast_machine: Machine):
    async def program() -> None:
        fast_machine.close()
        await Wait(3, CPU)

    alone(fast_machine, program())


def test_a_topology_needs_enough_ports():
    with pytest.raises(PointsmanError, match=r"^neighbours must be at least 4 for a 2x2 mesh, not 2$"):
        Machine(NodeShape(neighbours=2), mesh(2, 2), engine="model")
    with pytest.raises(PointsmanError, match=r"^neighbours must be at least 3 for a graph of 4 nodes, not 2$"):
        Machine(NodeShape(neighbours=2), graph(4, [(0, 1), (0, 2), (0, 3)]), engine="model")
    Machine(NodeShape(neighbours=1), mesh(1), engine="model").close()


def test_there_are_only_so_many_engines():
    with pytest.raises(
        PointsmanError, match=r"^an engine must be one of auto, verilated, model, amaranth, not 'fast'$"
    ):
        Machine(SHAPE, TOPOLOGY, engine="fast")
