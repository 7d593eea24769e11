"""512 words from every node at once: scheduled routers against packet routers, in cycles and in wall-clock time.

Patterns are those of Metcalf 1997, §8.2.1: to the node with the reversed number, and to the node with exchanged or rotated
coordinates. Packet routers take the words in packets, with their header beside them, or (to compare with published
simulations) with a header that counts as a word. A node sends a word and takes a word in every cycle. They are simulated by the
cycle model that tests hold equal to the RTL; ``--rtl`` runs the best packet length of each router on the RTL itself.

Scheduled routers get routes from ``pointsman.routing``. ``cycles`` is what the timetable says for processors that are never late,
as those of the packet routers are; ``measured`` is a run on the engine of ``--engine`` by processors with one access a cycle
in all, which is what a node's port can do: above half a word a cycle each way they are what limits.

Clocks are those placed and routed on an ECP5: ``results/fpga.json``, ``results/packet_fpga.json``.

    python benchmarks/scheduled_vs_packet.py [--sizes 4x4,8x8] [--rtl] [--into results.json]
    python benchmarks/scheduled_vs_packet.py --plots docs/pictures        # from results/scheduled_vs_packet.json
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cosim.packet.model import Traffic, run_model
from packet_router.shape import RouterShape
from pointsman.network import mesh, parse_size
from pointsman.report.figures.comparison import plot_comparison, read_clocks, replace_table
from pointsman.routing.options import RouteOptions

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parents[1] / "docs" / "comparison.md"
WORDS = 512
SIZES = ("4x4", "8x8", "16x16", "4x4x4", "8x8x8")
PACKETS = (8, 16, 32, 64, 128, 512)
"""Words of a packet."""
PEERS: dict[str, dict[str, Any]] = {
    "4x4": {"e-cube": {"8": 1749, "32": 1605, "512": 1560}, "adaptive": 738, "with header": {"9": 1941}},
    "8x8": {"e-cube": {"8": 4069, "32": 3733, "512": 3628}, "adaptive": 1910, "with header": {"9": 4517}},
    "16x16": {"e-cube": {"8": 8709, "32": 7989, "512": 7764}, "adaptive": 5027, "with header": {"9": 9669}},
    "4x4x4": {"e-cube": {"512": 2073}, "adaptive": 1210},
}
"""Bit reversal in a corrected BookSim 2; packets without header, by their length."""
LINEAR_PROGRAM = {
    "4x4": {2: 939, 3: 717},
    "8x8": {2: 1894, 3: 1298},
    "16x16": {2: 3345},
    "4x4x4": {2: 1068, 3: 762},
}
"""Cycles for 512 words of bit reversal at the linear program's bandwidth, by pipelines."""
Row = dict[str, Any]


def bit_reversal(size: tuple[int, ...]) -> tuple[int, ...]:
    """To the node with the reversed number; nodes must be a power of two."""
    nodes = int(np.prod(size))
    bits = nodes.bit_length() - 1
    return tuple(int(format(node, f"0{bits}b")[::-1], 2) if bits else 0 for node in range(nodes))


def transpose(size: tuple[int, ...]) -> tuple[int, ...]:
    """(x, y) to (y, x); (x, y, z) to (y, z, x)."""
    topology = mesh(*size)
    return tuple(
        topology.node_at(*(topology.coordinates(node)[1:] + topology.coordinates(node)[:1]))
        for node in range(topology.nodes)
    )


PATTERNS = {"bit reversal": bit_reversal, "transpose": transpose}


def packet_rows(size: tuple[int, ...], ends: tuple[int, ...], rtl: bool) -> Iterator[Row]:
    """e-cube and adaptive, packets of several lengths, with the header beside the words and among them."""
    for routing in ("e-cube", "adaptive"):
        shape = RouterShape(size=size, routing=routing)
        rows: list[Row] = []
        for words in PACKETS:
            for header in (0, 1):
                cycles = run_model(shape, Traffic(ends, words + header, WORDS // words)).cycles
                beside = "beside" if header else "among"
                rows.append({"router": routing, "words": words, "header": beside, "cycles": cycles, "engine": "model"})
        if rtl:
            from cosim.packet.traffic import run_traffic

            best = min((row for row in rows if row["header"] == "beside"), key=lambda row: row["cycles"])
            began = time.process_time()
            found = run_traffic(shape, Traffic(ends, best["words"] + 1, WORDS // best["words"])).cycles
            best |= {"rtl_cycles": found, "engine": "verilated", "cpu_seconds": round(time.process_time() - began, 1)}
            if found != best["cycles"]:
                raise SystemExit(f"model and RTL differ: {best}")
        yield from rows


def scheduled_row(size: tuple[int, ...], ends: tuple[int, ...], pipelines: int, engine: str, effort: float) -> Row:
    """Routes on scheduled routers, run until every node has its words."""
    from cosim.numesh.machine import Machine
    from cosim.session import run_nodes
    from numesh.shape import NodeShape
    from pointsman.api.judged import judge_route
    from pointsman.artifacts.images.readmemh import memories_of
    from pointsman.artifacts.routes.file import RouteStream, make_problem
    from pointsman.routing.network_router.router import route_streams, route_to_images
    from pointsman.runtime import Category, Lane, Node, Transfer, numesh_node

    topology = mesh(*size)
    shape = NodeShape(pipelines=pipelines, neighbours=max(4, topology.ports))
    streams = [RouteStream(node, (end,)) for node, end in enumerate(ends) if node != end]
    problem = make_problem(topology, streams, shape=shape)
    result = route_streams(problem, RouteOptions(bounds=False, effort=effort))
    judge_route(problem, result)
    images = route_to_images(problem, result)
    share = min(stream.bandwidth for stream in result.streams)
    chance = np.random.default_rng(1)
    sent: dict[tuple[int, int], np.ndarray] = {}
    for index in range(len(streams)):
        mine = [promise for promise in images.promises if promise.operator == index]
        for promise, words in zip(mine, divide(WORDS, [promise.words for promise in mine]), strict=True):
            sent[index, promise.register] = chance.integers(0, 1 << 32, words, dtype=np.uint32)

    async def main(node: Node) -> int:
        lanes: list[Lane] = []
        expected = []
        for index, _ in images.nodes[node.number].operators:
            await getattr(node.cop, f"s{index}_load")()
        start = node.time
        for promise in images.promises:
            data = sent[promise.operator, promise.register]
            for end, register in promise.destinations:
                if end == node.number:
                    room = np.zeros(len(data), np.uint32)
                    expected.append((room, data))
                    lanes.insert(0, Lane(False, register, len(data), room))
            if promise.source == node.number:
                lanes.append(Lane(True, promise.register, len(data), data))
        if lanes:
            await Transfer(lanes, Category.READ)
        for room, data in expected:
            if not np.array_equal(room, data):
                raise SystemExit(f"node {node.number} received other words than were sent")
        return node.time - start

    began = time.process_time()
    with Machine(shape, topology, engine=engine) as machine:  # type: ignore[arg-type]
        machine.preload(memories_of(images))
        nodes = [numesh_node(images, number, machine, preloaded=True) for number in range(topology.nodes)]
        record = run_nodes(nodes, main, machine)
        name = machine.engine
    longest = max(len(word) for stream in result.streams for word in stream.words)
    limit = WORDS / share + longest + result.period
    cycles = timetable(result.period, [stream.words for stream in result.streams])
    return {
        "router": "scheduled",
        "pipelines": pipelines,
        "cycles": cycles,
        "measured": max(int(took) for took in record.results),
        "period": result.period,
        "share": share,
        "limit": limit,
        "kept": cycles <= limit,
        "engine": name,
        "effort": effort,
        "routing_seconds": round(result.seconds, 1),
        "cpu_seconds": round(time.process_time() - began, 1),
    }


def timetable(period: int, streams: list[Any]) -> int:
    """Cycles until the last of `WORDS` words of each stream has arrived, if every slot is used that is there for it.

    The words of a period are lists of moves ``[from, slot, to, …]``; the first is the injection, the last the delivery.
    """
    last = 0
    for words in streams:
        arrivals = []
        for word in words:
            start = time_ = word[0][1] % period
            for move in word[1:]:
                time_ += (move[1] - time_) % period
            arrivals.append((start, time_))
        arrivals.sort()
        rounds, rest = divmod(WORDS, len(arrivals))
        for place, (_, arrival) in enumerate(arrivals):
            times = rounds + (place < rest)
            if times:
                last = max(last, (times - 1) * period + arrival)
    return last + 1


def divide(words: int, weights: list[int]) -> list[int]:
    """Words over the chains of a stream, as they take turns."""
    rounds, rest = divmod(words, sum(weights))
    shares = []
    for weight in weights:
        more = min(weight, rest)
        rest -= more
        shares.append(rounds * weight + more)
    return shares


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", default=",".join(SIZES), help=f"of {', '.join(SIZES)}")
    parser.add_argument("--patterns", default=",".join(PATTERNS), help=f"of {', '.join(PATTERNS)}")
    parser.add_argument("--engine", default="auto", help="of the scheduled routers: auto, verilated or model")
    parser.add_argument("--pipelines", default="2,3", help="of the scheduled routers; others are kept")
    parser.add_argument("--effort", type=float, default=1.0, help="of their routing")
    parser.add_argument("--rtl", action="store_true", help="run the packet routers' RTL as well, with the best packets")
    parser.add_argument("--into", type=Path, help="file: add to the results there, in place of printing them")
    parser.add_argument(
        "--plots",
        type=Path,
        help="folder: redraw the plots, and the table of docs/comparison.md, from the results that are there",
    )
    options = parser.parse_args()
    if options.plots is not None:
        results = json.loads((RESULTS / "scheduled_vs_packet.json").read_text())
        results["clocks"] = read_clocks(RESULTS)
        for path in plot_comparison(results, options.plots):
            print(f"wrote {path}", file=sys.stderr)
        PAGE.write_text(replace_table(PAGE.read_text(), results))
        return 0
    for name, known in (("sizes", SIZES), ("patterns", tuple(PATTERNS))):
        if unknown := set(getattr(options, name).split(",")) - set(known):
            parser.error(f"there are no {name} {', '.join(sorted(unknown))}")
    kept: dict[tuple[str, str], dict[str, Any]] = {}
    if options.into is not None and options.into.exists():
        kept = {(case["pattern"], case["size"]): case for case in json.loads(options.into.read_text())["cases"]}
    for pattern in options.patterns.split(","):
        for text in options.sizes.split(","):
            size = parse_size(text)
            ends = PATTERNS[pattern](size)
            case: dict[str, Any] = {"pattern": pattern, "size": text, "nodes": len(ends), "rows": []}
            if pattern == "bit reversal":
                case |= {"peers": PEERS.get(text, {}), "linear program": LINEAR_PROGRAM.get(text, {})}
            for row in packet_rows(size, ends, options.rtl):
                case["rows"].append(row)
            wanted = list(map(int, filter(None, options.pipelines.split(","))))
            earlier = kept.get((pattern, text), {"rows": []})["rows"]
            case["rows"] += [row for row in earlier if "pipelines" in row and row["pipelines"] not in wanted]
            for pipelines in wanted:
                case["rows"].append(scheduled_row(size, ends, pipelines, options.engine, options.effort))
            kept[pattern, text] = case
            _print(case)
            if options.into is not None:
                options.into.write_text(_results(kept))
    if options.into is None:
        print(_results(kept), end="")
    return 0


def _results(cases: dict[tuple[str, str], dict[str, Any]]) -> str:
    ordered = sorted(cases.values(), key=lambda case: (case["pattern"], len(case["size"].split("x")), case["nodes"]))
    plain = {"benchmark": "scheduled_vs_packet", "words": WORDS, "clocks": read_clocks(RESULTS), "cases": ordered}
    return json.dumps(plain, indent=1) + "\n"


def _print(case: dict[str, Any]) -> None:
    print(f"{case['pattern']} {case['size']}", file=sys.stderr)
    for row in case["rows"]:
        print("  " + ", ".join(f"{key} {value}" for key, value in row.items()), file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
