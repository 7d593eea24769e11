"""The switch against wormhole and circuit switching, 128 processors, as in Ding et al. 2005, §5: Figures 4 and 5, and each claim.

    python benchmarks/tdm_switch.py [--quick] [--pictures docs/pictures] [--results benchmarks/results/tdm_switch.json]

What the paper leaves open is fixed here and said in ``docs/tdm_evaluation.md``: efficiency is the time that the busiest link
needs over the time taken; processors have ``WINDOW`` messages at a time in their logical queues; wormhole and circuit switching
take messages in order. The switch is ``cosim.tdm.fast``, which its tests compare with the RTL.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable
from importlib import metadata
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from kept import kept

from cosim.tdm.baselines import Times, circuit, wormhole
from cosim.tdm.fast import Delays, Pace, Preload, fresh, run, until_of
from cosim.tdm.traffic import (
    SwitchTraffic,
    hybrid,
    mesh_neighbours,
    ordered_mesh,
    random_mesh,
    scatter,
    two_phase,
)
from tdm_switch.codes import Predictor
from tdm_switch.shape import SwitchShape

PORTS = 128
SIZES = (8, 16, 32, 64, 128, 256, 512, 1024, 2048)
"""Bytes of a message."""
MESSAGES = 64
"""Messages of a processor to its neighbours, and in Figure 5; 16 in the second phase of two-phase, as the paper says."""
WINDOW = 16
"""Messages that a processor has in its logical queues."""
DEGREE, HYBRID_DEGREE = 4, 3
DETERMINISM = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)
HYBRID_BYTES = (64, 512)
CYCLE = 10
"""Nanoseconds; a word of eight bytes at 6.4 Gb/s."""
CABLE = 8
"""Cycles from an interface to the scheduler, and back: 30 + 20 + 30 ns."""
DELAYS = Delays(request=CABLE, grant=CABLE, word=11)
"""A word: 30 + 20 + 20 + 30 ns, and 10 ns in the receiver's interface."""
LOAD = 2 * CABLE
"""Cycles until a register has the next configuration: a request's way, and a decision's time."""
CLAIMS = json.loads((Path(__file__).parent / "tdm_claims.json").read_text())
FOREVER = 1 << 30

Row = dict[str, Any]
Configuration = tuple[int, ...]


def shape_of(degree: int, sl_cycles: int = 8, order: str = "plain") -> SwitchShape:
    """100 ns a slot, 80 ns a decision; the array starts anywhere by turns, as in the paper, and reserves nothing."""
    return SwitchShape(
        ports=PORTS,
        slots=degree,
        width=64,
        queue_depth=1024,
        slot_cycles=10,
        guard_cycles=0,
        sl_cycles=sl_cycles,
        order=order,
        reserve=False,
        age_bits=16,
    )


def tdm(
    traffic: SwitchTraffic,
    degree: int,
    *,
    preload: Preload | None = None,
    time_out: int = 0,
    sl_cycles: int = 8,
    order: str = "plain",
    window: int = WINDOW,
    delays: Delays = DELAYS,
) -> float:
    """Efficiency of the switch."""
    shape = shape_of(degree, sl_cycles, order)
    state = fresh(shape)
    if time_out:
        state.predictor, state.threshold = Predictor.TIMEOUT, time_out
    # A message goes into its queue at once, as by a DMA engine.
    result = run(shape, traffic, state=state, preload=preload, delays=delays, pace=Pace(256, window), limit=20_000_000)
    if result.cycles < 0:
        raise SystemExit("a run did not end")
    return traffic.least_cycles / (result.cycles + 1)


def efficiency(traffic: SwitchTraffic, nanoseconds: int) -> float:
    return traffic.least_cycles * CYCLE / nanoseconds


def preload_of(configurations: list[Configuration], words: int, registers: int) -> Preload:
    """Configurations in a row, each for one message of every connection; without words, for good."""
    amounts = [[words or FOREVER] * PORTS] * len(configurations)
    chosen = tuple(configurations)
    return Preload(chosen, registers, until_of(chosen, amounts), LOAD)


MESH: list[Configuration] = [tuple(row[way] for row in mesh_neighbours(PORTS)) for way in range(4)]
TURNS: list[Configuration] = [tuple((u + step) % PORTS for u in range(PORTS)) for step in range(1, PORTS)]
SCATTER: list[Configuration] = [tuple(v if u == 0 else -1 for u in range(PORTS)) for v in range(1, PORTS)]

PATTERNS: dict[str, tuple[Callable[[int], SwitchTraffic], Callable[[int], Preload]]] = {
    "scatter": (lambda words: scatter(PORTS, words), lambda words: preload_of(SCATTER, words, DEGREE)),
    "random mesh": (
        lambda words: random_mesh(PORTS, words, MESSAGES, seed=1),
        lambda words: preload_of(MESH, 0, DEGREE),
    ),
    "ordered mesh": (
        lambda words: ordered_mesh(PORTS, words, MESSAGES // 4),
        lambda words: preload_of(MESH, 0, DEGREE),
    ),
    "two phase": (
        lambda words: two_phase(PORTS, words, 16, seed=1),
        lambda words: preload_of(TURNS + MESH, words, DEGREE),
    ),
}
LINES = ("wormhole", "circuit", "dynamic", "preload")


def statics(destinations: int) -> list[Configuration]:
    """Of Figure 5, what up to two registers are preloaded with: two static destinations one each, or one destination in both."""
    return [TURNS[0], TURNS[-1]] if destinations == 2 else [TURNS[0], TURNS[0]]


def figure_4(quick: bool) -> list[Row]:
    """Efficiency against message size."""
    rows = []
    for pattern, (make, configurations) in PATTERNS.items():
        for size in SIZES[::3] if quick else SIZES:
            words = -(-size // 8)
            traffic = make(words)
            row: Row = {
                "pattern": pattern,
                "bytes": size,
                "wormhole": efficiency(traffic, wormhole(traffic, Times())),
                "circuit": efficiency(traffic, circuit(traffic, Times())),
                "dynamic": tdm(traffic, DEGREE),
                "preload": tdm(traffic, DEGREE, preload=configurations(words)),
                # Beyond the paper: a time-out of a round, and a decision in every cycle (the pipelined array).
                "dynamic, time-out 400 ns": tdm(traffic, DEGREE, time_out=40),
                "dynamic, decision 10 ns": tdm(traffic, DEGREE, sl_cycles=1),
            }
            rows.append({name: round(v, 4) if isinstance(v, float) else v for name, v in row.items()})
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    return rows


def figure_5(quick: bool, destinations: int = 2) -> list[Row]:
    """Efficiency against determinism with none, one and two of three slots preloaded; mean of several draws. Each processor has
    so many static destinations, 1 or 2; the only one is in both of two slots."""
    static = statics(destinations)
    rows = []
    for size in HYBRID_BYTES:
        for determinism in DETERMINISM[::5] if quick else DETERMINISM:
            row: Row = {"bytes": size, "determinism": determinism}
            draws = [
                hybrid(PORTS, size // 8, MESSAGES, determinism, static[:destinations], seed)
                for seed in range(1 if quick else 5)
            ]
            for k in range(HYBRID_DEGREE):
                preload = preload_of(static[:k], 0, k) if k else None
                row[f"{k} preloaded"] = round(
                    float(np.mean([tdm(traffic, HYBRID_DEGREE, preload=preload) for traffic in draws])), 4
                )
            rows.append(row)
            print(json.dumps(row), file=sys.stderr, flush=True)
    return rows


def sensitivity() -> list[Row]:
    """What the choices of ours do, at 64 bytes and degree 4: dynamic efficiency."""
    rows = []
    for pattern, (make, _) in PATTERNS.items():
        traffic = make(8)
        row: Row = {"pattern": pattern, "as chosen": tdm(traffic, DEGREE)}
        row |= {f"{window} messages at a time": tdm(traffic, DEGREE, window=window) for window in (1, 4, 64)}
        row["requests without delay"] = tdm(traffic, DEGREE, delays=Delays(0, CABLE, 11))
        row["no cables at all"] = tdm(traffic, DEGREE, delays=Delays(0, 0, 1))
        row["wrapped diagonals"] = tdm(traffic, DEGREE, order="wrapped")
        rows.append({name: round(v, 3) if isinstance(v, float) else v for name, v in row.items()})
    return rows


class Judge:
    """The claims of the text, each as a test on our figures: (whether it holds, what was found)."""

    def __init__(self, four: list[Row], five: list[Row]) -> None:
        self.four = {(row["pattern"], row["bytes"]): row for row in four}
        self.five = {(row["bytes"], row["determinism"]): row for row in five}
        self.sizes = sorted({row["bytes"] for row in four})

    def verdict(self, name: str) -> tuple[bool, str]:
        found: tuple[bool, str] = getattr(self, name)()
        return found

    def scatter_jump(self) -> tuple[bool, str]:
        a, b = (self.four["scatter", size]["preload"] for size in (32, 64))
        return b > 1.5 * a, f"preload {a:.2f} at 32 bytes, {b:.2f} at 64"

    def scatter_flat(self) -> tuple[bool, str]:
        values = [self.four["scatter", size]["preload"] for size in self.sizes if size >= 64]
        return max(values) <= 1.25 * min(values), f"preload {min(values):.2f} to {max(values):.2f} from 64 bytes on"

    def scatter_similar(self) -> tuple[bool, str]:
        ratios = {size: self._ratio("scatter", size, "dynamic", "preload") for size in self.sizes}
        return all(ratio > 0.9 for ratio in ratios.values()), "dynamic over preload " + _list(ratios)

    def random_mesh_gain(self) -> tuple[bool, str]:
        gains = {}
        for size in self.sizes:
            row = self.four["random mesh", size]
            gains[size] = min(row["dynamic"], row["preload"]) - max(row["wormhole"], row["circuit"])
        return all(
            0.05 <= gain <= 0.30 for gain in gains.values()
        ), "the worse of TDM less the better of others " + _list(gains)

    def random_mesh_close(self) -> tuple[bool, str]:
        gaps = {
            size: self.four["random mesh", size]["preload"] - self.four["random mesh", size]["dynamic"]
            for size in self.sizes
        }
        return all(abs(gap) <= 0.1 for gap in gaps.values()), "preload less dynamic " + _list(gaps)

    def circuit_grows(self) -> tuple[bool, str]:
        values = {size: self.four["random mesh", size]["circuit"] for size in self.sizes}
        ordered = list(values.values())
        return all(a < b for a, b in pairwise(ordered)), "circuit " + _list(values)

    def ordered_best(self) -> tuple[bool, str]:
        wins = [
            size
            for size in self.sizes
            if all(
                self.four["ordered mesh", size]["preload"] >= self.four["ordered mesh", size][line] for line in LINES
            )
        ]
        return wins == self.sizes, f"preload is best at {len(wins)} of {len(self.sizes)} sizes"

    def ordered_dynamic(self) -> tuple[bool, str]:
        better = [
            size
            for size in self.sizes
            if self.four["ordered mesh", size]["dynamic"] > self.four["ordered mesh", size]["wormhole"]
        ]
        return better == self.sizes, f"dynamic is above wormhole at {better} bytes"

    def two_phase_best(self) -> tuple[bool, str]:
        wins = [
            size
            for size in self.sizes
            if all(self.four["two phase", size]["preload"] >= self.four["two phase", size][line] for line in LINES)
        ]
        return wins == self.sizes, f"preload is best at {wins} bytes"

    def two_phase_dynamic(self) -> tuple[bool, str]:
        below = [
            size
            for size in self.sizes
            if self.four["two phase", size]["dynamic"] < self.four["two phase", size]["wormhole"]
        ]
        return below == self.sizes, f"dynamic is below wormhole at {below} bytes"

    def hybrid_one(self) -> tuple[bool, str]:
        found = {size: self.five[size, 0.5] for size in HYBRID_BYTES}
        text = "; ".join(
            f"{size} bytes: {row['1 preloaded']:.2f} against {row['0 preloaded']:.2f}" for size, row in found.items()
        )
        return all(row["1 preloaded"] > row["0 preloaded"] for row in found.values()), text

    def hybrid_two(self) -> tuple[bool, str]:
        gains = {}
        for (size, determinism), row in self.five.items():
            if determinism >= 0.85:
                gains[f"{size} bytes {determinism:.0%}"] = row["2 preloaded"] / row["1 preloaded"] - 1
        return all(gain >= 0.1 for gain in gains.values()), "gain " + _list(gains)

    def _ratio(self, pattern: str, size: int, one: str, other: str) -> float:
        return float(self.four[pattern, size][one] / self.four[pattern, size][other])


def _list(values: dict[Any, float]) -> str:
    return ", ".join(f"{name}: {value:.2f}" for name, value in values.items())


def draw(four: list[Row], one: list[Row], five: list[Row], folder: Path) -> None:
    """Both figures as SVG, always the same bytes. ``one``: Figure 5 with one static destination, ``five`` with two."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams["svg.hashsalt"] = "pointsman"
    # The paper's predictor (§3.2), and a decision in every cycle, which is ours.
    styles = {
        "wormhole": "s--",
        "circuit": "^:",
        "dynamic": "o-",
        "preload": "D-",
        "dynamic, time-out 400 ns": "o:",
        "dynamic, decision 10 ns": "x-.",
    }
    figure, axes = pyplot.subplots(2, 2, figsize=(9, 6.5), sharex=True, sharey=True)
    for axis, pattern in zip(axes.flat, PATTERNS, strict=True):
        rows = [row for row in four if row["pattern"] == pattern]
        for line, style in styles.items():
            axis.plot(
                [row["bytes"] for row in rows], [100 * row[line] for row in rows], style, label=line, markersize=4
            )
        axis.set_xscale("log", base=2)
        axis.set_xticks(SIZES, [str(size) for size in SIZES])
        axis.set_ylim(0, 100)
        axis.set_title(pattern)
        axis.grid(alpha=0.3)
    for axis in axes[1]:
        axis.set_xlabel("message, bytes")
    for axis in axes[:, 0]:
        axis.set_ylabel("efficiency, %")
    axes[0, 0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(folder / "tdm_figure_4.svg", metadata={"Date": None})
    pyplot.close(figure)
    figure, panes = pyplot.subplots(2, len(HYBRID_BYTES), figsize=(9, 6.5), sharex=True, sharey=True)
    for line, (rows, what) in enumerate(((one, "one static destination"), (five, "two static destinations"))):
        for axis, size in zip(panes[line], HYBRID_BYTES, strict=True):
            mine = [row for row in rows if row["bytes"] == size]
            for k, style in enumerate(("o-", "s--", "D-.")):
                axis.plot(
                    [100 * row["determinism"] for row in mine],
                    [100 * row[f"{k} preloaded"] for row in mine],
                    style,
                    label=f"{k} preloaded, {HYBRID_DEGREE - k} dynamic",
                    markersize=4,
                )
            axis.set_title(f"{size} bytes, {what}", fontsize=10)
            axis.set_ylim(0, 100)
            axis.grid(alpha=0.3)
        panes[line, 0].set_ylabel("efficiency, %")
    for axis in panes[1]:
        axis.set_xlabel("determinism, %")
    panes[0, 0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(folder / "tdm_figure_5.svg", metadata={"Date": None})
    pyplot.close(figure)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer sizes and draws; no claims, no pictures")
    parser.add_argument("--pictures", type=Path, help="folder for tdm_figure_4.svg and tdm_figure_5.svg")
    drawn = kept("tdm_switch", "figure_4", "figure_5_one_destination", "figure_5")
    parser.add_argument("--results", type=drawn, help="redraw the pictures from the results in this file; run nothing")
    options = parser.parse_args()
    if options.results is not None:
        if options.pictures is None:
            parser.error("--results needs --pictures")
        found = options.results
        draw(found["figure_4"], found["figure_5_one_destination"], found["figure_5"], options.pictures)
        return 0
    began = time.process_time()
    four, five = figure_4(options.quick), figure_5(options.quick)
    answer: Row = {
        "benchmark": "tdm_switch",
        "python": platform.python_version(),
        "numba": metadata.version("numba"),
        "machine": platform.machine(),
        "quick": options.quick,
        "figure_4": four,
        "figure_5": five,
    }
    if not options.quick:
        judge = Judge(four, five)
        answer["claims"] = []
        for claim in CLAIMS["claims"]:
            holds, found = judge.verdict(claim["test"])
            answer["claims"].append(
                {"claim": claim["text"], "where": claim["where"], "reproduced": holds, "found": found}
            )
        answer["figure_5_one_destination"] = figure_5(False, 1)
        answer["sensitivity"] = sensitivity()
        if options.pictures:
            draw(four, answer["figure_5_one_destination"], five, options.pictures)
    answer["seconds"] = round(time.process_time() - began, 1)
    print(json.dumps(answer, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
