"""A Python program asks the network what a text asks it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from pointsman import cop
from pointsman.network import Topology, mesh, torus

HERE = Path(__file__).read_text(encoding="utf-8").split("\n")


def refused(program: Any, *, size: tuple[int, ...] = (4, 4), **options: Any) -> cop.CopError:
    with pytest.raises(cop.CopError) as caught:
        cop.compile_program(program, topology=mesh(*size), **options)
    return caught.value


@pytest.mark.parametrize("network", [torus(3, 3), torus(2, 3, 2), mesh(5)])
def test_functions_of_the_network_are_those_of_a_text(network: Topology) -> None:
    seen: dict[str, Any] = {}

    def body(net: cop.Network) -> cop.Parts:
        last = net.nodes - 1
        seen.update(
            sizes=(net.xsize, net.ysize, net.zsize, net.xphys, net.yphys, net.zphys),
            lists=(net.all(3), net.count(2, 3), net.step(2, 1, 6), net.subset),
            places=(net.coords(last), net.coord(*net.coords(last))),
            lines=net.make_1d("y"),
        )
        return cop.barrier("w")

    cop.compile_program(body, topology=network)
    size = (*network.size, 1, 1)[:3]
    assert seen["sizes"] == (*size, *size)
    assert seen["lists"] == ((0, 1, 2), (2, 3, 4), (1, 3, 5), tuple(range(network.nodes)))
    assert seen["places"] == (tuple(extent - 1 for extent in size), network.nodes - 1)
    assert len(seen["lines"]) == network.nodes // size[1]


def test_mesh_size_may_be_reset() -> None:
    def body(net: cop.Network) -> cop.Parts:
        net.reset_mesh_size(2, 3)
        return cop.cshift("c", net.nodes)

    program = cop.compile_program(body, topology=mesh(4, 4))
    assert program == cop.compile_text("(reset-mesh-size 2 3) (cshift 'c *nodes*)", topology=mesh(4, 4))
    assert program.topology == mesh(2, 3)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda net: net.coord(9, 9), r"x coordinate 9 is outside the network \(0..3\)"),
        (lambda net: net.coords(99), r"node 99 is outside the network \(0..15\)"),
        (lambda net: net.make_1d("w"), "a dimension must be 'x, 'y or 'z, or 0, 1 or 2, not w"),
        (lambda net: net.all(-1), "expected at least 0, not -1"),
        (lambda net: net.all(1.5), 'expected an integer, not "1.5"'),
        (lambda net: net.all(10**9), "this makes a list or string of 1000000000 elements"),
        (lambda net: setattr(net, "mode", "fast"), r"\*mode\* must be one of numesh, dyn, tdm, not fast"),
        (lambda net: setattr(net, "schedlen", 0), r"\*schedlen\* must be a positive integer, not 0"),
        (lambda net: net.reset_mesh_size(0), "expected at least 1, not 0"),
    ],
)
def test_wrong_use_of_the_network_names_the_line(use: Any, message: str) -> None:
    error = refused(lambda net: use(net))
    assert re.match(message, error.message)
    assert error.position.file == __file__


def test_the_network_may_not_change_within_a_subset() -> None:
    def body(net: cop.Network) -> cop.Parts:
        def inner(line: cop.Network) -> cop.Parts:
            net.reset_mesh_size(2, 2)
            return cop.barrier("w")

        return cop.subset([[0, 1]], inner)

    assert refused(body).message == "reset-mesh-size may not be used in a subset"
