"""Parity of slots against all schedules of small networks."""

from __future__ import annotations

from pointsman.artifacts.routes.file import make_problem
from pointsman.artifacts.routes.routes import RouteStream
from pointsman.network import mesh, torus
from pointsman.routing.bounds.ideal import counted_bounds
from pointsman.routing.bounds.parity import everyone_hears_odd, is_all_gather, parity_period


def streams(count, words=1):
    return [RouteStream(a, tuple(b for b in range(count) if b != a), words=words) for a in range(count)]


def test_an_all_gather_is_known_and_bounded():
    problem = make_problem(mesh(3, 3), streams(9))
    assert is_all_gather(problem)
    assert parity_period(problem) == 9
    assert counted_bounds(problem)[0].kind == "parity"
    assert parity_period(make_problem(mesh(3, 3), streams(9)[1:])) is None
    assert parity_period(make_problem(torus(3, 3), streams(9))) is None
    assert parity_period(make_problem(mesh(3, 3), streams(9), buffers=True)) is None


def test_no_starts_on_a_line_of_three_have_period_two():
    # Floods on a line can be tried one by one: starts of nodes 0, 1, 2, arrivals modulo 2.
    assert everyone_hears_odd(make_problem(mesh(3), []), 3, 1)
    for a in range(2):
        for b in range(2):
            for c in range(2):
                arrivals = [{(b + 1) % 2, c % 2}, {(a + 1) % 2, (c + 1) % 2}, {a % 2, (b + 1) % 2}]
                assert any(len(slots) < 2 for slots in arrivals)
