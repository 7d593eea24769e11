"""The schedule of a collective: constructions first, and a search only where these are above the bound."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from pointsman.artifacts.routes.collectives import (
    MAX_MOVES,
    PAIRWISE,
    ROOTED,
    CollectiveProblem,
    CollectiveResult,
    CollectiveWord,
    Kind,
    Words,
)
from pointsman.artifacts.routes.routes import Bound, RouteProblem
from pointsman.errors import PointsmanError
from pointsman.routing.bounds.ideal import CELLS_PER_SECOND, LINEAR, flow_bound, flow_work, is_linear
from pointsman.routing.ideal_router.router import route_ideal
from pointsman.routing.options import USUAL, RouteOptions

from . import rooted
from .around import around
from .bounds import latency_bound, period_bounds, reversed_net
from .flooding import on_a_tree
from .packing import pack
from .schedule import Schedule, backwards, repeated
from .trees import avoiding_tree, depths, shortest_tree

SEARCHED_NODES = 36
"""Nodes up to which an all-gather above its bound is also searched as streams."""
APART_NODES = 16
"""Nodes up to which words of a reduce-scatter are also sent by themselves: among more, of those tried, this never took less."""
MAX_PAIRS = 200_000
SEARCHED_WORDS = 4096
"""Words of all pairs up to which several words of each are searched together; with more, a search takes minutes for some per
cent."""
BEST_CENTRES = 3
"""Centres of an all-reduce that are best for a word, for which all words are packed."""
MOST_PACKED = 16
"""Words up to which those of an all-reduce are packed together; more are repeated, which is found to be as short."""
MOST_FLOW_WORK = CELLS_PER_SECOND


def route_collective(problem: CollectiveProblem, options: RouteOptions = USUAL) -> CollectiveResult:
    """Schedule a collective in the ideal model, in a period as short as possible.

    Raises
    ------
    PointsmanError
        If a node cannot reach another, or the collective has more than ``MAX_MOVES`` moves, or is too long for
        ``options.length``.
    """
    began = time.perf_counter()
    net, nodes = problem.net, problem.nodes
    if not rooted.is_connected(net, nodes):
        raise PointsmanError("a collective must be on nodes that all reach each other; faults cut some of them off")
    if problem.kind in ROOTED and problem.root not in nodes:
        raise PointsmanError(f"root: the root must be a working node, not {problem.root}")
    _check_size(problem)
    bounds = period_bounds(problem)
    late = latency_bound(problem)
    bound_seconds = time.perf_counter() - began
    began = time.perf_counter()
    least = int(bounds[0].value) if bounds else 1
    if options.length is not None and options.length < least:
        raise PointsmanError(
            f"{options.length} slots are too few, {least} are needed ({bounds[0].kind}): {bounds[0].text}",
            hint=f"a length of {least} slots at least",
        )
    if len(nodes) < 2:
        return CollectiveResult(problem, 1, 0, (), "nothing to send", seconds=time.perf_counter() - began)
    if problem.kind in PAIRWISE:
        schedule, known = _pairs(problem, least, options)
        bounds = sorted([*bounds, *known], key=lambda bound: -bound.value)
        ordered = True
    else:
        schedule, ordered = _scheduled(problem, least, options)
    period = _length(net, schedule, options)
    return CollectiveResult(
        problem,
        period,
        schedule.latency,
        schedule.words,
        schedule.method,
        ordered=ordered,
        bounds=tuple(bounds),
        latency_bound=late,
        seconds=time.perf_counter() - began,
        bound_seconds=bound_seconds,
    )


def all_gather(net: RouteProblem, nodes: tuple[int, ...], words: int, least: int, options: RouteOptions) -> Schedule:
    """All-gather of ``words`` words a node: round a cycle if there is a long one, otherwise on trees."""
    flooded = on_a_tree(net, nodes, words)
    if flooded is not None and flooded.period <= least:
        return flooded
    found = repeated(all_gather_once(net, nodes, -(-least // words), options), words)
    return found if flooded is None or found.period <= flooded.period else flooded


def all_gather_once(net: RouteProblem, nodes: tuple[int, ...], least: int, options: RouteOptions) -> Schedule:
    """All-gather of a word a node round a cycle if there is a long one, otherwise packed."""
    made = around(net, nodes, least, options.seed)
    if made is not None and (made.period <= least or len(nodes) > SEARCHED_NODES):
        return made
    found = [] if made is None else [made]
    shortest = _packed(net, nodes, least, options.seed, None if made is None else made.period)
    if shortest is not None:
        found.append(shortest)
    return min(found, key=lambda schedule: schedule.period)


def _scheduled(problem: CollectiveProblem, least: int, options: RouteOptions) -> tuple[Schedule, bool]:
    """A schedule of a kind that is not pairwise, and whether it combines words in the order of the nodes' numbers."""
    net, nodes, words = problem.net, problem.nodes, problem.words
    kind = problem.kind
    plain = net.topology.regular and not net.dead_nodes and not net.dead_links
    if problem.ordered and (kind == "reduce-scatter" or (kind in ("reduce", "all-reduce") and not plain)):
        return _combined_at_the_end(problem, options), True
    simple: dict[str, Callable[[CollectiveProblem], Schedule]] = {
        "broadcast": rooted.broadcast,
        "reduce": rooted.reduce,
        "gather": rooted.gather,
        "scatter": rooted.scatter,
    }
    if kind in simple:
        return simple[kind](problem), kind != "reduce" or (plain and _in_order(problem))
    if kind == "all-reduce":
        made = rooted.all_reduce(problem)
        if made is None:
            made = _reduced_then_spread(problem)
        return made, plain and _in_order(problem)
    if kind == "all-gather":
        return all_gather(net, nodes, words, least, options), True
    assert kind == "reduce-scatter"
    return _reduced_and_scattered(problem, least, options)


def _reduced_and_scattered(problem: CollectiveProblem, least: int, options: RouteOptions) -> tuple[Schedule, bool]:
    """A reduce-scatter that combines words on their way, or at the end where that takes less (mesh of 3×3: 8 slots, not 9)."""
    back = replace(problem, net=reversed_net(problem.net), kind="all-gather")
    gathered = int(period_bounds(back)[0].value)
    found = backwards(all_gather(back.net, back.nodes, back.words, gathered, options))
    if least < found.period and len(problem.nodes) <= APART_NODES:
        if period_bounds(replace(problem, kind="all-to-all"))[0].value < found.period:
            apart = _combined_at_the_end(problem, options)
            if apart.period < found.period:
                return apart, True
    return found, len(problem.nodes) < 3


def _in_order(problem: CollectiveProblem) -> bool:
    """Does the tree that ``rooted`` chooses combine in order?"""
    return problem.ordered or problem.net.topology.kind == "mesh"


def _combined_at_the_end(problem: CollectiveProblem, options: RouteOptions) -> Schedule:
    """Every word goes by itself to where the result is, whose processor combines them in order."""
    instead: Kind = (
        "gather" if problem.kind == "reduce" else "all-gather" if problem.kind == "all-reduce" else "all-to-all"
    )
    other = replace(problem, kind=instead, ordered=False)
    least = int(period_bounds(other)[0].value)
    schedule = _pairs(other, least, options)[0] if instead in PAIRWISE else _scheduled(other, least, options)[0]

    def make(index: int) -> CollectiveWord:
        word = schedule.words[index]
        # The item is that of the result; the centre says whose word it is.
        item = word.item[1:] if problem.kind == "reduce-scatter" else word.item[-1:]
        return replace(word, item=item)

    return Schedule(schedule.period, Words(len(schedule.words), make), f"{schedule.method}; combined where it ends")


def _reduced_then_spread(problem: CollectiveProblem) -> Schedule:
    """All-reduce where the trees up and down share links: the slots of the words that go up are followed by those
    that go down."""
    one = replace(problem, words=1)
    by_centre = {centre: _meeting_at(one, centre) for centre in rooted.centres(problem.nodes)}
    best = sorted(by_centre, key=lambda centre: by_centre[centre].period)[:BEST_CENTRES]
    made = [repeated(by_centre[best[0]], problem.words)]
    if 1 < problem.words <= MOST_PACKED:
        made += [_meeting_at(problem, centre) for centre in best]
    return min(made, key=lambda schedule: schedule.period)


def _meeting_at(problem: CollectiveProblem, centre: int) -> Schedule:
    net, words = problem.net, problem.words
    up = shortest_tree(net, centre, inward=True)
    down = avoiding_tree(net, centre, frozenset(up.items()))
    up_depth, down_depth = depths(up, centre), depths(down, centre)
    slot = max(up_depth.values())
    links = {link: at for at, link in enumerate(net.links)}
    cells = [(links[node, after], slot - up_depth[node]) for node, after in up.items()]
    cells += [(links[before, node], slot + down_depth[before]) for node, before in down.items()]
    count, nodes = len(links), net.nodes
    cells += [(count + node, slot - up_depth[node]) for node in [*up, centre]]
    cells += [(count + nodes + node, slot + down_depth[node]) for node in [*down, centre]]
    packed = pack([np.array(cells, np.int64)] * words, count + 2 * nodes, words)
    assert packed is not None
    period, starts = packed
    first = CollectiveWord(
        (0,),
        centre,
        slot,
        inward=rooted.inward_moves(up, centre, slot),
        outward=rooted.outward_moves(down, centre, slot),
        destinations=np.array(list(down), np.int64),
        kept=True,
    )
    return Schedule(period, Words(words, lambda index: first.later(starts[index], (index,))), "shortest trees, packed")


def _packed(net: RouteProblem, nodes: tuple[int, ...], least: int, seed: int, known: int | None) -> Schedule | None:
    """All-gather on a shortest tree from each node, packed; None if that is not shorter than ``known``."""
    links = {link: at for at, link in enumerate(net.links)}
    trees = [shortest_tree(net, node) for node in nodes]
    words = []
    for node, parent in zip(nodes, trees, strict=True):
        depth = depths(parent, node)
        cells = [(links[before, after], depth[before]) for after, before in parent.items()]
        cells += [(len(links) + after, depth[after]) for after in parent]
        words.append(np.array(cells, np.int64))
    packed = pack(words, len(links) + net.nodes, least, most=None if known is None else known - 1, seed=seed)
    if packed is None:
        return None
    period, starts = packed

    def make(index: int) -> CollectiveWord:
        node, parent = nodes[index], trees[index]
        moves = rooted.outward_moves(parent, node, starts[index])
        return CollectiveWord((node, 0), node, starts[index], outward=moves, destinations=moves[:, 2])

    return Schedule(period, Words(len(nodes), make), "shortest trees, packed")


def _pairs(problem: CollectiveProblem, least: int, options: RouteOptions) -> tuple[Schedule, list[Bound]]:
    """A kind that is pairwise, by the router of streams: a word a pair, repeated, if that meets the bound; otherwise several
    words together, repeated, too. With it the bound of the linear program, if that was solved."""
    words, one = problem.words, replace(problem, words=1)
    net = replace(problem.net, streams=one.streams(), buffers=False)
    once, bounds = _pairs_at_once(net, options)
    repeats = repeated(once, words)
    if words == 1 or repeats.period <= least:
        return repeats, bounds if words == 1 else []
    flow = flow_bound(net, times=words) if is_linear(net) and flow_work(net) <= MOST_FLOW_WORK else None
    bounds = [] if flow is None else [flow]
    if flow is not None and repeats.period <= flow.value:
        return repeats, bounds
    times = -(-words // min(words, max(2, SEARCHED_WORDS // len(net.streams))))
    several = -(-words // times)
    streams = tuple(replace(stream, words=several) for stream in net.streams)
    found, _ = _pairs_at_once(replace(net, streams=streams), options)
    return min((repeats, repeated(found, words)), key=lambda schedule: schedule.period), bounds


def _pairs_at_once(net: RouteProblem, options: RouteOptions) -> tuple[Schedule, list[Bound]]:
    """All words of streams of pairs, and the bound of the linear program."""
    result = route_ideal(net, replace(options, length=None))
    words: list[CollectiveWord] = []
    for stream, routed in zip(net.streams, result.streams, strict=True):
        for index, moves in enumerate(routed.words):
            hops = [move[:3] for move in moves if move[0] is not None and move[2] is not None]
            start = hops[0][1]
            table = np.array([(before, start + at, after) for at, (before, _, after) in enumerate(hops)], np.int64)
            item = (stream.source, stream.destinations[0], index)
            words.append(
                CollectiveWord(item, stream.source, start, outward=table, destinations=list(stream.destinations))
            )
    schedule = Schedule(result.period, words, "; ".join(["search", *result.notes]))
    return schedule, [bound for bound in result.bounds if bound.kind == LINEAR]


def _length(net: RouteProblem, schedule: Schedule, options: RouteOptions) -> int:
    """The period, which is the length asked for if the schedule also goes with that."""
    if options.length is None or options.length == schedule.period:
        return schedule.period
    if options.length < schedule.period:
        raise PointsmanError(
            f"{options.length} slots are too few for what was found, {schedule.period}",
            hint="no proof says that fewer are impossible; leave out the length",
        )
    if not _fits(net, schedule, options.length):
        raise PointsmanError(
            f"this collective is done in {schedule.period} slots, and its schedule does not fit {options.length}",
            hint="leave out the length",
        )
    return options.length


def _fits(net: RouteProblem, schedule: Schedule, period: int) -> bool:
    """Does the schedule also go with a longer period?"""
    rows = {link: at for at, link in enumerate(net.links)}
    used = np.zeros((len(rows) + 2 * net.nodes, period), np.bool_)
    for word in schedule.words:
        cells = []
        for before, slot, after, _, _ in word.moves():
            if before is None:
                assert after is not None
                cells.append((len(rows) + after, slot % period))
            elif after is None:
                cells.append((len(rows) + net.nodes + before, slot % period))
            else:
                cells.append((rows[before, after], slot % period))
        at = tuple(np.array(cells).T)
        if used[at].any() or len(set(cells)) < len(cells):
            return False
        used[at] = True
    return True


def _check_size(problem: CollectiveProblem) -> None:
    count, words = len(problem.nodes), problem.words
    trees = {"all-gather": count, "reduce-scatter": count, "all-reduce": 2}.get(problem.kind, 1)
    moves = words * trees * count
    if moves > MAX_MOVES:
        raise PointsmanError(
            f"a collective must have at most {MAX_MOVES} moves, not about {moves}",
            hint="a schedule of fewer words can be repeated",
        )
    if problem.kind == "all-to-all" and count * (count - 1) > MAX_PAIRS:
        raise PointsmanError(f"an all-to-all must have at most {MAX_PAIRS} pairs of nodes, not {count * (count - 1)}")


__all__: Sequence[str] = ("all_gather_once", "route_collective")
