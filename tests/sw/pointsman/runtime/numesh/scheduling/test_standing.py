"""What stands in a phase before a schedule is made in it."""

from __future__ import annotations

from dataclasses import replace

from numesh.codes import REPROGRAM_VFSM, Annotation, Codes, MoveType
from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images, Rewrite
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.runtime.numesh.scheduling.standing import Standing, placeholder
from pointsman.targets.numesh import make_images


def images_of(text: str, *size: int) -> Images:
    program = compile_text(text, topology=mesh(*size))
    return make_images(make_plan(program, NodeShape(), name="x", period=16))


def test_placeholder_streams_are_taken_out_and_nothing_else() -> None:
    images = images_of("(permute 'p (runtime) :m 5 :impl 'sch_permute_runtime) (broadcast 'b 0 :m 3)", 3, 2)
    standing = Standing.of(images, 0, 0)
    assert sum(placeholder(images, 0, one) for one in images.promises) == 6
    for node, part in standing.kept.items():
        compiled = {(r.pipeline, r.vfsm): r.annotation for r in standing.parts[node].annotations}
        left = {(r.pipeline, r.vfsm): r.annotation for r in part.annotations}
        assert left.items() < compiled.items()
        for row, before in zip(part.schedule, standing.parts[node].schedule, strict=True):
            assert all(a in (0, b) for a, b in zip(row, before, strict=True))
        for p in range(2):
            assert sum(row[p] == REPROGRAM_VFSM for row in part.schedule) <= 1
            rows = [row[p] for row in part.schedule]
            assert standing.free.busy[node, p] == sum(1 << slot for slot, vfsm in enumerate(rows) if vfsm)
            others = {
                r.vfsm
                for one in images.nodes[node].phases
                for r in one.annotations
                if r.pipeline == p and (one.phase != part.phase or (p, r.vfsm) in left)
            }
            assert not others & set(standing.free.numbers[node, p])


def test_paths_cross_one_dimension_after_the_other() -> None:
    standing = Standing.of(images_of("(permute 'p (runtime) :m 5 :impl 'sch_permute_runtime)", 3, 2), 0, 0)
    assert list(standing.paths(0, 5)) == [(0, 1, 2, 5), (0, 3, 4, 5)]
    hops = standing.hops((0, 1, 4))
    assert [(hop.node, hop.injects, hop.delivers) for hop in hops] == [
        (0, True, False),
        (1, False, False),
        (4, False, True),
    ]


def test_a_node_alone_needs_no_registers() -> None:
    assert Standing.of(images_of("(permute 'p (runtime) :m 5 :impl 'sch_permute_runtime)", 1, 1), 0, 0).ends == {}


def test_a_number_whose_buffer_is_used_is_not_free() -> None:
    """A VFSM with that number would meet those that use the buffer sooner than the node lets it run."""
    images = images_of("(permute 'p (runtime) :m 5 :impl 'sch_permute_runtime)", 2, 2)
    codes = Codes(images.shape)
    number, vfsm = Standing.of(images, 0, 0).free.numbers[1, 0][:2]
    for source, destination in ((codes.buffer(number), codes.nop), (codes.nop, codes.buffer(number))):
        (phase,) = images.nodes[1].phases
        more = Rewrite(0, vfsm, Annotation(MoveType.MOVE, source, destination, False))
        changed = replace(images.nodes[1], phases=(replace(phase, annotations=(*phase.annotations, more)),))
        nodes = tuple(changed if n == 1 else one for n, one in enumerate(images.nodes))
        free = Standing.of(replace(images, nodes=nodes), 0, 0).free
        assert not {number, vfsm} & set(free.numbers[1, 0])
        assert number in free.numbers[1, 1]
