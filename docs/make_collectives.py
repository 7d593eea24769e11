"""Writes the tables of docs/collectives.md: collectives beside their marks and bounds, from what benchmarks measured.

python docs/make_collectives.py

The figures are those of `benchmarks/results/collectives.json` and `node_collectives.json`; what others reached is from
`benchmarks/claims/collectives_of_today.csv`.
"""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = Path(__file__).with_name("collectives.md")
RESULTS = ROOT / "benchmarks/results"
BEFORE = {"mesh 4x4": "16", "torus 4x4": "20", "mesh 8x4": "56", "torus 8x4": "59", "mesh 6x6": "none in 280 s"}
"""Periods of all-gathers that the search for streams had found, before there were constructions."""
SHARE = 1.05
"""Over the bound, at most, for broadcasts and reductions of many words."""
NODE_SHARE = 1.25
"""Over the bound, at most, on the node."""


def _read(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text())


def _held(yes: bool) -> str:
    return "yes" if yes else "**no**"


def ideal() -> list[str]:
    """A row for each collective in the ideal model."""
    rows = [
        "| collective | network | words | before | mark | period | bound | latency | held |",
        "|---|---|---:|---:|---:|---:|---|---:|---|",
    ]
    for one in _read("collectives")["ideal"]:
        gathers, network = one["kind"] == "all-gather", one["network"]
        bound, period = one["bound"], one["period"]
        mark = bound if gathers else SHARE * bound
        rows.append(
            f"| {one['kind']} | {network} | {one['words']} | {BEFORE.get(network, '') if gathers else ''} | "
            f"{mark:g} | {period} | {bound} ({one['bound_kind']}) | {one['latency']} | {_held(period <= mark)} |"
        )
    return rows


def node() -> list[str]:
    """A row for each collective on the scheduled node."""
    rows = [
        "| collective | mesh | words | bound, cycles | under way | of the bound | mark | held | whole program | predicted | "
        "RTL |",
        "|---|---|---:|---:|---:|---:|---:|---|---:|---:|---|",
    ]
    for one in _read("node_collectives")["cases"]:
        share = one["under_way"] / one["bound"]
        rtl = {True: "the same", False: "**another**", None: "–"}[one["lockstep"]]
        rows.append(
            f"| {one['kind']} | {one['mesh']} | {one['words']:,} | {one['bound']:,.0f} ({one['bound_kind']}) | "
            f"{one['under_way']:,} | {share:.2f} | {NODE_SHARE} | {_held(share <= NODE_SHARE)} | {one['cycles']:,} | "
            f"{one['predicted']:,} | {rtl} |"
        )
    return rows


def published() -> list[str]:
    """A row for each claim of others."""
    measured = _read("collectives")
    ours = {
        "K001": ", ".join(f"{name}: {one['period']}" for name, one in measured["all_gather"].items()),
        "K002": f"{measured['epochs']['4x4']['epochs']}",
        "K003": f"{measured['epochs']['6x6']['epochs']}",
        "K004": f"{measured['msccl']['steps']}",
        "K005": "not comparable",
    }
    bounds = {
        "K001": ", ".join(f"{one['bound']}" for one in measured["all_gather"].values()),
        "K002": f"{measured['epochs']['4x4']['bound']}",
        "K003": f"{measured['epochs']['6x6']['bound']}",
    }
    rows = ["| source | what | theirs | ours | bound |", "|---|---|---:|---:|---:|"]
    with open(ROOT / "benchmarks/claims/collectives_of_today.csv", newline="") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            what, number = (
                f"{row['quantity']} ({row['conditions']})" if row["conditions"] else row["quantity"],
                row["id"],
            )
            rows.append(
                f"| {row['where']} | {what} | {row['value']} {row['unit']} | {ours[number]} | {bounds.get(number, '–')} |"
            )
    return rows


def generated(text: str) -> str:
    """The page with its tables made anew."""
    for name, rows in (("ideal", ideal()), ("node", node()), ("published", published())):
        block = re.compile(f"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
        lines = "".join(f"{row}\n" for row in rows)
        text, count = block.subn(lambda match, lines=lines: f"{match[1]}{lines}{match[2]}", text)  # type: ignore[misc]
        assert count == 1, name
    return text


if __name__ == "__main__":
    PAGE.write_text(generated(PAGE.read_text()))
