"""Views on paper."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from pointsman.errors import PointsmanError
from pointsman.report.show.document import Document
from pointsman.report.show.figures import write_figures


def test_every_view_of_a_run_is_written(document: Document, tmp_path: Path) -> None:
    paths = write_figures(document, tmp_path / "figures", "svg")
    assert [path.name for path in paths] == [
        "network.svg",
        *(f"space-time-{phase}.svg" for phase in range(len(document.phases)) if len(document.phases) > 1),
        *(["space-time.svg"] if len(document.phases) == 1 else []),
        "processors.svg",
    ]
    for path in paths:
        assert ET.parse(path).getroot().tag.endswith("svg")


def test_figures_are_the_same_each_time(document: Document, tmp_path: Path) -> None:
    first = [path.read_bytes() for path in write_figures(document, tmp_path / "a", "svg")]
    assert first == [path.read_bytes() for path in write_figures(document, tmp_path / "b", "svg")]


def test_tables_of_a_switch_are_written_as_png(ring: Path, shown: Callable[..., Document], tmp_path: Path) -> None:
    made = shown(ring.with_suffix(".cop"), "--mesh", "3x2", "--target", "tdm", "--mode", "preload")
    paths = write_figures(made, tmp_path, "png")
    assert paths
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)


def test_what_is_no_picture_is_refused(document: Document, tmp_path: Path) -> None:
    with pytest.raises(PointsmanError, match="a figure must end in png or svg, not 'gif'"):
        write_figures(document, tmp_path, "gif")
    (tmp_path / "file").write_text("")
    with pytest.raises(PointsmanError, match="cannot write"):
        write_figures(document, tmp_path / "file", "png")
