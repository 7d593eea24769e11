"""Documents of results of ``pointsman optical``."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from pointsman import api
from pointsman.api.optics import optical_text
from pointsman.cli import main
from pointsman.errors import PointsmanError
from pointsman.optical import timeline
from pointsman.report.show.document import Document
from pointsman.report.show.optical import BINS, QUANTILES, is_optical, optical_document
from pointsman.report.show.page import write_page

SPEC = {
    "network": {"kind": "torus", "size": [4, 4]},
    "degree": 4,
    "reservation": {"direction": "forward", "cset": "all", "retry": 20},
    "logical": "hypercube",
    "traffic": {"kind": "uniform", "rate": 0.01, "slots": 4},
    "dynamic": {"traffic": {"kind": "uniform", "rate": 0.004, "slots": 2}},
    "slots": 400,
}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("optical") / "spec.json"
    path.write_text(json.dumps(SPEC))
    return json.loads(optical_text(api.optical(path)))


@pytest.fixture(scope="module")
def made(plain: dict[str, Any]) -> Document:
    return optical_document(plain, "figures")


def test_rows_and_messages_are_those_of_the_file(made: Document, plain: dict[str, Any]) -> None:
    assert [one.name for one in made.optical] == ["reserve", "multihop", "compiled", "mixed"]
    for one in made.optical:
        figures = plain[one.name]
        kept = {row[0]: row for row in one.messages}
        assert len(one.held) == len(figures.get("held", []))
        assert len(one.hops) == len(figures.get("hops", []))
        for (u, v), row, shown in zip(
            [row[:2] for row in figures.get("held", [])], figures.get("held", []), one.held, strict=True
        ):
            assert one.ends[shown[0]] == (-1 if u is None else u, -1 if v is None else v)
            assert [None if value == -1 else value for value in shown[1:]] == row[2:]
            assert list(kept[shown[2]][1:5]) == figures["messages"][shown[2]][:4]
        for row, shown in zip(figures.get("hops", []), one.hops, strict=True):
            assert (*one.ends[shown[0]], *shown[1:]) == tuple(row)
            links = [made.network.links[link] for link in one.ways[shown[0]]]
            assert [links[0][0], links[-1][1]] == row[:2]
        assert one.figures["delivered"] == figures["delivered"]
        assert one.figures["delay mean"] == figures["delay"]["mean"]


def test_curves_and_distributions_are_of_all_messages(made: Document, plain: dict[str, Any]) -> None:
    for one in made.optical:
        messages = plain[one.name]["messages"]
        delays = sorted(row[5] - row[0] for row in messages if row[5] is not None)
        assert len(one.quantiles) == QUANTILES + 1
        assert (one.quantiles[0], one.quantiles[-1]) == (delays[0], delays[-1])
        assert sum(one.histogram[1]) == len(delays)
        assert len(one.histogram[1]) <= BINS + 1
        width = one.slots / len(one.under_way)
        for place in (0, 100, len(one.under_way) - 1):
            time = (place + 0.5) * width
            assert one.under_way[place] == sum(row[0] <= time and (row[5] is None or row[5] > time) for row in messages)


def test_a_long_run_makes_no_large_page(plain: dict[str, Any], tmp_path: Path) -> None:
    long = copy.deepcopy(plain)
    for figures in long.values():
        figures["messages"] *= 300
        for name in ("held", "hops"):
            if name in figures:
                rows = figures[name] * (timeline.MOST_ROWS // len(figures[name]) + 1)
                figures[name] = rows[: timeline.MOST_ROWS]
    document = optical_document(long, "long")
    assert write_page(document, tmp_path / "page.html") < 4_000_000
    assert all(len(one.messages) < 1000 for one in document.optical)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda one: one.pop("network"), "Object missing required field `network`"),
        (lambda one: one["network"].update(size=[10**6, 10**6]), "there is no network of size"),
        (lambda one: one["network"].update(size=[4, 0]), "there is no network of size"),
        (lambda one: one["messages"].append([0, 1, 99, 1, None, None]), r"messages has \[0, 1, 99"),
        (lambda one: one["held"].append([0, 1, 0, 10**9, 1, 2, 3]), "held has"),
        (lambda one: one["held"].append([None, None, 0, 0, 1, 2, 3]), "held has"),
        (lambda one: one["held"].append([0, 1, 0, 0, -1, 2, 3]), "held has"),
        (lambda one: one.update(hops=[[0, 77, 0, 0, 1, 2, 3]]), "hops has"),
        (lambda one: one.update(slots=-5), "slots has -5"),
        (lambda one: one["held"].append("x"), "Expected `array`, got `str`"),
    ],
)
def test_malformed_results_are_refused(plain: dict[str, Any], change: Callable[[Any], Any], said: str) -> None:
    wrong = {"reserve": copy.deepcopy(plain["reserve"])}
    change(wrong["reserve"])
    assert is_optical(wrong)
    with pytest.raises(PointsmanError, match=said):
        optical_document(wrong, "wrong")


def test_different_networks_are_refused(plain: dict[str, Any]) -> None:
    wrong = copy.deepcopy(plain)
    wrong["compiled"]["network"] = {"kind": "mesh", "size": [4, 4]}
    with pytest.raises(PointsmanError, match="their networks are not the same"):
        optical_document(wrong, "wrong")


def test_the_command_shows_results_and_draws_them_on_paper(plain: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "figures.json"
    path.write_text(json.dumps(plain))
    done = CliRunner().invoke(main, ["show", str(path), "-o", str(tmp_path / "a.html"), "--svg", str(tmp_path / "svg")])
    assert done.exit_code == 0, done.output
    assert {one.name for one in (tmp_path / "svg").iterdir()} == {
        "network.svg",
        "delays.svg",
        *(f"channels-{mode}.svg" for mode in plain),
    }
    refused = CliRunner().invoke(main, ["show", str(path), "--perfetto", str(tmp_path / "trace.json")])
    assert refused.exit_code == 2
    assert "messages of an optical network" in refused.output
    assert not (tmp_path / "trace.json").exists()


def test_locked_and_established_channels_are_seen_apart_and_messages_followed(
    browser: Any, made: Document, tmp_path: Path
) -> None:
    write_page(made, tmp_path / "page.html")
    browser.console.clear()
    browser.open(tmp_path / "page.html")
    browser.run("pointsman.go('channels')")
    browser.settle()
    seen = browser.run(
        """(() => { const c = document.getElementById('canvas'), seen = new Set();
        const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        for (let i = 0; i < d.length; i += 4) seen.add([d[i], d[i + 1], d[i + 2]].join(' ')); return [...seen]; })()"""
    )
    assert "0 114 178" in seen  # established
    assert {"244 211 140", "244 212 140", "243 211 140"} & set(seen)  # locked: orange at 45 %
    at = browser.run(
        """(() => { const b = document.getElementById('canvas').getBoundingClientRect();
        const h = pointsman.hits().find(h => h.what.message !== undefined && h.w > 4);
        return [b.left + h.x + 2, b.top + h.y + 1]; })()"""
    )
    browser.mouse("mouseMoved", *at)
    assert "message" in browser.run("document.getElementById('tip').textContent")
    browser.click(*at)
    assert browser.run("pointsman.state.message") >= 0
    assert "what happens" in browser.run("document.getElementById('panel').innerText")
    browser.key("Escape")
    for mode in range(len(made.optical)):
        for view in ("mesh", "channels", "delays"):
            browser.run(f"pointsman.state.mode = {mode}; pointsman.go('{view}')")
            browser.settle()
            assert browser.run("pointsman.hits().length") > 0
    browser.run("pointsman.go('figures')")
    browser.settle()
    assert "delay mean" in browser.run("document.getElementById('pane').innerText")
    assert browser.console == []
