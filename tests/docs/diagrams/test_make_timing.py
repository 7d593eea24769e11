from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

from loading import module_at

DOCS = Path(__file__).parents[3] / "docs"
FOLDER = DOCS / "diagrams"


def load() -> ModuleType:
    return module_at(FOLDER / "make_timing.py")


MAKE_TIMING = load()


@pytest.mark.parametrize("diagram", MAKE_TIMING.DIAGRAMS, ids=lambda diagram: diagram.name)
def test_diagram_shows_what_the_hardware_does(diagram: object) -> None:
    """If this fails, the hardware or its drawing changed: run docs/diagrams/make_timing.py and read the diff."""
    name = f"{diagram.name}.svg"  # type: ignore[attr-defined]
    assert (FOLDER / name).read_bytes() == MAKE_TIMING.svg(diagram).encode()


def test_every_diagram_is_drawn_and_shown() -> None:
    names = {diagram.name for diagram in MAKE_TIMING.DIAGRAMS}
    assert {path.stem for path in FOLDER.glob("*.svg")} == names
    page = (DOCS / "hardware.md").read_text()
    assert [name for name in sorted(names) if f"(diagrams/{name}.svg)" not in page] == []


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.svg")), ids=lambda path: path.stem)
def test_drawing_is_well_formed_and_nothing_leaves_the_page(path: Path) -> None:
    root = ElementTree.parse(path).getroot()
    space = "{http://www.w3.org/2000/svg}"
    width, height = int(root.attrib["width"]), int(root.attrib["height"])
    assert root.attrib["viewBox"] == f"0 0 {width} {height}"
    texts = root.findall(f"{space}text")
    assert len(texts) > 10
    for text in texts:
        room = 8 * len(text.text or "")
        x = int(text.attrib["x"])
        left = {"end": x - room, "middle": x - room // 2}.get(text.attrib.get("text-anchor", "start"), x)
        assert left >= 0
        assert left + room <= width + 8
        assert 0 < int(text.attrib["y"]) < height


def test_a_changed_trace_gives_another_drawing() -> None:
    """Guard: the comparison above can fail."""
    hop = next(diagram for diagram in MAKE_TIMING.DIAGRAMS if diagram.name == "hop")
    other = type(hop)(**{**hop.__dict__, "refusals": {}})
    assert MAKE_TIMING.svg(other) != MAKE_TIMING.svg(hop)
