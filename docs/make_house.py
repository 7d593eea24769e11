"""Make the page of the house from the code: rooms from the packages' docstrings, rules from the contracts, and a picture of both.

    python docs/make_house.py

writes ``house.md`` (what stands between its marks; the rest is written by hand) and ``pictures/house.svg``. A test makes them
again and fails if they differ.
"""

from __future__ import annotations

import ast
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from pointsman.report.figures.page import put_between

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/house.md"
PICTURE = ROOT / "docs/pictures/house.svg"
SOURCES = ("sw/pointsman", "sim/cosim", "hdl/numesh", "hdl/tdm_switch", "hdl/packet_router", "hdl/host", "hdl/emission")
WAY = {
    "pointsman.cop": "COP text, or Python, becomes a Program",
    "pointsman.plan": "Program → Plan: phases, how each operator is done, how each phase ends",
    "pointsman.operators": "asked by plan: which streams an operator needs, and what each node does in it",
    "pointsman.routing": "asked by plan: streams → routes and slots",
    "pointsman.targets": "Plan → images of all routers (or tables of the switch, addresses of packet routers)",
    "pointsman.artifacts": "images as values and as files",
    "pointsman.verify": "proves the images, knowing nothing of how they were made",
    "pointsman.runtime": "what each node's processor does with its images",
    "cosim": "processors and RTL run together, to the cycle",
    "pointsman.report": "what the run was, for people",
}
"""The way of a program through the rooms, in order."""
WIDE, ROW, GAP = 940, 66, 10
COLOURS = ("#e8f1f8", "#f6efe6")


def packages() -> Iterator[tuple[str, str, int]]:
    """Every package in the order of the tree: its path, its docstring's first line, how many modules it has."""
    for source in SOURCES:
        for path in sorted((ROOT / source).rglob("__init__.py")):
            said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            modules = [other for other in path.parent.glob("*.py") if other.name not in ("__init__.py", "__main__.py")]
            yield str(path.parent.relative_to(ROOT)), " ".join(said.partition("\n\n")[0].split()), len(modules)


def contracts() -> list[dict[str, Any]]:
    """The rules that import-linter checks, as ``pyproject.toml`` has them."""
    return list(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"])


def layers() -> list[list[str]]:
    """Rooms by layer, the highest first."""
    found = next(contract for contract in contracts() if contract["type"] == "layers")
    return [[name.strip() for name in layer.split("|")] for layer in found["layers"]]


def rooms_table() -> str:
    lines = ["| room | what is in it | modules |", "|---|---|---|"]
    for path, said, modules in packages():
        lines.append(f"| `{path}/` | {said.replace('|', '/')} | {modules or ''} |")
    return "\n".join(lines) + "\n"


def rules() -> str:
    lines = []
    for contract in contracts():
        lines.append(f"- **{contract['name']}.**")
        if contract["type"] == "layers":
            shown = [" · ".join(name.removeprefix("pointsman.") for name in layer) for layer in layers()]
            lines[-1] += " From the top: " + "; ".join(shown) + "."
    return "\n".join(lines) + "\n"


def way() -> str:
    return "".join(
        f"{k}. `{name.removeprefix('pointsman.')}`: {said}\n" for k, (name, said) in enumerate(WAY.items(), 1)
    )


def draw() -> str:
    """The rooms by layer, with the numbers of ``WAY``, as SVG."""
    said = {path.partition("/")[2].replace("/", "."): text for path, text, _ in packages()}
    numbers = {name: k for k, name in enumerate(WAY, 1)}
    height = GAP + len(layers()) * (ROW + GAP)
    texts: list[str] = []
    badges: dict[int, tuple[float, float]] = {}
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDE}" height="{height}" viewBox="0 0 {WIDE} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDE}" height="{height}" fill="white"/>',
    ]
    for row, layer in enumerate(layers()):
        y = GAP + row * (ROW + GAP)
        wide = (WIDE - GAP) / len(layer) - GAP
        for column, name in enumerate(layer):
            x = GAP + column * (wide + GAP)
            lines.append(
                f'<rect x="{x:.0f}" y="{y}" width="{wide:.0f}" height="{ROW}" rx="6" fill="{COLOURS[row % 2]}" stroke="#8899aa"/>'
            )
            texts.append(
                f'<text x="{x + 12:.0f}" y="{y + 21}" font-size="15" font-weight="bold">{name.removeprefix("pointsman.")}</text>'
            )
            if name in numbers:
                badges[numbers[name]] = (x + wide - 18, y + 18)
            text = (said[name] if name in said else module_line(name)).replace("`", "")
            for k, line in enumerate(
                textwrap.wrap(text, max(20, int((wide - 40) / 6.6)), max_lines=2, placeholder=" …")
            ):
                texts.append(f'<text x="{x + 12:.0f}" y="{y + 42 + 16 * k}" fill="#333">{escape(line)}</text>')
    for k in range(2, len(badges) + 1):
        (x, y), (u, v) = badges[k - 1], badges[k]
        # Bows to the right, so that ways down and up lie beside each other.
        bow = f"M {x:.0f} {y} Q {min(WIDE - 4, max(x, u) + abs(y - v) / 4):.0f} {(y + v) / 2:.0f} {u:.0f} {v}"
        lines.append(f'<path d="{bow}" fill="none" stroke="#c8553d" stroke-width="2" opacity="0.35"/>')
    lines += texts
    for k, (x, y) in sorted(badges.items()):
        lines.append(f'<circle cx="{x:.0f}" cy="{y}" r="12" fill="#c8553d"/>')
        lines.append(f'<text x="{x:.0f}" y="{y + 4}" text-anchor="middle" fill="white">{k}</text>')
    lines.append("</svg>")
    return "\n".join(lines) + "\n"


def module_line(name: str) -> str:
    """The first line of a module that is a room by itself."""
    path = ROOT / "sw" / (name.replace(".", "/") + ".py")
    said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return said.partition("\n\n")[0].replace("\n", " ")


def page(before: str) -> str:
    """The page with everything that is generated made anew."""
    for name, text in (("rooms", rooms_table()), ("rules", rules()), ("way", way())):
        before = put_between(before, f"<!-- begin {name} -->", f"<!-- end {name} -->", text)
    return before


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    PICTURE.write_text(draw(), encoding="utf-8")
