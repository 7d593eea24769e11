"""The file of flows, and what is wrong with it."""

from __future__ import annotations

import json
from random import Random

import pytest

from pointsman.artifacts.flows.file import flows_bytes, read_flows
from pointsman.artifacts.flows.flows import Flow, FlowSet, Task
from pointsman.errors import PointsmanError

GOOD = {"task": [{"name": "m", "at": 2}], "flow": [{"from": "a", "to": ["b", "m"], "bandwidth": 0.5, "latency": 9}]}


def test_toml_and_json_say_the_same(tmp_path):
    (tmp_path / "f.json").write_text(json.dumps(GOOD))
    (tmp_path / "f.toml").write_text(
        '[[task]]\nname = "m"\nat = 2\n[[flow]]\nfrom = "a"\nto = ["b", "m"]\nbandwidth = 0.5\nlatency = 9\n'
    )
    found = read_flows(tmp_path / "f.json")
    assert found == read_flows(tmp_path / "f.toml")
    assert [(task.name, task.at) for task in found.tasks] == [("m", 2), ("a", None), ("b", None)]
    (flow,) = found.flows
    assert (flow.name, flow.source, flow.destinations, flow.bandwidth, flow.latency) == ("a to b, m", 1, (2, 0), 0.5, 9)


@pytest.mark.parametrize(
    ("flow", "line"),
    [
        ({"bandwidth": -1}, "flow[0].bandwidth: words a cycle must be 0 (best effort) to 1, not -1"),
        ({"bandwidth": 2}, "flow[0].bandwidth: words a cycle must be 0 (best effort) to 1, not 2"),
        ({"bandwidth": 0, "latency": 9}, "flow[0].latency: a flow of best effort (bandwidth 0) is promised nothing"),
        ({"latency": 0}, "flow[0].latency: cycles must be above 0, not 0"),
        ({"to": []}, "flow[0].to: a flow must have a destination"),
        ({"to": "a"}, "flow[0].to: a flow must go to other tasks, each named once"),
        ({"to": 3}, "Expected `str | array`, got `int` - at `$.flow[0].to`"),
        ({"color": 3}, "unknown field `color` - at `$.flow[0]`"),
    ],
)
def test_a_wrong_flow_is_named(flow, line, tmp_path):
    path = tmp_path / "f.json"
    path.write_text(json.dumps({"flow": [{"from": "a", "to": "b", "bandwidth": 0.5} | flow]}))
    with pytest.raises(PointsmanError) as error:
        read_flows(path)
    assert line in str(error.value)
    assert "docs/placement.md" in str(error.value)


@pytest.mark.parametrize("limit", ["inf", "nan"])
def test_a_limit_that_is_no_number_is_refused_with_what_to_do(limit, tmp_path):
    path = tmp_path / "f.toml"
    path.write_text(f'[[flow]]\nfrom = "a"\nto = "b"\nbandwidth = 0.5\nlatency = {limit}\n')
    with pytest.raises(PointsmanError, match=f"cycles must be a finite number, not {limit}") as error:
        read_flows(path)
    assert error.value.hint == "a flow without a limit has no latency"


@pytest.mark.parametrize(
    ("tasks", "line"),
    [
        ([("a", None), ("a", None)], "task[1].name: a task must be named once"),
        ([("a", 1), ("b", 1)], "task[1].at: node 1 has the task 'a' already"),
        ([("a", -1)], "task[0].at: a node must be 0 or more, not -1"),
    ],
)
def test_a_wrong_task_is_named(tasks, line, tmp_path):
    path = tmp_path / "f.json"
    path.write_text(json.dumps({"flow": [], "task": [{"name": name, "at": at} for name, at in tasks]}))
    with pytest.raises(PointsmanError) as error:
        read_flows(path)
    assert line in str(error.value)


def test_flows_with_the_same_name_get_names_of_their_own(tmp_path):
    names = ["x (2)", "x", "x", "x", "x (2)"]
    flows = [{"from": "a", "to": "b", "bandwidth": 0.1, "name": name} for name in names]
    (tmp_path / "f.json").write_text(json.dumps({"flow": flows}))
    found = [flow.name for flow in read_flows(tmp_path / "f.json").flows]
    assert found == ["x (2)", "x", "x (3)", "x (4)", "x (2) (4)"]


def test_broken_text_is_refused(tmp_path):
    for name, text in (("f.toml", "[[flow"), ("f.json", "{"), ("g.json", "[" * 9999)):
        (tmp_path / name).write_text(text)
        with pytest.raises(PointsmanError, match=name):
            read_flows(tmp_path / name)


def test_what_is_written_of_random_flows_is_read_again(tmp_path):
    random, path = Random(6), tmp_path / "f.json"
    for _ in range(100):
        count = random.randrange(2, 20)
        names = random.sample(
            ["a b", "", "->", '"', "\\", "\n", "é", "\U0001f600", "#", "0", *map(str, range(1, 20))], count
        )
        nodes = random.sample(range(1000), count)
        tasks = tuple(Task(name, at if random.random() < 0.5 else None) for name, at in zip(names, nodes, strict=True))
        flows = []
        for k in range(random.randrange(0, 30)):
            source, *ends = random.sample(range(count), random.randrange(2, min(count, 6) + 1))
            bandwidth = random.choice([0.0, 1.0, random.random(), random.random() * 1e-300])
            latency = random.choice([None, random.random() * 1e6]) if bandwidth else None
            flows.append(Flow(f"{k} \n to", source, tuple(ends), bandwidth, latency))
        made = FlowSet(tasks, tuple(flows))
        path.write_bytes(flows_bytes(made))
        assert read_flows(path) == made
