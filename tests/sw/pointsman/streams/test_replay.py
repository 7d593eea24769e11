"""The judge of routed phases finds every single change that breaks a schedule."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import ModuleType

import pytest

from numesh.codes import MoveType
from numesh.shape import NodeShape
from pointsman.network import mesh
from pointsman.streams.router import route_phase
from pointsman.streams.stream import Condition, Place, RoutedChain, RoutedPhase, RoutedVfsm, Stream

CHIP = NodeShape()


@pytest.fixture(scope="module")
def phases(patterns: ModuleType) -> dict[str, RoutedPhase]:
    """Legal phases with forks, delays, several chains, both pipelines full."""
    line = mesh(5)
    delayed = [Stream("a", 0, (4,)), Stream("b", 4, (0,)), Stream("c", 1, (3, 4)), Stream("d", 2, (0,))]
    found = {
        "shift": route_phase(patterns.circular_shift(range(5)), line, CHIP, period=8),
        "broadcast": route_phase(patterns.broadcast(range(5), 2), line, CHIP, period=8),
        "linear": route_phase(patterns.linear(range(5)), line, CHIP, period=8),
        "dense": route_phase(patterns.neighbours(mesh(3, 2)), mesh(3, 2), CHIP, period=8),
        "multicast": route_phase(patterns.multicasts(mesh(3, 3), 1, 5, 4), mesh(3, 3), CHIP, period=12),
        "delays": route_phase(delayed, line, NodeShape(pipelines=1), period=11),
    }
    assert any(v.destination.kind == "buffer" for c in found["delays"].chains for v in c.vfsms)
    assert any(v.type is MoveType.FORK for c in found["multicast"].chains for v in c.vfsms)
    return found


def with_vfsm(phase: RoutedPhase, chain: int, index: int, **changes: object) -> RoutedPhase:
    vfsms = list(phase.chains[chain].vfsms)
    vfsms[index] = replace(vfsms[index], **changes)  # type: ignore[arg-type]
    return with_chain(phase, chain, replace(phase.chains[chain], vfsms=tuple(vfsms)))


def with_chain(phase: RoutedPhase, chain: int, changed: RoutedChain) -> RoutedPhase:
    return replace(phase, chains=(*phase.chains[:chain], changed, *phase.chains[chain + 1 :]))


def each(phase: RoutedPhase) -> Iterator[tuple[int, int, RoutedVfsm]]:
    for chain, routed in enumerate(phase.chains):
        for index, vfsm in enumerate(routed.vfsms):
            yield chain, index, vfsm


def shift_a_slot(phase: RoutedPhase, generator: random.Random) -> RoutedPhase:
    chain, index, vfsm = generator.choice(list(each(phase)))
    word = generator.randrange(len(vfsm.slots))
    slot = (vfsm.slots[word] + generator.choice([1, -1])) % phase.period
    return with_vfsm(phase, chain, index, slots=(*vfsm.slots[:word], slot, *vfsm.slots[word + 1 :]))


def shift_all_slots(phase: RoutedPhase, generator: random.Random) -> RoutedPhase:
    chain, index, vfsm = generator.choice([one for one in each(phase) if len(phase.chains[one[0]].vfsms) > 1])
    return with_vfsm(phase, chain, index, slots=tuple((slot + 1) % phase.period for slot in vfsm.slots))


def swap_words(phase: RoutedPhase, generator: random.Random) -> RoutedPhase:
    several = [one for one in each(phase) if len(one[2].slots) > 1 and len(phase.chains[one[0]].vfsms) > 1]
    chain, index, vfsm = generator.choice(several)
    first, second, *rest = vfsm.slots
    return with_vfsm(phase, chain, index, slots=(second, first, *rest))


def drop_a_leg(phase: RoutedPhase, generator: random.Random) -> RoutedPhase:
    """A VFSM that nothing comes after, out of a chain that has others."""
    chain, index, _ = generator.choice(
        [one for one in each(phase) if all(v.parent != one[1] for v in phase.chains[one[0]].vfsms)]
    )
    kept = [v for i, v in enumerate(phase.chains[chain].vfsms) if i != index]
    kept = [replace(v, parent=v.parent - (v.parent > index)) for v in kept]
    return with_chain(phase, chain, replace(phase.chains[chain], vfsms=tuple(kept)))


def drop_a_word_at_one_node(phase: RoutedPhase, generator: random.Random) -> RoutedPhase:
    chain, index, vfsm = generator.choice([one for one in each(phase) if len(phase.chains[one[0]].vfsms) > 1])
    return with_vfsm(phase, chain, index, slots=vfsm.slots[1:])


def drop_a_chain(phase: RoutedPhase, generator: random.Random) -> RoutedPhase:
    chain = generator.randrange(len(phase.chains))
    return replace(phase, chains=phase.chains[:chain] + phase.chains[chain + 1 :])


def turn_a_link(phase: RoutedPhase, generator: random.Random) -> RoutedPhase:
    chain, index, vfsm = generator.choice([one for one in each(phase) if one[2].destination.kind == "link"])
    others = [port for port in range(4) if port != vfsm.destination.number]
    return with_vfsm(phase, chain, index, destination=Place("link", generator.choice(others)))


def read_another_link(phase: RoutedPhase, generator: random.Random) -> RoutedPhase:
    chain, index, vfsm = generator.choice([one for one in each(phase) if one[2].source.kind == "link"])
    others = [port for port in range(4) if port != vfsm.source.number]
    return with_vfsm(phase, chain, index, source=Place("link", generator.choice(others)))


def deliver_instead(phase: RoutedPhase, generator: random.Random) -> RoutedPhase:
    chain, index, _ = generator.choice([one for one in each(phase) if one[2].destination.kind == "link"])
    return with_vfsm(phase, chain, index, destination=Place("deliver"))


def inject_again(phase: RoutedPhase, generator: random.Random) -> RoutedPhase:
    chain, index, _ = generator.choice([one for one in each(phase) if one[2].source.kind == "link"])
    return with_vfsm(phase, chain, index, source=Place("inject"))


def forget_the_fork(phase: RoutedPhase, generator: random.Random) -> RoutedPhase:
    forks = [one for one in each(phase) if one[2].type is MoveType.FORK]
    if not forks:
        return drop_a_leg(phase, generator)
    chain, index, _ = generator.choice(forks)
    return with_vfsm(phase, chain, index, type=MoveType.MOVE)


def fork_a_move(phase: RoutedPhase, generator: random.Random) -> RoutedPhase:
    moves = [one for one in each(phase) if one[2].type is MoveType.MOVE]
    chain, index, _ = generator.choice(moves)
    return with_vfsm(phase, chain, index, type=MoveType.FORK)


def give_a_number_twice(phase: RoutedPhase, generator: random.Random) -> RoutedPhase:
    seen: dict[tuple[int, int], int] = {}
    for chain, index, vfsm in each(phase):
        key = (vfsm.node, vfsm.pipeline)
        if key in seen:
            return with_vfsm(phase, chain, index, number=seen[key])
        seen[key] = vfsm.number
    chain, index, _ = generator.choice(list(each(phase)))
    return with_vfsm(phase, chain, index, number=1)


def move_to_another_node(phase: RoutedPhase, generator: random.Random) -> RoutedPhase:
    chain, index, vfsm = generator.choice(list(each(phase)))
    return with_vfsm(phase, chain, index, node=(vfsm.node + 1) % phase.topology.nodes)


def shorten_the_period(phase: RoutedPhase, generator: random.Random) -> RoutedPhase:
    return replace(phase, period=phase.period - 1)


def put_on_another_stream(phase: RoutedPhase, generator: random.Random) -> RoutedPhase:
    chain = generator.randrange(len(phase.chains))
    other = (phase.chains[chain].stream + 1) % len(phase.streams)
    if len(phase.streams) == 1:
        return replace(phase, chains=phase.chains[:1])
    return with_chain(phase, chain, replace(phase.chains[chain], stream=other))


Change = Callable[[RoutedPhase, random.Random], RoutedPhase]
CHANGES: list[Change] = [
    shift_a_slot,
    shift_all_slots,
    swap_words,
    drop_a_leg,
    drop_a_word_at_one_node,
    drop_a_chain,
    turn_a_link,
    read_another_link,
    deliver_instead,
    inject_again,
    forget_the_fork,
    fork_a_move,
    give_a_number_twice,
    move_to_another_node,
    shorten_the_period,
    put_on_another_stream,
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("name", ["shift", "broadcast", "linear", "dense", "multicast", "delays"])
def test_a_change_that_breaks_a_schedule_is_found(
    replay: ModuleType, phases: dict[str, RoutedPhase], name: str, change: Change
) -> None:
    phase = phases[name]
    assert replay.findings(phase) == []
    for seed in range(8):
        changed = change(phase, random.Random(seed))
        if changed == phase:
            continue
        if changed.chains == () or (change is drop_a_chain and _still_whole(changed)):
            continue
        assert replay.findings(changed) != [], seed


def _still_whole(phase: RoutedPhase) -> bool:
    """Whether every stream kept a chain; the last of several may go, if its group is alone."""
    left = {chain.stream for chain in phase.chains}
    return left == set(range(len(phase.streams))) and len(phase.streams) == 1


def test_swapped_pipelines_are_found_or_harmless(replay: ModuleType, phases: dict[str, RoutedPhase]) -> None:
    """A lone VFSM may run in the other pipeline where its slots are free there; else it must be found."""
    found = 0
    for phase in phases.values():
        if phase.shape.pipelines < 2:
            continue
        for chain, index, vfsm in each(phase):
            taken = phase.schedule[vfsm.node, list(vfsm.slots), 1 - vfsm.pipeline].any()
            changed = with_vfsm(phase, chain, index, pipeline=1 - vfsm.pipeline)
            forked = vfsm.type is MoveType.FORK or any(
                v.parent == index and v.type is MoveType.FORK for v in phase.chains[chain].vfsms
            )
            if taken or forked:
                assert replay.findings(changed) != [], (chain, index)
                found += 1
    assert found > 100


# One rule at a time, on schedules made by hand --------------------------------------------------------------------------

TO_THE_RIGHT, TO_THE_LEFT = Place("link", 1), Place("link", 0)


def hop(
    source: int, slots: tuple[int, ...], pipelines: tuple[int, int] = (0, 0), first: int = 2
) -> tuple[RoutedVfsm, ...]:
    """A chain from node ``source`` of a line to the next node."""
    after = tuple((slot + 1) % 8 for slot in slots)
    return (
        RoutedVfsm(source, pipelines[0], first, MoveType.MOVE, Place("inject"), TO_THE_RIGHT, slots, -1),
        RoutedVfsm(source + 1, pipelines[1], first, MoveType.MOVE, TO_THE_LEFT, Place("deliver"), after, 0),
    )


def by_hand(*chains: tuple[RoutedVfsm, ...], **stream: object) -> RoutedPhase:
    """A phase of one stream for each chain, on a line of four nodes and in eight slots."""
    streams = [
        Stream(f"s{i}", v[0].node, (v[-1].node,), group=str(i), **stream)  # type: ignore[arg-type]
        for i, v in enumerate(chains)
    ]
    routed = tuple(RoutedChain(i, 0, vfsms) for i, vfsms in enumerate(chains))
    return RoutedPhase(CHIP, mesh(4), 8, tuple(streams), routed)


def test_a_schedule_made_by_hand_is_legal(replay: ModuleType) -> None:
    assert replay.findings(by_hand(hop(0, (0, 2)), hop(1, (3, 5), (0, 0), 3))) == []


def test_a_vfsm_in_two_slots_in_a_row_is_found(replay: ModuleType) -> None:
    assert replay.findings(by_hand(hop(0, (3, 4))))
    assert replay.findings(by_hand(hop(0, (0, 7))))


def test_an_injection_right_after_a_delivery_is_found(replay: ModuleType) -> None:
    phase = by_hand(hop(0, (0,)), hop(1, (2,), first=3))
    assert replay.findings(phase) == ["node 1 injects in slot 2 of pipeline 0, right after a delivery"]
    assert replay.findings(by_hand(hop(0, (0,)), hop(1, (2,), (1, 0), first=3))) == []
    assert replay.findings(by_hand(hop(0, (6,)), hop(1, (0,), first=3)))


def test_an_injection_that_may_be_written_later_counts(replay: ModuleType) -> None:
    through = (
        RoutedVfsm(0, 0, 3, MoveType.MOVE, Place("inject"), TO_THE_RIGHT, (1,), -1),
        RoutedVfsm(1, 0, 3, MoveType.MOVE, TO_THE_LEFT, TO_THE_RIGHT, (2,), 0),
        RoutedVfsm(2, 0, 3, MoveType.MOVE, TO_THE_LEFT, Place("deliver"), (3,), 1),
    )
    given = (hop(0, (0,), (1, 0)), through)
    assert replay.findings(by_hand(*given)) == []
    assert replay.findings(by_hand(*given, injects_anywhere=True))
    on, off = Condition("x", True), Condition("x", False)
    anywhere = {"injects_anywhere": True, "inject_condition": on}
    assert replay.findings(by_hand(*given, **anywhere, deliver_condition=off)) == []
    assert replay.findings(by_hand(*given, **anywhere, deliver_condition=on))
    assert replay.findings(by_hand(*given, **anywhere, deliver_condition=Condition("y", False)))


def test_a_node_without_a_slot_for_reprogramming_is_found(replay: ModuleType) -> None:
    full = by_hand(hop(0, (0, 2, 4, 6)), hop(1, (0, 2, 4, 6), (1, 0), 3))
    assert replay.findings(full) == []
    packed = by_hand(hop(0, (0, 2, 4, 6)), hop(0, (1, 3, 5, 7), (0, 1), 3))
    assert replay.findings(packed) == ["no slot for reprogramming in pipeline 0 of node 0"]
    assert replay.findings(packed, phase_change=False) == []
    after_deliveries = by_hand(hop(0, (0, 2, 4, 6)), rewritten=True)
    assert replay.findings(after_deliveries, phase_change=False) == [
        "no slot for reprogramming in pipeline 0 of node 1"
    ]


def test_too_many_registers_are_found(replay: ModuleType) -> None:
    phase = by_hand(hop(0, (0,)), hop(0, (2,), (0, 0), 3), hop(1, (0,), (1, 1), 4))
    small = replace(phase, shape=NodeShape(registers=4))
    assert replay.findings(phase) == []
    assert replay.findings(small) == ["node 1 needs 3 interface registers"]


def test_forbidden_writes_are_found(replay: ModuleType) -> None:
    assert replay.findings(by_hand(hop(0, (4,))), forbidden=[(0, 1, 4)]) == [
        "node 0 writes port 1 in slot 4, which is forbidden"
    ]
    assert replay.findings(by_hand(hop(0, (4,))), forbidden=[(0, 1, 5), (1, 0, 4)]) == []


def test_both_ends_of_an_aliased_wire_in_a_slot_are_found(replay: ModuleType) -> None:
    back = (
        RoutedVfsm(1, 1, 2, MoveType.MOVE, Place("inject"), TO_THE_LEFT, (4,), -1),
        RoutedVfsm(0, 1, 2, MoveType.MOVE, TO_THE_RIGHT, Place("deliver"), (5,), 0),
    )
    phase = by_hand(hop(0, (4,)), back)
    assert replay.findings(phase) == []
    assert replay.findings(replace(phase, shape=NodeShape(aliased_handshake=True)))


def delayed(wait: int, slots: tuple[int, ...] = (0,)) -> RoutedPhase:
    def later(by: int) -> tuple[int, ...]:
        return tuple((slot + by) % 8 for slot in slots)

    return by_hand(
        (
            RoutedVfsm(0, 0, 2, MoveType.MOVE, Place("inject"), TO_THE_RIGHT, slots, -1),
            RoutedVfsm(1, 0, 2, MoveType.MOVE, TO_THE_LEFT, Place("buffer", 2), later(1), 0),
            RoutedVfsm(1, 0, 3, MoveType.MOVE, Place("buffer", 2), TO_THE_RIGHT, later(1 + wait), 1),
            RoutedVfsm(2, 0, 2, MoveType.MOVE, TO_THE_LEFT, Place("deliver"), later(2 + wait), 2),
        )
    )


def test_a_delay_of_two_slots_up_to_the_next_word_is_legal(replay: ModuleType) -> None:
    for wait in range(2, 8):
        assert replay.findings(delayed(wait)) == [], wait
    assert replay.findings(delayed(3, (0, 4))) == []
    assert replay.findings(delayed(2, (0, 4))) == []


def test_a_delay_too_short_or_beyond_the_next_word_is_found(replay: ModuleType) -> None:
    assert replay.findings(delayed(1))
    assert replay.findings(delayed(4, (0, 4)))
    assert replay.findings(delayed(5, (0, 4)))


def test_unequal_chains_of_a_stream_are_found(replay: ModuleType) -> None:
    two = [RoutedChain(0, 0, hop(0, (0, 4))), RoutedChain(0, 1, hop(0, (2,), (1, 1)))]
    phase = RoutedPhase(CHIP, mesh(4), 8, (Stream("s", 0, (1,), chains=2),), tuple(two))
    assert replay.findings(phase) == ["stream s has unequal chains: a processor serves them in turn"]


def test_streams_off_their_nodes_path_or_share_are_found(replay: ModuleType) -> None:
    phase = by_hand(hop(0, (0,)), hop(2, (0, 2)))
    streams = phase.streams
    for changes in (
        (replace(streams[0], keep_in=frozenset({0})), streams[1]),
        (streams[0], replace(streams[1], max_words=1)),
        (replace(streams[0], group="1"), streams[1]),
        (replace(streams[0], destinations=(1, 2)), streams[1]),
        (replace(streams[0], path=(0, 1, 2)), streams[1]),
        (*streams, Stream("more", 0, (1,))),
    ):
        assert replay.findings(replace(phase, streams=changes)), changes
