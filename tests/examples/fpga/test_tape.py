"""Tapes: what the processors of a program do at their ports."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

import pytest
import tape as tape_module
from exchange import Exchange
from tape import LOOK, PAUSE, START, Row, Tape, played, record

from cosim.numesh.machine import Machine
from pointsman.artifacts.images.images import Images
from pointsman.artifacts.images.readmemh import memories_of
from pointsman.errors import PointsmanError


def test_a_tape_is_played_in_the_cycles_that_it_says(exchange: tuple[Images, Exchange, list[Tape]]) -> None:
    images, _, tapes = exchange
    read: list[list[int]] = [[] for _ in tapes]
    with Machine(images.shape, images.topology, engine="model") as machine:
        machine.preload(memories_of(images))
        record = machine.run([played(tape.rows, words) for tape, words in zip(tapes, read, strict=True)], events=True)
    assert record.finished.tolist() == [tape.finish for tape in tapes]
    assert read == [[row.word for row in tape.rows if row.write is False] for tape in tapes]
    for node, tape in enumerate(tapes):
        events = record.events[record.events["node"] == node]
        assert [(bool(e["write"]), e["register"]) for e in events] == [(r.write, r.register) for r in tape.rows[:-1]]
        before = START - 1
        for row, cycle in zip(tape.rows, [*events["time"].tolist(), tape.finish], strict=True):
            least = before + 1 + (row.pause + PAUSE if row.waits else 0) + LOOK
            assert cycle >= least
            before = cycle
        assert tape.finish == least, "the end waits for nothing"


def test_tapes_that_give_other_words_when_they_are_played_are_refused(
    exchange: tuple[Images, Exchange, list[Tape]], monkeypatch: pytest.MonkeyPatch
) -> None:
    images, application, _ = exchange
    real = tape_module.played

    def misheard(rows: Sequence[Row], words: list[int]) -> Generator[Any, None, None]:
        yield from real(rows, words)
        words[-1] ^= 1

    monkeypatch.setattr(tape_module, "played", misheard)
    with pytest.raises(PointsmanError, match=r"^the tapes, played on the model, give other words than the program$"):
        record(images, application)


def test_the_words_on_the_tape_are_those_of_the_application(exchange: tuple[Images, Exchange, list[Tape]]) -> None:
    _, application, tapes = exchange
    for node, tape in enumerate(tapes):
        y, x = divmod(node, 2)
        heard = {row.word for row in tape.rows if row.write is False}
        sent = {row.word for row in tape.rows if row.write}
        own = {int(word) for word in application.blocks[y, x]}
        other = {int(word) for word in application.blocks[y, 1 - x]}
        assert (own <= sent) == (x == 0), "column 0 is the first source"
        assert (other <= heard) == (x == 1)
    assert all(tape.rows[-1].write is None for tape in tapes)
    assert not [row for tape in tapes for row in tape.rows[:-1] if row.write is None]


def test_a_program_that_answers_wrongly_is_not_recorded(exchange: tuple[Images, Exchange, list[Tape]]) -> None:
    images, application, _ = exchange
    application = Exchange(application.options_given, images.topology)
    application.blocks = application.blocks.copy()
    main = application.main

    async def lying(node: Any) -> Any:
        block = await main(node)
        return block ^ 1 if node.number == 2 else block

    application.main = lying  # type: ignore[method-assign]
    with pytest.raises(PointsmanError, match=r"^the program gives a wrong answer in the model: the blocks differ"):
        record(images, application)


def test_a_program_that_cannot_be_run_again_is_not_recorded(
    exchange: tuple[Images, Exchange, list[Tape]], monkeypatch: pytest.MonkeyPatch
) -> None:
    images, application, _ = exchange
    memories = Machine.memories

    def changed(self: Machine) -> Any:
        found = memories(self)
        return [replace(found[0], schedule=(*found[0].schedule[:-1], found[0].schedule[-1] ^ 1)), *found[1:]]

    monkeypatch.setattr(Machine, "memories", changed)
    with pytest.raises(PointsmanError, match=r"^the program changes the routers' memories and cannot be run again"):
        record(images, application)
