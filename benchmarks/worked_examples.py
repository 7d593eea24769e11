"""Small experiments behind claims of the documents that no other benchmark measures, each by the ids of its claims.

    python benchmarks/worked_examples.py [--only C010,C027] [--quick] [--into results.json]

Metcalf 1997 (C001 to C069) and Ding et al. 2005 (C191 to C210); answers in ``claims/`` judge what is found here. ``--into`` adds
to the results in a file, example by example.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import operators

import pointsman
from cosim.tdm.fast import Pace, Preload, run
from cosim.tdm.traffic import traffic_of
from numesh.shape import NodeShape
from packet_router.shape import RouterShape
from pointsman.api.judged import judge_route
from pointsman.artifacts.images.images import Images
from pointsman.artifacts.routes.file import RouteStream, make_problem
from pointsman.cop import compile_file, compile_text
from pointsman.files import write_whole
from pointsman.network import Topology, mesh, parse_size
from pointsman.plan.make_plan import make_plan
from pointsman.plan.memory.residency_plan import reloads, schedule_places
from pointsman.plan.structure.phase_graph import START, PhaseGraph
from pointsman.plan.structure.structure import outline
from pointsman.routing.ideal_router.router import route_ideal
from pointsman.routing.network_router.router import route_streams
from pointsman.routing.online.channels import online_network
from pointsman.routing.options import RouteOptions
from pointsman.targets.numesh import make_images
from tdm_switch.shape import SwitchShape

ROOT = Path(__file__).resolve().parents[1]
MATMUL = ROOT / "examples/matmul/matmul.py"
WORD_BYTES = 4
Row = dict[str, Any]
EXAMPLES: dict[str, Callable[[bool], Row]] = {}
"""By name, which is the ids of the claims."""


def example(name: str) -> Callable[[Callable[[bool], Row]], Callable[[bool], Row]]:
    def enter(function: Callable[[bool], Row]) -> Callable[[bool], Row]:
        EXAMPLES[name] = function
        return function

    return enter


def images_of(text: str, topology: Topology, **given: Any) -> Images:
    """Images of a program that stands here as text."""
    shape = NodeShape(neighbours=max(4, topology.ports))
    return make_images(make_plan(compile_text(text, topology=topology), shape, name="example", **given))


@example("C010 C011")
def three_streams(quick: bool) -> Row:
    """Streams A, B and C of Figures 1-6 and 1-7 on nodes of one pipeline."""
    problem = make_problem(
        mesh(3, 1),
        [RouteStream(0, (2,), weight=2), RouteStream(0, (1,)), RouteStream(1, (2,))],
        shape=NodeShape(pipelines=1),
    )
    found: Row = {}
    for length in (4, 16, 64):
        result = route_streams(problem, RouteOptions(length=length))
        judge_route(problem, result)
        found[f"{length} slots"] = [round(stream.bandwidth, 4) for stream in result.streams]
    moves = result.streams[0].words[0]
    cycles = [move[0] for move in moves if move[0] is not None]
    return found | {"hops of a word of A": np.diff(cycles).tolist()}


@example("C020")
def all_paths(quick: bool) -> Row:
    """Slots of a schedule that has a path from every node to every other, in the ideal model."""
    found: Row = {}
    for side in range(2, 4 if quick else 7):
        nodes = side * side
        streams = [RouteStream(a, (b,)) for a in range(nodes) for b in range(nodes) if a != b]
        problem = make_problem(mesh(side, side), streams)
        result = route_ideal(problem)
        judge_route(problem, result)
        found[f"{side}x{side}"] = result.period
    return {"slots": found}


@example("C021 C029")
def schedule_bytes(quick: bool) -> Row:
    """Bytes that a node is sent to load a phase of matrix multiplication, and phases for which a schedule memory has room."""
    found: Row = {}
    for size in ("4x4",) if quick else ("2x2", "4x4", "6x6"):
        program = compile_file(
            MATMUL.with_suffix(".cop"),
            topology=mesh(*parse_size(size)),
            parameters={"block": (60 // int(size[0])) ** 2},
        )
        # Each operator in a phase of its own, which is how the compiler divides it, too.
        images = make_images(make_plan(program, NodeShape(), name="example", structures=[outline(program)]))
        nodes = [
            sum(load_words(images, node, part) for part in node.phases) / len(node.phases) for node in images.nodes
        ]
        found[size] = {
            "bytes of a phase": round(WORD_BYTES * float(np.mean(nodes))),
            "schedule": images.period,
            "slots": images.shape.schedule_depth // images.period,
        }
    return found


def load_words(images: Images, node: Any, part: Any) -> int:
    """Words to write into a router's memories for a phase: an entry for each slot and an annotation for each VFSM."""
    return images.period + len(part.annotations)


@example("C025")
def online_registers(quick: bool) -> Row:
    """Channels that begin or end at a node, for a run-time stream routed online on a row of five nodes; and the interface
    registers of the compiled program, which has two for a channel where nodes have registers left."""
    line = mesh(5, 1)
    network = online_network(line, {(a, b): 1.0 for a in range(5) for b in range(5) if a != b})
    ends = [sum(node in (channel.source, channel.target) for channel in network.channels) for node in range(5)]
    images = images_of("(stream 's (runtime) (runtime :dynamic t) :m 8 :impl 'dyn_stream)", line)
    registers = []
    for node in images.nodes:
        parts = [one for index, one in node.operators if images.operators[index].kind == "online"]
        lanes = [lane for one in parts for role in one.roles for lane in role.lanes]
        registers.append(len({register for lane in lanes for register in lane.registers}))
    return {"channels": ends, "registers": registers}


@example("C026")
def express_steps(quick: bool) -> Row:
    """Mean routing steps with express channels of k hops against k/2 + l/k, on a row of 65 nodes; l from 2k on."""
    line = mesh(65, 1)
    pairs = {(a, b): 1.0 for a in range(65) for b in range(65) if a != b}
    found: Row = {}
    for k in (2, 4, 8):
        network = online_network(line, pairs, express=k)
        steps: dict[int, list[int]] = {}
        for a, b in pairs:
            steps.setdefault(abs(a - b), []).append(len(network.way(a, b)))
        ratios = [float(np.mean(of)) / (k / 2 + far / k) for far, of in steps.items() if 2 * k <= far <= 40]
        found[str(k)] = {"mean of ours over theirs": round(float(np.mean(ratios)), 3), "most": round(max(ratios), 3)}
    return found


@example("C027")
def hypercube(quick: bool) -> Row:
    """Streams along all edges of a hypercube of all nodes: the shortest schedule that the router finds for each mesh."""
    found: Row = {}
    for size in ((2, 2, 2), (4, 2, 2)) if quick else ((2, 2, 2), (4, 4, 2), (4, 4, 4), (8, 4, 4)):
        topology = mesh(*size)
        bits = topology.nodes.bit_length() - 1
        streams = [RouteStream(node, (node ^ 1 << bit,)) for node in range(topology.nodes) for bit in range(bits)]
        shape = NodeShape(neighbours=6, vfsms=64, registers=32)
        problem = make_problem(topology, streams, shape=shape)
        row: Row = {"streams": len(streams)}
        for period in (8, 16, 24, 32, 48, 64, 96, 128):
            try:
                result = route_streams(problem, RouteOptions(length=period, bounds=False))
            except pointsman.errors.PointsmanError as error:
                row["refused"] = error.message
                continue
            judge_route(problem, result)
            row.pop("refused", None)
            row["slots"] = period
            break
        found["x".join(map(str, size))] = row
    return found


@example("C028")
def processor_bound(quick: bool) -> Row:
    """Cycles a word of broadcasts that end at their source, and of those that do not."""
    ways = {way.impl: way for way in operators.WAYS if way.impl in ("str_bcast", "str_bcast_bind")}
    found = {}
    for name, way in ways.items():
        short, long = (operators.measure(way, mesh(4, 4), m, 16).cycles for m in (64, 256))
        found[name] = (long - short) / 192
    return {"cycles a word": found}


@example("C030")
def cache_maps(quick: bool) -> Row:
    """Different sets of phases of nodes, for halves by x and then by y."""
    found = {}
    for side in (4,) if quick else (4, 6, 8):
        half = side // 2
        columns = [[y * side + x for y in range(side) for x in range(a, a + half)] for a in (0, half)]
        rows = [[y * side + x for y in range(a, a + half) for x in range(side)] for a in (0, half)]
        text = "(sequential\n"
        for name, groups in (("x", columns), ("y", rows)):
            text += "  (parallel\n"
            for index, group in enumerate(groups):
                nodes = " ".join(map(str, group))
                pair = f"(cshift '{name}{index}a 1 :m 32) (broadcast '{name}{index}b 0 :m 32)"
                text += f"    (subset '({nodes}) (sequential {pair}))\n"
            text += "  )\n"
        images = images_of(text + ")", mesh(side, side))
        maps = {tuple((part.phase, images.phases[part.phase].block) for part in node.phases) for node in images.nodes}
        found[f"{side}x{side}"] = len(maps)
    return {"maps": found}


@example("C035")
def five_phases(quick: bool) -> Row:
    """Phases loaded in each round of a loop of five, with room for four."""
    loop = {START: frozenset([0]), **{phase: frozenset([(phase + 1) % 5]) for phase in range(5)}}
    chosen = schedule_places(range(5), PhaseGraph(loop), 4)
    rounds = [reloads(chosen, list(range(5)) * count) for count in (10, 11)]
    return {"loaded in a round": rounds[1] - rounds[0]}


@example("C041 C042")
def read_addresses(quick: bool) -> Row:
    """Interface addresses on node 3 of the program of Figure 7-3, and of a loop around it (Figure 7-5)."""
    streams = "(stream 'A 1 3 :m 4) (stream 'B 1 3 :m 4) (stream 'C 3 2 :m 4) (stream 'D 2 3 :m 4)"
    found = {}
    for name, text in (("sequential", f"(sequential {streams})"), ("loop", f"(loop 'l 10 {streams})")):
        program = compile_text(text, topology=mesh(4, 1), mode="dyn")
        plain = pointsman.compile(program, mesh(4, 1), target="packet").artifact.as_json()["operators"]
        found[name] = {
            label: at["address"] for label, one in plain.items() for at in one["addresses"] if at["node"] == 3
        }
    return found


@example("C043 C046")
def router_shape(quick: bool) -> Row:
    """Sizes of the packet router when none are given."""
    adaptive = RouterShape(routing="adaptive")
    return {"read addresses": adaptive.addresses - 1, "buffer": adaptive.buffer, "channels": adaptive.lanes}


@example("C047")
def transpose_growth(quick: bool) -> Row:
    """Transposition of three dimensions around 200 nodes: the smallest bandwidth beside its bound."""
    found: Row = {}
    for side in (3, 4) if quick else (4, 5, 6, 7):
        topology = mesh(side, side, side)
        ends = [
            topology.node_at(*(topology.coordinates(node)[1:] + topology.coordinates(node)[:1]))
            for node in range(topology.nodes)
        ]
        streams = [RouteStream(node, (end,)) for node, end in enumerate(ends) if node != end]
        problem = make_problem(topology, streams, shape=NodeShape(neighbours=6))
        result = route_streams(problem)
        judge_route(problem, result)
        assert result.bound is not None
        least = min(stream.bandwidth for stream in result.streams)
        found[str(topology.nodes)] = {"bandwidth": round(least, 4), "bound": round(result.bound.value, 4)}
        print(f"  {topology}: {found[str(topology.nodes)]}", file=sys.stderr, flush=True)
    return found


@example("C054")
def dense_growth(quick: bool) -> Row:
    """Latency of str_bcast_dense in two and three dimensions, schedules of 24 slots, and its exponent over the nodes."""
    way = next(way for way in operators.WAYS if way.impl == "str_bcast_dense")
    sizes = {"2": ((2, 2), (4, 4), (6, 6)), "3": ((2, 2, 2), (3, 3, 3), (4, 4, 4))}
    found: Row = {}
    for dimensions, some in sizes.items():
        points: dict[str, float] = {}
        for size in some[:2] if quick else some:
            try:
                points[str(int(np.prod(size)))] = operators.measure(way, mesh(*size), 1, 24).cycles
            except pointsman.errors.PointsmanError as error:
                found[f"refused, {'x'.join(map(str, size))}"] = error.message
        if len(points) > 1:
            nodes, cycles = np.log([int(name) for name in points]), np.log(list(points.values()))
            exponent = round(float(np.polyfit(nodes, cycles, 1)[0]), 3)
            found[dimensions] = {"cycles": points, "exponent": exponent}
    return found


@example("C061")
def packet_matmul(quick: bool) -> Row:
    """Cycles of matrix multiplication on packet routers, mean of a node; the cycle model, which is equal to the RTL."""
    found: Row = {}
    for size in ("2x2",) if quick else ("2x2", "3x3", "4x4", "5x5", "6x6", "10x10"):
        result = pointsman.run(MATMUL, size, target="packet", engine="model", arguments={"size": 60})
        assert result.correct
        frame = result.frame("nodes")
        found[size] = {name: float(frame[name].mean()) for name in frame if name in ("cpu", "write", "read", "psync")}
        found[size]["total"] = result.total_cycles
        print(f"  {size}: {found[size]}", file=sys.stderr, flush=True)
    return found


def _switch(cycles: int, guard: int = 0) -> SwitchShape:
    return SwitchShape(ports=8, slots=4, width=64, queue_depth=1024, slot_cycles=cycles, guard_cycles=guard)


TURNS = tuple(tuple((u + step) % 8 for u in range(8)) for step in range(1, 5))
FOREVER = tuple((1 << 30,) * 8 for _ in range(4))


def _share(programs: list[list[tuple[int, int]]], shape: SwitchShape, registers: int, window: int = 1 << 30) -> float:
    """Words a cycle of the busiest link, with so many registers preloaded."""
    traffic = traffic_of(programs)
    preload = Preload(TURNS[:registers], registers, FOREVER[:registers])
    done = run(shape, traffic, preload=preload, pace=Pace(256, window))
    return traffic.least_cycles / (done.cycles + 1)


@example("C191 C192")
def shares(quick: bool) -> Row:
    """A connection's share of its link when k slots are preloaded; and of s connections together at degree four."""
    alone = {k: _share([[(1, 4000)], *[[]] * 7], _switch(10), k) for k in (1, 2, 3, 4)}
    used = {s: _share([[(step, 1000) for step in range(1, s + 1)], *[[]] * 7], _switch(10), 4) for s in (1, 2, 3, 4)}
    one_at_a_time = _share([[(1 + at % 4, 8) for at in range(400)], *[[]] * 7], _switch(10), 4, window=1)
    dynamic = _share([[(1 + at % 4, 256) for at in range(40)], *[[]] * 7], _switch(10), 0, window=1)
    return {
        "one of k": {str(k): round(value, 3) for k, value in alone.items()},
        "s of four": {str(s): round(value, 3) for s, value in used.items()},
        "one message at a time, four preloaded": round(one_at_a_time, 3),
        "one message at a time, none preloaded": round(dynamic, 3),
    }


@example("C193")
def guard_band(quick: bool) -> Row:
    """A slot of 1 µs with a guard band of 50 ns: what a connection that has every slot gets."""
    return {"share": round(_share([[(1, 20_000)], *[[]] * 7], _switch(100, 5), 1), 4)}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="ids of claims, separated by commas")
    parser.add_argument("--quick", action="store_true", help="the smallest cases")
    parser.add_argument("--into", type=Path, help="file: add to the results there, in place of printing them")
    options = parser.parse_args()
    asked = set(options.only.split(",")) - {""}
    if unknown := asked - {number for name in EXAMPLES for number in name.split()}:
        parser.error(f"there are no examples for {', '.join(sorted(unknown))}")
    known = json.loads(options.into.read_text())["examples"] if options.into and options.into.exists() else {}
    answer: Row = {"benchmark": "worked_examples", "python": platform.python_version(), "examples": known}
    for name, function in EXAMPLES.items():
        if asked & set(name.split()) or (not asked and name not in known):
            began = time.process_time()
            row = function(options.quick)
            row["seconds"] = round(time.process_time() - began, 1)
            print(f"{name}: {json.dumps(row)}", file=sys.stderr, flush=True)
            answer["examples"][name] = row
            if options.into is not None:
                write_whole(options.into, json.dumps(answer, indent=1) + "\n")
    if options.into is None:
        print(json.dumps(answer, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
