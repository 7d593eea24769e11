"""Threads: nodes with phases of their own, and what may not reach them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from types import ModuleType

import pytest

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images
from pointsman.cop import compile_text
from pointsman.network import Topology, mesh
from pointsman.plan.conflicts import thread_barriers as meetings
from pointsman.plan.make_plan import make_plan
from pointsman.plan.phases import phase_set as planner
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import fold
from pointsman.plan.structure.structure import divided
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images
from pointsman.verify.phases import threads as check_threads

TEXT = """
(broadcast 'x 0 :m 8)
(parallel
  (subset '(0 1) (sequential (stream 'a1 0 1 :m 9) (stream 'a2 1 0 :m 9) (stream 'a3 0 1 :m 9)))
  (subset '(2 3) (sequential (stream 'b1 0 1 :m 9) (stream 'b2 1 0 :m 9) (stream 'b3 0 1 :m 9))))
(broadcast 'y 3 :m 8)
"""
Judge = Callable[[str, str, Images], None]


LINE, SHAPE = mesh(4), NodeShape()


def compiled(text: str = TEXT, topology: Topology = LINE, shape: NodeShape = SHAPE) -> Images:
    program = compile_text(text, topology=topology)
    root = disjoint_tree(program)
    structure = divided(program, root, fold(root, lambda part, i: True))
    return make_images(make_plan(program, shape, name="test", period=16, structures=[structure]))


@lru_cache(maxsize=1)
def threads() -> Images:
    return compiled()


def number(images: Images, name: str) -> int:
    return next(i for i, phase in enumerate(images.phases) if name in phase.name.split("+"))


def with_ways(images: Images, node: int, *ways: tuple[int, int]) -> Images:
    nodes = [*images.nodes]
    nodes[node] = replace(nodes[node], ways=tuple(ways))
    return replace(images, nodes=tuple(nodes))


def test_threads_are_legal() -> None:
    images = threads()
    report = check_images(images)
    assert report.ok, report.render()
    assert report.counts["ways of nodes"] > 8
    assert number(images, "b2") not in {part.phase for part in images.nodes[0].phases}


def test_a_way_to_a_phase_of_the_other_thread_is_found(shows: Judge) -> None:
    images = threads()
    first, other = number(images, "a1"), number(images, "b2")
    broken = with_ways(images, 0, *images.nodes[0].ways, (first, other))
    shows("threads", f"a way leads from phase {first} to phase {other}", broken)


def test_a_way_against_the_order_of_the_program_is_found(shows: Judge) -> None:
    images = threads()
    broken = with_ways(images, 0, *images.nodes[0].ways, (number(images, "y"), number(images, "x")))
    shows("threads", "a way leads from it to phase x", broken)


def test_a_phase_to_which_no_way_leads_is_found(shows: Judge) -> None:
    images = threads()
    inner = number(images, "a2")
    broken = with_ways(images, 0, *((a, b) for a, b in images.nodes[0].ways if b != inner))
    shows("threads", "the node has a part in it, but no way of the node leads there", broken)


@pytest.mark.parametrize("way", [(-5, 3), (99, -1), (0, 1 << 40)])
def test_ways_between_no_phases_do_no_harm(shows: Judge, way: tuple[int, int]) -> None:
    images = threads()
    shows(
        "threads",
        f"a way leads from phase {way[0]} to phase {way[1]}",
        with_ways(images, 1, *images.nodes[1].ways, way),
    )


def test_words_that_leave_the_thread_are_found(shows: Judge, change: ModuleType) -> None:
    images = threads()
    inner = number(images, "a2")
    index = next(i for i, part in enumerate(images.nodes[1].phases) if part.phase == inner)
    part = images.nodes[1].phases[index]
    # A VFSM that writes the link to node 0 now writes the one to node 2.
    ((there, _),) = [(port, end) for port, end in images.topology.at_port[1].items() if end[0] == 2]
    back = next(port for port, end in images.topology.at_port[1].items() if end[0] == 0)
    which = next(i for i, one in enumerate(part.annotations) if one.annotation.destination == back)
    broken = change.with_annotation(images, 1, index, which, destination=there)
    shows("threads", "+x leads to node 2, which has no part in the phase", broken)


def test_a_link_whose_ends_are_in_no_common_barrier_is_found(shows: Judge) -> None:
    # So short that they fit into buffers on their way.
    images = compiled(TEXT.replace(":m 9", ":m 1"))
    closing = next(phase.barrier for phase in images.phases if phase.barrier is not None)
    broken = replace(images, promises=tuple(p for p in images.promises if p.operator != closing))
    report = check_images(broken)
    assert any(f.rule == "threads" and "which is not in the node's barrier" in f.message for f in report.findings), (
        report.render()
    )


def test_senders_that_did_not_wait_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    # The planner takes barriers to be behind everybody at once.
    monkeypatch.setattr(planner, "comes_next", lambda *_: False)
    monkeypatch.setattr(meetings, "comes_next", lambda *_: False)
    # Words from node 0 go over the links of both threads.
    report = check_images(compiled(TEXT.replace("'y 3", "'y 0").replace(":m 9", ":m 20")))
    found = [f for f in report.findings if f.rule == "threads"]
    assert found
    assert all("which was not in the barrier that closed phase" in f.message for f in found), report.render()


def test_ways_of_other_nodes_do_not_count(breaks: Judge) -> None:
    images = threads()
    breaks("threads", "a way leads from phase 0 to phase 77", with_ways(images, 2, *images.nodes[2].ways, (0, 77)))


TREE = """
(parallel
  (sequential
    (subset '((0 3) (1 4)) (eoshift 'a1 0 :m 20))
    (subset '((3 0 1 4)) (stream 'a2 0 3 :m 20))
    (subset '((0) (4) (3)) (barrier 'a3)))
  (sequential
    (subset '((2 5)) (barrier 'b1))
    (subset '((2 5)) (barrier 'b2))
    (subset '((2 5)) (eoshift 'b3 -1 :m 7))))
(parallel
  (subset '((0 1 2 3 4 5)) (eoshift 'c 1 :m 7))
  (subset '((0 1 2 3 4 5)) (broadcast 'd 1 :m 3))
  (loop 'l 3
    (subset '((0 1 2 3 4 5)) (broadcast 'e (runtime) :m 7))
    (subset '((0 1 2 3 4 5)) (eoshift 'f 5 :m 3))))
"""


def heard(images: Images, closing: int | None, node: int) -> set[int]:
    """Nodes that send words of a barrier only when a node has sent one."""
    own = {number: promise for number, promise in enumerate(images.promises) if promise.operator == closing}
    waits = check_threads._waits(check_threads._roles_of(images, [closing])[closing], list(own.values()))
    return {own[number].source for number in check_threads._who_hears(waits, own, node)} - {2}


def test_who_hears_of_a_node_through_others_is_no_stranger_if_these_wait_for_it() -> None:
    """The root of the barrier that closes a3+b3 is in no thread of node 5, and hears of it through node 2."""
    images = compiled(TREE, mesh(3, 2), NodeShape(vfsms=64, schedule_depth=256, registers=32))
    report = check_images(images)
    assert report.ok, report.render()
    closing = images.phases[number(images, "a3")].barrier
    operators = []
    for index, here in images.nodes[2].operators:
        if index == closing:
            roles = [
                replace(role, lanes=tuple(replace(lane, step=0) if lane.write else lane for lane in role.lanes))
                for role in here.roles
            ]
            operators.append((index, replace(here, roles=tuple(roles))))
        else:
            operators.append((index, here))
    nodes = [*images.nodes]
    nodes[2] = replace(nodes[2], operators=tuple(operators))
    (root,) = {
        promise.source for promise in images.promises if promise.operator == closing and len(promise.destinations) > 1
    }
    assert root in (0, 1, 3, 4)
    assert root in heard(images, closing, 5)
    assert heard(replace(images, nodes=tuple(nodes)), closing, 5) == set()


def test_lanes_of_a_barrier_that_wait_for_themselves_do_not_hold_up_the_judge() -> None:
    images = threads()
    members = {closing: images.members[closing] for phase in images.phases if (closing := phase.barrier) is not None}
    closing = next(closing for closing, here in members.items() if 1 in here)
    (role,) = members[closing][1].roles
    lanes = tuple(replace(lane, after=k) for k, lane in enumerate(role.lanes))
    operators = tuple(
        (index, replace(here, roles=(replace(role, lanes=lanes),)) if index == closing else here)
        for index, here in images.nodes[1].operators
    )
    nodes = [*images.nodes]
    nodes[1] = replace(nodes[1], operators=operators)
    assert "lanes" in check_images(replace(images, nodes=tuple(nodes))).rules
