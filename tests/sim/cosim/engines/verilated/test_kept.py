"""What was built is kept by all that went into it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cosim.engines.verilated.kept import digest_of, kept, kept_verilog
from pointsman.errors import PointsmanError


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("POINTSMAN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_parts_do_not_run_into_each_other() -> None:
    assert digest_of("ab", "c") != digest_of("a", "bc")
    assert digest_of("ab") != digest_of("ab", "")


def test_a_build_that_fails_leaves_nothing(cache: Path) -> None:
    def build(folder: Path) -> None:
        (folder / "half").write_text("")
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        kept("engine", "key", build)
    assert list(cache.iterdir()) == []


def test_verilog_is_written_once_for_the_same_sources(cache: Path, tmp_path: Path) -> None:
    made = []

    def make() -> str:
        made.append(1)
        return f"module m{len(made)}; endmodule"

    source = tmp_path / "block.py"
    source.write_text("one")
    first = kept_verilog(tmp_path, "4 ports", make)
    assert kept_verilog(tmp_path, "4 ports", make) == first
    assert kept_verilog(tmp_path, "8 ports", make) != first
    source.write_text("two")
    assert kept_verilog(tmp_path, "4 ports", make) != first
    assert len(made) == 3


def test_a_cache_that_cannot_be_written_is_a_users_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("POINTSMAN_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(PointsmanError, match="the engine cannot be kept in") as found:
        kept_verilog(tmp_path, "", lambda: "")
    assert found.value.hint == "name another folder in POINTSMAN_CACHE"
