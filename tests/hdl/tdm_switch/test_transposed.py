"""Columns of a matrix: the same in place as in a part of their own."""

from __future__ import annotations

import random

import pytest
from amaranth.back import rtlil
from amaranth.hdl import Cat, Module, Signal
from amaranth.sim import Simulator

from tdm_switch.parts import Parts
from tdm_switch.transposed import BusyColumns, Transposed, columns_any_of, columns_of


@pytest.mark.parametrize("ports", [1, 2, 3, 5])
def test_parts_have_the_columns_that_there_are_in_place(ports: int) -> None:
    m = Module()
    m.submodules.transposed = transposed = Transposed(ports=ports)
    m.submodules.busy = busy = BusyColumns(ports=ports)
    matrix, in_place = Signal(ports * ports), Parts()
    rows = [matrix[u * ports : (u + 1) * ports] for u in range(ports)]
    columns, some = Signal(ports * ports), Signal(ports)
    m.d.comb += [
        transposed.matrix.eq(matrix),
        busy.matrix.eq(matrix),
        columns.eq(Cat(columns_of(m, in_place, "columns", rows))),
        some.eq(columns_any_of(m, in_place, "some", matrix, ports)),
    ]
    chance = random.Random(ports)

    async def process(context) -> None:
        for _ in range(20):
            value = chance.getrandbits(ports * ports) & chance.getrandbits(ports * ports)
            context.set(matrix, value)
            await context.delay(1e-9)
            elements = [[value >> u * ports + v & 1 for u in range(ports)] for v in range(ports)]
            expected = sum(bit << v * ports + u for v, column in enumerate(elements) for u, bit in enumerate(column))
            assert context.get(transposed.transposed) == context.get(columns) == expected
            assert context.get(busy.busy) == context.get(some) == sum(any(c) << v for v, c in enumerate(elements))

    simulator = Simulator(m)
    simulator.add_testbench(process)
    simulator.run()


def test_columns_of_a_matrix_are_an_instance_if_parts_are_apart() -> None:
    m, parts = Module(), Parts(apart=True)
    matrix = Signal(9)
    columns = columns_of(m, parts, "columns", [matrix[u * 3 : u * 3 + 3] for u in range(3)])
    some = columns_any_of(m, parts, "some", matrix, 3)
    assert [len(column) for column in columns] == [3, 3, 3]
    assert len(some) == 3
    assert list(parts.makers) == ["tdm_transposed", "tdm_busy_columns"]
    found = Signal(12)
    m.d.comb += found.eq(Cat(*columns, some))
    text = rtlil.convert(m, ports=[matrix, found], name="whole", emit_src=False)
    assert r"cell \tdm_transposed \columns" in text
    assert r"cell \tdm_busy_columns \some" in text
