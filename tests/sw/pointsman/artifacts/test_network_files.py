"""Networks named on the command line, and the files that they come from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pointsman.artifacts.network_files import faults_from, topology_from
from pointsman.errors import PointsmanError
from pointsman.network import graph, mesh, torus
from pointsman.network.lattice import diamond


def written(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value))
    return path


def test_kinds_with_a_size() -> None:
    assert topology_from("mesh:3x2") == mesh(3, 2)
    assert topology_from("torus:2x2x2") == torus(2, 2, 2)
    assert topology_from("diamond:3") == diamond(3)


def test_a_file_holds_any_network(tmp_path: Path) -> None:
    path = tmp_path / "net.json"
    assert topology_from(str(written(path, {"kind": "torus", "size": [3, 3]}))) == torus(3, 3)
    once = written(path, {"kind": "graph", "nodes": 3, "links": [[0, 1], [2, 1]]})
    assert topology_from(str(once)) == graph(3, [(0, 1), (1, 2)])
    both = written(path, {"kind": "graph", "nodes": 2, "links": [[0, 1], [1, 0]]})
    assert topology_from(str(both)) == graph(2, [(0, 1)])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ring:4", "a network must be one of mesh, torus, diamond, not 'ring'"),
        ("mesh:4y4", "a mesh size must be numbers joined by x"),
        ("mesh:0", "a network must have 1 to 4096 nodes, not [0]"),
        ("diamond:2x2", "a diamond lattice must have one number"),
        ("nowhere.json", "nowhere.json"),
    ],
)
def test_what_names_no_network_is_refused(text: str, said: str) -> None:
    with pytest.raises(PointsmanError) as found:
        topology_from(text)
    assert said in found.value.message


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"kind": "mesh"}, 'a mesh must have "size"'),
        ({"kind": "graph", "nodes": 2}, 'a graph must have "nodes" and "links"'),
        ({"kind": "graph", "nodes": 2, "links": [[0, 2]]}, "links[0]: a node must be one of 0..1, not 2"),
        (
            {"kind": "graph", "nodes": 3, "links": [[0, 1], [1, 0], [1, 2]]},
            "links[2]: 1 -> 2 has no link back, and others have",
        ),
        ({"kind": "star"}, "Invalid enum value 'star'"),
        ([], "Expected `object`"),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(tmp_path: Path, value: object, said: str) -> None:
    path = written(tmp_path / "net.json", value)
    with pytest.raises(PointsmanError) as found:
        topology_from(str(path))
    assert found.value.message.startswith(f"{path}: ")
    assert said in found.value.message


def test_faults_come_from_a_file(tmp_path: Path) -> None:
    path = written(tmp_path / "faults.json", {"nodes": [4], "links": [[0, 1]]})
    faulty = faults_from(path, mesh(3, 3))
    assert faulty.dead == {4}
    assert 1 not in {node for node, _ in faulty.at_port[0].values()}
    with pytest.raises(PointsmanError, match=r"faults.json: node 4 is outside the network \(0..3\)"):
        faults_from(path, mesh(2, 2))
