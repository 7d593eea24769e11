"""A phase as independent parts with numbers of their own."""

from __future__ import annotations

from numesh.shape import NodeShape
from pointsman.network import mesh
from pointsman.routing.phase_router.problem import split
from pointsman.routing.streams import Condition, Stream

SHAPE = NodeShape()


def row(y: int) -> frozenset[int]:
    return frozenset(range(4 * y, 4 * y + 4))


def test_streams_in_rows_of_their_own_are_parts_that_look_alike() -> None:
    streams = [Stream(f"s{y}{x}", 4 * y + x, (4 * y + 3,), keep_in=row(y)) for y in range(3) for x in range(2)]
    parts = split(streams, mesh(4, 3), SHAPE, ())
    assert [site.streams for _, site in parts] == [(0, 1), (2, 3), (4, 5)]
    assert [site.nodes for _, site in parts] == [tuple(sorted(row(y))) for y in range(3)]
    assert len({part for part, _ in parts}) == 1
    assert sorted(parts[0][0].links) == [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)]


def test_a_stream_that_may_use_all_nodes_joins_them() -> None:
    streams = [Stream("a", 0, (3,), keep_in=row(0)), Stream("b", 4, (7,), keep_in=row(1)), Stream("c", 1, (9,))]
    assert [site.streams for _, site in split(streams, mesh(4, 3), SHAPE, ())] == [(0, 1, 2)]


def test_what_is_forbidden_makes_parts_differ_and_is_freed_by_name() -> None:
    streams = [Stream(f"s{y}", 4 * y, (4 * y + 1,), keep_in=row(y)) for y in range(2)]
    port = next(port for port, (other, _) in mesh(4, 3).at_port[4].items() if other == 5)
    (first, _), (second, site) = split(streams, mesh(4, 3), SHAPE, [(4, port, 2)], freed={"s1": [(4, port, 2)]})
    assert first != second
    assert first.blocked == ()
    ((link, slot),) = second.blocked
    assert slot == 2
    assert [site.nodes[node] for node in second.links[link]] == [4, 5]
    assert second.demands[0].freed == second.blocked


def test_both_directions_of_a_link_are_one_wire_where_handshakes_are_aliased() -> None:
    streams = [Stream("s", 0, (1,))]
    ((apart, _),) = split(streams, mesh(2), SHAPE, ())
    ((shared, _),) = split(streams, mesh(2), NodeShape(aliased_handshake=True), ())
    assert len(set(apart.wires)) == 2
    assert len(set(shared.wires)) == 1


def test_a_choice_with_other_values_never_meets_itself() -> None:
    source, other = Condition("b", value=True), Condition("b", value=False)
    streams = [
        Stream("s", 0, (1,), injects_anywhere=True, inject_condition=source, deliver_condition=other),
        Stream("t", 0, (1,)),
    ]
    ((part, _),) = split(streams, mesh(2), SHAPE, ())
    first, second = part.demands
    assert first.delivers not in part.clashes[first.reads]
    assert second.delivers in part.clashes[first.reads], "an access under no condition meets all"


def test_choices_of_different_rows_share_a_number_and_those_that_meet_do_not() -> None:
    def chosen(choice: str, *nodes: int) -> Stream:
        return Stream(
            choice,
            nodes[0],
            nodes[1:],
            keep_in=frozenset(nodes),
            injects_anywhere=True,
            inject_condition=Condition(choice, value=True),
            deliver_condition=Condition(choice, value=False),
        )

    columns = [Stream(f"column{x}", x, (8 + x,)) for x in range(4)]
    rows = [chosen(f"row{y}", *sorted(row(y))) for y in range(3)]
    ((part, _),) = split([*rows, chosen("across", 1, 5), *columns], mesh(4, 3), SHAPE, ())
    first, second, third, across = part.demands[:4]
    assert len(part.conditions) == 5
    assert (first.reads, first.delivers) == (second.reads, second.delivers) == (third.reads, third.delivers)
    assert first.delivers not in part.clashes[first.reads]
    assert {across.reads, across.delivers} <= set(part.clashes[first.reads])


def test_distances_stay_inside_the_nodes_that_are_given() -> None:
    ((part, _),) = split([Stream("s", 0, (8,))], mesh(3, 3), SHAPE, ())
    assert part.distances(0, range(9))[8] == 4
    assert part.distances(0, {0, 1, 2}) == {0: 0, 1: 1, 2: 2}
    assert part.distances(8, range(9), to=True)[0] == 4


def test_a_search_goes_as_far_as_is_asked_and_on_from_there() -> None:
    ((part, _),) = split([Stream("s", 0, (35,))], mesh(6, 6), SHAPE, ())
    everywhere = range(36)
    assert dict(part.distances(0, everywhere, (1,))) == {0: 0, 1: 1, 6: 1}
    assert max(part.distances(0, everywhere, (1,), 2).values()) == 3
    whole = part.distances(0, everywhere)
    assert whole == {x + 6 * y: x + y for x in range(6) for y in range(6)}
    assert part.distances(0, everywhere, (1,)) == whole, "what is known stays known"
    assert part.distances(0, frozenset({0, 1, 2, 8}), (9,)) == {0: 0, 1: 1, 2: 2, 8: 3}, "9 is not reached"


def test_streams_that_may_use_the_same_nodes_have_them_once() -> None:
    streams = [Stream(f"s{k}", k, (k + 1,), keep_in=frozenset(range(8))) for k in range(3)]
    ((part, site),) = split([*streams, Stream("t", 7, (11,))], mesh(4, 3), SHAPE, ())
    assert site.nodes == tuple(range(12))
    assert [one.nodes for one in part.demands] == [tuple(range(8))] * 3 + [tuple(range(12))]
    assert part.demands[0].nodes is part.demands[2].nodes
