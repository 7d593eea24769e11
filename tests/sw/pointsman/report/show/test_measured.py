"""Runs in documents."""

from __future__ import annotations

from collections import Counter

import numpy as np

from cosim.record import EVENT
from cosim.spans import Span
from pointsman.report.show.document import Document, Stream, Way
from pointsman.report.show.measured import _PhasesInTime, _Timetable, keep_some, matched_words

ENDS = (("to 1", (1, 2)), ("to 2", (2, 2)))
SPANS = [Span(node, 0, 100, "a_write", 0, (100, 0, 0, 0, 0, 0, 0)) for node in range(3)]


def test_every_word_that_was_read_is_found_and_no_word_comes_before_its_prediction(document: Document) -> None:
    run = document.run
    assert run is not None
    assert run.correct
    late = [read - due for _, _, reads in run.words for _, read, due in reads]
    assert min(late) == 0
    # A shift of 6 words to 6 nodes, and a broadcast of 6 words to 5 others, three times each. (A source whose place is known
    # at run time only has its own words delivered as well.)
    by_operator = Counter(
        document.operators[stream.operator].label
        for stream, reads in ((document.streams[number], reads) for number, _, reads in run.words)
        for place, _, _ in reads
        if stream.destinations[place][0] != stream.source
    )
    assert by_operator["c"] == 3 * 6 * 6
    assert by_operator["d"] == 3 * 5 * 6


def test_loads_count_each_word_on_each_link_of_its_way(document: Document) -> None:
    run = document.run
    assert run is not None
    assert sum(map(sum, run.load)) >= run.words_all
    assert len(run.load) == len(document.network.links)
    slots = run.slice_cycles + 1
    assert all(words <= slots for row in run.load for words in row), "a link carries a word a cycle"


def test_activities_add_up_to_the_cycles_of_each_node(document: Document) -> None:
    run = document.run
    assert run is not None
    for node, spent in enumerate(run.per_node):
        spans = [span for span in run.spans if span[0] == node]
        assert [sum(span[5][kind] for span in spans) for kind in range(len(spent))] == spent
        assert all(end - start == sum(cycles) for _, start, end, _, _, cycles in spans)


def test_where_words_are_left_out_each_stream_keeps_its_first() -> None:
    words = [(stream, time, [(0, time + 5, time + 5)]) for time in range(100) for stream in range(3)]
    kept = keep_some(words, 60)
    assert len(kept) == 30
    assert {stream for stream, _, _ in kept} == {0, 1, 2}
    assert keep_some(words, 600) == words


def test_a_register_that_sends_other_streams_in_other_states_delivers_each_word_by_one_of_them() -> None:
    ways = [Way(0, [], [(0, 3, -1)])]
    streams = [Stream(name, 0, 0, 0, 1, [end], 1, ways, [state]) for state, (name, end) in enumerate(ENDS)]
    timetables = [_Timetable(stream, 4, 0) for stream in streams]
    events = np.array(
        [
            *((0, 0, 1, True, 0), (9, 1, 2, False, 0)),
            *((20, 0, 1, True, 0), (29, 2, 2, False, 0)),
            *((30, 0, 1, True, 0), (32, 1, 2, False, 0), (40, 1, 2, False, 0)),
        ],
        EVENT,
    )
    words = matched_words(streams, ["a"], timetables, events, _PhasesInTime(SPANS, 3))
    # The first word went to node 1, so node 2 got the second; in cycle 32 the third cannot have come to node 1 yet.
    assert words == [(0, 0, [(0, 9, 0)]), (1, 20, [(0, 29, 0)]), (0, 30, [(0, 40, 0)])]


def test_of_operators_that_share_a_stream_words_are_those_of_the_one_that_is_used() -> None:
    streams = [
        Stream(f"{label}[0]", k, 0, 0, 1, [(1, 2)], 1, [Way(0, [], [(0, 3, -1)])], [0]) for k, label in enumerate("ab")
    ]
    timetables = [_Timetable(stream, 4, 0) for stream in streams]
    events = np.array([(0, 0, 1, True, 7), (9, 1, 2, False, 7), (60, 0, 1, True, 7), (69, 1, 2, False, 7)], EVENT)
    spans = [
        Span(node, start, start + 50, f"{label}_{what}", 0, (50, 0, 0, 0, 0, 0, 0))
        for node, what in ((0, "write"), (1, "read"))
        for start, label in ((0, "a"), (50, "b"))
    ]
    words = matched_words(streams, ["a", "b"], timetables, events, _PhasesInTime(spans, 2))
    assert words == [(0, 0, [(0, 9, 0)]), (1, 60, [(0, 69, 0)])]
