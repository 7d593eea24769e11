"""The tree of sch_prefix and what goes down it."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.errors import RefusedError
from pointsman.network import Topology, mesh
from pointsman.operators import IMPLEMENTATIONS, Context
from pointsman.operators.scheduled.prefix_subphases import CHILDREN, SchPrefix, quickest_tree
from pointsman.plan.make_plan import make_plan
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

TOPOLOGIES = [mesh(1), mesh(5), mesh(2, 2), mesh(3, 5), mesh(8, 8), mesh(2, 2, 2)]


@pytest.mark.parametrize("topology", TOPOLOGIES, ids=str)
def test_tree_has_the_order_of_the_nodes_and_few_children(topology: Topology) -> None:
    nodes = tuple(range(topology.nodes))
    tree = quickest_tree(nodes, topology, nodes)
    assert tree.in_order() == list(nodes)
    assert all(len(here.children) <= CHILDREN for here in tree.nodes.values())


@pytest.mark.parametrize("topology", TOPOLOGIES[1:], ids=str)
def test_a_node_sends_one_stream_up_and_one_down_to_all_who_need_it(topology: Topology) -> None:
    operator = next(iter(compile_text("(prefix 'p 'add)", topology=topology).operators()))
    way = SchPrefix()
    tree = way.tree(operator, 0, topology)
    streams = way.streams(operator, Context(topology, NodeShape(neighbours=6)))
    up = [one for one in streams if one.subphase == 1]
    down = [one for one in streams if one.subphase == 2]
    assert len(up) == topology.nodes - 1
    assert len({one.source for one in down}) == len(down)
    reached = [node for one in down for node in one.destinations]
    assert sorted(reached) == sorted(tree.preceded)
    assert all(tree.nodes[node].parent == one.source for one in down for node in one.destinations)


def test_where_there_is_no_block_for_a_second_schedule_it_is_refused_or_not_taken() -> None:
    shape = NodeShape(schedule_depth=32)
    asked = compile_text("(prefix 'p 'add :m 64 :impl 'sch_prefix)", topology=mesh(4, 4))
    with pytest.raises(
        RefusedError, match="phase 'p', which has two schedules, needs 64 entries of the schedule memory"
    ):
        make_plan(asked, shape, name="small", period=16)
    plain = compile_text("(prefix 'p 'add :m 64)", topology=mesh(4, 4))
    images = make_images(make_plan(plain, shape, name="small", period=16))
    assert images.operators[0].implementation == "str_prefix_linear"


def test_the_compiler_takes_it_before_one_schedule_for_long_messages_that_are_combined_as_a_whole() -> None:
    program = compile_text("(prefix 'p 'mine :m 64)", topology=mesh(8, 8))
    trees = [one for one in IMPLEMENTATIONS if one.name not in ("str_prefix_linear", "dyn_prefix")]
    plan = make_plan(program, NodeShape(), name="long", period=16, implementations=trees)
    assert plan.phases[0].operators[0].implementation.name == "sch_prefix"


@pytest.mark.parametrize(
    "text",
    [
        "(prefix 'p 'add :m 3 :valid '(1) :impl 'sch_prefix)",
        "(subset '((0) (1 2)) (prefix 'p 'add :m 3 :impl 'sch_prefix))",
        "(subset '((0) (1 2)) (prefix 'p 'add :m 3 :valid '(0) :impl 'sch_prefix))",
    ],
)
def test_where_nothing_goes_down_nobody_goes_to_a_second_schedule(text: str) -> None:
    images = make_images(make_plan(compile_text(text, topology=mesh(3)), NodeShape(), name="one"))
    report = check_images(images)
    assert report.ok, report.render()
