"""Both ends at run time, on a snake."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numesh.codes import MoveType
from pointsman.operators import Loading
from pointsman.operators.scheduled.stream_linear import StrStreamLinear, cycles_to, way_cycles


def test_words_pass_in_one_of_two_directions(wired: Callable[..., Any]) -> None:
    one = wired("str_stream_runtime", "(stream 'o (runtime) (runtime) :m 5)")
    assert {s.name for s in one.wiring.routed.streams if "meet" not in s.name} == {"o[0].up", "o[0].down"}


def test_every_delivery_but_that_of_the_destination_is_dropped(wired: Callable[..., Any]) -> None:
    one = wired("str_stream_runtime", "(stream 'o (runtime) (runtime) :m 5)")
    for values in ((0, 5), (5, 0), (1, 2)):
        kept = {
            node
            for node, role in one.roles(values).items()
            if any(setting.vfsm.destination.kind == "deliver" for setting in role.settings)
        }
        assert kept == {values[1]}


def test_without_a_barrier_it_has_to_be_left_between_uses() -> None:
    assert StrStreamLinear(left_between_uses=True).loading is Loading.LEFT_BETWEEN_USES
    assert StrStreamLinear(left_between_uses=False).loading is Loading.SYNCHRONISED


def test_a_word_takes_its_slots_apart_to_each_vfsm(wired: Callable[..., Any]) -> None:
    wiring = wired("str_stream", "(stream 'o 0 5 :m 5)").wiring
    for chain in wiring.routed.chains:
        cycles = cycles_to(chain, wiring.routed.period)
        assert cycles[0] == 0
        assert all(cycles[k] > cycles[v.parent] for k, v in enumerate(chain.vfsms) if k and v.type != MoveType.FORK)
        assert way_cycles(chain, wiring.routed.period) == max(cycles)
