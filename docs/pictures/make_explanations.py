"""Draw the pictures of the explanations: phases, divisions, an elimination, an engine, the node's stages, the landing page.

    python docs/pictures/make_explanations.py

Runs and plans are those of ``docs/shown`` (`make_shown.py`) and of the tutorial, numbers of stages those of ``numesh.codes``.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from numesh.codes import FIRST_READ

HERE = Path(__file__).parent
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Okabe and Ito, in the order of phases."""
INK, GREY, PALE = "#222", "#777", "#ddd"


class Canvas:
    """An SVG drawing, line by line. Coordinates are pixels."""

    def __init__(self, width: int, height: int) -> None:
        self.lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">',
            "<defs>",
            *(
                f'<marker id="tip-{colour[1:]}" viewBox="0 0 8 8" refX="7" refY="4" markerUnits="userSpaceOnUse" markerWidth="9" '
                f'markerHeight="9" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="{colour}"/></marker>'
                for colour in (INK, *COLOURS)
            ),
            "</defs>",
            f'<rect width="{width}" height="{height}" fill="white"/>',
        ]

    def box(self, x: float, y: float, width: float, height: float, fill: str, **more: Any) -> None:
        """A rectangle; ``more`` are attributes with ``_`` for ``-``."""
        self.lines.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}"{_attributes(more)}/>'
        )

    def text(self, x: float, y: float, said: str, **more: Any) -> None:
        """A line of text, its baseline at ``y``."""
        more.setdefault("fill", INK)
        self.lines.append(f'<text x="{x:g}" y="{y:g}"{_attributes(more)}>{escape(said)}</text>')

    def line(self, x: float, y: float, x2: float, y2: float, colour: str = INK, **more: Any) -> None:
        """A line; ``tip`` puts an arrow at its end, ``tips`` at both."""
        both = more.pop("tips", False)
        if more.pop("tip", False) or both:
            more["marker_end"] = f"url(#tip-{colour[1:]})"
        if both:
            more["marker_start"] = more["marker_end"]
        more.setdefault("stroke_width", 1.5)
        self.lines.append(f'<line x1="{x:g}" y1="{y:g}" x2="{x2:g}" y2="{y2:g}" stroke="{colour}"{_attributes(more)}/>')

    def curve(self, path: str, colour: str = INK, **more: Any) -> None:
        """An open path with an arrow at its end."""
        self.lines.append(
            f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.8" marker-end="url(#tip-{colour[1:]})"'
            f"{_attributes(more)}/>"
        )

    def circle(self, x: float, y: float, radius: float, fill: str, **more: Any) -> None:
        """A disc."""
        self.lines.append(f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{fill}"{_attributes(more)}/>')

    def svg(self) -> str:
        """The whole drawing."""
        return "\n".join([*self.lines, "</svg>"]) + "\n"


def _attributes(more: dict[str, Any]) -> str:
    return "".join(f' {name.replace("_", "-")}="{value}"' for name, value in more.items())


def shown(name: str) -> dict[str, Any]:
    """A document of ``docs/shown``."""
    return json.loads(gzip.decompress((HERE.parent / "shown" / f"{name}.json.gz").read_bytes()))


def phases() -> str:
    """A round of the elimination: nodes downwards, cycles to the right, a colour a phase."""
    document = shown("gauss")
    first, last, left, top, row, wide = 700, 1330, 70, 34, 20, 1.0
    nodes = document["network"]["nodes"]
    drawing = Canvas(left + int((last - first) * wide) + 20, top + nodes * row + 56)
    for cycle in range(first, last + 1, 100):
        x = left + (cycle - first) * wide
        drawing.line(x, top - 6, x, top + nodes * row, PALE, stroke_width=1)
        drawing.text(x, top - 12, f"{cycle:,}", text_anchor="middle", fill=GREY, font_size=11)
    drawing.text(left - 22, top - 12, "cycle", text_anchor="end", fill=GREY, font_size=11)
    for node in range(nodes):
        drawing.text(left - 10, top + node * row + 14, f"node {node}", text_anchor="end", font_size=11)
    run = document["run"]
    for node, start, end, activity, phase, _ in run["spans"]:
        a, b = max(start, first), min(end, last)
        if a >= b or phase < 0:
            continue
        doing = run["activities"][activity]
        x, y = left + (a - first) * wide, top + node * row + 2
        if doing == "computing":
            drawing.box(x, y, (b - a) * wide, row - 4, "white", stroke=PALE)
        else:
            opacity = 0.3 if doing.endswith("_load") else 1
            drawing.box(x, y, (b - a) * wide, row - 4, COLOURS[phase], fill_opacity=opacity)
    x = left
    for number, phase in enumerate(document["phases"][:4]):
        drawing.box(x, top + nodes * row + 18, 14, 14, COLOURS[number])
        said = f"{phase['name']}: ends by {'nothing' if phase['technique'] == 'no-op' else phase['technique']}"
        drawing.text(x + 20, top + nodes * row + 30, said)
        x += 165
    return drawing.svg()


def divisions() -> str:
    """Divisions of the elimination that were routed, with their estimates and cycles; of each the best."""
    document = shown("gauss")
    best: dict[str, dict[str, Any]] = {}
    for way in document["why"]["ways"]:
        if way["cycles"] is not None:
            key = json.dumps([way["phases"], way["period"]])
            if key not in best or way["cycles"] < best[key]["cycles"]:
                best[key] = way
    ways = sorted(best.values(), key=lambda way: way["cycles"])
    labels = [
        label
        for phase in document["phases"]
        for o in phase["operators"]
        for label in [document["operators"][o]["label"]]
    ]
    colour = {label: COLOURS[i % len(COLOURS)] for i, label in enumerate(x for x in labels if " " not in x)}
    left, top, row, wide = 20, 40, 34, 46
    bars = left + 10 * wide + 60
    scale = 240 / max(max(way["cycles"], way["estimate"]) for way in ways)
    drawing = Canvas(bars + 330, top + len(ways) * row + 6)
    drawing.text(left, 24, "phases", fill=GREY)
    drawing.text(bars - 46, 24, "slots", fill=GREY)
    drawing.text(bars, 24, "cycles of the whole program", fill=GREY)
    for number, way in enumerate(ways):
        x, y = left, top + number * row
        for phase in way["phases"]:
            width = len(phase) * 36 + 4
            drawing.box(x, y, width, 24, "white", stroke=GREY, rx=4)
            for i, label in enumerate(phase):
                drawing.box(x + 4 + 36 * i, y + 4, 32, 16, colour[label], fill_opacity=0.75, rx=3)
                drawing.text(x + 20 + 36 * i, y + 16, label, text_anchor="middle", fill="white", font_size=11)
            x += width + 8
        drawing.text(bars - 30, y + 17, str(way["period"]), text_anchor="middle")
        chosen = way["outcome"] == "chosen"
        drawing.box(bars, y + 3, way["cycles"] * scale, 18, "#009e73" if chosen else "#bbb")
        drawing.box(bars, y + 3, way["estimate"] * scale, 18, "none", stroke=INK)
        said = f"{way['cycles']:,.0f}" + (" (chosen)" if chosen else "")
        drawing.text(bars + max(way["cycles"], way["estimate"]) * scale + 6, y + 17, said, font_size=11)
    return drawing.svg()


def gauss() -> str:
    """Who sends to whom in a round of the elimination, on four small meshes."""
    side, step, left, top = 4, 40, 26, 50
    drawing = Canvas(4 * 196 + 10, 212)
    titles = (
        ("r0: largest in column 1", "all of the column learn it"),
        ("b1: factors along rows", "from column 1"),
        ("s2: exchange of two rows", "row 3 with row 1"),
        ("b3: pivot row to all rows", "from row 1"),
    )
    for number, (title, below) in enumerate(titles):
        x0, colour = left + number * 196, COLOURS[number]
        drawing.text(x0 - 12, 20, title, font_size=12)
        drawing.text(x0 - 12, 36, below, font_size=11, fill=GREY)

        def at(x: float, y: float, x0: float = x0) -> tuple[float, float]:
            return x0 + x * step + 10, top + 18 + y * step

        for i in range(side):
            if number == 0:
                arrows = [(1, i, 1, i + 1)] if i < 3 else []
            elif number == 1:
                arrows = [(1, i, 0, i), (1, i, 2, i), (2, i, 3, i)]
            elif number == 2:
                arrows = []
                (x, y), (_, y2) = at(i, 1), at(i, 3)
                for a, b, bend in ((y, y2, 12), (y2, y, -12)):
                    inside = 9 if b > a else -9
                    drawing.curve(
                        f"M{x + bend / 3:g} {a + inside:g}Q{x + bend:g} {(a + b) / 2:g} {x + bend / 3:g} {b - inside:g}",
                        colour,
                    )
            else:
                arrows = [(i, 1, i, 0), (i, 1, i, 2), (i, 2, i, 3)]
            for a, b, c, d in arrows:
                (x, y), (x2, y2) = at(a, b), at(c, d)
                dx, dy = 9 * ((x2 > x) - (x2 < x)), 9 * ((y2 > y) - (y2 < y))
                drawing.line(x + dx, y + dy, x2 - dx, y2 - dy, colour, tip=True, tips=number == 0, stroke_width=1.8)
        for y in range(side):
            for x in range(side):
                source = (number in (0, 1) and x == 1) or (number == 2 and y in (1, 3)) or (number == 3 and y == 1)
                px, py = at(x, y)
                drawing.circle(px, py, 7, colour if source else "white", stroke=colour if source else "#aaa")
    return drawing.svg()


def engine() -> str:
    """What belongs to an engine, and what to both of its sides."""
    drawing = Canvas(800, 316)
    for node in range(3):
        x = 30 + node * 160
        drawing.box(x, 14, 140, 62, "#eef4f9", stroke=COLOURS[0], rx=6)
        drawing.text(x + 70, 36, f"program of node {node}", text_anchor="middle")
        drawing.text(
            x + 70,
            58,
            ("await next_func(words)", "await compute(32)", "await next_load()")[node],
            text_anchor="middle",
            font_size=11,
            fill=GREY,
        )
        drawing.line(x + 50, 78, x + 50, 112, tip=True)
        drawing.line(x + 90, 112, x + 90, 78, tip=True)
        drawing.box(x, 190, 140, 60, "#fdf2e9", stroke=COLOURS[1], rx=6)
        drawing.text(x + 70, 212, f"router {node}", text_anchor="middle")
        drawing.text(x + 70, 234, "interface registers", text_anchor="middle", font_size=11, fill=GREY)
        drawing.line(x + 50, 152, x + 50, 188, tip=True)
        drawing.line(x + 90, 188, x + 90, 152, tip=True)
        if node < 2:
            drawing.line(x + 142, 232, x + 158, 232, COLOURS[1], tips=True)
    drawing.box(30, 114, 460, 36, "#eaf6f1", stroke=COLOURS[2], rx=6)
    drawing.text(260, 137, "loop: who waits for what, one clock edge, who goes on", text_anchor="middle")
    for y, said, note in (
        (36, "Python coroutines", "the same on every engine and target"),
        (90, "requests", "wait so many cycles; move these words"),
        (132, "the engine", "counts cycles by category, finds deadlocks"),
        (176, "processor ports", "one access a cycle"),
        (220, "hardware", "verilated, model or amaranth"),
    ):
        drawing.text(512, y, said, font_weight="bold")
        drawing.text(512, y + 16, note, fill=GREY, font_size=12)
    drawing.text(
        30,
        282,
        "One build serves every size of mesh: links between routers are data, and the clock edge of all nodes",
        fill=GREY,
        font_size=12,
    )
    drawing.text(
        30,
        300,
        "comes before any output is carried on, because no output depends on an input in the same cycle.",
        fill=GREY,
        font_size=12,
    )
    return drawing.svg()


def stages() -> str:
    """A word through the stages of two nodes: cycles to the right."""
    names = ("schedule", "schedule", "fetch", "annotation", "decode", "distance", "look-up")
    left, wide, high = 96, 92, 44
    drawing = Canvas(left + (FIRST_READ + 3) * wide + 10, 236)
    for cycle in range(FIRST_READ + 3):
        drawing.text(left + (cycle + 0.5) * wide, 22, f"cycle {cycle}", text_anchor="middle", fill=GREY, font_size=11)
    for row, (node, slot) in enumerate((("node", 0), ("neighbour", 1))):
        y = 44 + row * 96
        drawing.text(12, y + 20, node)
        drawing.text(12, y + 36, f"slot {slot}", fill=GREY, font_size=11)
        for place in range(FIRST_READ + 2):
            x = left + (place + slot) * wide
            early = place < FIRST_READ
            fill = "#eef4f9" if early else "#fdf2e9"
            edge = COLOURS[0] if early else COLOURS[1]
            name = names[place] if early else ("read", "write")[place - FIRST_READ]
            drawing.box(x + 3, y, wide - 6, high, fill, stroke=edge, rx=5)
            drawing.text(x + wide / 2, y + 26, name, text_anchor="middle")
    x = left + (FIRST_READ + 1.5) * wide
    drawing.line(x, 44 + high + 2, x, 138, COLOURS[1], tip=True, stroke_width=2.5)
    drawing.text(x - 8, 118, "word, over the link", text_anchor="end", fill=COLOURS[1])
    drawing.box(left, 206, 14, 14, "#eef4f9", stroke=COLOURS[0])
    drawing.text(left + 20, 218, "follows from the timetable alone")
    drawing.box(left + 280, 206, 14, 14, "#fdf2e9", stroke=COLOURS[1])
    drawing.text(left + 300, 218, "depends on words and on neighbours")
    return drawing.svg()


def landing() -> str:
    """From a COP text to words on links: what the project does, in one row."""
    tutorial = (HERE.parent / "tutorial.md").read_text(encoding="utf-8")
    right = re.findall(r"answer: (.+)", tutorial)[0]
    predicted, measured = re.findall(r"^phase next +(\d+) +(\d+)", tutorial, re.MULTILINE)[0]
    drawing = Canvas(860, 232)
    boxes = (
        (10, "COP text", ("(loop 'round *nodes*", "  (cshift 'next 1 :m 32))"), "who sends what to whom"),
        (230, "timetable", (), "which word moves where and when"),
        (450, "hardware", (), "repeats it: RTL and models"),
        (
            670,
            "answer",
            (right, f"{predicted} cycles predicted", f"{measured} measured"),
            "checked, predicted, explained",
        ),
    )
    for number, (x, title, lines, below) in enumerate(boxes):
        drawing.box(x, 40, 180, 130, "#f8f9fa", stroke="#bbb", rx=8)
        drawing.text(x + 90, 26, title, text_anchor="middle", font_weight="bold", font_size=15)
        drawing.text(x + 90, 194, below, text_anchor="middle", font_size=11, fill=GREY)
        for i, line in enumerate(lines):
            drawing.text(x + 8, 88 + 20 * i, line, font_size=10.5, font_family="monospace", **{"xml:space": "preserve"})
        if number < 3:
            drawing.line(x + 184, 105, x + 216, 105, tip=True, stroke_width=2.5)
    for node in range(4):
        y = 62 + node * 28
        drawing.line(246, y, 394, y, PALE, stroke_width=1)
        for start in range(-1 + node % 2, 5, 2):
            x, x2 = 250 + start * 29, 250 + (start + 1) * 29
            if x >= 246 and node < 3 and x2 <= 396:
                drawing.line(x, y, x2, y + 28, COLOURS[node], stroke_width=2)
                drawing.circle(x, y, 3.5, COLOURS[node])
    for y in range(3):
        for x in range(3):
            px, py = 490 + x * 50, 60 + y * 45
            if x < 2:
                drawing.line(px + 12, py, px + 38, py, COLOURS[0], stroke_width=2, tips=True)
            if y < 2:
                drawing.line(px, py + 12, px, py + 33, COLOURS[0], stroke_width=2, tips=True)
            drawing.box(px - 9, py - 9, 18, 18, "white", stroke=COLOURS[1], stroke_width=2, rx=3)
    drawing.text(
        430,
        222,
        "The same text runs on scheduled routers, on a time-multiplexed switch, and on packet routers.",
        text_anchor="middle",
        font_size=11,
        fill=GREY,
    )
    return drawing.svg()


PICTURES: dict[str, Callable[[], str]] = {
    one.__name__: one for one in (phases, divisions, gauss, engine, stages, landing)
}


if __name__ == "__main__":
    for name, draw in PICTURES.items():
        (HERE / f"{name}.svg").write_text(draw(), encoding="utf-8")
