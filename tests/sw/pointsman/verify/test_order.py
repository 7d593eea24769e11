"""The order of groups: from operator to operator as the text says."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import fold
from pointsman.plan.structure.structure import divided
from pointsman.program.program import Program
from pointsman.targets.numesh import make_images
from pointsman.verify.order import BEGIN, follows, order_differences

LOOP = "(loop 'l 3 (phase (broadcast 'a 0 :m 4)) (phase (cshift 'b 1 :m 3))) (phase (barrier 'c))"
THREADS = """
(broadcast 'x 0 :m 8)
(parallel
  (subset '(0 1) (loop 'l 2 (stream 'a1 0 1 :m 9) (stream 'a2 1 0 :m 9)))
  (subset '(2 3) (sequential (stream 'b1 0 1 :m 9) (stream 'b2 1 0 :m 9) (stream 'b3 0 1 :m 9))))
(broadcast 'y 3 :m 8)
"""


def program(text: str) -> Program:
    return compile_text(text, topology=mesh(2, 2))


@cache
def images(text: str) -> Images:
    return make_images(make_plan(program(text), NodeShape(), name="order"))


@cache
def threads() -> Images:
    """Images of `THREADS` in which every operator has a phase of its own."""
    whole = program(THREADS)
    root = disjoint_tree(whole)
    structure = divided(whole, root, fold(root, lambda part, i: True))
    return make_images(make_plan(whole, NodeShape(), name="order", period=16, structures=[structure]))


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("(barrier 'a) (barrier 'b)", [(BEGIN, "a"), ("a", "b")]),
        ("(loop 'l 2 (barrier 'a) (barrier 'b))", [(BEGIN, "a"), ("a", "b"), ("b", "a")]),
        ("(barrier 'a) (optional (barrier 'b)) (barrier 'c)", [(BEGIN, "a"), ("a", "b"), ("a", "c"), ("b", "c")]),
        ("(parallel (barrier 'a) (barrier 'b)) (barrier 'c)", [(BEGIN, "a"), (BEGIN, "b"), ("a", "c"), ("b", "c")]),
        ("(optional (loop 'l 2 (barrier 'a)))", [(BEGIN, "a"), ("a", "a")]),
    ],
)
def test_what_follows_what_is_read_from_the_text(text: str, pairs: list[tuple[str, str]]) -> None:
    found = follows(program(text), {"a", "b", "c"})
    assert sorted((one, other) for one, after in found.items() for other in after) == sorted(pairs)


def test_operators_of_other_nodes_are_passed_over() -> None:
    assert follows(program(LOOP), {"a", "c"}) == {BEGIN: {"a": None, "c": None}, "a": {"a": None, "c": None}}


def test_a_deep_tree_is_read_without_recursion() -> None:
    text = "(sequential " * 900 + "(barrier 'a)" + ")" * 900
    assert follows(program(text), {"a"}) == {BEGIN: {"a": None}}


@pytest.mark.parametrize("text", [LOOP, "(allreduce 'a 'add :impl 'repl_allreduce) (barrier 'b)"])
def test_images_come_from_operator_to_operator_as_the_text_says(text: str) -> None:
    assert list(order_differences(images(text), program(text))) == []


def test_a_phase_that_does_not_follow_is_told() -> None:
    found = images(LOOP)
    phases = tuple(replace(one, successors=()) for one in found.phases)
    assert len(phases) > 1
    said = list(order_differences(replace(found, phases=phases), program(LOOP)))
    assert said[0].startswith("node 0 does not come from ")
    assert said[0].endswith("which may follow in the program")


def test_a_way_that_a_thread_lacks_is_told() -> None:
    found = threads()
    assert any(one.ways for one in found.nodes)
    assert list(order_differences(found, program(THREADS))) == []
    for node, image in enumerate(found.nodes):
        for way in image.ways:
            if way[1] == -1 or way[0] == way[1]:
                continue
            ways = tuple(other for other in image.ways if other != way)
            nodes = (*found.nodes[:node], replace(image, ways=ways), *found.nodes[node + 1 :])
            passages = tuple(one for one in found.passages if one[0] != node)
            said = list(order_differences(replace(found, nodes=nodes, passages=passages), program(THREADS)))
            assert any(line.startswith(f"node {node} does not come from") for line in said), (node, way)


def test_an_order_that_is_not_the_texts_is_told() -> None:
    text = "(loop 'l 3 (broadcast 'a 0 :m 4 :impl 'str_bcast_tree) (broadcast 'b 1 :m 4 :impl 'str_bcast_tree)) (barrier 'c)"
    found = images(text)
    labels = {one.label: index for index, one in enumerate(found.operators)}
    a, b = labels["a"], labels["b"]
    phase = found.operators[a].phase
    assert found.operators[b].phase == phase
    for order, right in (((a, b), True), ((b, a), False)):
        phases = list(found.phases)
        phases[phase] = replace(phases[phase], order=(order,))
        said = list(order_differences(replace(found, phases=tuple(phases)), program(text)))
        assert (said == []) is right


def test_parts_of_a_replaced_operator_are_in_their_own_order_in_every_round() -> None:
    """Nodes that are alone in a broadcast whose source they do not all know: agreement and broadcast in one phase."""
    text = "(subset '((0) (1)) (loop 'l 2 (broadcast 'b (runtime :distributed t) :m 20)))"
    found = images(text)
    assert [one.label for one in found.operators] == ["b/allreduce", "b/broadcast"]
    assert found.phases[0].order == ((0, 1),)
    assert not list(order_differences(found, program(text)))
    wrong = replace(found, phases=(replace(found.phases[0], order=((1, 0),)),))
    assert "node 0 may use 'b' before 'b'" in "".join(order_differences(wrong, program(text)))


def test_what_is_rewritten_before_its_phase_is_entered_must_leave_it_in_between() -> None:
    """Of two uses of ``o`` nothing need come in between, so that nobody leaves its phase; it waits for nobody where it is."""
    text = "(loop 'l 2 (stream 'o (runtime) 3 :m 3 :impl 'str_stream_rtsrc) (optional (reduce 'z 'add 0 :m 2)))"
    found = images(text)
    assert not list(order_differences(found, program(text)))
    changed = tuple(replace(one, synchronised=one.label == "o") for one in found.operators)
    (line, *_) = order_differences(replace(found, operators=changed), program(text))
    assert line == "node 0 may use 'o' twice in the program, and does not leave its phase in between"


def test_operators_in_any_order_have_no_stream_in_common() -> None:
    """Two broadcasts one after the other share a stream: words of the one follow words of the other."""
    one_after_another = "(broadcast 'a 0 :m 4) (broadcast 'b 0 :m 9)"
    assert not list(order_differences(images(one_after_another), program(one_after_another)))
    for group in ("parallel", "phase"):
        (line,) = order_differences(images(one_after_another), program(f"({group} {one_after_another})"))
        assert line == "'a' and 'b' have a stream in common, and may be used in any order in the program"
