"""Stages of a compilation as plain values: against the plan that they tell of."""

from __future__ import annotations

import json

from pointsman.plan.plan import Plan
from pointsman.report.stages import images_json, plan_json, routes_json
from pointsman.targets.numesh import make_images


def test_a_plan_is_told_with_all_its_operators_once(small_plan: Plan) -> None:
    told = json.loads(json.dumps(plan_json(small_plan)))
    assert told["network"] == {"kind": "mesh", "size": [3]}
    assert (told["period"], told["predicted_cycles"]) == (small_plan.period, small_plan.cycles)
    labels = [one["label"] for phase in told["phases"] for one in phase["operators"]]
    assert sorted(labels) == sorted(one.label for one in small_plan.program.operators())
    for phase in told["phases"]:
        assert all(0 <= other < len(told["phases"]) for other in phase["successors"]), "the end is not a phase"
        assert (phase["barrier"] is not None) == (phase["technique"] in ("barrier", "hijack"))


def test_run_time_values_and_delays_are_told_by_operator_and_node(small_plan: Plan) -> None:
    told = plan_json(small_plan)
    by_label = {one["label"]: one for phase in told["phases"] for one in phase["operators"]}
    assert by_label["b"]["values"] == [[0], [1], [2]]
    assert by_label["c"]["values"] == [[]]
    for one in by_label.values():
        assert set(one["delays"]) <= {"0", "1", "2"}


def test_chains_of_a_stream_lead_from_its_source_to_its_destinations(small_plan: Plan) -> None:
    told = json.loads(json.dumps(routes_json(small_plan)))
    chains = 0
    for phase in told["phases"]:
        for stream in phase["streams"]:
            for chain in stream["chains"]:
                nodes = [vfsm["node"] for vfsm in chain]
                assert nodes[0] == stream["source"]
                assert set(stream["destinations"]) <= set(nodes)
                assert all(0 <= slot < told["period"] for vfsm in chain for slot in vfsm["slots"])
                assert all(vfsm["vfsm"] >= 2 for vfsm in chain), "0 and 1 are not given out"
                chains += 1
            assert 0 < stream["bandwidth"] <= 1
    assert chains > 2


def test_no_vfsm_of_a_phase_has_the_slot_of_another_one_of_its_pipeline(small_plan: Plan) -> None:
    for phase in routes_json(small_plan)["phases"]:
        taken = [
            (vfsm["node"], vfsm["pipeline"], slot)
            for stream in phase["streams"]
            for chain in stream["chains"]
            for vfsm in chain
            for slot in vfsm["slots"]
        ]
        assert len(set(taken)) == len(taken)


def test_images_are_told_whole(small_plan: Plan) -> None:
    images = make_images(small_plan)
    told = json.loads(json.dumps(images_json(images)))
    assert len(told["nodes"]) == 3
    assert [one["label"] for one in told["operators"]] == [one.label for one in images.operators]
    assert told["topology"]["size"] == [3]
