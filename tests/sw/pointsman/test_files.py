"""Files appear whole or not at all."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest

from pointsman import files
from pointsman.errors import PointsmanError
from pointsman.files import cache_folder, check_writable, is_file, read_text, write_all, write_whole


@pytest.mark.parametrize("content", ["", "text with ×\n", b"", b"\0\xff" * 1000])
def test_content_is_written_as_it_is_and_nothing_else(content: str | bytes, tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_whole(path, content)
    assert path.read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert list(tmp_path.iterdir()) == [path]


def test_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old and longer")
    with path.open() as reader:
        write_whole(path, "new")
        assert reader.read() == "old and longer"
    assert path.read_text() == "new"


def test_files_that_belong_together_appear_together_or_not_at_all(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("older")
    for bad in ("\ud800", None):  # a text that UTF-8 cannot hold, and no place to write
        with pytest.raises(PointsmanError, match="cannot write"):
            write_all({first: "new", (second if bad else tmp_path / "gone/second"): bad or "x"})
        assert first.read_text() == "older"
        assert list(tmp_path.iterdir()) == [first]
    write_all({first: "new", second: b"other"})
    assert (first.read_text(), second.read_bytes()) == ("new", b"other")
    assert sorted(tmp_path.iterdir()) == [first, second]


def test_rights_are_those_of_any_new_file(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "file", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


def test_device_is_written_to_and_stays() -> None:
    write_whole(Path(os.devnull), "x")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


@pytest.mark.parametrize("function", [check_writable, lambda path: write_whole(path, "x")], ids=["check", "write"])
@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("missing/file", "cannot write {path}: there is no folder {path.parent}"),
        (".", "cannot write {path}: it is a folder"),
        ("taken/file", "cannot write {path}: there is no folder {path.parent}"),
    ],
)
def test_impossible_place_is_refused(function, where: str, message: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "taken").write_text("a file")
    path = tmp_path / where
    with pytest.raises(PointsmanError, match=f"^{re.escape(message.format(path=path))}$"):
        function(path)
    assert [file.name for file in tmp_path.iterdir()] == ["taken"]


def test_failed_write_keeps_the_old_file_and_leaves_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(PointsmanError, match="No space left on device"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_name_that_is_too_long_is_refused(tmp_path: Path) -> None:
    write_whole(tmp_path / ("n" * 255), "x")  # the longest
    for function in (check_writable, lambda path: write_whole(path, "x")):
        with pytest.raises(PointsmanError, match="File name too long"):
            function(tmp_path / ("n" * 256))
    assert [path.name for path in tmp_path.iterdir()] == ["n" * 255]
    assert not is_file(tmp_path / ("n" * 256))
    with pytest.raises(PointsmanError, match=r"cannot read the list .*: File name too long"):
        read_text(tmp_path / ("n" * 256), "list")


def test_pipes_are_read_and_written_only_if_somebody_is_at_the_other_end(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(PointsmanError, match="nobody writes into this pipe"):
        read_text(path, "list")
    with pytest.raises(PointsmanError, match="cannot write"):
        write_whole(path, "x")
    reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(path, "text")
    assert read_text(path, "list") == "text"
    os.close(reading)


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("text", encoding="utf-8-sig")
    assert read_text(path, "list") == "text"


def test_text_that_no_file_can_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PointsmanError, match="surrogates not allowed"):
        write_whole(tmp_path / "file", "\ud800")
    with pytest.raises(PointsmanError, match="null"):
        read_text(tmp_path / "a\0b", "list")
    assert list(tmp_path.iterdir()) == []


def test_a_file_without_an_end_is_not_read_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", 1000)
    with pytest.raises(PointsmanError, match="it has more than 1000 bytes"):
        read_text(Path("/dev/zero"), "list")


@pytest.mark.parametrize("name", ["~nosuchuser", "~nosuchuser/x"])
def test_cache_of_a_user_who_does_not_exist_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POINTSMAN_CACHE", name)
    with pytest.raises(PointsmanError, match=f"the folder {name} of POINTSMAN_CACHE cannot be found"):
        cache_folder()


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_folder_without_the_right_to_write_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(PointsmanError, match="permission denied"):
            check_writable(tmp_path / "file")
    finally:
        tmp_path.chmod(0o700)


def test_place_that_can_be_written_is_left_untouched(tmp_path: Path) -> None:
    check_writable(tmp_path / "file")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("old")
    check_writable(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "old"


def test_text_is_read_as_utf_8(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes("×\n".encode())
    assert read_text(tmp_path / "file", "program") == "×\n"


def test_file_that_is_no_text_is_refused_with_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abc\xff")
    with pytest.raises(PointsmanError, match=f"^the program {re.escape(str(path))} is no UTF-8 text: byte 3 is wrong$"):
        read_text(path, "program")


@pytest.mark.parametrize(("name", "why"), [("none", "No such file or directory"), (".", "Is a directory")])
def test_file_that_cannot_be_read_is_named(name: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / name
    with pytest.raises(PointsmanError, match=f"^cannot read the program {re.escape(str(path))}: {why}$"):
        read_text(path, "program")
