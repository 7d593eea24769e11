"""Whatever is asked of the router, it routes legally or says why not."""

from __future__ import annotations

from types import ModuleType

import pytest

from numesh.shape import NodeShape
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.streams.router import RoutingError, route_phase
from pointsman.streams.stream import Condition, Stream

CHIP = NodeShape()


@pytest.mark.parametrize("block", range(8))
def test_random_streams_are_routed_legally_or_refused(replay: ModuleType, patterns: ModuleType, block: int) -> None:
    done = 0
    for seed in range(25 * block, 25 * block + 25):
        case = patterns.hostile(seed)
        try:
            phase = route_phase(
                case.streams,
                case.topology,
                case.shape,
                period=case.period,
                forbidden=case.forbidden,
                phase_change=case.phase_change,
                effort=0.2,
            )
        except RoutingError as error:
            assert error.message
            continue
        assert replay.findings(phase, forbidden=case.forbidden, phase_change=case.phase_change) == [], seed
        done += 1
    assert done >= 5


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"destinations": ()}, "stream x: it has no destination"),
        ({"destinations": (1, 1)}, "stream x: a destination is named twice"),
        ({"destinations": (9,)}, "stream x: node 9 is outside the network (0..8)"),
        ({"source": -1}, "stream x: node -1 is outside the network (0..8)"),
        ({"weight": 0.0}, "stream x: its weight must be a positive number, not 0.0"),
        ({"weight": float("nan")}, "stream x: its weight must be a positive number, not nan"),
        ({"weight": float("inf")}, "stream x: its weight must be a positive number, not inf"),
        ({"chains": 0}, "stream x: it must have at least one chain, not 0"),
        ({"max_words": 0}, "stream x: it must be allowed at least one word per period, not 0"),
        ({"keep_in": frozenset({0, 4})}, "stream x: node 8 is outside the nodes that it may use"),
        ({"path": (0, 1, 2)}, "stream x: its path must lead from its source to its last destination"),
        ({"path": ()}, "stream x: its path must lead from its source to its last destination"),
        ({"path": (0, 4, 8)}, "stream x: its path goes from node 0 to node 4, which are not adjacent"),
        ({"path": (0, 1, 0, 3, 4, 5, 8)}, "stream x: its path passes a node twice"),
        (
            {"destinations": (8, 3), "path": (0, 1, 2, 5, 8)},
            "stream x: its path misses destination 3",
        ),
    ],
)
def test_streams_that_make_no_sense_are_refused(changes: dict[str, object], message: str) -> None:
    fields = {"source": 0, "destinations": (8,)} | changes
    with pytest.raises(RoutingError) as caught:
        route_phase([Stream("x", **fields)], mesh(3, 3), CHIP, period=8)  # type: ignore[arg-type]
    assert caught.value.message == message


def test_two_streams_of_one_name_are_refused() -> None:
    with pytest.raises(RoutingError, match=r"^two streams are called x$"):
        route_phase([Stream("x", 0, (1,)), Stream("x", 1, (0,))], mesh(2), CHIP, period=8)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"period": 1}, "a period must have at least 2 slots, not 1: no VFSM runs in two slots in a row"),
        ({"effort": 0.0}, "effort must be a positive number, not 0.0"),
        ({"effort": float("nan")}, "effort must be a positive number, not nan"),
        ({"forbidden": [(0, 0, 0)]}, "there is no link at port 0 of node 0 in slot 0 to be forbidden"),
        ({"forbidden": [(0, 1, 8)]}, "there is no link at port 1 of node 0 in slot 8 to be forbidden"),
        ({"forbidden": [(2, 0, 0)]}, "there is no link at port 0 of node 2 in slot 0 to be forbidden"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(RoutingError) as caught:
        route_phase([Stream("x", 0, (1,))], mesh(2), CHIP, **({"period": 8} | options))  # type: ignore[arg-type]
    assert caught.value.message == message


def test_a_shape_with_too_few_ports_or_vfsms_is_refused() -> None:
    with pytest.raises(RoutingError, match=r"^the topology needs 4 neighbour ports, the shape has 2$"):
        route_phase([], mesh(2, 2), NodeShape(neighbours=2), period=8)
    with pytest.raises(RoutingError, match=r"^2 VFSMs a pipeline leave none for streams"):
        route_phase([Stream("x", 0, (1,))], mesh(2), NodeShape(vfsms=2), period=8)


def test_a_subset_without_a_way_is_refused() -> None:
    stream = Stream("x", 0, (2,), keep_in=frozenset({0, 2}))
    with pytest.raises(RoutingError) as caught:
        route_phase([stream], mesh(3), CHIP, period=8)
    assert caught.value.message == "stream x cannot reach all its destinations from node 0"
    assert caught.value.hint == "it may use only its own nodes, and only links that exist"


def test_too_many_streams_for_a_node_are_refused_with_its_number() -> None:
    streams = [Stream(f"x{i}", 0, (1,)) for i in range(8)]
    with pytest.raises(RoutingError) as caught:
        route_phase(streams, mesh(2), NodeShape(pipelines=1), period=7)
    assert caught.value.message == "node 0 has too few VFSM slots for one word of every stream in 7 slots"
    with pytest.raises(RoutingError) as caught:
        route_phase(streams, mesh(2), NodeShape(registers=8), period=32)
    assert caught.value.message == "node 0 has too few interface registers for one word of every stream in 32 slots"
    with pytest.raises(RoutingError) as caught:
        route_phase(streams, mesh(2), NodeShape(vfsms=4), period=32)
    assert caught.value.message == "node 0 has too few VFSMs for one word of every stream in 32 slots"
    assert caught.value.hint == "a shape with more VFSMs, or fewer streams in one phase"


def test_a_link_that_is_too_narrow_is_refused_with_its_node() -> None:
    streams = [Stream(f"x{i}", 1, (2,)) for i in range(9)]
    shape = NodeShape(pipelines=4, registers=32)
    with pytest.raises(RoutingError) as caught:
        route_phase(streams, mesh(3), shape, period=8)
    assert caught.value.message == "a link of node 1 has too few slots for one word of every stream in 8 slots"


def test_a_word_with_more_legs_than_slots_is_refused() -> None:
    streams = [Stream("star", 4, (1, 3, 5, 7, 4))]
    with pytest.raises(RoutingError, match=r"^node 4|^stream star|^no slots"):
        route_phase(streams, mesh(3, 3), CHIP, period=4)
    assert route_phase(streams, mesh(3, 3), CHIP, period=6).words(0) == 1


def test_delivering_right_before_injecting_is_never_tried() -> None:
    """One slot for the words, one for the turn, so two slots do not do unless conditions exclude each other."""
    streams = [Stream("self", 0, (0,))]
    shape = NodeShape(pipelines=1)
    assert route_phase(streams, mesh(1), shape, period=2, phase_change=False).words(0) == 1
    both = [Stream("a", 0, (0,), group="a"), Stream("b", 0, (0,), group="b")]
    with pytest.raises(RoutingError):
        route_phase(both, mesh(1), shape, period=3, phase_change=False)
    assert route_phase(both, mesh(1), shape, period=4, phase_change=False).words(1) == 1


def test_conditions_that_exclude_each_other_may_follow_each_other(replay: ModuleType, patterns: ModuleType) -> None:
    line = patterns.linear(range(4))
    phase = route_phase(line[:1], mesh(4), NodeShape(pipelines=1), period=4, phase_change=False)
    apart = Stream(
        "up",
        0,
        (1, 2, 3),
        path=(0, 1, 2, 3),
        injects_anywhere=True,
        inject_condition=Condition("source", True),
        deliver_condition=Condition("other", False),
    )
    assert phase.words(0) == 1
    worse = route_phase([apart], mesh(4), NodeShape(pipelines=1), period=4, phase_change=False)
    assert worse.words(0) == 1
    assert route_phase(line[:1], mesh(4), NodeShape(pipelines=1), period=8).words(0) == 3
    assert route_phase([apart], mesh(4), NodeShape(pipelines=1), period=8).words(0) == 2
    assert replay.findings(worse, phase_change=False) == []


def test_an_error_names_streams_in_conflict() -> None:
    streams = [Stream(f"x{i}", i, (2 - i,), keep_in=frozenset({0, 1, 2})) for i in (0, 2)]
    wall = [(1, port, slot) for port in (0, 1) for slot in range(4)]
    with pytest.raises(RoutingError) as caught:
        route_phase(streams, mesh(3), CHIP, period=4, forbidden=wall)
    assert "x0" in caught.value.message or "x2" in caught.value.message
    assert isinstance(caught.value, PointsmanError)
