"""An operator at a node of the switch: who may use it when."""

from __future__ import annotations

from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.runtime.tdm.port import TdmPort
from pointsman.runtime.tdm.substrate import TdmSubstrate
from pointsman.targets.tdm import make_tables
from tdm_switch.shape import SwitchShape


class _Clock:
    time = 0


def _ports(text: str) -> list[TdmPort]:
    tables = make_tables(compile_text(text, topology=mesh(2)), SwitchShape(ports=2))
    substrate = TdmSubstrate(tables, 0, _Clock())
    return [port for _, port in substrate.ports() if port is not None]


def test_an_operator_is_stale_when_a_later_one_of_its_sequence_has_been_loaded() -> None:
    first, second = _ports("(sequential (cshift 'a 1) (cshift 'b 1))")
    first.substrate.loaded, first.substrate.ended_by = {second.index}, {first.index: second.index}
    assert first.stale() == "has gone on to operator 'b' and must call a_load again"
    assert second.stale() is None


def test_operators_on_whose_value_nodes_agree_have_a_hidden_allreduce() -> None:
    (port,) = _ports("(permute 'p (runtime :distributed t))")
    assert port.agreement is not None
    assert port.agreement.operator.kind == "allreduce"
