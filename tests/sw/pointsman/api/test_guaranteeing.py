"""``pointsman.api.guaranteeing.guarantee``: placed, served, judged; wrong arguments are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from pointsman.api.guaranteeing import guarantee
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.routing.placement import improve, search

EXAMPLE = Path(__file__).parents[4] / "examples/flows/decoder.toml"


def test_the_example_is_served_and_tasks_are_where_the_file_says():
    network = guarantee(EXAMPLE, mesh(3, 3), width=64, pipelines=1)
    assert network.images.shape.width == 64
    assert network.images.shape.pipelines == 1
    assert network.places[0] == 0
    assert not any(one.late for one in network.guarantees)


def test_a_placement_that_routing_chooses_is_taken_where_the_estimates_will_not_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """Over four links no word is sure to come in nine cycles."""
    path = tmp_path / "flows.toml"
    path.write_text('[[flow]]\nfrom = "a"\nto = "b"\nbandwidth = 0.1\nlatency = 9\n')
    far = search.Places(((0, 8),), "far")
    monkeypatch.setattr(search, "place_tasks", lambda *flows, **options: far)
    monkeypatch.setattr(improve, "place_and_route", lambda *flows: ((0, 1), None, "near"))
    network = guarantee(path, mesh(3, 3))
    assert network.places == (0, 1)
    assert not network.guarantees[0].late


def test_a_width_that_no_stream_has_is_refused():
    with pytest.raises(PointsmanError, match="words must have 32 or 64 bits, not 33"):
        guarantee(EXAMPLE, mesh(3, 3), width=33)
