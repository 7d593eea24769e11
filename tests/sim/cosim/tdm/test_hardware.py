"""When a run on the switch is given up."""

from __future__ import annotations

import pytest

from cosim.tdm.hardware import QUIET_TURNS, quiet_cycles
from tdm_switch.shape import SwitchShape
from tdm_switch.station import patience


@pytest.mark.parametrize("slots", [1, 4])
def test_nobody_gives_up_before_all_slots_and_windows_have_passed_many_times(slots: int) -> None:
    shape = SwitchShape(ports=4, slots=slots, slot_cycles=4)
    assert quiet_cycles(shape) >= QUIET_TURNS * slots * 4
    assert quiet_cycles(shape) > 4 * patience(shape), "a request that is withdrawn comes back before"


def test_larger_switches_are_given_more_time() -> None:
    cycles = [quiet_cycles(SwitchShape(ports=ports, slots=2)) for ports in (2, 4, 8)]
    assert cycles == sorted(set(cycles))
