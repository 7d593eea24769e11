"""Our side of the claims of Metcalf 1997, chapters 1 to 7: hardware, language, operators, phases."""

from __future__ import annotations

from answers import Answer, Measured, claim, listed, said, verdict_if
from metcalf_figures import cycles_per_word, quickest, worked_example


@claim("C003")
def _(measured: Measured) -> Answer:
    clocks = measured["operators_vs_packet"]["clocks"]
    scheduled, packets, free = (
        clocks[name] for name in ("scheduled, 2 pipelines", "packets, e-cube", "open packet router")
    )
    return verdict_if(
        abs(packets / scheduled - 0.5) < 0.1,
        f"{1000 / scheduled:.1f} ns, {packets / scheduled:.0%} of our e-cube router's",
        f"placed and routed on an ECP5; of an open packet router's cycle ({free:.0f} MHz) it is {free / scheduled:.0%}. "
        "An adaptive router was not placed and routed (C002)",
    )


@claim("C004")
def _(measured: Measured) -> Answer:
    words = measured["scheduled_vs_packet"]["words"]
    return verdict_if(words == 512, str(words), "the same set-up")


@claim("C005")
def _(measured: Measured) -> Answer:
    gaps, order = {}, {}
    for pipelines in (2, 3):
        best = quickest(measured, "bit reversal", pipelines=pipelines)
        gaps[pipelines] = {size: row["adaptive"] / row["scheduled"] for size, row in best.items()}
        order[pipelines] = all(row["scheduled"] < row["adaptive"] < row["e-cube"] for row in best.values())
    squares = [gaps[2][size] for size in ("4x4", "8x8", "16x16")]
    return verdict_if(
        order[2] and sorted(squares) == squares,
        f"adaptive over scheduled, two pipelines {listed(gaps[2])}; three {listed(gaps[3])}",
        "cycles of the timetable, of packets with their best length; with the node's two pipelines our adaptive router, a better "
        "one, is ahead; with three the order is theirs"
        + (" and the gap grows" if order[3] else ", but not everywhere"),
    )


@claim("C007")
def _(measured: Measured) -> Answer:
    from pointsman.network.lattice import diamond

    return verdict_if(diamond(7).nodes == 455, str(diamond(7).nodes), "`--topology diamond:7`")


@claim("C008")
def _(measured: Measured) -> Answer:
    found = measured["diamond"]["dynamic"]
    limit = found[0]["limit of the busiest link"]
    return verdict_if(
        abs(limit - 0.04) < 0.005,
        f"{limit:.3f}, the limit of the busiest link; {', '.join(format(row['most'], '.3f') for row in found)} with queues",
        f"dimension order on the lattice, messages of four words and a header; cycle model of routers with "
        f"{' and '.join(str(4 * row['channels']) for row in found)} virtual channels of 8 words (the text says nothing of them)",
    )


@claim("C009")
def _(measured: Measured) -> Answer:
    found = max(measured["diamond"]["scheduled"], key=lambda row: row["most"])
    straight = max(
        (row for row in measured["diamond"]["scheduled"] if not row["words wait"]), key=lambda row: row["most"]
    )
    most = max(row["most"] for row in measured["diamond"]["dynamic"])
    return verdict_if(
        found["most"] >= 0.069,
        f"{found['most']:.3f}, {found['most'] / most:.1f} times the dynamic router's",
        f"proved routes of {found['streams of a node']:.0f} streams from each node, words waiting in nodes on their way; "
        f"{straight['most']:.3f} where none waits; no schedule carries more than {found['no schedule carries more than']:.3f}",
    )


@claim("C010")
def _(measured: Measured) -> Answer:
    found = worked_example(measured, "C010 C011")
    a, b, c = found["64 slots"]
    return verdict_if(
        abs(a - 0.5) < 0.02 and min(b, c) >= 0.24,
        f"{a:.3f}, {b:.3f}, {c:.3f}",
        "routed with weights 2, 1, 1 on nodes of one pipeline, 64 slots; a slot of each node is for reprogramming",
    )


@claim("C011")
def _(measured: Measured) -> Answer:
    hops = worked_example(measured, "C010 C011")["hops of a word of A"]
    return verdict_if(set(hops) == {1}, "one cycle a hop", "routes of the example, judged; the RTL agrees (`make sim`)")


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
    return verdict_if(
        len(names) == 3, ", ".join(names), "all three are measured on packet routers", holding="reproduced"
    )


@claim("C020")
def _(measured: Measured) -> Answer:
    found = worked_example(measured, "C020")["slots"]
    longer = [size for size, slots in found.items() if slots > int(size.split("x")[0]) ** 2]
    return verdict_if(
        not longer,
        "slots " + listed(found, "{}"),
        "a word from every node to every other, proved routes. 1/n is the limit of the ports; the bisection of a mesh "
        f"asks for n√n/4 slots, which is more from {longer[0] if longer else 'larger meshes'} on",
    )


@claim("C021")
def _(measured: Measured) -> Answer:
    found = {size: row["bytes of a phase"] for size, row in worked_example(measured, "C021 C029").items()}
    return verdict_if(
        max(found.values()) < 500,
        listed(found, "{} bytes"),
        "schedule entries and annotations of a phase of matrix multiplication, mean of a node",
    )


@claim("C022")
def _(measured: Measured) -> Answer:
    cost = cycles_per_word(measured, "str_bcast_linear") / cycles_per_word(measured, "str_bcast")
    return verdict_if(abs(cost - 2) < 0.2, f"{cost:.2f}", "cycles a word of long messages, 8×8")


@claim("C025")
def _(measured: Measured) -> Answer:
    found = worked_example(measured, "C025")
    return verdict_if(
        found["channels"] == [2, 4, 4, 4, 2],
        f"{', '.join(map(str, found['channels']))} on a row of five",
        f"ends of channels; the compiler gives a channel a second address where a node has one left ({found['registers']})",
    )


@claim("C026")
def _(measured: Measured) -> Answer:
    found = {int(k): row["mean of ours over theirs"] for k, row in worked_example(measured, "C026").items()}
    return verdict_if(
        all(0.9 < found[k] < 1.1 for k in (2, 4)),
        "ours over theirs, by k " + listed(found),
        "mean steps on a row of 65 nodes, l from 2k to 40; for long channels our skewed ones cost more steps at their ends",
    )


@claim("C027")
def _(measured: Measured) -> Answer:
    found = {size: row.get("slots", 0) for size, row in worked_example(measured, "C027").items()}
    fits = [size for size, slots in found.items() if 0 < slots <= 64]
    return Answer(
        "better" if "8x4x4" in fits else "reproduced" if "4x4x4" in fits else "contradicted",
        "slots " + listed(found, "{}"),
        "routed and judged, on nodes with 64 VFSMs a pipeline and 32 registers; the bisection of 128 nodes asks for 4 slots",
    )


@claim("C028")
def _(measured: Measured) -> Answer:
    found = worked_example(measured, "C028")["cycles a word"]
    bound, free = 1 / found["str_bcast_bind"], 1 / found["str_bcast"]
    return verdict_if(
        bound <= 0.5 < free,
        f"{bound:.2f} words a cycle, {free:.2f} when not bound",
        "str_bcast_bind beside str_bcast, 4×4, 16 slots: its source takes each word back",
    )


@claim("C029")
def _(measured: Measured) -> Answer:
    found = {size: row["slots"] for size, row in worked_example(measured, "C021 C029").items()}
    return verdict_if(
        min(found.values()) >= 2,
        listed(found, "{}"),
        "schedules for which the memory of 128 entries has room, at the lengths chosen for matrix multiplication",
    )


@claim("C030")
def _(measured: Measured) -> Answer:
    found = worked_example(measured, "C030")["maps"]
    return verdict_if(
        max(found.values()) < 4,
        listed(found, "{}"),
        "different sets of phases with their places, over all nodes",
        holding="better",
    )


@claim("Table 5.1")
def _(measured: Measured) -> Answer:
    found = sorted({one["technique"] for run in measured["gauss"]["runs"] for one in run["phases"]})
    return verdict_if(
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


@claim("C032")
def _(measured: Measured) -> Answer:
    from numesh.shape import NodeShape

    return verdict_if(
        NodeShape().pipelines == 2, f"{NodeShape().pipelines} × schedule length", "a word for each pipeline and slot"
    )


@claim("C033")
def _(measured: Measured) -> Answer:
    found = measured["prediction"]
    return Answer(
        "reproduced",
        "the same sum, but for t_iface",
        "as printed it counts the penalty of a shared address once too often (`plan/cost/equations.py`); the estimate only ranks "
        f"plans, which are then played: {found['median_error_of_programs']:.1%} median error of {found['programs']} programs",
    )


@claim("C035")
def _(measured: Measured) -> Answer:
    found = worked_example(measured, "C035")["loaded in a round"]
    return verdict_if(
        found == 2, str(found), "places that `plan/memory/residency_plan.py` gives to a loop of five phases"
    )


@claim("C037")
def _(measured: Measured) -> Answer:
    from numesh.shape import NodeShape

    return verdict_if(
        NodeShape().schedule_depth == 128, str(NodeShape().schedule_depth), "`--schedule-depth` when not given"
    )


@claim("C038")
def _(measured: Measured) -> Answer:
    from numesh.shape import NodeShape

    return verdict_if(NodeShape().vfsms == 32, str(NodeShape().vfsms), "`--vfsms` when not given")


@claim("C039")
def _(measured: Measured) -> Answer:
    from numesh.shape import NodeShape

    return verdict_if(
        NodeShape().registers == 16,
        str(NodeShape().registers),
        "`--registers` when not given; our processor writes or reads a word in a cycle",
    )


@claim("C041")
def _(measured: Measured) -> Answer:
    found = worked_example(measured, "C041 C042")["sequential"]
    fewer = max(found.values()) < 2
    return Answer(
        "better" if fewer else "reproduced" if found == {"A": 1, "B": 2, "D": 1} else "contradicted",
        listed(found, "{}"),
        "the program of Figure 7-3 for packet routers"
        + (": A and B share an address, as words between the same nodes arrive in order (see C042)" if fewer else ""),
    )


@claim("C042")
def _(measured: Measured) -> Answer:
    found = worked_example(measured, "C041 C042")["loop"]
    return verdict_if(
        found == {"A": 1, "B": 1, "D": 2},
        listed(found, "{}"),
        "words between the same nodes arrive in order with deterministic routing; their compiler does not make use of it",
    )


@claim("C043")
def _(measured: Measured) -> Answer:
    found = worked_example(measured, "C043 C046")["read addresses"]
    return verdict_if(
        found > 14,
        str(found),
        "of 16, one for sending; a tag in the header takes the place of a multiplex address",
        holding="better",
    )


said(
    "reproduced",
    {
        "C012": ("t, t + k, t + 2k", "a schedule of length k repeats; proved of the RTL (`make formal`)"),
        "C031": ("1/k", "arithmetic: b gained against k·b lost; our compiler lends no bandwidth between loops"),
        "C034": (
            "the same sum",
            "estimate of the search (`plan/cost/equations.py`), which plays the plans that it ranks; see C033",
        ),
        "C036": (
            "the same sum",
            "estimate of the search (`plan/cost/equations.py`), which plays the plans that it ranks; see C033",
        ),
        "C013": ("200 cycles", "arithmetic of the example: 2 · 50 / 0.5"),
        "C014": ("170 cycles", "arithmetic of the example: 2 · 50 / 0.667 + 20"),
        "C023": ("65,536", "arithmetic: 256 · 256; images have tables for run-time values instead"),
        "C024": ("12", "arithmetic: two for each of six neighbours"),
        "C040": ("4, 6 for three dimensions", "as many as the network takes"),
        "C045": ("512 words of 4 bytes", "the same set-up"),
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

said("contradicted", {"C006": ("25 %", "arithmetic of the example itself: a header for four words")})

_ELSEWHERE = "another technology"

said(
    "not comparable",
    {
        "C001": ("11.5 ns", f"our e-cube router on an ECP5: {_ELSEWHERE}; see C003 for the ratio"),
        "C002": ("–", "another technology, and our adaptive router was not placed and routed"),
        "C016": ("1 word a cycle", "of a prototype's processor; ours is that of §8.1"),
        "C017": ("–", "about iWarp"),
        "C018": ("–", "about GF11"),
    },
)
