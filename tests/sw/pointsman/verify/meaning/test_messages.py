"""Operators carried by messages: the run time's scripts do what the definitions say, and other scripts are found out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from pointsman.artifacts.scripts import Call, Combine, Exchange, Receive, Script, Send, Step
from pointsman.cop import compile_text
from pointsman.network import Topology, mesh
from pointsman.operators.messages import DECOMPOSITIONS
from pointsman.operators.messages.online import agrees, carried
from pointsman.program.program import Operator
from pointsman.verify.meaning.definitions import Definition
from pointsman.verify.meaning.messages import MessageRun, settled, values_of

CASES = [
    "(broadcast 'o (runtime))",
    "(broadcast 'o 2)",
    "(broadcast 'o (runtime :distributed t))",
    "(broadcast 'o 1 :valid '(1 2))",
    "(reduce 'o 'left (runtime))",
    "(reduce 'o 'add (runtime :distributed t))",
    "(reduce 'o 'left (runtime) :valid '(0 2 3))",
    "(allreduce 'o 'left)",
    "(allreduce 'o 'left :valid '(1 2))",
    "(prefix 'o 'left)",
    "(prefix 'o 'left :valid '(0 2 3))",
    "(barrier 'o)",
    "(cshift 'o (runtime))",
    "(eoshift 'o (runtime))",
    "(cshift 'o 1 :valid '(0 2))",
    "(permute 'o (runtime))",
    "(permute 'o (runtime :distributed t))",
    "(subset '((3 0 1 2)) (permute 'o '(1 0 3 2) :valid '(0 1 2)))",
    "(stream 'o 0 (runtime))",
    "(stream 'o 0 (runtime :dynamic t))",
    "(stream 'o (runtime) 1)",
    "(collect 'o (runtime))",
    "(collect 'o 1 :valid '(0 1 3))",
    "(spread 'o 1 :valid '(1 2))",
    "(gather 'o 2)",
    "(seqread 'o '(3 1) (runtime))",
    "(seqwrite 'o 0 '(3 1))",
    "(subset '((0 1 2) (3)) (prefix 'o 'left))",
    "(subset '((0 1 2) (2 3 0)) (stream 'o 0 2))",
]


def operator(text: str, topology: Topology) -> Operator:
    (found,) = compile_text(text, topology=topology).operators()
    return found


def problems(one: Operator, scripts: dict[int, list[Script]], values: tuple = ()) -> str:
    return "; ".join(message for _, message, _ in MessageRun(settled(one, values), scripts).problems())


@pytest.mark.parametrize("text", CASES)
@pytest.mark.parametrize("topology", [mesh(4, 1), mesh(2, 2), mesh(3, 5)], ids=str)
def test_messages_of_the_run_time_do_what_operators_mean(text: str, topology: Topology) -> None:
    one = operator(text, topology)
    ways = [way for way in DECOMPOSITIONS if one.kind in way.kinds and (agrees(one) or way.fits(one, topology))]
    assert ways
    for way in ways:
        for values in values_of(one):
            assert problems(one, carried(one, way.name, topology, values), values) == ""


def functions(one: Operator, node: int) -> set[str]:
    """What a node calls, if it takes part."""
    definitions = [Definition(one, i) for i, instance in enumerate(one.instances) if node in instance.nodes]
    positions = [(own, own.nodes.index(node)) for own in definitions]
    return {call.function for own, position in positions if position in own.members for call in own.calls(position)}


def changed(script: Script, change: Callable[[Step], Step | None]) -> Iterator[Script]:
    """The script with one of its steps changed, or left out (None), for each step that changes."""
    for name, calls in script.calls.items():
        for number, call in enumerate(calls):
            for at, step in enumerate(call.steps):
                other = change(step)
                if other != step:
                    steps = (*call.steps[:at], *([other] if other is not None else []), *call.steps[at + 1 :])
                    several = (*calls[:number], Call(steps, call.result), *calls[number + 1 :])
                    yield replace(script, calls={**script.calls, name: several})


def left_out(step: Step) -> Step | None:
    return None


def turned(step: Step) -> Step | None:
    return replace(step, left=step.right, right=step.left) if isinstance(step, Combine) else step


def elsewhere(step: Step) -> Step | None:
    if isinstance(step, Send):
        return replace(step, channel=step.channel + 1)
    return replace(step, send=replace(step.send, channel=step.send.channel + 1)) if isinstance(step, Exchange) else step


def not_forwarded(step: Step) -> Step | None:
    return replace(step, forward=()) if isinstance(step, Receive) else step


def of_another(step: Step) -> Step | None:
    return replace(step, source=None if step.source is None else 1 - step.source) if isinstance(step, Receive) else step


@pytest.mark.parametrize("change", [left_out, turned, elsewhere, not_forwarded, of_another])
def test_every_change_of_a_step_is_found(change: Callable[[Step], Step | None]) -> None:
    count = 0
    for text in CASES:
        one = operator(text, mesh(4, 1))
        for way in (way for way in DECOMPOSITIONS if one.kind in way.kinds and way.fits(one, mesh(4, 1))):
            values = values_of(one)[-1]
            good = carried(one, way.name, mesh(4, 1), values)
            for node, scripts in good.items():
                called = functions(settled(one, values), node)
                for at, script in enumerate(scripts):
                    for other in changed(script, change) if called & set(script.calls) else ():
                        count += 1
                        bad = {**good, node: [*scripts[:at], other, *scripts[at + 1 :]]}
                        assert problems(one, bad, values), (text, way.name, node, other)
    assert count > 5


def test_who_takes_a_message_from_anybody_must_have_no_choice() -> None:
    one = operator("(gather 'o 2)", mesh(3, 1))
    good = carried(one, "dyn_gather", mesh(3, 1), ())
    (reads,) = good[2]
    anybody = tuple(Call((Receive(None),), 0) for _ in reads.calls["read"])
    assert "whichever message comes first of those of nodes 0 and 1" in problems(
        one, {**good, 2: [replace(reads, calls={"read": anybody})]}
    )
