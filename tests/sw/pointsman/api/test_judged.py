"""What is wrong never reaches a user: the judge refuses it first."""

from __future__ import annotations

from dataclasses import replace

import pytest

import pointsman
from pointsman.api.judged import judge_configurations, judge_route, prove
from pointsman.artifacts.routes.routes import RouteProblem, RouteStream
from pointsman.connections import Configurations, ConnectionProblem, Network
from pointsman.cop import compile_file
from pointsman.errors import PointsmanError
from pointsman.network import mesh


def test_images_without_a_phase_of_a_node_are_refused() -> None:
    done = pointsman.compile("examples/matmul/matmul.cop", "2x2", parameters={"block": 8})
    images = done.artifact
    program = compile_file("examples/matmul/matmul.cop", topology=mesh(2, 2), parameters={"block": 8})
    prove(images, program)
    with pytest.raises(PointsmanError, match="the compiled images break rules:"):
        prove(replace(images, nodes=(replace(images.nodes[0], phases=()), *images.nodes[1:])), program)
    other = compile_file("examples/matmul/matmul.cop", topology=mesh(2, 2), parameters={"block": 9})
    with pytest.raises(PointsmanError, match="the images have the parameters"):
        prove(images, other)


def test_a_route_that_a_word_cannot_take_is_refused() -> None:
    problem = RouteProblem(mesh(3), (RouteStream(0, (2,)),))
    result = pointsman.route(problem, router="ideal")
    with pytest.raises(PointsmanError, match="the schedule breaks rules of the ideal model"):
        judge_route(problem, replace(result, streams=(replace(result.streams[0], words=()),)))


def test_a_configuration_too_few_is_refused() -> None:
    answer = pointsman.configure(ConnectionProblem(Network("crossbar", (2,)), ((0, 1), (1, 1))))
    assert isinstance(answer, Configurations)
    with pytest.raises(PointsmanError, match="the configurations break rules"):
        judge_configurations(replace(answer, configurations=answer.configurations[:1]))
