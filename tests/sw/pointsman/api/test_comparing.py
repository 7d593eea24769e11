"""One program on every target."""

from __future__ import annotations

import pytest

from pointsman import api
from pointsman.errors import PointsmanError
from pointsman.network import graph, torus


def program(text, folder):
    path = folder / "p.cop"
    path.write_text(text)
    return path


def test_every_target_has_its_cycles_and_the_least_is_one(tmp_path):
    rows = api.compare(program("(cshift 'c 1 :m 4)", tmp_path), torus(2, 2))
    assert [row["target"] for row in rows] == ["numesh", "tdm", "packet", "optical"]
    assert all(row["error"] is None and row["cycles"] > 4 for row in rows)
    least = min(row["cycles"] for row in rows)
    assert [row["ratio"] for row in rows] == [row["cycles"] / least for row in rows]
    assert rows[3]["hardware"] == "optical 2x2 torus, all connections compiled"


def test_more_channels_take_longer_on_the_optical_network(tmp_path):
    """A message of m words on one of k channels takes m frames of k slots, so every node's to all others cannot be quicker."""
    one, all_of_them = (
        api.compare(program(text, tmp_path), torus(4), targets=["optical"])[0]["cycles"]
        for text in ("(cshift 'c 1 :m 60)", "(permute 'p (runtime) :m 60)")
    )
    assert one >= 60
    assert all_of_them >= 60 * 3


def test_a_target_that_cannot_is_told_and_the_others_go_on(tmp_path):
    rows = api.compare(
        program("(cshift 'c 1 :m 4)", tmp_path), graph(3, [(0, 1), (1, 2), (2, 0)]), targets=["tdm", "optical"]
    )
    assert rows[0]["cycles"] > 0
    assert rows[1]["cycles"] is None
    assert rows[1]["error"].startswith("target optical is for meshes and tori")


def test_a_wrong_program_is_an_error(tmp_path):
    with pytest.raises(PointsmanError, match="nothing"):
        api.compare(program("(nothing 'c)", tmp_path), torus(2), targets=["tdm", "optical"])


def test_unknown_targets_are_refused(tmp_path):
    with pytest.raises(PointsmanError, match="there is no target 'ring'"):
        api.compare(program("(barrier 'b)", tmp_path), torus(2), targets=["ring"])
