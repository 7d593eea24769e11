"""Workloads and traces of tt-npe."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pointsman.artifacts.flows.flows import FlowSet
from pointsman.artifacts.flows.readers.npe import from_npe_trace, from_npe_workload
from pointsman.errors import PointsmanError


def amounts(flows: FlowSet) -> dict[tuple[str, tuple[str, ...]], float]:
    names = [task.name for task in flows.tasks]
    return {(names[f.source], tuple(names[d] for d in f.destinations)): round(f.bandwidth, 6) for f in flows.flows}


def transfer(**more: Any) -> dict[str, Any]:
    return {"packet_size": 10, "num_packets": 2, "src_x": 0, "src_y": 0, "noc_type": "NOC_0"} | more


def workload(*transfers: dict[str, Any]) -> bytes:
    return json.dumps({"phases": [{"transfers": [one]} for one in transfers], "golden_result": {"cycles": 4}}).encode()


CORNERS = {"mcast_start_x": 1, "mcast_start_y": 1, "mcast_end_x": 0, "mcast_end_y": 0}


def test_bytes_between_places_are_added_up_over_phases_and_multicasts_leave_out_their_sender() -> None:
    found = from_npe_workload(
        workload(
            transfer(dst_x=1, dst_y=0), transfer(dst_x=1, dst_y=0), transfer(**CORNERS), transfer(dst_x=0, dst_y=0)
        )
    )
    assert amounts(found) == {("0,0", ("1,0",)): 0.666667, ("0,0", ("1,0", "0,1", "1,1")): 0.333333}


EVENT = {"proc": "B", "noc": "NOC_0", "sx": 1, "sy": 1, "dx": 2, "dy": 0, "num_bytes": 64, "type": "WRITE_"}


def trace(*events: dict[str, Any]) -> list[str]:
    return ["[\n", *(f"{',' if k else ''}{json.dumps(EVENT | one)}\n" for k, one in enumerate(events)), "]\n"]


def test_a_read_brings_bytes_from_the_place_that_is_read() -> None:
    found = from_npe_trace(
        trace({}, {"type": "READ"}, {"type": "READ_BARRIER_START", "dx": -1}, {"type": "SEMAPHORE_INC"}, {"zone": "x"})
    )
    assert amounts(found) == {("1,1", ("2,0",)): 1.0, ("2,0", ("1,1",)): 1.0}


def test_a_trace_on_one_line_each_with_brackets_is_read() -> None:
    assert len(from_npe_trace([f"[{json.dumps(EVENT)}]"]).flows) == 1


@pytest.mark.parametrize(
    ("event", "told"),
    [
        ({"type": "TELEPORT"}, "line 3: an event of type 'TELEPORT' is not known"),
        ({"type": 5}, "line 3: an event must have a type"),
        ({"dx": -1}, "line 3: dx and dy must be coordinates from 0 on, not -1 and 0"),
        ({"type": "WRITE_MULTICAST"}, "line 3: a transfer must have a destination, or the corners of a multicast"),
        ({"type": "WRITE_MULTICAST", **CORNERS, "mcast_end_x": 5000}, "at most 4096 places"),
        ({"fabric_send": {}}, "line 3: events between chips are not known here"),
        ({"num_bytes": -3}, "line 3: num_bytes must be 0 or more, not -3"),
    ],
)
def test_what_is_not_known_is_refused_with_its_line(event: dict[str, Any], told: str) -> None:
    with pytest.raises(PointsmanError, match=told):
        from_npe_trace(trace({}, event))


@pytest.mark.parametrize("line", ["{", "5", '{"type": "READ"} {"type": "READ"}'])
def test_a_line_that_is_no_event_is_refused(line: str) -> None:
    with pytest.raises(PointsmanError, match="line 1: an event must"):
        from_npe_trace([line])


def test_a_wrong_transfer_is_refused_with_its_place() -> None:
    with pytest.raises(PointsmanError, match=r"phases\[1\].transfers\[0\]: a transfer must have a destination"):
        from_npe_workload(workload(transfer(dst_x=1, dst_y=0), transfer()))
    with pytest.raises(PointsmanError, match=r"phases\[0\].transfers\[0\]: bytes must be 0 or more"):
        from_npe_workload(workload(transfer(dst_x=1, dst_y=0, packet_size=-1)))
    with pytest.raises(PointsmanError, match="phases"):
        from_npe_workload(b"{}")
