"""A processor's side of the switch: which commands it sends when it goes on to another working set."""

from __future__ import annotations

from typing import Any

from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.runtime.api.requests import Category, Transfer, WaitEmpty
from pointsman.runtime.tdm.interface import Interface
from pointsman.targets.tdm import make_tables
from tdm_switch.shape import SwitchShape


class _Clock:
    time = 0


def _interface(text: str, number: int) -> Interface:
    program = compile_text(text, topology=mesh(4))
    return Interface(make_tables(program, SwitchShape(ports=4, slots=2)), number, _Clock())


def _requests(coroutine: Any) -> list[Any]:
    return list(coroutine.__await__())


def test_the_first_processor_sets_the_switch_up_and_the_others_wait_as_long() -> None:
    first, other = _interface("(cshift 'a 1 :m 2)", 0), _interface("(cshift 'a 1 :m 2)", 1)
    *sent, end = _requests(first.start())
    assert [type(request) for request in sent] == [Transfer, WaitEmpty]
    (waited,) = _requests(other.start())
    assert waited.time == end.time > 0


def test_a_set_that_is_entered_again_takes_no_command() -> None:
    interface = _interface("(cshift 'a 1 :m 2)", 0)
    _requests(interface.start())
    assert _requests(interface.enter(0, Category.PSYNC)) == [], "its rows stand already"
    assert interface.current == 0
    assert _requests(interface.enter(0, Category.PSYNC)) == []


def test_nothing_is_flushed_at_the_end_if_nothing_is_held() -> None:
    interface = _interface("(cshift 'a 1 :m 2)", 0)
    assert _requests(interface.leave()) == []
    interface.held.add(2)
    assert [type(request) for request in _requests(interface.leave())] == [Transfer]
    assert interface.held == set()
