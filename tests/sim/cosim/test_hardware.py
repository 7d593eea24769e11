"""Hardware of one's own under the verilated engine."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from cosim.engines.processors import RunOptions
from cosim.engines.verilated.build import find_compiler
from cosim.engines.verilated.engine import HardwareEngine
from cosim.errors import DeadlockError
from cosim.hardware import Hardware, Register, Wire
from cosim.machine import HardwareMachine
from loading import module_at
from pointsman.errors import PointsmanError
from pointsman.runtime.api.requests import Category, Lane, Transfer, Wait, WaitEmpty

EXAMPLE = Path(__file__).parents[3] / "examples" / "hardware" / "loopback.py"
pytestmark = pytest.mark.skipif(find_compiler() is None, reason="needs a C++ compiler")


def _loopback() -> ModuleType:
    return module_at(EXAMPLE)


loopback = _loopback()


def test_the_example_prints_what_each_block_received():
    said = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True, check=True).stdout
    assert said.startswith("received: [[3000, 3001, 3002], [0, 1, 2], [1000, 1001, 1002], [2000, 2001, 2002]]\n")
    assert "words delivered: [3, 3, 3, 3]" in said


@pytest.mark.parametrize("blocks", [1, 4])
def test_compiled_and_plain_processors_leave_the_same_record(blocks: int):
    def programs(machine: HardwareEngine):
        def program(node: int):
            for words in (1, 5, 2):
                out = np.arange(words, dtype=np.uint32) + 100 * node
                into = np.zeros(words, dtype=np.uint64)
                yield Wait(3 * node % 5, Category.CPU)
                yield Transfer(Lane(True, 0, 1, out))
                yield WaitEmpty(0, Category.PSYNC)
                yield Transfer([Lane(False, 0, words, into), Lane(True, 0, words - 1, out[1:])])
            return into.tolist(), machine.time

        return [program(node) for node in range(blocks)]

    outcomes = []
    for plain in (False, True):
        engine = HardwareEngine(loopback.ring(blocks))
        options = RunOptions(None, 100, True, None, lambda time, live: None)
        outcomes.append((engine.run_plain if plain else engine.run)(programs(engine), options))
    fast, slow = outcomes
    assert fast.results == slow.results
    assert fast.results[0][0] == [100 * (blocks - 1), 100 * (blocks - 1) + 1]
    for name in ("cycles", "finished", "accesses", "events"):
        assert np.array_equal(getattr(fast, name), getattr(slow, name)), name


def test_writing_and_reading_have_flags_of_their_own():
    """With one flag for both, the reader would take its own word."""

    def program():
        yield Transfer(Lane(True, 0, 1, np.array([7], dtype=np.uint32)))
        into = np.zeros(1, dtype=np.uint32)
        yield Transfer(Lane(False, 0, 1, into))
        return int(into[0])

    with HardwareMachine(loopback.ring(2)) as machine:
        assert machine.run([program(), program()]).results == [7, 7]
        with pytest.raises(DeadlockError, match=r"node 0 has waited since cycle \d+ for a word in register 0"):
            machine.run([program(), None])


def test_state_is_seen_and_set_by_name():
    with HardwareMachine(loopback.ring(2)) as machine:
        assert machine.peek("delivered") == [0, 0]
        machine.poke(1, "delivered", 40)
        machine.run([loopback.exchange(node, 2) for node in range(2)])
        assert machine.peek("delivered") == [2, 42]
        assert machine.peek_top("busy") >= 2
        with pytest.raises(KeyError, match="no_such"):
            machine.peek("no_such")
        with pytest.raises(KeyError, match="delivered"):
            machine.peek_top("delivered")


def test_blocks_evaluated_together_do_what_they_do_in_one_model():
    """Once as one model of everything, once as one block evaluated many times over: the same record."""
    records = []
    for registered in (False, True):
        hardware = replace(loopback.ring(20), extra="", top_state={}, registered=registered)
        with HardwareMachine(hardware) as machine:
            programs = [loopback.exchange(node, 3) for node in range(20)]
            records.append(machine.run(programs, events=True))
            assert machine.peek("delivered") == [3] * 20
            names = machine._compiled._mesh.names().split()
            assert ("wire.in_data" in names) == registered, "it is built in the way that was asked for"
    assert records[0].differences(records[1]) == []


def changed(promised: str, broken: str, *, registered: bool) -> Hardware:
    """Two mailboxes with something else in place of a text that is there once."""
    assert loopback.VERILOG.count(promised) == 1
    verilog = loopback.VERILOG.replace(promised, broken)
    return replace(loopback.ring(2), verilog=verilog, extra="", top_state={}, registered=registered)


@pytest.mark.parametrize(
    ("promised", "broken", "said"),
    [
        ("out_valid = out_full", "out_valid = out_full && !in_valid", "out_valid follows in_valid"),
        ("in_accept = !in_full", "in_accept = !in_full && !p_write", "in_accept follows p_write"),
        ("assign in_accept = !in_full;", "reg a; always @* if (in_valid) a = !in_full; else a = out_full; assign in_accept = a;",
         "in_accept follows in_valid"),
    ],
)  # fmt: skip
def test_outputs_that_follow_inputs_are_refused_where_blocks_are_evaluated_together(promised, broken, said):
    """An input from another block, one from the block's own processor, and a way through a condition."""
    with pytest.raises(PointsmanError) as caught:
        HardwareMachine(changed(promised, broken, registered=True))
    assert caught.value.message == f"outputs of module mailbox depend on inputs in the same cycle: {said}"
    with HardwareMachine(changed(promised, broken, registered=False)) as machine:
        programs = [loopback.exchange(node, 3) for node in range(2)]
        assert machine.run(programs).results == [[1000, 1001, 1002], [0, 1, 2]]


@pytest.mark.parametrize("registered", [True, False])
@pytest.mark.parametrize(
    ("promised", "broken", "said"),
    [
        ("p_write_full = out_full;", "p_write_full = out_full & !p_read;", "p_write_full follows p_read"),
        ("p_read_full = in_full;", "p_read_full = in_full | (p_write_data == 7);", "p_read_full follows p_write_data"),
    ],
)
def test_flags_that_follow_the_processors_port_are_refused(promised, broken, said, registered):
    """Nobody joins them, so that a run would not notice."""
    with pytest.raises(PointsmanError) as caught:
        HardwareMachine(changed(promised, broken, registered=registered))
    assert caught.value.message == f"outputs of module mailbox depend on inputs in the same cycle: {said}"
    assert caught.value.hint is not None
    assert "flags and p_read_data must follow registers alone" in caught.value.hint


def test_a_word_that_is_read_at_once_is_refused():
    wrong = changed("output reg [15:0] p_read_data", "output [15:0] p_read_data", registered=True)
    verilog = wrong.verilog.replace("p_read_data <= 0;", "").replace("p_read_data <= incoming;", "")
    verilog = verilog.replace("assign p_read_full", "assign p_read_data = p_read ? incoming : 0; assign p_read_full")
    with pytest.raises(PointsmanError, match=r"p_read_data follows p_read\n"):
        HardwareMachine(replace(wrong, verilog=verilog))


def describe(**changes: object) -> Hardware:
    return replace(loopback.ring(2), **changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"blocks": 0}, "blocks must be at least 1, not 0"),
        ({"registers": 257}, "registers must be 1 to 256, not 257"),
        ({"width": 65}, "width must be 1 to 64 bits, not 65"),
        ({"blocks": 3}, "joints must be given for 3 blocks, not 2"),
        ({"module": "letterbox"}, "the Verilog must have the module letterbox"),
        ({"wires": [Wire(name="clk")]}, "a name in Verilog must be letters, digits and _, and not 'clk'"),
        ({"joints": [{"x": "1"}, {}]}, "joints of block 0 must name inputs, not 'x'"),
        (
            {"state": {"a b": Register("mailbox", "delivered")}},
            "a name of state must be letters, digits, _ and full stops, not 'a b'",
        ),
    ],
)
def test_a_wrong_description_is_refused(changes: dict[str, object], message: str):
    with pytest.raises(PointsmanError) as caught:
        describe(**changes)
    assert caught.value.message == message
