"""What every node does in an operator: stages, and several instances at one node."""

from __future__ import annotations

from dataclasses import replace

import pytest

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import SYNC, LaneImage
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context, Implementation, RoleDraft, Wiring
from pointsman.operators.api.loading import Loading
from pointsman.plan.cost.feasible import feasible_implementations
from pointsman.plan.errors import PlanError
from pointsman.plan.roles import roles
from pointsman.plan.roles.roles import at_stage, merged, plan_operator
from pointsman.program.program import Operator
from pointsman.routing.phase_router.router import route_phase
from pointsman.routing.streams import RoutedPhase

READ = LaneImage(False, (2,))
WRITE = LaneImage(True, (3,))


@pytest.fixture(scope="module")
def operator() -> Operator:
    (found,) = compile_text("(stream 's 0 1)", topology=mesh(2, 1), file="x.cop").operators()
    return found


def test_a_node_that_reads_in_one_instance_and_writes_in_another_does_both(operator: Operator) -> None:
    found = merged(operator, 1, [RoleDraft("read", (READ,)), RoleDraft("none"), RoleDraft("write", (WRITE,))])
    assert found.kind == "both"
    assert found.lanes == (READ, WRITE)


def test_a_node_without_io_has_the_first_role(operator: Operator) -> None:
    nothing = RoleDraft("none")
    assert merged(operator, 1, [nothing, RoleDraft("none")]) is nothing


def test_a_node_cannot_read_in_two_instances(operator: Operator) -> None:
    with pytest.raises(PlanError, match="node 1 has more than one part in operator 's'"):
        merged(operator, 1, [RoleDraft("read", (READ,)), RoleDraft("read", (READ,))])


def test_when_its_stage_is_over_a_node_only_meets_the_others() -> None:
    meeting = LaneImage(False, (4,), turn=SYNC)
    draft = RoleDraft("read", (READ, meeting), later=(), stage=1)
    assert at_stage(draft, 0) is draft
    assert at_stage(draft, 1) is draft
    assert at_stage(draft, 2).lanes == (meeting,)
    stages = RoleDraft("read", each=(RoleDraft("read", (READ,)), RoleDraft("none")))
    assert at_stage(stages, 1) == RoleDraft("none")


@pytest.mark.parametrize(("size", "period"), [(4, 8), (5, 16)])
def test_instances_with_other_slots_and_equal_turns_end_alike(
    size: int, period: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    (rows,) = compile_text("(subset (make-1d 'x) (broadcast 'o (runtime) :m 3))", topology=mesh(size, size)).operators()
    context = Context(mesh(size, size), NodeShape())
    asked: list[object] = []

    def ends(implementation: Implementation, routed: RoutedPhase) -> object:
        found = plan_operator(rows, implementation, range(len(routed.streams)), routed, Wiring(routed))
        return found and (found.delays, found.message_bound, found.clear)

    for implementation in (one for one in IMPLEMENTATIONS if one.name in ("str_bcast_linear", "str_bcast_tree")):
        if implementation.metric(rows, context) is None:
            continue
        routed = route_phase(implementation.streams(rows, context), mesh(size, size), NodeShape(), period=period)
        # Rows that the router makes alike in all else, but with slots of their own.
        routed = replace(
            routed,
            chains=tuple(
                replace(
                    chain,
                    vfsms=tuple(
                        v._replace(slots=tuple(sorted((s + chain.stream) % period for s in v.slots)))
                        for v in chain.vfsms
                    ),
                )
                for chain in routed.chains
            ),
        )
        together = ends(implementation, routed)
        with monkeypatch.context() as apart:
            apart.setattr(roles, "turns_of", lambda *_: asked.append(None) or len(asked))
            assert ends(implementation, routed) == together
    assert len(asked) > 1


@pytest.mark.parametrize(("valid", "clear"), [("", True), (" :valid '(0 2)", False)])
def test_words_that_pass_a_node_without_a_part_are_not_over_when_its_function_returns(valid: str, clear: bool) -> None:
    (one,) = compile_text(f"(broadcast 'o (runtime) :m 1{valid})", topology=mesh(3, 1)).operators()
    (tree,) = (one for one in IMPLEMENTATIONS if one.name == "str_bcast_tree")
    streams = tree.streams(one, Context(mesh(3, 1), NodeShape()))
    routed = route_phase(streams, mesh(3, 1), NodeShape(), period=8)
    planned = plan_operator(one, tree, range(len(streams)), routed, Wiring(routed))
    assert planned is not None
    assert planned.clear is clear


def test_of_a_halo_exchange_roles_are_made_for_the_ends_of_streams_and_are_those_of_all_instances(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each of its streams is an instance that names all nodes: a role for each of them would be 65,536 on 16x16 nodes."""
    (right, *_) = compile_text("(grid '(xp xm yp ym) 1 1 :m 3)", topology=mesh(5, 4)).operators()
    way = next(one for one in IMPLEMENTATIONS if one.name == "str_stream")
    context = Context(mesh(5, 4), NodeShape())
    streams = way.streams(right, context)
    wiring = Wiring(route_phase(streams, mesh(5, 4), NodeShape(), period=8))
    asked: list[tuple[int, int]] = []
    made = way.gen_io

    def gen_io(operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]) -> RoleDraft:
        asked.append((instance, node))
        return made(operator, wiring, instance, node, values)

    monkeypatch.setattr(way, "gen_io", gen_io)
    planned = plan_operator(right, way, range(len(streams)), wiring.routed, wiring)
    assert planned is not None
    found = {node: planned.role(node, 0) for node in range(20)}
    assert len(asked) <= 20 + 3 * len(streams)
    count = len(right.instances)
    assert found == {
        node: merged(right, node, [made(right, wiring, i, node, ()) for i in range(count)]) for node in range(20)
    }
    assert {draft.kind for draft in found.values()} == {"read", "write", "both"}


def test_nodes_that_a_stream_passes_by_share_a_role(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream between two nodes names the whole mesh as a rule."""
    (one,) = compile_text("(stream 's 1 3 :m 3)", topology=mesh(5, 4)).operators()
    way = next(one for one in IMPLEMENTATIONS if one.name == "str_stream")
    context = Context(mesh(5, 4), NodeShape())
    streams = way.streams(one, context)
    wiring = Wiring(route_phase(streams, mesh(5, 4), NodeShape(), period=8))
    asked: list[int] = []
    made = way.gen_io

    def gen_io(operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]) -> RoleDraft:
        asked.append(node)
        return made(operator, wiring, instance, node, values)

    monkeypatch.setattr(way, "gen_io", gen_io)
    planned = plan_operator(one, way, range(len(streams)), wiring.routed, wiring)
    assert planned is not None
    found = {node: planned.role(node, 0) for node in range(20)}
    passed = {vfsm.node for chain in wiring.routed.chains for vfsm in chain.vfsms}
    assert len(asked) == len(passed) + 1
    assert found == {node: made(one, wiring, 0, node, ()) for node in range(20)}
    assert len({id(found[node]) for node in range(20) if node not in passed}) == 1
    assert {planned.like(node) for node in range(20)} == passed | {min(set(range(20)) - passed)}


@pytest.mark.parametrize("text", ["(stream 's (runtime) (runtime) :m 3)", "(broadcast 's (runtime) :m 3)"])
def test_roles_of_all_states_are_those_of_each_state(text: str) -> None:
    (one,) = compile_text(text, topology=mesh(4, 3)).operators()
    context = Context(mesh(4, 3), NodeShape())
    decided = 0
    for _, way in feasible_implementations(one, IMPLEMENTATIONS, context):
        if way.loading in (Loading.PER_VALUE, Loading.ONLINE, Loading.RESCHEDULED):
            continue
        streams = way.streams(one, context)
        wiring = Wiring(route_phase(streams, mesh(4, 3), NodeShape(), period=16))
        all_at_once, apart = (plan_operator(one, way, range(len(streams)), wiring.routed, wiring) for _ in range(2))
        assert all_at_once is not None
        assert apart is not None
        for node in range(12):
            found = all_at_once.states(node)
            assert found == [apart.role(node, state) for state in range(len(found))], (way.name, node)
            decided += len({id(draft) for draft in found}) < len(found)
    assert decided
    with pytest.raises(KeyError):
        all_at_once.states(12)
