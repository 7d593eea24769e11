"""``pointsman.api.guaranteeing.guarantee``: placed, served, judged; wrong arguments are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from pointsman.api.guaranteeing import guarantee
from pointsman.errors import PointsmanError
from pointsman.network import mesh

EXAMPLE = Path(__file__).parents[4] / "examples/flows/decoder.toml"


def test_the_example_is_served_and_tasks_are_where_the_file_says():
    network = guarantee(EXAMPLE, mesh(3, 3), width=64, pipelines=1)
    assert network.images.shape.width == 64
    assert network.images.shape.pipelines == 1
    assert network.places[0] == 0
    assert not any(one.late for one in network.guarantees)


def test_a_width_that_no_stream_has_is_refused():
    with pytest.raises(PointsmanError, match="words must have 32 or 64 bits, not 33"):
        guarantee(EXAMPLE, mesh(3, 3), width=33)
