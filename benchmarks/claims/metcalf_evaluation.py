"""Our side of the claims of Metcalf 1997, chapter 8: scheduled routers measured beside others."""

from __future__ import annotations

import numpy as np
from answers import Answer, Measured, claim, listed, verdict_if
from metcalf_figures import (
    cycles_per_word,
    io,
    latencies,
    quickest,
    quickest_by_nodes,
    reference,
    runs_of,
    worked_example,
)


@claim("C044")
def _(measured: Measured) -> Answer:
    clocks = measured["operators_vs_packet"]["clocks"]
    ratio = clocks["scheduled, 2 pipelines"] / clocks["packets, e-cube"]
    free = clocks["scheduled, 2 pipelines"] / clocks["open packet router"]
    return verdict_if(
        abs(ratio - 2) < 0.2,
        f"{ratio:.2f}",
        f"for our own e-cube router; {free:.2f} for the open packet router of 141 MHz, with which wall clocks are compared here",
    )


@claim("C046")
def _(measured: Measured) -> Answer:
    found = worked_example(measured, "C043 C046")
    return verdict_if(
        (found["buffer"], found["channels"]) == (8, 5),
        f"{found['buffer']} words; {found['channels']} virtual channels",
        "sizes of `RouterShape` when none are given",
    )


@claim("C047")
def _(measured: Measured) -> Answer:
    found = {int(n): row["bandwidth"] / row["bound"] for n, row in worked_example(measured, "C047").items()}
    return verdict_if(
        min(found.values()) > 0.8,
        "smallest bandwidth over the bound, by nodes " + listed(found),
        "the jump is their router's (Tadpole), and ours has none: transposes of three dimensions around 200 nodes",
        holding="better",
    )


@claim("C048")
def _(measured: Measured) -> Answer:
    clocks = measured["scheduled_vs_packet"]["clocks"]
    packets = max(clocks["packets, e-cube"], clocks["open packet router"])
    best = quickest(measured, "bit reversal", pipelines=2)
    ratios = {
        size: row["adaptive"] / packets / (row["scheduled"] / clocks["scheduled, 2 pipelines"])
        for size, row in best.items()
    }
    holds = [size for size, row in best.items() if ratios[size] > 1 and row["adaptive"] < row["e-cube"]]
    return verdict_if(
        {"8x8", "16x16"} <= set(holds),
        f"adaptive over scheduled {listed(ratios)}",
        f"times with two pipelines and clocks of an ECP5; the order holds on {', '.join(holds)} of {len(best)} networks",
    )


@claim("C049")
def _(measured: Measured) -> Answer:
    packet, scheduled = (
        quickest_by_nodes(measured, 1, "dyn_prefix"),
        quickest_by_nodes(measured, 1, "sch_prefix", "str_prefix", "str_prefix_linear"),
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
        packet = quickest_by_nodes(measured, m, "dyn_prefix").get(64)
        scheduled = quickest_by_nodes(measured, m, "sch_prefix", "str_prefix", "str_prefix_linear").get(64)
        if packet and scheduled:
            ratios[m] = packet / scheduled
    values = list(ratios.values())
    return verdict_if(
        len(values) > 1 and values[-1] < values[0],
        "dynamic over scheduled, by words " + listed(ratios),
        "8×8, cycles",
    )


@claim("C051")
def _(measured: Measured) -> Answer:
    tree, dense = quickest_by_nodes(measured, 1, "dyn_bcast_tree"), quickest_by_nodes(measured, 1, "dyn_bcast_dense")
    ratios = {nodes: tree[nodes] / dense[nodes] for nodes in sorted(set(tree) & set(dense))}
    near = [ratio for ratio in ratios.values() if 1.05 <= ratio <= 1.4]
    return verdict_if(
        len(near) * 2 >= len(ratios),
        "by nodes " + listed(ratios),
        "cycles, one word; what a processor does between receiving and sending on decides it",
    )


@claim("C052")
def _(measured: Measured) -> Answer:
    linear, dense = latencies(measured, "str_bcast_linear"), latencies(measured, "str_bcast_dense")
    ahead = [nodes for nodes in linear if linear[nodes] < dense[nodes]]
    return verdict_if(
        all(nodes in ahead for nodes in linear if nodes <= 60),
        f"quicker than dense up to {max(ahead)} nodes, the largest mesh measured",
        "and beyond 60, see C053",
    )


@claim("C053")
def _(measured: Measured) -> Answer:
    crossing = measured["broadcasts"]["crossing_nodes"]
    return verdict_if(
        abs(crossing - 100) < 30,
        f"about {crossing} nodes, extrapolated",
        "a hop of the snake costs a cycle here, one of the flood fill a processor's read and write",
    )


@claim("C054")
def _(measured: Measured) -> Answer:
    hops: dict[str, dict[int, float]] = {}
    for dimensions in (2, 3):
        cycles = worked_example(measured, "C054")[str(dimensions)]["cycles"]
        hops[f"{dimensions}-D"] = {
            int(n): value / (dimensions * (round(int(n) ** (1 / dimensions)) - 1)) for n, value in cycles.items()
        }
    every = [value for row in hops.values() for value in row.values()]
    return verdict_if(
        max(every) < 1.25 * min(every),
        "cycles a hop of the diameter, by nodes "
        + "; ".join(f"{name} {listed(row, '{:.1f}')}" for name, row in hops.items()),
        "schedules of 24 slots; the diameter is 2 (√N - 1), or 3 (∛N - 1)",
    )


@claim("C055")
def _(measured: Measured) -> Answer:
    scheduled, packet = (
        quickest_by_nodes(measured, 1, "str_bcast_linear", "str_bcast_dense"),
        quickest_by_nodes(measured, 1, "dyn_bcast", "dyn_bcast_tree", "dyn_bcast_dense"),
    )
    ratios = {nodes: packet[nodes] / scheduled[nodes] for nodes in sorted(set(scheduled) & set(packet))}
    fewer = [nodes for nodes, ratio in ratios.items() if ratio > 1]
    most = max(fewer, default=0)
    return Answer(
        "better" if most > 64 else "reproduced" if most >= 36 else "contradicted",
        f"up to {most} nodes; dynamic over scheduled {listed(ratios)}",
        "one word, cycles, source known at run time",
    )


@claim("C056")
def _(measured: Measured) -> Answer:
    nodes, cycles = max(quickest_by_nodes(measured, 1024, "dyn_bcast_dense").items())
    value = cycles / 1024
    return Answer(
        "better" if value < 3.5 else "reproduced" if value < 5 else "contradicted",
        f"{value:.1f} cycles a word at {nodes} nodes",
        "at 1 GHz a cycle is 1 ns; a node sends each word on to all its neighbours one after the other, through one port",
    )


@claim("C057")
def _(measured: Measured) -> Answer:
    value = cycles_per_word(measured, "str_bcast")
    return verdict_if(
        value < 2, f"{value:.2f} cycles a word", "a chain on a snake for each pipeline needs no forks", holding="better"
    )


@claim("C058")
def _(measured: Measured) -> Answer:
    value = cycles_per_word(measured, "str_bcast_linear")
    return verdict_if(value < 4, f"{value:.2f} cycles a word", "2 ns are four cycles of 2 GHz", holding="better")


@claim("C059")
def _(measured: Measured) -> Answer:
    ratios = [row["ratio"] for row in measured["online"]["rows"] if row["job"] == "broadcast, 1 word"]
    return verdict_if(
        max(ratios) < 5,
        f"{min(ratios):.2f} to {max(ratios):.2f} times the cycles",
        "broadcast of one word, up to 6×6; the scheduled router's shorter cycle comes on top",
        holding="better",
    )


@claim("C061")
def _(measured: Measured) -> Answer:
    runs, packets = runs_of(measured, "matmul"), worked_example(measured, "C061")
    ratios = {size: io(runs[size]["categories"]) / io(row) for size, row in packets.items()}
    whole = {size: runs[size]["total_cycles"] / row["total"] for size, row in packets.items()}
    mean = float(np.exp(np.mean(np.log(list(ratios.values())))))
    return verdict_if(
        1 < mean < 1.3,
        f"scheduled over packets {listed(ratios)}; mean {mean:.2f}",
        f"I/O cycles; of all cycles {min(whole.values()):.2f} to {max(whole.values()):.2f}, so the scheduled router's shorter "
        "cycle decides (C044)",
    )


@claim("C062")
def _(measured: Measured) -> Answer:
    rows = {row["case"]: row["ours"] for row in measured["routing"]["sections"]["operators"]["rows"]}
    names = [f"{what}, {n} nodes" for what in ("row broadcast", "column shift") for n in (6, 10)]
    compiled = {mesh: list(runs_of(measured, "matmul")[mesh]["bandwidth"].values()) for mesh in ("6x6", "10x10")}
    return Answer(
        "better" if min(rows[name] for name in names) > 0.55 else "reproduced",
        listed({name: rows[name] for name in names}),
        "`pointsman route`, alone, as that router was; in the program, where operators share a period and a phase ends, "
        + "; ".join(f"{mesh}: {', '.join(f'{value:.2f}' for value in values)}" for mesh, values in compiled.items()),
    )


@claim("C063")
def _(measured: Measured) -> Answer:
    found = {mesh: run["categories"]["router"] for mesh, run in runs_of(measured, "matmul").items()}
    inside = all(60 <= value <= 75 for value in found.values())
    return Answer(
        "reproduced" if inside else "better" if max(found.values()) < 65 else "contradicted",
        listed(found, "{:.0f}"),
        "cycles of a node, mean",
    )


@claim("C064")
def _(measured: Measured) -> Answer:
    found = {mesh: run["categories"]["psync"] for mesh, run in runs_of(measured, "matmul").items()}
    return verdict_if(
        all(found[mesh] < 100 for mesh in ("2x2", "3x3", "4x4")), listed(found, "{:.0f}"), "cycles of a node, mean"
    )


@claim("C065")
def _(measured: Measured) -> Answer:
    run = runs_of(measured, "matmul")["10x10"]
    value = run["categories"]["psync"]
    return verdict_if(
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
        for mesh, run in runs_of(measured, "gauss").items()
    }
    return verdict_if(
        found["3x3"] != "barrier" and found["5x5"] == "barrier",
        ", ".join(f"{mesh}: {technique}" for mesh, technique in found.items()),
        "how the phase of b5 ends; other implementations are chosen here",
    )


@claim("C068")
def _(measured: Measured) -> Answer:
    found = {mesh: run["categories"]["psync"] / run["total_cycles"] for mesh, run in runs_of(measured, "gauss").items()}
    return verdict_if(
        max(found.values()) < 0.01,
        listed(found, "{:.1%}"),
        "what a node waits for others is counted where it waits, at the phase's end; I/O in all is less (Table 8.4)",
    )


@claim("C069")
def _(measured: Measured) -> Answer:
    found = {mesh: run["categories"]["reprog"] for mesh, run in runs_of(measured, "gauss").items()}
    return verdict_if(
        max(found.values()) == 0,
        listed(found, "{:.0f}"),
        "run-time broadcasts on a snake reprogram their source and are quicker in all; where dense ones are chosen it is 0",
    )


@claim("Table 8.1")
def _(measured: Measured) -> Answer:
    names = list(measured["matmul"]["runs"][0]["categories"])
    return verdict_if(
        set(names) >= {"cpu", "write", "read", "psync", "router", "reprog"}, ", ".join(names), "*online* is ours"
    )


@claim("Table 8.2")
def _(measured: Measured) -> Answer:
    theirs, runs = reference("matmul"), runs_of(measured, "matmul")
    pairs = {
        mesh: [runs[mesh]["bandwidth"][label] / row[name] for label, name in (("b", "broadcast"), ("c", "shift"))]
        for mesh, row in theirs.items()
    }
    least = min(value for both in pairs.values() for value in both)
    return Answer(
        "better" if least >= 1 else "reproduced" if least > 0.9 else "contradicted",
        "; ".join(f"{mesh}: {b:.2f}, {c:.2f}" for mesh, (b, c) in pairs.items()),
        "ours over theirs: broadcast, shift; on 10x10 the plan with 8 slots takes the fewest cycles in all, and longer ones give "
        "the shift more",
    )


@claim("Table 8.3")
def _(measured: Measured) -> Answer:
    runs = runs_of(measured, "matmul")
    found = {mesh: io(runs[mesh]["categories"]) / io(row) for mesh, row in reference("matmul").items()}
    return verdict_if(max(found.values()) < 1, listed(found), "I/O cycles, ours over theirs", holding="better")


@claim("Table 8.4")
def _(measured: Measured) -> Answer:
    runs = runs_of(measured, "gauss")
    found = {mesh: io(runs[mesh]["categories"]) / io(row) for mesh, row in reference("gauss").items()}
    return verdict_if(max(found.values()) < 1, listed(found), "I/O cycles, ours over theirs", holding="better")
