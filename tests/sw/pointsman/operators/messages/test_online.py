"""Online operators: where their messages may go, and which destination queues they get."""

from __future__ import annotations

from typing import Any

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import Topology, mesh
from pointsman.operators import Context
from pointsman.operators.messages import decompose
from pointsman.operators.messages.online import ONLINE, destination_queues, passed_on, seen, traffic, way_named
from pointsman.plan.make_plan import make_plan
from pointsman.plan.structure.structure import outline
from pointsman.program.catalogue import OPERATORS
from pointsman.program.program import Operator
from pointsman.targets.packet.arrivals import ArrivalOrder


def operators(text: str, topology: Topology) -> list[Operator]:
    return list(compile_text(text, topology=topology).operators())


def pairs(text: str, topology: Topology) -> dict[tuple[int, int], float]:
    (operator,) = operators(text, topology)
    return traffic(operator, decompose(operator, topology), topology)


def test_every_kind_of_operator_can_be_done_online():
    assert {kind for one in ONLINE for kind in one.kinds} == set(OPERATORS)


@pytest.mark.parametrize(
    "text",
    [
        "(broadcast 'o (runtime))",
        "(broadcast 'o (runtime :distributed t))",
        "(broadcast 'o (runtime :dynamic t))",
        "(collect 'o (runtime :distributed t))",
        "(reduce 'o 'add (runtime :distributed t))",
        "(reduce 'o (runtime) (runtime))",
        "(permute 'o (runtime))",
        "(permute 'o (runtime :distributed t))",
        "(stream 'o (runtime) (runtime :dynamic t))",
        "(seqread 'o '(0 1) (runtime :values '(2 3)))",
        "(seqwrite 'o (runtime :values '(2 3)) '(0 1))",
        "(eoshift 'o (runtime))",
    ],
)
def test_every_legal_run_time_value_is_served(text: str):
    (operator,) = operators(text, mesh(2, 2))
    context = Context(mesh(2, 2), NodeShape())
    assert any(one.metric(operator, context) for one in ONLINE if operator.kind in one.kinds)


def test_traffic_is_the_mean_over_the_run_time_values():
    assert pairs("(stream 'o 0 (runtime) :m 6)", mesh(3)) == {(0, 1): 2.0, (0, 2): 2.0}
    assert pairs("(stream 'o 0 (runtime :values '(2)) :m 6)", mesh(3)) == {(0, 2): 6.0}
    assert pairs("(stream 'o 1 (runtime :dynamic t) :m 3)", mesh(3)) == {(1, 0): 1.0, (1, 2): 1.0}
    shift = pairs("(cshift 'o (runtime :values '(1)) :m 2)", mesh(3))
    assert shift == {(0, 1): 2.0, (1, 2): 2.0, (2, 0): 2.0}
    assert set(pairs("(permute 'o (runtime))", mesh(3))) == {(a, b) for a in range(3) for b in range(3) if a != b}


@pytest.mark.parametrize(
    ("text", "values", "position", "given"),
    [
        ("(broadcast 'o (runtime :distributed t))", (2,), 2, (2,)),
        ("(broadcast 'o (runtime :distributed t))", (2,), 1, (-1,)),
        ("(stream 'o (runtime) (runtime :dynamic t))", (1, 3), 1, (1, 3)),
        ("(stream 'o (runtime) (runtime :dynamic t))", (1, 3), 3, (1, -1)),
        ("(permute 'o (runtime :distributed t))", ((3, 2, 1, 0),), 1, (2,)),
        ("(collect 'o (runtime :distributed t))", (2,), 0, (2,)),
    ],
)
def test_what_a_node_knows(text: str, values: tuple[Any, ...], position: int, given: tuple[Any, ...]):
    (operator,) = operators(text, mesh(2, 2))
    assert seen(operator, values, position) == given


PARALLEL = """
(parallel
  (subset '((0 1 2)) (reduce 'a 'add 0 :m 2))
  (subset '((3 4 5)) (allreduce 'b 'add :m 2))
  (subset '((6 7)) (cshift 'c 1 :m 4))
  (subset '((6 7 8)) (prefix 'd 'add :m 2)))
"""


def test_what_a_node_passes_on_as_it_comes_is_what_its_script_says() -> None:
    topology = mesh(3)
    (program,) = compile_text("(broadcast 'o 0 :m 2)", topology=topology).operators()
    for name in ("dyn_bcast_dense", "dyn_bcast_tree"):
        way = way_named(name, "broadcast")
        found = [passed_on(program, way, node, topology) for node in range(3)]
        for node in range(3):
            reads = [s for one in way.script(program, 0, node, (), topology).calls.get("read", ()) for s in one.steps]
            wanted = {(s.source, 0): tuple((one.to, 0) for one in s.forward) for s in reads if s.forward}
            assert found[node] == wanted
    assert found[0] == {}
    assert passed_on(program, way_named("dyn_bcast_dense", "broadcast"), 1, topology) == {(0, 0): ((2, 0),)}
    (down,) = compile_text("(allreduce 'o 'add :m 2)", topology=mesh(7)).operators()
    way = way_named("dyn_allreduce", "allreduce")
    below = [onward for node in range(7) for onward in passed_on(down, way, node, mesh(7)).values()]
    assert len(below) == 2, "of seven nodes in a tree two have both a parent and children"
    (asked,) = compile_text("(broadcast 'o (runtime) :m 2)", topology=topology).operators()
    assert passed_on(asked, way_named("dyn_bcast_dense", "broadcast"), 1, topology) == {}, (
        "it may not know the source yet"
    )


def test_destination_queues_are_a_legal_colouring_of_what_may_be_under_way_together():
    """Against the dependency graph that the packet target uses, which is made from the scripts."""
    topology = mesh(3, 3)
    program = compile_text(PARALLEL, topology=topology)
    structure = outline(program)
    listed = [(operator, decompose(operator, topology)) for operator in program.operators()]
    queues = destination_queues([(i, 0, operator, way) for i, (operator, way) in enumerate(listed)])
    conflicts = ArrivalOrder(structure, listed, [0] * len(listed), topology).conflicts()
    assert any(conflicts.values())
    for together in conflicts.values():
        for pair in together:
            one, other = pair
            assert queues[one.operator][one.channel] != queues[other.operator][other.channel]
    assert queues[0] == queues[1] == queues[3] == (0, 1, 2), "no node in common"
    assert queues[2] == (3,), "another length"


def test_queues_begin_again_in_the_next_phase():
    (a, b) = operators("(sequential (cshift 'a (runtime)) (cshift 'b (runtime)))", mesh(2))
    way = way_named("dyn_shift", "cshift")
    assert destination_queues([(0, 0, a, way), (1, 1, b, way)]) == {0: (0,), 1: (0,)}
    assert destination_queues([(0, 0, a, way), (1, 0, b, way)]) == {0: (0,), 1: (1,)}


def test_a_value_that_seldom_changes_makes_reloading_cheap():
    """``:block``: a load function that finds the value of before sends no commands (§6.2.5)."""

    def predicted(block: int) -> float:
        text = f"(loop 'l 100 (broadcast 'o (runtime :block {block}) :m 40 :impl 'str_bcast_linear))"
        program = compile_text(text, topology=mesh(2, 2))
        return make_plan(program, NodeShape(), name="block", period=16).cycles

    cycles = [predicted(block) for block in (1, 2, 5, 10, 100)]
    assert cycles == sorted(cycles, reverse=True)
    # Nodes meet, send eight words, and meet again: that takes from 30 to 70 cycles, and 90 of 100 are saved.
    assert 90 * 30 < cycles[0] - cycles[3] < 90 * 70
