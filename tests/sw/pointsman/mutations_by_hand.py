"""Random single changes of images, for tests of their judge and of their file."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from numesh.codes import FIRST_FREE_VFSM, Annotation, Codes, MoveType
from pointsman.artifacts.images import Images, LaneImage, NodeImage, NodeOperator, NodePhase, Rewrite, Role
from pointsman.artifacts.images.images import listed_fields

Mutation = Callable[[Images, random.Random], tuple[str, Images] | None]


def put(row: tuple, index: int, value: Any) -> tuple:
    """``row`` with another value at ``index``."""
    return (*row[:index], value, *row[index + 1 :])


def drop(row: tuple, index: int) -> tuple:
    return (*row[:index], *row[index + 1 :])


def with_node(images: Images, node: int, image: NodeImage) -> Images:
    return replace(images, nodes=put(images.nodes, node, image))


def with_part(images: Images, node: int, index: int, **changes: Any) -> Images:
    """Other fields of the ``index``-th phase of a node."""
    parts = images.nodes[node].phases
    part = replace(parts[index], **changes)
    return with_node(images, node, replace(images.nodes[node], phases=put(parts, index, part)))


def with_entry(images: Images, node: int, index: int, slot: int, pipeline: int, vfsm: int) -> Images:
    """Another VFSM in one slot."""
    schedule = images.nodes[node].phases[index].schedule
    return with_part(images, node, index, schedule=put(schedule, slot, put(schedule[slot], pipeline, vfsm)))


def with_annotation(images: Images, node: int, index: int, which: int, **changes: Any) -> Images:
    """Other fields of the ``which``-th annotation of a phase of a node."""
    annotations = images.nodes[node].phases[index].annotations
    rewrite = annotations[which]
    rewrite = replace(rewrite, annotation=replace(rewrite.annotation, **changes))
    return with_part(images, node, index, annotations=put(annotations, which, rewrite))


def unlisted(whole: Any) -> Any:
    """Images, or a part of them, without what only people read."""
    changes = {name: type(getattr(whole, name))() for name in listed_fields(type(whole))}
    if isinstance(whole, Images):
        for name in ("operators", "phases", "promises", "replaced"):
            changes[name] = tuple(unlisted(one) for one in getattr(whole, name))
    return replace(whole, **changes)


def with_operator(images: Images, node: int, index: int, **changes: Any) -> Images:
    """Other fields of the ``index``-th operator of a node."""
    operators = images.nodes[node].operators
    number, operator = operators[index]
    operators = put(operators, index, (number, replace(operator, **changes)))
    return with_node(images, node, replace(images.nodes[node], operators=operators))


def with_role(images: Images, node: int, index: int, role: int, **changes: Any) -> Images:
    roles = images.nodes[node].operators[index][1].roles
    return with_operator(images, node, index, roles=put(roles, role, replace(roles[role], **changes)))


def with_promise(images: Images, index: int, **changes: Any) -> Images:
    promise = replace(images.promises[index], **changes)
    return replace(images, promises=put(images.promises, index, promise))


def with_phase(images: Images, index: int, **changes: Any) -> Images:
    return replace(images, phases=put(images.phases, index, replace(images.phases[index], **changes)))


# -- random choices ----------------------------------------------------------------------------------------


def any_part(images: Images, r: random.Random) -> tuple[int, int, NodePhase]:
    node, index = r.choice([(n, i) for n, image in enumerate(images.nodes) for i in range(len(image.phases))])
    return node, index, images.nodes[node].phases[index]


def any_code(images: Images, r: random.Random) -> int:
    codes, shape = Codes(images.shape), images.shape
    return r.choice(
        [
            r.randrange(shape.neighbours),
            codes.register(r.randrange(min(8, shape.registers))),
            codes.buffer(r.randrange(min(8, shape.vfsms))),
            codes.nop,
            codes.null,
            codes.memadr,
            codes.special,
        ]
    )


def any_operator(images: Images, r: random.Random) -> tuple[int, int, NodeOperator]:
    node, index = r.choice([(n, i) for n, image in enumerate(images.nodes) for i in range(len(image.operators))])
    return node, index, images.nodes[node].operators[index][1]


def any_role(images: Images, r: random.Random) -> tuple[int, int, int, Role]:
    node, index, operator = any_operator(images, r)
    role = r.randrange(len(operator.roles))
    return node, index, role, operator.roles[role]


def change_code(annotation: Annotation, images: Images, r: random.Random) -> Annotation:
    field = r.choice(["type", "source", "destination"])
    value = r.choice(list(MoveType)) if field == "type" else any_code(images, r)
    return replace(annotation, **{field: value})


# -- mutations ---------------------------------------------------------------------------------------------


def move_slot(images: Images, r: random.Random) -> tuple[str, Images] | None:
    node, index, part = any_part(images, r)
    busy = [(s, p) for s, row in enumerate(part.schedule) for p, v in enumerate(row) if v >= FIRST_FREE_VFSM]
    if not busy:
        return None
    slot, pipeline = r.choice(busy)
    to = r.randrange(images.period)
    a, b = part.schedule[slot][pipeline], part.schedule[to][pipeline]
    changed = with_entry(with_entry(images, node, index, slot, pipeline, b), node, index, to, pipeline, a)
    return f"node {node} part {index} pipeline {pipeline}: slots {slot} and {to} swapped", changed


def rename_slot(images: Images, r: random.Random) -> tuple[str, Images]:
    node, index, _ = any_part(images, r)
    slot, pipeline = r.randrange(images.period), r.randrange(images.shape.pipelines)
    vfsm = r.choice([0, 0, 1, 2, 3, 4, 5, 6])
    return (
        f"node {node} part {index} pipeline {pipeline} slot {slot}: VFSM {vfsm}",
        with_entry(images, node, index, slot, pipeline, vfsm),
    )


def change_annotation(images: Images, r: random.Random) -> tuple[str, Images]:
    node, index, part = any_part(images, r)
    which = r.randrange(len(part.annotations))
    rewrite = part.annotations[which]
    changed = replace(rewrite, annotation=change_code(rewrite.annotation, images, r))
    return (
        f"node {node} part {index}: {rewrite} becomes {changed.annotation}",
        with_part(images, node, index, annotations=put(part.annotations, which, changed)),
    )


def move_annotation(images: Images, r: random.Random) -> tuple[str, Images]:
    node, index, part = any_part(images, r)
    which = r.randrange(len(part.annotations))
    rewrite = part.annotations[which]
    changed = replace(
        rewrite, **r.choice([{"vfsm": r.randrange(8)}, {"pipeline": r.randrange(images.shape.pipelines)}])
    )
    return (
        f"node {node} part {index}: {rewrite} is for {changed.pipeline}, {changed.vfsm}",
        with_part(images, node, index, annotations=put(part.annotations, which, changed)),
    )


def drop_annotation(images: Images, r: random.Random) -> tuple[str, Images]:
    node, index, part = any_part(images, r)
    which = r.randrange(len(part.annotations))
    return (
        f"node {node} part {index}: without {part.annotations[which]}",
        with_part(images, node, index, annotations=drop(part.annotations, which)),
    )


def swap_pipelines(images: Images, r: random.Random) -> tuple[str, Images]:
    node, index, part = any_part(images, r)
    slot = r.randrange(images.period)
    schedule = put(part.schedule, slot, tuple(reversed(part.schedule[slot])))
    return f"node {node} part {index} slot {slot}: pipelines swapped", with_part(images, node, index, schedule=schedule)


def change_rewrite(images: Images, r: random.Random) -> tuple[str, Images] | None:
    node, index, role, found = any_role(images, r)
    if not found.rewrites:
        return None
    which = r.randrange(len(found.rewrites))
    rewrite = found.rewrites[which]
    changed: Rewrite = r.choice(
        [
            replace(rewrite, annotation=change_code(rewrite.annotation, images, r)),
            replace(rewrite, vfsm=r.randrange(8)),
            replace(rewrite, pipeline=r.randrange(images.shape.pipelines)),
        ]
    )
    return (
        f"node {node} role {role}: {rewrite} becomes {changed}",
        with_role(images, node, index, role, rewrites=put(found.rewrites, which, changed)),
    )


def drop_rewrite(images: Images, r: random.Random) -> tuple[str, Images] | None:
    node, index, role, found = any_role(images, r)
    if not found.rewrites:
        return None
    which = r.randrange(len(found.rewrites))
    return (
        f"node {node} role {role}: without {found.rewrites[which]}",
        with_role(images, node, index, role, rewrites=drop(found.rewrites, which)),
    )


def change_role_of(images: Images, r: random.Random) -> tuple[str, Images] | None:
    node, index, operator = any_operator(images, r)
    if len(operator.roles) < 2:
        return None
    value = r.randrange(len(operator.role_of))
    role = r.randrange(len(operator.roles))
    return (
        f"node {node}: role {role} for value {value}",
        with_operator(images, node, index, role_of=put(operator.role_of, value, role)),
    )


def change_lane(images: Images, r: random.Random) -> tuple[str, Images] | None:
    node, index, role, found = any_role(images, r)
    if not found.lanes:
        return None
    which = r.randrange(len(found.lanes))
    lane = found.lanes[which]
    changed: LaneImage = r.choice(
        [
            replace(lane, write=not lane.write),
            replace(lane, registers=(r.randrange(8),)),
            replace(lane, registers=(*lane.registers, r.randrange(8))),
            replace(lane, after=r.randrange(2)),
        ]
    )
    return (
        f"node {node} role {role}: {lane} becomes {changed}",
        with_role(images, node, index, role, lanes=put(found.lanes, which, changed)),
    )


def drop_lane(images: Images, r: random.Random) -> tuple[str, Images] | None:
    node, index, role, found = any_role(images, r)
    if not found.lanes:
        return None
    which = r.randrange(len(found.lanes))
    return (
        f"node {node} role {role}: without {found.lanes[which]}",
        with_role(images, node, index, role, lanes=drop(found.lanes, which)),
    )


def drop_operator(images: Images, r: random.Random) -> tuple[str, Images]:
    node, index, _ = any_operator(images, r)
    image = images.nodes[node]
    return (
        f"node {node}: without operator {image.operators[index][0]}",
        with_node(images, node, replace(image, operators=drop(image.operators, index))),
    )


def drop_part(images: Images, r: random.Random) -> tuple[str, Images]:
    node, index, _ = any_part(images, r)
    image = images.nodes[node]
    return f"node {node}: without part {index}", with_node(
        images, node, replace(image, phases=drop(image.phases, index))
    )


def change_promise(images: Images, r: random.Random) -> tuple[str, Images] | None:
    index = r.randrange(len(images.promises))
    promise = images.promises[index]
    if not promise.destinations:
        return None
    nodes = images.topology.nodes
    values = len(images.operators[promise.operator].values)
    which = r.randrange(len(promise.destinations))
    node, register = promise.destinations[which]
    field, value = r.choice(
        [
            ("source", r.randrange(nodes)),
            ("register", r.randrange(8)),
            ("words", promise.words + r.choice([-1, 1])),
            ("destinations", drop(promise.destinations, which)),
            ("destinations", put(promise.destinations, which, (r.randrange(nodes), register))),
            ("destinations", put(promise.destinations, which, (node, r.randrange(8)))),
            ("values", tuple(sorted({r.randrange(values) for _ in range(2)}))),
            ("phase", r.randrange(len(images.phases))),
            ("operator", r.randrange(len(images.operators))),
        ]
    )
    return f"promise {index}: {field} {value}", with_promise(images, index, **{field: value})


def drop_promise(images: Images, r: random.Random) -> tuple[str, Images]:
    index = r.randrange(len(images.promises))
    return f"without promise {index}", replace(images, promises=drop(images.promises, index))


def change_phase(images: Images, r: random.Random) -> tuple[str, Images]:
    index = r.randrange(len(images.phases))
    field, value = r.choice(
        [
            ("block", r.randrange(len(images.phases) + 3)),
            ("block", images.shape.schedule_depth // images.period),
            ("technique", r.choice(["none", "msg-sync", "barrier"])),
            ("successors", tuple(p for p in range(len(images.phases)) if r.random() < 0.5)),
            ("barrier", r.choice([None, *range(len(images.operators))])),
            ("operators", drop(images.phases[index].operators, 0)),
        ]
    )
    return f"phase {index}: {field} {value}", with_phase(images, index, **{field: value})


def change_settle(images: Images, r: random.Random) -> tuple[str, Images] | None:
    node, index, part = any_part(images, r)
    if not part.settle:
        return None
    settle = r.choice([(), ((part.settle[0][0], 0),), ((part.settle[0][0], -1),), ((9, 5),)])
    return f"node {node} part {index}: settle {settle}", with_part(images, node, index, settle=settle)


def change_passage(images: Images, r: random.Random) -> tuple[str, Images] | None:
    if not images.passages:
        return None
    index = r.randrange(len(images.passages))
    node, left, entered, way = images.passages[index]
    changed = r.choice(
        [
            (),
            ((r.randrange(images.topology.nodes), left, entered, way),),
            ((node, r.randrange(len(images.phases)), entered, way),),
            ((node, left, entered, ()),),
            ((node, left, entered, (*way, r.randrange(len(images.phases) + 1))),),
        ]
    )
    passages = (*images.passages[:index], *changed, *images.passages[index + 1 :])
    return f"passage {index} becomes {changed}", replace(images, passages=passages)


def change_period(images: Images, r: random.Random) -> tuple[str, Images]:
    period = r.choice([0, images.period - 1, images.period + 1, 2 * images.period])
    return f"period {period}", replace(images, period=period)


MUTATIONS: tuple[Mutation, ...] = (
    move_slot,
    rename_slot,
    change_annotation,
    move_annotation,
    drop_annotation,
    swap_pipelines,
    change_rewrite,
    drop_rewrite,
    change_role_of,
    change_lane,
    drop_lane,
    drop_operator,
    drop_part,
    change_promise,
    drop_promise,
    change_phase,
    change_settle,
    change_passage,
    change_period,
)


def mutate(images: Images, generator: random.Random) -> tuple[str, str, Images]:
    """A random change that changes something: name of the mutation, what it does, and the other images."""
    while True:
        mutation = generator.choice(MUTATIONS)
        found = mutation(images, generator)
        if found is not None and found[1] != images:
            return mutation.__name__, *found
