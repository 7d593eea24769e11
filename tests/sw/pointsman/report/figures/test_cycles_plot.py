"""The picture of a run."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from pointsman.report.figures.cycles_plot import cycles_svg


@pytest.mark.parametrize("per_node", [{"cpu": [3, 4], "read": [0, 2], "psync": [0, 0]}, {"cpu": [0], "read": [0]}])
def test_the_picture_names_the_categories_that_took_cycles(per_node: dict[str, list[int]]) -> None:
    text = cycles_svg({"per_node": per_node, "total_cycles": 6})
    assert ElementTree.fromstring(text).tag.endswith("svg")
    shown = {name for name in per_node if f">{name}<" in text}
    assert shown == {name for name, cycles in per_node.items() if any(cycles)}
