"""The judge of operators that continue: seeded faults in images that are right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from numesh.codes import Codes, MoveType
from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images, NodeImage, NodePhase
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import fold
from pointsman.plan.structure.structure import divided
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

TEXT = """
(broadcast 'x 0 :m 4)
(parallel
  (stream 's 0 3 :m 3)
  (sequential (cshift 'a 1 :m 12) (broadcast 'b 1 :m 12)))
(broadcast 'y 3 :m 4)
"""
X, A, B, Y = range(4)


@pytest.fixture(scope="module")
def images() -> Images:
    program = compile_text(TEXT, topology=mesh(2, 2))
    root = disjoint_tree(program)
    structure = divided(program, root, fold(root, lambda part, i: True))
    return make_images(make_plan(program, NodeShape(registers=32), name="test", period=16, structures=[structure]))


def standing(images: Images) -> tuple[int, list[tuple[int, int, int]]]:
    """The operator that continues, and its VFSMs: those that a node has in both of its phases."""
    index = next(i for i, one in enumerate(images.operators) if one.continues)
    found = []
    for node, image in enumerate(images.nodes):
        parts = [{(r.pipeline, r.vfsm) for r in p.annotations} for p in image.phases if p.phase in (A, B)]
        found += [(node, *vfsm) for vfsm in sorted(set.intersection(*parts))]
    return index, found


def edited(images: Images, node: int, phase: int, change: Callable[[NodePhase], NodePhase]) -> Images:
    image = images.nodes[node]
    phases = tuple(change(part) if part.phase == phase else part for part in image.phases)
    return with_node(images, node, replace(image, phases=phases))


def with_node(images: Images, node: int, image: NodeImage) -> Images:
    return replace(images, nodes=(*images.nodes[:node], image, *images.nodes[node + 1 :]))


def findings(images: Images, rule: str) -> list[str]:
    return [one.message for one in check_images(images).findings if one.rule == rule]


def test_it_is_right(images: Images) -> None:
    report = check_images(images)
    assert report.ok, report.render()
    assert report.counts["operators that continue"] == 1
    index, vfsms = standing(images)
    assert images.operators[index].continues == (A, B)
    assert len(vfsms) >= 3
    assert images.phases[B].technique == "barrier"


def test_other_slots_in_one_phase(images: Images) -> None:
    _, vfsms = standing(images)
    node, pipeline, vfsm = vfsms[0]
    had = next([row[pipeline] for row in part.schedule] for part in images.nodes[node].phases if part.phase == A)

    def turned(part: NodePhase) -> NodePhase:
        column = [row[pipeline] for row in part.schedule]
        at = [t for t, number in enumerate(column) if number == vfsm]
        free = [t for t, number in enumerate(column) if number in (0, 1) and had[t] != vfsm]
        for one, other in zip(at, free, strict=False):
            column[one], column[other] = column[other], column[one]
        assert all(column[t] != vfsm for t in at), "there are not enough free slots to plant this"
        rows = [list(row) for row in part.schedule]
        for row, number in zip(rows, column, strict=True):
            row[pipeline] = number
        return replace(part, schedule=tuple(map(tuple, rows)))

    found = check_images(edited(images, node, B, turned))
    assert {"links", "continuing"} <= set(found.rules)
    assert any("its words wait while node" in one.message for one in found.findings), found.render()


def test_another_vfsm_in_one_phase(images: Images) -> None:
    _, vfsms = standing(images)
    node, pipeline, vfsm = vfsms[-1]
    used = {r.vfsm for part in images.nodes[node].phases for r in part.annotations if r.pipeline == pipeline}
    other = max(used) + 1

    def renumbered(part: NodePhase) -> NodePhase:
        rows = tuple(
            tuple(other if p == pipeline and v == vfsm else v for p, v in enumerate(row)) for row in part.schedule
        )
        annotations = tuple(
            replace(r, vfsm=other) if (r.pipeline, r.vfsm) == (pipeline, vfsm) else r for r in part.annotations
        )
        return replace(part, schedule=rows, annotations=annotations)

    found = findings(edited(images, node, B, renumbered), "continuing")
    assert any("it is not in phase" in message for message in found), found


def test_another_annotation_in_one_phase(images: Images) -> None:
    _, vfsms = standing(images)
    node, pipeline, vfsm = vfsms[0]

    def copying(part: NodePhase) -> NodePhase:
        return replace(
            part,
            annotations=tuple(
                replace(r, annotation=replace(r.annotation, type=MoveType.COPY))
                if (r.pipeline, r.vfsm) == (pipeline, vfsm)
                else r
                for r in part.annotations
            ),
        )

    found = findings(edited(images, node, B, copying), "continuing")
    assert any("it moves words otherwise" in message for message in found), found


def test_it_is_not_over(images: Images) -> None:
    closing = images.phases[B].barrier
    # A barrier in which one node does not meet the others.
    lonely = tuple(
        p for p in images.promises if p.operator != closing or 3 not in (p.source, *(d for d, _ in p.destinations))
    )
    found = findings(replace(images, promises=lonely), "continuing")
    assert any("words of the operator may be on their way" in message for message in found), found


def test_a_register_of_its_own(images: Images) -> None:
    index, _ = standing(images)
    (promise,) = [one for one in images.promises if one.operator == index][:1]
    ((node, register),) = promise.destinations[:1]
    codes = Codes(images.shape)
    mine = codes.register(register)

    def shared(part: NodePhase) -> NodePhase:
        done = False
        rewrites = []
        for r in part.annotations:
            if not done and codes.is_register(r.annotation.destination) and r.annotation.destination != mine:
                r = replace(r, annotation=replace(r.annotation, destination=mine))
                done = True
            rewrites.append(r)
        assert done
        return replace(part, annotations=tuple(rewrites))

    found = findings(edited(images, node, Y if node != 3 else X, shared), "continuing")
    assert any("another uses its register" in message for message in found), found


def test_where_it_is_entered(images: Images) -> None:
    index, _ = standing(images)
    node = 0
    image = images.nodes[node]
    wrong = tuple((i, replace(view, enters=B) if i == index else view) for i, view in image.operators)
    found = findings(with_node(images, node, replace(image, operators=wrong)), "continuing")
    assert any("the node may come to phase a first" in message for message in found), found
    outside = tuple((i, replace(view, enters=Y) if i == index else view) for i, view in image.operators)
    assert findings(with_node(images, node, replace(image, operators=outside)), "structure")


def test_a_vfsm_that_nobody_continues_with(images: Images) -> None:
    index, _ = standing(images)
    operators = list(images.operators)
    operators[index] = replace(operators[index], continues=())
    phases = list(images.phases)
    phases[B] = replace(phases[B], operators=tuple(i for i in phases[B].operators if i != index))
    nodes = tuple(
        replace(
            one, operators=tuple((i, replace(view, enters=-1) if i == index else view) for i, view in one.operators)
        )
        for one in images.nodes
    )
    rules = check_images(replace(images, operators=tuple(operators), phases=tuple(phases), nodes=nodes)).rules
    assert "stray" in rules


@pytest.mark.parametrize("continues", [(A,), (B, A), (A, B, 9), (X, B)])
def test_phases_that_make_no_sense(images: Images, continues: tuple[int, ...]) -> None:
    index, _ = standing(images)
    operators = list(images.operators)
    operators[index] = replace(operators[index], continues=continues)
    assert findings(replace(images, operators=tuple(operators)), "structure")


def test_wires_of_another_in_its_slot(images: Images) -> None:
    """Continuing, read before: read never (Table 5.2)."""
    _, vfsms = standing(images)
    codes = Codes(images.shape)
    node, pipeline, vfsm = next(
        (n, p, v)
        for n, p, v in vfsms
        for r in next(part for part in images.nodes[n].phases if part.phase == A).annotations
        if (r.pipeline, r.vfsm) == (p, v) and codes.is_neighbour(r.annotation.source)
    )
    own = [
        r.vfsm
        for r in next(part for part in images.nodes[node].phases if part.phase == B).annotations
        if r.pipeline == pipeline and (node, pipeline, r.vfsm) not in vfsms
    ]

    def taken(part: NodePhase) -> NodePhase:
        rows = tuple(
            tuple(own[0] if p == pipeline and v == vfsm else v for p, v in enumerate(row)) for row in part.schedule
        )
        return replace(part, schedule=rows)

    assert own
    assert findings(edited(images, node, B, taken), "continuing")


def compiled(text: str, *, aliased: bool = False) -> Images:
    program = compile_text(text, topology=mesh(2, 2))
    root = disjoint_tree(program)
    structure = divided(program, root, fold(root, lambda part, i: True))
    shape = NodeShape(registers=32, aliased_handshake=aliased)
    found = make_images(make_plan(program, shape, name="test", period=16, structures=[structure]))
    # With aliased handshakes a and b need other wires than they get: not a matter of what continues.
    report = check_images(found)
    assert set(report.rules) <= ({"wires"} if aliased else set()), report.render()
    return found


def links(images: Images, node: int, phase: int) -> dict[tuple[int, int], tuple[int, list[int]]]:
    """By VFSM of a node that writes a link in a phase, its port and slots."""
    codes = Codes(images.shape)
    part = next(part for part in images.nodes[node].phases if part.phase == phase)
    return {
        (r.pipeline, r.vfsm): (
            r.annotation.destination,
            [t for t, row in enumerate(part.schedule) if row[r.pipeline] == r.vfsm],
        )
        for r in part.annotations
        if codes.is_neighbour(r.annotation.destination)
    }


def scheduled(part: NodePhase, slot: int, pipeline: int, vfsm: int) -> NodePhase:
    rows = [list(row) for row in part.schedule]
    rows[slot][pipeline] = vfsm
    return replace(part, schedule=tuple(map(tuple, rows)))


def test_a_wire_that_others_turn_round() -> None:
    """With aliased handshakes neither end may have a wire the other way in a slot in which words may come over it."""
    images = compiled(
        "(parallel (cshift 's 1 :m 9) (sequential (cshift 'a 1 :m 12) (cshift 'b -1 :m 12)))", aliased=True
    )
    for node in range(4):
        mine = links(images, node, 0).keys() & links(images, node, 1).keys()
        for vfsm in sorted(mine):
            port, slots = links(images, node, 0)[vfsm]
            far, back = images.topology.at_port[node][port]
            there = next(part for part in images.nodes[far].phases if part.phase == 1)
            others = [
                (slot, *other)
                for other, (to, _) in links(images, far, 1).items()
                for slot in slots
                if to == back and other not in links(images, far, 0) and there.schedule[slot][other[0]] <= 1
            ]
            for plant in others[:1]:
                faulty = edited(images, far, 1, lambda part, at=plant: scheduled(part, *at))  # type: ignore[misc]
                assert any("is turned round in slot" in one for one in findings(faulty, "continuing"))
                return
    raise AssertionError("no place for the fault")


def test_other_slots_where_threads_go_their_own_ways() -> None:
    images = compiled(
        """
        (parallel (broadcast 's 0 :m 4)
          (parallel
            (subset '(0 1) (loop 'l 2 (cshift 'a 1 :m 9) (cshift 'b 1 :m 9)))
            (subset '(2 3) (loop 'r 2 (cshift 'c 1 :m 9) (broadcast 'd 1 :m 9)))))
        """
    )
    assert any(image.ways for image in images.nodes)
    node = 0
    first, second = (part for part in images.nodes[node].phases[:2])
    vfsm = next(v for v in sorted(links(images, node, first.phase)) if v in links(images, node, second.phase))
    free = next(t for t, row in enumerate(second.schedule) if row[vfsm[0]] <= 1)
    faulty = edited(images, node, second.phase, lambda part: scheduled(part, free, *vfsm))
    assert any("where its nodes are in several phases at once" in one for one in findings(faulty, "continuing"))
