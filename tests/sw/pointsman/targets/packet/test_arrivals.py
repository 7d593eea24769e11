"""Interface addresses by dependency analysis."""

from __future__ import annotations

import pytest

from packet_router.shape import RouterShape
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.targets.packet import make_packet_program
from pointsman.targets.packet.addresses import Address, allocate
from pointsman.targets.packet.arrivals import Arrival


def _addresses(text: str, node: int, size=(2, 2), **options) -> dict[str, Address]:
    program = compile_text(text, topology=mesh(*size))
    made = make_packet_program(program, RouterShape(size=size), name="p", **options)
    found = {}
    for one in made.operators:
        for (at, channel), address in one.addresses.items():
            if at == node:
                found[one.operator.label + (f".{channel}" if channel else "")] = address
    return found


def _numbers(*arguments, **options) -> dict[str, int]:
    return {label: address.number for label, address in _addresses(*arguments, **options).items()}


def test_example_of_the_thesis():
    """Metcalf 1997, Figures 7-3 and 7-4: A = 1, B = 2, D = 1 on node 3."""
    text = "(sequential (stream 'A 1 3) (stream 'B 1 3) (stream 'C 3 2) (stream 'D 2 3))"
    assert _numbers(text, 3, in_order=False) == {"A": 1, "B": 2, "D": 1}
    assert _numbers(text, 2, in_order=False) == {"C": 1}
    # Where messages of a pair of nodes keep their order, B cannot come before A.
    assert _numbers(text, 3) == {"A": 1, "B": 1, "D": 1}


def test_in_a_loop_the_last_may_meet_the_first_of_the_next_round():
    """Metcalf 1997, Figure 7-5: A = 1, B = 1, D = 2 on node 3."""
    text = "(loop 'l 5 (stream 'A 1 3) (stream 'B 1 3) (stream 'C 3 2) (stream 'D 2 3))"
    found = _numbers(text, 3)
    # Node 1 never waits for anybody, so its next A may come before D has been read.
    assert found == {"A": 1, "B": 1, "D": 2}
    found = _numbers(text, 3, in_order=False)
    assert len({found["A"], found["B"], found["D"]}) == 3


def test_order_on_the_way_joins_no_arrivals_that_have_several_senders_or_no_order():
    two = "(sequential (stream 'A 1 3) (subset '((1 2 3)) (gather 'G 2)) (subset '((1 3)) (stream 'B 0 1)))"
    found = _numbers(two, 3)
    assert found["A"] != found["G"] != found["B"]
    assert found["A"] == found["B"]
    found = _numbers("(parallel (stream 'A 1 3) (stream 'B 1 3))", 3)
    assert found["A"] != found["B"]
    found = _numbers("(sequential (stream 'A 1 3) (stream 'B (runtime) 3))", 3)
    assert found["A"] != found["B"]


def test_a_loop_closed_by_an_answer_shares_an_address():
    text = "(loop 'l 5 (stream 'A 1 3) (stream 'C 3 1) (stream 'B 1 3) (stream 'D 3 1))"
    assert _numbers(text, 3) == {"A": 1, "B": 1}


def test_operators_side_by_side_never_share():
    text = "(parallel (stream 'A 1 3) (stream 'B 2 3) (stream 'C 0 3))"
    assert len(set(_numbers(text, 3).values())) == 3
    text = "(loop 'l 3 (parallel (stream 'A 1 3) (stream 'B 2 3)) (stream 'C 3 2) (stream 'D 3 1))"
    assert len(set(_numbers(text, 3).values())) == 2


def test_run_time_ends_give_no_order():
    constant = "(sequential (stream 'A 1 3) (stream 'C 3 2) (stream 'D 2 3))"
    assert set(_numbers(constant, 3).values()) == {1}
    loose = "(sequential (stream 'A 1 3) (stream 'C (runtime) 2) (stream 'D 2 3))"
    assert len(set(_numbers(loose, 3).values())) == 2


def test_sending_before_receiving_is_no_order():
    """In a shift every node sends at once: the next operator's word may overtake it."""
    text = "(sequential (cshift 's 1) (stream 'A 0 3))"
    found = _numbers(text, 3, (4, 1))
    assert found["s"] != found["A"]


def test_children_of_a_reduction_have_addresses_of_their_own():
    found = _numbers("(reduce 'r 'f 1 :m 4)", 1, (3, 1))
    assert found["r"] != found["r.1"]


def test_barrier_needs_one_address():
    assert set(_addresses("(barrier 'b)", 1, (3, 1))) == {"b"}


def test_too_few_addresses_are_shared_the_busiest_operators_last():
    text = "(parallel " + " ".join(f"(stream 's{i} {i % 3} 3 :m {10 - i})" for i in range(6)) + ")"
    assert _addresses(text, 3)["s5"] == Address(6)
    found = _addresses(text, 3, addresses=4)
    assert [found[f"s{i}"] for i in range(2)] == [Address(1), Address(2)]
    assert [found[f"s{i}"] for i in range(2, 6)] == [Address(3, k) for k in range(4)]
    alone = _addresses(text, 3, addresses=2)
    assert [alone[f"s{i}"] for i in range(6)] == [Address(1, k) for k in range(6)]


def test_allocation_keeps_enemies_apart():
    arrivals = {Arrival(i, 0, 5): 1.0 for i in range(4)}
    a, b, c, d = sorted(arrivals)
    found = allocate(arrivals, {5: {frozenset((a, b)), frozenset((b, c)), frozenset((c, d))}}, 16)
    assert [found[one].number for one in (a, b, c, d)] == [1, 2, 1, 2]


@pytest.mark.parametrize("addresses", [1, 17])
def test_addresses_that_there_are_not_are_refused(addresses):
    with pytest.raises(PointsmanError, match=f"^interface addresses must be 2 to 16, not {addresses}$"):
        _addresses("(barrier 'b)", 0, addresses=addresses)


def test_program_for_another_network_is_refused():
    program = compile_text("(barrier 'b)", topology=mesh(2, 3))
    with pytest.raises(PointsmanError, match=r"^the program is for a 2x3 mesh, the routers are a 4x4 mesh$"):
        make_packet_program(program, RouterShape(), name="p")


def test_what_may_be_left_out_proves_no_order():
    """A barrier in an optional group separates nothing; outside it does."""
    barrier = "(barrier 'w)"
    for between, apart in ((barrier, 1), (f"(optional {barrier})", 2)):
        found = _numbers(f"(sequential (stream 'A 1 3 :m 3) {between} (stream 'B 2 3 :m 2))", 3)
        assert len({found["A"], found["B"]}) == apart, between


def test_a_later_round_proves_nothing_of_the_first():
    """Nodes 0 and 3 meet, then all shift in a loop: a shift's word may come to node 3 before the barrier's."""
    found = _numbers("(subset '((0 3)) (barrier 'b)) (loop 'l 3 (cshift 'c 5 :m 2))", 3, (3, 2))
    assert found["b"] != found["c"]


def test_an_order_that_only_some_senders_know_proves_nothing():
    text = "(sequential (stream 'A 1 3) (stream 'C 3 2) {})"
    assert len(set(_numbers(text.format("(stream 'D 2 3)"), 3).values())) == 1
    assert len(set(_numbers(text.format("(gather 'D 3)"), 3).values())) == 2
