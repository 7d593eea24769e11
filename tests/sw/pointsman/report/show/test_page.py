"""The page, in a browser where there is one."""

from __future__ import annotations

import base64
import gzip
import re
import zlib
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from pointsman.report.show.document import Active, Counted, Document, Net, Run, read_document
from pointsman.report.show.page import page, write_page


def test_page_holds_its_document_and_fetches_nothing(document: Document) -> None:
    text = page(document)
    data = re.search(r'id="data">([^<]*)<', text)
    assert data is not None
    assert read_document(zlib.decompress(base64.b64decode(data[1]), -15)) == document
    assert not re.search(r"https?://|fetch\(|XMLHttpRequest|<link [^>]*stylesheet|src=", text)


def test_titles_and_texts_cannot_break_out_of_the_page() -> None:
    title = "</script><script>alert(1)</script>@DATA@"
    text = page(Document(title, "route", Net("mesh", [1], 1, [(0, 0)]), source=["</script>"]))
    assert text.count("</script>") == 2
    assert "<script>alert" not in text


VIEWS = ("mesh", "space", "node", "time", "why", "source")


@pytest.fixture(scope="module")
def opened(browser: Any, document: Document, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("page") / "page.html"
    write_page(document, path)
    browser.console.clear()
    browser.requests.clear()
    browser.open(path)
    yield browser
    assert browser.console == []
    assert [url for url in browser.requests if not url.startswith(("file:", "data:", "about:"))] == []


def ink(browser: Any, name: str) -> int:
    """Different colours on a canvas: a picture that shows something has more than a few."""
    return browser.run(
        f"""(() => {{ const c = document.getElementById('{name}'), k = document.createElement('canvas');
        k.width = c.width; k.height = c.height; const p = k.getContext('2d', {{ willReadFrequently: true }});
        p.drawImage(c, 0, 0);
        const d = p.getImageData(0, 0, c.width, c.height).data, seen = new Set();
        for (let i = 0; i < d.length; i += 4) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]); return seen.size; }})()"""
    )


def test_every_view_draws(opened: Any) -> None:
    for number, view in enumerate(VIEWS, 1):
        opened.key(str(number))
        assert opened.run("pointsman.state.view") == view
        if view in ("mesh", "space", "time"):
            assert ink(opened, "canvas") > 8
        else:
            assert len(opened.run("document.getElementById('pane').innerText")) > 50
        assert ink(opened, "strip") > 8


def drive(browser: Any, view: str) -> None:
    """Choose every option and press every button of a view, but the one that saves a picture."""
    browser.run(f"pointsman.go('{view}')")
    for name in browser.run("[...document.querySelectorAll('#controls select')].map(s => s.id)"):
        browser.run(
            f"""(() => {{ const s = document.getElementById('{name}'); if (!s) return;
            for (const o of [...s.options].map(o => o.value)) {{ const t = document.getElementById('{name}'); if (!t) return;
            t.value = o; t.dispatchEvent(new Event('change')); }} }})()"""
        )
        browser.settle()
    for name in browser.run("[...document.querySelectorAll('#controls button')].map(b => b.id)"):
        if name != "do-png":
            browser.run(f"(() => {{ const b = document.getElementById('{name}'); if (b) b.click(); }})()")
            browser.settle()
    browser.key("Escape")
    browser.key("Home")


def test_every_control_can_be_driven(opened: Any) -> None:
    for view in VIEWS:
        drive(opened, view)


def test_every_key_does_something(opened: Any) -> None:
    opened.run("pointsman.go('mesh')")
    opened.run("pointsman.state.node = 0; pointsman.state.phase = 0")
    opened.key("n")
    assert opened.run("pointsman.state.node") == 1
    opened.key("p")
    opened.key("]")
    assert opened.run("pointsman.state.phase") == 1 % len(opened.run("pointsman.doc.phases.map(p => p.name)"))
    opened.key("[")
    opened.key("+")
    opened.key("-")
    opened.key(" ")
    assert opened.run("pointsman.state.playing")
    opened.settle()
    opened.key(" ")
    assert not opened.run("pointsman.state.playing")
    opened.key("ArrowRight")
    opened.key("ArrowLeft")
    opened.key("Home")
    opened.key("?")
    assert opened.run("document.getElementById('keys').open")
    opened.key("?")
    assert not opened.run("document.getElementById('keys').open")


def test_a_word_is_named_under_the_mouse_and_followed_by_a_click(opened: Any) -> None:
    opened.run("pointsman.state.axis = 'slots'; pointsman.go('space')")
    opened.settle()
    at = opened.run(
        """(() => { const b = document.getElementById('canvas').getBoundingClientRect(),
        h = pointsman.hits().find(h => h.what.stream !== undefined && h.x > 90); return [b.left + h.x, b.top + h.y]; })()"""
    )
    opened.mouse("mouseMoved", *at)
    said = opened.run("document.getElementById('tip').textContent")
    assert "COP line" in said
    assert "predicted" in said
    assert "measured" in said
    assert "instance" in said
    opened.click(*at)
    assert opened.run("pointsman.state.stream") >= 0
    opened.key("w")
    assert opened.run("pointsman.state.word") >= 0
    assert "read in cycle" in opened.run("document.getElementById('panel').innerText")
    opened.key("Escape")


def test_a_slice_of_time_filters_the_network(opened: Any) -> None:
    opened.key("Home")
    opened.run("pointsman.go('mesh')")
    strip = opened.run(
        "(() => { const b = document.getElementById('strip').getBoundingClientRect(); return [b.left, b.top, b.width]; })()"
    )
    left, top, width = strip
    opened.mouse("mousePressed", left + width * 0.4, top + 30, button="left", buttons=1, clickCount=1)
    opened.mouse("mouseMoved", left + width * 0.6, top + 30, button="left", buttons=1)
    opened.mouse("mouseReleased", left + width * 0.6, top + 30, button="left", clickCount=1)
    opened.settle()
    start, end, cycles = opened.run("[pointsman.state.from, pointsman.state.to, pointsman.doc.run.cycles]")
    assert 0.25 * cycles < start < 0.45 * cycles
    assert 0.5 * cycles < end < 0.7 * cycles
    opened.key("Home")


def test_size_is_small(document: Document, tmp_path: Path) -> None:
    assert write_page(document, tmp_path / "page.html") < 200_000


def test_the_picture_that_is_seen_can_be_saved(opened: Any) -> None:
    for view in ("mesh", "space", "time"):
        opened.run(f"pointsman.go('{view}')")
        opened.settle()
        name, data = opened.run(
            """(() => { const found = [], click = HTMLAnchorElement.prototype.click;
            HTMLAnchorElement.prototype.click = function () { found.push(this.download, this.href); };
            document.getElementById('do-png').click(); HTMLAnchorElement.prototype.click = click; return found; })()"""
        )
        assert name == f"numesh-{view}.png"
        picture = base64.b64decode(data.removeprefix("data:image/png;base64,"))
        width, height = (int.from_bytes(picture[at : at + 4], "big") for at in (16, 20))
        assert picture.startswith(b"\x89PNG")
        assert [width, height] == opened.run(
            "[document.getElementById('canvas').width, document.getElementById('canvas').height]"
        )
        assert len(picture) > 3000


SHOWN = Path(__file__).parents[5] / "docs" / "shown"


@pytest.mark.parametrize("name", ["packet", "configure", "switch", "route", "optical", "fem"])
def test_pages_of_other_targets_draw_and_every_control_can_be_driven(name: str, browser: Any, tmp_path: Path) -> None:
    document = read_document(gzip.decompress((SHOWN / f"{name}.json.gz").read_bytes()))
    write_page(document, tmp_path / "page.html")
    browser.console.clear()
    browser.open(tmp_path / "page.html")
    views = browser.run("[...document.querySelectorAll('#views button')].map(b => b.dataset.view)")
    assert views
    for number, view in enumerate(views, 1):
        browser.key(str(number))
        if view in ("mesh", "space", "time", "switch", "channels", "delays", "phased", "timetables", "parts"):
            assert ink(browser, "canvas") > 8, view
            assert browser.run("pointsman.hits().length") > 0, view
        else:
            assert len(browser.run("document.getElementById('pane').innerText")) > 20, view
        drive(browser, view)
    assert browser.console == []


def test_a_link_of_a_phase_tells_its_connections_and_a_click_follows_them(browser: Any, tmp_path: Path) -> None:
    document = opened_example(browser, "fem", tmp_path)
    assert document.phased is not None
    first = [row for row in document.phased.routes if row[0] == 0]
    (u, v), most = Counter(hop for row in first for hop in pairwise(row[3])).most_common(1)[0]
    assert most > 1
    users = [row[1] for row in first if (u, v) in pairwise(row[3])]
    link = document.network.links.index((u, v))
    said, x, y = browser.run(
        f"(() => {{ const hit = pointsman.hits().find(h => h.what.link === {link}), box = document.getElementById('canvas')"
        ".getBoundingClientRect(); return [hit.say(), hit.x + box.left, hit.y + box.top]; })()"
    )
    assert said.startswith(f"link {u} → {v}: {len(users)} connections, each with a share of 1/{len(users)}")
    assert all(f"connection {one}:" in said for one in users)
    browser.click(x, y)
    panel = browser.run("document.getElementById('panel').innerText")
    assert f"Link {u} → {v}, phase 0" in panel
    assert panel.count("\u2013") == len(users)
    assert browser.console == []


def opened_example(browser: Any, name: str, folder: Path) -> Document:
    """Open the page of an example of the documentation."""
    document = read_document(gzip.decompress((SHOWN / f"{name}.json.gz").read_bytes()))
    write_page(document, folder / "page.html")
    browser.console.clear()
    browser.open(folder / "page.html")
    return document


def pane_of(browser: Any, view: str) -> str:
    browser.run(f"pointsman.go('{view}')")
    browser.settle()
    return browser.run("document.getElementById('pane').innerText")


def test_what_was_planned_and_what_this_run_should_take_are_told_apart(browser: Any, tmp_path: Path) -> None:
    document = opened_example(browser, "halo", tmp_path)
    planned, followed = document.why["cycles"], document.why["time"]["predicted_cycles"]
    assert planned > 2 * followed  # COP says 10 sweeps, 3 were made
    said = pane_of(browser, "why")
    run_row, after = said.split("Candidates of the search")[0].split("phases of")
    assert f"{followed:,.0f}" in run_row
    assert f"{planned:,.0f}" not in run_row
    assert f"{planned:,.0f} cycles planned" in after
    for phase, again in zip(document.phases, document.why["time"]["phases"], strict=True):
        assert phase.predicted is not None
        part = said.split(f"Phase {phase.name}\n")[1].split("What sets its pace")[0]
        heads, row = (line.split("\t") for line in part.strip().splitlines()[-2:])
        told = dict(zip(heads, row, strict=True))
        assert told["planned"] == f"{phase.predicted:,.0f}"
        assert told["predicted for this run"] == f"{again['predicted']:,.0f}"
        assert told["measured without computing"] == f"{again['measured']:,.0f}"
    assert browser.console == []


SHIFTS = """\
from pointsman.runtime import Application


class Shifts(Application):
    program = "shifts.cop"

    async def main(self, node):
        for _ in range(3):
            await node.cop.r_load()
            await node.cop.c_load()
            await node.cop.c_func([node.number] * 6)
            await node.cop.d_load()
            await (node.cop.d_write([5] * 6) if node.number == 0 else node.cop.d_read())

    def check(self, results):
        return "words went around"
"""


def test_one_prediction_is_shown_where_the_run_was_as_planned(
    browser: Any, tmp_path: Path, shown: Callable[..., Document]
) -> None:
    (tmp_path / "shifts.cop").write_text("(loop 'r 3 (cshift 'c 1 :m 6) (broadcast 'd 0 :m 6))")
    (tmp_path / "shifts.py").write_text(SHIFTS)  # all its ends are in the program: what is planned is what is done
    document = shown(tmp_path / "shifts.py", "--mesh", "3x2", "--engine", "model")
    write_page(document, tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    assert document.why["cycles"] == document.why["time"]["predicted_cycles"]
    said = pane_of(browser, "why")
    assert "planned" not in said.lower()
    assert "predicted for this run" not in said
    assert said.count("predicted without computing") == 1 + len(document.phases)


def test_an_operator_in_several_phases_is_marked_once_in_the_program(browser: Any, tmp_path: Path) -> None:
    opened_example(browser, "fft", tmp_path)
    assert "measured, in all phases" in pane_of(browser, "why")
    assert "◂ swap, swap=1 end" in pane_of(browser, "source")


def test_colours_of_processors_are_explained_and_text_has_no_empty_bar_above(browser: Any, tmp_path: Path) -> None:
    opened_example(browser, "gauss", tmp_path)
    browser.run("pointsman.go('time')")
    browser.settle()
    below = browser.run(
        """(() => { const c = document.getElementById('canvas'), d = c.getContext('2d').getImageData(
        0, c.height - 24, c.width, 24).data, seen = new Set();
        for (let i = 0; i < d.length; i += 4) seen.add([d[i], d[i + 1], d[i + 2]].join(' ')); return [...seen]; })()"""
    )
    assert {"187 187 187", "230 159 0", "86 180 233", "213 94 0"} <= set(below)  # cpu, write, read, psync
    assert browser.run("document.getElementById('controls').offsetHeight") > 0
    pane_of(browser, "why")
    assert browser.run("document.getElementById('controls').offsetHeight") == 0


def test_messages_and_quanta_are_drawn(browser: Any, tmp_path: Path) -> None:
    counted = [Counted("frames", [[0, 3, 2, 0], [1, 0, 0, 1]])]
    active = Active(
        5.0, [[3, 0, 1, 0], [0, 2, 0, 0]], [[0, 1, 0, 1], [1, 2, 1, 0]], [2, 1, 1, 0], [(0, 1, 4), (1, 0, 2)],
        ["main", "f"], [(0, 0, 7, 0), (1, 8, 20, 1)], 2, counted,
    )  # fmt: skip
    run = Run("logp", True, "42", 20, ["cpu"], [[9], [12]])
    made = Document("t", "logp", Net("mesh", [2], 2, [(0, 0), (1, 0)]), run=run, active=active)
    write_page(made, tmp_path / "a.html")
    browser.console.clear()
    browser.open(tmp_path / "a.html")
    for view in ("messages", "quanta"):
        browser.run(f"document.querySelector('#views button[data-view={view}]').click()")
        browser.settle()
        assert ink(browser, "canvas") > 5
        assert "6 sent and 6 handled" in browser.run("document.getElementById('panel').textContent")
    browser.run("document.querySelector('#views button[data-view=messages]').click()")
    chosen = "const c = document.getElementById('choose-counter'); c.value = 'frames'"
    browser.run(f"(() => {{ {chosen}; c.dispatchEvent(new Event('change')); }})()")
    browser.settle()
    assert ink(browser, "canvas") > 5
    assert browser.console == []
