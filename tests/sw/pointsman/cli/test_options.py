"""Options that commands share: limits on the text."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from pointsman.api.options import implementations_of
from pointsman.cli import main
from pointsman.cli.options import limits_of
from pointsman.cop import Limits
from pointsman.errors import PointsmanError
from pointsman.operators import IMPLEMENTATIONS


def test_limits_that_are_not_given_are_the_defaults() -> None:
    assert limits_of(()) == Limits()
    assert limits_of(("steps=7", "output=9", "steps=8")) == Limits(steps=8, output=9)


@pytest.mark.parametrize(
    ("pair", "message", "hint"),
    [
        ("step=3", "--limit takes NAME=VALUE, and there is no limit 'step'", "did you mean 'steps'?"),
        ("xyzzy", "--limit takes NAME=VALUE, and there is no limit 'xyzzy'", "known are text, forms, steps"),
        ("steps", "--limit steps takes a positive whole number, not ''", None),
        ("steps=-3", "--limit steps takes a positive whole number, not '-3'", None),
        ("steps=1e3", "--limit steps takes a positive whole number, not '1e3'", None),
        ("steps=" + "9" * 30, "--limit steps takes a positive whole number, not", None),
        ("steps=0", "limit steps must be a positive integer, not 0", None),
        ("number_bits=99999", "limit number_bits must be at most 14000, not 99999", None),
    ],
)
def test_limits_are_checked(pair: str, message: str, hint: str | None) -> None:
    with pytest.raises(PointsmanError) as caught:
        limits_of([pair])
    assert caught.value.message.startswith(message)
    assert caught.value.hint is None if hint is None else (caught.value.hint or "").startswith(hint)


def test_a_limit_holds_for_the_text_and_for_what_is_printed(tmp_path: Path) -> None:
    path = tmp_path / "x.cop"
    path.write_text("(doall ((i (all *nodes*))) (stream 's i (mod (+ i 1) *nodes*)))")
    for limit, message in (("steps=20", "(limit steps: 20)"), ("output=30", "(limit output: 30)")):
        arguments = ["compile", str(path), "--mesh", "4x4", "--emit", "program", "--limit", limit]
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 2
        assert message in result.output
    result = CliRunner().invoke(main, ["compile", str(path), "--mesh", "4x4", "--emit", "program"])
    assert result.exit_code == 0, result.output


def test_without_files_there_are_the_built_in_implementations() -> None:
    assert implementations_of(()) == IMPLEMENTATIONS


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("compile ring.cop --mesh 2x2 -o ring.cop", "ring.cop: PROGRAM is"),
        ("compile ring.cop --mesh 2x2 --emit plan -o ./ring.cop", "ring.cop: PROGRAM is"),
        ("explain ring.cop --mesh 2x2 -o ring.cop", "ring.cop: PROGRAM is"),
        ("explain ring.cop --mesh 2x2 -o other.cop", "other.cop: PROGRAM is"),
        ("show ring.cop --mesh 2x2 -o ring.cop", "ring.cop: WHAT is"),
        ("show ring.cop --mesh 2x2 -o a.html --json a.html", "a.html: --json is"),
        ("show ring.html", "ring.html: WHAT is"),
        ("run ring.py --mesh 2x2 --json ring.py", "ring.py: APPLICATION is"),
        ("run ring.py --mesh 2x2 --trace ring.py", "ring.py: APPLICATION is"),
        ("run ring.py --topology n.json --json n.json", "n.json: --topology is"),
        ("run ring.py --mesh 2x2 --implementations i.py --json i.py", "i.py: --implementations is"),
        ("verilog numesh --mesh 2x2 --image x.image -o x.image", "x.image: --image is"),
        ("check x.image --program ring.cop --json ring.cop", "ring.cop: --program is"),
    ],
)
def test_nothing_that_is_read_is_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("ring.cop", "ring.py", "ring.html", "n.json", "i.py", "x.image"):
        Path(name).write_text("(barrier 'b)")
    Path("other.cop").symlink_to("ring.cop")
    done = CliRunner().invoke(main, arguments.split())
    assert done.exit_code == 2
    assert done.output.startswith(f"pointsman: cannot write {said} the same file\n  hint: give another name")
    assert {path.read_text() for path in tmp_path.iterdir()} == {"(barrier 'b)"}


def test_devices_and_folders_take_several_outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ring.cop").write_text("(barrier 'b)")
    arguments = "show ring.cop --mesh 2x1 -o /dev/null --json /dev/null --svg drawn --png drawn"
    assert CliRunner().invoke(main, arguments.split()).exit_code == 0
    assert {path.suffix for path in Path("drawn").iterdir()} == {".svg", ".png"}
