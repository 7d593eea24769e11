"""Ways of words, beside what the judge finds when it follows VFSMs."""

from __future__ import annotations

from collections.abc import Callable

from numesh.codes import Codes
from pointsman.artifacts.images import Images
from pointsman.report.show.network import net_of
from pointsman.report.show.ways import Ways, following
from pointsman.verify.node.node import NodeView
from pointsman.verify.words.trace import States, trace_promise


def _links(images: Images) -> dict[tuple[int, int], int]:
    return {pair: number for number, pair in enumerate(net_of(images.topology).links)}


def test_ways_cross_as_many_links_as_the_judge_counts_and_arrive_where_it_says(small: Callable[[], Images]) -> None:
    images = small()
    found = Ways(images, _links(images))
    for promise in images.promises:
        ways = found.of(promise)
        codes = Codes(images.shape)
        views = {
            node: NodeView(images, codes, node, part)
            for node, image in enumerate(images.nodes)
            for part in image.phases
            if part.phase == promise.phase
        }
        trace = trace_promise(promise, States(views, {promise.operator: promise.values[0]}), codes)
        assert sum(len(way.steps) for way in ways) == trace.link_slots
        for way in ways:
            assert sorted(promise.destinations[place] for place, _, _ in way.arrivals) == sorted(trace.arrivals)


def test_steps_of_a_way_follow_each_other_from_node_to_node(small: Callable[[], Images]) -> None:
    images = small()
    pairs = net_of(images.topology).links
    for promise in images.promises:
        for way in Ways(images, _links(images)).of(promise):
            for link, after, before in way.steps:
                came = promise.source if before < 0 else pairs[way.steps[before][0]][1]
                assert pairs[link][0] == came
                assert after > (0 if before < 0 else way.steps[before][1])


def test_following_goes_round_the_period() -> None:
    assert following([1, 5], 6, 8) == 9
    assert following([1, 5], 5, 8) == 5
