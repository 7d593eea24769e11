"""What nodes do in operators: images that break one rule of lanes and load functions."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from numesh.codes import Annotation, MoveType
from pointsman.artifacts.images import Images, LaneImage, Rewrite
from pointsman.network import mesh
from pointsman.verify.images import check_images

Judge = Callable[[str, str, Images], None]


def test_lanes_lane_0_waits_for_itself(by_hand: ModuleType, change: ModuleType, breaks: Judge) -> None:
    breaks(
        "lanes",
        "lane 0 waits for itself",
        change.with_role(by_hand.stream_1x2(), 0, 0, 0, lanes=(LaneImage(True, (2,), after=0),)),
    )


def test_lanes_lane_0_waits_for_itself_again(
    both_ways: Callable[..., Images], change: ModuleType, breaks: Judge
) -> None:
    images = both_ways(aliased=False)
    lanes = (LaneImage(True, (2,), after=1), LaneImage(False, (3,), after=0))
    breaks("lanes", "lane 0 waits for itself", change.with_role(images, 0, 0, 0, lanes=lanes))


def test_lanes_words_move_although_the_message_is_only_copied(
    by_hand: ModuleType, change: ModuleType, breaks: Judge
) -> None:
    breaks(
        "lanes",
        "words move although the message is only copied",
        change.with_role(by_hand.stream_1x2(), 1, 0, 0, local=True, kind="both"),
    )


def test_structure_a_node_reads_what_it_cannot_have_written_to_itself(
    by_hand: ModuleType, change: ModuleType, shows: Judge
) -> None:
    shows(
        "structure",
        "its messages are copied in the processor, and it may only read",
        change.with_role(by_hand.stream_1x2(), 1, 0, 0, local=True, lanes=()),
    )


def test_rewrites_its_roles_do_not_rewrite_the_same_vfsms_so_an_annotation_of_an_earlier_value_may_stay(
    by_hand: ModuleType, change: ModuleType, breaks: Judge
) -> None:
    # The role that drops them is one in which they stand as before any load function.
    images = by_hand.runtime_broadcast_1x3()
    assert images.nodes[1].operators[0][1].role_of == (0, 1, 2)
    breaks(
        "rewrites",
        "its roles do not rewrite the same VFSMs, so an annotation of an earlier value may stay",
        change.with_role(images, 1, 0, 0, rewrites=()),
    )


def test_rewrites_it_is_rewritten_but_not_in_the_phase(by_hand: ModuleType, change: ModuleType, breaks: Judge) -> None:
    images = by_hand.stream_1x2()
    extra = Rewrite(0, 5, Annotation(MoveType.MOVE, 8, 8))
    breaks("rewrites", "it is rewritten but not in the phase", change.with_role(images, 0, 0, 0, rewrites=(extra,)))


def test_rewrites_operator_idle_rewrites_it_as_well(by_hand: ModuleType, shows: Judge) -> None:
    by = by_hand.ByHand(mesh(3), period=8)
    by.phase("p")
    # Later rewrites win: the extra one is first, so the broadcast itself is as it should be.
    by.operator(0, "idle", "barrier")
    by.role(0, 0, rewrites={(1, 2): by.move("+x", "r5")})
    by.operator(0, "b", "broadcast", [(0,), (1,), (2,)])
    by_hand.line_broadcast(by, 0, 1, [0, 1, 2])
    shows("rewrites", "operator idle rewrites it as well", by.images())


def test_rewrites_before_any_load_function_it_moves_words_from_x_to_null_as_in_no_role(
    by_hand: ModuleType, change: ModuleType, breaks: Judge
) -> None:
    images = by_hand.runtime_broadcast_1x3()
    assert images.nodes[2].phases[0].annotations[0].vfsm == 2
    breaks(
        "rewrites",
        "before any load function it moves words from -x to NULL, as in no role",
        change.with_annotation(images, 2, 0, 0, destination=13),
    )


def test_rewrites_a_role_rewrites_a_vfsm_twice(by_hand: ModuleType, change: ModuleType, breaks: Judge) -> None:
    images = by_hand.runtime_broadcast_1x3()
    role = images.nodes[0].operators[0][1].roles[0]
    images = change.with_role(images, 0, 0, 0, rewrites=(*role.rewrites, role.rewrites[0]))
    breaks("rewrites", "a role rewrites a VFSM twice", images)


def test_rewrites_that_stand_switched_off_before_the_load_function_are_legal(
    by_hand: ModuleType, change: ModuleType
) -> None:
    images = change.with_annotation(by_hand.runtime_broadcast_1x3(), 2, 0, 0, source=8, destination=8)
    assert check_images(images).ok
