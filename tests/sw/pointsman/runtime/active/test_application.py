"""Applications of active messages have their own program, and the carrier of whatever they run on."""

from __future__ import annotations

import argparse
from types import SimpleNamespace
from typing import Any, cast

import pytest

import pointsman
from pointsman.cop import compile_program
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.runtime.active import Endpoint, Handlers, Reply
from pointsman.runtime.active.application import ActiveApplication
from pointsman.runtime.active.credits import CreditCarrier
from pointsman.runtime.active.links import LONG, SHORT


class One(ActiveApplication):
    window = 9
    replies = 3

    async def main(self, node: Any) -> None:
        return None


def test_messages_go_from_anybody_to_anybody_in_two_lengths() -> None:
    made = One(argparse.Namespace(), mesh(2, 2))
    program = compile_program(made.program, topology=mesh(2, 2))
    assert sorted(one.label for one in program.operators()) == sorted((SHORT, LONG))
    assert [one.label for one in compile_program(made.program, topology=mesh(1, 1)).operators()] == ["alone"]


@pytest.mark.parametrize("target", ["packet", "tdm", pytest.param("numesh", marks=pytest.mark.slow)])
def test_nothing_is_predicted_from_a_program_that_only_opens_ways(target: str) -> None:
    done = pointsman.run(One, mesh(2, 1), target=target, engine="model")
    assert done.correct
    assert "predicted" not in done.text
    assert "at least" not in done.text
    assert not {"predicted_cycles", "waits"} & done.values.keys()
    assert "time" not in done.document().why
    with pytest.raises(PointsmanError, match="there are no hints: this application's nodes send what they like"):
        pointsman.run(One, mesh(2, 1), target=target, engine="model", hints=True)


def test_the_switch_makes_connections_on_request_where_nobody_knows_them_before() -> None:
    for given in ({}, {"mode": "auto"}):
        assert pointsman.run(One, mesh(2, 1), target="tdm", engine="model", **given).values["mode"] == "dynamic"


def test_a_substrate_may_have_a_carrier_of_its_own_and_others_get_bounded_buffers() -> None:
    made = One(argparse.Namespace(), mesh(1, 1))
    node: Any = SimpleNamespace(substrate=SimpleNamespace(carrier=lambda: "own"), nodes=2)
    assert made.carrier(node) == "own"
    alone: Any = SimpleNamespace(substrate=object(), nodes=1, topology=mesh(1, 1), clock=object())
    carrier = made.carrier(alone)
    assert isinstance(carrier, CreditCarrier)
    assert carrier.window == 9
    assert carrier.replies == 3


def test_carriers_of_one_run_know_which_of_them_have_ended_and_those_of_another_do_not() -> None:
    made = One(argparse.Namespace(), mesh(1, 1))
    first, second = object(), object()
    carriers = [
        made.carrier(cast(Any, SimpleNamespace(substrate=object(), nodes=1, topology=mesh(1, 1), clock=clock)))
        for clock in (first, first, second)
    ]
    one, same, other = (cast(CreditCarrier, carrier).peers for carrier in carriers)
    assert one is same
    assert other is not one


class Early(ActiveApplication):
    """Node 1 asks node 0 when that one has ended."""

    async def main(self, node: Any) -> None:
        handlers = Handlers()
        handlers.add("ask", lambda *_: Reply("answer"))
        handlers.add("answer", lambda *_: None, reply=True)
        carrier = self.carrier(node)
        await carrier.start()
        if node.number == 1:
            await node.compute(500)
            await Endpoint(carrier, handlers, None).request(0, "ask")
        await carrier.finish()


@pytest.mark.parametrize("target", ["logp", "packet", "tdm", "numesh"])
def test_a_message_to_a_node_that_has_ended_is_told_as_that(target: str) -> None:
    options: dict[str, Any] = {} if target == "logp" else {"engine": "model"}
    with pytest.raises(PointsmanError, match=r"node 0 has ended, and (a message goes to it|node 1 sends it a request)"):
        pointsman.run(Early(argparse.Namespace(), mesh(2, 1)), mesh(2, 1), target=target, **options)
