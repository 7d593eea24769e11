"""Documents of packet routers, from accesses that are written down here."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from cosim.record import EVENT
from cosim.spans import Span
from packet_router.header import pack_header
from packet_router.node import LAST, WORD
from packet_router.shape import RouterShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.report.show.packet import add_packet_run, packet_document, route
from pointsman.targets.packet import make_packet_program


def test_ways_are_in_dimension_order() -> None:
    assert route(RouterShape(size=(3, 2)), 0, 5) == [(0, 1), (1, 2), (2, 5)]
    assert route(RouterShape(size=(3, 2)), 5, 0) == [(5, 4), (4, 3), (3, 0)]
    assert route(RouterShape(size=(4,), torus=True), 0, 3) == [(0, 3)]
    assert route(RouterShape(size=(2, 2)), 1, 1) == []


@pytest.mark.parametrize("passed_on", [False, True])
def test_messages_are_found_from_header_to_last_word(passed_on: bool) -> None:
    topology, shape = mesh(3), RouterShape(size=(3,))
    program = make_packet_program(compile_text("(broadcast 'd 0 :m 2)", topology=topology), shape, name="d")
    head = pack_header(shape, 2, 1, source=0)
    reads = (6, 10, 11) if not passed_on else (13, 14, 15)
    events = np.array(
        [
            (2, 0, WORD, True, head),
            (3, 0, WORD, True, 7),
            (4, 0, LAST, True, 8),
            (reads[0], 2, 1, False, head),
            (reads[1], 2, 1, False, 7),
            (reads[2], 2, 1, False, 8),
        ],
        EVENT,
    )
    record = SimpleNamespace(cycles=np.zeros((3, 7), int), total_cycles=20, events=events)
    done = SimpleNamespace(engine="x", record=record, correct=True, answer="")
    document = packet_document(program)
    add_packet_run(document, program, done, [])
    run = document.run
    assert run is not None
    assert run.words == [(0, 2, [(0, reads[2], 0)])]
    assert document.streams[0].source == 0
    assert document.streams[0].destinations == [(2, 1)]
    crossed = {document.network.links[link]: sum(row) for link, row in enumerate(run.load) if sum(row)}
    assert crossed == {(0, 1): 3, (1, 2): 3}


def test_a_message_that_is_read_while_it_is_written_is_not_taken_for_another() -> None:
    """Two messages one after the other; the first is read from its header on before its last word is written."""
    topology, shape = mesh(2), RouterShape(size=(2,))
    program = make_packet_program(compile_text("(stream 'd 0 1 :m 3)", topology=topology), shape, name="d")
    head = pack_header(shape, 1, 1, source=0)
    events = np.array(
        [
            *((time, 0, WORD, True, word) for time, word in ((2, head), (3, 0), (4, 0))),
            *((time, 1, 1, False, word) for time, word in ((5, head), (6, 0))),
            (30, 0, LAST, True, 0),
            *((time, 1, 1, False, 0) for time in (31, 32)),
            *((time, 0, WORD, True, word) for time, word in ((40, head), (41, 0), (42, 0))),
            (43, 0, LAST, True, 0),
            *((time, 1, 1, False, word) for time, word in ((50, head), (51, 0), (52, 0), (53, 0))),
        ],
        EVENT,
    )
    activities = [Span(0, 0, 35, "d_write", -1, (0,) * 7), Span(0, 35, 60, "d_write", -1, (0,) * 7)]
    record = SimpleNamespace(cycles=np.zeros((2, 7), int), total_cycles=60, events=events)
    done = SimpleNamespace(engine="x", record=record, correct=True, answer="")
    document = packet_document(program)
    add_packet_run(document, program, done, activities)
    assert document.run is not None
    assert document.run.words == [(0, 2, [(0, 32, 0)]), (0, 40, [(0, 53, 0)])]
    (stream,) = document.streams
    assert (stream.operator, stream.phase, stream.words) == (0, 0, 2)
