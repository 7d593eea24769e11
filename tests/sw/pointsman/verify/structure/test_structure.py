"""Numbers, sizes and codes: images that break one rule of the first pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from numesh.codes import Annotation, MoveType
from pointsman.artifacts.images import Images, Rewrite
from pointsman.artifacts.images.images import ReplacedImage
from pointsman.network import Link, Topology
from pointsman.program.program import Instance, Operator
from pointsman.verify.images import check_images

Judge = Callable[[str, str, Images], None]


def test_structure_the_period_is_0_slots(by_hand: ModuleType, breaks: Judge) -> None:
    breaks("structure", "the period is 0 slots", replace(by_hand.stream_1x2(), period=0))


def test_structure_the_schedule_has_7_slots(by_hand: ModuleType, change: ModuleType, breaks: Judge) -> None:
    images = by_hand.stream_1x2()
    breaks(
        "structure",
        "the schedule has 7 slots",
        change.with_part(images, 1, 0, schedule=images.nodes[1].phases[0].schedule[1:]),
    )


def test_structure_a_vfsm_is_32(by_hand: ModuleType, change: ModuleType, breaks: Judge) -> None:
    breaks("structure", "a VFSM is 32", change.with_entry(by_hand.stream_1x2(), 0, 0, 3, 1, 32))


def test_structure_there_are_images_of_1_nodes(by_hand: ModuleType, breaks: Judge) -> None:
    images = by_hand.stream_1x2()
    breaks("structure", "there are images of 1 nodes", replace(images, nodes=images.nodes[:1]))


def test_structure_a_role_is_1(by_hand: ModuleType, change: ModuleType, breaks: Judge) -> None:
    breaks("structure", "a role is 1", change.with_operator(by_hand.stream_1x2(), 0, 0, role_of=(1,)))


def test_structure_its_words_need_phase_p_of_which_the_node_has_no_part(
    by_hand: ModuleType, change: ModuleType, breaks: Judge
) -> None:
    images = by_hand.stream_1x2()
    breaks(
        "structure",
        "it needs phase p, of which the node has no part",
        change.with_node(images, 1, replace(images.nodes[1], phases=())),
    )


def test_structure_technique_barrier_with_barrier_operator_none(
    by_hand: ModuleType, change: ModuleType, breaks: Judge
) -> None:
    breaks(
        "structure",
        "technique barrier with barrier operator None",
        change.with_phase(by_hand.stream_1x2(), 0, technique="barrier"),
    )


def test_structure_a_port_of_a_link_is_2(by_hand: ModuleType, breaks: Judge) -> None:
    breaks(
        "structure",
        "a port of a link is 2",
        replace(by_hand.stream_1x2(), topology=Topology("mesh", (2,), (Link(0, 2, 1, 0),))),
    )


def test_structure_port_1_of_node_0_is_joined_twice(by_hand: ModuleType, breaks: Judge) -> None:
    breaks(
        "structure",
        "port 1 of node 0 is joined twice",
        replace(by_hand.stream_1x2(), topology=Topology("mesh", (2,), (Link(0, 1, 1, 0), Link(0, 1, 1, 1)))),
    )


def test_structure_stream_s_from_0_is_promised_for_the_values(
    by_hand: ModuleType, change: ModuleType, breaks: Judge
) -> None:
    breaks(
        "structure",
        "stream s from 0 is promised for the values ()",
        change.with_promise(by_hand.stream_1x2(), 0, values=()),
    )


def test_blocks_it_is_in_block_0(by_hand: ModuleType, change: ModuleType, breaks: Judge) -> None:
    breaks("blocks", "it is in block 0", change.with_phase(by_hand.stream_1x2(), 0, block=0))


def test_blocks_it_is_in_block_16(by_hand: ModuleType, change: ModuleType, breaks: Judge) -> None:
    breaks("blocks", "it is in block 16", change.with_phase(by_hand.stream_1x2(), 0, block=16))


def test_annotations_it_is_annotated_but_never_scheduled(
    by_hand: ModuleType, change: ModuleType, breaks: Judge
) -> None:
    images = by_hand.stream_1x2()
    more = Rewrite(1, 9, Annotation(MoveType.MOVE, 8, 8))
    breaks(
        "annotations",
        "it is annotated but never scheduled",
        change.with_part(images, 0, 0, annotations=(*images.nodes[0].phases[0].annotations, more)),
    )


def test_annotations_it_is_annotated_2_times(by_hand: ModuleType, change: ModuleType, breaks: Judge) -> None:
    images = by_hand.stream_1x2()
    breaks(
        "annotations",
        "it is annotated 2 times",
        change.with_part(images, 0, 0, annotations=2 * images.nodes[0].phases[0].annotations),
    )


def test_annotations_it_is_annotated_anew(by_hand: ModuleType, change: ModuleType, breaks: Judge) -> None:
    images = by_hand.stream_1x2()
    more = Rewrite(0, 1, Annotation(MoveType.MOVE, 17, 6))
    breaks(
        "annotations",
        "it is annotated anew",
        change.with_part(images, 0, 0, annotations=(more, *images.nodes[0].phases[0].annotations)),
    )


def test_annotations_it_is_scheduled_without_an_annotation(
    by_hand: ModuleType, change: ModuleType, breaks: Judge
) -> None:
    breaks(
        "annotations", "it is scheduled without an annotation", change.with_entry(by_hand.stream_1x2(), 0, 0, 2, 1, 7)
    )


def test_codes_its_source_is_special(one_stream: Callable[..., Any], breaks: Judge) -> None:
    by = one_stream()
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.vfsm(0, 1, 3, by.codes.special, "nop", (4,))
    by.promise(0, (0, 2), [(1, 3)], 1)
    breaks("codes", "its source is special", by.images())


def test_codes_its_destination_is_memadr(one_stream: Callable[..., Any], breaks: Judge) -> None:
    by = one_stream()
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.vfsm(0, 1, 3, "nop", "memadr", (4,))
    by.promise(0, (0, 2), [(1, 3)], 1)
    breaks("codes", "its destination is MEMADR", by.images())


def test_structure_stream_s_from_0_names_a_destination_twice(
    by_hand: ModuleType, change: ModuleType, shows: Judge
) -> None:
    shows(
        "structure",
        "stream s from 0 names a destination twice",
        change.with_promise(by_hand.stream_1x2(), 0, destinations=((1, 3), (1, 3))),
    )


def with_lane(change: ModuleType, images: Images, **fields: Any) -> Images:
    lane = images.nodes[0].operators[0][1].roles[0].lanes[0]
    return change.with_role(images, 0, 0, 0, lanes=(replace(lane, **fields),))


@pytest.mark.parametrize(
    ("message", "make"),
    [
        ("phase 0 stands 2 times", lambda c, i: c.with_node(i, 0, replace(i.nodes[0], phases=2 * i.nodes[0].phases))),
        (
            "operator 0 stands 2 times",
            lambda c, i: c.with_node(i, 0, replace(i.nodes[0], operators=2 * i.nodes[0].operators)),
        ),
        (
            "an operator is 1",
            lambda c, i: c.with_node(i, 0, replace(i.nodes[0], operators=((1, i.nodes[0].operators[0][1]),))),
        ),
        ("a phase is 1", lambda c, i: c.with_part(i, 0, 0, phase=1)),
        ("a node of a link is 2", lambda c, i: replace(i, topology=Topology("mesh", (2,), (Link(0, 1, 2, 0),)))),
        (
            "a link joins the node to itself",
            lambda c, i: replace(i, topology=Topology("mesh", (2,), (Link(0, 1, 0, 0),))),
        ),
        ("it has no values", lambda c, i: replace(i, operators=(replace(i.operators[0], values=()),))),
        ("its phase is 1", lambda c, i: replace(i, operators=(replace(i.operators[0], phase=1),))),
        ("phase 0 does not name it", lambda c, i: c.with_phase(i, 0, operators=())),
        ("an operator is -1", lambda c, i: c.with_phase(i, 0, operators=(0, -1))),
        ("a successor is 1", lambda c, i: c.with_phase(i, 0, successors=(1,))),
        ("it names operator s of phase p", lambda c, i: replace(i, phases=2 * i.phases)),
        ("operator 7 closes it", lambda c, i: c.with_phase(i, 0, technique="barrier", barrier=7)),
        (
            "1 VFSMs",
            lambda c, i: c.with_part(i, 0, 0, schedule=c.put(i.nodes[0].phases[0].schedule, 3, (1,))),
        ),
        ("it settles for -1 cycles", lambda c, i: c.with_part(i, 0, 0, settle=((0, -1),))),
        ("a phase to settle in is 3", lambda c, i: c.with_part(i, 0, 0, settle=((3, 1),))),
        (
            "a pipeline is 2",
            lambda c, i: c.with_part(i, 0, 0, annotations=(Rewrite(2, 2, Annotation(MoveType.MOVE, 8, 8)),)),
        ),
        (
            "an annotated VFSM is 32",
            lambda c, i: c.with_part(i, 0, 0, annotations=(Rewrite(0, 32, Annotation(MoveType.MOVE, 8, 8)),)),
        ),
        ("roles are chosen for 2 values", lambda c, i: c.with_operator(i, 0, 0, role_of=(0, 0))),
        ("its position is 2 of 2", lambda c, i: c.with_operator(i, 0, 0, position=2)),
        ("a register of lane 0 is 16", lambda c, i: with_lane(c, i, registers=(16,))),
        ("lane 0 has no registers", lambda c, i: with_lane(c, i, registers=())),
        ("lane 0 has -1 words", lambda c, i: with_lane(c, i, words=-1)),
        ("the lane that lane 0 is after is 1", lambda c, i: with_lane(c, i, after=1)),
        ("the lane that lane 0 is paired with is -1", lambda c, i: with_lane(c, i, pair=-1, window=1)),
        ("lane 0 is paired with lane None in a window of 4", lambda c, i: with_lane(c, i, window=4)),
        ("lane 0 is paired with lane 0 in a window of 4", lambda c, i: with_lane(c, i, pair=0, window=4)),
        ("the operator of a promise is 1", lambda c, i: c.with_promise(i, 0, operator=1)),
        ("stream s from 0 is promised for phase number 1", lambda c, i: c.with_promise(i, 0, phase=1)),
        ("stream s from 0 is promised for the values (0, 0)", lambda c, i: c.with_promise(i, 0, values=(0, 0))),
        ("a value of stream s from 0 is 1", lambda c, i: c.with_promise(i, 0, values=(1,))),
        ("a node of stream s from 0 is -1", lambda c, i: c.with_promise(i, 0, source=-1)),
        ("a register of stream s from 0 is 16", lambda c, i: c.with_promise(i, 0, register=16)),
        ("the node of a passage is 2", lambda c, i: replace(i, passages=((2, -1, -1, (0,)),))),
        ("a phase of a passage is 1", lambda c, i: replace(i, passages=((0, 1, -1, (0,)),))),
        ("a phase of a passage is -1", lambda c, i: replace(i, passages=((0, -1, -1, (-1,)),))),
    ],
)
def test_a_number_that_names_nothing_is_found(
    by_hand: ModuleType, change: ModuleType, shows: Judge, message: str, make: Callable[..., Images]
) -> None:
    shows("structure", message, make(change, by_hand.stream_1x2()))


def test_codes_the_type_of_move_is_7(by_hand: ModuleType, change: ModuleType, breaks: Judge) -> None:
    breaks("codes", "the type of move is 7", change.with_annotation(by_hand.stream_1x2(), 1, 0, 0, type=7))


def replaced(by_hand: ModuleType, **changed: Any) -> Images:
    """A stream that stands for a reduction of two nodes, which never was compiled so."""
    nodes = Instance((0, 1), (("function", None), ("destination", 1)))
    program = replace(Operator("r", "reduce", (nodes,)), **changed)
    return replace(by_hand.stream_1x2(), replaced=(ReplacedImage(program, "repl", (0,), "x.cop:1:1"),))


def test_an_operator_that_is_replaced_is_no_fault(by_hand: ModuleType) -> None:
    assert check_images(replaced(by_hand)).ok


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"kind": "recude"}, "it is a recude"),
        ({"instances": ()}, "it has no instance"),
        ({"instances": (Instance((0, 1), ()),)}, "it has the operands []"),
        ({"instances": (Instance((), (("function", None), ("destination", 0))),)}, "an instance has the nodes ()"),
        ({"instances": (Instance((0, 7), (("function", None), ("destination", 0))),)}, "a node of an instance is 7"),
        (
            {"instances": (Instance((0,), (("function", None), ("destination", 0))),)},
            "s, which does it, has other nodes",
        ),
    ],
)
def test_structure_of_operators_that_are_replaced(
    by_hand: ModuleType, breaks: Judge, changed: dict[str, Any], said: str
) -> None:
    breaks("structure", said, replaced(by_hand, **changed))


def test_structure_parts_are_operators(by_hand: ModuleType, breaks: Judge) -> None:
    images = replaced(by_hand)
    breaks(
        "structure",
        "an operator that does it is 9",
        replace(images, replaced=(replace(images.replaced[0], parts=(9,)),)),
    )
