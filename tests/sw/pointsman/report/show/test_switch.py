"""Documents of the switch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pointsman.errors import PointsmanError
from pointsman.report.show.document import Document
from pointsman.report.show.switch import configurations_document


@pytest.fixture(scope="module")
def switched(ring: Path, shown: Callable[..., Document]) -> Document:
    return shown(ring, "--mesh", "3x2", "--target", "tdm", "--mode", "preload", "--engine", "model")


def test_tables_have_a_row_for_each_slot_and_no_port_twice_in_it(switched: Document) -> None:
    assert switched.tables
    for table in switched.tables:
        for row in table.rows:
            assert len({u for u, _ in row}) == len({v for _, v in row}) == len(row)


def test_every_word_of_the_program_is_found_and_read_after_it_was_written(switched: Document) -> None:
    run = switched.run
    assert run is not None
    assert run.correct
    assert run.words_all == len(run.words) >= 3 * 6 * 6 + 3 * 5 * 6
    assert all(read > wrote for _, wrote, reads in run.words for _, read, _ in reads)
    assert sum(burst[5] for burst in run.bursts) == run.words_all


def test_connections_that_were_preloaded_hit(switched: Document) -> None:
    run = switched.run
    assert run is not None
    preloaded = [burst for burst in run.bursts if burst[6]]
    assert preloaded
    assert sum(burst[7] for burst in preloaded) > len(preloaded) / 2


def test_tables_without_a_run_have_a_document(ring: Path, shown: Callable[..., Document]) -> None:
    made = shown(ring.with_suffix(".cop"), "--mesh", "3x2", "--target", "tdm")
    assert made.run is None
    assert made.tables


def test_configurations_keep_their_connections_and_durations() -> None:
    plain = {
        "configurations": [[[0, 1], [2, 0, [0, 1]]], [[1, 1]]],
        "bounds": [{"value": 2, "kind": "port", "text": "x"}],
    }
    made = configurations_document(plain, "a")
    assert made.tables[0].rows == [[(0, 1), (2, 0)], [(1, 1)]]
    assert made.network.nodes == 3
    assert made.why["bounds"][0]["value"] == 2
    timed = configurations_document({"configurations": [{"duration": 2.5, "connections": [[0, 0]]}]}, "b")
    assert timed.tables[0].weights == [2.5]
    assert configurations_document({"configurations": []}, "c").tables[0].rows == []


@pytest.mark.parametrize("wrong", [[1], [[["a", 1]]], [{"connections": [[0, 1]]}], [[[0]]], [[[-1, 0]]], [[[0, 9999]]]])
def test_what_is_no_configuration_is_refused(wrong: list[object]) -> None:
    with pytest.raises(PointsmanError, match="configurations"):
        configurations_document({"configurations": wrong}, "a")
