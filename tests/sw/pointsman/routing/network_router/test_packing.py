"""One attempt at a packing: what settles uses nothing twice, and fixed chains stay."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from pointsman.network import mesh
from pointsman.routing.network_router.packing import (
    PackedChain,
    PackingArrays,
    PackingAttempt,
    PackingProblem,
    PackingStream,
)

LINKS = tuple(
    sorted({pair for link in mesh(3, 3).links for pair in ((link.node, link.other), (link.other, link.node))})
)
STREAMS = (PackingStream(0, (8,)), PackingStream(8, (0,)), PackingStream(4, (0, 2, 6)), PackingStream(2, (6,)))
SLOTS = 12


def arrays(**changes: object) -> PackingArrays:
    fields = {
        "nodes": 9, "pipelines": 2, "links": LINKS, "wires": tuple(range(len(LINKS))), "room": 30, "registers": 14,
        "alive": np.ones(9, np.bool_), "streams": STREAMS, **changes,
    }  # fmt: skip
    return PackingArrays(PackingProblem(**fields))  # type: ignore[arg-type]


def settled(attempt: PackingAttempt) -> list[PackedChain]:
    assert attempt.run(300, 100, 1 << 40)
    chains = attempt.outcome().chains
    assert chains is not None
    return chains


def uses(chains: list[PackedChain]) -> Counter[tuple[str, int, int]]:
    found: Counter[tuple[str, int, int]] = Counter()
    for chain in chains:
        for place, offset, link, *_ in chain.ops.tolist():
            for start in chain.starts:
                found["place", place, (start + offset) % SLOTS] += 1
                if link >= 0:
                    found["link", link, (start + offset) % SLOTS] += 1
    return found


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_used_twice_and_every_stream_has_its_words(seed: int) -> None:
    words, split = [3, 4, 2, 1], [1, 2, 1, 1]
    chains = settled(PackingAttempt(arrays(), SLOTS, words, split, seed=seed))
    assert max(uses(chains).values()) == 1
    carried: Counter[int] = Counter()
    for chain in chains:
        carried[chain.stream] += len(chain.starts)
    assert [carried[stream] for stream in range(4)] == words
    assert len(chains) == sum(split)


def test_the_same_seed_packs_the_same() -> None:
    first, second = (settled(PackingAttempt(arrays(), SLOTS, [2] * 4, [1] * 4, seed=9)) for _ in range(2))
    assert [(a.stream, a.ops.tolist(), a.starts) for a in first] == [
        (b.stream, b.ops.tolist(), b.starts) for b in second
    ]


def test_fixed_chains_stay_and_others_go_round_them() -> None:
    fixed = settled(PackingAttempt(arrays(), SLOTS, [4, 0, 0, 0], [1] * 4))
    chains = settled(PackingAttempt(arrays(), SLOTS, [0, 4, 2, 2], [1] * 4, fixed=fixed))
    assert (chains[0].ops == fixed[0].ops).all()
    assert chains[0].starts == fixed[0].starts
    assert max(uses(chains).values()) == 1


def test_links_that_are_closed_and_places_that_are_forbidden_are_not_used() -> None:
    direct = LINKS.index((0, 1))
    closed = tuple((direct, slot) for slot in range(SLOTS))
    problem = arrays(
        closed=closed, cell_price=lambda node, pipeline, slot: float("inf") if (node, pipeline) == (4, 0) else 0.0
    )
    found = uses(settled(PackingAttempt(problem, SLOTS, [2, 2, 0, 2], [1] * 4)))
    assert not any(kind == "link" and number == direct for kind, number, _ in found)
    assert not any(kind == "place" and number == 8 for kind, number, _ in found)


def test_more_words_than_a_link_has_slots_stay_in_conflict() -> None:
    attempt = PackingAttempt(
        arrays(pipelines=1, streams=(PackingStream(0, (1,)), PackingStream(0, (3,)))), 4, [2, 2], [1, 1]
    )
    assert not attempt.run(60, 20, 1 << 40)
    outcome = attempt.outcome()
    assert outcome.chains is None
    assert outcome.conflicts >= 1
    assert set(outcome.contested) <= {0, 1}
    assert outcome.contested
