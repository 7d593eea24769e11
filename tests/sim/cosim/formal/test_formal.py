"""The command, and what it says when a name is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cosim.formal.__main__ import main
from cosim.formal.book import load
from cosim.formal.table import ProofTimes

BOOK = load()


def test_list_names_every_proof(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [p.name for p in BOOK.proofs]


def test_one_proof_is_run_and_its_time_kept(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["--only", "undisturbed.links", "--shape", "smallest", "--folder", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert re.match(r"undisturbed\.links +smallest +proven in \d+\.\d s\n1 proven, 0 failed in \d+ s\n\Z", told)
    assert set(ProofTimes.read(tmp_path).seconds) == {"undisturbed.links smallest"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--only", "links.lost"], r"error: there is no proof 'links.lost'\n  hint: there are: links.offered, .*\n"),
        (["--shape", "round"], r"error: there is no shape 'round'\n  hint: there are: smallest, .*\n"),
        (["--mutants", "--only", "links.offered.x"], r"error: there is no proof 'links.offered.x'\n  hint: .*\n"),
        (["--quick", "--only", "structure"], r"error: nothing was proven: no proof has this shape\n"),
    ],
)
def test_wrong_names_are_refused(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main([*arguments, "--folder", str(tmp_path)]) == 2
    assert re.fullmatch(told, capsys.readouterr().err)
