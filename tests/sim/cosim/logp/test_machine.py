"""The LogP machine by the arithmetic of its definition, and with everything full."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from cosim.logp.carrier import LogpCarrier
from cosim.logp.machine import LogpMachine, LogpReceive, LogpSend, LogpWait, _without_pause
from cosim.logp.parameters import LogpParameters, logp_named
from pointsman.errors import PointsmanError
from pointsman.runtime.active import Endpoint, Handlers, Message, Reply
from pointsman.runtime.active.carrier import Kind, NodeEndedError
from pointsman.runtime.api.requests import Category, Lane, Transfer, Wait


def _message(number: int) -> Message:
    return Message(0, Kind.REQUEST, 0, (number,))


def test_times_of_messages_are_those_of_the_definition() -> None:
    """One processor sends n messages to another that only receives: L + o + o + (n - 1) max(o, g)."""
    for parameters in (LogpParameters(11, 2, 3, 7, 99), LogpParameters(5, 9, 4, 1, 99), LogpParameters(0, 1, 6, 2, 99)):
        machine = LogpMachine(parameters, 2)

        async def sends(count: int = 20) -> None:
            for k in range(count):
                request = LogpSend(1, _message(k))
                await request
                assert request.answer

        async def receives(machine: LogpMachine = machine, count: int = 20) -> list[int]:
            times = []
            for k in range(count):
                await LogpWait(None, False)
                request = LogpReceive(False)
                await request
                assert isinstance(request.answer, Message)
                assert request.answer.arguments == (k,)
                times.append(machine.time)
            return times

        record = machine.run([sends(), receives()])
        p = parameters
        step = max(p.send, p.receive, p.gap)
        assert record.results[1] == [p.send + p.latency + p.receive + k * step for k in range(20)]
        assert record.finished[0] == 19 * max(p.send, p.gap) + p.send


def test_a_sender_waits_while_as_many_messages_are_under_way_as_may_be() -> None:
    machine = LogpMachine(LogpParameters(10, 1, 1, 1, capacity=2), 2)

    async def sends() -> list[int]:
        times = []
        for k in range(4):
            request = LogpSend(1, _message(k))
            await request
            while not request.answer:
                await LogpWait(1, False)
                request = LogpSend(1, _message(k))
                await request
            times.append(machine.time)
        return times

    async def receives() -> None:
        await Wait(100, Category.CPU)
        for _ in range(4):
            await LogpWait(None, False)
            await LogpReceive(False)

    assert machine.run([sends(), receives()]).results[0] == [1, 2, 101, 102]


def _handlers(seen: list[Counter[tuple[int, int]]]) -> Handlers:
    handlers = Handlers()

    def ask(state: int, source: int, arguments: tuple[int, ...], data: bytes) -> Reply:
        seen[state][source, arguments[0]] += 1
        return Reply("answer", arguments)

    def answer(state: int, source: int, arguments: tuple[int, ...], data: bytes) -> None:
        seen[state][source, -1 - arguments[0]] += 1

    handlers.add("ask", ask)
    handlers.add("answer", answer, reply=True)
    return handlers


@pytest.mark.parametrize(
    "text", ["example,capacity=1", "cm5,delay=100,capacity=1", "latency=0,send=0,receive=0,gap=0,capacity=1"]
)
def test_all_ask_all_with_room_for_one_message_and_nothing_is_lost_or_doubled(text: str) -> None:
    nodes, rounds = 6, 25
    machine = LogpMachine(logp_named(text), nodes)
    seen: list[Counter[tuple[int, int]]] = [Counter() for _ in range(nodes)]

    async def program(number: int) -> None:
        end = Endpoint(LogpCarrier(machine, number), _handlers(seen), number)
        for k in range(rounds):
            for other in range(nodes):
                if other != number:
                    await end.request(other, "ask", (k,))
        await end.until(lambda: end.due == 0 and end.handled[0] == rounds * (nodes - 1))

    machine.run([program(number) for number in range(nodes)])
    expected = {
        number: {(other, k): 1 for other in range(nodes) if other != number for k in range(-rounds, rounds)}
        for number in range(nodes)
    }
    assert dict(enumerate(map(dict, seen))) == expected


def test_processors_that_wait_for_nothing_are_a_deadlock_and_endless_ones_too_long() -> None:
    async def waits() -> None:
        await LogpWait(None, False)

    async def polls() -> None:
        while True:
            await LogpReceive(False)

    with pytest.raises(PointsmanError, match="deadlock: 1 processors wait") as caught:
        LogpMachine(LogpParameters(), 2).run([waits(), None], what=lambda number: "asleep")
    assert "node 0: asleep" in str(caught.value)
    with pytest.raises(PointsmanError, match="have not ended after 50 units"):
        LogpMachine(LogpParameters(), 1).run([polls()], max_cycles=50)


def test_there_are_no_registers() -> None:
    async def moves() -> None:
        await Transfer(Lane(True, 0, 1))

    with pytest.raises(PointsmanError, match="a LogP machine has no registers"):
        LogpMachine(LogpParameters(), 1).run([moves()])
    with pytest.raises(PointsmanError, match="a processor or more"):
        LogpMachine(LogpParameters(), 0)


@pytest.mark.parametrize("in_order", [True, False])
def test_late_messages_keep_their_order_where_the_machine_says_so(in_order: bool) -> None:
    machine = LogpMachine(LogpParameters(capacity=1000, delay=500, in_order=in_order), 2)

    async def sends() -> None:
        for k in range(100):
            await LogpSend(1, _message(k))

    async def receives() -> list[Any]:
        found = []
        for _ in range(100):
            await LogpWait(None, False)
            request = LogpReceive(False)
            await request
            assert isinstance(request.answer, Message)
            found.append(request.answer.arguments[0])
        return found

    found = machine.run([sends(), receives()]).results[1]
    assert sorted(found) == list(range(100))
    assert (found == sorted(found)) == in_order


def test_a_batch_takes_the_time_of_its_messages() -> None:
    """From one sender to one receiver that waits; ends and data are those of the same messages sent one by one."""
    from pointsman.runtime.splitc.accessors import SplitCState, splitc_handlers
    from pointsman.runtime.splitc.memory import CODE_BYTES, Memory

    def ends(parameters: LogpParameters, batches: bool) -> tuple[list[int], bytes]:
        machine = LogpMachine(parameters, 2)
        states = [SplitCState(Memory(p, 1 << 16), {}) for p in range(2)]
        addrs = CODE_BYTES + 4 * np.random.default_rng(1).permutation(50)

        async def program(number: int) -> None:
            states[number].store_counter()
            carrier = LogpCarrier(machine, number)
            carrier.batches = batches
            end = Endpoint(carrier, splitc_handlers(), states[number])
            if number == 0:
                data = np.arange(50, dtype=np.int32).tobytes()
                await end.request_many(np.ones(50, np.int64), "store", addrs, (0,), data, 4)
            else:
                await end.until(lambda: states[1].stores[0].received == 200)

        record = machine.run([program(0), program(1)])
        return record.finished.tolist(), states[1].memory.bytes.tobytes()

    for parameters in (
        LogpParameters(11, 2, 3, 7, 999),
        LogpParameters(5, 9, 4, 1, 999),
        LogpParameters(2, 1, 6, 2, 999),
    ):
        assert ends(parameters, True) == ends(parameters, False)


@pytest.mark.parametrize("wait", [0, 60, 300])
def test_a_processor_handles_what_comes_between_the_messages_of_a_batch(wait: int) -> None:
    """Its messages go to two processors in turn, so each has pauses; a word is handled in the next one at the latest."""
    from pointsman.runtime.splitc.accessors import SplitCState, splitc_handlers
    from pointsman.runtime.splitc.memory import CODE_BYTES, Memory

    def runs(batches: bool) -> tuple[tuple[int, int], list[int]]:
        machine = LogpMachine(LogpParameters(10, 4, 3, 5, 999), 3)
        states = [SplitCState(Memory(p, 1 << 16), {}) for p in range(3)]
        heard = (0, 0)

        async def program(number: int) -> None:
            nonlocal heard
            for _ in range(2):
                states[number].store_counter()
            carrier = LogpCarrier(machine, number)
            carrier.batches = batches
            end = Endpoint(carrier, splitc_handlers(), states[number])
            if number == 0:
                data, addrs = np.arange(100, dtype=np.int32).tobytes(), CODE_BYTES + 4 * np.arange(100)
                await end.request_many(np.arange(100) // 5 % 2 + 1, "store", addrs, (0,), data, 4)
            elif number == 1:
                await end.until(lambda: states[1].stores[1].received == 4)
                heard = states[1].stores[0].received, machine.time
                await end.until(lambda: states[1].stores[0].received == 200)
            else:
                await Wait(wait, Category.CPU)
                await end.request(1, "store", (CODE_BYTES, 1), bytes(4), replies=0)
                await end.until(lambda: states[2].stores[0].received == 200)

        finished = machine.run([program(0), program(1), program(2)]).finished.tolist()
        return heard, finished

    (in_batch, batch_ends), (one_by_one, ends) = runs(True), runs(False)
    assert batch_ends == ends
    # Five words come without a pause, and take 5 each.
    assert 0 <= in_batch[1] - one_by_one[1] <= 25
    assert in_batch[0] < 200


@pytest.mark.parametrize("seed", range(20))
def test_without_pause_is_what_a_count_message_by_message_gives(seed: int) -> None:
    rng = np.random.default_rng(seed)
    times, begin, step = rng.integers(0, 60, 12), 0, int(rng.integers(1, 9))
    begin = int(times.min()) + int(rng.integers(0, 5))
    free, taken = begin, 0
    for time in sorted(times.tolist()):
        if time > free:
            break
        free, taken = free + step, taken + 1
    found = _without_pause(times, begin, step)
    assert found.sum() == taken > 0
    assert times[found].max() <= times[~found].min(initial=99)


def test_a_message_to_a_processor_that_has_ended_is_an_error() -> None:
    async def sends(wait: int) -> None:
        await Wait(wait, Category.CPU)
        await LogpSend(1, _message(0))

    async def ends(wait: int) -> None:
        await Wait(wait, Category.CPU)

    with pytest.raises(NodeEndedError, match="node 1 has ended, and a message goes to it"):
        LogpMachine(LogpParameters(), 2).run([sends(5), ends(1)])
    with pytest.raises(NodeEndedError, match="node 1 has ended, and messages to it are under way: 1"):
        LogpMachine(LogpParameters(), 2).run([sends(1), ends(500)])
