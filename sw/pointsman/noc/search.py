"""Routes of flows with exactly the words that they demand, and slots at their ports: what is guaranteed to each.

Takes flows with the node of each task; gives a timetable that keeps every demand, or says why there is none. Periods are tried
from the shortest on, in which words wait the least for their slots. A flow whose words could come late gets one more word in a
period.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

import numpy as np

from numesh.codes import FIRST_FREE_VFSM
from pointsman.artifacts.flows.flows import Flow, FlowSet
from pointsman.artifacts.images.images import Images
from pointsman.artifacts.routes.routes import RouteProblem, RouteStream
from pointsman.errors import PointsmanError
from pointsman.routing.network_router.arrays import DELIVER
from pointsman.routing.network_router.moves import assemble_phase
from pointsman.routing.network_router.packing import (
    PackedChain,
    PackingArrays,
    PackingAttempt,
    PackingProblem,
    PackingStream,
)
from pointsman.routing.route_images import route_images
from pointsman.routing.streams import RoutedPhase

from .timetable import FEWEST, Service, Way, WorstCase, services, worst_case

SHORTEST, LONGEST = 3, 64
"""Periods that are tried."""
TRIES, MORE = 3, 12
"""Attempts at a period at effort 1, and times that flows whose words come late get more words in an attempt."""
ROUNDS, PATIENCE, WORK = 300, 60, 100_000_000
MOST_REGISTERS, MOST_VFSMS = 256, 256
CHAIN = Fraction(1, 2)
"""Words a cycle of a flow: it has a VFSM, which runs in every other slot at most."""


@dataclass(frozen=True)
class Guarantee:
    """What a flow is given: words in a period, the bound of its words' latency at ``rate``, and its slots.

    ``rate``: words a cycle that the flow demands; of best effort, all that it gets.
    """

    flow: Flow
    rate: Fraction
    words: int
    service: Service
    worst: WorstCase
    hops: int

    @property
    def late(self) -> bool:
        """Some word may come later than the flow's limit."""
        return self.flow.latency is not None and self.worst.latency > self.flow.latency


@dataclass(frozen=True)
class GuaranteedNetwork:
    """A timetable that serves flows: the node of each task, the period, the images of the routers, and each flow's guarantee."""

    flows: FlowSet
    places: tuple[int, ...]
    period: int
    images: Images
    guarantees: tuple[Guarantee, ...]


def demanded(flow: Flow) -> Fraction:
    """Words a cycle, as written: 0.3 is 3/10; 0 of best effort."""
    return Fraction(str(flow.bandwidth))


def check_demands(flows: FlowSet) -> None:
    """Refuse demands that no timetable can keep, wherever the tasks are.

    Raises
    ------
    PointsmanError
        With the flows or the task, what they demand and what there is.
    """
    names = [task.name for task in flows.tasks]
    if not flows.flows:
        raise PointsmanError("there must be at least one flow", hint="docs/placement.md shows the form")
    for flow in flows.flows:
        if demanded(flow) > CHAIN:
            raise PointsmanError(
                f"flow '{flow.name}' demands {flow.bandwidth:g} words a cycle, and a flow can have at most {float(CHAIN):g}",
                hint="divide it into two flows, or use wider words",
            )
    loads = [Fraction(0)] * len(names)
    for flow in flows.flows:
        for task in (flow.source, *flow.destinations):
            loads[task] += demanded(flow)
    for task, load in enumerate(loads):
        if load > 1:
            ends = [flow.name for flow in flows.flows if task in (flow.source, *flow.destinations)]
            raise PointsmanError(
                f"task '{names[task]}' would move {float(load):g} words a cycle through its port, which can move 1 "
                f"({_some(ends)})",
                hint="divide the task into two, each with a part of the flows",
            )


def check_places(flows: FlowSet, problem: RouteProblem, places: Sequence[int]) -> None:
    """Refuse demands that no timetable can keep with the tasks at these nodes.

    Raises
    ------
    PointsmanError
        With the flow, what it demands and what there is.
    """
    names = [task.name for task in flows.tasks]
    for flow in flows.flows:
        hops = problem.distances(places[flow.source])
        for task in flow.destinations:
            if hops[places[task]] < 0:
                raise PointsmanError(
                    f"flow '{flow.name}': no way leads from node {places[flow.source]} to node {places[task]}, where "
                    f"'{names[task]}' is",
                    hint="a network that hangs together, or other places",
                )
        far = max(hops[places[task]] for task in flow.destinations)
        if flow.latency is not None and flow.latency < far + FEWEST:
            raise PointsmanError(
                f"flow '{flow.name}' must come within {flow.latency:g} cycles, and over {far} links no word is sure to "
                f"come in less than {far + FEWEST}",
                hint="a longer limit, or tasks nearer to each other ([[task]] with at)",
            )


def guarantee(
    flows: FlowSet, problem: RouteProblem, choices: Iterable[Sequence[int]], *, seed: int = 0, effort: float = 1.0
) -> GuaranteedNetwork:
    """A timetable that keeps all demands, for the first of several placements that has one.

    Parameters
    ----------
    flows : FlowSet
        Demands.
    problem : RouteProblem
        Network, and the pipelines and the width of a node; its other sizes become what the timetable needs. Without streams.
    choices : iterable of (sequence of int)
        Placements: the node of each task. At least one; taken as far as they are needed.

    Raises
    ------
    PointsmanError
        If a demand cannot be kept, or no timetable was found: what stood in the way of the first placement, at the period
        that came nearest.
    """
    check_demands(flows)
    refusals: list[PointsmanError] = []
    for places in choices:
        try:
            return _guarantee(flows, problem, places, seed, effort)
        except PointsmanError as error:
            refusals.append(error)
    raise refusals[0]


def _guarantee(
    flows: FlowSet, problem: RouteProblem, places: Sequence[int], seed: int, effort: float
) -> GuaranteedNetwork:
    check_places(flows, problem, places)
    streams = tuple(
        RouteStream(places[flow.source], tuple(places[task] for task in flow.destinations)) for flow in flows.flows
    )
    ends = [0] * problem.nodes
    for stream in streams:
        for node in (stream.source, *stream.destinations):
            ends[node] += 1
    registers = problem.shape.pipelines + max(ends)
    if registers > MOST_REGISTERS:
        busiest = flows.tasks[list(places).index(ends.index(max(ends)))].name
        raise PointsmanError(
            f"task '{busiest}' is an end of {max(ends)} flows, and a node can be one of at most "
            f"{MOST_REGISTERS - problem.shape.pipelines}",
            hint="divide the task into two, each with a part of the flows",
        )
    shape = replace(problem.shape, vfsms=MOST_VFSMS, schedule_depth=2 * LONGEST, registers=registers)
    problem = replace(problem, streams=streams, shape=shape)
    arrays = PackingArrays(_packing(problem))
    obstacles: list[_Obstacle] = []
    for period in range(SHORTEST, LONGEST + 1):
        for attempt in range(max(1, round(TRIES * effort))):
            found = _attempt(flows, places, arrays, problem, period, seed * 1000 + attempt)
            if isinstance(found, _Obstacle):
                obstacles.append(found)
                continue
            images, guarantees = found
            return GuaranteedNetwork(flows, tuple(places), period, images, guarantees)
    nearest = min(obstacles, key=lambda one: (one.rounded, one.failing))
    raise PointsmanError(
        f"no timetable was found that keeps all demands: {nearest.text}",
        hint="a higher --effort, another --seed, a larger network, more --pipelines, or lower demands",
    )


@dataclass(frozen=True)
class _Obstacle:
    """Why an attempt failed; ``failing``: flows or nodes that it failed for. ``rounded``: words did not fit into the period, in
    which each flow has a whole number of them, so that nothing was tried; in a longer period they may."""

    failing: int
    text: str
    rounded: bool = False


def _attempt(
    flows: FlowSet, places: Sequence[int], arrays: PackingArrays, problem: RouteProblem, period: int, seed: int
) -> tuple[Images, tuple[Guarantee, ...]] | _Obstacle:
    """A timetable of this period, with more and more words for flows that come late."""
    # Best effort gets a word in a period.
    rates = [demanded(flow) or Fraction(1, period) for flow in flows.flows]
    words = [ceil(rate * period) for rate in rates]
    names = [task.name for task in flows.tasks]
    late: list[str] = []
    for _ in range(MORE):
        for task, name in enumerate(names):
            load = sum(
                count
                for flow, count in zip(flows.flows, words, strict=True)
                if task in (flow.source, *flow.destinations)
            )
            if load > period:
                because = f", so that {_some(late)} may come in time" if late else ""
                return _Obstacle(
                    1 + len(late),
                    f"the port of '{name}' would make {load} accesses in {period} cycles{because}",
                    rounded=not late,
                )
        for flow, count in zip(flows.flows, words, strict=True):
            if 2 * count > period:
                return _Obstacle(
                    1 + len(late),
                    f"flow '{flow.name}' would need {count} of {period} slots, and can have half of them",
                    rounded=not late,
                )
        packing = PackingAttempt(arrays, period, words, [1] * len(words), hold=False, seed=seed)
        packing.run(ROUNDS, PATIENCE, WORK)
        outcome = packing.outcome()
        if outcome.chains is None:
            contested = [flows.flows[index].name for index in outcome.contested]
            return _Obstacle(
                1 + len(contested), f"in {period} cycles {_some(contested)} want the same links or pipelines"
            )
        chains = sorted(outcome.chains, key=lambda chain: chain.stream)
        images = route_images(_trimmed(problem, period, chains))
        ways = [_way(problem, images, chain) for chain in chains]
        served = services(ways, period)
        if any(isinstance(one, int) for one in served):
            crowded = [names[places.index(node)] for node in served if isinstance(node, int)]
            return _Obstacle(
                len(served), f"in {period} cycles the ports of {_some(crowded)} are wanted at the same time"
            )
        guarantees = []
        for flow, rate, count, way, service in zip(flows.flows, rates, words, ways, served, strict=True):
            assert isinstance(service, Service)
            away = problem.distances(way.node)
            hops = max(away[node] for node, _ in way.ends)
            guarantees.append(Guarantee(flow, rate, count, service, worst_case(service, period, rate), hops))
        late = [one.flow.name for one in guarantees if one.late]
        if not late:
            return images, tuple(guarantees)
        words = [count + one.late for count, one in zip(words, guarantees, strict=True)]
    return _Obstacle(len(late), f"in {period} cycles words of {_some(late)} could come late")


def _packing(problem: RouteProblem) -> PackingProblem:
    links, shape = problem.links, problem.shape
    alive = np.ones(problem.nodes, np.bool_)
    alive[list(problem.dead_nodes)] = False
    return PackingProblem(
        nodes=problem.nodes,
        pipelines=shape.pipelines,
        links=links,
        wires=tuple(range(len(links))),
        room=shape.vfsms - FIRST_FREE_VFSM,
        registers=shape.registers - shape.pipelines,
        alive=alive,
        streams=tuple(PackingStream(stream.source, stream.destinations) for stream in problem.streams),
    )


def _trimmed(problem: RouteProblem, period: int, chains: Sequence[PackedChain]) -> RoutedPhase:
    """The routes, on nodes with as many VFSMs and schedule entries as they need: a loader phase, and this one."""
    used = Counter(place for chain in chains for place in chain.ops[:, 0].tolist())
    vfsms = _power(FIRST_FREE_VFSM + max(used.values()))
    shape = replace(problem.shape, vfsms=vfsms, schedule_depth=_power(2 * period))
    return assemble_phase(replace(problem, shape=shape), period, chains)


def _power(least: int) -> int:
    return 1 << (least - 1).bit_length()


def _way(problem: RouteProblem, images: Images, chain: PackedChain) -> Way:
    promise = images.promises[chain.stream]
    into = dict(promise.destinations)
    ends = {
        place // problem.shape.pipelines: offset
        for place, offset, _, _, destination, _ in chain.ops.tolist()
        if destination == DELIVER
    }
    order = problem.streams[chain.stream].destinations
    return Way(
        promise.source,
        chain.starts,
        tuple((node, ends[node]) for node in order),
        (promise.register, *(into[node] for node in order)),
    )


def _some(names: Sequence[str]) -> str:
    """The first few of some names."""
    shown = ", ".join(f"'{name}'" for name in names[:4])
    return f"{shown} and {len(names) - 4} more" if len(names) > 4 else shown
