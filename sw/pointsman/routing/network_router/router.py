"""``pointsman route`` for the NuMesh node: streams to routes and timeslots that keep all rules of the node.

Takes a ``RouteProblem``; gives a ``RouteResult`` with every word's path, every node's timetable and their images. The smallest
bandwidth / weight is made as large as the budget allows, then streams that have room get more words (Metcalf 1997,
§6.3.1). Does not check the answer: callers ask the judge to.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from numesh.codes import FIRST_FREE_VFSM
from pointsman.artifacts.images.images import Images
from pointsman.artifacts.routes.routes import RoutedWords, RouteProblem, RouteResult, RouteStream
from pointsman.kernels import is_cold
from pointsman.network import mesh
from pointsman.routing import network_router
from pointsman.routing.bounds.numesh import numesh_bounds
from pointsman.routing.errors import RoutingError
from pointsman.routing.ideal_router.explain import PeriodError
from pointsman.routing.options import FREE, USUAL, RouteConstraints, RouteOptions
from pointsman.routing.route_images import route_images
from pointsman.routing.streams import RoutedPhase

from .leftover import fill
from .levels import Best, Levels
from .moves import assemble_phase, chains_of, node_tables, routed_phase, words_of
from .packing import PackedChain, PackingArrays, PackingProblem, PackingStream

SHORTEST = 3
"""Shortest period that is tried: a VFSM runs in every second slot at most, and a slot is kept for reprogramming."""


def route_streams(
    problem: RouteProblem, options: RouteOptions = USUAL, constraints: RouteConstraints = FREE
) -> RouteResult:
    """Route all streams of ``problem``; ``words`` of the streams are ignored.

    Without a length the period is chosen: at most a third of the schedule memory, so that two schedules and the loader phase
    fit. The result has the images of the routes: callers must have the judge check them before they give them to a user.

    Raises
    ------
    PeriodError
        If not even a word per period could be routed for every stream: its report tells what is saturated.
    RoutingError
        If length, effort or shape do not fit the problem.
    """
    length = options.length
    _check(problem, length, options.effort)
    prepare(options.progress)
    started = time.perf_counter()
    longest = max(2, problem.shape.schedule_depth // 3)
    periods = [length] if length is not None else list(range(min(SHORTEST, longest), longest + 1))
    packing = packing_problem(problem, constraints)
    fixed = _fixed(problem, constraints.pinned, length)
    if constraints.cost is not None and length is None:
        raise RoutingError("a cost by slot needs a length")
    routed, reason = _routed(problem, packing, fixed, periods, options)
    seconds = time.perf_counter() - started
    images = route_images(routed)
    started = time.perf_counter()
    found = tuple(numesh_bounds(problem, routed.period)) if options.bounds and problem.streams else ()
    return RouteResult(
        router="numesh",
        period=routed.period,
        streams=tuple(words_of(routed, index) for index in range(len(problem.streams))),
        bound=found[0] if found else None,
        bounds=found,
        seconds=seconds,
        bound_seconds=time.perf_counter() - started,
        nodes=node_tables(images),
        length_reason=reason,
        images=images,
    )


@cache
def prepare(progress: bool = False) -> None:
    """Compile the kernels, or load them from the cache, by routing a small problem, so that later routing is timed without it."""
    if progress and is_cold(Path(network_router.__file__).parent):
        tqdm.write("compiling the router (once, up to a minute) …", file=sys.stderr)
    streams = (RouteStream(0, (1,)), RouteStream(1, (0, 2)))
    problem = RouteProblem(mesh(3), streams)
    _routed(problem, packing_problem(problem, FREE), [], [5], RouteOptions(length=5, effort=1e-6))


def route_to_images(problem: RouteProblem, result: RouteResult) -> Images:
    """The images of ``result``, made from its words: for the judge, and for running them."""
    return route_images(routed_phase(problem, result))


def _check(problem: RouteProblem, length: int | None, effort: float) -> None:
    shape = problem.shape
    if length is not None and not 2 <= length <= shape.schedule_depth // 2:
        raise RoutingError(
            f"the period must have 2 to {shape.schedule_depth // 2} slots, not {length}",
            hint=f"the loader phase needs as many of the {shape.schedule_depth} schedule entries",
        )
    if not 0 < effort <= 1000:
        raise RoutingError(f"effort must be above 0 and at most 1000, not {effort}")
    if problem.topology.ports > shape.neighbours:
        raise RoutingError(
            f"the network needs {problem.topology.ports} links a node, the shape has {shape.neighbours} neighbours"
        )
    if shape.vfsms <= FIRST_FREE_VFSM and problem.streams:
        raise RoutingError(f"{shape.vfsms} VFSMs a pipeline leave none for streams", hint="numbers 0 and 1 are taken")
    _check_registers(problem)


def _check_registers(problem: RouteProblem) -> None:
    """Raise RoutingError if a node has fewer interface registers than ends of streams."""
    free = problem.shape.registers - problem.shape.pipelines
    count = [0] * problem.nodes
    for stream in problem.streams:
        for node in (stream.source, *stream.destinations):
            count[node] += 1
    worst = max(range(problem.nodes), key=lambda node: count[node], default=0)
    if count and count[worst] > free:
        raise RoutingError(
            f"node {worst} is an end of {count[worst]} streams and has {free} interface registers for them "
            f"({problem.shape.registers} less one for each pipeline's commands)",
            hint=f"a shape with {count[worst] + problem.shape.pipelines} registers, or fewer streams at once",
        )


def _fixed(problem: RouteProblem, pinned: Mapping[int, RoutedWords], length: int | None) -> list[PackedChain]:
    """Chains of the pinned words, which stay in their pipelines and slots."""
    if not pinned:
        return []
    if length is None:
        raise RoutingError("pinned words need the length of their period")
    for index, routed in pinned.items():
        if not 0 <= index < len(problem.streams):
            raise RoutingError(f"there is no stream {index} to pin (0..{len(problem.streams) - 1})")
        for word in routed.words:
            for node, slot, to, *_ in word[1:]:
                if not 0 <= slot < length or (to is not None and to != node and (node, to) not in problem.links):
                    raise RoutingError(f"the pinned words of stream {index} do not fit the network or {length} slots")
    return chains_of(problem, pinned, length)


def packing_problem(
    problem: RouteProblem, constraints: RouteConstraints, closed: tuple[tuple[int, int], ...] = ()
) -> PackingProblem:
    """The problem in the numbers of a packing; ``closed``: (link, slot) not to be used."""
    shape, links, keep_in = problem.shape, problem.links, constraints.keep_in
    wires: dict[tuple[int, int], int] = {}
    of = tuple(
        wires.setdefault((min(u, v), max(u, v)) if shape.aliased_handshake else (u, v), len(wires)) for u, v in links
    )
    alive = np.ones(problem.nodes, np.bool_)
    alive[list(problem.dead_nodes)] = False
    return PackingProblem(
        nodes=problem.nodes,
        pipelines=shape.pipelines,
        links=links,
        wires=of,
        room=shape.vfsms - FIRST_FREE_VFSM,
        registers=shape.registers - shape.pipelines,
        alive=alive,
        streams=tuple(
            PackingStream(s.source, s.destinations, s.weight, frozenset(keep_in[i]) if i in keep_in else None)
            for i, s in enumerate(problem.streams)
        ),
        cell_price=constraints.cost,
        closed=closed,
    )


def _routed(
    problem: RouteProblem,
    packing_problem: PackingProblem,
    fixed: list[PackedChain],
    periods: list[int],
    options: RouteOptions,
) -> tuple[RoutedPhase, str]:
    """The routes, and a text that says why the period has this length."""
    shape = problem.shape
    if not problem.streams:
        return RoutedPhase(shape, problem.topology, periods[-1], (), ()), "no streams"
    arrays = PackingArrays(packing_problem)
    _check_reach(problem, packing_problem)
    bar = tqdm(desc="routing", unit=" levels", leave=False, disable=None if options.progress else True)

    def tell(line: str) -> None:
        bar.set_postfix_str(line, refresh=False)
        bar.update()

    try:
        search = Levels(
            arrays,
            periods,
            fixed=fixed,
            seed=options.seed,
            effort=options.effort,
            time_limit=options.time_limit,
            tell=tell,
        )
        best = search.run()
    finally:
        bar.close()
    if best is None:
        raise _failed(problem, search, periods)
    chains = fill(
        arrays,
        best.level.slots,
        best.chains,
        search.weights,
        hold=True,
        pinned=search.pinned,
        seed=options.seed,
        slack=search.slack,
    )
    routed = assemble_phase(problem, best.level.slots, chains)
    return routed, _reason(best, periods, given=options.length is not None)


def _check_reach(problem: RouteProblem, packing_problem: PackingProblem) -> None:
    """Raise RoutingError if a stream has no path inside the nodes that it may use (``make_problem`` checks the whole network)."""
    for index, (stream, carried) in enumerate(zip(problem.streams, packing_problem.streams, strict=True)):
        if carried.nodes is None:
            continue
        inside = carried.nodes
        reached, fringe = {stream.source} & inside, [stream.source]
        while fringe:
            for after in problem.following[fringe.pop()]:
                if after in inside and after not in reached:
                    reached.add(after)
                    fringe.append(after)
        missed = [node for node in (stream.source, *stream.destinations) if node not in reached]
        if missed:
            raise RoutingError(f"stream {index} cannot reach node {missed[0]} inside the nodes that it may use")


def _reason(best: Best, periods: list[int], *, given: bool) -> str:
    if given:
        return "the length was given"
    return (
        f"of {periods[0]} to {periods[-1]} slots, {best.level.slots} gave the greatest smallest share found: "
        f"{min(best.level.words)} words or more for every stream, {float(best.level.share):.4f} per slot and weight"
    )


def _failed(problem: RouteProblem, search: Levels, periods: list[int]) -> PeriodError:
    """The error of a failed search: resources that counting finds saturated, and the conflicts that the search left."""
    length = periods[-1]
    bounds = list(numesh_bounds(problem, length, flow=False))
    needed = min((stream.weight for stream in problem.streams), default=1.0)
    report: dict[str, Any] = {
        "router": "numesh",
        "infeasible": True,
        "length": length,
        "bounds": [{"value": bound.value, "kind": bound.kind, "text": bound.text} for bound in bounds],
        "conflicts": 0,
        "nodes": [],
        "streams": [],
        "changes": ["a longer period", "more pipelines", "fewer streams at once"],
    }
    tight = f"; the tightest bound is {bounds[0].kind}: {bounds[0].text}" if bounds else ""
    # A word per period is a bandwidth of 1 / period.
    report["proved"] = bool(bounds) and bounds[0].value < 1 / (length * max(needed, 1e-12)) - 1e-12
    count = [0] * problem.nodes
    for stream in problem.streams:
        for node in (stream.source, *stream.destinations):
            count[node] += 1
    worst = max(range(problem.nodes), key=lambda node: count[node])
    least = -(-count[worst] // problem.shape.pipelines) + 1
    if least > length:
        report |= {
            "proved": True,
            "nodes": [worst],
            "streams": [
                {"source": stream.source, "destinations": list(stream.destinations)}
                for stream in problem.streams
                if worst in (stream.source, *stream.destinations)
            ],
            "changes": [f"a length of {least} slots", "more pipelines", f"fewer streams that end at node {worst}"],
        }
        return PeriodError(
            f"one word for every stream does not fit into {length} slots: node {worst} is an end of {count[worst]} streams, "
            f"and {problem.shape.pipelines} pipelines have {problem.shape.pipelines * (length - 1)} slots for them, one of each "
            "being kept",
            report,
            hint=f"a length of {least} slots at least, or more pipelines",
        )
    if not search.failures:
        return PeriodError(
            f"no period of {periods[0]} to {length} slots gives every stream a chain{tight}",
            report,
            hint="a shape with more interface registers, VFSMs or pipelines, or fewer streams at once",
        )
    level, outcome = search.failures[-1]
    report |= {
        "conflicts": outcome.conflicts,
        "nodes": outcome.nodes,
        "streams": [
            {"source": problem.streams[i].source, "destinations": list(problem.streams[i].destinations)}
            for i in outcome.contested
        ],
    }
    names = ", ".join(
        f"{problem.streams[i].source} to {'/'.join(map(str, problem.streams[i].destinations[:4]))}"
        for i in outcome.contested[:5]
    )
    where = f" at nodes {', '.join(map(str, outcome.nodes[:5]))}" if outcome.nodes else ""
    return PeriodError(
        f"one word for every stream does not fit into {level.slots} slots: {outcome.conflicts} conflicts stay{where}, "
        f"among {len(outcome.contested)} streams ({names}){tight}",
        report,
        hint="a longer period, more pipelines, or fewer streams at once",
    )
