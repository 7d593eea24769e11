"""Predicted cycles on packet routers."""

from __future__ import annotations

import pytest

from cosim.packet.prediction import predicted
from cosim.packet.session import packet_machine
from cosim.session import run_nodes
from packet_router.shape import RouterShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.runtime import Node
from pointsman.runtime.packet import packet_node
from pointsman.targets.packet import make_packet_program


def test_what_is_played_whole_is_predicted_to_the_cycle() -> None:
    async def main(node: Node) -> None:
        for _ in range(3):
            await node.cop.a_load()
            await node.cop.a_func([node.number] * 9)
            await node.cop.b_load()
            await node.cop.b_func([node.number] * 5)

    program = compile_text("(loop 'l 3 (cshift 'a 1 :m 9) (allreduce 'b 'add :m 5))", topology=mesh(2, 2))
    made = make_packet_program(program, RouterShape(size=(2, 2)), name="it")
    with packet_machine(made, "model") as machine:
        record = run_nodes([packet_node(made, k, machine) for k in range(4)], main, machine)
    found = predicted(made, program)
    assert found is not None
    assert found.cycles == record.total_cycles


def test_long_messages_are_reckoned_from_short_ones() -> None:
    def cycles(m: int) -> float:
        program = compile_text(f"(cshift 'a 1 :m {m})", topology=mesh(2, 2))
        found = predicted(make_packet_program(program, RouterShape(size=(2, 2)), name="it"), program)
        assert found is not None
        return found.cycles

    assert cycles(400_000) == pytest.approx(400 * cycles(1000), rel=0.1)
