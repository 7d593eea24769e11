"""Compiled connections with channels for others beside them."""

from __future__ import annotations

import json

import pytest

from pointsman.errors import PointsmanError
from pointsman.optical.compiled import Registers, run_compiled
from pointsman.optical.logical import logical
from pointsman.optical.mixed import run_mixed
from pointsman.optical.multihop import hop
from pointsman.optical.reservation import reserve
from pointsman.optical.run import logical_of, run_modes
from pointsman.optical.spec import read_spec

KNOWN = [[0, u, (u + 1) % 16, 4] for u in range(16)] + [[5, u, (u + 4) % 16, 2] for u in range(16)]
OTHERS = [[3, 2, 9, 3], [40, 7, 1, 1], [0, 5, 6, 2]]


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "spec.json"

    def made(beside, **content):
        content = {
            "network": {"kind": "torus", "size": [4, 4]},
            "degree": 4,
            "traffic": {"messages": KNOWN},
            "dynamic": {"traffic": {"messages": OTHERS}, **beside},
            **content,
        }
        path.write_text(json.dumps(content))
        return read_spec(path)

    return made


@pytest.mark.parametrize("registers", [None, 1])
def test_each_class_has_its_own_slots_of_the_frame(spec, registers):
    """Both parts are worked out again from slots alone: no slot of a frame carries both."""
    wanted = spec({"channels": 3}, compiled={"registers": registers, "load_slots": 3})
    found = run_mixed(wanted, None)
    compiled, kept = found.counts["compiled_channels"], found.counts["dynamic_channels"]
    frame = compiled + kept
    assert (found.counts["degree"], kept) == (frame, 3)
    assert compiled == (
        registers or run_compiled(wanted.fabric, wanted.phases[0].split(32)[0], Registers()).counts["degree"]
    )
    for message in range(len(found.traffic)):
        slots = {int(found.started[message]) % frame, int(found.done[message] - 1) % frame}
        assert len(slots) == 1
        assert (slots.pop() < compiled) == (message < 32)
        assert found.done[message] == found.started[message] + frame * (found.traffic.slots[message] - 1) + 1
    held = [row for row in found.timeline["held"] if row[5] is not None]
    assert {row[2] < compiled for row in held if row[3] < 32} == {True}
    assert {row[2] < compiled for row in held if row[3] >= 32} == {False}


def test_without_one_class_the_other_is_as_alone(spec):
    alone = spec({"channels": 3}, traffic={"messages": []})
    net, others = alone.fabric, alone.phases[0]
    assert run_mixed(alone, None).done.tolist() == reserve(net, 3, alone.scheme, others, seed=alone.seed).done.tolist()
    hops = spec({"by": "multihop"}, traffic={"messages": []}, logical="hypercube")
    topology = logical(net, "hypercube")
    assert run_mixed(hops, topology).done.tolist() == hop(topology, 1, others).done.tolist()


def test_others_may_hop(spec):
    wanted = spec({"by": "multihop"}, logical="torus", switch_slots=2)
    found = run_mixed(wanted, logical_of(wanted))
    assert found.delivered.all()
    frame, compiled = found.counts["degree"], found.counts["compiled_channels"]
    assert frame == compiled + 4
    hops = found.timeline["hops"]
    assert {row[6] % frame >= compiled for row in hops} == {True}
    assert {row[3] for row in hops} == {32, 33, 34}
    # Without others on the way: routers at both ends of each connection, and at most a frame for each.
    longest = max(len(wanted.fabric.way(u, v)) - 1 for _, u, v, _ in OTHERS)
    assert (found.delays[32:] <= 3 + (longest + 1) * (2 + frame) + 2 * frame).all()


def test_figures_are_given_for_either_class_in_every_mode(spec):
    found = run_modes(spec({}), ["reserve", "multihop", "compiled", "mixed"])
    for figures in found.values():
        classes = figures["classes"]
        assert {name: part["messages"] for name, part in classes.items()} == {"known": 32, "dynamic": 3}
        assert sum(part["delivered"] for part in classes.values()) == figures["delivered"] == 35
        assert max(part["slots"] for part in classes.values()) == figures["slots"]
        delays = [row[5] - row[0] for row in figures["messages"][32:]]
        assert classes["dynamic"]["delay"]["mean"] == pytest.approx(sum(delays) / 3, abs=1e-5)
    assert found["mixed"]["classes"]["known"]["delay"]["mean"] >= found["compiled"]["classes"]["known"]["delay"]["mean"]


@pytest.mark.parametrize(
    ("dynamic", "content", "message"),
    [
        ({"channels": 0}, {}, "dynamic.channels: there must be 1 to 64 for reservations, not 0"),
        ({"channels": 65}, {}, "not 65"),
        ({"by": "multihop", "channels": 3}, {}, "multihop takes as many channels as its logical topology needs"),
        (
            {},
            {"traffic": {"phases": [[], []]}},
            "dynamic: traffic that is not known beforehand may stand beside one phase, not",
        ),
        (
            {"traffic": {"phases": [[]]}},
            {},
            'dynamic.traffic: traffic that is not known beforehand must have no "phases"',
        ),
        (
            {"traffic": {"messages": [[0, 1, 1, 1]]}},
            {},
            r"dynamic.traffic.messages\[0\]: a message must join two nodes",
        ),
        ({"by": "chance"}, {}, "Invalid enum value 'chance'"),
    ],
)
def test_wrong_files_are_refused(spec, dynamic, content, message):
    with pytest.raises(PointsmanError, match=message):
        spec(dynamic, **content)


def test_the_mode_is_for_traffic_that_is_not_known(spec):
    with pytest.raises(PointsmanError, match=r'mode mixed is for files with "dynamic", .* and this one has none'):
        run_modes(spec({}, dynamic=None), ["mixed"])
