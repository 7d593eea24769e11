"""Programs that do not fit say what would do, and with that they do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError, RefusedError
from pointsman.network import mesh
from pointsman.plan import fitting
from pointsman.plan.fitting import RESOURCES, SPOKEN, fitted_plan
from pointsman.plan.make_plan import make_plan
from pointsman.plan.options import PlanOptions
from pointsman.plan.plan import Plan
from pointsman.plan.work import Work
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

MANY = "(parallel (cshift 'a 1) (broadcast 'd 0) (broadcast 'e 1) (reduce 'f 'add 1))"
PLAIN = {"registers": 16, "vfsms": 32, "schedule_depth": 128, "pipelines": 2}
LACKING: dict[str, tuple[str, dict[str, int], set[str]]] = {
    "a register": ("(broadcast 'a 0 :m 3)", {"registers": 2}, {"registers"}),
    "VFSMs": ("(broadcast 'a 0 :m 3)", {"vfsms": 2}, {"vfsms"}),
    "registers and VFSMs": (MANY, {"registers": 4, "vfsms": 4}, {"registers", "vfsms"}),
    "schedule memory": ("(barrier 'a)", {"schedule_depth": 2}, {"schedule_depth"}),
    "slots": ("(parallel (permute 'p (runtime) :impl 'sch_permute_runtime))", {"period": 3}, {"period"}),
    "slots, of which there may be fewer": (
        "(prefix 'p 'add :impl 'sch_prefix)",
        {"schedule_depth": 32, "period": 16},
        {"period"},
    ),
    # A node that is larger in everything takes commands of two words, with which this implementation cannot do.
    "a register, and nothing else": (
        "(loop 'l 2 (stream 'o 0 (runtime) :impl 'str_stream_dyn) (barrier 'z))",
        {"registers": 9},
        {"registers"},
    ),
    "phases": ("(barrier 'a) (phase (cshift 'b 1)) (cshift 'd 1)", {"phases": 1}, {"phases"}),
}


def plan_with(text: str, sizes: dict[str, int], *, several: bool = True) -> Plan:
    node = replace(NodeShape(), **{name: sizes.get(name, size) for name, size in PLAIN.items()})
    program = compile_text(text, topology=mesh(2, 1))
    planned = fitted_plan if several else make_plan
    options = PlanOptions(most_phases=sizes.get("phases"))
    return planned(program, node, name="p", period=sizes.get("period"), options=options)


@pytest.mark.parametrize("what", LACKING)
def test_it_fits_with_what_the_hint_says_and_not_with_less(what: str) -> None:
    text, given, changed = LACKING[what]
    with pytest.raises(RefusedError) as caught:
        plan_with(text, given)
    refused = caught.value
    assert set(refused.sizes) == changed
    (named,) = (name for name in changed if RESOURCES[name] == refused.resource)
    assert (refused.size, refused.needed) == (given[named], refused.sizes[named])
    assert refused.message.startswith(f"p needs {refused.needed} {refused.resource} and is given {refused.size}: ")
    assert refused.why is not None
    assert SPOKEN[named] in refused.why
    assert refused.hint == "it fits with " + " ".join(f"--{n.replace('_', '-')} {k}" for n, k in refused.sizes.items())
    enough = {**given, **refused.sizes}
    report = check_images(make_images(plan_with(text, enough)))
    assert report.ok, report.render()
    for name in changed - {"period"}:
        less = {**enough, name: enough[name] // 2 if name in ("vfsms", "schedule_depth") else enough[name] - 1}
        with pytest.raises(PointsmanError):
            plan_with(text, less, several=False)


def test_what_is_refused_for_another_reason_keeps_it_and_nothing_is_searched_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[str] = []
    monkeypatch.setattr(fitting._Search, "_plan", lambda search, sizes: tried.append("once"))
    with pytest.raises(
        PointsmanError, match="asks for implementation str_reduce, which broadcast does not have"
    ) as caught:
        plan_with("(broadcast 'a 0 :impl 'str_reduce)", {})
    assert not isinstance(caught.value, RefusedError)
    assert len(tried) == 2


def test_who_asks_for_no_schedule_length_gets_a_long_one_where_no_other_will_do() -> None:
    """A slot each on the only link."""
    streams = " ".join(f"(stream 's{k} 0 1 :impl 'str_stream)" for k in range(44))
    program = compile_text(f"(parallel {streams})", topology=mesh(2, 1))
    assert make_plan(program, NodeShape(registers=64, vfsms=64), name="p").period == 48
    with pytest.raises(RefusedError, match="needs 48 slots of a schedule and is given 40") as caught:
        fitted_plan(program, NodeShape(), name="p")
    assert caught.value.sizes == {"period": 48, "registers": 46}


@pytest.mark.parametrize("period", [1, 0, -3])
def test_a_length_that_no_schedule_has_is_an_error_of_its_own(period: int) -> None:
    with pytest.raises(PointsmanError, match=f"^the schedule length must be at least 2, not {period}$"):
        plan_with("(barrier 'b)", {"period": period})


def test_it_says_what_it_is_looking_for() -> None:
    said: list[str] = []
    program = compile_text("(broadcast 'a 0 :m 3)", topology=mesh(2, 2))
    with pytest.raises(RefusedError):
        fitted_plan(program, NodeShape(registers=2), name="p", options=PlanOptions(progress=said.append))
    assert any(line.startswith("looking for what would do: ") and "interface registers a node" in line for line in said)


SEVERAL = " ".join(f"(broadcast 'a{k} {k} :m 10) (cshift 'd{k} {k + 1} :m 7)" for k in range(3)) + (
    "(parallel (allreduce 'b0 'add :m 5) (allreduce 'b1 'add :m 5) (allreduce 'b2 'add :m 5))"
)


def test_a_refusal_names_what_lacks_although_the_first_division_lacked_something_else() -> None:
    """All operators in a phase lack slots; what the program lacks in every division are registers."""
    node = NodeShape(registers=4)
    program = compile_text(SEVERAL, topology=mesh(3, 2))
    with pytest.raises(PointsmanError, match="too few VFSM slots"):
        make_plan(program, node, name="p")
    with pytest.raises(
        RefusedError, match=r"needs .* interface registers a node .* too few interface registers"
    ) as caught:
        fitted_plan(program, node, name="p")
    assert caught.value.resource == RESOURCES["registers"]


def test_what_would_do_is_looked_for_with_so_much_work_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left when the work is used up is not the smallest, and does."""
    works: list[Work] = []
    make = make_plan

    def noted(*given: Any, options: PlanOptions, **more: Any) -> Plan:
        if options.work is not None:
            works.append(options.work)
        return make(*given, options=options, **more)

    monkeypatch.setattr(fitting, "make_plan", noted)
    found = []
    for most in (fitting.WORK, 6_000):
        works.clear()
        monkeypatch.setattr(fitting._Search, "left", most)
        with pytest.raises(RefusedError) as caught:
            plan_with(MANY, {"registers": 4})
        assert 0 < sum(work.done for work in works) <= most
        found.append(caught.value.sizes["registers"])
        assert plan_with(MANY, caught.value.sizes, several=False)
    assert found[0] <= found[1]


def test_refusals_of_programs_for_sixteen_nodes_take_little_work() -> None:
    """In streams, not in seconds: some two seconds of processor time."""
    program = compile_text(MANY, topology=mesh(4, 4))
    work = Work()
    with pytest.raises(PointsmanError, match="too few interface registers"):
        make_plan(program, NodeShape(registers=7), name="p", options=PlanOptions(first=True, work=work))
    assert work.done < 40_000
