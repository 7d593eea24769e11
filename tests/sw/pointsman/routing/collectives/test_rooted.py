"""What goes along one tree: a word each slot."""

from __future__ import annotations

from pointsman.artifacts.routes.file import make_collective, make_problem
from pointsman.artifacts.routes.routes import directed
from pointsman.network import mesh
from pointsman.routing.collectives import rooted


def test_words_of_a_broadcast_start_in_successive_slots():
    schedule = rooted.broadcast(make_collective(make_problem(mesh(3, 3), []), "broadcast", words=4, root=4))
    assert [word.slot for word in schedule.words] == [0, 1, 2, 3]
    assert (schedule.period, schedule.latency) == (4, 3 + 2)


def test_near_words_of_a_gather_arrive_first_and_none_too_early():
    schedule = rooted.gather(make_collective(make_problem(mesh(4), []), "gather", root=0))
    assert [(word.item[0], word.span) for word in schedule.words] == [(1, (0, 1)), (2, (0, 2)), (3, (0, 3))]


def test_an_all_reduce_without_links_back_is_left_to_others():
    topology, extra = directed(3, [(0, 1), (1, 2), (2, 0)])
    net = make_problem(topology, [], dead_links=sorted(extra))
    assert rooted.all_reduce(make_collective(net, "all-reduce")) is None
    assert rooted.is_connected(net, (0, 1, 2))
    assert not rooted.is_connected(make_problem(mesh(3), [], dead_links=[(0, 1)]), (0, 1, 2))
