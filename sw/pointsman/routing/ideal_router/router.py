"""The ideal router: the shortest period in which every stream gets its words.

First a period that works is found, from the bound upwards with little work each; then shorter periods, down to the bound,
are tried with more and more work. Work is counted, not timed, so that the same problem and seed give the same
answer on every machine, unless there is a time limit.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from tqdm import tqdm

from pointsman.artifacts.routes.routes import Bound, RouteProblem, RouteResult, RouteStream
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.routing.bounds.counting import least_links, possible_period
from pointsman.routing.bounds.ideal import CELLS_PER_SECOND, counted_bounds, flow_bound, flow_work, is_linear
from pointsman.routing.errors import RoutingError
from pointsman.routing.options import USUAL, RouteOptions

from .arrays import Net
from .attempt import METHODS, Attempt, Method, try_attempt
from .explain import explain_period
from .model import Placement, net_of, routed_words
from .symmetry import Symmetry, no_symmetry, symmetries

MAX_PERIOD = 65_536
MAX_CELLS = 1 << 28
FIRST_WORK = 40_000_000
SECOND_WORK = 7_000_000_000
"""Most cells that the second part (`_improve`, `_find`) may visit at effort 1: ten to thirty seconds."""
FEW_PASSES, MANY_PASSES = 25, 40
"""Work of an attempt, in passes that place every word once: in the first part (`_ascend`), and at the start of the second."""
FIRST_PORTION = 1 / 16
"""Without symmetry, the share of its usual work that an attempt of the second part gets at first: ways that are not the shortest
are often found at once where the shortest never fit, and the other way round."""
LARGE_PASSES = 200
"""Work of the second part for large problems without symmetry, in passes, where that is more than `SECOND_WORK`."""
MOST_PASSES = 100_000
"""Most passes of the second part: small problems that so many do not solve are not solved by more."""
GROWTH = 5
"""A shorter period may take so many times the work of the last one, in large problems (`_descend`)."""
WORK_PER_SECOND = CELLS_PER_SECOND
FREE_WORK = WORK_PER_SECOND // 20
"""Work that a linear program may take in any case."""
NO_FLOW = "bounds: the linear program is left out, it would take longer than the routing"


@dataclass
class _Search:
    """Problem, limits and counters that both parts of the search share."""

    problem: RouteProblem
    net: Net
    groups: list[Symmetry]
    seed: int
    effort: float
    deadline: float | None
    work_of_pass: int
    full_links: bool
    """Do links bound the period, so that detours will hardly help?"""
    bounds: list[Bound]
    """What is known, tightest first."""
    bar: tqdm
    told: bool
    """Is the linear program among the bounds, or not wanted?"""
    bound_seconds: float = 0.0
    """Time that bounds took during the search; it is not counted as that of the search."""
    spent: int = 0
    tries: int = 0
    left_out: float = 0.0
    """Share of the words that the last try had no place for."""

    @property
    def usual_work(self) -> int:
        """Work on a length that is asked for, and of the second part unless the problem is large."""
        return int(min(SECOND_WORK, max(FIRST_WORK, MOST_PASSES * self.work_of_pass)) * self.effort)

    @property
    def second_work(self) -> int:
        """Work of the second part."""
        return max(self.usual_work, int(LARGE_PASSES * self.work_of_pass * self.effort) if self.large else 0)

    @property
    def large(self) -> bool:
        """Is there no symmetry, and so much to place that the second part could not try several periods?"""
        return len(self.groups) == 1 and LARGE_PASSES * self.work_of_pass > SECOND_WORK

    def tell(self) -> None:
        """Add the bound of the linear program, unless it would take more than the routing has taken until now."""
        work = max(self.spent, FREE_WORK)
        if self.told or flow_work(self.problem) > work:
            return
        began = time.perf_counter()
        bound = flow_bound(self.problem, work)
        if bound is not None:
            self.bounds.append(bound)
            self.bounds.sort(key=lambda entry: -entry.value)
        self.told = True
        self.bound_seconds += time.perf_counter() - began

    def least(self) -> int:
        """The bound. It grows when there has been so much work that the linear program is little beside it."""
        if self.spent and is_linear(self.problem):
            self.tell()
        return int(self.bounds[0].value)

    def run(self, period: int, group: Symmetry, method: Method, extra: int, work: int) -> Placement | None:
        if self.deadline is not None:
            seconds = self.deadline + self.bound_seconds - time.monotonic()
            if seconds <= 0:
                raise _OutOfTimeError
            work = min(work, max(1_000_000, int(seconds * WORK_PER_SECOND)))
        self.tries += 1
        self.bar.set_postfix_str(f"{period} slots, {group.name}")
        outcome = try_attempt(
            self.problem, self.net, Attempt(period, group, method, extra, work, self.seed * 1009 + self.tries)
        )
        self.spent += outcome.work
        self.left_out = max(0, outcome.left) / max(1, sum(stream.words for stream in self.problem.streams))
        self.bar.update(outcome.work // 1_000_000)
        return outcome.placement


class _OutOfTimeError(Exception):
    """The time limit is over."""


def route_ideal(problem: RouteProblem, options: RouteOptions = USUAL) -> RouteResult:
    """Route all streams in the ideal model, in a period as short as possible if no length is given.

    Raises
    ------
    PeriodError
        If no schedule was found for the length; it names the saturated resources.
    """
    length, seed, effort, time_limit = options.length, options.seed, options.effort, options.time_limit
    if not 0.001 <= effort <= 1000:
        raise PointsmanError(f"effort must be 0.001 to 1000, not {effort}")
    if not 0 <= seed < 1 << 32:
        raise PointsmanError(f"a seed must be 0 to {(1 << 32) - 1}, not {seed}")
    if length is not None and not 1 <= length <= MAX_PERIOD:
        raise PointsmanError(f"a length must be 1 to {MAX_PERIOD} slots, not {length}")
    if not problem.streams:
        return RouteResult("ideal", length or 1, (), length_reason="there is nothing to route")
    began = time.perf_counter()
    bounds = counted_bounds(problem)
    bound_seconds = time.perf_counter() - began
    if length is not None and length < bounds[0].value:
        raise explain_period(problem, length, bounds)
    prepare()
    began = time.perf_counter()
    deadline = None if time_limit is None else time.monotonic() + time_limit
    net = net_of(problem)
    least = int(bounds[0].value)
    _check_size(problem, length or least)
    groups = symmetries(problem)
    period = length or least
    improved = left_out = False
    with tqdm(
        desc="route",
        unit="M",
        total=int(SECOND_WORK * effort / 1e6),
        disable=None if options.progress else True,
        leave=False,
    ) as bar:
        # Shortest ways share the load of a whole mesh or torus; elsewhere a detour may be what does, and in small problems one
        # more attempt costs little.
        whole = problem.topology.regular and not problem.dead_nodes and not problem.dead_links
        work_of_pass = _work_of_pass(problem, period)
        full_links = whole and FEW_PASSES * work_of_pass > FIRST_WORK and bounds[0].kind in ("cut", "hop capacity")
        search = _Search(
            problem,
            net,
            groups,
            seed,
            effort,
            deadline,
            work_of_pass,
            full_links,
            bounds,
            bar,
            told=not options.bounds,
        )
        if length is not None:
            placement = _find(search, length, search.usual_work)
            if placement is None:
                search.tell()
                raise explain_period(problem, length, bounds)
        else:
            placement = _ascend(search, least)
            search.deadline = deadline
            for _ in range(2):
                if placement.period > bounds[0].value:
                    search.tell()
                if not improved and placement.period > bounds[0].value:
                    placement, improved = (_descend if search.large else _improve)(search, placement), True
            left_out = not search.told and placement.period > bounds[0].value
    streams = routed_words(problem, placement)
    seconds = time.perf_counter() - began - search.bound_seconds
    reason = "the length asked for" if length is not None else _reason(placement.period, bounds[0])
    return RouteResult(
        router="ideal",
        period=placement.period,
        streams=streams,
        bound=bounds[0],
        bounds=tuple(bounds),
        seconds=seconds,
        bound_seconds=bound_seconds + search.bound_seconds,
        length_reason=reason,
        notes=(f"symmetry: {placement.symmetry.name} ({placement.symmetry.size} members)", *[NO_FLOW] * left_out),
    )


@cache
def prepare() -> None:
    """Compile or load the kernels, so that measured times are those of routing."""
    tiny = RouteProblem(mesh(2), (RouteStream(0, (1,)),))
    for buffers in (False, True):
        problem = replace(tiny, buffers=buffers)
        for method in METHODS:
            try_attempt(problem, net_of(problem), Attempt(1, no_symmetry(problem), method, 0, 1000, 0))


def _reason(period: int, bound: Bound) -> str:
    if period <= bound.value:
        return f"no period is shorter ({bound.kind}: {bound.text})"
    over = period - int(bound.value)
    return f"the shortest found, {over} slot{'s' * (over > 1)} above the bound ({bound.kind}: {bound.text})"


def _check_size(problem: RouteProblem, period: int) -> None:
    cells = (len(problem.links) + 2 * problem.nodes) * period
    if period > MAX_PERIOD or cells > MAX_CELLS:
        raise RoutingError(
            f"a problem must have at most {MAX_PERIOD} slots and {MAX_CELLS} cells (resources times slots), "
            f"not {period} and {cells}"
        )


def _work_of_pass(problem: RouteProblem, period: int) -> int:
    """Estimated work of a pass, which places every word once."""
    total = 0
    for stream, hops in zip(problem.streams, least_links(problem), strict=True):
        each = (hops * hops // 2 + hops) * (period + 32) + 256
        if len(stream.destinations) > 1:
            each = 6 * len(stream.destinations) * len(problem.links) * (hops + 1)
        total += stream.words * each
    return total


def _find(search: _Search, period: int, work: int) -> Placement | None:
    """Spend about ``work`` on a period, in growing portions, over symmetries and methods; None if no schedule is found, or a
    bound says that there is none."""
    begin = search.spent
    portion = FIRST_PORTION if len(search.groups) == 1 else 1.0
    while search.spent - begin < work:
        plans = list(_plans(search, period, thorough=True))
        plain = max(1, sum(method == "eject" and not extra for _, method, extra in plans))
        largest = max(group.size for group, _, _ in plans)
        for group, method, extra in plans:
            left = work - (search.spent - begin)
            if left <= 0 or search.least() > period:
                return None
            passes = MANY_PASSES * search.work_of_pass // group.size
            share = max(FIRST_WORK // 2, min(max(passes, work // (4 * plain)), work // (2 * plain)))
            if group.size == largest > 1:
                share *= 4  # the largest group succeeds most often
            # Detours and negotiation get less work: they cost more and help less often.
            share = int(share * portion * (1.0 if method == "eject" and not extra else 0.25))
            placement = search.run(period, group, method, extra, min(share, left))
            if placement is not None:
                return placement
        portion *= 4 if portion < 1 else 2
    return None


def _plans(search: _Search, period: int, *, thorough: bool) -> Iterator[tuple[Symmetry, Method, int]]:
    """(symmetry, method, extra links) to try, best first: large groups make the search small, small groups leave it more freedom;
    detours (extra links) only where links have slack or the search is ``thorough``."""
    fitting = [group for group in search.groups if group.fits(period)]
    sizes: set[int] = set()
    chosen: list[Symmetry] = []
    for group in fitting:
        if group.size not in sizes or (thorough and len(chosen) < 4):
            sizes.add(group.size)
            chosen.append(group)
    if not thorough and len(chosen) > 3:
        chosen = [chosen[0], chosen[len(chosen) // 2], chosen[-1]]
    elif len(chosen) > 7:
        chosen = [*chosen[:6], chosen[-1]]
    detours = (0,) if search.problem.buffers or (search.full_links and not thorough) else (0, 2)
    for extra in detours:
        for group in chosen:
            turned = any(group.turns)
            if turned or possible_period(search.problem, period, members=group.size, detours=extra > 0):
                yield group, "eject", extra
    if thorough:
        for group in chosen[-2:]:
            yield group, "negotiate", 0


def _ascend(search: _Search, least: int) -> Placement:
    """A schedule in the first period, from ``least`` upwards, for which little work finds one."""
    period, step = least, 1
    while period <= MAX_PERIOD:
        _check_size(search.problem, period)
        for group, method, extra in _plans(search, period, thorough=False):
            work = max(FIRST_WORK, FEW_PASSES * search.work_of_pass // group.size)
            try:
                placement = search.run(period, group, method, extra, work)
            except _OutOfTimeError:
                # There must be some answer: go on without the limit, in faster growing periods.
                search.deadline = None
                step = max(step, period // 8)
                continue
            if placement is not None:
                return placement
        known = search.least()
        if known > period:
            period, least, step = known, known, 1
            continue
        period += step
        if period - least >= 4:
            step = max(1, (period - least) // 2)
        if search.large:
            # What is left out shrinks faster than the period grows.
            step = max(step, int(period * search.left_out / 4))
    raise RoutingError(f"no schedule of at most {MAX_PERIOD} slots was found")


def _descend(search: _Search, placement: Placement) -> Placement:
    """Try shorter periods than ``placement``, for large problems: each may take some times the work of the one before; steps
    become shorter towards the bound and when one fails, and what is left goes into the next shorter."""
    begin, allowed = search.spent, search.second_work
    group = search.groups[-1]
    usual = FEW_PASSES * search.work_of_pass
    last = usual
    longest = placement.period
    try:
        while placement.period > (least := search.least()) and search.spent - begin < allowed:
            left = allowed - (search.spent - begin)
            step = max(1, min(longest, max((placement.period - least) // 6, placement.period // 150)))
            before = search.spent
            period = max(least, placement.period - step)
            found = search.run(period, group, "eject", 0, min(left, max(usual, GROWTH * last)))
            if found is not None:
                placement, last = found, search.spent - before
            elif step > 1:
                longest = step // 2
            else:
                last *= GROWTH
    except _OutOfTimeError:
        pass
    return placement


def _improve(search: _Search, placement: Placement) -> Placement:
    """Try shorter periods than ``placement``: first bisect the gap to the bound, then go down slot by slot with more work."""
    allowed = search.usual_work
    begin = search.spent
    failed = 0
    try:
        while placement.period > (least := search.least()) and search.spent - begin < allowed:
            if placement.period - 1 <= failed:
                failed = placement.period - 2
            # If at most three periods are left, the next shorter first: it is the easiest.
            gap = placement.period - 1 - max(failed, least - 1)
            period = placement.period - (1 if gap <= 3 else gap // 2)
            close = placement.period - 1 == period
            left = allowed - (search.spent - begin)
            share = max(FIRST_WORK, left if period == least else 2 * left // 3 if close else left // 6)
            found = _find(search, period, share)
            if found is not None:
                placement = found
            else:
                failed = period
                if close:
                    break
    except _OutOfTimeError:
        pass
    return placement
