"""A phase as the judge sees it: its nodes, and who meets at its end."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

from numesh.codes import Codes
from pointsman.artifacts.images import Images
from pointsman.verify.node.phase_view import PhaseView, made_operators, phase_views


def views(images: Images) -> tuple[PhaseView, ...]:
    return phase_views(images, Codes(images.shape))


def test_each_node_is_in_the_phases_of_which_it_has_a_part(by_hand: ModuleType) -> None:
    images = by_hand.two_phases_2x2()
    for view in views(images):
        own = {n for n, node in enumerate(images.nodes) if any(part.phase == view.phase for part in node.phases)}
        assert view.nodes.keys() == own
        assert view.name == images.phases[view.phase].name
        assert [index for index, _ in view.operators()] == list(view.image.operators)


def test_nodes_meet_with_those_whom_the_words_of_the_barrier_join(by_hand: ModuleType) -> None:
    images = by_hand.two_phases_2x2()
    (first, second) = views(images)
    closing = first.image.barrier
    assert closing is not None
    assert made_operators(first.image) == (closing, None)
    members = {node for node, image in enumerate(images.nodes) if any(index == closing for index, _ in image.operators)}
    assert {node for node in range(4) if first.meets(node)} == members == first.meeting.keys()
    assert len(set(first.meeting.values())) == 1
    # Without its words nobody waits for anybody.
    silent = replace(images, promises=tuple(one for one in images.promises if one.operator != closing))
    assert views(silent)[0].meeting == {}
    assert second.image.barrier is not None or not any(map(second.meets, range(4)))
