# amaranth: UnusedElaboratable=no
"""Streams with a timetable: words in order and once, accesses in their own slots only, refusals of wrong timetables."""

from __future__ import annotations

import random

import pytest
from amaranth.sim import Simulator

from host.shape import HostShape, HostShapeError
from host.timetabled import TimetabledEnd, TimetabledStreams

SHAPE = HostShape(nodes=2, registers=8)
ENDS = (
    TimetabledEnd("s_axis_a", 0, 2, True, (0, 3)),
    TimetabledEnd("m_axis_b", 0, 4, False, (1, 5)),
    TimetabledEnd("m_axis_c", 0, 5, False, (2,)),
    TimetabledEnd("m_axis_a", 1, 3, False, (0, 4)),
)
PERIOD = 6


@pytest.mark.parametrize("busy", [1.0, 0.4])
def test_words_pass_in_order_and_once_and_ports_are_used_in_own_slots(busy: float):
    """The registers' other side, which is the router's, fills and empties them at random."""
    bridge = TimetabledStreams(shape=SHAPE, period=PERIOD, ends=ENDS)
    draw = random.Random(f"timetabled {busy}")
    sent: dict[str, list[int]] = {end.prefix: [] for end in ENDS}
    received: dict[str, list[int]] = {end.prefix: [] for end in ENDS}

    async def bench(ctx):  # type: ignore[no-untyped-def]
        registers: dict[tuple[int, int], int] = {}
        offered: dict[str, int | None] = {}
        for cycle in range(600):
            for end in ENDS:
                place = end.node, end.register
                if end.into:
                    if offered.get(end.prefix) is None and draw.random() < busy:
                        offered[end.prefix] = draw.getrandbits(32)
                    word = offered.get(end.prefix)
                    ctx.set(getattr(bridge, f"{end.prefix}_tvalid"), word is not None)
                    ctx.set(getattr(bridge, f"{end.prefix}_tdata"), word or 0)
                    if place in registers and draw.random() < busy:
                        received[end.prefix].append(registers.pop(place))
                else:
                    if place not in registers and draw.random() < busy:
                        registers[place] = draw.getrandbits(32)
                        sent[end.prefix].append(registers[place])
                    ctx.set(getattr(bridge, f"{end.prefix}_tready"), draw.random() < busy)
            reads = {}
            for node in range(SHAPE.nodes):
                ctx.set(getattr(bridge, f"p_full_{node}"), sum(1 << r for n, r in registers if n == node))
            for node in range(SHAPE.nodes):
                register = ctx.get(getattr(bridge, f"p_address_{node}"))
                write, read = ctx.get(getattr(bridge, f"p_write_{node}")), ctx.get(getattr(bridge, f"p_read_{node}"))
                if not (write or read):
                    continue
                [end] = [one for one in ENDS if (one.node, one.register) == (node, register)]
                assert cycle % PERIOD in end.slots
                assert (write, read) == (end.into, not end.into)
                if write:
                    assert (node, register) not in registers
                    registers[node, register] = ctx.get(getattr(bridge, f"p_write_data_{node}"))
                else:
                    reads[node] = registers.pop((node, register))
            for end in ENDS:
                valid = ctx.get(getattr(bridge, f"{end.prefix}_tvalid"))
                if valid and ctx.get(getattr(bridge, f"{end.prefix}_tready")):
                    word = ctx.get(getattr(bridge, f"{end.prefix}_tdata"))
                    (sent if end.into else received)[end.prefix].append(word)
                    offered[end.prefix] = None
            await ctx.tick()
            for node, word in reads.items():
                ctx.set(getattr(bridge, f"p_read_data_{node}"), word)

    simulator = Simulator(bridge)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    for end in ENDS:
        passed = received[end.prefix]
        assert passed == sent[end.prefix][: len(passed)]
        assert len(sent[end.prefix]) - len(passed) <= 2
        assert len(passed) > 30


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        ((), "a timetable must have at least one stream"),
        ((ENDS[0], ENDS[0]), "each stream must have a name of its own, and s_axis_a is there twice"),
        ((TimetabledEnd("x", 2, 0, True, (0,)),), "x: a stream must be at a node of 0..1 and a register of 0..7, not node 2, "
         "register 0"),
        ((ENDS[0], TimetabledEnd("x", 0, 2, True, (1,))), "x: its register has the stream s_axis_a already"),
        ((TimetabledEnd("x", 0, 2, True, ()),), "x: a stream must have a slot"),
        ((TimetabledEnd("x", 0, 2, True, (6,)),), "x: a slot must be 0..5, not 6"),
        ((ENDS[0], TimetabledEnd("x", 0, 3, True, (3,))), "x: slot 3 of node 0 has the stream s_axis_a already"),
    ],
)  # fmt: skip
def test_wrong_timetables_are_refused(ends, message: str):
    with pytest.raises(HostShapeError) as caught:
        TimetabledStreams(shape=SHAPE, period=PERIOD, ends=ends)
    assert str(caught.value) == message
