"""Operators of a phase that come after one that tells who has come: their words use wires of phases before again. They run,
whoever is slow; the judge finds each fault, and so does a run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS
from pointsman.plan.conflicts.happens_before import HappensBefore
from pointsman.plan.make_plan import make_plan
from pointsman.plan.phases import phase_set as planner
from pointsman.plan.plan import Plan
from pointsman.plan.structure.control_flow import control
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import breaks, fold
from pointsman.plan.structure.structure import Structure, divided
from pointsman.runtime import Node
from pointsman.runtime.numesh.substrate import numesh_node
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

NODES, WORDS = 4, 60
TEXT = f"(broadcast 'x 0 :m {WORDS}) (allreduce 'a 'add :m 1) (broadcast 'b 0 :m {WORDS})"


def folded(text: str, phases: list[list[str]]) -> Structure:
    """A program divided so, once."""
    program = compile_text(text, topology=mesh(NODES))
    root = disjoint_tree(program)
    for place in breaks(root):
        structure = divided(program, root, fold(root, lambda part, i, place=place: (part, i) == place))
        if [[operator.label for operator in phase.operators] for phase in structure.phases] == phases:
            return structure
    raise AssertionError("the phases cannot be divided so")


def planned(
    text: str = TEXT, phases: list[list[str]] | None = None, names: tuple[str, ...] = ("str_bcast_bind",)
) -> Plan:
    program = compile_text(text, topology=mesh(NODES))
    structure = folded(text, phases or [["x"], ["a", "b"]])
    chosen = [one for one in IMPLEMENTATIONS if one.kinds[0] != "broadcast" or one.name in names]
    return make_plan(program, NodeShape(), name="test", period=16, structures=[structure], implementations=chosen)


@pytest.fixture(scope="module")
def images() -> Images:
    return make_images(planned())


def run(made: Images, slow: int, order: str = "xab") -> list[list[int]]:
    """What every node gets, one of them slow before it goes on from each operator."""

    def add(one: np.ndarray, other: np.ndarray, out: np.ndarray) -> None:
        out[:] = one + other

    async def main(node: Node) -> list[int]:
        got: list[int] = []
        for label in order:
            cop, number = node.cop, node.number
            await getattr(cop, f"{label}_load")()
            if label == "a":
                got.append(int((await cop.a_func(np.array([number])))[0]))
            elif number == 0:
                await getattr(cop, f"{label}_write")(np.arange(WORDS) + ord(label) * 100)
            else:
                got += [int(word) for word in await getattr(cop, f"{label}_read")()]
            if number == slow:
                await node.compute(900)
        return got

    with Machine(made.shape, made.topology, engine="model") as machine:
        nodes = [numesh_node(made, number, machine, functions={"add": add}) for number in range(NODES)]
        return run_nodes(nodes, main, machine, max_cycles=50_000).results


def wanted(node: int, order: str = "xab") -> list[int]:
    found: list[int] = []
    for label in order:
        found += [sum(range(NODES))] if label == "a" else [i + ord(label) * 100 for i in range(WORDS)] if node else []
    return found


def rules(made: Images) -> set[str]:
    return {finding.rule for finding in check_images(made).findings}


def right(made: Images, order: str = "xab") -> bool:
    for slow in range(NODES):
        try:
            if run(made, slow, order) != [wanted(node, order) for node in range(NODES)]:
                return False
        except PointsmanError:
            return False
    return True


def test_words_go_over_wires_of_the_phase_before_when_their_source_has_heard_of_all(images: Images) -> None:
    assert images.phases[0].technique in ("no-op", "msg-sync")
    assert [[images.operators[i].label for i in pair] for pair in images.phases[1].order] == [["a", "b"]]
    report = check_images(images)
    assert report.ok, report.render()
    assert report.counts["links written again in turn"] > 0
    assert right(images)


def test_without_the_order_the_judge_finds_the_wires(images: Images) -> None:
    phases = (images.phases[0], replace(images.phases[1], order=()))
    assert rules(replace(images, phases=phases)) == {"wires"}


def test_order_in_a_circle_is_none(images: Images) -> None:
    ((one, other),) = images.phases[1].order
    phases = (images.phases[0], replace(images.phases[1], order=((one, other), (other, one))))
    assert rules(replace(images, phases=phases)) == {"structure"}


def test_operator_before_that_tells_nothing_frees_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its source is through with a broadcast that nobody else has begun: the run shows what then becomes of words."""
    text = TEXT.replace("(allreduce 'a 'add :m 1)", "(broadcast 'c 0 :m 1)")
    phases = [["x"], ["c", "b"]]
    assert not rules(make_images(planned(text, phases)))
    monkeypatch.setattr(HappensBefore, "begins", lambda *_: True)
    made = make_images(planned(text, phases))
    assert "wires" in rules(made)

    def words(node: int) -> list[int]:
        return [i for _, count in (("x", WORDS), ("c", 1), ("b", WORDS)) for i in range(count)] if node else []

    async def main(node: Node) -> list[int]:
        got: list[int] = []
        for label, count in (("x", WORDS), ("c", 1), ("b", WORDS)):
            await getattr(node.cop, f"{label}_load")()
            if node.number == 0:
                await getattr(node.cop, f"{label}_write")(np.arange(count))
            else:
                got += [int(word) for word in await getattr(node.cop, f"{label}_read")()]
            if label == "x" and node.number == 1:
                await node.compute(900)
        return got

    with Machine(made.shape, made.topology, engine="model") as machine:
        nodes = [numesh_node(made, number, machine) for number in range(NODES)]
        try:
            results = run_nodes(nodes, main, machine, max_cycles=50_000).results
        except PointsmanError:
            results = []
    assert results != [words(node) for node in range(NODES)]


def test_reverse_reading_of_the_source_frees_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """§5.3.4: for a following phase that stands already, restrictions on "A's use of the wire to m can be avoided if, for some
    operator B also in the current phase, A_n always precedes B_m via B'_m". Here x_0 always precedes a_1 via a'_1, all of one
    phase, and the broadcast of the next one uses x's wires: a node that lingers takes its words for x's."""
    phases = [["x", "a"], ["b"]]
    assert right(make_images(planned(phases=phases)))
    monkeypatch.setattr(planner, "collisions", lambda *_, **__: [])
    monkeypatch.setattr(planner, "reroute", lambda *_, **__: {})
    monkeypatch.setattr(planner, "settling", lambda phases, *_, **__: [frozenset()] * len(phases))
    made = make_images(planned(phases=phases))
    assert made.phases[0].barrier is None
    assert "wires" in rules(made)
    assert not right(made)


def test_node_that_uses_operators_out_of_turn_is_told(images: Images) -> None:
    with pytest.raises(PointsmanError, match="uses 'b' in phase 'a\\+b' and has not used 'a', which comes before it"):
        run(images, 0, "xba")


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("(a) (b) (c)", {"a": "", "b": "a", "c": "ab"}),
        ("(a) (optional (b)) (c)", {"a": "", "b": "a", "c": "a"}),
        ("(optional (a) (b)) (c)", {"a": "", "b": "a", "c": ""}),
        ("(loop 'l 3 (a) (b)) (c)", {"a": "", "b": "a", "c": ""}),  # the loop may have no round
        ("(loop 'l 3 (optional (a)) (b) (c))", {"a": "", "b": "", "c": "b"}),
        ("(parallel (a) (b)) (c)", {"a": "", "b": "", "c": ""}),
        ("(parallel (sequential (a) (b)) (c))", {"a": "", "b": "a", "c": ""}),
    ],
)
def test_what_always_comes_before(text: str, known: dict[str, str]) -> None:
    """Compared with all ways through the program, by hand."""
    for label in "abc":
        text = text.replace(f"({label})", f"(barrier '{label})")
    root = disjoint_tree(compile_text(text, topology=mesh(2)))
    found = control(root, fold(root, lambda part, i: False))
    assert len(found.before) == 1
    assert {label: "".join(sorted(before)) for label, before in found.before[0].items()} == known
