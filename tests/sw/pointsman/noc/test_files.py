"""Names of streams, the report, and that the texts depend on the timetable alone."""

from __future__ import annotations

import json

from pointsman.artifacts.flows.flows import Flow, FlowSet, Task
from pointsman.artifacts.routes.file import make_problem
from pointsman.network import mesh
from pointsman.noc.files import noc_files, stream_names
from pointsman.noc.search import guarantee

FLOWS = FlowSet(
    (Task("camera"), Task("Filter 2"), Task("c")),
    (
        Flow("Bild/Daten", 0, (1, 2), 0.1, 30.0),
        Flow("bild daten", 1, (2,), 0.1),
        Flow("→\nmodule | x", 2, (0,), 0.125),
    ),
)


def network():
    return guarantee(FLOWS, make_problem(mesh(3), []), [[0, 1, 2]])


def test_names_are_identifiers_and_each_is_there_once():
    assert stream_names(network()) == [
        ("s_axis_bild_daten", ("m_axis_bild_daten_at_filter_2", "m_axis_bild_daten_at_c")),
        ("s_axis_bild_daten_2", ("m_axis_bild_daten_2",)),
        ("s_axis_module_x", ("m_axis_module_x",)),
    ]


def test_files_are_the_same_every_time_and_the_report_has_every_flow():
    files = noc_files(network())
    assert files == noc_files(network())
    assert sorted(files) == ["noc.core", "noc.v", "report.json", "report.md", "test_noc.py"]
    report = json.loads(files["report.json"])
    assert report["places"] == {"camera": 0, "Filter 2": 1, "c": 2}
    for flow in report["flows"]:
        assert flow["guaranteed"] >= flow["demanded"]
        assert flow["limit"] is None or flow["worst_latency"] <= flow["limit"]
        for name in (flow["source"], *flow["destinations"]):
            assert f" {name}_tdata" in files["noc.v"]
    assert "//   ? module | x: 0.125 words a cycle" in files["noc.v"]
    assert "| ? module / x |" in files["report.md"]
    compile(files["test_noc.py"], "test_noc.py", "exec")
