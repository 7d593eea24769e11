"""``pointsman place`` as a user calls it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from click.testing import CliRunner

from pointsman.cli import main

EXAMPLE = Path(__file__).parents[5] / "examples/flows/decoder.toml"


def call(*words):
    return CliRunner().invoke(main, [*map(str, words)])


def test_the_example_holds_and_its_streams_can_be_routed(tmp_path):
    streams, report = tmp_path / "streams.json", tmp_path / "report.json"
    done = call("place", EXAMPLE, "--mesh", "3x3", "--router", "ideal", "-o", streams, "--json", report)
    assert done.exit_code == 0, done.output
    assert "6 tasks, 7 flows, 0 failing" in done.output
    told = json.loads(report.read_text())
    assert told["places"]["memory"] == 0
    check_timetable(told, tomllib.loads(EXAMPLE.read_text())["flow"])
    routed = call("route", streams, "--router", "ideal")
    assert routed.exit_code == 0, routed.output


def check_timetable(told, flows):
    """Follow every word through the ideal model: links and ports carry one a slot, and the worst latencies are those told."""
    period, used = told["period"], []
    for flow, asked in zip(told["flows"], flows, strict=True):
        to = asked["to"] if isinstance(asked["to"], list) else [asked["to"]]
        stream = told["streams"][flow["stream"]]
        assert stream["source"] == told["places"][asked["from"]]
        assert len(stream["words"]) / period == stream["bandwidth"] == flow["given"]
        begun = {}
        for word in stream["words"]:
            (_, start, at, *_), *moves = word
            come, ends = {at: start}, {}
            used.append(("in", at, start % period))
            for before, slot, after, *_ in moves:
                assert (come[before] - slot) % period == 0
                if after is None:
                    ends[before] = come[before]
                else:
                    come[after] = come[before] + 1
                used.append((before, after, slot % period))
            assert sorted(ends) == sorted(told["places"][name] for name in to)
            begun[start % period] = max(ends.values()) - start
        starts = sorted(begun)
        pauses = [now - last for last, now in zip([starts[-1] - period, *starts], starts, strict=False)]
        assert flow["worst_latency"] == max(pause + begun[now] for pause, now in zip(pauses, starts, strict=True))
    assert len(used) == len(set(used))


def test_flows_that_fail_are_told_and_the_status_is_1(tmp_path):
    path = tmp_path / "flows.toml"
    flow = '[[flow]]\nfrom = "{}"\nto = "b"\nbandwidth = 0.5\n'
    path.write_text(flow.format("a") + "latency = 2\n" + flow.format("c"))
    done = call("place", path, "--mesh", "3", "--router", "ideal", "--failing")
    assert done.exit_code == 1
    assert "a to b" in done.output
    assert "c to b" not in done.output
    assert "1 failing" in done.output


def test_a_wrong_file_is_refused_and_nothing_is_written(tmp_path):
    path, out = tmp_path / "flows.toml", tmp_path / "out.json"
    path.write_text('[[flow]]\nfrom = "a"\nto = "b"\nbandwidth = 7\n')
    done = call("place", path, "--mesh", "3", "-o", out)
    assert done.exit_code == 2
    assert "flow[0].bandwidth" in done.output
    assert not out.exists()


def test_best_effort_is_told_beside_what_is_promised(tmp_path):
    path, report = tmp_path / "flows.toml", tmp_path / "report.json"
    flow = '[[flow]]\nfrom = "{}"\nto = "b"\nbandwidth = {}\n'
    path.write_text(flow.format("a", 0.75) + "latency = 9\n" + flow.format("c", 0))
    done = call("place", path, "--mesh", "3", "--router", "ideal", "--json", report)
    assert done.exit_code == 0, done.output
    assert "best effort" in done.output
    assert "least slack" in done.output
    told = json.loads(report.read_text())
    assert [flow["demanded"] for flow in told["flows"]] == [0.75, 0]
    assert told["flows"][1]["given"] == 0.25
    assert told["least_slack"] >= 0


def test_tasks_that_demand_more_than_a_processor_can_move_are_told(tmp_path):
    path, report = tmp_path / "flows.toml", tmp_path / "report.json"
    flow = '[[flow]]\nfrom = "a"\nto = "{}"\nbandwidth = {}\n'
    path.write_text(flow.format("b", 0.8) + flow.format("c", 0.8))
    done = call("place", path, "--mesh", "3", "--json", report)
    assert done.exit_code == 0, done.output
    assert (
        "flows of task 'a', a processor has not: it would make 1.6 accesses a cycle at its port, which makes one"
        in done.output
    )
    assert json.loads(report.read_text())["busiest_port"] == 1.6
    assert "accesses" not in call("place", path, "--mesh", "3", "--router", "ideal").output
    path.write_text(flow.format("b", 0.5) + flow.format("c", 0.5))
    assert "accesses" not in call("place", path, "--mesh", "3").output
