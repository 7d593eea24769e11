"""Lines on standard error about work that takes long."""

from __future__ import annotations

import sys
from threading import Event

import pytest

import pointsman
from pointsman import kernels
from pointsman.api import progress
from pointsman.api.progress import telling


class Stream:
    """Takes lines, and says when a wanted text was among them."""

    def __init__(self, wanted: str, *, terminal: bool = False) -> None:
        self.text = ""
        self.wanted = wanted
        self.full = Event()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal

    def write(self, text: str) -> None:
        self.text += text
        if self.wanted in self.text:
            self.full.set()

    def flush(self) -> None:
        pass


def test_long_work_is_told_with_what_is_done_now(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = Stream("so far\n"), Stream("… routing, 0 s so far\n")
    monkeypatch.setattr(progress, "PAUSES", (0.001,))
    monkeypatch.setattr(sys, "stderr", first)
    with telling("planning ring"):
        assert first.full.wait(60)
    assert first.text.startswith("… planning ring, 0 s so far\n")
    monkeypatch.setattr(sys, "stderr", second)
    with telling("planning") as say:
        say("routing")
        assert second.full.wait(60)


def test_short_work_and_work_with_a_bar_are_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream("\n")
    monkeypatch.setattr(sys, "stderr", stream)
    with telling("planning"):
        pass
    assert stream.text == ""
    terminal = Stream("\n", terminal=True)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PAUSES", (0.0,))
    with telling("building", has_bar=True) as say:
        say("compiling")
        assert not terminal.full.wait(0.05)


def test_lines_stop_when_the_work_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream("\n")
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "PAUSES", (0.001,))

    def fail() -> None:
        with telling("planning"):
            assert stream.full.wait(60)
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    told = stream.text
    assert not Event().wait(0.02)
    assert stream.text == told


def test_lines_say_that_kernels_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream("s so far (compiling kernels, once)\n")
    monkeypatch.setattr(progress, "PAUSES", (0.001,))
    monkeypatch.setattr(sys, "stderr", stream)
    with telling("placing"):
        monkeypatch.setattr(kernels, "is_compiling", lambda: True)
        assert stream.full.wait(60)


def test_without_a_standard_error_nothing_is_told_and_everything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python has none where its descriptor is closed, and in programs with windows."""
    monkeypatch.setattr(sys, "stderr", None)
    for target in ("numesh", "tdm", "packet"):
        application = "examples/matmul/matmul.py"
        result = pointsman.run(application, "2x2", target=target, engine="model", arguments={"size": 4})
        assert result.correct
