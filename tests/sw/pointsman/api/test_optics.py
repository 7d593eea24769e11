"""``pointsman.api.optical``."""

from __future__ import annotations

import json

import pytest

from pointsman import api
from pointsman.api import optics
from pointsman.errors import PointsmanError

SPEC = {
    "network": {"kind": "torus", "size": [4, 4]},
    "degree": 2,
    "traffic": {"messages": [[0, 1, 2, 3], [4, 5, 0, 1]]},
}


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "spec.json"
    found.write_text(json.dumps(SPEC))
    return found


def test_modes_are_chosen_and_the_text_is_their_json(path):
    answer = api.optical(path, modes=["compiled", "reserve"])
    assert list(answer) == ["compiled", "reserve"]
    assert json.loads(optics.optical_text(answer)) == answer
    assert json.loads(optics.optical_text(api.optical(path))) == api.optical(path)


def test_an_unknown_mode_is_refused(path):
    with pytest.raises(PointsmanError, match="there is no mode 'guess'"):
        api.optical(path, modes=["guess"])


def test_what_is_assigned_is_judged(path, monkeypatch):
    seen = []
    monkeypatch.setattr(optics, "judge_configurations", seen.append)
    api.optical(path, modes=["multihop"])
    assert seen[0].degree == 4


def test_errors_name_the_file(path):
    path.write_text(json.dumps({**SPEC, "degree": 65}))
    with pytest.raises(PointsmanError, match=r"spec.json: degree: there must be 1 to 64 channels, not 65"):
        api.optical(path)
