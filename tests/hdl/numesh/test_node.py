# amaranth: UnusedElaboratable=no
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from numesh.codes import (
    ANNOTATION_LATENCY,
    ENTRY_LATENCY,
    POINTER_LATENCY,
    SHORTEST_REFILL,
    SHORTEST_RELAY,
    Annotation,
    Codes,
    MoveType,
    ScheduleEntry,
)
from numesh.memories import NodeMemories
from numesh.node import Node, node_members
from numesh.shape import NodeShape, ShapeError

SHAPE = NodeShape(pipelines=2, vfsms=8, schedule_depth=8, neighbours=4, registers=4, width=32)
CODES = Codes(SHAPE)
WEST, EAST, SOUTH, NORTH = (CODES.neighbour(d) for d in range(4))
REGISTER = [CODES.register(r) for r in range(4)]
BUFFER = [CODES.buffer(v) for v in range(8)]
Make = Callable[..., Any]


def in_cycles(words: Sequence[int], register: int, first: int, step: int = 2) -> dict[int, tuple[Any, ...]]:
    """Processor writes of ``words`` to a register, ``step`` cycles apart."""
    return {first + step * i: ("write", register, word) for i, word in enumerate(words)}


# -- Timing of the stages ----------------------------------------------------------------------------------


def test_ports_are_those_of_the_verilog_module() -> None:
    assert list(node_members(NodeShape(neighbours=2))) == [
        *("in_valid_0", "in_data_0", "in_accept_0", "out_valid_0", "out_data_0", "out_accept_0"),
        *("in_valid_1", "in_data_1", "in_accept_1", "out_valid_1", "out_data_1", "out_accept_1"),
        *("p_address", "p_write", "p_read", "p_write_data", "p_full", "p_read_data"),
    ]


def test_read_stages_follow_the_schedule_and_write_stages_the_read_stages(
    run_node: Make, program: Make, move: Make
) -> None:
    memories = program(SHAPE, [(2, 0), (3, 0), (0, 0), (0, 0)], [{2: move(WEST, EAST), 3: move(SOUTH, NORTH)}])
    bench = run_node(SHAPE, memories, 12, offers={WEST: [1, 2, 3], SOUTH: [8, 9]})
    assert bench.taken(WEST) == [(2, 1), (6, 2), (10, 3)]
    assert bench.sent(EAST) == [(3, 1), (7, 2), (11, 3)]
    assert bench.taken(SOUTH) == [(3, 8), (7, 9)]
    assert bench.sent(NORTH) == [(4, 8), (8, 9)]
    assert bench.cycles_with("in_accept_0") == [2, 6, 10]


def test_pipelines_move_words_side_by_side(run_node: Make, program: Make, move: Make) -> None:
    memories = program(
        SHAPE,
        [(2, 2), (3, 3)],
        [{2: move(WEST, EAST), 3: move(EAST, WEST)}, {2: move(SOUTH, NORTH), 3: move(NORTH, SOUTH)}],
    )
    offers = {d: [16 * d + i for i in range(9)] for d in range(4)}
    bench = run_node(SHAPE, memories, 19, offers=offers)
    for source, destination, first in [(WEST, EAST, 2), (EAST, WEST, 3), (SOUTH, NORTH, 2), (NORTH, SOUTH, 3)]:
        moved = bench.sent(destination)
        assert moved == [(first + 1 + 2 * i, offers[source][i]) for i in range(len(moved))]
        assert len(moved) >= 8


def test_two_interleaved_vfsms_use_a_link_fully(run_node: Make, program: Make, move: Make) -> None:
    memories = program(SHAPE, [(2, 0), (3, 0)], [{2: move(WEST, EAST), 3: move(WEST, EAST)}])
    bench = run_node(SHAPE, memories, 23, offers={WEST: range(100, 130)})
    assert bench.sent(EAST) == [(3 + i, 100 + i) for i in range(20)]


@pytest.mark.parametrize("period", [1, 2, 3])
def test_refusals_delay_words_but_keep_their_order_within_a_vfsm(
    run_node: Make, program: Make, move: Make, period: int
) -> None:
    memories = program(SHAPE, [(2, 0), (0, 0)], [{2: move(WEST, EAST)}])
    words = list(range(50))
    bench = run_node(
        SHAPE,
        memories,
        60,
        offers={WEST: words},
        accepts={EAST: lambda c: c // period % 3 != 0},
        offering=lambda c: c % 7 != 3,
    )
    sent = [word for _, word in bench.sent(EAST)]
    assert sent == words[: len(sent)]
    assert len(sent) >= 8


@pytest.mark.parametrize("reader", [0, 1])
def test_a_register_passes_words_from_vfsm_to_vfsm(run_node: Make, program: Make, move: Make, reader: int) -> None:
    # VFSM 2 of pipeline 0 writes it, VFSM 3 of the same or the other pipeline reads it.
    moves: list[dict[int, Annotation]] = [{2: move(WEST, REGISTER[3])}, {}]
    moves[reader][3] = move(REGISTER[3], EAST)

    def sent(writes: int, reads: int) -> list[int]:
        """Cycles in which words leave, with a turn of each VFSM in 8 slots."""
        rows = [[0, 0] for _ in range(8)]
        rows[writes % 8][0], rows[reads][reader] = 2, 3
        memories = program(SHAPE, [tuple(row) for row in rows], moves)
        return [cycle for cycle, _ in run_node(SHAPE, memories, 36, offers={WEST: range(9)}).sent(EAST)]

    found = sent(0, SHORTEST_RELAY)
    assert found[0] == 2 + SHORTEST_RELAY + 1
    if reader == 0:
        return  # in a pipeline a VFSM that reads does not run in the slot after one that writes, nor in the same
    assert sent(0, SHORTEST_RELAY - 1)[0] == 2 + 8 + SHORTEST_RELAY
    for distance in (SHORTEST_REFILL - 1, SHORTEST_REFILL):
        found = sent(4 + distance, 4)
        assert found[1] - found[0] == (8 if distance >= SHORTEST_REFILL else 16)


# -- Arbitration between the pipelines ---------------------------------------------------------------------


def test_lower_pipeline_gets_the_word_when_two_read_a_link(run_node: Make, program: Make, move: Make) -> None:
    memories = program(SHAPE, [(2, 2)] + [(0, 0)] * 3, [{2: move(WEST, EAST)}, {2: move(WEST, NORTH)}])
    bench = run_node(SHAPE, memories, 12, offers={WEST: [1, 2, 3]})
    assert [w for _, w in bench.sent(EAST)] == [1, 2, 3]
    assert bench.sent(NORTH) == []


def test_higher_pipeline_is_idle_where_a_lower_one_names_its_link_even_if_that_cannot_accept(
    run_node: Make, program: Make, move: Make
) -> None:
    memories = program(
        SHAPE, [(2, 2), (0, 0), (0, 3), (0, 0)], [{2: move(WEST, EAST)}, {2: move(WEST, NORTH), 3: move(WEST, SOUTH)}]
    )
    bench = run_node(SHAPE, memories, 15, offers={WEST: [1, 2, 3]}, accepts={EAST: False})
    assert [w for _, w in bench.sent(SOUTH)] == [2, 3]
    assert bench.sent(NORTH) == bench.sent(EAST) == []


def test_lower_pipeline_drives_the_link_when_two_write_it(run_node: Make, program: Make, move: Make) -> None:
    memories = program(SHAPE, [(2, 2), (0, 0), (0, 2), (0, 0)], [{2: move(WEST, EAST)}, {2: move(SOUTH, EAST)}])
    bench = run_node(SHAPE, memories, 24, offers={WEST: [1, 2], SOUTH: [11, 12]})
    # The other one takes no word where they meet, even when the lower one has nothing.
    assert bench.sent(EAST) == [(3, 1), (5, 11), (7, 2), (9, 12)]
    assert bench.taken(SOUTH) == [(4, 11), (8, 12)]


def test_second_leg_does_not_keep_the_link_that_it_forks_off_from_others(
    run_node: Make, program: Make, move: Make
) -> None:
    # The second leg's source is EAST by name, but it takes its word from the first leg; VFSM 4 of pipeline 1 reads EAST.
    fork = move(EAST, NORTH, MoveType.FORK)
    memories = program(
        SHAPE, [(2, 0), (3, 4), (0, 0), (0, 0)], [{2: move(WEST, EAST), 3: fork}, {4: move(EAST, SOUTH)}]
    )
    bench = run_node(SHAPE, memories, 16, offers={WEST: [1, 2], EAST: [11, 12]})
    assert [w for _, w in bench.sent(NORTH)] == [1, 2]
    assert [w for _, w in bench.sent(SOUTH)] == [11, 12]


def test_three_pipelines_share_links_and_registers_in_order(run_node: Make, program: Make, move: Make) -> None:
    shape = NodeShape(pipelines=3, vfsms=4, schedule_depth=8, neighbours=7, registers=5, width=8)
    codes = Codes(shape)
    memories = program(shape, [(2, 2, 2), (0, 0, 0)], [{2: move(d, codes.register(4))} for d in (4, 5, 6)])
    accesses = dict.fromkeys(range(6, 40, 3), ("read", 4))
    bench = run_node(shape, memories, 40, offers={4: [1, 2], 5: [11, 12], 6: [21, 22]}, accesses=accesses)
    read = [s["p_read_data"] for c, s in enumerate(bench.samples) if c - 1 in accesses]
    assert sorted(set(read) - {0}) == [1, 2, 11, 12, 21, 22]
    # Within a pipeline in order; across pipelines the lower one comes first whenever it has a word.
    assert [word for i, word in enumerate(read) if word not in read[:i]][:2] == [1, 2]


# -- Interface registers -----------------------------------------------------------------------------------


def test_processor_word_reaches_the_link_three_cycles_later_at_best(run_node: Make, program: Make, move: Make) -> None:
    memories = program(SHAPE, [(2, 0), (0, 0)], [{2: move(REGISTER[2], EAST)}])
    # Even cycles are read stages: written in 5, full and read in 6, on the link in 7.
    bench = run_node(SHAPE, memories, 16, accesses={5: ("write", 2, 77), 8: ("write", 2, 78)})
    assert bench.full(2) == [6, 9, 10]
    assert bench.sent(EAST) == [(7, 77), (11, 78)]


def test_word_from_a_link_is_full_two_cycles_after_it_was_taken(run_node: Make, program: Make, move: Make) -> None:
    memories = program(SHAPE, [(2, 0), (0, 0)], [{2: move(WEST, REGISTER[3])}])
    bench = run_node(SHAPE, memories, 14, offers={WEST: [5, 6]}, accesses={6: ("read", 3), 11: ("read", 3)})
    assert bench.taken(WEST) == [(2, 5), (4, 6)]
    # 5 is read in 6. 6 was refused in 5, tries again in 7, and is in the register from 8 on.
    assert bench.full(3) == [4, 5, 6, 8, 9, 10, 11]
    assert (bench.samples[7]["p_read_data"], bench.samples[12]["p_read_data"]) == (5, 6)


def test_write_wins_over_read_of_the_same_pipeline_but_not_of_another(
    run_node: Make, program: Make, move: Make
) -> None:
    annotations = {2: move(WEST, REGISTER[2]), 3: move(REGISTER[3], EAST)}
    slots = [(2, 0), (3, 0), (0, 0), (0, 0), (0, 0), (3, 0)]
    accesses = {0: ("write", 3, 9)}
    same = run_node(SHAPE, program(SHAPE, slots, [annotations]), 12, offers={WEST: [5]}, accesses=accesses)
    # VFSM 3 is in the read stage in 3 while VFSM 2 writes the interface, and again in 7.
    assert same.sent(EAST) == [(8, 9)]
    apart = [(2, 0), (0, 3), (0, 0), (0, 0), (0, 0), (0, 3)]
    other = run_node(
        SHAPE, program(SHAPE, apart, [annotations, annotations]), 12, offers={WEST: [5]}, accesses=accesses
    )
    assert other.sent(EAST) == [(4, 9)]


def test_processor_and_pipelines_have_a_place_each(run_node: Make, program: Make, move: Make) -> None:
    memories = program(
        SHAPE,
        [(2, 3), (0, 0), (0, 0), (0, 0), (4, 0), (0, 0), (0, 0), (0, 0)],
        [{2: move(WEST, REGISTER[3]), 4: move(REGISTER[3], EAST)}, {3: move(SOUTH, REGISTER[3])}],
    )
    # All three write the same register at once. A pipeline takes the pipelines' words first, the processor's last.
    bench = run_node(SHAPE, memories, 32, offers={WEST: [5], SOUTH: [6]}, accesses={3: ("write", 3, 9)})
    assert bench.sent(EAST) == [(7, 5), (15, 6), (23, 9)]
    assert bench.full(3) == list(range(4, 23))
    # The processor takes those of pipelines only.
    accesses = {3: ("write", 2, 9), 4: ("read", 2), 5: ("read", 3), 6: ("read", 3), 7: ("read", 3)}
    alone = program(SHAPE, [(2, 3), *[(0, 0)] * 7], [{2: move(WEST, REGISTER[3])}, {3: move(SOUTH, REGISTER[3])}])
    bench = run_node(SHAPE, alone, 12, offers={WEST: [5], SOUTH: [6]}, accesses=accesses)
    assert [bench.samples[c]["p_read_data"] for c in (6, 7)] == [5, 6]
    assert bench.full(2) == list(range(4, 12))


def test_a_place_that_is_full_refuses_its_writer(run_node: Make, program: Make, move: Make) -> None:
    memories = program(SHAPE, [(2, 0), (0, 0)], [{2: move(WEST, REGISTER[3])}])
    accesses = {2: ("write", 3, 9), 3: ("write", 3, 10), 9: ("read", 3), 12: ("read", 3)}
    bench = run_node(SHAPE, memories, 16, offers={WEST: [5, 6]}, accesses=accesses)
    assert [bench.samples[c]["p_read_data"] for c in (10, 13)] == [5, 6]


# -- Out of reset ------------------------------------------------------------------------------------------


def test_loader_phase_runs_out_of_reset(any_shape: NodeShape, run_node: Make) -> None:
    """Every pipeline carries a word from its command register to MEMADR in each cycle."""
    shape, codes = any_shape, Codes(any_shape)
    nothing = [0] * codes.command_words  # kind 0
    accesses = {4 + 2 * i: ("write", i % shape.pipelines, word) for i, word in enumerate(nothing * shape.pipelines)}
    bench = run_node(shape, None, max(accesses) + 4, accesses=accesses)
    for p in range(shape.pipelines):
        assert bench.full(p) == [c + 1 for c, (_, r, _) in accesses.items() if r == p]
    assert not any(s[f"out_valid_{d}"] or s[f"in_accept_{d}"] for s in bench.samples for d in range(shape.neighbours))


def load(shape: NodeShape, memories: NodeMemories, start: int) -> list[tuple[int, int]]:
    """Register and word of each write that loads ``memories`` and then starts at a schedule address."""
    codes = Codes(shape)
    writes: list[tuple[int, int]] = []
    for p, words in enumerate(memories.annotations):
        for vfsm, word in enumerate(words):
            if vfsm > 1:
                writes += [(p, w) for w in codes.write_annotation(vfsm, codes.decode_annotation(word))]
    for address, word in enumerate(memories.schedule):
        if address > 1:
            writes += [(0, w) for w in codes.write_entry(address, codes.decode_entry(word))]
    return writes + [(0, w) for w in codes.set_pointer(start, start + 1)]


@pytest.mark.parametrize("width", [8, 32])
def test_node_is_programmed_through_its_interface_registers(
    run_node: Make, program: Make, move: Make, width: int
) -> None:
    shape = NodeShape(pipelines=2, vfsms=4, schedule_depth=8, neighbours=4, registers=4, width=width)
    codes = Codes(shape)
    annotations = [
        {2: move(WEST, EAST), 3: move(codes.register(2), NORTH)},
        {2: move(SOUTH, codes.register(3)), 3: move(EAST, codes.buffer(2))},
    ]
    wanted = program(shape, [(2, 3), (3, 2)], annotations, start=4)
    writes = load(shape, wanted, 4)
    # One write each second cycle, as the loader empties the register in the cycle after it was filled.
    accesses = {2 + 2 * i: ("write", register, word) for i, (register, word) in enumerate(writes)}
    last = max(accesses)
    bench = run_node(
        shape,
        None,
        last + 20,
        accesses=accesses,
        offers={WEST: range(10)},
        watch=lambda node: {
            **{f"entry_{a}": node.schedule.ram.data[a] for a in range(2, 8)},
            **{f"{p}_{v}": node.annotations[p].ram.data[v] for p in range(2) for v in range(4)},
        },
    )
    final = bench.samples[-1]
    assert [final[f"entry_{a}"] for a in range(2, 8)] == list(wanted.schedule[2:])
    assert [tuple(final[f"{p}_{v}"] for v in range(4)) for p in range(2)] == list(wanted.annotations)
    # The pointer command is written in `last`, executes two cycles later.
    assert bench.taken(WEST)[0] == (last + 2 + POINTER_LATENCY, 0)
    assert bench.sent(EAST)[0] == (last + 3 + POINTER_LATENCY, 0)


# -- MEMADR, to the cycle ----------------------------------------------------------------------------------
# A command written by the processor in cycle c is full in c + 1, read in c + 1 at best and executes in c + 2.

LOADER = [(1, 1)]


def command_at(cycle: int, words: tuple[int, ...], register: int = 0) -> dict[int, tuple[Any, ...]]:
    (word,) = words
    return {cycle: ("write", register, word)}


def chained(run_node: Make, accesses: dict[int, tuple[Any, ...]]) -> list[tuple[int, int]]:
    """Cycle and address of the schedule entries that a node shows, out of reset, with a chain at 2 to 7."""
    entries = list(CODES.reset_schedule())
    for address in range(2, 8):
        entries[address] = ScheduleEntry((1, 1), 2 + address % 6)
    words = tuple(CODES.encode_entry(e) for e in entries)
    memories = NodeMemories(words, NodeMemories.at_reset(SHAPE).annotations)
    bench = run_node(SHAPE, memories, 16, accesses=accesses, watch=lambda node: {"ahead": node.schedule.entry.ahead})
    return [(c, s["ahead"]) for c, s in enumerate(bench.samples)]


def test_both_addresses_of_set_pointer_are_used_from_two_cycles_after_its_word_is_at_memadr(run_node: Make) -> None:
    shown = chained(run_node, command_at(2, CODES.set_pointer(3, 6)))
    # At MEMADR in 4, addresses in 6 and 7, entry 3 (ahead 5) in 8, entry 6 (ahead 2) in 9.
    assert [entry for c, entry in shown[8:12]] == [5, 2, 7, 4]
    assert {entry for c, entry in shown[2:8]} == {0, 1}


def test_added_delta_moves_all_addresses_from_the_next_on(run_node: Make) -> None:
    accesses = command_at(2, CODES.set_pointer(2, 3)) | command_at(6, CODES.add_pointer(-2))
    shown = chained(run_node, accesses)
    # Addresses 2, 3, 4, 5 in cycles 6 to 9. At MEMADR in 8, in 10 the address is 6 - 2 = 4, its entry in 12.
    assert shown[8:15] == [(8, 4), (9, 5), (10, 6), (11, 7), (12, 6), (13, 7), (14, 2)]


def test_first_read_stage_of_the_new_phase_is_nine_cycles_after_the_command(
    run_node: Make, program: Make, move: Make
) -> None:
    memories = program(SHAPE, [(2, 0)], [{2: move(WEST, EAST)}], start=4)
    memories = NodeMemories((*NodeMemories.at_reset(SHAPE).schedule[:2], *memories.schedule[2:]), memories.annotations)
    bench = run_node(SHAPE, memories, 17, accesses=command_at(2, CODES.set_pointer(4, 5)), offers={WEST: [1]})
    assert POINTER_LATENCY == 9
    assert bench.taken(WEST) == [(4 + POINTER_LATENCY, 1)]


def test_annotation_written_in_a_cycle_is_looked_up_in_the_next(run_node: Make, program: Make, move: Make) -> None:
    # VFSM 2 of pipeline 1 reads in even cycles; it goes north instead of east.
    memories = program(SHAPE, [(0, 2), (0, 1)], [{}, {2: move(WEST, EAST)}])
    words = CODES.write_annotation(2, Annotation(MoveType.MOVE, WEST, NORTH))
    for written, first in [(2, 4 + ANNOTATION_LATENCY), (4, 6 + ANNOTATION_LATENCY)]:
        # Full in 3, read by VFSM 1 in 3, executes in 4: looked up in 5, read stage 8.
        bench = run_node(SHAPE, memories, 14, accesses=command_at(written, words, 1), offers={WEST: range(9)})
        assert [c - 1 for c, _ in bench.sent(EAST)] == list(range(2, first, 2))
        assert [c - 1 for c, _ in bench.sent(NORTH)] == list(range(first, 13, 2))
    # In the cycle of the look-up, three before the read stage, the old annotation is read: it executes in 5.
    slots = program(SHAPE, [(0, 2), (0, 1), (0, 1)], [{}, {2: move(WEST, EAST)}])
    bench = run_node(SHAPE, slots, 14, accesses=command_at(3, words, 1), offers={WEST: range(9)})
    assert [c - 1 for c, _ in bench.sent(EAST)] == [2, 5, 8]
    assert [c - 1 for c, _ in bench.sent(NORTH)] == [11]


def test_schedule_entry_written_in_a_cycle_is_read_in_that_cycle(run_node: Make, program: Make, move: Make) -> None:
    memories = program(SHAPE, [(1, 0), (1, 0)], [{2: move(WEST, EAST)}])
    words = CODES.write_entry(1, ScheduleEntry((2, 0), 1))
    # Address 1 is used in even cycles. Written in 3, at MEMADR in 5, in the memory in 6, while address 1 is used.
    bench = run_node(SHAPE, memories, 18, accesses=command_at(3, words), offers={WEST: range(9)})
    assert [c for c, _ in bench.taken(WEST)] == [5 + ENTRY_LATENCY, 15, 17]
    # Written in 4, at MEMADR in 6: in 7 address 0 is used, address 1 in 8.
    bench = run_node(SHAPE, memories, 18, accesses=command_at(4, words), offers={WEST: range(9)})
    assert [c for c, _ in bench.taken(WEST)] == [15, 17]


def test_pipeline_1_changes_neither_schedule_nor_pointer(run_node: Make) -> None:
    accesses = command_at(2, CODES.set_pointer(3, 4), 1) | command_at(4, CODES.add_pointer(2), 1)
    accesses |= command_at(6, CODES.write_entry(0, ScheduleEntry((1, 1), 5)), 1)
    assert {n for _, n in chained(run_node, accesses)[1:]} == {0, 1}


def test_commands_of_several_words_arrive_through_one_register(run_node: Make, program: Make, move: Make) -> None:
    shape = NodeShape(pipelines=1, vfsms=2, schedule_depth=4, neighbours=1, registers=1, width=1)
    codes = Codes(shape)
    # The smallest node becomes a mirror: VFSM 0 returns what comes in at its only link.
    words = codes.write_annotation(0, Annotation(MoveType.MOVE, 0, 0))
    words += codes.write_entry(2, ScheduleEntry((0,), 2)) + codes.set_pointer(2, 2)
    accesses = in_cycles(words, 0, 2)
    bench = run_node(shape, None, max(accesses) + 30, accesses=accesses, offers={0: [1, 0, 1, 1, 0, 0, 1]})
    assert bench.taken(0)[0][0] == max(accesses) + 2 + POINTER_LATENCY
    assert [w for _, w in bench.sent(0)] == [1, 0, 1, 1, 0, 0, 1]
    assert [b - a for (a, _), (b, _) in zip(bench.taken(0), bench.sent(0), strict=True)] == [1] * 7


# -- Parameters --------------------------------------------------------------------------------------------


def test_memories_must_fit_the_shape() -> None:
    reset = NodeMemories.at_reset(SHAPE)
    for memories, message in [
        (NodeMemories(reset.schedule[1:], reset.annotations), "schedule must have 8 words, not 7"),
        (
            NodeMemories(reset.schedule, reset.annotations[1:]),
            "annotations must be given for 2 pipelines, not 1",
        ),
        (
            NodeMemories(reset.schedule, (reset.annotations[0], (*reset.annotations[1], 0))),
            "annotations of pipeline 1 must have 8 words, not 9",
        ),
        (
            NodeMemories((1 << 9, *reset.schedule[1:]), reset.annotations),
            "schedule at 0 must be 0 to 0x1ff, not 0x200",
        ),
        (
            NodeMemories((*reset.schedule[:7], -1), reset.annotations),
            "schedule at 7 must be 0 to 0x1ff, not -0x1",
        ),
    ]:
        with pytest.raises(ShapeError, match=f"^{re.escape(message)}$"):
            Node(shape=SHAPE, memories=memories)
