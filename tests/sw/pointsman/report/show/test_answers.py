"""Documents of routes and of results."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from pointsman.api.meshes import fem
from pointsman.artifacts.channels.channels import ChannelProblem, Demand
from pointsman.cli import main
from pointsman.connections.channels import divide
from pointsman.errors import PointsmanError
from pointsman.network import graph, mesh, torus
from pointsman.report.run import CATEGORIES
from pointsman.report.show.answers import is_phased, phased_document, routes_document, run_document
from pointsman.report.show.document import Document, document_bytes, read_document

STREAMS = {
    "topology": {"kind": "torus", "size": [3, 3]},
    "streams": [{"source": 0, "destinations": [4, 8]}, {"source": 4, "destinations": [0], "words": 2}],
}


@pytest.fixture(scope="module", params=["ideal", "numesh"])
def routes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("routes")
    (folder / "streams.json").write_text(json.dumps(STREAMS))
    out = folder / "routes.json"
    call = ["route", str(folder / "streams.json"), "--router", request.param, "--json", str(out)]
    done = CliRunner().invoke(main, call)
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(out.read_text())
    return found


@pytest.mark.parametrize("network", [None, torus(3, 3)])
def test_words_of_routes_go_from_source_to_every_destination(routes: dict[str, Any], network: Any) -> None:
    made = routes_document(routes, "a", network)
    assert made.period == routes["period"]
    assert [stream.source for stream in made.streams] == [0, 4]
    assert [sorted(node for node, _ in stream.destinations) for stream in made.streams] == [[4, 8], [0]]
    for stream, routed in zip(made.streams, routes["streams"], strict=True):
        assert len(stream.ways) == len(routed["words"])
        for way, word in zip(stream.ways, routed["words"], strict=True):
            crossed = sorted((u, v) for u, _, v, *_ in word if u is not None and v is not None and u != v)
            assert sorted(made.network.links[link] for link, _, _ in way.steps) == crossed
            assert {place for place, _, _ in way.arrivals} == set(range(len(stream.destinations)))


def test_routes_on_another_network_are_refused(routes: dict[str, Any]) -> None:
    with pytest.raises(PointsmanError, match="the network has"):
        routes_document(routes, "a", mesh(2, 1))


def test_a_collective_is_shown_as_its_routes(tmp_path: Path) -> None:
    out = tmp_path / "gather.json"
    done = CliRunner().invoke(main, ["collective", "all-gather", "--mesh", "2x2", "--json", str(out)])
    assert done.exit_code == 0, done.output
    made = routes_document(json.loads(out.read_text()), "gather")
    assert (made.network.nodes, made.period) == (4, 3)
    assert [(stream.source, len(stream.destinations)) for stream in made.streams] == [(node, 3) for node in range(4)]


@pytest.mark.parametrize(
    "broken",
    [
        {"nodes": 10**9},
        {"period": "x"},
        {"period": 0},
        {"streams": [{"words": [[[0]]]}]},
        {"streams": 3},
        {"bounds": [{}]},
    ],
)
def test_what_are_no_routes_is_refused(routes: dict[str, Any], broken: dict[str, Any]) -> None:
    with pytest.raises(PointsmanError, match="routes"):
        routes_document({**routes, **broken}, "a")


def test_results_of_a_run_have_cycles_of_each_node(ring: Path, shown: Callable[..., Document]) -> None:
    out = ring.parent / "run.json"
    call = ["run", str(ring), "--mesh", "3x2", "--engine", "model", "--json", str(out)]
    done = CliRunner().invoke(main, call)
    assert done.exit_code == 0, done.output
    made = shown(out)
    plain = json.loads(out.read_text())
    assert made.run is not None
    assert made.run.cycles == plain["total_cycles"]
    assert [row[0] for row in made.run.per_node] == plain["per_node"]["cpu"]
    assert [phase.name for phase in made.phases] == [phase["name"] for phase in plain["phases"]]
    with pytest.raises(PointsmanError, match="no results"):
        run_document({**plain, "per_node": {}}, "a")


def timed_results() -> dict[str, Any]:
    entry = {
        "predicted": 10.0,
        "measured": 12.5,
        "under_way": 9,
        "bound": {"cycles": 8.0, "kind": "port", "text": "because"},
        "reached": 8 / 9,
        "pace": None,
    }
    per_node = {name: [1, 2] for name in CATEGORIES}
    return {
        "network": {"kind": "mesh", "size": [2]},
        "total_cycles": 40,
        "per_node": per_node,
        "engine": "model",
        "correct": True,
        "answer": "done",
        "predicted_cycles": 33.0,
        "operators": {
            "a": {"implementation": "one", "phase": "a", "bandwidth": 0.5, **entry},
            "b": {"implementation": "in parts", "parts": ["c"], **entry},
        },
        "phases": [{"name": "a", "operators": ["a"], **entry}],
        "waits": [{"function": "a_read", "calls": 3, "words": 4, "cycles": 2.5, "cause": "late"}],
    }


def test_results_have_the_time_table_of_the_run_and_operators_in_parts_too() -> None:
    document = run_document(timed_results(), "it")
    time = document.why["time"]
    assert time["predicted_cycles"] == 33
    assert set(time["operators"]) == {"a", "b"}
    assert time["phases"][0]["bound"] == {"cycles": 8.0, "kind": "port", "text": "because"}
    assert time["waits"] == [{"function": "a_read", "cause": "late", "calls": 3.0, "words": 4.0, "cycles": 2.5}]
    assert [one.label for one in document.operators] == ["a", "b"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"waits": [7]},
        {"waits": [{"function": "a"}]},
        {"predicted_cycles": "many"},
        {"predicted_cycles": float("inf")},
        {"phases": [{"name": "a", "operators": ["a"]}]},
    ],
    ids=repr,
)
def test_a_malformed_time_table_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(PointsmanError, match="no results of a run"):
        run_document({**timed_results(), **wrong}, "it")


@pytest.mark.parametrize("topology", [torus(3, 3), mesh(9), graph(9, [(n, (n + 1) % 9) for n in range(9)])], ids=str)
def test_phases_are_shown_as_they_were_written(topology: Any) -> None:
    demands = tuple(Demand(n, (n + step) % 9, 3 + n) for n in range(9) for step in (1, 3, 5))
    answer = divide(ChannelProblem(topology, 4, demands))
    plain = json.loads(json.dumps(answer.as_dict()))
    assert is_phased(plain)
    made = read_document(document_bytes(phased_document(plain, "a")))
    assert made.phased is not None
    assert made.parts is None
    assert made.network.nodes == 9
    assert made.phased.clocks == [max(route.end for route in routes) for routes in answer.phases]
    wanted = [
        (p, one.connection, demands[one.connection].words, list(one.path), list(one.channels), one.start, one.end)
        for p, routes in enumerate(answer.phases)
        for one in routes
    ]
    assert made.phased.routes == wanted


@pytest.fixture(scope="module")
def parts() -> dict[str, Any]:
    return json.loads(json.dumps(fem("plate:4x4", 4, mesh(2, 2)).as_dict()))


def test_a_mesh_is_shown_with_its_parts(parts: dict[str, Any]) -> None:
    made = phased_document(parts, "plate")
    assert made.parts is not None
    assert len(made.parts.points) == 25
    assert [part for _, part in made.parts.elements] == parts["parts"]["part_of"]
    assert sorted(made.parts.node_of) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("exchange", "network", "size"), [0, 2]),
        (("exchange", "network", "size"), [2]),
        (("exchange", "network", "kind"), "tree"),
        (("exchange", "channels"), 1e999),
        (("exchange", "phases"), 7),
        (("exchange", "phases", 0, "clocks"), 1),
        (("exchange", "phases", 0, "connections", 0, "path"), [0, 3]),
        (("exchange", "phases", 0, "connections", 0, "path"), [0]),
        (("exchange", "phases", 0, "connections", 0, "words"), 10**30),
        (("mesh", "corners"), [[0, 1, 2]]),
        (("mesh", "points", 0), [float("nan"), 0]),
        (("mesh", "corners", 0), [0, 1, 99]),
        (("parts", "node_of"), [0, 1, 2, 4]),
        (("parts", "part_of", 0), 9),
    ],
)
def test_what_are_no_phases_is_refused(parts: dict[str, Any], place: tuple[Any, ...], value: Any) -> None:
    broken = json.loads(json.dumps(parts))
    inner = broken
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    with pytest.raises(PointsmanError, match="these are no phases of connections"):
        phased_document(broken, "a")
