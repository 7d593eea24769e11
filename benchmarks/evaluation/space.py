"""The evaluation of the switch over what its text leaves open (Ding et al. 2005, §5): each claim at many points.

    python benchmarks/tdm_space.py [--quick] [--into results.json]

A point says how many messages a processor has in its logical queues, after how long without use a connection is released (§3.2;
0: as soon as its queue is empty), how the array is walked, and how long requests and grants are on their way. ``--into`` adds
to the results in a file, point by point. What is fixed is in ``evaluation/tdm.py``.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from cosim.tdm.baselines import Times, circuit, wormhole
from cosim.tdm.fast import Delays
from cosim.tdm.traffic import SwitchTraffic, hybrid
from pointsman.files import write_whole

from .tdm import (
    DEGREE,
    HYBRID_BYTES,
    HYBRID_DEGREE,
    MESSAGES,
    PATTERNS,
    PORTS,
    efficiency,
    preload_of,
    statics,
    tdm,
)

SIZES = (8, 32, 64, 256, 512, 2048)
"""Bytes of a message."""
DETERMINISM = (0.5, 0.85, 0.95)
Row = dict[str, Any]


@dataclass(frozen=True)
class Point:
    """Assumptions that the text leaves open."""

    window: int
    """Messages at a time."""
    time_out: int
    """Cycles of 10 ns."""
    order: str
    """Of the array: plain or wrapped diagonals."""
    cable: int
    """Cycles on the way of a request, and of a grant: 8 with a serial cable, 2 with wires of their own."""

    @property
    def given(self) -> dict[str, Any]:
        """For ``tdm``."""
        delays = Delays(self.cable, self.cable, 11)
        return {"window": self.window, "time_out": self.time_out, "order": self.order, "delays": delays}


POINTS = [
    Point(window, time_out, order, cable)
    for window, time_out, order, cable in product((4, 16, 64), (0, 20, 80), ("plain", "wrapped"), (8, 2))
]


@cache
def _traffic(pattern: str, size: int) -> tuple[SwitchTraffic, float, float]:
    """A cell of Figure 4: its traffic, and its efficiency with wormhole and circuit switching, which no assumption changes."""
    traffic = PATTERNS[pattern][0](-(-size // 8))
    return traffic, efficiency(traffic, wormhole(traffic, Times())), efficiency(traffic, circuit(traffic, Times()))


@cache
def _preloaded(pattern: str, size: int, window: int, order: str, cable: int) -> float:
    """Preloaded connections stay, so their time-out changes nothing."""
    given = Point(window, 0, order, cable).given
    return tdm(_traffic(pattern, size)[0], DEGREE, preload=PATTERNS[pattern][1](-(-size // 8)), **given)


def measure(point: Point) -> Row:
    """Both figures at a point."""
    four = []
    for pattern, size in product(PATTERNS, SIZES):
        traffic, worms, circuits = _traffic(pattern, size)
        row: Row = {"pattern": pattern, "bytes": size, "wormhole": worms, "circuit": circuits}
        row["dynamic"] = tdm(traffic, DEGREE, **point.given)
        row["preload"] = _preloaded(pattern, size, point.window, point.order, point.cable)
        four.append(_rounded(row))
    five = []
    for destinations, size, determinism in product((1, 2), HYBRID_BYTES, DETERMINISM):
        row = {"destinations": destinations, "bytes": size, "determinism": determinism}
        configurations = statics(destinations)
        draws = [
            hybrid(PORTS, size // 8, MESSAGES, determinism, configurations[:destinations], seed) for seed in range(2)
        ]
        for k in range(3):
            preload = preload_of(configurations[:k], 0, k) if k else None
            row[f"{k} preloaded"] = float(
                np.mean([tdm(one, HYBRID_DEGREE, preload=preload, **point.given) for one in draws])
            )
        five.append(_rounded(row))
    return {**asdict(point), "figure_4": four, "figure_5": five}


def _rounded(row: Row) -> Row:
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in row.items()}


def rows(points: list[Point], known: list[Row]) -> Iterator[Row]:
    """Rows of all points; those that are known are taken from there."""
    there = {tuple(row[name] for name in asdict(points[0])): row for row in known}
    for index, point in enumerate(points):
        row = there.get(tuple(asdict(point).values()))
        if row is None:
            began = time.process_time()
            row = measure(point)
            spent = time.process_time() - began
            print(f"{index + 1} of {len(points)}: {point}, {spent:.0f} s", file=sys.stderr, flush=True)
        yield row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two points")
    parser.add_argument("--into", type=Path, help="file: add to the results there, in place of printing them")
    options = parser.parse_args()
    known = json.loads(options.into.read_text())["points"] if options.into and options.into.exists() else []
    answer: Row = {"benchmark": "tdm_space", "python": platform.python_version(), "points": []}
    points = [POINTS[0], POINTS[-1]] if options.quick else POINTS
    for row in rows(points, known):
        answer["points"].append(row)
        if options.into is not None and len(answer["points"]) > len(known):
            write_whole(options.into, json.dumps(answer, indent=1) + "\n")
    if options.into is None:
        print(json.dumps(answer, indent=1))
    return 0
