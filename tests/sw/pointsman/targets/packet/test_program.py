"""Programs for packet routers: which implementations they have."""

from __future__ import annotations

import pytest

from packet_router.shape import RouterShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.targets.packet import make_packet_program

OPERATORS = {
    "broadcast": "(broadcast 'o 0 :m 8{})",
    "allreduce": "(allreduce 'o 'add :m 2{})",
    "cshift": "(cshift 'o 1 :m 8{})",
    "stream": "(stream 'o 0 3 :m 8{})",
    "prefix": "(prefix 'o 'add :m 2{})",
}


def program_of(text: str):
    return make_packet_program(compile_text(text, topology=mesh(2, 2)), RouterShape(size=(2, 2)), name="p")


@pytest.mark.parametrize("kind", OPERATORS)
def test_only_implementations_by_messages_are_taken(kind: str):
    """Metcalf 1997, §6.2.3: those that are marked ``dyn``."""
    (one,) = program_of(OPERATORS[kind].format("")).operators
    assert one.way.name.startswith("dyn_")


def test_another_implementation_that_is_asked_for_is_noted_and_not_used():
    made = program_of(OPERATORS["broadcast"].format(" :impl 'str_bcast"))
    assert made.operators[0].way == program_of(OPERATORS["broadcast"].format("")).operators[0].way
    assert made.notes == ("o: :impl str_bcast is for scheduled routers and not used",)
