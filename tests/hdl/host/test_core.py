"""Accesses of a bus against a model of the registers behind it: random offers, random words that come and go."""

from __future__ import annotations

import random

import pytest
from amaranth.sim import Simulator

from host.core import HostCore
from host.shape import CONTROL, HostShape


@pytest.mark.parametrize(
    "shape",
    [
        HostShape(nodes=1, registers=1),
        HostShape(nodes=3, registers=5),
        HostShape(nodes=2, registers=40, width=64, blocked="error"),
    ],
    ids=str,
)
def test_words_pass_once_and_errors_are_those_of_the_model(shape: HostShape) -> None:
    core = HostCore(shape=shape)
    draw = random.Random(7)
    words: dict[tuple[int, int], int] = {}  # what is full
    seen = dict.fromkeys(("write", "read", "refused", "strange", "own"), 0)

    def place(address: int) -> tuple[int, int] | None:
        page, within = divmod(address, shape.page)
        return (page, within) if page < shape.nodes and within < shape.registers else None

    def is_own(address: int, *, write: bool) -> bool:
        page, within = divmod(address, shape.page)
        if page == shape.nodes:
            return within < len(CONTROL) and (not write or CONTROL[within] in ("DONE", "ENABLE", "ERRORS"))
        flags, masks = (within - shape.room - start for start in (0, shape.room // 2))
        return page < shape.nodes and (0 <= masks < shape.flag_words or (not write and 0 <= flags < shape.flag_words))

    def address() -> int:
        if draw.random() < 0.8:
            return draw.randrange(shape.nodes) * shape.page + draw.randrange(shape.registers)
        return draw.randrange((shape.nodes + 1) * shape.page)

    async def bench(ctx):  # type: ignore[no-untyped-def]
        reading: tuple[int, int] | None = None  # read that was made in the cycle before
        word_of_reading = 0
        offers: dict[str, int | None] = {"write": None, "read": None}
        for _ in range(1500):
            for name in offers:
                if offers[name] is None and draw.random() < 0.6:
                    offers[name] = address()
                ctx.set(getattr(core, name), offers[name] is not None)
                ctx.set(getattr(core, f"{name}_address"), offers[name] or 0)
            data = draw.getrandbits(shape.width)
            ctx.set(core.write_data, data)
            for node in range(shape.nodes):
                full = sum(1 << r for r in range(shape.registers) if (node, r) in words)
                ctx.set(getattr(core, f"p_full_{node}"), full)
                ctx.set(
                    getattr(core, f"p_read_data_{node}"), word_of_reading if reading and reading[0] == node else 0xBAD
                )
            writes = [n for n in range(shape.nodes) if ctx.get(getattr(core, f"p_write_{n}"))]
            reads = [n for n in range(shape.nodes) if ctx.get(getattr(core, f"p_read_{n}"))]
            assert len(writes) + len(reads) <= 1
            ended = ctx.get(core.write_ended)
            if offers["write"] is not None:
                at = place(offers["write"])
                if writes:
                    assert at is not None
                    assert at not in words
                    assert ended
                    assert not ctx.get(core.write_failed)
                    assert writes == [at[0]]
                    assert ctx.get(getattr(core, f"p_address_{at[0]}")) == at[1]
                    assert ctx.get(getattr(core, f"p_write_data_{at[0]}")) == data
                    words[at] = data
                    seen["write"] += 1
                elif ended:
                    failed = ctx.get(core.write_failed)
                    refused = at is not None and at in words and shape.blocked == "error"
                    assert failed == (refused or (at is None and not is_own(offers["write"], write=True)))
                    seen["refused" if refused else "strange" if failed else "own"] += 1
                if ended:
                    offers["write"] = None
            else:
                assert not writes
            if ctx.get(core.read_ended) and offers["read"] is not None:
                at, failed = place(offers["read"]), ctx.get(core.read_failed)
                if reading is not None:
                    assert reading == at
                    assert not failed
                    assert ctx.get(core.read_data) == word_of_reading
                    seen["read"] += 1
                else:
                    refused = at is not None and shape.blocked == "error"
                    assert failed == (refused or not is_own(offers["read"], write=False))
                    assert not refused or at not in words or at == (writes and None)
                offers["read"] = None
            reading = None
            if reads:
                at = place(offers["read"] or 0)
                assert at is not None
                assert reads == [at[0]]
                assert ctx.get(getattr(core, f"p_address_{at[0]}")) == at[1]
                reading, word_of_reading = at, words.pop(at)
            # The router takes words that were written, and brings others.
            spot = (draw.randrange(shape.nodes), draw.randrange(shape.registers))
            if reading != spot and draw.random() < 0.5:
                if spot in words:
                    del words[spot]
                else:
                    words[spot] = draw.getrandbits(shape.width)
            await ctx.tick()

    simulator = Simulator(core)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    wanted = {"write", "read", "strange", "own"} | ({"refused"} if shape.blocked == "error" else set())
    assert all(seen[name] for name in wanted), seen


def test_a_write_and_a_read_that_can_both_be_made_take_turns() -> None:
    shape = HostShape(nodes=1, registers=2)
    core = HostCore(shape=shape)
    made: list[str] = []

    async def bench(ctx):  # type: ignore[no-untyped-def]
        ctx.set(core.p_full_0, 0b10)
        ctx.set(core.write, 1)
        ctx.set(core.read, 1)
        ctx.set(core.read_address, 1)
        for _ in range(12):
            made.append("w" * ctx.get(core.p_write_0) + "r" * ctx.get(core.p_read_0))
            await ctx.tick()

    simulator = Simulator(core)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert {"w", "r"} == set(made)
    assert "www" not in "".join(made)


@pytest.mark.parametrize(
    "shape",
    [HostShape(nodes=2, registers=3), HostShape(nodes=2, registers=70, blocked="error"), HostShape(width=64)],
    ids=str,
)
def test_the_words_of_the_bridge_itself_are_those_of_a_model(shape: HostShape) -> None:
    """Also irq and done, which follow from them; an error that comes as others are cleared is kept."""
    core = HostCore(shape=shape)
    draw = random.Random(11)
    word = (1 << shape.width) - 1
    control = {name: shape.control(name) // shape.bytes for name in CONTROL}
    masks = {shape.mask(n, w) // shape.bytes: (n, w) for n in range(shape.nodes) for w in range(shape.flag_words)}
    flags = {shape.full(n, w) // shape.bytes: (n, w) for n in range(shape.nodes) for w in range(shape.flag_words)}
    strange = [control["VERSION"], shape.full(0) // shape.bytes]
    kept = 0

    async def bench(ctx):  # type: ignore[no-untyped-def]
        nonlocal kept
        errors = done = enable = 0
        mask = [0] * shape.nodes
        for cycles in range(3000):
            full = [draw.choice((0, draw.getrandbits(shape.registers))) for _ in range(shape.nodes)]
            for node, bits in enumerate(full):
                ctx.set(getattr(core, f"p_full_{node}"), bits)
            own = [control["ERRORS"], control["DONE"], control["ENABLE"], *masks]
            to = draw.choice((None, *own, *strange))
            data = draw.choice((0, 1, 7, draw.getrandbits(shape.width)))
            ctx.set(core.write, to is not None)
            ctx.set(core.write_address, to or 0)
            ctx.set(core.write_data, data)
            # The last of these holds nothing.
            at = draw.choice((None, *own, *flags, control["PENDING"], control["CYCLES_LOW"], control["SHAPE"] + 1))
            ctx.set(core.read, at is not None)
            ctx.set(core.read_address, at or 0)
            waiting = any(bits & some for bits, some in zip(full, mask, strict=True))
            pending = waiting | bool(errors) << 1 | (done & 1) << 2
            assert ctx.get(core.irq) == bool(pending & enable)
            assert ctx.get(core.done) == done & 1
            if to is not None:
                assert ctx.get(core.write_ended)
                assert ctx.get(core.write_failed) == (to in strange)
            lost = at == control["SHAPE"] + 1 and at not in masks and at not in flags
            if at is not None:
                assert ctx.get(core.read_ended)
                assert ctx.get(core.read_failed) == lost
                known = {control["ERRORS"]: errors, control["DONE"]: done, control["ENABLE"]: enable}
                known |= {control["PENDING"]: pending, control["CYCLES_LOW"]: cycles}
                known |= {place: mask[n] >> w * shape.width & word for place, (n, w) in masks.items()}
                known |= {place: full[n] >> w * shape.width & word for place, (n, w) in flags.items()}
                assert lost or ctx.get(core.read_data) == known[at]
            new = 4 * (to in strange or lost)
            if to == control["ERRORS"]:
                kept += bool(new & data)
                errors &= ~data
            elif to == control["DONE"]:
                done = data
            elif to == control["ENABLE"]:
                enable = data & 7
            elif to in masks:
                node, w = masks[to]
                some = word << w * shape.width
                mask[node] = (mask[node] & ~some | data << w * shape.width) & (1 << shape.registers) - 1
            errors |= new
            await ctx.tick()

    simulator = Simulator(core)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert kept
