"""TAM programs of the examples: right answers on any number of nodes, under late messages, and on hardware."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import pointsman
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.runtime.tam import TamApplication, assemble, tam_figures
from pointsman.runtime.tam.costs import Costs
from pointsman.runtime.tam.program import CATEGORIES

EXAMPLES = Path(__file__).parents[5] / "examples/tam"


def _numbers(n: int, seed: int) -> list[int]:
    made = []
    for _ in range(n):
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        made.append(seed >> 16)
    return made


PROGRAMS: dict[str, tuple[list[Any], list[int]]] = {
    "fib": ([9], [34]),
    "matmul": ([4], [sum((i + k) * (k * j + 1) for i in range(4) for j in range(4) for k in range(4))]),
    "quicksort": ([15, 3], [14, sum(_numbers(15, 3))]),
    "radicals": ([9], [211]),
}


def _run(name: str, nodes: int, target: str, **options: Any) -> Any:
    arguments, expected = PROGRAMS[name]
    application = TamApplication(assemble((EXAMPLES / f"{name}.tam").read_text()), arguments, mesh(nodes))
    application.expected = list(expected)
    done = pointsman.run(application, target=target, **options)
    assert done.correct, done.text
    return done.finished.record.results


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(("nodes", "machine"), [(1, "example"), (3, "cm5,delay=300"), (8, "example,capacity=1")])
def test_programs_give_the_same_on_any_number_of_nodes(name: str, nodes: int, machine: str) -> None:
    _run(name, nodes, "logp", logp=machine)


@pytest.mark.parametrize("name", ["radicals"])
@pytest.mark.parametrize("target", ["packet", "tdm", pytest.param("numesh", marks=pytest.mark.slow)])
def test_programs_give_the_same_on_hardware(name: str, target: str) -> None:
    _run(name, 2, target, engine="model")


def test_cycles_are_what_a_second_count_of_the_same_events_gives() -> None:
    """By the tables, added up by hand."""
    results = _run("quicksort", 4, "logp")
    figures = tam_figures(results, Costs())
    events: Counter[str] = Counter()
    for one in results:
        events.update(one.events)
    total = 0
    for event, count in events.items():
        words = event.split()
        n = int(words[-1]) if words[-1].isdigit() else 0
        plain = {
            "alu": 1, "stop": 5, "init": 4, "poll": 18, "switch": 2, "fork fall through": 0, "fork branch unsynchronizing": 1,
            "fork branch successful": 4, "fork branch unsuccessful": 13, "fork push unsynchronizing": 5,
            "fork push successful": 10, "fork push unsuccessful": 7, "post idle unsynchronizing": 19, "post idle successful": 23,
            "post idle unsuccessful": 7, "post ready unsynchronizing": 14, "post ready successful": 19,
            "post ready unsuccessful": 7, "post running unsynchronizing": 8, "post running successful": 12,
            "post running unsuccessful": 7, "ifetch remote": 93, "ifetch local deferred": 16, "ifetch local present": 4,
            "istore remote": 60, "istore local deferred": 4, "istore local empty": 2, f"send remote {n}": 25 + 4 * ((n + 1) // 2),
            f"send local {n}": 4 + n, f"receive remote {n}": 13 + 12 * ((n + 1) // 2),
            f"receive local {n}": 4 + 4 * ((n + 1) // 2),
        }  # fmt: skip
        total += count * plain[event]
    assert figures["total_cycles"] == total == sum(figures["cycles"].values())
    assert sum(figures["instructions"].values()) == sum(figures["instructions_by_name"].values())
    assert set(figures["instructions_by_name"]) <= set(CATEGORIES)
    assert figures["messages"] > 0 < figures["quanta"] <= figures["threads"]


def test_a_program_takes_as_many_arguments_as_its_first_inlet() -> None:
    made = assemble("codeblock main\n slots a\n inlet start a\n  post go\n thread go\n  halt a\n")
    with pytest.raises(PointsmanError, match="the program takes 1 arguments, not 2"):
        TamApplication(made, [1, 2], mesh(1))


def test_a_program_that_nobody_ends_is_a_deadlock() -> None:
    made = assemble("codeblock main\n slots a\n inlet start a\n  post go\n thread go\n  stop\n")
    with pytest.raises(PointsmanError, match="deadlock: 2 processors wait"):
        pointsman.run(TamApplication(made, [1], mesh(2)), target="logp")


def test_a_deadlock_tells_what_is_waited_for() -> None:
    text = (
        "codeblock main\n slots a, v\n inlet start a\n  post go\n inlet got a\n  post use\n inlet value v\n  post end\n"
        " thread go\n  ialloc 4, me, got\n thread use\n  ifetch a, 2, value\n thread end 2\n  halt v\n"
    )
    with pytest.raises(PointsmanError) as caught:
        pointsman.run(TamApplication(assemble(text), [1], mesh(2)), target="logp")
    told = "node 0: running TAM threads: 1 frame, no thread is enabled; a read of element 2 of a structure is deferred"
    assert told in str(caught.value)
    with pytest.raises(PointsmanError, match=r"main\.end waits for 1 more of its 2 forks and posts"):
        pointsman.run(
            TamApplication(assemble(text.replace("ifetch a", "istore a, 2, 5\n  ifetch a")), [1], mesh(2)),
            target="logp",
        )


def test_an_argument_is_a_number_of_64_bits() -> None:
    made = assemble("codeblock main\n slots a\n inlet start a\n  post go\n thread go\n  halt a\n")
    with pytest.raises(PointsmanError, match="a number has 64 bits"):
        TamApplication(made, [2**63], mesh(1))
