"""Chains as moves and back."""

from __future__ import annotations

import numpy as np

from numesh.codes import MoveType
from pointsman.artifacts.routes.file import RouteStream, make_problem
from pointsman.network import mesh
from pointsman.routing.network_router.arrays import BUFFER, DELIVER, FORK, INJECT, LINK
from pointsman.routing.network_router.moves import assemble_phase, chains_of, node_tables, words_of
from pointsman.routing.network_router.packing import PackedChain
from pointsman.routing.route_images import route_images

PROBLEM = make_problem(mesh(3), [RouteStream(0, (1, 2))])
FORTH, ON = PROBLEM.links.index((0, 1)), PROBLEM.links.index((1, 2))
CHAIN = PackedChain(
    0,
    np.array(
        [
            [0, 0, FORTH, INJECT, LINK, -1],
            [2, 1, -1, LINK, BUFFER, 0],
            [2, 3, ON, BUFFER, LINK, 1],
            [2, 4, -1, FORK, DELIVER, 2],
            [5, 4, -1, LINK, DELIVER, 2],
        ],
        np.int32,
    ),
    (1, 5),
)
"""Node 1 keeps each word for two slots in pipeline 0, sends it on and delivers it; node 2 delivers it in pipeline 1."""


def test_a_word_is_injected_waits_forks_and_is_delivered() -> None:
    routed = assemble_phase(PROBLEM, 8, [CHAIN])
    words = words_of(routed, 0)
    assert words.bandwidth == 2 / 8
    assert words.words[0] == (
        (None, 0, 0, None, None), (0, 1, 1, 0, 2), (1, 2, 1, 0, 2), (1, 4, 2, 0, 3), (1, 5, None, 0, 4), (2, 5, None, 1, 2),
    )  # fmt: skip
    kinds = [vfsm.type for vfsm in routed.chains[0].vfsms]
    assert kinds == [MoveType.MOVE, MoveType.MOVE, MoveType.MOVE, MoveType.FORK, MoveType.MOVE]


def test_chains_come_back_from_their_words() -> None:
    (back,) = chains_of(PROBLEM, {0: words_of(assemble_phase(PROBLEM, 8, [CHAIN]), 0)}, 8)
    assert back.stream == 0
    assert back.starts == CHAIN.starts
    assert back.ops.tolist() == CHAIN.ops.tolist()


def test_a_timetable_names_the_vfsm_of_every_slot() -> None:
    tables = node_tables(route_images(assemble_phase(PROBLEM, 8, [CHAIN])))
    row = [slot[0] for slot in tables[1].schedule]
    assert [vfsm if vfsm > 1 else 0 for vfsm in row] == [3, 4, 2, 0, 3, 4, 2, 0]
    assert [entry[:3] for entry in tables[2].annotations] == [(1, 2, "MOVE")]
