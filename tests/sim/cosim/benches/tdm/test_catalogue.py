"""The benches of the switch: their shapes, and that the whole switch has a port for each processor."""

from __future__ import annotations

from amaranth.hdl import Fragment, Shape
from amaranth.lib.wiring import In, Out

from cosim.benches.bench import FOUR_NODES
from cosim.benches.tdm import catalogue
from cosim.benches.tdm.catalogue import BENCHES, SWITCH_TABLES
from tdm_switch.shape import SwitchShape


def test_designs_with_one_shape_and_one_top_are_not_built_twice() -> None:
    seen = [(bench.design.top, bench.shape) for bench in BENCHES]
    assert len(set(seen)) == len(seen)


def test_shapes_differ_in_order_units_and_priority() -> None:
    shapes = [bench.shape for bench in BENCHES]
    for field in ("order", "sl_units", "sl_cycles", "priority", "slots", "ports"):
        assert len({getattr(shape, field) for shape in shapes}) > 1, field


def test_compiled_tables_have_a_processor_for_each_node_of_their_programs() -> None:
    assert SWITCH_TABLES.ports == FOUR_NODES.nodes
    assert [bench.shape for bench in BENCHES if bench.prepare is not None] == [SWITCH_TABLES]


def test_the_arrays_are_given_one_slot_and_answer_each_for_itself() -> None:
    arrays = catalogue._tdm_arrays(SwitchShape(ports=3))
    Fragment.get(arrays, None)  # Amaranth warns of a component that is made and never elaborated
    members = arrays.signature.members
    given = {name: Shape.cast(member.shape).width for name, member in members.items() if member.flow == In}
    answers = {name: Shape.cast(member.shape).width for name, member in members.items() if member.flow == Out}
    assert given == {"b": 9, "l": 9, "row": 2, "column": 2}
    assert answers == {f"t_{order}": 9 for order in ("plain", "turned", "wrapped", "pipelined")}
