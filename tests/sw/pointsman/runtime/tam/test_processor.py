"""Micro-traces: each way to schedule a thread that Table 6-3 has, once, and what must not be done."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from cosim.logp.parameters import logp_named
from cosim.logp.session import run_logp_application
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.runtime.tam import TamApplication, TamError, assemble
from pointsman.runtime.tam.costs import Costs

HEAD = "codeblock main\n slots n, a, b, f\n inlet start n\n  post go\n"
CHILD = (
    "codeblock child\n slots x, y\n inlet one x\n  post {}\n inlet two y\n  post {}\n"
    " thread plain\n  stop\n thread both 2\n  stop\n thread never 3\n  stop\n"
)


def run(text: str, nodes: int = 1, costs: Costs | None = None, machine: str = "example", most: int = 1_000_000) -> Any:
    application = TamApplication(assemble(text), [1], mesh(nodes), costs)
    return run_logp_application(application, mesh(nodes), logp_named(machine), max_cycles=most).record.results


def events(text: str, costs: Costs | None = None) -> Counter[str]:
    found: Counter[str] = run(text, costs=costs)[0].events
    return found


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (" thread go\n  fork end\n thread end\n  halt\n", {"fork fall through": 1}),
        (" thread end\n  halt\n thread go\n  fork end\n", {"fork branch unsynchronizing": 1}),
        (" thread end\n  halt\n thread go\n  fork end\n  stop\n", {"fork branch unsynchronizing": 1}),
        (
            " thread end 2\n  halt\n thread go\n  fork end\n  fork end\n",
            {"fork push unsuccessful": 1, "fork branch successful": 1},
        ),
        (
            " thread two\n  fork end\n thread go\n  fork two\n  fork end\n thread end 2\n  halt\n",
            {"fork push unsynchronizing": 1, "fork branch unsuccessful": 1, "fork branch successful": 1},
        ),
        (
            " thread go\n  fork end\n  fork end\n  mov a, 1\n thread end 2\n  halt\n",
            {"fork push unsuccessful": 1, "fork push successful": 1, "stop": 1, "alu": 1},
        ),
        (
            " thread go\n  switch 1, yes, no\n thread yes\n  halt\n thread no\n  halt\n",
            {"switch": 1, "fork fall through": 1},
        ),
        (
            " thread go\n  switch 0, yes, no\n thread yes\n  halt\n thread no\n  halt\n",
            {"switch": 1, "fork branch unsynchronizing": 1},
        ),
        (
            " thread go\n  init two\n  cfork 1, two\n  cfork 0, two\n  cfork 1, two\n thread two 2\n  halt\n",
            {"init": 1, "fork push unsuccessful": 1, "fork push successful": 1, "stop": 1},
        ),
    ],
)
def test_forks_are_what_their_place_and_their_counter_make_them(body: str, expected: dict[str, int]) -> None:
    found = events(HEAD + body)
    start = Counter({"receive local 1": 1, "post idle unsynchronizing": 1})
    start["poll"] = found["poll"]
    found.subtract(start)
    assert +found == Counter(expected)


@pytest.mark.parametrize("machine", ["cm5", "hybrid"])
@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("plain", "plain", {"post idle unsynchronizing": 1, "post ready unsynchronizing": 1}),
        ("both", "both", {"post idle unsuccessful": 1, "post idle successful": 1}),
        ("never", "plain", {"post idle unsuccessful": 1, "post idle unsynchronizing": 1}),
        ("plain", "never", {"post idle unsynchronizing": 1, "post ready unsuccessful": 1}),
    ],
)
def test_posts_are_what_the_state_of_the_frame_makes_them(
    machine: Any, first: str, second: str, expected: dict[str, int]
) -> None:
    text = HEAD + (
        " inlet got f\n  post send\n thread go\n  falloc child, me, got, got\n"
        " thread send\n  send f, child.one, 1\n  send f, child.two, 2\n  fork end\n thread end\n  halt\n"
    )
    found = events(text + CHILD.format(first, second), Costs(machine))
    # The main frame: its argument, and the frame that it has allocated.
    found.subtract({"post idle unsynchronizing": 1, "post running unsynchronizing": 1})
    assert {event: n for event, n in found.items() if event.startswith("post") and n} == expected


def test_a_ready_frame_and_a_running_one_are_posted_to_with_counters() -> None:
    text = HEAD + (
        " inlet in a\n  post two\n inlet other b\n  post one\n"
        " thread go\n  send self, main.in, 1\n  send self, main.in, 2\n  send self, main.other, 3\n"
        " thread two 2\n  mov a, 1\n thread one\n  halt\n"
    )
    for machine in ("cm5", "hybrid"):
        found = events(text, Costs(machine))
        assert found["post running unsuccessful"] == found["post running successful"] == 1
        assert found["post running unsynchronizing"] == 1
    ready = HEAD + (
        " inlet got f\n  post send\n thread go\n  falloc child, me, got, got\n thread send\n  send f, child.one, 1\n"
        "  send f, child.two, 2\n  send f, child.two, 2\n  fork end\n thread end\n  halt\n"
    )
    found = events(ready + CHILD.format("plain", "both"))
    assert found["post ready unsuccessful"] == found["post ready successful"] == 1


def test_threads_posted_while_a_frame_runs_belong_to_its_quantum() -> None:
    text = HEAD + " inlet in a\n  post two\n thread go\n  send self, main.in, 1\n thread two\n  halt\n"
    for machine in ("cm5", "hybrid"):
        assert run(text, costs=Costs(machine))[0].quanta == 1  # type: ignore[arg-type]


def _heap(body: str, more: str = "") -> str:
    return (
        HEAD
        + " inlet got a\n  post use\n inlet value b\n  post end\n"
        + more
        + " thread go\n  ialloc 4, NODE, got\n"
        + body
    )


@pytest.mark.parametrize("node", [0, 1])
@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            " thread use\n  istore a, 1, 5\n  istore a, 1, 6\n thread end\n  halt\n",
            "element 1 of a structure on node NODE is written twice",
        ),
        (
            " thread use\n  ifree a\n  ifree a\n thread end\n  halt\n",
            "a structure on node NODE is freed that is not there",
        ),
        (
            " thread use\n  ifetch a, 4, value\n thread end\n  halt\n",
            "element 4 of a structure on node NODE is fetched; it has 4 elements",
        ),
        (" thread use\n  istore a, -1, 4\n thread end\n  halt\n", "element -1 of a structure on node NODE is written"),
        (
            " thread use\n  ifetch a, 0x100000000, value\n thread end\n  halt\n",
            "element 4294967296 of a structure on node NODE",
        ),
        (
            " thread use\n  istore a, 0.5, 4\n thread end\n  halt\n",
            "element 0.5 of a structure on node NODE is written",
        ),
        (
            " thread use\n  ialloc 2.5, NODE, got\n thread end\n  halt\n",
            "a structure on node NODE cannot have 2.5 elements",
        ),
        (
            " thread use\n  ialloc -1, NODE, got\n thread end\n  halt\n",
            "a structure on node NODE cannot have -1 elements",
        ),
        (
            " thread use\n  add r0, a, 0.5\n  mfetch r0, 0, value\n thread end\n  halt\n",
            "program:13: mfetch in thread main.use on node 0: a structure must be a whole number, not",
        ),
        (" thread use\n  send 0.5, main.got, 1\n thread end\n  halt\n", "a frame must be a whole number, not 0.5"),
        (" thread use\n  sendto self, 0.5\n thread end\n  halt\n", "an inlet must be a whole number, not 0.5"),
        (" thread use\n  falloc main, 0.5, got, got\n thread end\n  halt\n", "a node must be a whole number, not 0.5"),
        (" thread use\n  ffree 0.5\n thread end\n  halt\n", "what ffree frees must be a whole number, not 0.5"),
        (" thread use\n  shl r0, 1, 32\n  sendto r0, -1\n thread end\n  halt\n", "no code-block has an inlet -1"),
        (
            " thread use\n  istore a, 0, b\n thread end\n  halt\n",
            "slot b of a frame of main is read before it is written",
        ),
        (
            " thread use\n  div r0, 1, 0\n thread end\n  halt\n",
            "div in thread main.use on node 0: integer division or modulo by zero",
        ),
        (
            " thread use\n  add r0, me, 1\n  mul r0, r0, 100\n  falloc main, r0, got, got\n thread end\n  halt\n",
            "there is no node 100 of 2",
        ),
        (" thread use\n  ffree self\n  ffree self\n thread end\n  halt\n", "frame 0 on node 0 is freed twice"),
    ],
)
def test_what_a_program_must_not_do_is_an_error(node: int, body: str, text: str) -> None:
    with pytest.raises(PointsmanError, match=text.replace("NODE", str(node)).replace("[", r"\[")):
        run(_heap(body).replace("NODE", str(node)), nodes=2)


@pytest.mark.parametrize("node", [0, 1])
def test_reads_before_the_write_wait_for_it_and_m_structures_give_a_value_once(node: int) -> None:
    text = _heap(
        " thread use\n  mfetch a, 2, value\n  mfetch a, 2, second\n  mstore a, 2, 40\n  fork later\n"
        " thread later\n  mstore a, 2, 41\n thread end 2\n  add r0, b, n\n  halt b, n\n",
        " inlet second n\n  post end\n",
    ).replace("NODE", str(node))
    for machine in ("example", "cm5,delay=500"):
        assert sorted(run(text, nodes=2, machine=machine)[0].result) == [40, 41]


def test_a_thread_that_is_enabled_too_often_is_an_error() -> None:
    text = HEAD + " thread go\n  fork two\n  fork two\n  fork two\n  mov a, 1\n thread two 2\n  stop\n"
    with pytest.raises(
        TamError, match=r"program:8: fork in thread main.go on node 0: thread main.two is enabled more than 2 times"
    ):
        run(text)


def test_a_loop_does_not_keep_messages_waiting_and_an_endless_one_is_stopped() -> None:
    text = HEAD + (
        " inlet got f\n  post send\n inlet in a\n thread go\n  mov a, 0\n  falloc child, 1, got, got\n"
        " thread send\n  send f, child.args, self\n  fork spin\n"
        " thread spin\n  eq r0, a, 0\n  switch r0, spin, end\n thread end\n  halt a\n"
        "codeblock child\n slots back\n inlet args back\n  post go\n thread go\n  send back, main.in, 7\n"
    )
    assert run(text, nodes=2)[0].result == [7]
    with pytest.raises(PointsmanError, match="have not ended after 20000 units"):
        run(text.replace("send back, main.in, 7", "stop"), nodes=2, most=20_000)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("shl r0, 1, 63", "shl gives 9.22e+18, and a value has 64 bits"),
        ("shl r0, 1, 1000000000000", "a value has 64 bits"),
        ("ialloc 100000000, me, got", "a structure on node 0 cannot have 100000000 elements"),
        ("ffree self\n  fork go", "fork in thread main.go on node 0: the frame has been freed"),
        ("add r0, 1.5, f", "is read before it is written"),
        ("and r0, 1.5, 1", "unsupported operand"),
        ("float r0, 1\n  mul r0, r0, 1e308\n  mul r0, r0, 1e308\n  int r0, r0", "cannot convert float infinity"),
    ],
)
def test_values_and_structures_have_a_size(body: str, said: str) -> None:
    with pytest.raises(TamError) as caught:
        run(HEAD + f" inlet got f\n thread go\n  {body}\n")
    assert said in str(caught.value)


def test_a_thread_may_take_messages_and_let_other_frames_have_their_turn() -> None:
    body = (
        " inlet got f\n  post send\n inlet in a\n  post told\n"
        " thread go\n  mov a, 0\n  falloc child, me, got, got\n"
        " thread send\n  send f, child.args, self\n  fork see\n  LAST\n thread see\n  mov b, a\n  fork end\n"
        " thread told\n  fork end\n thread end 2\n  halt b\n"
        "codeblock child\n slots back\n inlet args back\n  post go\n thread go\n  send back, main.in, 7\n"
    )
    for machine in ("cm5", "hybrid"):
        first, other = (run(HEAD + body.replace("LAST", last), costs=Costs(machine))[0] for last in ("stop", "swap"))  # type: ignore[arg-type]
        assert (first.result, other.result) == ([0], [7])  # the child ran in between
        assert (first.quanta, other.quanta) == (3, 3)
        assert other.instructions["swap"] == 1
    polls = HEAD + (
        " inlet got f\n  post send\n inlet in a\n thread go\n  mov a, 0\n  falloc child, 1, got, got\n"
        " thread send\n  send f, child.args, self\n" + "  poll\n" * 40 + "  halt a\n"
        "codeblock child\n slots back\n inlet args back\n  post go\n thread go\n  send back, main.in, 7\n"
    )
    found = run(polls, nodes=2)[0]
    assert found.result == [7]
    assert found.events["poll"] >= 40


def test_a_frame_that_is_freed_while_its_thread_polls_is_told() -> None:
    text = HEAD + (
        " inlet got f\n  post send\n thread go\n  falloc child, 1, got, got\n thread send\n  send f, child.args, self\n"
        + "  poll\n" * 40
        + "  halt 1\ncodeblock child\n slots back\n inlet args back\n  post go\n thread go\n  ffree back\n"
    )
    with pytest.raises(TamError, match=r"poll in thread main\.send on node 0: the frame has been freed"):
        run(text, nodes=2)
