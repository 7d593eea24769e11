"""The corpus of everything that is compiled tells what has changed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def corpus(load: Callable[[str], ModuleType]) -> ModuleType:
    return load("corpus.py")


def test_the_same_code_gives_the_same_digests_and_another_digest_is_named(
    corpus: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "digests.json"
    words = ["corpus", "--quick", "--part", "100/600"]
    monkeypatch.setattr(sys, "argv", [*words, "--save", str(saved)])
    assert corpus.main() == 0
    digests = json.loads(saved.read_text())["digests"]
    assert digests
    monkeypatch.setattr(sys, "argv", [*words, "--against", str(saved)])
    assert corpus.main() == 0
    changed = next(iter(digests))
    saved.write_text(json.dumps({"digests": {**digests, changed: "another"}}))
    capsys.readouterr()
    assert corpus.main() == 1
    assert f"differs: {changed}" in capsys.readouterr().err


def test_the_corpus_has_every_target_and_every_kind_of_artifact(corpus: ModuleType) -> None:
    names = [name for name, _ in corpus.cases(False)]
    assert len(names) == len(set(names))
    assert len(names) > 1000
    for kind in ("--target tdm", "--target packet", "--emit plan", "route ", "configure ", "random 299"):
        assert any(kind in name for name in names), kind
