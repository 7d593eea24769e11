"""A node on the switch: the operators that an application sees."""

from __future__ import annotations

from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.runtime.reference import signature_of_operator
from pointsman.runtime.tdm import TdmSubstrate
from pointsman.targets.tdm import make_tables
from tdm_switch.shape import SwitchShape


class _Clock:
    time = 0


def test_applications_see_the_operators_of_the_program_as_on_the_reference_machine() -> None:
    program = compile_text("(reduce 'r 'add (runtime :distributed t)) (cshift 'c (runtime))", topology=mesh(3))
    substrate = TdmSubstrate(make_tables(program, SwitchShape(ports=3)), 0, _Clock())
    assert [found for found, _ in substrate.ports()] == [signature_of_operator(one) for one in program.operators()]
