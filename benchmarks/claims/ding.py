"""Our side of the claims of Ding et al. 2005. The evaluation is judged at every point of what the text leaves open."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from answers import Answer, Measured, claim, listed, said, verdict_if

Point = dict[str, Any]
MOST = 5 / 6
"""A part of a claim holds at a point if it holds for this share of the sizes of messages."""


class Found(NamedTuple):
    """A part of a claim at a point: sizes for which it holds, all sizes, and the figures in words."""

    holds: int
    of: int
    figures: str

    @property
    def enough(self) -> bool:
        return self.holds >= MOST * self.of


Part = Callable[[Point], Found]


def _of(point: Point, pattern: str, value: Callable[[dict[str, float]], float], test: Callable[[float], bool]) -> Found:
    found = {row["bytes"]: value(row) for row in point["figure_4"] if row["pattern"] == pattern}
    return Found(sum(map(test, found.values())), len(found), listed(found))


def described(point: Point) -> str:
    """A point in words."""
    kept = f"time-out {10 * point['time_out']} ns" if point["time_out"] else "released at once"
    return f"{point['window']} messages at a time, {kept}, {point['order']} order, requests {10 * point['cable']} ns"


def judged(measured: Measured, parts: dict[str, Part]) -> Answer:
    """Reproduced if all parts hold at some point; the figures are those of the point at which most hold."""
    points = measured["tdm_space"]["points"]

    def worth(point: Point) -> tuple[int, int]:
        found = [part(point) for part in parts.values()]
        return sum(one.enough for one in found), sum(one.holds for one in found)

    best = max(points, key=worth)
    whole = sum(worth(point)[0] == len(parts) for point in points)
    figures = "; ".join(f"{name}: {part(best).figures}" for name, part in parts.items())
    kept = ", ".join(f"{name} at {(found := part(best)).holds} of {found.of} sizes" for name, part in parts.items())
    return verdict_if(
        worth(best)[0] == len(parts),
        f"{figures} ({described(best)})",
        f"{kept} there; in all at {whole} of {len(points)} points of the space of assumptions (docs/tdm_evaluation.md)",
    )


def _judged_parts(parts: dict[str, Part], measured: Measured) -> Answer:
    return judged(measured, parts)


def _best_other(row: dict[str, float]) -> float:
    return max(row["wormhole"], row["circuit"])


@claim("C205")
def _(measured: Measured) -> Answer:
    points = measured["tdm_space"]["points"]
    jumps, spans = [], []
    for point in points:
        line = {row["bytes"]: row["preload"] for row in point["figure_4"] if row["pattern"] == "scatter"}
        jumps.append(line[64] / line[32])
        flat = [value for size, value in line.items() if size >= 64]
        spans.append(max(flat) / min(flat))
    return verdict_if(
        min(jumps) > 1.5 and max(spans) <= 1.25,
        f"64 over 32 bytes {min(jumps):.2f}, then within a factor of {max(spans):.2f}",
        f"preloaded, at all {len(points)} points of the space of assumptions",
    )


def _preload_best(pattern: str) -> Part:
    return lambda point: _of(
        point,
        pattern,
        lambda row: row["preload"] / max(_best_other(row), row["dynamic"]),
        lambda ratio: ratio >= 1,
    )


def _over_wormhole(pattern: str, test: Callable[[float], bool]) -> Part:
    return lambda point: _of(point, pattern, lambda row: row["dynamic"] / row["wormhole"], test)


PARTS: dict[str, dict[str, Part]] = {
    "C206": {
        "the worse of TDM over the better of the others, less 1": lambda point: _of(
            point,
            "random mesh",
            lambda row: min(row["dynamic"], row["preload"]) / _best_other(row) - 1,
            lambda gain: 0.1 <= gain <= 0.3,
        ),
        "dynamic over preload": lambda point: _of(
            point, "random mesh", lambda row: row["dynamic"] / row["preload"], lambda ratio: 0.9 <= ratio <= 1.1
        ),
    },
    "C207": {
        "preload over the best other": _preload_best("ordered mesh"),
        "dynamic over wormhole": _over_wormhole("ordered mesh", lambda ratio: ratio > 1),
    },
    "C208": {
        "preload over the best other": _preload_best("two phase"),
        "dynamic over wormhole": _over_wormhole("two phase", lambda ratio: ratio < 1),
    },
}
"""By claim: its parts, each a figure by size of message and what the claim says of it."""
for _number, _parts in PARTS.items():
    claim(_number)(partial(_judged_parts, _parts))


def space_table(measured: Measured) -> list[str]:
    """Each part of a claim over the space of assumptions: at how many points it holds, and where it holds best."""
    points = measured["tdm_space"]["points"]
    lines = [
        f"Figure 4 at {len(points)} points of what the text leaves open; a part holds there if it does at five of six sizes:",
        "",
        "| claim | part | holds at points | best point | there, by bytes |",
        "|---|---|---:|---|---|",
    ]
    for number, parts in PARTS.items():
        for name, part in parts.items():
            best = max(points, key=lambda point: part(point).holds)
            holding = sum(part(point).enough for point in points)
            lines.append(f"| {number} | {name} | {holding} | {described(best)} | {part(best).figures} |")
    return lines


def _gains(point: Point, destinations: int, k: int) -> dict[tuple[int, float], float]:
    """By bytes and determinism: k slots preloaded over k - 1, less 1."""
    return {
        (row["bytes"], row["determinism"]): row[f"{k} preloaded"] / row[f"{k - 1} preloaded"] - 1
        for row in point["figure_5"]
        if row["destinations"] == destinations
    }


def _spread(values: list[float]) -> str:
    return f"{min(values):+.0%} to {max(values):+.0%}"


@claim("C209")
def _(measured: Measured) -> Answer:
    points = measured["tdm_space"]["points"]
    of = {(count, size): [_gains(p, count, 1)[size, 0.5] for p in points] for count in (1, 2) for size in (64, 512)}
    ahead = sum(gain > 0 for gain in of[1, 512])
    mean = measured["tdm_switch"]["figure_5_one_destination"]
    base = next(row for row in mean if (row["bytes"], row["determinism"]) == (512, 0.5))
    return verdict_if(
        2 * ahead > len(points),
        f"512 bytes, one static destination: {base['1 preloaded'] / base['0 preloaded'] - 1:+.0%}; {_spread(of[1, 512])} over "
        f"the space of assumptions, above at {ahead} of {len(points)} points",
        f"not for 64 bytes ({_spread(of[1, 64])}), nor with two static destinations ({_spread(of[2, 512])} at 512 bytes): the "
        "text says neither",
    )


@claim("C210")
def _(measured: Measured) -> Answer:
    points = measured["tdm_space"]["points"]
    rows = measured["tdm_switch"]["figure_5_one_destination"]
    base = {
        (row["bytes"], row["determinism"]): row["2 preloaded"] / row["1 preloaded"] - 1
        for row in rows
        if 0.85 <= row["determinism"] < 1
    }
    large = [gain for p in points for (size, share), gain in _gains(p, 1, 2).items() if size == 512 and share >= 0.85]
    small = [gain for p in points for (size, share), gain in _gains(p, 1, 2).items() if size == 64 and share >= 0.85]
    two = [gain for p in points for (size, share), gain in _gains(p, 2, 2).items() if size == 512 and share >= 0.85]
    ours = ", ".join(f"{share:.0%}: {gain:+.0%}" for (size, share), gain in base.items() if size == 512)
    return verdict_if(
        min(large) > 0.1,
        f"512 bytes, one static destination in both slots, by determinism {ours}; {_spread(large)} over the space of assumptions",
        f"with 64 bytes {_spread(small)}; with two static destinations {_spread(two)} at 512 bytes",
    )


@claim("C191")
def _(measured: Measured) -> Answer:
    found = measured["worked_examples"]["examples"]["C191 C192"]
    ours = {int(k): value for k, value in found["one of k"].items()}
    return verdict_if(
        all(abs(value * k - 1) < 0.02 for k, value in ours.items()),
        "of k: " + listed(ours, "{:.3f}"),
        "of a connection while the other slots hold others; empty slots are passed over, and a processor that sends to four in "
        f"turn has {found['one message at a time, four preloaded']:.2f} of its link with one message at a time",
    )


@claim("C192")
def _(measured: Measured) -> Answer:
    ours = {int(s): value for s, value in measured["worked_examples"]["examples"]["C191 C192"]["s of four"].items()}
    return verdict_if(
        all(abs(value - s / 4) < 0.02 for s, value in ours.items()),
        "of four: " + listed(ours, "{:.3f}"),
        "the switch's cycle model, four slots preloaded",
    )


@claim("C193")
def _(measured: Measured) -> Answer:
    share = measured["worked_examples"]["examples"]["C193"]["share"]
    return verdict_if(
        abs(share - 0.95) < 0.005,
        f"{1 - share:.1%}",
        "the switch's cycle model with slots of 1 µs and a guard band of 50 ns; §5 has none beyond its 100 ns",
    )


@claim("Table 3")
def _(measured: Measured) -> Answer:
    theirs = measured["tdm_synth"]["published"]["ns"]
    ours = {
        row["name"].split("ports=")[1].split()[0]: row["ns"]
        for row in measured["tdm_synth"]["rows"]
        if row["name"].endswith("order=plain start=fixed")
    }
    return Answer(
        "not comparable",
        "; ".join(f"{ports}: {value:.0f} for {theirs[ports]} ns" for ports, value in ours.items()),
        "the same array on an ECP5, a younger FPGA (theirs: Stratix); it grows in proportion to the ports, as the text says, "
        "while their table grows a little less",
    )


said(
    "reproduced",
    {
        "C194": ("125 bytes", "arithmetic: 1 µs at 1 Gb/s"),
        "C195": ("80 ns", "a parameter of the evaluation, taken over; for what we measured see Table 3"),
        "C196": ("4", "a parameter of the evaluation, taken over"),
        "C197": ("10 ns", "a parameter of the evaluation, taken over"),
        "C198": ("6.4 Gb/s", "a parameter of the evaluation, taken over"),
        "C199": ("30 / 20 / 30 ns", "a parameter of the evaluation, taken over"),
        "C200": ("10 ns, 0", "a parameter of the evaluation, taken over"),
        "C201": ("128 / 8 bytes", "a parameter of the evaluation, taken over"),
        "C202": ("80 + 80 + 80 ns", "a parameter of the evaluation, taken over"),
        "C203": ("all-to-all on 128, then 16", "the set-up of the evaluation, taken over"),
        "C204": ("100 ns, 80 bytes", "a parameter of the evaluation, taken over"),
        "Table 1": ("all rows", "proved of the RTL (`make formal`)"),
        "Table 2": ("all rows", "proved of the RTL; the row *establish* is misprinted: it toggles 0 → 1"),
    },
)
