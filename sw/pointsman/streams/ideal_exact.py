"""Exact answers for small ideal problems, by CP-SAT (extra ``exact``). For tests: the heuristic is measured against it.

Unicast streams without buffers, ways up to ``extra`` links longer than the shortest, no node twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from pointsman.errors import PointsmanError

from .bounding.ideal import counted_bounds
from .route_types import RouteProblem

MAX_CHOICES = 200_000


def exact_period(problem: RouteProblem, *, extra: int = 2, seconds: float = 20.0, most: int = 64) -> int | None:
    """The least period; None if the solver did not settle it in time.

    Raises
    ------
    PointsmanError
        If the extra ``exact`` is not installed, or the problem is not small.
    """
    try:
        from ortools.sat.python import cp_model
    except ImportError:
        raise PointsmanError("exact answers must have OR-Tools", hint="pip install pointsman[exact]") from None
    if problem.buffers or any(len(stream.destinations) > 1 for stream in problem.streams):
        raise PointsmanError("exact answers are for unicast streams without buffers")
    ways = [list(_ways(problem, stream.source, stream.destinations[0], extra)) for stream in problem.streams]
    for period in range(int(counted_bounds(problem)[0].value), most + 1):
        if sum(map(len, ways)) * period > MAX_CHOICES:
            raise PointsmanError(f"exact answers must have at most {MAX_CHOICES} choices")
        model = cp_model.CpModel()
        users: dict[tuple[str, int, int, int], list[cp_model.IntVar]] = {}
        for stream, paths in zip(problem.streams, ways, strict=True):
            chosen = []
            for path in paths:
                for start in range(period):
                    variable = model.new_bool_var("")
                    chosen.append(variable)
                    cells = {("in", path[0], 0, start), ("out", path[-1], 0, (start + len(path) - 1) % period)}
                    cells |= {("link", u, v, (start + k) % period) for k, (u, v) in enumerate(pairwise(path))}
                    for cell in cells:
                        users.setdefault(cell, []).append(variable)
            model.add(sum(chosen) == stream.words)
        for variables in users.values():
            if len(variables) > 1:
                model.add_at_most_one(variables)
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = 0
        solver.parameters.max_time_in_seconds = seconds
        status = solver.solve(model)
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return period
        if status != cp_model.INFEASIBLE:
            return None
    return None


def _ways(problem: RouteProblem, source: int, end: int, extra: int) -> Iterator[tuple[int, ...]]:
    longest = problem.distances(source)[end] + extra
    stack: list[tuple[int, ...]] = [(source,)]
    while stack:
        path = stack.pop()
        if path[-1] == end:
            yield path
            continue
        if len(path) > longest:
            continue
        stack.extend((*path, after) for after in problem.following[path[-1]] if after not in path)
