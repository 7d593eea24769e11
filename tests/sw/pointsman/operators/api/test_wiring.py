"""Registers at the ends of streams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any


def test_every_end_has_a_register_of_its_own(wired: Callable[..., Any]) -> None:
    wiring = wired("str_shift", "(cshift 'o 1 :m 5)").wiring
    used = Counter((node, register) for own in wiring.registers_by_stream.values() for node, _, _, register in own)
    assert set(used.values()) == {1}
    assert all(len([at for at in used if at[0] == node]) == count for node, count in wiring.registers_used.items())


def test_lanes_name_the_registers_of_their_stream(wired: Callable[..., Any]) -> None:
    wiring = wired("str_stream", "(stream 'o 0 5 :m 5)").wiring
    write, read = wiring.write_lane("o[0]", 0), wiring.read_lane("o[0]", 5, words=1)
    assert (write.write, write.registers, write.data) == (True, wiring.registers("o[0]", 0, "inject"), "out")
    assert (read.write, read.registers, read.data, read.words) == (
        False,
        wiring.registers("o[0]", 5, "deliver"),
        "in",
        1,
    )
    assert wiring.has("o[0]", 0, "inject")
    assert not wiring.has("o[0]", 0, "deliver")


def test_streams_that_join_share_the_register_of_the_one_that_goes_on(wired: Callable[..., Any]) -> None:
    one = wired("str_collect", "(collect 'o 0 :m 5)")
    for number, stream in enumerate(one.wiring.routed.streams):
        if stream.into is not None:
            (node,) = stream.destinations
            end = "deliver" if node == 0 else "inject"
            assert one.wiring.register(node, number, 0, "deliver") in one.wiring.registers(stream.into, node, end)


def test_streams_of_one_value_go_by_their_names_without_it(wired: Callable[..., Any]) -> None:
    wiring = wired("par_stream", "(stream 'o 0 (runtime :values (list 2 5)) :m 5)").wiring
    view = wiring.ending_in("@5")
    assert list(view.index) == ["o[0]"]
    assert view.registers("o[0]", 5, "deliver") == wiring.registers("o[0]@5", 5, "deliver")
    assert wiring.ending_in("@5") is view
