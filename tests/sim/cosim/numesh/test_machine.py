"""Programs on a machine: what requests cost, who goes first, and how a run fails. The same on every engine."""

import gc
import os
import signal
import threading
import time
import traceback
import weakref
from collections.abc import Iterator

import numpy as np
import pytest

from cosim.engines.verilated.build import find_compiler
from cosim.errors import DeadlockError
from cosim.numesh.machine import Machine
from cosim.numesh.rings import ring_memories, ring_order
from numesh.codes import FIRST_READ
from numesh.memories import NodeMemories
from numesh.shape import NodeShape
from pointsman.errors import PointsmanError
from pointsman.network import graph, mesh, torus
from pointsman.runtime.api.requests import Category, Lane, Transfer, Wait, WaitEmpty, WaitUntil

CPU, WRITE, READ, PSYNC, ROUTER, REPROG, _ = Category
SHAPE = NodeShape(vfsms=8, schedule_depth=16)
TOPOLOGY = mesh(2, 2)
NODES = 4
RING = ring_memories(SHAPE, TOPOLOGY, [(2, 3)])
"""Register 2 of each node comes out of register 3 of the next; a word every other cycle."""
PREVIOUS = {node: ring_order(TOPOLOGY)[place - 1] for place, node in enumerate(ring_order(TOPOLOGY))}
needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="needs a C++ compiler")
ENGINES = ["model", "amaranth", pytest.param("verilated", marks=needs_compiler)]


@pytest.fixture(params=ENGINES)
def machine(request: pytest.FixtureRequest) -> Iterator[Machine]:
    with Machine(SHAPE, TOPOLOGY, engine=request.param) as machine:
        machine.preload(RING)
        yield machine


@pytest.fixture(params=[engine for engine in ENGINES if engine != "amaranth"])
def fast_machine(request: pytest.FixtureRequest) -> Iterator[Machine]:
    """For what does not depend on how a cycle goes."""
    with Machine(SHAPE, TOPOLOGY, engine=request.param) as machine:
        machine.preload(RING)
        yield machine


def write(word: int, register: int = 2, category: Category | None = None) -> Transfer:
    return Transfer(Lane(True, register, 1, np.array([word], dtype=np.uint32)), category)


def alone(machine: Machine, program, **options):
    """Run a program on node 0 and none on the others."""
    return machine.run([program, None, None, None], **options)


# -- what time requests take -----------------------------------------------------------------------------------------


def test_waits_take_the_cycles_they_name(machine: Machine):
    async def program() -> list[int]:
        times = [machine.time]
        await Wait(0, CPU)
        times.append(machine.time)
        await Wait(5, CPU)
        times.append(machine.time)
        await WaitUntil(12, PSYNC)
        times.append(machine.time)
        await WaitUntil(3, ROUTER)
        times.append(machine.time)
        return times

    record = alone(machine, program())
    assert record.results[0] == [0, 0, 5, 12, 12]
    assert record.cycles[0].tolist() == [5, 0, 0, 7, 0, 0, 0]
    assert record.finished.tolist() == [12, 0, 0, 0]
    assert (record.total_cycles, machine.time) == (12, 12)


def test_one_access_takes_one_cycle_and_one_follows_another_at_once(machine: Machine):
    async def program() -> int:
        await Transfer([Lane(True, (4, 5, 6, 7), 4, np.arange(4, dtype=np.uint32))])
        return machine.time

    record = alone(machine, program())
    assert record.results[0] == 4
    assert record.cycles[0].tolist() == [0, 4, 0, 0, 0, 0, 0]
    assert record.accesses.tolist() == [[4, 0], [0, 0], [0, 0], [0, 0]]


def test_a_transfer_without_words_takes_no_cycle(fast_machine: Machine):
    async def program() -> int:
        await Transfer([])
        await Transfer([Lane(True, 2, 0), Lane(False, 3, 0)])
        return fast_machine.time

    assert alone(fast_machine, program()).results[0] == 0


def test_wait_empty_goes_on_in_the_first_cycle_in_which_the_register_is_not_full(machine: Machine):
    async def program() -> list[int]:
        await WaitEmpty(2, REPROG)
        times = [machine.time]
        await write(1)
        times.append(machine.time)
        await WaitEmpty(2, REPROG)
        times.append(machine.time)
        await write(2)
        times.append(machine.time)
        return times

    # Written in cycle 0; the first read stage of the sending VFSM is in cycle FIRST_READ, so the register is empty one later.
    record = alone(machine, program())
    assert record.results[0] == [0, 1, FIRST_READ + 1, FIRST_READ + 2]
    assert record.cycles[0].tolist() == [0, 2, 0, 0, 0, FIRST_READ, 0]


def test_a_stalled_transfer_counts_by_the_first_lane_that_is_not_complete(machine: Machine):
    async def program() -> None:
        await Transfer([Lane(True, 2, 3), Lane(False, 3, 1)])

    async def previous() -> None:
        await Wait(20, CPU)
        await write(1)

    programs = [None] * NODES
    programs[0], programs[PREVIOUS[0]] = program(), previous()
    record = machine.run(programs)
    # Writes in cycles 0 and FIRST_READ + 1 and + 3, for the router reads in FIRST_READ and + 2; then waiting for the word.
    writing = FIRST_READ + 4
    assert record.cycles[0].tolist() == [0, writing, record.finished[0] - writing, 0, 0, 0, 0]
    assert record.accesses[0].tolist() == [3, 1]


def test_a_category_of_its_own_takes_all_cycles_of_a_transfer(machine: Machine):
    async def program() -> None:
        await Transfer([Lane(True, 2, 4)], REPROG)

    record = alone(machine, program())
    assert record.cycles[0].tolist() == [0, 0, 0, 0, 0, record.total_cycles, 0]
    assert record.accesses[0].tolist() == [4, 0]


def test_after_the_end_of_a_program_nothing_is_counted(machine: Machine):
    async def short() -> str:
        await Wait(2, CPU)
        return "short"

    async def long() -> str:
        await Wait(9, ROUTER)
        return "long"

    record = machine.run([short(), long(), None, short()])
    assert record.cycles.sum(axis=1).tolist() == [2, 9, 0, 2]
    assert record.results == ["short", "long", None, "short"]
    assert record.finished.tolist() == [2, 9, 0, 2]


def test_a_second_run_goes_on_where_the_first_ended(machine: Machine):
    async def program() -> int:
        await Wait(10, CPU)
        return machine.time

    alone(machine, program())
    record = alone(machine, program())
    assert (record.started, record.results[0], record.total_cycles) == (10, 20, 10)
    assert record.finished.tolist() == [20, 10, 10, 10]
    assert record.cycles.sum() == 10


def test_generators_are_programs_too(fast_machine: Machine):
    def program():
        yield Wait(3, CPU)
        return fast_machine.time

    assert alone(fast_machine, program()).results[0] == 3


# -- words -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
def test_words_go_round_the_ring(machine: Machine, kind: type):
    async def program(node: int) -> np.ndarray:
        out = np.arange(100 * node, 100 * node + 30).astype(kind)
        into = np.zeros(30, dtype=kind)
        await Transfer([Lane(False, 3, 30, into), Lane(True, 2, 30, out)])
        return into

    record = machine.run([program(node) for node in range(NODES)], events=True)
    for node, words in enumerate(record.results):
        assert words.tolist() == list(range(100 * PREVIOUS[node], 100 * PREVIOUS[node] + 30))
    assert record.accesses.tolist() == [[30, 30]] * NODES
    assert len(record.events) == 2 * NODES * 30
    order = record.events[["time", "node"]]
    assert (np.sort(order, order=("time", "node")) == order).all()
    written = record.events[record.events["write"] & (record.events["node"] == 2)]
    assert written["word"].tolist() == list(range(200, 230))
    assert (np.diff(written["time"]) >= 2).all()


def test_a_word_is_cut_to_the_width_of_the_node(machine: Machine):
    async def sender() -> None:
        await Transfer(Lane(True, 2, 1, np.array([0xABC_1234_5678], dtype=np.uint64)))

    async def receiver() -> int:
        into = np.full(1, 2**64 - 1, dtype=np.uint64)
        await Transfer(Lane(False, 3, 1, into))
        return int(into[0])

    programs = [None] * NODES
    programs[PREVIOUS[0]], programs[0] = sender(), receiver()
    record = machine.run(programs, events=True)
    assert record.results[0] == 0x1234_5678
    assert record.events["word"].tolist() == [0x1234_5678] * 2


def test_without_data_zeros_go_out_and_words_that_come_are_dropped(machine: Machine):
    async def sender() -> None:
        await Transfer(Lane(True, 2, 2))
        await write(5)

    async def receiver() -> int:
        into = np.full(1, 9, dtype=np.uint32)
        await Transfer(Lane(False, 3, 1, into))
        zero = int(into[0])
        await Transfer(Lane(False, 3, 1))
        await Transfer(Lane(False, 3, 1, into))
        return zero * 10 + int(into[0])

    programs = [None] * NODES
    programs[PREVIOUS[0]], programs[0] = sender(), receiver()
    assert machine.run(programs).results[0] == 5


def test_a_lane_sends_on_what_the_lane_before_it_receives(machine: Machine):
    async def first() -> list[int]:
        data = np.arange(7, 15, dtype=np.uint32)
        back = np.zeros(8, dtype=np.uint32)
        await Transfer([Lane(True, 2, 8, data), Lane(False, 3, 8, back)])
        return back.tolist()

    async def forward() -> int:
        data = np.zeros(8, dtype=np.uint32)
        await Transfer([Lane(False, 3, 8, data), Lane(True, 2, 8, data, after=0)])
        return machine.time

    record = machine.run([first(), forward(), forward(), forward()])
    assert record.results[0] == list(range(7, 15))


def test_after_all_holds_a_lane_back_until_the_other_is_complete(machine: Machine):
    async def program() -> None:
        await Transfer([Lane(True, 4, 1, after=1, after_all=True), Lane(True, (5, 6, 7), 3)])

    record = alone(machine, program(), events=True)
    assert record.events["register"].tolist() == [5, 6, 7, 4]


def test_a_lane_stays_within_its_window_of_another(machine: Machine):
    async def program() -> None:
        await Transfer([Lane(True, tuple(range(4, 10)), 6, window=2, pair=1), Lane(True, tuple(range(10, 16)), 6)])

    record = alone(machine, program(), events=True)
    assert record.events["register"].tolist() == [4, 5, 10, 6, 11, 7, 12, 8, 13, 9, 14, 15]


def test_counts_between_lanes_are_those_at_the_start_of_the_cycle(machine: Machine):
    async def program() -> None:
        await Transfer([Lane(True, (4, 5), 2, after=1), Lane(True, (6, 7), 2)])

    record = alone(machine, program(), events=True)
    assert record.events["register"].tolist() == [6, 4, 7, 5]
    assert record.events["time"].tolist() == [0, 1, 2, 3]


def test_a_request_can_be_awaited_again_and_by_many(machine: Machine):
    shared = Transfer([Lane(False, 3, 2), Lane(True, 2, 2)])

    async def program() -> None:
        for _ in range(3):
            await shared

    record = machine.run([program() for _ in range(NODES)])
    assert record.accesses.tolist() == [[6, 6]] * NODES


def test_many_lanes_and_registers_find_room(fast_machine: Machine):
    async def program() -> None:
        await Transfer(
            [Lane(True, (4, 5, 6, 7, 8) * 9, 1) for _ in range(1)] + [Lane(True, r, 1) for r in range(9, 16)]
        )

    assert alone(fast_machine, program()).accesses[0].tolist() == [8, 0]


def test_programs_ready_in_one_cycle_go_on_in_the_order_of_their_nodes(machine: Machine):
    log: list[tuple[int, int]] = []

    async def program(node: int) -> None:
        for first, cycles in ((4, 3), (7, 0), (7, 2), (9, 2)):
            if node == 1:
                await Transfer([Lane(True, range(first, first + max(cycles, 1)), cycles)])
            elif node == 2:
                await WaitUntil(machine.time + cycles, PSYNC)
            else:
                await Wait(cycles, CPU)
            log.append((machine.time, node))

    machine.run([program(node) for node in range(NODES)])
    assert log == sorted(log)
    assert [node for time, node in log if time == 3] == [0, 0, 1, 1, 2, 2, 3, 3]


def test_programs_that_share_an_array_see_it_as_it_was_at_the_start_of_the_cycle(machine: Machine):
    shared = np.array([1], dtype=np.uint32)
    order = ring_order(TOPOLOGY)
    reader = order[0]

    async def receive() -> None:
        await Transfer(Lane(False, 3, 1, shared))

    async def send(at: int) -> None:
        await WaitUntil(at, CPU)
        await Transfer(Lane(True, 4, 1, shared))

    async def source() -> None:
        await write(77)

    for writer in set(range(NODES)) - {reader, PREVIOUS[reader]}:
        with Machine(SHAPE, TOPOLOGY, engine=machine.engine) as fresh:
            fresh.preload(RING)
            shared[0] = 1
            programs = [None] * NODES
            programs[reader], programs[PREVIOUS[reader]] = receive(), source()
            arrival = int(fresh.run(programs, events=True).events["time"][-1])
        with Machine(SHAPE, TOPOLOGY, engine=machine.engine) as fresh:
            fresh.preload(RING)
            shared[0] = 1
            programs = [None] * NODES
            programs[reader], programs[PREVIOUS[reader]] = receive(), source()
            programs[writer] = send(arrival)
            events = fresh.run(programs, events=True).events
            assert events["word"][(events["node"] == writer)].tolist() == [1]
            assert shared[0] == 77


# -- memories ----------------------------------------------------------------------------------------------------------


def test_memories_read_back_as_they_were_put_in(machine: Machine):
    assert machine.memories() == RING


def test_a_machine_starts_with_the_loader_phase():
    for engine in ("model", "amaranth"):
        with Machine(SHAPE, mesh(2), engine=engine) as machine:
            assert machine.memories() == [NodeMemories.at_reset(SHAPE)] * 2


def test_words_written_to_a_command_register_change_the_memories(machine: Machine):
    machine.preload([NodeMemories.at_reset(SHAPE)] * NODES)
    target = RING[0]
    from numesh.codes import Codes

    codes = Codes(SHAPE)

    async def program() -> None:
        commands: list[int] = []
        for address, word in enumerate(target.schedule):
            # The entry that runs comes last.
            if address:
                commands += codes.write_entry(address, codes.decode_entry(word))
        commands += codes.write_entry(0, codes.decode_entry(target.schedule[0]))
        for p in (1, 0):
            words = []
            for vfsm, word in enumerate(target.annotations[p]):
                words += codes.write_annotation(vfsm, codes.decode_annotation(word))
            data = np.array(words + (commands if p == 0 else []), dtype=np.uint64)
            await Transfer([Lane(True, p, len(data), data)], ROUTER)
            await WaitEmpty(p, ROUTER)
        await Wait(4, ROUTER)

    record = alone(machine, program())
    assert machine.memories() == [target] + [NodeMemories.at_reset(SHAPE)] * 3
    assert record.cycles[0].tolist() == [0, 0, 0, 0, record.total_cycles, 0, 0]


def test_preloading_what_does_not_fit_names_the_node(fast_machine: Machine):
    bad = [*RING[:3], NodeMemories((1,), RING[3].annotations)]
    with pytest.raises(PointsmanError, match=r"^node 3: schedule must have 16 words, not 1$"):
        fast_machine.preload(bad)
    with pytest.raises(PointsmanError, match=r"^memories must be given for 4 nodes, not 3$"):
        fast_machine.preload(RING[:3])


def test_state_and_time_can_be_watched_in_every_cycle(machine: Machine):
    seen: list[tuple[int, int]] = []
    record = alone(
        machine,
        (request for request in [write(1), Wait(FIRST_READ + 2, CPU)]),
        each_cycle=lambda: seen.append((machine.time, int(machine.state()["full"][0, 2]))),
    )
    assert record.total_cycles == FIRST_READ + 3
    assert seen == [(time, int(1 <= time <= FIRST_READ)) for time in range(FIRST_READ + 3)]


# -- failures ----------------------------------------------------------------------------------------------------------


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
        ([None, test_waits_take_the_cycles_they_name, None, None], "the program of node 1 must be a coroutine or"),
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


@pytest.fixture
def heeds_interrupts() -> Iterator[None]:
    """Processes that a shell starts in the background ignore them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeds_interrupts")
@pytest.mark.parametrize("engine", ["model", pytest.param("verilated", marks=needs_compiler)])
def test_an_interrupt_is_seen_at_once_and_other_threads_run(engine: str):
    with Machine(SHAPE, TOPOLOGY, engine=engine) as machine:
        machine.preload(RING)

        async def program() -> None:
            await WaitUntil(1 << 40, CPU)

        alone(machine, (request for request in [Wait(1000, CPU)]))  # everything is compiled now
        sent: list[float] = []

        def interrupt() -> None:
            sent.append(time.process_time())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(0.3, interrupt)
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            alone(machine, program())
        # In processor time, so that other work on the computer does not count.
        assert time.process_time() - sent[0] < 0.05
        timer.join()
        assert machine.time > 1000


@pytest.mark.parametrize("engine", ["model", pytest.param("verilated", marks=needs_compiler)])
def test_long_runs_show_their_progress_and_take_it_away(
    engine: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("cosim.machine._QUIET_SECONDS", 0.0)
    monkeypatch.setattr("cosim.machine._PROGRESS_SECONDS", 0.0)
    for shown in (True, False, None):
        with Machine(SHAPE, TOPOLOGY, engine=engine, progress=shown) as machine:
            machine.run([(request for request in [Wait(cycles, CPU)]) for cycles in (1, 1, 1, 300_000)])
        said = capsys.readouterr().err
        if shown:
            assert "running" in said
            assert "3 of 4 programs finished" in said
            assert said.rstrip("\r ").count("\n") == 0
        else:
            assert said == ""  # a captured stream is no terminal


def test_an_engine_runs_with_a_torus_and_in_three_dimensions():
    for topology in (torus(3, 2), mesh(2, 2, 2)):
        shape = NodeShape(neighbours=topology.ports)
        with Machine(shape, topology, engine="model") as machine:
            record = machine.run([(request for request in [Wait(9, CPU)]) for _ in range(topology.nodes)])
            assert record.total_cycles == 9
