"""The steps of loads and changes of phase, carried out on a node of which only marks are kept."""

from __future__ import annotations

from collections.abc import Collection, Generator, Sequence

import pytest

from pointsman.protocol.phase_change import (
    END,
    LOADER,
    ChangeStep,
    Do,
    LoadCall,
    change,
    enter,
    finish,
    leaving,
    load,
    load_told,
)

Steps = Generator[ChangeStep[Sequence[int]], None, object]


class FakeRouter:
    """Holds the phases that are given, until it is told to load others."""

    def __init__(self, current: int = LOADER, held: Collection[int] = (), settles: dict[int, set[int]] | None = None):
        self.current = current
        self.unused = False
        self.held = set(held)
        self.settles = settles or {}
        self.ways: dict[tuple[int, int], tuple[int, ...]] = {}
        self.rewrites_soon = self.rewrites_at_all = True
        self.messages: set[int] = set()

    def way(self, left: int, entered: int) -> tuple[int, ...] | None:
        return self.ways.get((left, entered))

    def holds(self, phase: int) -> bool:
        return phase in self.held

    def can_rewrite(self, rewrites: Sequence[int]) -> bool:
        return self.rewrites_at_all

    def soon(self, rewrites: Sequence[int]) -> bool:
        return self.rewrites_soon

    def settling(self, left: int) -> Collection[int]:
        return self.settles.get(left, ())

    def passes_messages(self, phase: int) -> bool:
        return phase in self.messages

    def run(self, steps: Steps) -> list[tuple[str, int]]:
        done = []
        for do, phase, _ in steps:
            done.append((do, phase))
            if do == Do.JUMP:
                self.current = phase
            elif do == Do.LOAD:
                assert self.current == LOADER, "memories are written in the loader phase only"
                self.held.add(phase)
            elif do == Do.WISH:
                self.held.discard(phase)
        return done


def test_a_phase_that_is_held_is_jumped_to() -> None:
    node = FakeRouter(0, held=[0, 3])
    assert node.run(change(node, 3)) == [(Do.AWAIT_QUIET, 3), (Do.LEAVE, 0), (Do.JUMP, 3), (Do.SETTLE, 0)]
    assert node.run(change(node, 3)) == []


def test_neighbours_settle_while_the_next_phase_is_loaded() -> None:
    node = FakeRouter(0, held=[0], settles={0: {3}})
    assert node.run(change(node, 3)) == [
        (Do.AWAIT_QUIET, 3),
        (Do.LEAVE, 0),
        (Do.JUMP, LOADER),
        (Do.SETTLE, 0),
        (Do.LOAD, 3),
        (Do.JUMP, 3),
        (Do.AWAIT_QUIET, 3),
    ]


def test_the_first_phase_is_loaded_without_leaving_any() -> None:
    node = FakeRouter()
    assert node.run(change(node, 2)) == [(Do.AWAIT_QUIET, 2), (Do.LOAD, 2), (Do.JUMP, 2)]


@pytest.mark.parametrize(
    ("held", "soon", "rewriting"),
    [
        (True, True, [Do.REWRITE_AHEAD, Do.LEAVE, Do.JUMP]),
        (True, False, [Do.LEAVE, Do.JUMP, Do.SETTLE, Do.REWRITE, Do.JUMP]),
        (False, True, [Do.WISH, Do.LEAVE, Do.JUMP, Do.SETTLE, Do.LOAD, Do.JUMP]),
    ],
)
def test_vfsms_are_rewritten_where_it_takes_least(held: bool, soon: bool, rewriting: list[str]) -> None:
    node = FakeRouter(0, held=[0, 1] if held else [0])
    node.rewrites_soon = soon
    steps = [do for do, _ in node.run(change(node, 1, [7]))]
    assert steps[1 : 1 + len(rewriting)] == rewriting
    assert sum(do in (Do.WISH, Do.REWRITE, Do.REWRITE_AHEAD) for do in steps) == 1


def test_a_node_goes_through_phases_in_which_it_has_no_operator() -> None:
    node = FakeRouter(0, held=range(5))
    node.ways[0, 4] = (2, 3)
    node.run(enter(node, 4))
    assert node.current == 4
    node = FakeRouter(0, held=range(5))
    node.ways[0, 4] = (2, 3)
    assert [phase for do, phase in node.run(enter(node, 4)) if do == Do.JUMP] == [2, 3, 4]


def test_a_phase_that_is_entered_again_is_left_first_if_there_is_a_way_round() -> None:
    node = FakeRouter(1, held=[1])
    assert node.run(enter(node, 1)) == []
    node.ways[1, 1] = ()
    assert node.run(enter(node, 1)) == [(Do.LEAVE, 1), (Do.TURN, 1)]
    node.unused = True
    assert node.run(enter(node, 1)) == []
    assert not node.unused


def test_at_the_end_a_phase_is_left_if_others_need_that() -> None:
    node = FakeRouter(1, held=[1])
    assert node.run(finish(node)) == []
    node.messages = {1}
    assert node.run(finish(node)) == [(Do.LEAVE, 1)]
    node.ways[1, END] = ()
    assert node.run(finish(node)) == [(Do.LEAVE, 1)]


def test_who_is_in_the_barrier_waits_for_no_deadline() -> None:
    assert leaving(barrier=True, technique="hijack") == (Do.AWAIT_COMMANDS, Do.MEET_ALL)
    assert leaving(barrier=False, technique="none") == (Do.AWAIT_COMMANDS,)
    assert leaving(barrier=False, technique="msg-sync") == (Do.AWAIT_COMMANDS, Do.AWAIT_DEADLINE)


def _call(changed: Sequence[int] = (7,), **how: bool) -> LoadCall[Sequence[int]]:
    return LoadCall(1, lambda: changed, **how)


def test_who_loads_alone_waits_until_its_words_are_gone_before_it_rewrites() -> None:
    node = FakeRouter(1, held=[1])
    assert node.run(load(node, _call())) == [(Do.AWAIT_DEADLINE, LOADER), (Do.REWRITE, 1)]
    assert node.run(load(node, _call(()))) == []


def test_without_slots_for_commands_a_phase_is_rewritten_when_it_runs() -> None:
    node = FakeRouter(0, held=[0, 1])
    node.rewrites_at_all = False
    assert [do for do, _ in node.run(load(node, _call()))][-1] == Do.REWRITE
    node = FakeRouter(0, held=[0, 1])
    assert node.run(load(node, _call()))[0][0] == Do.REWRITE_AHEAD


def test_nodes_that_load_together_meet_before_and_after_they_rewrite() -> None:
    node = FakeRouter(1, held=[1])
    steps = [do for do, _ in node.run(load(node, _call(together=True, meets=True)))]
    assert steps == [Do.MEET, Do.DRAIN, Do.REWRITE, Do.MEET]
    assert node.run(load(node, _call(together=True, meets=True, same=True))) == []


@pytest.mark.parametrize(
    ("same", "shared", "meetings"), [(False, False, 1), (True, False, 1), (False, True, 2), (True, True, 0)]
)
def test_in_a_shared_phase_nodes_meet_as_often_whether_they_enter_it_or_not(
    same: bool, shared: bool, meetings: int
) -> None:
    node = FakeRouter(0, held=[0, 1])
    steps = node.run(load(node, _call(together=True, meets=True, same=same, shared=shared)))
    assert [do for do, _ in steps].count(Do.MEET) == meetings
    if shared:
        inside = node.run(load(node, _call(together=True, meets=True, same=same, shared=shared)))
        assert [do for do, _ in inside].count(Do.MEET) == meetings


def test_a_closed_phase_has_held_back_everybody() -> None:
    node = FakeRouter(0, held=[0, 1])
    steps = [do for do, _ in node.run(load(node, _call(together=True)))]
    assert Do.MEET not in steps
    assert Do.DRAIN not in steps
    assert node.current == 1


def test_who_is_told_a_value_meets_with_every_load_and_rewrites_for_another_only() -> None:
    def changed() -> Sequence[int]:
        return (7,)

    node = FakeRouter(1, held=[1])
    assert node.run(load_told(node, 1, lambda: True, changed)) == [(Do.TELL, LOADER)]
    steps = node.run(load_told(node, 1, lambda: False, changed))
    assert steps == [(Do.TELL, LOADER), (Do.DRAIN, LOADER), (Do.REWRITE, 1), (Do.MEET, LOADER)]
    node = FakeRouter(0, held=[0, 1])
    # Nothing of it is under way where the phase has just been entered.
    steps = node.run(load_told(node, 1, lambda: False, changed))
    assert steps[-3:] == [(Do.TELL, LOADER), (Do.REWRITE, 1), (Do.MEET, LOADER)]
    assert node.current == 1
