"""The whole switch, driven by processors at its ports."""

from pathlib import Path

import pytest
from amaranth.hdl import Cat

from tdm_switch.codes import NOWHERE, Answer, Command, Predictor, Registers, decode_answer, encode_predictor
from tdm_switch.emit import switch_verilog
from tdm_switch.shape import SwitchShape


def _send(shape, destination, words):
    return [("write", Registers(shape).queue(destination), word) for word in words]


def _receive(shape, source, count):
    return [("read", Registers(shape).buffer(source))] * count


def _slot(name, index):
    return lambda switch: {
        f"{name}{s}": Cat(getattr(row, name)[s] for row in switch.scheduler.slots.lines) for s in index
    }


@pytest.mark.parametrize("sizes", [{"ports": 1, "slots": 1}, {}, {"ports": 4, "slots": 3, "order": "wrapped"}])
def test_all_to_all_arrives_once_and_in_order(run_switch, small, sizes) -> None:
    shape = small(**sizes)
    ports = range(shape.ports)
    accesses = {}
    for i in ports:
        steps = [("write", v, 100 * i + 10 * v + k) for k in range(5) for v in ports]
        accesses[i] = steps + [("read", shape.ports + u) for k in range(5) for u in ports]
    run = run_switch(shape, accesses, 900)
    assert run.left == {}
    for i in ports:
        assert run.read[i] == [100 * u + 10 * i + k for k in range(5) for u in ports]


def test_a_full_input_buffer_stops_its_connection_and_no_other(run_switch, small) -> None:
    shape = small()
    run = run_switch(
        shape, {0: _send(shape, 2, range(12)), 1: _send(shape, 2, range(50, 58)), 2: _receive(shape, 1, 8)}, 400
    )
    assert run.read[2] == list(range(50, 58))
    assert 0 in run.left, "processor 2 never reads what processor 0 sends"


def test_unsent_bit_falls_when_the_last_word_has_left(run_switch, small) -> None:
    shape = small()
    run = run_switch(shape, {0: _send(shape, 1, [7, 8])}, 40)
    unsent = [s["p_full_0"] >> Registers(shape).unsent & 1 for s in run.samples]
    there = [s["p_full_1"] >> Registers(shape).buffer(0) & 1 for s in run.samples]
    assert 1 in unsent
    assert unsent[-1] == 0
    assert there[len(unsent) - unsent[::-1].index(1)] == 1, "the last word is at the receiver"


def test_preloaded_connections_need_no_request_and_stay(run_switch, small, commands) -> None:
    shape = small(ports=2)
    load = commands(shape, ("STAGE", 0, 1), ("STAGE", 1, 0), ("LOAD", 1))
    run = run_switch(
        shape, {0: [*load, ("wait", 20), *_send(shape, 1, [9])], 1: _receive(shape, 0, 1)}, 80, _slot("b", range(2))
    )
    assert run.read[1] == [9]
    assert [run.samples[-1][f"b{s}"] for s in range(2)] == [0, 0b0110]


def test_conflicting_matrix_is_refused_and_the_switch_is_unharmed(run_switch, small, commands) -> None:
    """Two sources for a destination: the second STAGE and the LOAD are refused, and what was loaded before stays."""
    shape = small()
    answer = ("read", Registers(shape).answer)
    good = commands(shape, ("STAGE", 0, 1), ("STAGE", 1, 2), ("LOAD", 0))
    bad = [
        *commands(shape, ("STAGE", 0, 2)),
        *commands(shape, ("STAGE", 1, 2)),
        answer,
        *commands(shape, ("LOAD", 0)),
        answer,
    ]
    run = run_switch(
        shape, {0: good + bad, 2: [("wait", 90), *_send(shape, 2, [5]), *_receive(shape, 2, 1)]}, 160, _slot("p", [0])
    )
    assert list(map(decode_answer, run.read[0])) == [(Answer.CONFLICT, Command.STAGE), (Answer.BROKEN, Command.LOAD)]
    assert run.samples[-1]["p0"] == 1 << 1 | 1 << 5
    assert run.read[2] == [5]


def test_rows_that_collide_with_other_rows_are_refused(run_switch, small, commands) -> None:
    shape = small()
    answer = ("read", Registers(shape).answer)
    steps = commands(shape, ("STAGE", 0, 1), ("LOAD", 0, 0, 1), ("STAGE", 2, 1), ("LOAD", 0, 0, 1))
    run = run_switch(shape, {1: [*steps, answer]}, 80, _slot("p", [0]))
    assert decode_answer(run.read[1][0]) == (Answer.CONFLICT, Command.LOAD)
    assert run.samples[-1]["p0"] == 1 << 1


BAD = [
    (("STAGE", 3, 0), Answer.RANGE),
    (("STAGE", 0, 3), Answer.RANGE),
    (("STAGE", 0, 254), Answer.RANGE),
    (("LOAD", 0), Answer.BROKEN),
    (("STORE", 0), Answer.BROKEN),
    (("EVICT", 2), Answer.RANGE),
    (("SWAP", 2, 0), Answer.RANGE),
    (("SWAP", 0, 2), Answer.RANGE),
    (("HOLD", 3), Answer.RANGE),
    (("RELEASE", 255), Answer.RANGE),
    (("SLOT", 2), Answer.RANGE),
    (("WIDEN", 3, 0, 1), Answer.RANGE),
    (("WHERE", 3), Answer.RANGE),
    (("PREDICT", 0, 0, Predictor.TIMEOUT), Answer.RANGE),
    (("PREDICT", 64, 0, Predictor.COUNTER), Answer.RANGE),
    (("PREDICT", 0, 1, Predictor.TIMEOUT), Answer.RANGE),
    (("PREDICT", 1, 0, 4), Answer.UNKNOWN),
]


def test_bad_commands_are_refused_and_words_still_arrive(run_switch, small, commands) -> None:
    shape = small()
    answer = ("read", Registers(shape).answer)
    steps = [step for command, _ in BAD for step in (*commands(shape, command), answer)]
    # A refused STAGE begins a configuration, which LOAD then finds broken; a second LOAD finds none.
    run = run_switch(
        shape, {0: [*steps, *_send(shape, 1, [3])], 1: _receive(shape, 0, 1)}, 40 * len(BAD), _slot("p", [0, 1])
    )
    assert list(map(decode_answer, run.read[0])) == [(kind, Command[command[0]]) for command, kind in BAD]
    assert run.read[1] == [3]
    assert all((s["p0"], s["p1"]) == (0, 0) for s in run.samples)


def test_load_of_a_slot_or_store_of_a_place_that_does_not_exist_is_refused(run_switch, small, commands) -> None:
    shape = small()
    answer = ("read", Registers(shape).answer)
    steps = [
        *commands(shape, ("STAGE", 0, 0), ("LOAD", 2)),
        answer,
        *commands(shape, ("STAGE", 0, 0), ("STORE", 2)),
        answer,
    ]
    run = run_switch(shape, {0: steps}, 80)
    assert list(map(decode_answer, run.read[0])) == [(Answer.RANGE, Command.LOAD), (Answer.RANGE, Command.STORE)]


def test_unknown_command_is_refused(run_switch, small) -> None:
    shape = small()
    registers = Registers(shape)
    run = run_switch(shape, {0: [("write", registers.command, 15), ("read", registers.answer)]}, 30)
    assert decode_answer(run.read[0][0]) == (Answer.UNKNOWN, 15)


def test_second_level_is_swapped_in_and_back(run_switch, small, commands) -> None:
    shape = small(ports=2)
    steps = commands(shape, ("STAGE", 0, 0), ("LOAD", 0), ("STAGE", 0, 1), ("STORE", 1), ("SWAP", 0, 1))
    back = commands(shape, ("SWAP", 0, 1))
    run = run_switch(shape, {0: [*steps, ("wait", 20), *back]}, 80, _slot("p", [0]))
    seen = [s["p0"] for s in run.samples]
    assert [value for k, value in enumerate(seen) if not k or value != seen[k - 1]] == [0, 0b0001, 0b0010, 0b0001]


def test_rows_of_two_families_are_loaded_into_one_slot(run_switch, small, commands) -> None:
    shape = small(ports=4)
    one = commands(shape, ("STAGE", 0, 1), ("STAGE", 1, NOWHERE), ("LOAD", 0, 0, 1))
    two = commands(shape, ("STAGE", 2, 3), ("STAGE", 3, 2), ("LOAD", 0, 0, 1))
    run = run_switch(shape, {0: one, 3: two}, 80, _slot("p", [0]))
    assert run.samples[-1]["p0"] == 1 << 1 | 1 << 11 | 1 << 14


def test_preempted_connection_gives_way_and_comes_back(run_switch, small, commands) -> None:
    """One slot, all of it preloaded: with the slot giving way, a request in the way is served, and then the slot is as before."""
    shape = small(ports=2, slots=1)
    load = commands(shape, ("STAGE", 0, 0), ("STAGE", 1, 1), ("LOAD", 0), ("SLOT", 0, 0, 3))
    run = run_switch(shape, {0: [*load, *_send(shape, 1, [4, 5])], 1: _receive(shape, 0, 2)}, 120, _slot("b", [0]))
    seen = [s["b0"] for s in run.samples]
    assert 0b0010 in seen, "the dynamic connection"
    assert seen[-1] == 0b1001
    assert run.read[1] == [4, 5]


def test_without_giving_way_a_preloaded_slot_serves_nobody_else(run_switch, small, commands) -> None:
    shape = small(ports=2, slots=1)
    load = commands(shape, ("STAGE", 0, 0), ("STAGE", 1, 1), ("LOAD", 0))
    run = run_switch(shape, {0: [*load, *_send(shape, 1, [4])], 1: _receive(shape, 0, 1)}, 120)
    assert run.read[1] == []


def test_hold_keeps_a_connection_and_release_ends_it(run_switch, small, commands) -> None:
    shape = small(ports=2)
    steps = [*commands(shape, ("HOLD", 1)), ("wait", 30), *commands(shape, ("RELEASE", 1))]
    run = run_switch(shape, {0: steps}, 60, _slot("b", [0]))
    seen = [s["b0"] for s in run.samples]
    assert seen[25] == 0b0010
    assert seen[-1] == 0


def test_time_out_releases_an_idle_connection_after_so_many_cycles(run_switch, small) -> None:
    shape = small(ports=2)
    registers = Registers(shape)
    predict = ("write", registers.command, encode_predictor(Predictor.TIMEOUT, 20))
    run = run_switch(shape, {0: [predict, ("wait", 5), *_send(shape, 1, [1])]}, 80, _slot("b", [0]))
    seen = [s["b0"] for s in run.samples]
    sent = max(k for k, s in enumerate(run.samples) if s["p_full_0"] >> registers.unsent & 1)
    lost = seen.index(0, seen.index(0b0010))
    assert lost - sent == 20 + 2, "the time-out, and a decision"


def test_flush_of_all_releases_what_others_hold(run_switch, small, commands) -> None:
    shape = small(ports=2)
    run = run_switch(
        shape,
        {0: commands(shape, ("HOLD", 1)), 1: [("wait", 30), *commands(shape, ("FLUSH",))]},
        60,
        _slot("b", [0]),
    )
    assert run.samples[25]["b0"] == 0b0010
    assert run.samples[-1]["b0"] == 0


def test_flush_of_the_own_row_leaves_others(run_switch, small, commands) -> None:
    shape = small(ports=2)
    hold = commands(shape, ("HOLD", 1))
    run = run_switch(
        shape,
        {0: hold, 1: [*commands(shape, ("HOLD", 0)), ("wait", 30), *commands(shape, ("FLUSH", 0, 0, 1))]},
        80,
        _slot("b", [0]),
    )
    assert run.samples[30]["b0"] == 0b0110
    assert run.samples[-1]["b0"] == 0b0010


def test_wide_connection_has_several_slots_that_are_in_use(run_switch, small, commands) -> None:
    shape = small(ports=3, slots=2)
    answer = ("read", Registers(shape).answer)
    others = commands(shape, ("STAGE", 1, 1), ("LOAD", 0), ("STAGE", 1, 0), ("LOAD", 1))
    steps = [
        *others,
        *commands(shape, ("HOLD", 2), ("WIDEN", 2, 0, 1)),
        ("wait", 20),
        *commands(shape, ("WHERE", 2)),
        answer,
    ]
    steps += [*commands(shape, ("DEGREE",)), answer]
    run = run_switch(shape, {0: steps}, 120)
    assert list(map(decode_answer, run.read[0])) == [(Answer.VALUE, 2), (Answer.VALUE, 2)]


def test_empty_slots_take_no_time(run_switch, small, commands) -> None:
    """One connection alone has every slot: words follow each other but for the guard band."""
    shape = small(ports=2, slots=2, queue_depth=16, buffer_depth=16)
    load = commands(shape, ("STAGE", 0, 1), ("LOAD", 1))
    run = run_switch(
        shape,
        {0: [*load, ("wait", 10), *_send(shape, 1, range(9))]},
        80,
        lambda switch: {"out": switch.nics[0].out_valid},
    )
    sent = [k for k, s in enumerate(run.samples) if s["out"]]
    assert len(sent) == 9
    assert sent[-1] - sent[0] <= 9 * 2 + shape.slot_cycles


def test_verilog_depends_on_the_shape_alone_and_has_what_there_is_for_each_port_once() -> None:
    shape = SwitchShape(ports=2, slots=2)
    text = switch_verilog(shape)
    assert text == switch_verilog(SwitchShape(ports=2, slots=2))
    for part, instances in {
        "nic": 2,
        "output": 2,
        "requests": 2,
        "slots": 2,
        "prescheduling": 2,
        "row": 2,
        "transposed": 9,
        "busy_columns": 6,
    }.items():
        assert text.count(f"module tdm_{part}(") == 1
        assert text.count(f"  tdm_{part} ") == instances
    assert str(Path(__file__).parents[3]) not in text
