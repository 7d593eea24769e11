"""Starts on a line never let two words come to a node at once."""

from __future__ import annotations

import pytest

from pointsman.artifacts.routes.file import make_problem
from pointsman.network import mesh, torus
from pointsman.routing.collectives.line import along_line, line_starts


@pytest.mark.parametrize("count", [*range(4, 40), 100, 101])
def test_arrivals_are_in_different_slots(count):
    period, starts = line_starts(count)
    assert period == 2 * count - 3 - (count % 2 == 0)
    for node in range(count):
        arrivals = {(slot + abs(node - source)) % period for source, slot in enumerate(starts) if source != node}
        assert len(arrivals) == count - 1


def test_lines_are_known_by_their_links():
    assert (
        along_line(make_problem(mesh(2, 3), [], dead_links=[(0, 1), (1, 0), (2, 3), (3, 2)]), tuple(range(6)))
        is not None
    )
    assert along_line(make_problem(torus(5), []), tuple(range(5))) is None
    assert along_line(make_problem(mesh(3), []), (0, 1, 2)) is None
