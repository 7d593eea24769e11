"""Timetables for random flows: every demand kept, judged, registers of their own; refusals with reasons."""

from __future__ import annotations

import random
import re
from fractions import Fraction

import pytest

from pointsman.artifacts.flows.flows import Flow, FlowSet, Task
from pointsman.artifacts.routes.file import make_problem
from pointsman.errors import PointsmanError
from pointsman.network import mesh, torus
from pointsman.noc.files import noc_markdown, noc_report
from pointsman.noc.search import guarantee
from pointsman.verify.images import check_images


def flow_set(nodes: int, *flows: tuple[int, tuple[int, ...], float, float | None]) -> FlowSet:
    made = (Flow(f"f{index}", *flow) for index, flow in enumerate(flows))
    return FlowSet(tuple(Task(f"t{node}") for node in range(nodes)), tuple(made))


@pytest.mark.parametrize("seed", range(6))
def test_every_demand_of_random_flows_is_kept(seed: int):
    draw = random.Random(f"noc {seed}")
    topology = draw.choice((mesh(4), mesh(2, 2), mesh(3, 3), torus(3, 3), mesh(3, 5)))
    nodes = topology.nodes
    flows = []
    for _ in range(draw.randint(1, nodes)):
        source, *ends = draw.sample(range(nodes), draw.choice((2, 2, 3)))
        flows.append((source, tuple(ends), draw.choice((0.01, 0.05, 0.1)), draw.choice((None, 40.0))))
    found = guarantee(flow_set(nodes, *flows), make_problem(topology, []), [list(range(nodes))], seed=seed)
    assert check_images(found.images).ok
    registers = [
        (port.node, port.register)
        for one in found.guarantees
        for port in (one.service.source, *one.service.destinations)
    ]
    assert len(set(registers)) == len(registers)
    for one in found.guarantees:
        assert one.words / found.period >= one.flow.bandwidth
        assert not one.late
        assert one.worst.latency >= one.hops + 6


def test_best_effort_gets_a_word_in_a_period_and_a_bound_at_that_rate():
    flows = flow_set(4, (0, (3,), 0.3, 20.0), (1, (3,), 0.0, None), (3, (0, 2), 0.0, None))
    found = guarantee(flows, make_problem(mesh(4), []), [[0, 1, 2, 3]])
    assert check_images(found.images).ok
    for one in found.guarantees[1:]:
        assert (one.words, one.rate) == (1, Fraction(1, found.period))
        assert one.hops + 6 <= one.worst.latency <= one.hops + 6 + 3 * found.period
    report = noc_report(found)["flows"][1]
    assert (report["demanded"], report["rate"]) == (0.0, [1, found.period])
    assert f"1/{found.period} (best effort)" in noc_markdown(found)


def test_a_task_with_more_flows_than_registers_is_named():
    flows = flow_set(4, *((0 if k % 2 else 2, (1,), 0.001, None) for k in range(260)))
    with pytest.raises(PointsmanError) as refused:
        guarantee(flows, make_problem(mesh(4), []), [[3, 2, 1, 0]])
    assert str(refused.value) == (
        "task 't1' is an end of 260 flows, and a node can be one of at most 254\n"
        "  hint: divide the task into two, each with a part of the flows"
    )


def test_a_task_that_no_way_leads_to_is_refused():
    problem = make_problem(mesh(4), [], dead_nodes=[1])
    with pytest.raises(PointsmanError, match="flow 'f0': no way leads from node 0 to node 2, where 't1' is"):
        guarantee(flow_set(2, (0, (1,), 0.1, None)), problem, [[0, 2]])


@pytest.mark.parametrize(
    ("flows", "message"),
    [
        ([], "there must be at least one flow"),
        ([(0, (1,), 0.6, None)], "flow 'f0' demands 0.6 words a cycle, and a flow can have at most 0.5"),
        ([(0, (1,), 0.4, None), (0, (2,), 0.4, None), (1, (0,), 0.3, None)],
         "task 't0' would move 1.1 words a cycle through its port, which can move 1 ('f0', 'f1', 'f2')"),
        ([(0, (3,), 0.1, 8.0)], "flow 'f0' must come within 8 cycles, and over 3 links no word is sure to come in less than 9"),
        # Not that half a word a cycle is two of three slots.
        ([(0, (2,), 0.5, None), (1, (3,), 0.5, None), (1, (2,), 0.1, None)],
         "no timetable was found that keeps all demands: in 4 cycles 'f1', 'f2' want the same links or pipelines"),
    ],
)  # fmt: skip
def test_demands_that_cannot_be_kept_are_refused_with_the_reason(flows, message: str):
    with pytest.raises(PointsmanError, match=re.escape(message)):
        guarantee(flow_set(4, *flows), make_problem(mesh(4), []), [[0, 1, 2, 3]])
