"""The assembler's errors, each with its line, and what it makes of operands."""

from __future__ import annotations

import pytest

from pointsman.runtime.tam import TamError, assemble
from pointsman.runtime.tam.program import CATEGORIES, Operand, Place

GOOD = (
    "codeblock main\n  slots a, t[3]\n  inlet start a\n    post go\n"
    "  thread go\n    add r1, t[2], 0x10 ; comment\n    halt a\n"
)


def test_tabs_and_a_mark_of_the_byte_order_are_no_errors() -> None:
    assert assemble("\ufeff" + GOOD.replace("  ", "\t").replace(" ", "\t")).blocks == assemble(GOOD).blocks


def test_slots_have_their_names() -> None:
    assert list(map(assemble(GOOD).blocks[0].slot_name, range(4))) == ["a", "t[0]", "t[1]", "t[2]"]


def test_operands_are_slots_registers_and_numbers() -> None:
    made = assemble(GOOD)
    step = made.blocks[0].threads[0].code[0]
    assert step.operands == (Operand(Place.REGISTER, 1), Operand(Place.SLOT, 3), Operand(Place.IMMEDIATE, 16))
    assert made.blocks[0].slots == 4
    assert set(CATEGORIES.values()) == {"alu", "control", "messages", "heap"}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("codeblock main", "codeblock other", "p: there is no code-block main"),
        ("codeblock main\n", "", "p:1: a program begins with a codeblock"),
        ("  inlet start a\n    post go\n", "", "p:1: code-block main has no inlet"),
        ("slots a", "slots 1a", "p:2: '1a' is no slot"),
        ("slots a,", "slots a, a,", "p:2: the name 'a' of a slot is taken"),
        ("slots a,", "slots r1,", "p:2: the name 'r1' of a slot is taken"),
        ("post go", "post gone", "p:4: there is no thread 'gone'"),
        ("post go", "fork go", "p:4: 'fork' stands in an inlet, which must neither wait nor allocate nor send"),
        ("post go", "falloc main, me, start, start", "p:4: 'falloc' stands in an inlet"),
        ("    halt a", "    post go", "p:7: 'post' stands in a thread"),
        ("thread go", "thread go 0", "p:5: the count of thread 'go' must be 1 to 999999999, not '0'"),
        ("thread go", "thread go ²", "p:5: the count of thread 'go' must be 1 to 999999999, not '²'"),
        ("thread go", "thread go 1000000000", "p:5: the count of thread 'go' must be 1 to 999999999"),
        ("t[3]", "t[65536]", "p:2: a frame of 'main' has 65537 slots; it may have 65536"),
        ("0x10", "0x8000000000000000", "p:6: 0x8000000000000000: a number has 64 bits, and is not infinite"),
        ("0x10", "9" * 5000, f"p:6: {'9' * 24}: a number has 64 bits"),
        ("0x10", "-1e400", "p:6: -1e400: a number has 64 bits"),
        ("t[2]", "t[3]", "p:6: slot t[3] is beyond the 3 of 't'"),
        ("t[2]", f"t[{'3' * 5000}]", "p:6: 't[3333333333333333333333' is no slot, register or number"),
        ("slots a", f"slots b[{'3' * 5000}]", "p:2: 'b[3333333333333333333333' is no slot"),
        ("r1,", f"r{'1' * 5000},", "p:6: there is no slot or register 'r11111111111111111111111' to write to"),
        ("r1,", "r16,", "p:6: there is no slot or register 'r16' to write to"),
        ("r1,", "me,", "p:6: there is no slot or register 'me' to write to"),
        ("r1,", "7,", "p:6: a number (7) cannot be written to"),
        ("0x10", "1x", "p:6: '1x' is no slot, register or number"),
        ("    add", "    sum", "p:6: there is no instruction 'sum'"),
        (", 0x10", "", "p:6: 'add' has 2 operands, and takes 3"),
        ("    halt a", "    stop\n    halt a", "p:7: thread 'go' goes on after stop"),
        ("    halt a", "    swap\n    halt a", "p:7: thread 'go' goes on after swap"),
        ("post go", "poll", "p:4: 'poll' stands in an inlet"),
        ("halt a", "send self, main.start, a, a", "p:7: inlet 'main.start' receives 1 values and is sent 2"),
        ("halt a", "send self, main.end, a", "p:7: there is no inlet of main 'end'"),
        ("  slots", "  mov a, 1\n  slots", "p:2: 'mov' stands in no thread and no inlet"),
        ("inlet start a", "inlet start a,a,a,a,a,a,a,a,a", "p:3: inlet 'start' receives 9 values"),
        ("inlet start a", "inlet start r1", "p:3: there is no slot 'r1' to write to"),
    ],
)
def test_a_wrong_program_is_an_error_with_its_line(old: str, new: str, said: str) -> None:
    assert old in GOOD
    with pytest.raises(TamError) as caught:
        assemble(GOOD.replace(old, new, 1), "p")
    assert str(caught.value).startswith(said)
