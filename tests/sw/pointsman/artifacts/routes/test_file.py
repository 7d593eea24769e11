"""Reading streams files, good and hostile."""

from __future__ import annotations

import json

import msgspec
import networkx as nx
import pytest

from pointsman.artifacts.routes.file import (
    RouteProblem,
    RouteResult,
    RouteStream,
    make_problem,
    problem_from_graph,
    read_problem,
    result_bytes,
)
from pointsman.errors import PointsmanError
from pointsman.network import mesh, torus

GOOD = {
    "topology": {"kind": "mesh", "size": [3, 2]},
    "streams": [{"source": 0, "destinations": [5]}, {"source": 1, "destinations": [0, 2], "weight": 2, "words": 3}],
    "faults": {"nodes": [], "links": [[1, 4]]},
    "shape": {"pipelines": 1, "vfsms": 16},
}


def write(tmp_path, entry) -> RouteProblem:
    path = tmp_path / "streams.json"
    path.write_text(entry if isinstance(entry, str) else json.dumps(entry))
    return read_problem(path)


def with_(**changes):
    return {**GOOD, **changes}


def streams(**changes):
    return with_(streams=[{"source": 0, "destinations": [5], **changes}])


def test_a_good_file_is_read_whole(tmp_path):
    problem = write(tmp_path, GOOD)
    assert problem.nodes == 6
    assert problem.streams == (RouteStream(0, (5,)), RouteStream(1, (0, 2), 2.0, 3))
    assert (problem.shape.pipelines, problem.shape.vfsms, problem.shape.schedule_depth) == (1, 16, 128)
    assert (1, 4) not in problem.links
    assert (4, 1) in problem.links
    assert not problem.buffers


def test_links_of_a_graph_are_directed(tmp_path):
    topology = {"kind": "graph", "nodes": 3, "links": [[0, 1], [1, 2], [2, 0], [0, 2]]}
    problem = write(tmp_path, with_(topology=topology, streams=[{"source": 1, "destinations": [0]}], faults={}))
    assert problem.links == ((0, 1), (0, 2), (1, 2), (2, 0))
    assert problem.dead_links == {(1, 0), (2, 1)}


def test_a_ring_of_two_has_one_link_each_way():
    problem = make_problem(torus(2, 2), [RouteStream(0, (3,))])
    assert len(problem.links) == 8


@pytest.mark.parametrize("size", [[4], [3, 5], [2, 3, 4], [1], [1, 1, 1]])
@pytest.mark.parametrize("kind", ["mesh", "torus"])
def test_links_are_neighbour_pairs_in_both_directions(tmp_path, kind, size):
    problem = write(tmp_path, {"topology": {"kind": kind, "size": size}, "streams": []})
    graph = nx.grid_graph(dim=size[::-1], periodic=kind == "torus")
    # Our numbers run x fastest; networkx gives coordinates in the order of the reversed dim.
    number = {
        node: sum(at * stride for at, stride in zip(reference(node), strides(size), strict=True)) for node in graph
    }
    expected = {(number[a], number[b]) for a, b in graph.edges if a != b}
    assert set(problem.links) == expected | {(b, a) for a, b in expected}


def reference(node):
    return node if isinstance(node, tuple) else (node,)


def strides(size):
    strides, stride = [], 1
    for extent in size:
        strides.append(stride)
        stride *= extent
    return strides


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("", "Input data was truncated"),
        ("[1, 2]", "Expected `object`, got `array`"),
        ("[" * 5000, "."),
        ("{}", "Object missing required field `topology`"),
        (with_(colour="red"), "unknown field `colour`"),
        (with_(topology={"kind": "ring", "size": [3]}), r"Invalid enum value 'ring' - at `\$.topology.kind`"),
        (with_(topology={"kind": "mesh"}), 'a mesh must have "size"'),
        (with_(topology={"kind": "mesh", "size": []}), "."),
        (with_(topology={"kind": "mesh", "size": [0, 4]}), "a network must have 1 to 4096 nodes"),
        (with_(topology={"kind": "mesh", "size": [4096, 4096]}), "a network must have 1 to 4096 nodes"),
        (with_(topology={"kind": "mesh", "size": [1] * 500}), "."),
        (with_(topology={"kind": "mesh", "size": [2, -2]}), "a network must have 1 to 4096 nodes"),
        (with_(topology={"kind": "mesh", "size": [2.5, 2]}), "Expected `int`, got `float`"),
        (with_(topology={"kind": "mesh", "size": [10**30]}), "."),
        (with_(topology={"kind": "graph", "nodes": 3}), 'a graph must have "nodes" and "links"'),
        (with_(topology={"kind": "graph", "nodes": 10**9, "links": []}), "a network must have 1 to 4096 nodes"),
        (
            with_(topology={"kind": "graph", "nodes": 6, "links": [[0, 6]]}),
            r"links\[0\]: a node must be one of 0..5, not 6",
        ),
        (with_(topology={"kind": "graph", "nodes": 6, "links": [[2, 2]]}), "must join two different nodes"),
        (
            with_(topology={"kind": "graph", "nodes": 6, "links": [[0, 1], [0, 1]]}),
            r"links\[1\]: a link must be named once",
        ),
        (with_(topology={"kind": "graph", "nodes": 6, "links": [[0, 1, 2]]}), "Expected `array` of length 2"),
        (with_(topology={"kind": "diamond", "size": [3, 3]}), "a diamond lattice must have one number"),
        (with_(faults={"nodes": [6]}), r"faults.nodes\[0\]: a node must be one of 0..5, not 6"),
        (with_(faults={"links": [[0, 5]]}), r"must be a link of the network, not 0 -> 5"),
        (with_(faults={"nodes": [5]}), "node 5 is faulty"),
        (with_(faults={"links": [[2, 5], [4, 5]]}), "there is no way from node 0 to node 5"),
        (streams(source=6), r"streams\[0\].source: a node must be one of 0..5, not 6"),
        (streams(source=-1), "a node must be one of 0..5, not -1"),
        (streams(source="0"), "Expected `int`, got `str`"),
        (streams(source=True), "Expected `int`, got `bool`"),
        (streams(destinations=[]), r"streams\[0\]: a stream must have a destination"),
        (streams(destinations=[5, 5]), "each destination must be named once"),
        (streams(destinations=[0]), "a stream must go to other nodes, not to its source 0"),
        (streams(destinations=5), "Expected `array`, got `int`"),
        (streams(words=-1), "words must be 1 to 1000000, not -1"),
        (streams(words=0), "words must be 1 to 1000000, not 0"),
        (streams(words=10**7), "words must be 1 to 1000000"),
        (streams(words=1.5), "Expected `int`, got `float`"),
        (streams(weight=0), "a weight must be 0.0001 to 1,000,000, not 0"),
        (streams(weight=-2.0), "a weight must be 0.0001 to 1,000,000, not -2"),
        (streams(weight=2**64), "a weight must be 0.0001 to 1,000,000, not 1.84467e.19"),
        (with_(shape={"pipelines": 0}), "pipelines must be 1 to 16, not 0"),
        (with_(shape={"vfsms": 33}), "a power of two"),
        (with_(buffers="yes"), "Expected `bool`, got `str`"),
    ],
)
def test_a_hostile_file_is_refused_with_its_place(tmp_path, entry, message):
    with pytest.raises(PointsmanError, match=message) as caught:
        write(tmp_path, entry)
    assert "streams.json" in str(caught.value)


def test_infinite_weights_are_refused(tmp_path):
    text = json.dumps(streams(weight=7.5)).replace("7.5", "1e999")
    with pytest.raises(PointsmanError):
        write(tmp_path, text)


def test_too_many_words_together_are_refused():
    with pytest.raises(PointsmanError, match=r"at most 1000000 words a period, not 1200000"):
        make_problem(mesh(2, 2), [RouteStream(0, (1,), words=600_000), RouteStream(1, (0,), words=600_000)])


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path):
    with pytest.raises(PointsmanError, match="cannot read"):
        read_problem(tmp_path / "nothing.json")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe")
    with pytest.raises(PointsmanError, match="no UTF-8 text"):
        read_problem(tmp_path / "bytes.json")


def test_networkx_graphs_are_taken():
    undirected = problem_from_graph(nx.cycle_graph(4), [{"source": 0, "destinations": [2]}])
    assert len(undirected.links) == 8
    directed = problem_from_graph(nx.cycle_graph(4, create_using=nx.DiGraph), [RouteStream(1, (0,))])
    assert directed.links == ((0, 1), (1, 2), (2, 3), (3, 0))
    with pytest.raises(PointsmanError, match="numbered"):
        problem_from_graph(nx.Graph([("a", "b")]), [])
    with pytest.raises(PointsmanError, match="several edges"):
        problem_from_graph(nx.MultiGraph([(0, 1), (0, 1)]), [])
    with pytest.raises(PointsmanError, match="a stream is malformed"):
        problem_from_graph(nx.path_graph(2), [{"source": "x"}])


def test_a_result_is_json_with_the_promised_keys():
    entry = msgspec.json.decode(result_bytes(RouteResult("ideal", 4, ())))
    assert {"period", "bound", "seconds", "bound_seconds", "streams"} <= entry.keys()
    assert "nodes" not in entry
