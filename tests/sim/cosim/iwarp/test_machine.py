"""Sizes of a machine."""

from __future__ import annotations

import pytest

from cosim.iwarp.machine import ChannelMachine
from pointsman.errors import PointsmanError
from pointsman.network import torus


def test_defaults_are_those_of_iwarp():
    machine = ChannelMachine(torus(8, 8))
    assert (machine.channels, machine.envelope, machine.costs.switch) == (20, 4, 528)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"channels": 0}, "channels of a machine must be 1 to 1024, not 0"),
        ({"buffer": 0}, "buffer of a machine must be 1 to 1024, not 0"),
        ({"topology": torus(33, 32)}, "a machine must have at most 1024 cells, not 1056"),
    ],
)
def test_sizes_out_of_range_are_refused(change, message):
    with pytest.raises(PointsmanError, match=message):
        ChannelMachine(**{"topology": torus(2), **change})
