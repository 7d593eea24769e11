"""Exact answers for small ideal problems, by CP-SAT (extra ``exact``), against which tests measure the heuristic.

Unicast streams without buffers, on paths up to ``extra`` links longer than the shortest, no node twice. The solver runs in a
process of its own (`pointsman.routing.solver`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from pointsman.artifacts.routes.routes import RouteProblem
from pointsman.errors import PointsmanError
from pointsman.routing.bounds.capacity import Capacity
from pointsman.routing.bounds.counting import least_period, limits
from pointsman.routing.solver import serve_tasks, solved

MAX_CHOICES = 200_000
MOST = 64


def exact_periods(problems: Sequence[RouteProblem], *, extra: int = 2, seconds: float = 20.0) -> list[int | None]:
    """The least period of each problem; None where the solver did not settle it in ``seconds``.

    Raises
    ------
    PointsmanError
        If the extra ``exact`` is not installed, or a problem is not small.
    """
    return solved(__name__, [_task(problem, extra, seconds) for problem in problems], "exact answers")


def _task(problem: RouteProblem, extra: int, seconds: float) -> dict[str, Any]:
    if problem.buffers or any(len(stream.destinations) > 1 for stream in problem.streams):
        raise PointsmanError("exact answers are for unicast streams without buffers")
    ways = [list(_ways(problem, stream.source, stream.destinations[0], extra)) for stream in problem.streams]
    throughputs = [limit.throughput for limit in limits(problem, Capacity(None)) if limit.throughput is not None]
    least = least_period(min(throughputs)) if throughputs else 1
    if sum(map(len, ways)) * MOST > MAX_CHOICES:
        raise PointsmanError(f"exact answers must have at most {MAX_CHOICES} choices")
    return {"ways": ways, "words": [stream.words for stream in problem.streams], "least": least, "seconds": seconds}


def _ways(problem: RouteProblem, source: int, end: int, extra: int) -> Iterator[tuple[int, ...]]:
    longest = problem.distances(source)[end] + extra
    stack: list[tuple[int, ...]] = [(source,)]
    while stack:
        path = stack.pop()
        if path[-1] == end:
            yield path
        elif len(path) <= longest:
            stack.extend((*path, after) for after in problem.following[path[-1]] if after not in path)


def serve() -> None:
    """Main function of the solver's process: tasks from standard input, periods to standard output."""
    serve_tasks(_solve)


def _solve(ways: list[list[list[int]]], words: list[int], least: int, seconds: float) -> int | None:
    from ortools.sat.python import cp_model

    for period in range(least, MOST + 1):
        model = cp_model.CpModel()
        users: dict[tuple[str, int, int, int], list[cp_model.IntVar]] = {}
        for paths, count in zip(ways, words, strict=True):
            chosen = []
            for path in paths:
                for start in range(period):
                    variable = model.new_bool_var("")
                    chosen.append(variable)
                    cells = {("in", path[0], 0, start), ("out", path[-1], 0, (start + len(path) - 1) % period)}
                    cells |= {("link", u, v, (start + k) % period) for k, (u, v) in enumerate(pairwise(path))}
                    for cell in cells:
                        users.setdefault(cell, []).append(variable)
            model.add(sum(chosen) == count)
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
