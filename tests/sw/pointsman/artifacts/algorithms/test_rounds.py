"""Rounds of algorithms: what waits comes later, and permutations are found."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from tests.sw.pointsman.artifacts.algorithms.random_algorithms import random_algorithm

from pointsman.artifacts.algorithms.algorithm import Action, Algorithm, Buffers, Message, Place, check_algorithm
from pointsman.artifacts.algorithms.by_name import import_msccl
from pointsman.artifacts.algorithms.file import algorithm_from
from pointsman.artifacts.algorithms.rounds import Round, rounds_of

RING = import_msccl(Path(__file__).parents[5] / "examples/formats/ring_allreduce.xml", application=False)[0]


def ends(one: Round) -> list[list[tuple[int, int]]]:
    return [[(each.source, each.destination) for each in handover.transfers] for handover in one.handovers]


def test_each_step_of_a_ring_is_a_round_with_one_permutation() -> None:
    rounds = rounds_of(algorithm_from(RING))
    ring = [(rank, (rank + 1) % 4) for rank in range(4)]
    assert [ends(one) for one in rounds] == [[ring]] * 6 + [[]]
    assert all(one.handovers[0].chunks == 1 for one in rounds[:-1])


def exchange_all(ranks: int, pairs: list[tuple[int, int]]) -> Algorithm:
    """The input of each rank goes over each pair, two chunks in messages of their own."""
    messages = [Message(a, b, 1) for a, b in pairs for _ in range(2)]
    actions = [
        Action(one.source, (("i", number % 2),), ("m", number), 1, f"send {number}")
        for number, one in enumerate(messages)
    ]
    return Algorithm("x", "alltoall", ranks, Buffers(2, 2, 0), tuple(messages), tuple(actions))


def test_messages_between_two_ranks_go_together_and_all_pairs_are_permutations() -> None:
    (one,) = rounds_of(exchange_all(4, [(a, b) for a in range(4) for b in range(4) if a != b]))
    assert {tuple(found) for found in ends(one)} == {
        tuple((a, (a + distance) % 4) for a in range(4)) for distance in (1, 2, 3)
    }
    assert {handover.chunks for handover in one.handovers} == {2}
    (halves,) = rounds_of(exchange_all(4, [(a, a ^ 1) for a in range(4)]))
    assert ends(halves) == [[(0, 1), (1, 0), (2, 3), (3, 2)]]


def test_other_transfers_stand_in_turns_in_which_ranks_are_once() -> None:
    (one,) = rounds_of(exchange_all(4, [(0, 1), (1, 2), (2, 3)]))
    assert ends(one) == [[(0, 1)], [(2, 3)], [(1, 2)]]


@pytest.mark.parametrize("first", ["written", "read"])
def test_a_place_is_not_written_before_it_was_used(first: str) -> None:
    """Rank 0 puts what has come into the chunk that it sends: before, or after it has sent what stood there."""
    send = Action(0, (("s", 0),), ("m", 1), 1, "send")
    come = Action(0, (("m", 0),), ("s", 0), 1, "keep")
    kept = Action(0, (("i", 0),), ("s", 0), 1, "copy")
    sends = Action(1, (("i", 0),), ("m", 0), 1, "send there")
    order = [kept, sends, come, send] if first == "written" else [kept, sends, send, come]
    made = Algorithm("x", "allgather", 2, Buffers(1, 2, 1), (Message(1, 0, 1), Message(0, 1, 1)), tuple(order))
    found = [ends(one) for one in rounds_of(made)]
    assert found == ([[[(1, 0)]], [[(0, 1)]]] if first == "written" else [[[(0, 1), (1, 0)]], []])


def test_random_algorithms_do_the_same_in_rounds() -> None:
    for seed in range(60):
        algorithm = random_algorithm(Random(seed))
        rounds = rounds_of(algorithm)
        sent = [
            number
            for one in rounds
            for handover in one.handovers
            for each in handover.transfers
            for number in each.messages
        ]
        assert sorted(sent) == list(range(len(algorithm.messages)))
        for one in rounds:
            for handover in one.handovers:
                each = [algorithm.messages[number] for transfer in handover.transfers for number in transfer.messages]
                assert sum(message.count for message in each) == handover.chunks * len(handover.transfers)
        ordered = [action for one in rounds for rank in sorted(one.work) for action in one.work[rank]]
        assert len(ordered) == len(algorithm.actions)
        # What has come in a round is used in later ones only: messages are numbered anew in their order.
        number_of: dict[int, int] = {number: at for at, number in enumerate(sent)}

        def renamed(place: Place, number_of: dict[int, int] = number_of) -> Place:
            return ("m", number_of[place[1]]) if place[0] == "m" else place

        check_algorithm(
            Algorithm(
                algorithm.name,
                algorithm.collective,
                algorithm.ranks,
                algorithm.buffers,
                tuple(algorithm.messages[number] for number in sent),
                tuple(
                    Action(one.rank, tuple(map(renamed, one.operands)), renamed(one.into), one.count, one.step)
                    for one in ordered
                ),
            )
        )
