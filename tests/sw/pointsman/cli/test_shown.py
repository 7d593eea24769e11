"""Which kind of file ``pointsman show`` is given."""

from __future__ import annotations

from pathlib import Path

from pointsman.cli.shown import Kind, kind_of


def test_kinds_are_told_by_first_bytes_and_ending(tmp_path: Path) -> None:
    for name, content, kind in (
        ("a.cop", b"(barrier 'b)", Kind.PROGRAM),
        ("a.py", b"def program(net): ...", Kind.PROGRAM),
        ("b.py", b"class A(Application): ...", Kind.APPLICATION),
        ("a.image", b"\x89PtsImg\n...", Kind.IMAGE),
        ("a.json", b"[", Kind.ANSWER),
        ("a.txt", b' {"x": 1}', Kind.ANSWER),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        assert kind_of(path) is kind
