"""What every node does in an operator: stages, and several instances at one node."""

from __future__ import annotations

import pytest

from pointsman.artifacts.images.images import SYNC, LaneImage
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import RoleDraft
from pointsman.plan.errors import PlanError
from pointsman.plan.roles.roles import at_stage, merged
from pointsman.program.program import Operator

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
