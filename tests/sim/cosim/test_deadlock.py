"""Why a program hangs: the report alone has to tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cosim.deadlock import find_circle
from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.artifacts.images.readmemh import memories_of
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.runtime import Node, numesh_node
from pointsman.targets.numesh import make_images


def report(text: str, main: Callable[[Node], Any], *size: int) -> str:
    return error(text, main, *size).message


def error(text: str, main: Callable[[Node], Any], *size: int) -> PointsmanError:
    topology = mesh(*size)
    images = make_images(make_plan(compile_text(text, topology=topology), NodeShape(), name="test"))
    with Machine(images.shape, topology, engine="model") as machine:
        machine.preload(memories_of(images))
        nodes = [numesh_node(images, number, machine, preloaded=True) for number in range(topology.nodes)]
        with pytest.raises(PointsmanError) as caught:
            run_nodes(nodes, main, machine)
    return caught.value


def test_a_writer_that_ends_without_writing_is_named():
    async def main(node: Node) -> None:
        await node.cop.b_load()
        if node.number == 1:
            await node.cop.b_read()

    said = report("(broadcast 'b 0)", main, 2, 1)
    assert "node 1 has waited since cycle" in said
    assert "for a word in register" in said
    assert "in phase 'b', b_read" in said
    assert "words of 'b' are to be written by node 0, which has finished" in said
    assert "circle" not in said


def test_two_nodes_that_read_before_they_write_are_a_circle():
    async def main(node: Node) -> None:
        await node.cop.there_load()
        await node.cop.back_load()
        mine, other = ("there", "back") if node.number == 0 else ("back", "there")
        await getattr(node.cop, f"{other}_read")()
        await getattr(node.cop, f"{mine}_write")(1)

    said = report("(parallel (stream 'there 0 1) (stream 'back 1 0))", main, 2, 1)
    assert "words of 'back' are to be written by node 1, which itself waits" in said
    assert "words of 'there' are to be written by node 0, which itself waits" in said
    assert "in a circle: node 0 waits for node 1 waits for node 0" in said


def test_a_reader_that_never_reads_is_named_with_the_words_that_are_stuck():
    async def main(node: Node) -> None:
        await node.cop.s_load()
        if node.number == 0:
            for _ in range(40):
                await node.cop.s_write(7)

    said = report("(stream 's 0 1)", main, 2, 1)
    assert "node 0 has waited since cycle" in said
    assert "to be emptied by the router" in said
    assert "words of 's' are to be read by node 1, which has finished" in said
    assert "words are stuck at node 0: " in said
    assert "words are stuck at node 1: register" in said
    assert "the buffer of VFSM" in said


def test_a_node_does_not_wait_for_itself_where_a_stream_comes_back_to_it():
    async def main(node: Node) -> None:
        if node.number == 1:
            return
        await node.cop.b_load(0)
        await (node.cop.b_write(np.zeros(40, np.int32)) if node.number == 0 else node.cop.b_read())

    said = report("(broadcast 'b (runtime) :m 40 :impl 'str_bcast_tree)", main, 3, 1)
    assert "words of 'b' are to be read by node 1, which has finished" in said
    assert "in a circle: node 0 waits for node 2 waits for node 0" in said


@pytest.mark.parametrize(
    ("waits_for", "circle"),
    [
        ({}, []),
        ({0: [1], 1: [2]}, []),
        ({0: [1], 1: [0]}, [0, 1, 0]),
        ({0: [1, 2], 1: [3], 2: [0]}, [0, 2, 0]),
        ({5: [4], 4: [3], 3: [4]}, [4, 3, 4]),
        ({0: [0]}, [0, 0]),
        ({0: [1, 2], 1: [3], 2: [3], 3: []}, []),
    ],
)
def test_a_circle_is_found_where_there_is_one(waits_for: dict[int, list[int]], circle: list[int]):
    assert find_circle(waits_for) == circle


def test_a_node_that_passes_over_a_phase_whose_words_go_through_it_is_named():
    async def main(node: Node) -> None:
        if node.number != 1:
            await node.cop.a_load()
            await (node.cop.a_write(1) if node.number == 0 else node.cop.a_read())
        await node.cop.s_load()
        await node.cop.s_func(1)

    said = report("(loop 'i 2 (phase (stream 'a 0 2)) (phase (allreduce 's 'add)))", main, 3, 1)
    assert "node 1 is in phase 's' and has not come to phase 'a': a node comes to a phase by a load function" in said
    assert said.count("has not come to") == 1


def test_nodes_that_write_to_each_other_before_they_read_are_told_what_helps() -> None:
    def exchanging(first: str) -> Callable[[Node], Any]:
        async def main(node: Node) -> None:
            await node.cop.there_load()
            await node.cop.back_load()
            mine, other = ("there", "back") if node.number == 0 else ("back", "there")
            if first == "write":
                await getattr(node.cop, f"{mine}_write")(np.zeros(50, np.int32))
            await getattr(node.cop, f"{other}_read")()

        return main

    text = "(parallel (stream 'there 0 1 :m 50) (stream 'back 1 0 :m 50))"
    writing, reading = (error(text, exchanging(first), 2, 1) for first in ("write", "read"))
    assert writing.hint is not None
    assert "node.together(" in writing.hint
    assert reading.hint is not None
    assert "together" not in reading.hint
