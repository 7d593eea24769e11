"""Working sets and configurations of programs: what stands in the tables in each mode, and what is refused."""

from __future__ import annotations

import pytest

from pointsman.artifacts.tables import ConnectionTables, Mode
from pointsman.cop import Program, compile_text
from pointsman.errors import RefusedError
from pointsman.network import mesh
from pointsman.targets.tdm import make_tables
from pointsman.verify.tables import check_tables
from tdm_switch.shape import SwitchShape

MATMUL = """
(loop 'mul *xsize*
  (subset (make-1d 'x) (broadcast 'b (runtime) :m 225))
  (subset (make-1d 'y) (cshift 'c -1 :m 225)))
"""
ALL_TO_ALL = "(permute 'p (runtime) :m 4)"


def program(text: str, *size: int) -> Program:
    return compile_text(text, topology=mesh(*size))


def tables(text: str, size: tuple[int, ...], mode: Mode = "preload", **sizes: int) -> ConnectionTables:
    compiled = program(text, *size)
    found = make_tables(compiled, SwitchShape(ports=sizes.pop("ports", compiled.topology.nodes), **sizes), mode=mode)
    assert check_tables(found) == []
    return found


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("mode", ["preload", "dynamic", "hybrid"])
def test_the_matrix_multiplication_needs_one_configuration_a_phase(n: int, mode: Mode) -> None:
    found = tables(MATMUL, (n, n), mode)
    assert [one.way for one in found.operators] == ["chain_bcast", "dyn_shift"]
    assert [phase.degree for phase in found.phases] == ([0, 0] if n == 1 else [1, 1])
    if mode == "dynamic":
        assert found.registers == 0
        assert all(not one.configurations for one in found.sets)
    elif n > 1:
        assert sum(len(part) for one in found.sets for part in one.configurations) == 2 * n * n
        assert not any(one.dynamic for one in found.sets)


def test_a_phase_has_as_many_configurations_as_its_busiest_port_has_connections() -> None:
    found = tables("(broadcast 'b 0 :m 4 :impl 'dyn_bcast)", (5, 1), slots=4)
    assert found.sets[0].degree == 4
    assert found.sets[0].pairs == {(0, v) for v in range(1, 5)}


def test_phases_share_a_set_when_words_are_few_and_part_when_they_are_many() -> None:
    text = "(loop 'l 100 (cshift 'a 1 :m {m}) (cshift 'b -1 :m {m}) (cshift 'c 2 :m {m}))"
    few, many = tables(text.format(m=1), (8, 1)), tables(text.format(m=4000), (8, 1))
    assert [one.degree for one in few.sets] == [3]
    assert [one.degree for one in many.sets] == [1, 1, 1]


def test_run_time_values_get_sets_of_their_own_when_all_together_do_not_fit() -> None:
    found = tables("(cshift 'a (runtime :values '(1 2 3 5 6)) :m 100)", (8, 1), slots=4)
    table = found.operators[0]
    assert table.second_level
    assert [found.sets[s].degree for s in table.sets] == [1] * 5
    assert table.values == ((1,), (2,), (3,), (5,), (6,))


def test_equal_connections_of_several_values_are_one_set() -> None:
    found = tables("(cshift 'a (runtime :values '(1 -3 2)) :m 400)", (4, 1), slots=1)
    assert found.operators[0].sets[0] == found.operators[0].sets[1]  # values are sorted: -3 and 1 are the same shift
    assert len(found.sets) == 2


def test_an_optional_phase_is_swapped_in_but_not_if_its_connections_stand_anyway() -> None:
    swapped = tables("(loop 'l 9 (cshift 'a 1 :m 50) (optional (cshift 'b 2 :m 50)))", (4, 1))
    assert [phase.sets for phase in swapped.phases] == [(0,), (1,)]
    assert swapped.phases[1].optional
    same = tables("(loop 'l 9 (cshift 'a 1 :m 50) (optional (cshift 'b 1 :m 50)))", (4, 1))
    assert [phase.sets for phase in same.phases] == [(0,), (0,)]


def test_configurations_beyond_the_slots_take_turns() -> None:
    found = tables(ALL_TO_ALL, (8, 1), slots=4)
    (one,) = found.sets
    assert len(one.in_turn) == 7
    assert sorted(pair for part in one.in_turn for pair in part) == sorted(one.pairs)
    assert (one.degree, not any(one.configurations)) == (1, True)
    assert not tables("(spread 's 0 :m 4)", (4, 1), slots=4).sets[0].in_turn
    assert tables("(spread 's 0 :m 4)", (4, 1), slots=1).sets[0].exclusive, "all rows are the source's own"


def test_what_does_not_fit_is_left_to_the_scheduler_in_hybrid_mode() -> None:
    found = tables(ALL_TO_ALL, (8, 1), "hybrid", slots=4)
    assert found.registers == 3
    assert len(found.sets[0].dynamic) + sum(map(len, found.sets[0].configurations)) == 8 * 7
    assert found.timeout > 0


def test_dynamic_sets_are_flushed_between_loops() -> None:
    found = tables("(sequential (loop 'l 9 (cshift 'a 1)) (loop 'm 9 (cshift 'b 2)))", (4, 1), "dynamic")
    assert [one.flush for one in found.sets] == [True, True]
    assert [one.hold == one.dynamic for one in found.sets] == [True, True]
    assert [one.flush for one in tables(MATMUL, (3, 3), "dynamic").sets] == [False]


def test_nothing_is_held_that_might_not_find_a_slot_beside_the_others() -> None:
    assert tables("(loop 'l 9 (permute 'p (runtime)))", (3, 1), "dynamic", slots=3).sets[0].hold
    assert not tables("(loop 'l 9 (permute 'p (runtime)))", (4, 1), "dynamic", slots=4).sets[0].hold


def test_operators_in_any_order_mark_their_messages_and_those_in_sequence_do_not() -> None:
    found = tables("(parallel (stream 'a 0 1) (stream 'b 0 1))", (2, 1))
    assert [one.marked for one in found.operators] == [((0, 1),)] * 2
    found = tables("(parallel (sequential (stream 'a 0 1) (stream 'b 0 1)))", (2, 1))
    assert [one.marked for one in found.operators] == [()] * 2


@pytest.mark.parametrize(
    "text",
    [
        "(collect 'c (runtime :distributed t))",
        "(permute 'p (runtime :distributed t))",
        "(reduce 'r 'add (runtime :distributed t))",
    ],
)
def test_nodes_agree_on_values_that_not_all_of_them_know(text: str) -> None:
    found = tables(text, (4, 1))
    assert [one.agreement for one in found.operators] == [1, -1]
    assert found.operators[1].operator.kind == "allreduce"


def test_a_switch_with_too_few_ports_or_slots_is_refused() -> None:
    with pytest.raises(RefusedError, match="a 4x4 mesh needs 16 ports of the switch and is given 8"):
        tables(MATMUL, (4, 4), ports=8)
    with pytest.raises(RefusedError, match="hybrid mode needs 2 slots of the switch and is given 1"):
        tables(MATMUL, (2, 2), "hybrid", slots=1)


def test_the_same_program_gives_the_same_tables() -> None:
    assert tables(MATMUL, (4, 4)) == tables(MATMUL, (4, 4))
