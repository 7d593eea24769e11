"""Traffic flows of VTR, and what is wrong with them."""

from __future__ import annotations

from io import BytesIO

import pytest

from pointsman.artifacts.flows.readers.vtr import from_vtr
from pointsman.errors import PointsmanError

FLOWS = r"""<traffic_flows>
 <single_flow src="noc_router_one\[0\]" dst=".*two" bandwidth="8e8" latency_cons="3e-8"/>
 <single_flow src=".*two" dst="noc_router_one\[0\]" bandwidth="4e8" priority="2"/>
</traffic_flows>
"""


def read(text, **options):
    return from_vtr(BytesIO(text.encode()), **({"clock": 1e9, "word_bytes": 4} | options))


def test_seconds_and_bytes_become_cycles_and_words():
    flows = read(FLOWS)
    assert [task.name for task in flows.tasks] == ["noc_router_one[0]", "two"]
    assert [(f.source, f.destinations, f.bandwidth) for f in flows.flows] == [(0, (1,), 0.2), (1, (0,), 0.1)]
    assert flows.flows[0].latency == pytest.approx(30)
    assert flows.flows[1].latency is None


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 1 << 16])
def test_comments_with_dashes_are_passed_over_wherever_a_piece_ends(size, monkeypatch):
    monkeypatch.setattr("pointsman.artifacts.flows.readers.vtr.CHUNK", size)
    text = FLOWS.replace("<traffic_flows>", "<!-- a --fix\n <single_flow> ---->\n<traffic_flows><!---->").replace(
        "</traffic_flows>", "<!-- end\n--></traffic_flows>"
    )
    assert read(text) == read(FLOWS)
    with pytest.raises(PointsmanError, match="line 6: a flow must have bandwidth"):
        read(text.replace(' bandwidth="4e8"', "").replace("<traffic_flows>", "<traffic_flows>\n"))
    with pytest.raises(PointsmanError, match="this is no XML"):
        read(text + "<!-- open")


@pytest.mark.parametrize("pattern", [r"^a:b\|out\[0\]~reg0$", r"a:b\|out\[0\]~reg0$", r"^.*a:b\|out\[0\]~reg0.*$"])
def test_where_a_name_begins_and_ends_is_no_part_of_it(pattern):
    flows = read(f'<traffic_flows><single_flow src="{pattern}" dst="cost\\$" bandwidth="4e8"/></traffic_flows>')
    assert [task.name for task in flows.tasks] == ["a:b|out[0]~reg0", "cost$"]


@pytest.mark.parametrize("pattern", [r".*block_1[^\d].*", ".*block_1[^0-9].*", r"block_1[^\d]", "block_1"])
def test_the_end_of_a_number_is_no_part_of_the_name(pattern):
    flows = read(f'<traffic_flows><single_flow src="{pattern}" dst=".*block_10" bandwidth="4e8"/></traffic_flows>')
    assert [task.name for task in flows.tasks] == ["block_1", "block_10"]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("<traffic_flows>", "<flows>", "line 1: a file of flows must begin with <traffic_flows>, not <flows>"),
        ('priority="2"', 'colour="2"', "line 3: colour is not known; known are"),
        ('bandwidth="4e8"', "", "line 3: a flow must have bandwidth"),
        ('"3e-8"', '"9e299"', "line 2: bandwidth or latency_cons is beyond numbers in words a cycle and cycles"),
        ('bandwidth="4e8"', 'bandwidth="5e-324"', "line 3: bandwidth or latency_cons is beyond numbers"),
        ('bandwidth="4e8"', 'bandwidth="-1"', "line 3: bandwidth must be a number above 0, not '-1'"),
        ('bandwidth="4e8"', 'bandwidth="4_0"', "line 3: bandwidth must be a number above 0, not '4_0'"),
        ('bandwidth="4e8"', 'bandwidth="8e9"', "line 3: 8e9 bytes a second are 2 words a cycle"),
        ('dst=".*two"', 'dst=".*t(w)o"', "line 2: '.*t(w)o' stands for several routers"),
        ('dst=".*two"', r'dst="noc_router_one\[0\]"', "line 2: a flow must go to another router"),
        ("</traffic_flows>", "", "this is no XML"),
        ("<traffic_flows>", '<!DOCTYPE a [<!ENTITY b "c">]><traffic_flows>', "line 1: entities are not read"),
        ("</traffic_flows>", "<x/></traffic_flows>", "line 4: <x> is not known here"),
    ],
)
def test_what_is_wrong_is_refused_by_line(old, new, line):
    with pytest.raises(PointsmanError) as error:
        read(FLOWS.replace(old, new))
    assert line in str(error.value)


@pytest.mark.parametrize(("seconds", "cycles"), [("3e-8", 30.0), ("2.9e-8", 29.0), ("7e-9", 7.0), ("0.55e-8", 5.5)])
def test_a_limit_is_as_many_cycles_as_is_written(seconds: str, cycles: float) -> None:
    """As floats 3e-8 times 1e9 are a little less than 30, so that a word that takes 30 cycles would be late."""
    assert read(FLOWS.replace('"3e-8"', f'"{seconds}"')).flows[0].latency == cycles
