"""Fewest phases, proved by CP-SAT: every simple way of every connection in every phase is a variable. For small problems."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

from pointsman.artifacts.channels.channels import ChannelProblem
from pointsman.errors import PointsmanError

from .starts import put
from .tables import Assignment, Tables, empty

MOST_WAYS = 20_000
"""Most ways of all connections together, and beginnings of ways."""


def fewest(problem: ChannelProblem, tables: Tables, least: int, most: int, seconds: float = 60.0) -> Assignment:
    """An answer with the fewest phases, from ``least`` (a bound) to ``most`` (known to be enough).

    Raises
    ------
    PointsmanError
        If the solver is not installed, the problem is too large, or time runs out.
    """
    if find_spec("ortools") is None:
        raise PointsmanError("the exact division needs the package ortools", hint="pip install pointsman[exact]")
    if problem.order or tables.least_sharers < len(tables.ends):
        raise PointsmanError("the exact division knows neither an order nor bandwidths")
    ways: list[list[tuple[int, ...]]] = []
    total = 0
    for index in range(len(problem.connections)):
        ways.append([])
        for way in _ways(problem, index):
            total += 1
            if total > MOST_WAYS:
                raise PointsmanError(
                    f"the exact division takes up to {MOST_WAYS} ways, and these connections have more"
                )
            if way[-1] == problem.connections[index].destination:
                ways[-1].append(way)
    for phases in range(least, most + 1):
        found = _solve(problem, ways, phases, seconds)
        if found is not None:
            given = empty(tables)
            for index, (phase, way) in enumerate(found):
                put(given, index, phase, way)
            return given
    raise AssertionError(f"{most} phases are known to be enough")


def _ways(problem: ChannelProblem, index: int) -> Iterator[tuple[int, ...]]:
    """All simple ways and their beginnings, shortest first."""
    topology, one = problem.topology, problem.connections[index]
    queue: list[tuple[int, ...]] = [(one.source,)]
    for path in queue:
        yield path
        if path[-1] != one.destination and len(path) <= problem.longest(index):
            following = {other for other, _ in topology.at_port[path[-1]].values()}
            queue.extend((*path, after) for after in sorted(following) if after not in path)


def _solve(
    problem: ChannelProblem, ways: list[list[tuple[int, ...]]], phases: int, seconds: float
) -> list[tuple[int, tuple[int, ...]]] | None:
    """A phase and a way for each connection; None: there is no such division, which is proved."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    users: dict[tuple[int, int], list[cp_model.IntVar]] = {}
    chosen = []
    for paths in ways:
        variables = [(p, path, model.new_bool_var("")) for p in range(phases) for path in paths]
        model.add_exactly_one(variable for _, _, variable in variables)
        for p, path, variable in variables:
            for node in path:
                users.setdefault((p, node), []).append(variable)
        chosen.append(variables)
    for takers in users.values():
        model.add(sum(takers) <= problem.channels)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    solver.parameters.max_time_in_seconds = seconds
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return None
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        raise PointsmanError(
            f"the exact division found neither an answer in {phases} phases nor a proof in {seconds:g} s"
        )
    return [next((p, way) for p, way, variable in group if solver.boolean_value(variable)) for group in chosen]
