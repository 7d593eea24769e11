"""Lower bounds: known values, all cuts of small networks, and runs that none of them may exceed."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from math import ceil

import numpy as np
import pytest

from numesh.codes import ACCESS_TO_ACCESS
from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import Topology, mesh, torus
from pointsman.plan.cost.lower_bound import (
    Cuts,
    Hardware,
    LowerBound,
    _told_of,
    demand,
    lower_bound,
    program_bounds,
    scheduled,
)
from pointsman.program.program import Operator

ROUTERS = scheduled(NodeShape())
AT_ONCE = replace(ROUTERS, latency=False)
"""Words that are there as soon as they are written: what long messages are bound by."""


def only(text: str, topology: Topology) -> Operator:
    (operator,) = compile_text(text, topology=topology).operators()
    return operator


def bound(text: str, topology: Topology, *, messages: float = 1, routers: Hardware = ROUTERS) -> LowerBound:
    operator = only(text, topology)
    (found,) = program_bounds([operator], {operator.label: messages}, topology, routers).values()
    return found


def test_node_that_sends_and_receives_accesses_its_router_twice_a_word() -> None:
    assert bound("(cshift 's 1 :m 10)", mesh(4, 4), messages=3) == LowerBound(
        60.0, "port", "the processor of node 0 moves 60 words, one a cycle"
    )


def test_words_of_a_half_leave_it_by_the_links_of_the_cut() -> None:
    # Node k of a row of 8 sends to 7 - k: four words from each half to the other by one link.
    found = bound("(permute 'p '(7 6 5 4 3 2 1 0) :m 10)", mesh(8, 1))
    assert (found.cycles, found.kind) == (40.0, "cut")
    assert found.text == "40 words leave the nodes with x = 0..3 by 1 link"


@pytest.mark.parametrize(
    ("text", "cycles"),
    [
        ("(broadcast 'b 0 :m 12)", 12),
        ("(reduce 'r 'add 0 :m 12)", 12 * 16 / 9),
        ("(allreduce 'r 'add :m 12)", 12 * 25 / 9),
        ("(prefix 'r 'add :m 12)", 24),
        ("(spread 'd 0 :m 12)", 12 * 8),
        ("(gather 'd 4 :m 12)", 12 * 8),
        ("(stream 's 0 8 :m 12)", 12),
        ("(seqread 's '(1 2 3) 0 :m 12)", 36),
        ("(seqwrite 's 0 '(1 2 3) :m 12)", 36),
        ("(eoshift 's 1 :m 12)", 24),
        ("(cshift 's 9 :m 12)", 0),
        ("(broadcast 'b (runtime) :m 12)", 12),
    ],
)
def test_busiest_processor_of_each_kind_of_operator(text: str, cycles: float) -> None:
    assert bound(text, mesh(3, 3), routers=AT_ONCE).cycles == cycles


@pytest.mark.parametrize(
    ("text", "cycles"),
    [
        ("(stream 's 0 8 :m 1)", 8),  # 4 links
        ("(stream 's 0 8 :m 12)", 19),
        ("(cshift 's 1 :m 1)", 8),  # from the last node to the first
        ("(allreduce 'r 'add :m 1)", 11),  # 9 nodes: 1, 2, 3, 4, 5, 6, 8, 11 known from the 4th cycle on
        ("(prefix 'r 'add :m 1)", 8),
        ("(broadcast 'b (runtime) :m 1)", 6),  # from the middle
    ],
)
def test_one_message_takes_its_latency(text: str, cycles: float) -> None:
    found = bound(text, mesh(3, 3))
    assert (found.cycles, found.kind) == (cycles, "latency")
    assert bound(text, mesh(3, 3), messages=100).kind != "latency", (
        "many may follow each other while the first is under way"
    )


@pytest.mark.parametrize("nodes", [2, 3])
def test_nobody_can_know_of_all_nodes_sooner_than_the_bound_says(nodes: int) -> None:
    """By breadth-first search over nodes a link apart, each of which writes or reads in every cycle."""
    delay, cycles = ACCESS_TO_ACCESS + 1, _told_of(nodes)
    one_each = tuple(frozenset([k]) for k in range(nodes))
    states = {(one_each, ((frozenset(),) * nodes,) * delay)}  # known, and what was written in the cycles before
    most = []
    for _ in range(cycles):
        following = set()
        for known, written in states:
            news = ([k, *(j for j in range(nodes) if written[0][j] - known[k])] for k in range(nodes))
            for choice in product(*news):
                wrote = tuple(known[k] if choice[k] == k else frozenset() for k in range(nodes))
                read = (known[k] if choice[k] == k else known[k] | written[0][choice[k]] for k in range(nodes))
                following.add((tuple(read), (*written[1:], wrote)))
        states = following
        most.append(max(len(one) for known, _ in states for one in known))
    assert most[-1] == nodes > most[-2]


def test_no_search_reads_all_messages_sooner_than_the_bound_says() -> None:
    """A word from each of four nodes to all, in random orders of accesses; the best are as quick as the bound."""
    topology = mesh(2, 2)
    cuts = Cuts(topology)
    needs = [demand(only(f"(broadcast 'b {k} :m 1)", topology), cuts) for k in range(4)]
    found = lower_bound([(one, 1) for one in needs if one is not None], cuts, ROUTERS)
    assert (found.cycles, found.kind) == (3 + 4, "port")
    assert found.text == "the processor of node 0 reads 3 words, and none in the first 4 cycles"
    rng = np.random.default_rng(3)
    took = []
    for _ in range(300):
        written = [-1] * 4
        missing = [set(range(4)) - {k} for k in range(4)]
        cycle = 0
        while any(missing):
            for k in range(4):
                there = [
                    u for u in missing[k] if 0 <= written[u] <= cycle - ACCESS_TO_ACCESS - int(cuts.distances[u, k])
                ]
                if written[k] < 0 and rng.random() < 0.9:
                    written[k] = cycle
                elif there and rng.random() < 0.9:
                    missing[k].remove(int(rng.choice(there)))
            cycle += 1
        took.append(cycle - min(written))
    assert min(took) == found.cycles


@pytest.mark.parametrize(("nodes", "m"), [(2, 1), (2, 2), (2, 3), (3, 1), (3, 2)])
def test_no_reduction_ends_sooner_than_the_bound_says(nodes: int, m: int) -> None:
    """By breadth-first search over nodes a link apart, each of which in every cycle writes what it has of a word for another
    node, or reads; node 0 has to get all."""
    delay, everyone = ACCESS_TO_ACCESS + 1, frozenset(range(nodes))
    start = tuple(tuple(frozenset([k]) for _ in range(m)) for k in range(nodes))
    states = {
        (start, ())
    }  # what each node has of each word, and (cycles until it can be read, to, word, of whom) on the way
    cycles = 0
    while not any(all(part == everyone for part in has[0]) for has, _ in states):
        cycles += 1
        following = set()
        for has, way in states:
            here = [
                [
                    None,
                    *((k, w, None) for w in range(m) if k and has[k][w]),
                    *((k, None, one) for one in way if one[:2] == (0, k)),
                ]
                for k in range(nodes)
            ]
            for choice in product(*here):
                now = [list(one) for one in has]
                moving = [(max(0, left - 1), *rest) for left, *rest in way]
                for access in choice:
                    if access is not None and access[2] is not None:
                        _, to, word, whose = access[2]
                        moving.remove((0, to, word, whose))
                        now[to][word] |= whose
                sent = [(access[0], access[1]) for access in choice if access is not None and access[2] is None]
                for targets in product(*([to for to in range(nodes) if to != k] for k, _ in sent)):
                    more = [(delay - 1, to, w, has[k][w]) for (k, w), to in zip(sent, targets, strict=True)]
                    left_over = [list(one) for one in now]
                    for k, w in sent:
                        left_over[k][w] = frozenset()
                    following.add((tuple(map(tuple, left_over)), tuple(sorted((*moving, *more), key=str))))
        states = following
    found = bound(f"(reduce 'r 'add 0 :m {m})", mesh(nodes, 1))
    assert ceil(found.cycles) <= cycles <= ceil(found.cycles) + 2


@pytest.mark.parametrize("m", [12, 64])
def test_the_last_accesses_of_a_reduction_lead_to_its_destination(m: int) -> None:
    # 16 processors: in the last cycles 1, 1, 1, 1, 2, 3, 4, 5, 6, 8, 11 and 15 of them are of use.
    found = bound(f"(reduce 'r 'add 5 :m {m})", mesh(4, 4))
    idle = sum(16 - active for active in (1, 1, 1, 1, 2, 3, 4, 5, 6, 8, 11, 15))
    assert (found.cycles, found.kind) == ((30 * m + idle) / 16, "ports")
    assert found.text.endswith("in the last cycles fewer and fewer of them")
    with_others = bound(f"(subset '((0 1 2 3) (4 5 6 7)) (reduce 'r 'add 1 :m {m}))", mesh(4, 4))
    assert "last cycles" not in with_others.text


@pytest.mark.parametrize("text", ["(barrier 'b)", "(broadcast 'b 0 :m 8 :valid 3)", "(permute 'p (runtime) :m 4)"])
def test_nothing_is_said_of_operators_whose_words_are_not_known(text: str) -> None:
    topology = mesh(2, 2)
    try:
        operator = only(text, topology)
    except Exception:  # the language refuses :valid for some operators
        pytest.skip("not in the language")
    assert demand(operator, Cuts(topology)) is None


def test_operators_that_share_a_network_add_up_resource_by_resource() -> None:
    topology = mesh(4, 1)
    cuts = Cuts(topology)
    left, right = (only(f"(stream 's {ends} :m 8)", topology) for ends in ("0 3", "3 0"))
    needs = [(demand(one, cuts), 1.0) for one in (left, right)]
    assert lower_bound(needs, cuts, ROUTERS).cycles == 16  # both at the processors of nodes 0 and 3
    same = [(demand(left, cuts), 2.0), (demand(only("(stream 't 1 2 :m 8)", topology), cuts), 2.0)]
    found = lower_bound(same, cuts, ROUTERS)
    assert (found.cycles, found.kind) == (32.0, "cut")


def test_one_node_needs_nothing() -> None:
    assert bound("(cshift 's 1 :m 8)", mesh(1, 1)).cycles == 0
    assert bound("(allreduce 's 'add :m 8)", mesh(1, 1)).cycles == 0


@pytest.mark.parametrize("topology", [mesh(3, 2), mesh(6, 1), torus(4, 2)], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_bound_of_a_permutation_is_not_above_what_all_cuts_say(topology: Topology, seed: int) -> None:
    """Words over every cut, counted anew; the chosen cuts must be right and, on these networks, nearly the best."""
    nodes = topology.nodes
    order = np.random.default_rng(seed).permutation(nodes).tolist()
    text = f"(permute 'p '({' '.join(map(str, order))}) :m 1)"
    cuts = Cuts(topology)
    need = demand(only(text, topology), cuts)
    assert need is not None
    links = [(link.node, link.other) for link in topology.links]
    links += [(v, u) for u, v in links]

    def exact(inside: frozenset[int]) -> tuple[int, int]:
        words = sum(u in inside and v not in inside for u, v in enumerate(order))
        return words, sum(u in inside and v not in inside for u, v in links)

    found = {}
    for mask, crossing, width in zip(cuts.masks, need.crossing, cuts.width, strict=True):
        inside = frozenset(np.flatnonzero(mask).tolist())
        assert (crossing, width) == exact(inside)
        found[inside] = crossing / width
    best = max(
        words / width
        for size in range(1, nodes)
        for inside in combinations(range(nodes), size)
        for words, width in [exact(frozenset(inside))]
    )
    assert max(found.values()) <= best <= 2 * max(found.values())


def test_without_forks_each_delivery_is_written_for_its_reader() -> None:
    topology = mesh(3, 3)
    found = lower_bound(
        [(demand(only("(broadcast 'b 0 :m 9)", topology), Cuts(topology)), 1)], Cuts(topology), Hardware(forks=False)
    )
    assert (found.cycles, found.kind) == (16.0, "ports")  # 72 deliveries, two accesses each, by nine processors
    assert found.text == "9 processors write 72 words and read 72 words, and nothing is forked"


def fewest_reads(nodes: int, wanted: int) -> int:
    """Fewest reads until ``wanted`` of ``nodes`` know of all, by breadth-first search; a read brings all that the other knows."""
    states, reads = {tuple(frozenset([node]) for node in range(nodes))}, 0
    while not any(sum(len(known) == nodes for known in state) >= wanted for state in states):
        states = {
            tuple(sorted((*state[:a], state[a] | state[b], *state[a + 1 :]), key=sorted))
            for state in states
            for a in range(nodes)
            for b in range(nodes)
        }
        reads += 1
    return reads


@pytest.mark.parametrize("nodes", [2, 3, 4])
def test_combining_takes_as_many_reads_as_an_exhaustive_search_says(nodes: int) -> None:
    topology = mesh(nodes, 1)
    for text, wanted in (("(reduce 'r 'add 0 :m 6)", 1), ("(allreduce 'r 'add :m 6)", nodes)):
        needs = demand(only(text, topology), Cuts(topology))
        assert needs is not None
        assert needs.deliveries == 6 * fewest_reads(nodes, wanted)


def test_a_switch_has_a_link_into_it_and_one_out_of_it_for_each_node() -> None:
    topology, switch = mesh(2, 2), Hardware(forks=False, word_cycles=8 / 7)
    cuts = Cuts(topology, switch=True)
    need = demand(only("(gather 'g 0 :m 70)", topology), cuts)
    assert need is not None
    found = lower_bound([(need, 1)], cuts, switch)
    assert (found.cycles, found.kind) == (pytest.approx(240), "cut")
    assert found.text == "210 words leave all but node 0 by 1 link, a word every 1.14 cycles"
    assert Cuts(mesh(1, 1), switch=True).names == []


@pytest.mark.parametrize(("vfsms", "moves"), [(4, 2), (32, 2)])
def test_a_router_moves_as_much_as_its_pipelines_and_vfsms_allow(vfsms: int, moves: float) -> None:
    assert scheduled(NodeShape(vfsms=vfsms)).moves == moves
