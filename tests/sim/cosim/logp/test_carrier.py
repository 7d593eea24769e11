"""The carrier and the substrate of a LogP machine."""

from __future__ import annotations

from cosim.logp.carrier import LogpSubstrate
from cosim.logp.machine import LogpMachine
from cosim.logp.parameters import LogpParameters


def test_a_substrate_gives_the_carrier_of_its_processor() -> None:
    machine = LogpMachine(LogpParameters(in_order=False), 3)
    substrate = LogpSubstrate("p", machine, 2)
    carrier = substrate.carrier()
    assert (carrier.number, carrier.nodes, carrier.in_order, carrier.replies) == (2, 3, False, None)
    assert substrate.ports() == ()
    assert substrate.where() == "on a LogP machine"
