"""Programs on a machine: what requests cost, and who goes first. The same on every engine."""

import os
import signal
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from cosim.numesh.machine import Machine
from cosim.numesh.rings import ring_order
from numesh.codes import FIRST_READ
from numesh.memories import NodeMemories
from numesh.shape import NodeShape
from pointsman.errors import PointsmanError
from pointsman.network import mesh, torus
from pointsman.runtime.api.requests import Lane, Transfer, Wait, WaitEmpty, WaitUntil
from ring_machine import (
    CPU,
    NODES,
    PREVIOUS,
    PSYNC,
    REPROG,
    RING,
    ROUTER,
    SHAPE,
    TOPOLOGY,
    alone,
    needs_compiler,
    write,
)

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
