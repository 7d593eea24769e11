"""Communication of Poseidon, and what is wrong with it."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest

from pointsman.artifacts.flows.readers.poseidon import from_poseidon
from pointsman.errors import PointsmanError

EXAMPLE = Path(__file__).parents[6] / "examples/formats/poseidon.xml"


def read(text):
    return from_poseidon(BytesIO(text.encode()))


def test_the_example_has_places_and_bandwidths():
    flows = read(EXAMPLE.read_text())
    assert {task.name: task.at for task in flows.tasks} == {"(0,0)": 0, "(1,0)": 1, "(1,1)": 4, "(2,1)": 5}
    found = {(f.source, f.destinations): f.bandwidth for f in flows.flows}
    names = [task.name for task in flows.tasks]
    ends = {(names[a], names[b]): rate for (a, (b,)), rate in found.items()}
    # 6 packets of 2 phits and 4 of 2 come to (1,1): its port is busy all the time.
    assert ends["(0,0)", "(1,1)"] == pytest.approx(0.6)
    assert ends["(2,1)", "(1,1)"] == pytest.approx(0.4)
    assert ends["(1,0)", "(2,1)"] == pytest.approx(0.15)


def test_all_exchange_with_all_on_the_platform():
    flows = read('<platform width="2" height="2"/>\n<communication type="all2all" phits="3"/>')
    assert len(flows.tasks) == 4
    assert len(flows.flows) == 12
    assert [flow.bandwidth for flow in flows.flows] == pytest.approx([1 / 3] * 12)


def test_channels_without_a_platform_have_no_nodes_and_those_alike_add_up():
    channel = '<channel from="(3,0)" to="(0,0)"/>'
    flows = read(
        f'<communication comType="custom">{channel}{channel}<channel from="(0,0)" to="(3,0)"/></communication>'
    )
    assert [task.at for task in flows.tasks] == [None, None]
    assert [flow.bandwidth for flow in flows.flows] == [1.0, 0.5]


def test_older_files_say_the_same_by_other_names():
    """As those in test/ and data/ of Poseidon's repository."""
    text = EXAMPLE.read_text().replace(' phits="2"', "").replace(' phits="3"', "")
    older = (
        text.replace("<topology", "<graph")
        .replace("</topology", "</graph")
        .replace("platform", "topology")
        .replace("communication", "channels")
        .replace("custom", "arbitrary")
        .replace("response", "repsonse")
    )
    assert older.count("channels") == 2
    assert older.count("topology") == 2
    assert older.count("repsonse") == 1
    assert read(older) == read(text) == read(older.replace(' type="arbitrary"', ""))
    every = '<topology width="2" height="2"><graph type="bitorus"/></topology>'
    assert len(read(every + '<channels type="all2all"/>').flows) == 12
    with pytest.raises(PointsmanError, match="line 6: channels with responses are not read"):
        read(older.replace('repsonse="false"', 'repsonse="true"'))


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("<communication", "<traffic", "line 5: <traffic> is not known outermost; known are"),
        ("</communication>", "", "this is no XML"),
        ('type="custom" ', 'type="ring" ', "line 5: a communication must have the type custom or all2all, not 'ring'"),
        ('type="custom" ', "", "line 5: a communication must have the type custom or all2all, not None"),
        ('type="custom"', 'type="custom" reconfig="(0,0)"', "line 5: reconfig is not known; known are"),
        ('to="(1,1)"', 'to="(1,7)"', "line 6: to: there is no router (1,7) in 3x2"),
        ('to="(1,1)"', 'to="one"', "line 6: to must be a router such as (0,1), not 'one'"),
        ('to="(1,1)"', 'to="(0,0)"', "line 6: a channel must go to another router"),
        ('bandwidth="6"', 'bandwidth="0"', "line 6: bandwidth must be a whole number of 1 to"),
        ('response="false"', 'response="true"', "line 6: channels with responses are not read"),
        ('response="false"', 'response-delay="2"', "line 6: response-delay is not known"),
        ("</communication>", "<x/></communication>", "line 9: <x> is not known in <communication>"),
        ("</communication>", '</communication><communication type="custom"/>', "line 9: a file must have one"),
        ('width="3"', 'width="x"', "line 2: width must be a whole number"),
    ],
)
def test_what_is_wrong_is_refused_by_line(old, new, line):
    text = EXAMPLE.read_text()
    assert old in text
    with pytest.raises(PointsmanError) as error:
        read(text.replace(old, new, 1))
    assert line in str(error.value)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "a file must have a <communication>"),
        ('<platform width="2" height="2"/>', "a file must have a <communication>"),
        ('<communication type="all2all"/>', "an exchange of all with all needs the <platform>"),
        ('<platform width="99" height="99"/><communication type="all2all"/>', "at most 400 routers"),
        ('<communication type="custom"></communication>', "there must be 1 to"),
        ('<communication type="custom">', "this is no XML"),
        ("</poseidon>", "this is no XML"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><communication type="custom"/>', "this is no XML"),
    ],
)
def test_what_has_no_flows_is_refused(text, line):
    with pytest.raises(PointsmanError) as error:
        read(text)
    assert line in str(error.value)


def test_a_delay_of_a_response_is_refused_with_what_to_do():
    with pytest.raises(PointsmanError) as error:
        read(EXAMPLE.read_text().replace('response="false"', 'response="true" response-delay="2"', 1))
    assert error.value.hint == "give the way back a channel of its own"
