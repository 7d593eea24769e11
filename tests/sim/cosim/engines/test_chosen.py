"""Which engine runs, and what is refused of it before long work."""

from __future__ import annotations

from pathlib import Path

import pytest

from cosim.engines.chosen import check_engine, check_wave, chosen_engine
from cosim.engines.verilated.build import find_compiler
from pointsman.errors import PointsmanError

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="needs a C++ compiler")


@pytest.fixture
def no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)


@needs_compiler
def test_auto_is_the_rtl_where_it_can_be_compiled(capsys: pytest.CaptureFixture[str]) -> None:
    assert chosen_engine("auto") == "verilated"
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("no_compiler")
def test_auto_is_the_model_without_a_compiler_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert check_engine("auto") == "model"
    assert capsys.readouterr().err == "no C++ compiler found: the cycle model runs in place of the RTL\n"


@pytest.mark.usefixtures("no_compiler")
def test_an_engine_that_is_named_is_never_another() -> None:
    for engine in ("verilated", "model", "amaranth"):
        assert chosen_engine(engine) == engine
    with pytest.raises(PointsmanError, match=r"^there is no C\+\+ compiler \(g\+\+, clang\+\+ or c\+\+\)"):
        check_engine("verilated")


@pytest.mark.parametrize("engine", ["model", "amaranth"])
def test_only_the_compiled_rtl_writes_waveforms(engine: str, tmp_path: Path) -> None:
    check_wave("verilated", tmp_path / "a.fst", (3, 3))
    with pytest.raises(
        PointsmanError, match=rf"^engine '{engine}' writes no waveforms\n  hint: use engine 'verilated'$"
    ):
        check_wave(engine, tmp_path / "a.fst", None)


def test_a_window_begins_before_it_ends(tmp_path: Path) -> None:
    with pytest.raises(
        PointsmanError, match=r"^the last cycle of a waveform must not be before the first, as 2 before 3$"
    ):
        check_wave("verilated", tmp_path / "a.fst", (3, 2))


@needs_compiler
def test_a_cache_that_cannot_be_written_is_refused_unless_engines_are_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("POINTSMAN_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(
        PointsmanError, match=r"^the engine cannot be kept in .*file/cache: Not a directory\n  hint: name"
    ):
        check_engine("verilated")
    assert check_engine("model") == "model"
    cache = tmp_path / "cache"
    monkeypatch.setenv("POINTSMAN_CACHE", str(cache))
    assert check_engine("verilated") == "verilated"
    assert list(cache.iterdir()) == []

    def full(*args: object, **given: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryDirectory", full)
    with pytest.raises(PointsmanError, match=r"^the engine cannot be kept in .*cache: No space left on device\n"):
        check_engine("verilated")
    (cache / "engine-0.lock").write_text("")
    with pytest.raises(PointsmanError, match="No space left on device"):
        check_engine("verilated")
    (cache / "engine-0").mkdir()
    assert check_engine("verilated") == "verilated"
