"""What was measured here beside each claim of the documents: a verdict, our figure, and why.

A verdict is computed from the results of the benchmarks wherever the claim is about something that they measure; the others
are said in words. ``VERDICTS`` says what the words mean.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
VERDICTS = {
    "reproduced": "we found the same, within what the text leaves open",
    "better": "we found more than was claimed",
    "contradicted": "we found otherwise, or the claim does not follow from its own figures",
    "not comparable": "it is about another machine or technology, or was not measured here",
}
Measured = dict[str, Any]
"""Results of the benchmarks by their names."""


class Answer(NamedTuple):
    """Our side of a claim: one of `VERDICTS`, our figure, and why."""

    verdict: str
    ours: str
    why: str


ANSWERS: dict[str, Callable[[Measured], Answer]] = {}


def claim(name: str) -> Callable[[Callable[[Measured], Answer]], Callable[[Measured], Answer]]:
    """Enter a function under the id of a claim, or the name of a table."""

    def enter(function: Callable[[Measured], Answer]) -> Callable[[Measured], Answer]:
        assert name not in ANSWERS, name
        ANSWERS[name] = function
        return function

    return enter


def _always(answer: Answer, measured: Measured) -> Answer:
    return answer


def _said(verdict: str, entries: dict[str, tuple[str, str]]) -> None:
    """Enter answers that need no figures of a benchmark."""
    for name, (ours, why) in entries.items():
        claim(name)(partial(_always, Answer(verdict, ours, why)))


def _if(holds: bool, ours: str, why: str, *, otherwise: str = "contradicted", holding: str = "reproduced") -> Answer:
    return Answer(holding if holds else otherwise, ours, why)


def reference(name: str) -> dict[str, dict[str, float]]:
    """A table of Metcalf 1997 that an example has beside it: by mesh and column."""
    lines = (ROOT / "examples" / name / "metcalf1997.csv").read_text().splitlines()
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return {row["mesh"]: {key: float(value) for key, value in row.items() if key != "mesh"} for row in rows}


def io(row: dict[str, float]) -> float:
    """Cycles of input and output: write, read and psync."""
    return row["write"] + row["read"] + row["psync"]


def _runs(measured: Measured, name: str) -> dict[str, Any]:
    return {run["mesh"]: run for run in measured[name]["runs"]}


def _quickest(measured: Measured, pattern: str, *, pipelines: int | None = None) -> dict[str, dict[str, float]]:
    """By mesh, the fewest cycles of each router; of the scheduled one with so many pipelines only, if that is given."""
    found: dict[str, dict[str, float]] = {}
    for case in measured["scheduled_vs_packet"]["cases"]:
        if case["pattern"] == pattern:
            best = found.setdefault(case["size"], {})
            for row in case["rows"]:
                if row["router"] != "scheduled" or pipelines in (None, row["pipelines"]):
                    best[row["router"]] = min(best.get(row["router"], 1e12), row["cycles"])
    return found


def _operator(measured: Measured, m: int, *names: str) -> dict[int, float]:
    """By number of nodes, the fewest cycles of implementations of an operator with messages of ``m`` words, on squares."""
    found: dict[int, float] = {}
    for row in measured["operators_vs_packet"]["rows"]:
        if row["implementation"] in names and row["m"] == m:
            found[row["nodes"]] = min(found.get(row["nodes"], 1e12), row["cycles"])
    return found


def _latency(measured: Measured, name: str) -> dict[int, float]:
    return {row["nodes"]: row["latency"] for row in measured["broadcasts"]["rows"] if row["implementation"] == name}


def _words(measured: Measured, name: str) -> float:
    """Cycles a word on the largest mesh."""
    rows = [row for row in measured["broadcasts"]["rows"] if row["implementation"] == name]
    return float(max(rows, key=lambda row: row["nodes"])["cycles_per_word"])


def _listed(values: dict[Any, float], form: str = "{:.2f}") -> str:
    return ", ".join(f"{key}: {form.format(value)}" for key, value in values.items())


# Metcalf 1997, chapter 1.


@claim("C003")
def _(measured: Measured) -> Answer:
    clocks = measured["operators_vs_packet"]["clocks"]
    scheduled, packets, free = (
        clocks[name] for name in ("scheduled, 2 pipelines", "packets, e-cube", "open packet router")
    )
    return _if(
        abs(packets / scheduled - 0.5) < 0.1,
        f"{1000 / scheduled:.1f} ns, {packets / scheduled:.0%} of our e-cube router's",
        f"placed and routed on an ECP5; of an open packet router's cycle ({free:.0f} MHz) it is {free / scheduled:.0%}",
    )


@claim("C044")
def _(measured: Measured) -> Answer:
    clocks = measured["operators_vs_packet"]["clocks"]
    ratio = clocks["scheduled, 2 pipelines"] / clocks["packets, e-cube"]
    free = clocks["scheduled, 2 pipelines"] / clocks["open packet router"]
    return _if(
        abs(ratio - 2) < 0.2,
        f"{ratio:.2f}",
        f"for our own e-cube router; {free:.2f} for the open packet router of 141 MHz, with which wall clocks are compared here",
    )


@claim("C004")
def _(measured: Measured) -> Answer:
    words = measured["scheduled_vs_packet"]["words"]
    return _if(words == 512, str(words), "the same set-up")


@claim("C005")
def _(measured: Measured) -> Answer:
    best = _quickest(measured, "bit reversal")
    squares = {size: best[size] for size in ("4x4", "8x8", "16x16")}
    gaps = {size: row["adaptive"] / row["scheduled"] for size, row in squares.items()}
    ordered = all(row["scheduled"] < row["adaptive"] < row["e-cube"] for row in best.values())
    two = _quickest(measured, "bit reversal", pipelines=2)
    ahead = [size for size, row in two.items() if row["scheduled"] < row["adaptive"]]
    return _if(
        ordered and sorted(gaps.values()) == list(gaps.values()),
        f"adaptive over scheduled {_listed(gaps)}",
        "cycles of the timetable with three pipelines, of packets with their best length; with two the scheduled router "
        + (
            f"is ahead on {', '.join(ahead)} only"
            if ahead
            else "is never ahead of the adaptive one, which is a better one here"
        ),
    )


@claim("C048")
def _(measured: Measured) -> Answer:
    clocks = measured["scheduled_vs_packet"]["clocks"]
    packets = max(clocks["packets, e-cube"], clocks["open packet router"])
    best = _quickest(measured, "bit reversal", pipelines=2)
    ratios = {
        size: row["adaptive"] / packets / (row["scheduled"] / clocks["scheduled, 2 pipelines"])
        for size, row in best.items()
    }
    holds = [size for size, row in best.items() if ratios[size] > 1 and row["adaptive"] < row["e-cube"]]
    return _if(
        {"8x8", "16x16"} <= set(holds),
        f"adaptive over scheduled {_listed(ratios)}",
        f"times with two pipelines and clocks of an ECP5; the order holds on {', '.join(holds)} of {len(best)} networks",
    )


@claim("C007")
def _(measured: Measured) -> Answer:
    from pointsman.network.lattice import diamond

    return _if(diamond(7).nodes == 455, str(diamond(7).nodes), "`--topology diamond:7`")


@claim("C009")
def _(measured: Measured) -> Answer:
    rows = measured["routing"]["sections"]["permutations"]["rows"]
    row = next(one for one in rows if one["case"] == "random 1 455")
    rate, bound = (row[name] / 64 / 4 for name in ("ours", "bound"))  # words in 64 slots, messages of four
    return Answer(
        "not comparable",
        f"{rate:.3f} from every node in a random permutation; no schedule reaches more than {bound:.3f}",
        "equal rates of all streams on nodes of two pipelines; the throughput curve of random traffic is not measured here yet",
    )


@claim("C015")
def _(measured: Measured) -> Answer:
    # One phase: two operators of L words at 0.5 words a cycle; two phases: at 2/3, and 20 cycles for the change.
    breaks = 20 / (2 / 0.5 - 2 / (2 / 3))
    return Answer("contradicted", f"{breaks:.0f} words", "arithmetic of the example itself: 2·L/0.5 = 2·L/0.667 + 20")


@claim("C019")
def _(measured: Measured) -> Answer:
    names = sorted(
        {
            row["implementation"]
            for row in measured["operators_vs_packet"]["rows"]
            if row["implementation"].startswith("dyn_bcast")
        }
    )
    return _if(len(names) == 3, ", ".join(names), "all three are measured on packet routers", holding="reproduced")


@claim("C022")
def _(measured: Measured) -> Answer:
    cost = _words(measured, "str_bcast_linear") / _words(measured, "str_bcast")
    return _if(abs(cost - 2) < 0.2, f"{cost:.2f}", "cycles a word of long messages, 8×8")


@claim("C033")
def _(measured: Measured) -> Answer:
    found = measured["prediction"]
    return Answer(
        "better",
        f"{found['median_error_of_programs']:.1%} median error",
        f"the formula is the estimate; the planner then plays the program on its routes: {found['programs']} programs",
    )


@claim("C049")
def _(measured: Measured) -> Answer:
    packet, scheduled = (
        _operator(measured, 1, "dyn_prefix"),
        _operator(measured, 1, "sch_prefix", "str_prefix", "str_prefix_linear"),
    )
    nodes = max(set(packet) & set(scheduled))
    ratio = packet[nodes] / scheduled[nodes]
    return Answer(
        "better" if ratio > 1.25 else "reproduced" if ratio > 1.1 else "contradicted",
        f"{ratio - 1:.0%} slower at {nodes} nodes",
        "the largest mesh measured on both; one word" + ("" if nodes >= 256 else "; 256 nodes were not run"),
    )


@claim("C050")
def _(measured: Measured) -> Answer:
    ratios = {}
    for m in (1, 4, 16, 64):
        packet = _operator(measured, m, "dyn_prefix").get(64)
        scheduled = _operator(measured, m, "sch_prefix", "str_prefix", "str_prefix_linear").get(64)
        if packet and scheduled:
            ratios[m] = packet / scheduled
    values = list(ratios.values())
    return _if(
        len(values) > 1 and values[-1] < values[0],
        "dynamic over scheduled, by words " + _listed(ratios),
        "8×8, cycles",
    )


@claim("C051")
def _(measured: Measured) -> Answer:
    tree, dense = _operator(measured, 1, "dyn_bcast_tree"), _operator(measured, 1, "dyn_bcast_dense")
    ratios = {nodes: tree[nodes] / dense[nodes] for nodes in sorted(set(tree) & set(dense))}
    near = [ratio for ratio in ratios.values() if 1.05 <= ratio <= 1.4]
    return _if(
        len(near) * 2 >= len(ratios),
        "by nodes " + _listed(ratios),
        "cycles, one word; what a processor does between receiving and sending on decides it",
    )


@claim("C052")
def _(measured: Measured) -> Answer:
    linear, dense = _latency(measured, "str_bcast_linear"), _latency(measured, "str_bcast_dense")
    ahead = [nodes for nodes in linear if linear[nodes] < dense[nodes]]
    return _if(
        all(nodes in ahead for nodes in linear if nodes <= 60),
        f"quicker than dense up to {max(ahead)} nodes, the largest mesh measured",
        "it stays the best beyond 60 nodes, too",
        holding="better",
    )


@claim("C053")
def _(measured: Measured) -> Answer:
    crossing = measured["broadcasts"]["crossing_nodes"]
    return _if(
        abs(crossing - 100) < 30,
        f"about {crossing} nodes, extrapolated",
        "a hop of the snake costs a cycle here, one of the flood fill a processor's read and write",
    )


@claim("C054")
def _(measured: Measured) -> Answer:
    dense = _latency(measured, "str_bcast_dense")
    a_side = {nodes: cycles / nodes**0.5 for nodes, cycles in dense.items()}
    spread = max(a_side.values()) / min(a_side.values())
    return _if(spread < 2, "cycles by √N, at N " + _listed(a_side, "{:.1f}"), "two dimensions; three were not measured")


@claim("C055")
def _(measured: Measured) -> Answer:
    scheduled, packet = (
        _operator(measured, 1, "str_bcast_linear", "str_bcast_dense"),
        _operator(measured, 1, "dyn_bcast", "dyn_bcast_tree", "dyn_bcast_dense"),
    )
    ratios = {nodes: packet[nodes] / scheduled[nodes] for nodes in sorted(set(scheduled) & set(packet))}
    fewer = [nodes for nodes, ratio in ratios.items() if ratio > 1]
    most = max(fewer, default=0)
    return Answer(
        "better" if most > 64 else "reproduced" if most >= 36 else "contradicted",
        f"up to {most} nodes; dynamic over scheduled {_listed(ratios)}",
        "one word, cycles, source known at run time",
    )


@claim("C056")
def _(measured: Measured) -> Answer:
    nodes, cycles = max(_operator(measured, 1024, "dyn_bcast_dense").items())
    value = cycles / 1024
    return Answer(
        "better" if value < 3.5 else "reproduced" if value < 5 else "contradicted",
        f"{value:.1f} cycles a word at {nodes} nodes",
        "at 1 GHz a cycle is 1 ns; a node sends each word on to all its neighbours one after the other, through one port",
    )


@claim("C057")
def _(measured: Measured) -> Answer:
    value = _words(measured, "str_bcast")
    return _if(
        value < 2, f"{value:.2f} cycles a word", "a chain on a snake for each pipeline needs no forks", holding="better"
    )


@claim("C058")
def _(measured: Measured) -> Answer:
    value = _words(measured, "str_bcast_linear")
    return _if(value < 4, f"{value:.2f} cycles a word", "2 ns are four cycles of 2 GHz", holding="better")


@claim("C059")
def _(measured: Measured) -> Answer:
    ratios = [row["ratio"] for row in measured["online"]["rows"] if row["job"] == "broadcast, 1 word"]
    return _if(
        max(ratios) < 5,
        f"{min(ratios):.2f} to {max(ratios):.2f} times the cycles",
        "broadcast of one word, up to 6×6; the scheduled router's shorter cycle comes on top",
        holding="better",
    )


@claim("C062")
def _(measured: Measured) -> Answer:
    found = {mesh: max(_runs(measured, "matmul")[mesh]["bandwidth"].values()) for mesh in ("6x6", "10x10")}
    return _if(
        min(found.values()) >= 0.5,
        _listed(found, "{:.3f}") + " words a cycle, the better operator",
        "the claim is of another router of streams (nusked)",
        otherwise="contradicted",
    )


@claim("C063")
def _(measured: Measured) -> Answer:
    found = {mesh: run["categories"]["router"] for mesh, run in _runs(measured, "matmul").items()}
    inside = all(60 <= value <= 75 for value in found.values())
    return Answer(
        "reproduced" if inside else "better" if max(found.values()) < 65 else "contradicted",
        _listed(found, "{:.0f}"),
        "cycles of a node, mean",
    )


@claim("C064")
def _(measured: Measured) -> Answer:
    found = {mesh: run["categories"]["psync"] for mesh, run in _runs(measured, "matmul").items()}
    return _if(
        all(found[mesh] < 100 for mesh in ("2x2", "3x3", "4x4")), _listed(found, "{:.0f}"), "cycles of a node, mean"
    )


@claim("C065")
def _(measured: Measured) -> Answer:
    run = _runs(measured, "matmul")["10x10"]
    value = run["categories"]["psync"]
    return _if(
        value < 1300,
        f"{value:.0f} ({value / run['total_cycles']:.1%})",
        "10×10",
        holding="better",
        otherwise="reproduced",
    )


@claim("C067")
def _(measured: Measured) -> Answer:
    found = {
        mesh: next((one["technique"] for one in run["phases"] if one["name"].startswith("b5")), "with another operator")
        for mesh, run in _runs(measured, "gauss").items()
    }
    return _if(
        found["3x3"] != "barrier" and found["5x5"] == "barrier",
        ", ".join(f"{mesh}: {technique}" for mesh, technique in found.items()),
        "how the phase of b5 ends; other implementations are chosen here",
    )


@claim("C068")
def _(measured: Measured) -> Answer:
    found = {mesh: run["categories"]["psync"] / run["total_cycles"] for mesh, run in _runs(measured, "gauss").items()}
    return _if(
        max(found.values()) < 0.01,
        _listed(found, "{:.1%}"),
        "what a node waits for others is counted where it waits, at the phase's end; I/O in all is less (Table 8.4)",
    )


@claim("C069")
def _(measured: Measured) -> Answer:
    found = {mesh: run["categories"]["reprog"] for mesh, run in _runs(measured, "gauss").items()}
    return _if(
        max(found.values()) == 0,
        _listed(found, "{:.0f}"),
        "run-time broadcasts on a snake reprogram their source and are quicker in all; where dense ones are chosen it is 0",
    )


@claim("Table 5.1")
def _(measured: Measured) -> Answer:
    found = sorted({one["technique"] for run in measured["gauss"]["runs"] for one in run["phases"]})
    return _if(
        set(found) <= {"none", "msg-sync", "hijack", "barrier", "no-op"},
        ", ".join(found) + " in Gaussian elimination",
        "*hijack* is not built, as in the thesis",
    )


@claim("Table 5.2")
def _(measured: Measured) -> Answer:
    found = measured["wire_rules"]["summary"]
    return Answer(
        "reproduced",
        f"{found['programs']} programs; without the rules {found['geometric mean']:.3f} of the cycles",
        f"the judge proves every reuse; the rules cost at most {1 / found['least'] - 1:.1%}, and more than 1 % for "
        f"{found['gain of over 1 %']} programs",
    )


@claim("Table 8.1")
def _(measured: Measured) -> Answer:
    names = list(measured["matmul"]["runs"][0]["categories"])
    return _if(
        set(names) >= {"cpu", "write", "read", "psync", "router", "reprog"}, ", ".join(names), "*online* is ours"
    )


@claim("Table 8.2")
def _(measured: Measured) -> Answer:
    theirs, runs = reference("matmul"), _runs(measured, "matmul")
    pairs = {
        mesh: [runs[mesh]["bandwidth"][label] / row[name] for label, name in (("b", "broadcast"), ("c", "shift"))]
        for mesh, row in theirs.items()
    }
    least = min(value for both in pairs.values() for value in both)
    return Answer(
        "better" if least >= 1 else "reproduced" if least > 0.9 else "contradicted",
        "; ".join(f"{mesh}: {b:.2f}, {c:.2f}" for mesh, (b, c) in pairs.items()),
        "ours over theirs: broadcast, shift",
    )


@claim("Table 8.3")
def _(measured: Measured) -> Answer:
    runs = _runs(measured, "matmul")
    found = {mesh: io(runs[mesh]["categories"]) / io(row) for mesh, row in reference("matmul").items()}
    return _if(max(found.values()) < 1, _listed(found), "I/O cycles, ours over theirs", holding="better")


@claim("Table 8.4")
def _(measured: Measured) -> Answer:
    runs = _runs(measured, "gauss")
    found = {mesh: io(runs[mesh]["categories"]) / io(row) for mesh, row in reference("gauss").items()}
    return _if(max(found.values()) < 1, _listed(found), "I/O cycles, ours over theirs", holding="better")


@claim("C037")
def _(measured: Measured) -> Answer:
    from numesh.shape import NodeShape

    return _if(NodeShape().schedule_depth == 128, str(NodeShape().schedule_depth), "`--schedule-depth` when not given")


@claim("C038")
def _(measured: Measured) -> Answer:
    from numesh.shape import NodeShape

    return _if(NodeShape().vfsms == 32, str(NodeShape().vfsms), "`--vfsms` when not given")


@claim("C039")
def _(measured: Measured) -> Answer:
    from numesh.shape import NodeShape

    return _if(NodeShape().registers == 16, str(NodeShape().registers), "`--registers` when not given")


@claim("C032")
def _(measured: Measured) -> Answer:
    from numesh.shape import NodeShape

    return _if(
        NodeShape().pipelines == 2, f"{NodeShape().pipelines} × schedule length", "a word for each pipeline and slot"
    )


_said(
    "reproduced",
    {
        "C011": ("one cycle a hop", "RTL and cycle model; `make sim` and the judge"),
        "C012": ("t, t + k, t + 2k", "a schedule of length k repeats; proved of the RTL (`make formal`)"),
        "C013": ("200 cycles", "arithmetic of the example: 2 · 50 / 0.5"),
        "C014": ("170 cycles", "arithmetic of the example: 2 · 50 / 0.667 + 20"),
        "C023": ("65,536", "arithmetic: 256 · 256; images have tables for run-time values instead"),
        "C024": ("12", "arithmetic: two for each of six neighbours"),
        "C040": ("4, 6 for three dimensions", "as many as the network takes"),
        "C045": ("512 words of 4 bytes", "the same set-up"),
        "C046": ("8 words; five virtual channels", "the same set-up"),
        "C060": ("60×60", "the same set-up; `examples/matmul`"),
        "C066": ("210×210", "the same set-up; `examples/gauss`"),
        "Table 4.1": (
            "`Implementation`",
            "the same parts: metric, replacement, streams, router, I/O and load functions",
        ),
        "Table 7.1": ("`numesh.codes`", "sources and destinations of VFSMs; MEMADR and special buffers are left out"),
        "Table A.1": ("all variables", "see the language's reference"),
        "Table A.2": ("all functions", "see the language's reference"),
    },
)
_said("contradicted", {"C006": ("25 %", "arithmetic of the example itself: a header for four words")})
_ELSEWHERE = "another technology"
_UNMEASURED = "not measured here yet"
_said(
    "not comparable",
    {
        "C001": ("11.5 ns", f"our e-cube router on an ECP5: {_ELSEWHERE}; see C003 for the ratio"),
        "C002": ("–", "our adaptive router was not placed and routed"),
        "C008": ("–", f"the throughput curve of the lattice is {_UNMEASURED}"),
        "C010": (
            "–",
            f"the example as a whole is {_UNMEASURED}; weights of streams are tested in `tests/sw/pointsman/routing`",
        ),
        "C016": ("1 word a cycle", "of a prototype's processor; ours is that of §8.1"),
        "C017": ("–", "about iWarp"),
        "C018": ("–", "about GF11"),
        "C020": ("–", f"permutations drawn at run time are {_UNMEASURED} by their size"),
        "C021": ("1 or 2 words a slot", "images are counted in words of the memories, see the reference of the format"),
        "C025": ("–", _UNMEASURED),
        "C026": ("–", f"the compiler has express channels (`expressways`); the formula is {_UNMEASURED}"),
        "C027": ("–", f"a full hypercube overlay is {_UNMEASURED}"),
        "C028": ("–", f"a bound by design: {_UNMEASURED} alone"),
        "C029": ("8 to 64 slots", "the compiler chooses longer schedules, for shares of bandwidth"),
        "C030": ("–", _UNMEASURED),
        "C031": ("–", "the planner plays both plans and takes the quicker"),
        "C034": ("–", "the planner plays the program instead, see C033"),
        "C035": (
            "–",
            f"an extension of the future there; the reloading of phases here is planned, the example {_UNMEASURED}",
        ),
        "C036": ("–", "the planner plays the program instead, see C033"),
        "C041": ("–", "registers are chosen by colouring; the figure with the program is missing in the scan"),
        "C042": ("–", "registers are chosen by colouring; the figure with the program is missing in the scan"),
        "C043": ("–", "registers for outbound words are not the chip's; see the memory map"),
        "C047": ("–", "about a scheduler of theirs (Tadpole)"),
        "C061": ("–", f"matrix multiplication on packet routers is {_UNMEASURED} beside Table 8.3"),
    },
)

# Ding et al. 2005.


def _judged(measured: Measured, *names: str) -> Answer:
    """Claims that the evaluation of the switch judges, by the beginnings of their texts."""
    found = [one for one in measured["tdm_switch"]["claims"] if one["claim"].startswith(names)]
    assert len(found) >= len(names), names
    holding = sum(one["reproduced"] for one in found)
    said = "; ".join(one["found"] for one in found)
    return Answer(
        "reproduced" if holding == len(found) else "contradicted",
        said,
        f"{holding} of {len(found)} parts hold, at one point of the space of assumptions (docs/tdm_evaluation.md)",
    )


claim("C205")(lambda measured: _judged(measured, "scatter: utilisation", "scatter: efficiency"))
claim("C206")(lambda measured: _judged(measured, "random mesh:"))
claim("C207")(lambda measured: _judged(measured, "ordered mesh:"))
claim("C208")(lambda measured: _judged(measured, "two-phase:"))


def _gains(measured: Measured, size: int) -> dict[float, float]:
    """By determinism, one preloaded slot over none, with one static destination; messages of ``size`` bytes."""
    rows = measured["tdm_switch"]["figure_5_one_destination"]
    return {row["determinism"]: row["1 preloaded"] / row["0 preloaded"] - 1 for row in rows if row["bytes"] == size}


@claim("C209")
def _(measured: Measured) -> Answer:
    one, two = _gains(measured, 512), _judged(measured, "1 preloaded")
    return _if(
        one[0.5] > 0,
        f"one static destination, 512 bytes: {one[0.5]:+.0%} at 50 %, {one[0.85]:+.0%} at 85 %, {one[0.95]:+.0%} at 95 %; "
        f"64 bytes: {_gains(measured, 64)[0.5]:+.0%} at 50 %",
        f"the text does not say how many static destinations there are; with two: {two.ours}",
    )


claim("C210")(lambda measured: _judged(measured, "2 preloaded"))


@claim("C191")
def _(measured: Measured) -> Answer:
    best = max(row["preload"] for row in measured["tdm_switch"]["figure_4"])
    at = next(
        row["preload"]
        for row in measured["tdm_switch"]["figure_4"]
        if (row["pattern"], row["bytes"]) == ("scatter", 64)
    )
    return Answer(
        "reproduced",
        "1/k",
        f"of a connection; a link carries several: {at:.2f} of it at degree four (64 bytes), {best:.2f} at best",
    )


@claim("Table 3")
def _(measured: Measured) -> Answer:
    theirs = measured["tdm_synth"]["published"]["ns"]
    ours = {
        row["name"].split("ports=")[1].split()[0]: row["ns"]
        for row in measured["tdm_synth"]["rows"]
        if row["name"].endswith("order=plain start=fixed")
    }
    return _if(
        all(ours[ports] < theirs[ports] for ports in ours),
        "; ".join(f"{ports}: {value:.0f} for {theirs[ports]} ns" for ports, value in ours.items()),
        "the same array on an ECP5, a younger FPGA; the growth with the ports is the same; pipelined it decides every 2 ns at 16",
        holding="better",
    )


_said(
    "reproduced",
    {
        "C192": ("s/k", "the same definition"),
        "C194": ("125 bytes", "arithmetic: 1 µs at 1 Gb/s"),
        "C195": ("80 ns", "the same set-up; Table 3 has what we measured"),
        "C196": ("4", "the same set-up"),
        "C197": ("10 ns", "the same set-up"),
        "C198": ("6.4 Gb/s", "the same set-up"),
        "C199": ("30 / 20 / 30 ns", "the same set-up"),
        "C200": ("10 ns, 0", "the same set-up"),
        "C201": ("128 / 8 bytes", "the same set-up"),
        "C202": ("80 + 80 + 80 ns", "the same set-up"),
        "C203": ("all-to-all on 128, then 16", "the same set-up"),
        "C204": ("100 ns, 80 bytes", "the same set-up"),
        "Table 1": ("all rows", "proved of the RTL (`make formal`)"),
        "Table 2": ("all rows", "proved of the RTL; the row *establish* is misprinted: it toggles 0 → 1"),
    },
)
_said("not comparable", {"C193": ("0", "the slot of §5 has no guard band beyond its 100 ns")})
