"""Wires hold a word at each end, and lead elsewhere when nodes are through with their own messages."""

from __future__ import annotations

from pointsman.artifacts.images.images import Promise
from pointsman.verify.meaning.wires import TOKEN, ZERO, Wires, Word


def promise(
    source: tuple[int, int], *ends: tuple[int, int], values: tuple[int, ...] = (0,), held: bool = False
) -> Promise:
    return Promise(0, 0, "s", values, source[0], source[1], ends, 1, held)


def word(number: int) -> Word:
    return Word(((number, number, 0, 0),), 0)


def test_a_wire_holds_a_word_at_each_end() -> None:
    wires = Wires([promise((0, 2), (1, 3))], [0], [set()])
    assert wires.put((0, 2), word(1))
    assert wires.put((0, 2), word(2))
    assert not wires.put((0, 2), word(3))
    assert wires.left() == [(0, 2), (1, 3)]
    assert wires.take((1, 3)) == word(1)
    assert wires.put((0, 2), word(3))
    assert [wires.take((1, 3)), wires.take((1, 3)), wires.take((1, 3))] == [word(2), word(3), None]


def test_a_word_waits_until_all_ends_have_it() -> None:
    wires = Wires([promise((0, 2), (1, 3), (2, 3))], [0], [set()])
    wires.put((0, 2), word(1))
    wires.put((0, 2), word(2))
    assert wires.take((1, 3)) == word(1)
    assert wires.is_leaving((0, 2))
    assert wires.take((1, 3)) == word(2)
    assert wires.take((2, 3)) == word(1)
    assert not wires.is_leaving((0, 2))
    assert wires.take((2, 3)) == word(2)
    assert wires.left() == []


def test_wires_may_join_and_whoever_reads_wakes_others() -> None:
    wires = Wires([promise((0, 2), (2, 3)), promise((1, 2), (2, 3))], [0], [set()])
    wires.put((0, 2), word(1))
    wires.put((1, 2), word(2))
    wires.awake.clear()
    assert wires.take((2, 3)) == word(1)
    assert list(wires.awake) == [2, 1]
    assert wires.take((2, 3)) == word(2)


def test_a_register_without_a_wire_swallows_words() -> None:
    wires = Wires([], [0], [set()])
    assert wires.put((0, 2), Word(TOKEN, 0))
    assert wires.take((0, 2)) is None
    assert ZERO != TOKEN


def test_words_of_others_wait_for_a_node_to_be_through_and_stay_behind_its_own() -> None:
    """Node 2 sends over node 1 to node 0: its words wait at node 1 until that is through with its own."""
    promises = [
        promise((1, 2), (0, 3), values=(0, 1)),
        promise((2, 2), (1, 4), held=True),
        promise((2, 2), (0, 3), values=(1,)),
    ]
    wires = Wires(promises, [0, 1], [set(), {1}])
    assert wires.stages == 2
    wires.put((2, 2), word(20))
    wires.put((2, 2), word(21))
    wires.put((1, 2), word(10))
    assert wires.take((0, 3)) == word(10)
    assert wires.take((0, 3)) is None
    wires.put((1, 2), word(11))
    wires.through(1)
    assert [wires.take((0, 3)) for _ in range(3)] == [word(11), word(20), word(21)]
    assert wires.left() == []
