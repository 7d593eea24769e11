"""Runs in documents."""

from __future__ import annotations

from collections import Counter

from pointsman.report.show.document import Document
from pointsman.report.show.measured import keep_some


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
