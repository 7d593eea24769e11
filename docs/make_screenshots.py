"""The pictures of ``pointsman show`` in the documentation: pages of ``shown/`` in Chromium, each in a view and a state.

python docs/make_screenshots.py               all
python docs/make_screenshots.py show_space    these

The browser is driven as the tests drive it. Pictures have at most 192 colours, so that they stay small (with Pillow, which
matplotlib brings).
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent
PICTURES = HERE / "pictures"
DRIVER = HERE.parent / "tests" / "sw" / "pointsman" / "report" / "show" / "chromium.py"
SIZE = (1180, 640)
COLOURS = 192
SHOTS = {
    "show_network": ("matmul", "pointsman.go('mesh')"),
    "show_space": ("halo", "pointsman.go('space')"),
    "show_processors": ("gauss", "pointsman.state.to = pointsman.doc.run.cycles / 3; pointsman.go('time')"),
    "show_switch": ("switch", "pointsman.go('switch')"),
    "show_why": ("fft", "pointsman.go('why')"),
    "show_route": ("route", "pointsman.go('space')"),
    "show_optical": ("optical", "pointsman.state.to = 400; pointsman.go('channels')"),
    "show_packet": ("packet", "pointsman.go('space')"),
    "show_phases": (
        "fem",
        "pointsman.state.link = pointsman.doc.network.links.findIndex(l => l[0] === 5 && l[1] === 6); pointsman.go('phased')",
    ),
    "show_parts": (
        "fem",
        "pointsman.go('parts'); document.getElementById('do-out').click(); document.getElementById('do-out').click()",
    ),
    "show_timetables": ("fem", "pointsman.go('timetables')"),
}
"""By name of a picture: the page, and what is done in it."""


def module_of(path: Path) -> ModuleType:
    """A Python file as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make_pictures(names: list[str], folder: Path = PICTURES) -> list[Path]:
    """Write the pictures ``names`` into ``folder``.

    Raises
    ------
    SystemExit
        If there is no browser, or a page logs anything.
    """
    from PIL import Image

    driver = module_of(DRIVER)
    browser = driver.find_chromium()
    if browser is None:
        raise SystemExit(f"there is no Chromium: looked for {', '.join(driver.NAMES)}")
    paths = []
    with tempfile.TemporaryDirectory() as made, driver.Chromium(browser, width=SIZE[0], height=SIZE[1]) as page:
        module_of(HERE / "make_shown.py").make_pages(Path(made))
        for name in names:
            shown, script = SHOTS[name]
            page.open(Path(made, f"{shown}.html"))
            page.run(script)
            page.settle()
            if name == "show_why":
                page.run(
                    "[...document.querySelectorAll('h2')].find(h => h.textContent.startsWith('Where')).scrollIntoView()"
                )
                page.settle()
            if page.console:
                raise SystemExit(f"{shown}: {page.console}")
            paths.append(folder / f"{name}.png")
            page.picture(paths[-1])
            with Image.open(paths[-1]) as picture:
                picture.convert("RGB").quantize(COLOURS).save(paths[-1], optimize=True)
    return paths


if __name__ == "__main__":
    for path in make_pictures(sys.argv[1:] or list(SHOTS)):
        print(f"wrote {path} ({path.stat().st_size / 1000:.0f} kB)")
