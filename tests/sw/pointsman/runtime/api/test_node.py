"""A node as an application sees it."""

from __future__ import annotations

from typing import Any

import pytest

from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.runtime.api.node import Node
from pointsman.runtime.api.requests import Category, Wait


class _Clock:
    time = 41


class _Substrate:
    name, loops = "p", ("l",)

    def __init__(self) -> None:
        self.called: list[str] = []

    def ports(self) -> list[Any]:
        return []

    async def init(self) -> None:
        self.called.append("init")

    async def fini(self) -> None:
        self.called.append("fini")

    def where(self) -> str:
        return "nowhere"


def _run(coroutine: Any) -> list[Any]:
    return list(coroutine.__await__())


def test_a_node_knows_its_place_and_the_time() -> None:
    node = Node(_Substrate(), mesh(3, 2), 4, _Clock())
    assert (node.number, node.coordinates, node.nodes, node.time) == (4, (1, 1), 6, 41)


def test_computing_takes_cycles_of_the_processor() -> None:
    node = Node(_Substrate(), mesh(2), 0, _Clock())
    (request,) = _run(node.compute(7))
    assert isinstance(request, Wait)
    assert (request.cycles, request.category, node.activity) == (7, Category.CPU, "computing")


def test_computing_beyond_the_end_of_the_run_is_told_at_once() -> None:
    node = Node(_Substrate(), mesh(2), 0, _Clock())
    node.latest = 50
    assert len(_run(node.compute(9))) == 1
    with pytest.raises(PointsmanError) as told:
        _run(node.compute(1 << 32))
    assert str(told.value).splitlines()[0] == (
        "4,294,967,296 cycles of computing, begun in cycle 41, go beyond cycle 50, in which the run is given up"
    )
    assert told.value.hint == "allow more with --max-cycles, or max_cycles in Python"


def test_its_activity_says_where_it_is_between_init_and_fini() -> None:
    substrate = _Substrate()
    node = Node(substrate, mesh(2), 0, _Clock())
    assert node.activity == "starting"
    _run(node.cop.init())
    assert node.activity == "loading"
    _run(node.cop.fini())
    assert (node.activity, substrate.called) == ("done", ["init", "fini"])


def test_what_it_is_doing_is_explained_where_it_is_asked_for() -> None:
    node = Node(_Substrate(), mesh(2), 0, _Clock())
    node.activity, node.explain = "waiting", lambda: f"since {node.time}"
    assert node.activity == "waiting: since 41"
    node.explain = None
    assert node.activity == "waiting"


def test_a_program_without_interrupts_is_run_as_it_is() -> None:
    program = object()
    assert Node(_Substrate(), mesh(2), 0, _Clock()).attended(program) is program


@pytest.mark.parametrize("name", ["number", "coordinates", "nodes", "working"])
def test_an_application_cannot_make_another_node_of_it(name: str) -> None:
    node = Node(_Substrate(), mesh(2, 1), 1, _Clock())
    before = getattr(node, name)
    with pytest.raises(AttributeError, match=name):
        setattr(node, name, 0)
    assert getattr(node, name) == before
