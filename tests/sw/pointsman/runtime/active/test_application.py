"""Applications of active messages have their own program, and the carrier of whatever they run on."""

from __future__ import annotations

import argparse
from types import SimpleNamespace
from typing import Any

from pointsman.cop import compile_program
from pointsman.network import mesh
from pointsman.runtime.active.application import ActiveApplication
from pointsman.runtime.active.credits import CreditCarrier
from pointsman.runtime.active.links import LONG, SHORT


class One(ActiveApplication):
    window = 9

    async def main(self, node: Any) -> None:
        return None


def test_messages_go_from_anybody_to_anybody_in_two_lengths() -> None:
    made = One(argparse.Namespace(), mesh(2, 2))
    program = compile_program(made.program, topology=mesh(2, 2))
    assert sorted(one.label for one in program.operators()) == sorted((SHORT, LONG))
    assert [one.label for one in compile_program(made.program, topology=mesh(1, 1)).operators()] == ["alone"]


def test_a_substrate_may_have_a_carrier_of_its_own_and_others_get_bounded_buffers() -> None:
    made = One(argparse.Namespace(), mesh(1, 1))
    node: Any = SimpleNamespace(substrate=SimpleNamespace(carrier=lambda: "own"), nodes=2)
    assert made.carrier(node) == "own"
    alone: Any = SimpleNamespace(substrate=object(), nodes=1)
    carrier = made.carrier(alone)
    assert isinstance(carrier, CreditCarrier)
    assert carrier.window == 9
