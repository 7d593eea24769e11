"""Workloads and traces of tt-npe."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest

from pointsman.artifacts.flows import demands
from pointsman.artifacts.flows.flows import FlowSet
from pointsman.artifacts.flows.readers.npe import from_npe_trace, from_npe_workload
from pointsman.errors import PointsmanError


def amounts(flows: FlowSet) -> dict[tuple[str, tuple[str, ...]], float]:
    names = [task.name for task in flows.tasks]
    return {(names[f.source], tuple(names[d] for d in f.destinations)): round(f.bandwidth, 6) for f in flows.flows}


def transfer(**more: Any) -> dict[str, Any]:
    return {"packet_size": 10, "num_packets": 2, "src_x": 0, "src_y": 0, "noc_type": "NOC_0"} | more


def workload(*transfers: dict[str, Any]) -> StringIO:
    phases = [{"transfers": [one]} for one in transfers]
    return StringIO(json.dumps({"name": "x", "phases": phases, "golden_result": {"cycles": 4}}))


CORNERS = {"mcast_start_x": 1, "mcast_start_y": 1, "mcast_end_x": 0, "mcast_end_y": 0}


def test_bytes_between_places_are_added_up_over_phases_and_multicasts_leave_out_their_sender() -> None:
    found = from_npe_workload(
        workload(
            transfer(dst_x=1, dst_y=0), transfer(dst_x=1, dst_y=0), transfer(**CORNERS), transfer(dst_x=0, dst_y=0)
        )
    )
    assert amounts(found) == {("0,0", ("1,0",)): 0.666667, ("0,0", ("1,0", "0,1", "1,1")): 0.333333}


EVENT = {"proc": "B", "noc": "NOC_0", "sx": 1, "sy": 1, "dx": 2, "dy": 0, "num_bytes": 64, "type": "WRITE_"}


def trace(*events: dict[str, Any]) -> StringIO:
    return StringIO("[\n" + "\n,".join(json.dumps(EVENT | one) for one in events) + "\n]\n")


def test_a_read_brings_bytes_from_the_place_that_is_read() -> None:
    found = from_npe_trace(
        trace({}, {"type": "READ"}, {"type": "READ_BARRIER_START", "dx": -1}, {"type": "SEMAPHORE_INC"}, {"zone": "x"})
    )
    assert amounts(found) == {("1,1", ("2,0",)): 1.0, ("2,0", ("1,1",)): 1.0}


def test_events_with_a_state_move_its_bytes_and_setting_it_moves_nothing() -> None:
    with_state = {"type": "READ_WITH_STATE", "dx": -1, "dy": -1, "num_bytes": 0}
    found = from_npe_trace(
        trace(
            {"type": "READ_SET_STATE"},
            {"type": "READ_SET_STATE", "proc": "N", "dx": 3},  # another processor of the core
            {"type": "WRITE_WITH_TRID_SET_STATE", "dx": 4, "num_bytes": 0},
            with_state,
            with_state | {"num_bytes": 32},
            {"type": "WRITE_WITH_STATE", "num_bytes": 128},
        )
    )
    assert amounts(found) == {("2,0", ("1,1",)): 1.0, ("1,1", ("4,0",)): 1.0}


@pytest.mark.parametrize("indent", [None, 4])
def test_a_trace_on_one_line_and_one_with_a_line_for_each_value_are_read(indent: int | None) -> None:
    assert len(from_npe_trace(StringIO(json.dumps([EVENT, EVENT], indent=indent))).flows) == 1


@pytest.mark.parametrize(
    ("event", "told"),
    [
        ({"type": "TELEPORT"}, "line 3: an event of type 'TELEPORT' is not known"),
        ({"type": 5}, "line 3: an event must have a type"),
        ({"dx": -1}, "line 3: dx and dy must be coordinates from 0 on, not -1 and 0"),
        ({"type": "WRITE_MULTICAST"}, "line 3: a transfer must have a destination, or the corners of a multicast"),
        ({"type": "WRITE_MULTICAST", **CORNERS, "mcast_end_x": 5000}, "at most 4096 places"),
        ({"fabric_send": {}}, "line 3: events between chips are not known here"),
        ({"src_device_id": 0, "dst_device_id": 1}, "line 3: events between chips are not known here"),
        ({"type": "READ_WITH_STATE"}, "line 3: there is no event before that sets the state for this READ_WITH_STATE"),
        ({"type": "WRITE_SET_STATE", "dx": None}, "line 3: dx and dy must be coordinates from 0 on, not None and 0"),
        ({"num_bytes": -3}, "line 3: num_bytes must be 0 to 9007199254740992, not -3"),
    ],
)
def test_what_is_not_known_is_refused_with_its_line(event: dict[str, Any], told: str) -> None:
    with pytest.raises(PointsmanError, match=told):
        from_npe_trace(trace({}, event))


def test_events_of_two_chips_are_refused_since_their_places_have_the_same_names() -> None:
    chips = [{"src_device_id": 3}, {"type": "READ_BARRIER_END"}, {"src_device_id": 3}, {"src_device_id": 4}]
    assert len(from_npe_trace(trace(*chips[:3])).flows) == 1
    with pytest.raises(PointsmanError, match="line 5: events must be of one chip, and here are 3 and 4"):
        from_npe_trace(trace(*chips))


def segment(device: int, start: tuple[int, int], **more: Any) -> dict[str, Any]:
    return {"device": device, "noc": "NOC_0", "segment_start_x": start[0], "segment_start_y": start[1], **more}


# From 1,1 of chip 3 over chip 5, which keeps a copy at 2,2, to 4,4 of chip 6; in the words of today and of before.
ACROSS = {
    "type": "FABRIC_UNICAST_WRITE",
    "src_device_id": 3,
    "dst_device_id": 6,
    "num_bytes": 64,
    "fabric_send": {
        "path": [
            segment(3, (1, 1), forward_x=9, forward_y=0),
            segment(5, (9, 6), forward_x=1, forward_y=0, local_writes=[{"dx": 2, "dy": 2, "num_bytes": 32}]),
            segment(6, (1, 0), segment_end_x=4, segment_end_y=4),
        ]
    },
}


def test_of_several_chips_the_part_of_one_is_read_with_what_passes_through_it() -> None:
    events = [{"src_device_id": 3}, {"src_device_id": 6, "num_bytes": 32}, ACROSS, ACROSS]
    own, other = amounts(from_npe_trace(trace({}), chip=0)), {("1,1", ("9,0",)): 1.0}
    (here,) = own
    found = amounts(from_npe_trace(trace(*events), chip=3))
    assert found.keys() == {here, *other}
    assert amounts(from_npe_trace(trace(*events), chip=5)) == {("9,6", ("1,0",)): 0.666667, ("9,6", ("2,2",)): 0.333333}
    found = amounts(from_npe_trace(trace(*events), chip=6))
    assert found[here] / found["1,0", ("4,4",)] == pytest.approx(32 / 128)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"fabric_send": {"eth_chan": 1}}, "a message between chips must have the path on which it goes"),
        ({"fabric_send": {"path": [{}]}}, "a segment of a path must have a device"),
        ({"fabric_send": {"path": [segment(3, (1, 1))]}}, "must have an end, forward or local_writes"),
        ({"fabric_send": {"path": [segment(3, (1, 1), local_writes=[5])]}}, "must be a list of writes"),
        ({"fabric_send": {"path": [segment(3, (1, -1), forward_x=1)]}}, "must be coordinates from 0 on, not 1 and -1"),
        ({"num_bytes": -1}, "num_bytes must be 0 to"),
    ],
)
def test_a_wrong_path_between_chips_is_refused_with_its_line(change: dict[str, Any], told: str) -> None:
    with pytest.raises(PointsmanError, match=f"line 2: .*{told}"):
        from_npe_trace(trace(ACROSS | change), chip=3)


def test_without_a_chip_it_is_said_that_one_may_be_taken() -> None:
    with pytest.raises(PointsmanError, match="line 2: events between chips") as told:
        from_npe_trace(trace(ACROSS))
    assert told.value.hint == "--chip takes the part of one chip, such as --chip 0"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{}", "line 1: a list must stand here"),
        ("[\n5]", r"line 2: \[0\]: Expected `object`, got `int`"),
        ('[{"zone": "a"}\n{"zone": "b"}]', r"line 2: a comma or \] must follow"),
        ('[{"zone": "a"},\n{"zone": "b"', r"line 2: \[1\]: this is no JSON: Expecting ',' delimiter"),
        ('[{"zone": "a"}]\n[]', "line 2: nothing may follow the end"),
        ("[]", "there must be 1 to 200000 flows"),
    ],
)
def test_a_trace_that_is_no_list_of_events_is_refused(text: str, told: str) -> None:
    with pytest.raises(PointsmanError, match=told):
        from_npe_trace(StringIO(text))


def test_a_wrong_transfer_is_refused_with_its_place() -> None:
    with pytest.raises(PointsmanError, match=r"phases\[1\].transfers\[0\]: a transfer must have a destination"):
        from_npe_workload(workload(transfer(dst_x=1, dst_y=0), transfer()))
    with pytest.raises(PointsmanError, match=r"phases\[0\].transfers\[0\]: bytes must be 0 to"):
        from_npe_workload(workload(transfer(dst_x=1, dst_y=0, packet_size=-1)))
    with pytest.raises(PointsmanError, match=r"phases\[0\].transfers\[0\]: Expected `int`, got `str` - at `\$.src_x`"):
        from_npe_workload(workload(transfer(dst_x=1, dst_y=0, src_x="0")))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{}", "line 1: a workload must have phases"),
        ('{"phases": [{}]}', r"line 1: phases\[0\]: a phase must have transfers"),
        ('{"phases": [],\n "phases": []}', "line 2: phases: a workload must have its phases once"),
        ('{"phases": {}}', "line 1: phases: a list must stand here"),
    ],
)
def test_a_workload_of_another_form_is_refused(text: str, told: str) -> None:
    with pytest.raises(PointsmanError, match=told):
        from_npe_workload(StringIO(text))


def test_more_flows_than_a_file_of_them_may_have_are_refused_where_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demands, "MAX_FLOWS", 2)
    with pytest.raises(PointsmanError, match=r"phases\[3\].transfers\[0\]: there must be at most 2 flows"):
        from_npe_workload(workload(*(transfer(dst_x=x, dst_y=0) for x in (1, 2, 2, 3))))
    with pytest.raises(PointsmanError, match="line 4: there must be at most 2 flows"):
        from_npe_trace(trace({}, {"dx": 3}, {"dx": 4}))
    monkeypatch.setattr(demands, "MAX_ENDS", 5)
    with pytest.raises(PointsmanError, match=r"line 3: all flows together must have at most 5 destinations"):
        from_npe_trace(trace(*({"type": "WRITE_MULTICAST", **CORNERS, "mcast_end_x": x} for x in (0, 2))))
