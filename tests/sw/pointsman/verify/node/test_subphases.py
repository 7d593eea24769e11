"""Phases with two schedules: seeded faults and what the judge says of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images, NodePhase, Rewrite
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

Rows = tuple[tuple[int, ...], ...]


@cache
def compiled() -> Images:
    program = compile_text("(prefix 'p 'add :m 3 :impl 'sch_prefix)", topology=mesh(2, 2))
    return make_images(make_plan(program, NodeShape(), name="prefix", period=16))


def part(images: Images, node: int) -> NodePhase:
    return images.nodes[node].phases[0]


def with_part(images: Images, node: int, **changes: object) -> Images:
    changed = replace(part(images, node), **changes)  # type: ignore[arg-type]
    nodes = list(images.nodes)
    nodes[node] = replace(nodes[node], phases=(changed, *nodes[node].phases[1:]))
    return replace(images, nodes=tuple(nodes))


def with_second(images: Images, change: Callable[[Rows], Rows]) -> Images:
    for node in range(len(images.nodes)):
        images = with_part(images, node, second=change(part(images, node).second))
    return images


def breaks(rule: str, images: Images) -> str:
    """Messages of findings of the rule, of which there must be one."""
    found = [finding.message for finding in check_images(images).findings if finding.rule == rule]
    assert found, check_images(images).render()
    return "; ".join(found)


def test_two_schedules_are_followed_and_accepted() -> None:
    report = check_images(compiled())
    assert report.ok, report.render()
    assert report.counts["phases with two schedules"] == 1
    assert any(part(compiled(), node).second != part(compiled(), node).schedule for node in range(4))


def test_a_vfsm_of_one_schedule_only_may_keep_a_word() -> None:
    images = compiled()
    rows = tuple(tuple(0 if vfsm == 2 else vfsm for vfsm in row) for row in part(images, 0).second)
    assert "it is in one of the two schedules only" in breaks("subphases", with_part(images, 0, second=rows))


@pytest.mark.parametrize(("vfsm", "rule"), [(-1, "structure"), (31, "subphases"), (32, "structure")])
def test_a_second_schedule_names_vfsms_that_there_are(vfsm: int, rule: str) -> None:
    rows = part(compiled(), 0).second
    assert breaks(rule, with_part(compiled(), 0, second=((vfsm, *rows[0][1:]), *rows[1:])))


def test_schedules_that_have_no_slot_in_common_stop_a_stream() -> None:
    images = with_second(compiled(), lambda rows: rows[1:] + rows[:1])
    assert "nothing reads register 2" in breaks("promises", images)


def test_a_word_must_not_come_to_another_vfsm_in_the_other_schedule() -> None:
    """All nodes turn the second schedule: each schedule is right, words from one to the other are not where a link carries those
    of the prefix and of the barrier behind it."""
    text = "(sequential (prefix 'p 'add :m 3 :impl 'sch_prefix) (broadcast 'b 0 :m 1))"
    plan = make_plan(compile_text(text, topology=mesh(2, 2)), NodeShape(), name="prefix", period=16)
    legal = make_images(plan)
    assert legal.phases[0].second
    assert check_images(legal).ok, check_images(legal).render()
    found = ""
    for turn in range(1, 16):
        images = with_second(legal, lambda rows, turn=turn: rows[turn:] + rows[:turn])
        found += "; ".join(f.message for f in check_images(images).findings if f.rule == "subphases")
    assert "its word comes to VFSM" in found


def test_the_second_schedule_is_judged_as_the_first_is() -> None:
    images = compiled()
    rows = [list(row) for row in part(images, 0).second]
    slot, pipeline = next((s, p) for s, row in enumerate(rows) for p, vfsm in enumerate(row) if vfsm >= 2)
    free = next(s for s in range(len(rows)) if rows[s][pipeline] < 2 and s not in (slot - 1, slot + 1))
    rows[free][pipeline] = rows[slot][pipeline]
    assert not check_images(with_part(images, 0, second=tuple(map(tuple, rows)))).ok


def test_a_node_must_be_able_to_come_back() -> None:
    images = compiled()
    rows = tuple((0 if row[0] == 1 else row[0], *row[1:]) for row in part(images, 3).second)
    assert "VFSM 1 never runs" in breaks("subphases", with_part(images, 3, second=rows))


def test_nobody_leaves_such_a_phase_for_itself() -> None:
    images = compiled()
    phases = (replace(images.phases[0], technique="msg-sync"), *images.phases[1:])
    assert "the phase ends by msg-sync" in breaks("subphases", replace(images, phases=phases))


def test_load_functions_rewrite_nothing_in_it() -> None:
    images = compiled()
    here = part(images, 0).annotations[0]
    nodes = list(images.nodes)
    index, view = nodes[0].operators[0]
    role = replace(view.roles[0], rewrites=(Rewrite(here.pipeline, here.vfsm, here.annotation),))
    nodes[0] = replace(nodes[0], operators=((index, replace(view, roles=(role,))),))
    assert "load functions rewrite" in breaks("subphases", replace(images, nodes=tuple(nodes)))


@pytest.mark.parametrize("block", [1, 8, -1])
def test_a_second_schedule_has_a_block_of_its_own(block: int) -> None:
    images = replace(compiled(), phases=(replace(compiled().phases[0], second=block),))
    assert f"its second schedule is in block {block}" in breaks("blocks", images)


def test_a_second_schedule_has_the_size_of_the_first() -> None:
    assert "another size" in breaks("structure", with_part(compiled(), 0, second=part(compiled(), 0).second[1:]))
    assert "no block" in breaks("structure", with_part(compiled(), 0, second=()))
