"""The judge of phases finds what is put into a right answer."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from pointsman.artifacts.channels.channels import ChannelProblem, ChannelRoute, Demand, PhasedConnections
from pointsman.network import mesh
from pointsman.verify.channels import check_phases, circle_of

PROBLEM = ChannelProblem(
    mesh(4), 2, (Demand(0, 2, 3, Fraction(1, 2)), Demand(1, 3, 4), Demand(3, 2, 5)), phases=1, order=((0, 2),)
)
ROUTES = (
    ChannelRoute(0, (0, 1, 2), (0, 0, 0), 0, 6),
    ChannelRoute(1, (1, 2, 3), (1, 1, 0), 0, 8),
    ChannelRoute(2, (3, 2), (1, 0), 6, 16),
)


def answer(*routes: ChannelRoute) -> PhasedConnections:
    return PhasedConnections(replace(PROBLEM, channels=3), (routes,), "by hand")


def changed(number: int, **what: object) -> PhasedConnections:
    routes = list(ROUTES)
    routes[2] = replace(routes[2], channels=(1, 2))
    routes[number] = replace(routes[number], **what)  # type: ignore[arg-type]
    return answer(*routes)


def test_a_right_answer_has_no_faults():
    assert check_phases(changed(2)) == []


@pytest.mark.parametrize(
    ("number", "change", "finding"),
    [
        (2, {"channels": (1, 0)}, "phase 0, connection 2: channel 0 of node 2 belongs to 0"),
        (2, {"channels": (1, 3)}, "phase 0, connection 2: node 2 has no channel 3 among 3"),
        (2, {"channels": (1,)}, "phase 0, connection 2: it has 1 channels at 2 nodes"),
        (2, {"path": (3, 1), "channels": (1, 2)}, "phase 0, connection 2: its way is (3, 1), not one from 3 to 2"),
        (0, {"path": (0, 2), "channels": (0, 0)}, "phase 0, connection 0: there is no link 0 -> 2"),
        (2, {"start": 4, "end": 14}, "phase 0: node 2 receives with 0 and 2 at the same time"),
        (2, {"start": 4, "end": 14}, "connection 2 begins before 0 has ended"),
        (1, {"end": 9}, "phase 0, connection 1: its transfer does not take 8 clocks"),
        (1, {"connection": 0}, "phase 0, connection 0: stands in phase 0 already"),
        (1, {"connection": 7}, "phase 0, connection 7: is no connection of the problem"),
        (1, {"connection": 0}, "connection 1 stands in no phase"),
    ],
)
def test_faults_are_found(number, change, finding):
    assert finding in check_phases(changed(number, **change))


def test_shares_phases_and_links_are_counted():
    demands = (*PROBLEM.connections[:2], Demand(1, 2, 1))
    problem = replace(PROBLEM, connections=demands, channels=3, order=())
    third = ChannelRoute(2, (1, 2), (2, 2), 8, 10)
    findings = check_phases(PhasedConnections(problem, ((*ROUTES[:2], third), ()), "by hand"))
    assert findings == [
        "phase 0: 3 connections on 1 -> 2 leave 0 too little",
        "phase 1 is empty",
        "there are 2 phases, and 1 at most are wanted",
    ]


def test_circles_are_found():
    assert circle_of([[(0, 1, 0), (1, 2, 0)], [(1, 2, 0), (2, 0, 0)]]) is None
    assert circle_of([[(0, 1, 0), (1, 2, 0)], [(1, 2, 0), (0, 1, 0)]]) == [(0, 1, 0), (1, 2, 0)]
