"""How long nodes wait behind a barrier for those that it lets go later."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import fold
from pointsman.plan.structure.structure import divided
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

TEXT = "(loop 'l 3 (phase (broadcast 'a (runtime) :m 4)) (phase (cshift 'b 1 :m 3)) (phase (broadcast 'c 0 :m 2)))"


@pytest.fixture(scope="module")
def images() -> Images:
    made = make_images(make_plan(compile_text(TEXT, topology=mesh(4, 2)), NodeShape(), name="t"))
    assert any(phase.technique == "barrier" for phase in made.phases)
    return made


def waiting(images: Images, cycles: Callable[[int, int], int]) -> Images:
    """The images, whose nodes settle for other times: of node and time."""
    nodes = [
        replace(
            image,
            phases=tuple(
                replace(part, settle=tuple((later, cycles(node, old)) for later, old in part.settle))
                for part in image.phases
            ),
        )
        for node, image in enumerate(images.nodes)
    ]
    return replace(images, nodes=tuple(nodes))


def needs(images: Images) -> dict[int, int]:
    """By node, how long it has to wait, as the judge says of times that are too short."""
    found = {}
    for one in check_images(images).findings:
        assert one.rule == "settling"
        match = re.match(r"at least (\d+) cycles", one.right)
        assert match is not None
        assert one.node is not None
        found[one.node] = int(match[1])
    return found


def test_the_times_of_the_compiler_are_enough(images: Images) -> None:
    report = check_images(images)
    assert report.ok, report.render()


def test_who_is_let_go_first_waits_longest(images: Images) -> None:
    short = needs(waiting(images, lambda node, old: 1))
    assert set(short) == set(range(8))
    assert max(short.values()) > min(short.values())
    assert min(short.values()) > 2


def test_a_time_is_long_enough_or_a_cycle_too_short(images: Images) -> None:
    least = needs(waiting(images, lambda node, old: 1))
    assert needs(waiting(images, lambda node, old: least[node])) == {}
    for late in range(8):
        below = waiting(images, lambda node, old, late=late: least[node] - (node == late))
        assert needs(below) == {late: least[late]}


def test_where_vfsm_1_has_fewer_slots_nodes_wait_longer(images: Images) -> None:
    """A schedule that takes commands once a period lets its node change as late as that."""
    least = needs(waiting(images, lambda node, old: 1))
    (barrier,) = {number for number, phase in enumerate(images.phases) if phase.technique == "barrier"}

    def once(row: tuple[int, ...], slot: int) -> tuple[int, ...]:
        return (0 if row[0] == 1 and slot else row[0], *row[1:])

    nodes = [
        replace(
            image,
            phases=tuple(
                replace(part, schedule=tuple(once(row, slot) for slot, row in enumerate(part.schedule)))
                if part.phase == barrier and node == 7 and part.schedule[0][0] in (0, 1)
                else part
                for part in image.phases
            ),
        )
        for node, image in enumerate(images.nodes)
    ]
    slower = replace(images, nodes=tuple(nodes))
    found = check_images(waiting(slower, lambda node, old: 1)).findings
    more = [re.match(r"at least (\d+)", one.right) for one in found if one.rule == "settling" and one.node == 0]
    assert all(match is not None and int(match[1]) >= least[0] for match in more)


def test_behind_a_message_over_other_streams_the_way_of_its_last_word_counts() -> None:
    text = "(loop 'l 2 (broadcast 'o 3 :m 3 :impl 'str_bcast) (barrier 'z))"
    program = compile_text(text, topology=mesh(2, 2))
    root = disjoint_tree(program)
    structure = divided(program, root, fold(root, lambda part, i: True))
    made = make_images(make_plan(program, NodeShape(), name="t", structures=[structure], period=8))
    assert made.phases[0].technique == "hijack"
    assert check_images(made).ok
    least = needs(waiting(made, lambda node, old: 1))
    waits = 6  # for the command, wherever nobody is further on
    assert max(least.values()) > waits
    assert needs(waiting(made, lambda node, old: max(least.values()))) == {}
