"""The examples of ``pointsman show`` in the documentation: documents in ``shown/``, compressed, from which a build makes pages.

python docs/make_shown.py                  make all documents again (minutes)
python docs/make_shown.py matmul halo      make these
"""

from __future__ import annotations

import contextlib
import gzip
import json
import re
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
FOLDER = HERE / "shown"
EXAMPLES = HERE.parent / "examples"
MODEL = ("--engine", "model")
STREAMS = {
    "topology": {"kind": "torus", "size": [4, 4]},
    "streams": [
        *({"source": n, "destinations": [(5 * n + 3) % 16 if (5 * n + 3) % 16 != n else n + 1]} for n in range(15)),
        {"source": 0, "destinations": [3, 5, 10, 15]},
    ],
}
"""Streams of the page of ``pointsman route``: a permutation with a multicast."""
CONNECTIONS = {
    "network": {"kind": "crossbar", "size": 12},
    "connections": sorted({(u, (u * step + 1) % 12) for u in range(12) for step in (1, 2, 3, 5)}),
}
"""Connections of the page of ``pointsman configure``."""
TRAFFIC = {
    "network": {"kind": "torus", "size": [4, 4]},
    "degree": 4,
    "reservation": {"direction": "forward", "cset": "all", "retry": 20},
    "logical": "hypercube",
    "traffic": {"kind": "uniform", "rate": 0.01, "slots": 6},
    "dynamic": {"traffic": {"kind": "uniform", "rate": 0.004, "slots": 2}},
    "slots": 1500,
    "seed": 1,
}
"""Traffic of the page of ``pointsman optical``."""
MESH = ("random:300:1", "--parts", "16", "--mesh", "4x4")
"""Mesh of the page of ``pointsman fem``."""
SHOWN = {
    "matmul": ("examples/matmul/matmul.py", "--mesh", "4x4", *MODEL, "--size", "16"),
    "gauss": ("examples/gauss/gauss.py", "--mesh", "4x4", *MODEL, "--size", "16"),
    "fft": ("examples/fft/fft.py", "--mesh", "4", *MODEL),
    "halo": (
        *("examples/extending/halo.py", "--mesh", "3x3", *MODEL),
        *("--implementations", "examples/extending/star_broadcast.py"),
    ),
    "heat": ("heat.py", "--mesh", "4x4", *MODEL),
    "switch": (
        "examples/matmul/matmul.py",
        "--mesh",
        "4x4",
        *MODEL,
        "--size",
        "16",
        "--target",
        "tdm",
        "--mode",
        "hybrid",
    ),
    "packet": ("examples/matmul/matmul.py", "--mesh", "4x4", *MODEL, "--size", "16", "--target", "packet"),
    "route": ("routes.json", "--topology", "torus:4x4"),
    "configure": ("configurations.json",),
    "optical": ("figures.json",),
    "fem": ("fem.json",),
}
"""What each page shows, as arguments of ``pointsman show``; routes, configurations, figures of an optical network and
phases are made first, heat is the tutorial's."""
TUTORIAL_FILE = re.compile(r"^<!-- file: (\S+) -->\n```\S*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def make_document(name: str) -> None:
    """Run ``pointsman show`` and keep its document."""
    from click.testing import CliRunner

    from pointsman.cli import main

    def call(*arguments: str) -> None:
        done = CliRunner().invoke(main, list(arguments))
        if done.exit_code:
            raise SystemExit(done.output)

    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as opened:
        out = Path(folder, "document.json")
        what, *options = SHOWN[name]
        if name == "heat":
            for file, text in TUTORIAL_FILE.findall((HERE / "tutorial.md").read_text(encoding="utf-8")):
                Path(folder, file).write_text(text, encoding="utf-8")
            opened.enter_context(contextlib.chdir(folder))  # so that the page names the file and not where it was
        if name == "route":
            streams, what = Path(folder, "streams.json"), str(Path(folder, "routes.json"))
            streams.write_text(json.dumps(STREAMS))
            call("route", str(streams), "--json", what)
        if name == "configure":
            given, what = Path(folder, "connections.json"), str(Path(folder, "configurations.json"))
            given.write_text(json.dumps(CONNECTIONS))
            call("configure", str(given), "--json", what)
        if name == "optical":
            given, what = Path(folder, "traffic.json"), str(Path(folder, "figures.json"))
            given.write_text(json.dumps(TRAFFIC))
            call("optical", str(given), "--json", what)
        if name == "fem":
            what = str(Path(folder, "fem.json"))
            call("fem", *MESH, "--json", what)
        call("show", what, *options, "--json", str(out))
        (FOLDER / f"{name}.json.gz").write_bytes(gzip.compress(out.read_bytes(), 9, mtime=0))


def make_pages(folder: Path) -> list[Path]:
    """Write the page of each document into ``folder``; the build of the documentation calls it."""
    from pointsman.report.show.document import read_document
    from pointsman.report.show.page import write_page

    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name in SHOWN:
        document = read_document(gzip.decompress((FOLDER / f"{name}.json.gz").read_bytes()))
        paths.append(folder / f"{name}.html")
        write_page(document, paths[-1])
    return paths


if __name__ == "__main__":
    for wanted in sys.argv[1:] or SHOWN:
        make_document(wanted)
        print(f"wrote {FOLDER / wanted}.json.gz")
