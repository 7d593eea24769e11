"""Fewest phases, proved by CP-SAT: every simple way of every connection in every phase is a variable. For small problems.

The solver runs in a process of its own (`pointsman.routing.solver`).
"""

from __future__ import annotations

from collections.abc import Iterator

from pointsman.artifacts.channels.channels import ChannelProblem
from pointsman.errors import PointsmanError
from pointsman.routing.solver import serve_tasks, solved

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
    task = {"ways": ways, "channels": problem.channels, "least": least, "most": most, "seconds": seconds}
    [(phases, found)] = solved(__name__, [task], "the exact division")
    if found is None:
        raise PointsmanError(
            f"the exact division found neither an answer in {phases} phases nor a proof in {seconds:g} s"
        )
    given = empty(tables)
    for index, (phase, way) in enumerate(found):
        put(given, index, phase, tuple(way))
    return given


def _ways(problem: ChannelProblem, index: int) -> Iterator[tuple[int, ...]]:
    """All simple ways and their beginnings, shortest first."""
    topology, one = problem.topology, problem.connections[index]
    queue: list[tuple[int, ...]] = [(one.source,)]
    for path in queue:
        yield path
        if path[-1] != one.destination and len(path) <= problem.longest(index):
            following = {other for other, _ in topology.at_port[path[-1]].values()}
            queue.extend((*path, after) for after in sorted(following) if after not in path)


def serve() -> None:
    """Main function of the solver's process."""
    serve_tasks(_fewest)


def _fewest(
    ways: list[list[list[int]]], channels: int, least: int, most: int, seconds: float
) -> tuple[int, list[tuple[int, list[int]]] | None]:
    """The fewest phases, with a phase and a way for each connection; None: the solver did not settle that number."""
    for phases in range(least, most + 1):
        settled, found = _solve(ways, channels, phases, seconds)
        if found is not None or not settled:
            return phases, found
    raise AssertionError(f"{most} phases are known to be enough")


def _solve(
    ways: list[list[list[int]]], channels: int, phases: int, seconds: float
) -> tuple[bool, list[tuple[int, list[int]]] | None]:
    """Whether it is known if there is a division into so many phases, and the division."""
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
        model.add(sum(takers) <= channels)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    solver.parameters.max_time_in_seconds = seconds
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return status == cp_model.INFEASIBLE, None
    return True, [next((p, way) for p, way, variable in group if solver.boolean_value(variable)) for group in chosen]
