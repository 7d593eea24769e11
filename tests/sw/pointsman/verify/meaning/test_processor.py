"""Calls carried out with terms."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pointsman.artifacts.images.images import Combination, LaneImage, Promise, Role, cut
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.verify.meaning.processor import NoMeaningError, Processor, Size, joined, message_size, steps
from pointsman.verify.meaning.wires import Wires

SIZE = Size(words=2, real=2, commutes=False)


def wires(*pairs: tuple[tuple[int, int], tuple[int, int]]) -> Wires:
    return Wires([Promise(0, 0, "s", (0,), *source, (end,), 1) for source, end in pairs], [0], [set()])


def done(processor: Processor, function: str = "func"):
    """Result of a call that need not wait."""
    call = processor.call(function, gives_none=False)  # type: ignore[arg-type]
    with pytest.raises(StopIteration) as found:
        next(call)
    return found.value.value


def test_neighbouring_runs_are_joined_in_order_only() -> None:
    assert joined([(0, 1, 0, 5), (2, 2, 0, 5)]) == ((0, 2, 0, 5),)
    assert joined([(2, 2, 0, 5), (0, 1, 0, 5)]) == ((2, 2, 0, 5), (0, 1, 0, 5))
    assert joined([(0, 1, 0, 5), (2, 2, 0, 6)]) == ((0, 1, 0, 5), (2, 2, 0, 6))


def test_words_are_read_combined_and_given() -> None:
    net = wires(((1, 2), (0, 3)))
    sender = Processor(1, 1, 1, Role("write", (LaneImage(True, (2,)),)), net, SIZE)
    assert done(sender, "write").message is None
    lanes = (LaneImage(False, (3,), data="t0"),)
    role = Role("func", lanes, combines=(Combination(1, "out", "t0", "in"),))
    result = done(Processor(0, 0, 0, role, net, SIZE))
    assert result.message == [((0, 1, 0, 0),), ((0, 1, 0, 1),)]
    assert result.known == 0b11
    turned = Role("func", lanes, combines=(Combination(1, "t0", "out", "in"),))
    assert done(sender, "write").message is None
    assert done(Processor(0, 0, 0, turned, net, SIZE)).message[0] == ((1, 1, 1, 0), (0, 0, 0, 0))


def test_whoever_waits_yields() -> None:
    reader = Processor(0, 0, 0, Role("read", (LaneImage(False, (3,), data="in"),)), wires(((1, 2), (0, 3))), SIZE)
    assert next(reader.call("read", gives_none=False)) is None


def test_what_cannot_be_carried_out_is_named() -> None:
    net = wires()
    with pytest.raises(NoMeaningError, match="a role of kind 'read' does not allow"):
        next(Processor(0, 0, 0, Role("read"), net, SIZE).call("write", gives_none=False))
    role = Role("func", (), combines=(Combination(0, "t5", "", "in"),))
    with pytest.raises(NoMeaningError, match="the message 't5', which there is not"):
        next(Processor(0, 0, 0, role, net, SIZE).call("func", gives_none=False))
    local = Processor(0, 0, 0, Role("both", local=True), net, SIZE)
    with pytest.raises(NoMeaningError, match="not written to itself"):
        next(local.call("read", gives_none=False))


def test_steps_follow_each_other_and_items_their_lanes() -> None:
    lanes = [LaneImage(False, (3,), data="in", step=1), LaneImage(True, (2,), after=0)]
    one = Combination(1, "out", "", "t0")
    assert steps(Role("func", tuple(lanes), combines=(one,)), lanes) == [[([], [lanes[1]]), ([one], [lanes[0]])]]
    alone = [replace(lane, after=None) for lane in lanes]
    before = Combination(0, "out", "", "t1")
    assert steps(Role("func", tuple(lanes), combines=(one, before), by_item=True), lanes) == [
        [([before], []), ([], [alone[0]]), ([one], []), ([], [alone[1]]), ([], [])]
    ]
    halves = [replace(lane, half=k) for k, lane in enumerate(lanes)]
    assert steps(Role("func", tuple(halves), combines=(one,), by_item=True), halves) == [
        [([], []), ([], [replace(alone[0], half=0)]), ([one], [])],
        [([], []), ([], [replace(alone[1], half=1)]), ([], [])],
    ]


def test_a_message_shows_what_halves_of_the_real_one_do() -> None:
    (program,) = compile_text("(allreduce 'o 'add :m 4099)", topology=mesh(2)).operators()
    lanes = [LaneImage(False, (3, 4), data="t0", half=0), LaneImage(True, (2,), half=1)]
    size = message_size(program, lanes)
    assert (size.words - 4099) % 8 == 0
    assert cut(size.words) >= 6
